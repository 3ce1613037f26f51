"""Table 2 of the paper: statistics of the four sets, line by line."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.harness import Run, as_markdown, corpus

PAPER = {  # D, A, W, C, N_d, W_d; 0 stands for none
    "cora": (2410, 2480, 2961, 8651, 57, 43),
    "medl": (2317, 8906, 8918, 1168, 104, 66),
    "nips": (1740, 2037, 13649, 0, 1323, 536),
    "blog": (5177, 0, 33574, 1549, 217, 149),
}
COLUMNS = ("D", "A", "W", "C", "N_d", "W_d")


def experiment(run: Run) -> None:
    rows = []
    for name in run.sets(*PAPER):
        with np.load(run.data / name / f"{name}.npz", allow_pickle=False) as arrays:
            links = arrays.get("links_paper", arrays.get("links"))
            authors = len(arrays["author_names"]) if "author_names" in arrays else 0
        counts = corpus(run.data, name).counts
        n_docs, n_words = counts.shape
        here = (n_docs, authors, n_words, len(links), counts.sum() / n_docs, counts.nnz / n_docs)
        rows += [
            {"set": name, "quantity": q, "paper": p, "here": round(float(h), 1)}
            for q, p, h in zip(COLUMNS, PAPER[name], here, strict=True)
        ]
    results = pd.DataFrame(rows)
    shown = results.assign(text=[cell(row) for row in results.itertuples()])
    run.publish(
        "table2",
        results,
        {
            "table 2": as_markdown(
                shown.pivot(index="set", columns="quantity", values="text")[list(COLUMNS)].loc[
                    run.sets(*PAPER)
                ]
            )
        },
    )


def cell(row) -> str:
    """paper / here, with a note where they differ by more than rounding."""
    said = [f"{value:,g}" if value else "-" for value in (row.paper, row.here)]
    return " / ".join(said) + ("" if abs(row.paper - row.here) <= 0.5 else " (differs)")
