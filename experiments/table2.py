"""Table 2 of the paper: statistics of the four sets, line by line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.harness import Cell, Part, cells, corpus
from experiments.page import NO, YES, Claim, Report, as_markdown, title

PAPER = {  # D, A, W, C, N_d, W_d; 0 stands for none
    "cora": (2410, 2480, 2961, 8651, 57, 43),
    "medl": (2317, 8906, 8918, 1168, 104, 66),
    "nips": (1740, 2037, 13649, 0, 1323, 536),
    "blog": (5177, 0, 33574, 1549, 217, 149),
}
COLUMNS = ("D", "A", "W", "C", "N_d", "W_d")
ROUNDING = 0.5


def grid(quick: bool) -> list[Cell]:
    return cells(set=["cora"] if quick else list(PAPER))


def measure(data: Path, set: str) -> list[dict[str, Any]]:
    with np.load(data / set / f"{set}.npz", allow_pickle=False) as arrays:
        links = arrays.get("links_paper", arrays.get("links"))
        authors = len(arrays["author_names"]) if "author_names" in arrays else 0
    counts = corpus(data, set).counts
    n_docs, n_words = counts.shape
    here = (n_docs, authors, n_words, len(links), counts.sum() / n_docs, counts.nnz / n_docs)
    return [
        {"quantity": quantity, "paper": said, "here": round(float(found), 1)}
        for quantity, said, found in zip(COLUMNS, PAPER[set], here, strict=True)
    ]


PARTS = (Part("table2", measure, grid, processes=1),)


def report(frames: dict[str, pd.DataFrame], quick: bool) -> Report:
    results = frames["table2"]
    shown = results.assign(text=[cell(row) for row in results.itertuples()])
    table = shown.pivot(index="set", columns="quantity", values="text")[list(COLUMNS)]
    table = table.loc[results["set"].unique()]
    # The toolbox has links of NIPS, which the paper does not use.
    used = results[(results["paper"] > 0) | (results["here"] == 0)]
    differs = used[(used["paper"] - used["here"]).abs() > ROUNDING]
    names = ", ".join(f"{row.quantity} of {title(row.set)}" for row in differs.itertuples())
    same = len(used) - len(differs)
    claim = Claim(
        "Table 2: sizes of the four sets",
        YES if not len(differs) else f"only without {names}" if same > len(differs) else NO,
        f"{same} of {len(used)} numbers",
        f"{same} of {len(used)} numbers agree up to rounding; {names or 'none'} does not.",
    )
    return Report({"table 2": as_markdown(table)}, [claim])


def cell(row: Any) -> str:
    """paper / here, with a note where they differ by more than rounding."""
    said = [f"{value:,g}" if value else "-" for value in (row.paper, row.here)]
    return " / ".join(said) + ("" if abs(row.paper - row.here) <= ROUNDING else " (differs)")
