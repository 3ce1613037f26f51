"""Training perplexity over sweeps on whole corpora, and the sweep at which |P(t) - P(t-10)| < 1
(A3).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from experiments.harness import FIXED, Plan, Run, as_markdown, corpus, mean_table, panels, planned
from experiments.lda import METHODS, OWN
from topoi import LDA

COMPARED = ("s-BP", "a-BP", *OWN, "VB", "GS")
PLAN: Plan = {"cora": ([50], 3), "medl": ([50], 3), "nips": ([50], 1)}  # topics, seeds
SWEEPS = 500  # at most


def experiment(run: Run) -> None:
    curves = run.measure(
        "convergence", measure, planned(run, PLAN, sweeps=SWEEPS, repeat="seed", method=COMPARED)
    )
    ends = curves.groupby(["set", "method", "seed"], sort=False).last().reset_index()
    tables = {
        "convergence, sweeps": as_markdown(mean_table(ends, ["set"], "method", "sweep", 0)),
        "convergence, perplexity": as_markdown(mean_table(ends, ["set"], "method", "perplexity")),
    }
    run.publish("convergence", curves, tables, figure(curves))


def measure(
    data: Path, set: str, method: str, topics: int, sweeps: int, seed: int
) -> list[dict[str, Any]]:
    """Training perplexity of every tenth sweep until the rule holds."""
    model = LDA(
        topics, **METHODS[method], **FIXED, tol="paper", max_iter=sweeps, random_state=seed
    ).fit(corpus(data, set))
    return [
        {key: record[key] for key in ("sweep", "perplexity")}
        for record in model.history_
        if record["perplexity"] is not None
    ]


def figure(curves: pd.DataFrame):
    drawn, axes = panels(curves["set"].unique(), "training perplexity", "sweeps")
    for name, axis in axes.items():
        for method in COMPARED:
            curve = curves[
                (curves["set"] == name) & (curves["method"] == method) & (curves["seed"] == 0)
            ]
            axis.plot(curve["sweep"], curve["perplexity"], label=method, linewidth=1)
        axis.set_yscale("log")
    axes[curves["set"].iloc[-1]].legend(fontsize=6)
    return drawn
