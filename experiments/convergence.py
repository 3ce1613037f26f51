"""Training perplexity over sweeps on whole corpora, and the sweep at which |P(t) - P(t-10)| < 1
(A3).
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.harness import (
    FIXED,
    LDA_SWEEPS,
    LONG_TOPICS,
    NEVER,
    PAPER_SETS,
    Cell,
    Part,
    corpus,
    planned,
)
from experiments.lda import METHODS, OWN, PAPER_VB, TOOLBOX_VB
from experiments.page import (
    MISSING,
    NO,
    YES,
    Claim,
    Report,
    as_markdown,
    chosen,
    listed,
    mean_table,
    panels,
)
from topoi import LDA

COMPARED = ("s-BP", "a-BP", *OWN, TOOLBOX_VB, PAPER_VB, "GS")
EVERY = 10  # sweeps between two measurements
PAPER = {TOOLBOX_VB: 100, PAPER_VB: 100, "s-BP": 170, "GS": 300}  # mean over the four sets
RUNS = ["set", "method", "seed"]


def grid(quick: bool) -> list[Cell]:
    return planned(
        quick,
        topics=LONG_TOPICS,
        sweeps=LDA_SWEEPS,
        stop=NEVER,
        repeat="seed",
        repeats=3,
        method=COMPARED,
    )


def measure(
    data: Path, set: str, method: str, topics: int, sweeps: int, stop: str, seed: int
) -> list[dict[str, Any]]:
    """Training perplexity of every tenth sweep: all of the paper's sweeps, whatever the rule."""
    model = LDA(
        topics,
        **METHODS[method],
        **FIXED,
        tol=0,
        max_iter=sweeps,
        evaluate_every=EVERY,
        random_state=seed,
    ).fit(corpus(data, set))
    return [
        {key: record[key] for key in ("sweep", "perplexity")}
        for record in model.history_
        if record["perplexity"] is not None
    ]


PARTS = (Part("convergence", measure, grid),)


def report(frames: dict[str, pd.DataFrame], quick: bool) -> Report:
    curves, cells = frames["convergence"], grid(quick)
    held = converged(curves)
    ends = curves.groupby(RUNS, sort=False).last().reset_index()
    tables = {}
    for heading, frame, value, digits in (
        ("sweeps", held, "sweep", 0),
        ("perplexity", held, "perplexity", 1),
        ("perplexity at the end", ends, "perplexity", 1),
    ):
        tables[f"convergence, {heading}"] = as_markdown(
            mean_table(frame, cells, ["set"], "method", value, digits)
        )
    return Report(tables, claims(held), lambda: figure(curves))


def converged(curves: pd.DataFrame) -> pd.DataFrame:
    """The row of each run at which the rule first held; the last one where it never did."""
    rows = []
    for _, curve in curves.groupby(RUNS, sort=False):
        still = np.flatnonzero(curve["perplexity"].diff().abs() < 1)
        rows.append(curve.iloc[still[0] if len(still) else -1])
    return pd.DataFrame(rows)


def claims(held: pd.DataFrame) -> list[Claim]:
    """VB first, then BP, then GS, on the sets for which all of them are computed."""
    means = held.groupby(["set", "method"], sort=False)["sweep"].mean().unstack()
    means = means.reindex(index=[name for name in PAPER_SETS if name in means.index])
    means = means.reindex(columns=COMPARED).dropna(subset=[*PAPER, "a-BP"])
    if not len(means):  # no set has all of them
        return []

    def ordered(bp: str, vb: str) -> list[str]:
        return list(means.index[(means[vb] < means[bp]) & (means[bp] < means["GS"])])

    def sweeps(method: str) -> str:
        mean = means[method].mean()
        return MISSING if pd.isna(mean) else f"{mean:.0f}"

    pairs = product(("s-BP", "a-BP"), (TOOLBOX_VB, PAPER_VB))
    in_order = {(bp, vb): ordered(bp, vb) for bp, vb in pairs}
    everywhere = {pair for pair, sets in in_order.items() if len(sets) == len(means)}
    holds = NO
    if len(everywhere) == len(in_order):
        holds = YES
    elif everywhere:
        holds = "only for " + " and ".join(f"{bp} with {vb}" for bp, vb in sorted(everywhere))
    told = "; ".join(f"{bp} and {vb} on {listed(sets)}" for (bp, vb), sets in in_order.items())
    number = ", ".join(f"{method} {sweeps(method)}" for method in (*PAPER, "a-BP"))
    return [
        Claim(
            "VB converges first (about 100 sweeps), then BP (170), then GS (300)",
            holds,
            number,
            f"Mean numbers of sweeps over {listed(means.index)}: {number}. The order VB, BP, GS"
            f" holds for {told}.",
        )
    ]


def figure(curves: pd.DataFrame):
    drawn, axes = panels(curves["set"].unique(), "training perplexity", "sweeps")
    for name, axis in axes.items():
        for i, method in enumerate(COMPARED):
            curve = chosen(curves, set=name, method=method, seed=0)
            style = {"color": f"C{i}", "label": method, "linewidth": 1}
            axis.plot(curve["sweep"], curve["perplexity"], **style)
        axis.set_xscale("log")
        axis.set_yscale("log")
    axes[curves["set"].iloc[0]].legend(fontsize=6)
    return drawn
