"""Six variants of BP: simplified, by index and by token, each with two schedules; and our own
schedules beside them.
"""

from __future__ import annotations

import pandas as pd

from experiments.harness import (
    FEW_TOPICS,
    Plan,
    Run,
    as_markdown,
    mean_table,
    overcomplete,
    panels,
    planned,
)
from experiments.lda import OWN, measure

SIX = ("s-BP", "a-BP", "s-siBP", "a-siBP", "s-CVB0", "a-CVB0")
PLAN: Plan = {"cora": (FEW_TOPICS, 3), "medl": (FEW_TOPICS, 3), "nips": ([50], 1)}


def experiment(run: Run) -> None:
    results = run.measure("lda", measure, planned(run, PLAN, method=(*SIX, *OWN), priors=["fixed"]))
    tables = {
        "variants": as_markdown(mean_table(results, ["set", "topics"], "method", "own")),
        "variants, relative": as_markdown(
            relative(results)
            .groupby(["set", "method"], sort=False)
            .mean()
            .unstack()
            .round(1)
            .astype(str)
        ),
        "variants, sweeps": as_markdown(mean_table(results, ["set"], "method", "n_sweeps", 0)),
    }
    run.publish("variants", results, tables, figure(results))


def relative(results: pd.DataFrame) -> pd.Series:
    """Perplexity minus the mean of the six, as in the paper, by set, topics and method: means over
    folds.
    """
    means = overcomplete(
        results.groupby(["set", "topics", "method"], sort=False)["own"].mean(), "method"
    )
    return means.sub(means[list(SIX)].mean(axis=1), axis=0).stack()


def figure(results: pd.DataFrame):
    drawn, axes = panels(results["set"].unique(), "perplexity minus the mean of six", "topics")
    for name, axis in axes.items():
        for i, (method, values) in enumerate(relative(results)[name].groupby("method", sort=False)):
            axis.plot(
                values.index.get_level_values("topics"),
                values,
                "-" if method in SIX else "--",
                color=f"C{i}",
                marker=".",
                label=method,
                linewidth=1,
            )
    axes[results["set"].iloc[-1]].legend(fontsize=6)
    return drawn
