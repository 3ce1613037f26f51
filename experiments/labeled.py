"""Labeled LDA against LDA with as many topics as there are classes: training and predictive
perplexity (A17).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.harness import (
    FIXED,
    FOLDS,
    NEVER,
    RULE,
    SWEEPS,
    SWEEPS_OF_OTHERS,
    Cell,
    Part,
    cells,
    corpus,
    fold_rows,
    stopping,
)
from experiments.page import (
    NO,
    YES,
    Claim,
    Report,
    as_markdown,
    chosen,
    listed,
    mean_table,
    title,
)
from topoi import LDA, LabeledLDA
from topoi.evaluate import completion_perplexity

MODELS = ("LDA", "L-LDA", "L-LDA siBP", "L-LDA + 5 topics")
SETS = ("cora", "nips", "blog")  # the classes of MEDL could not be found
KINDS = ("training", "predictive")


def grid(quick: bool) -> list[Cell]:
    """As many topics as classes."""
    sets, folds = (SETS[:1], 2) if quick else (SETS, FOLDS)
    early, long = (20, 30) if quick else (SWEEPS, SWEEPS_OF_OTHERS)
    return [
        cell
        for sweeps, stop in ((early, RULE), (long, NEVER))
        for cell in cells(set=sets, model=MODELS, fold=range(folds), sweeps=[sweeps], stop=[stop])
    ]


def report(frames: dict[str, pd.DataFrame], quick: bool) -> Report:
    results, planned = frames["labeled"], grid(quick)
    tables = {
        f"labeled, {kind}": as_markdown(
            mean_table(results, planned, ["set", "stop"], "model", kind)
        )
        for kind in KINDS
    }
    return Report(tables, claims(chosen(results, stop=RULE)))


def claims(results: pd.DataFrame) -> list[Claim]:
    means = {kind: results.groupby(["set", "model"])[kind].mean().unstack() for kind in KINDS}
    gaps = {
        kind: (100 * (means[kind]["L-LDA"] / means[kind]["LDA"] - 1)).reindex(
            [name for name in SETS if name in means[kind].index]
        )
        for kind in KINDS
    }
    above = {kind: list(found.index[found > 0]) for kind, found in gaps.items()}
    everywhere = all(len(above[kind]) == len(gaps[kind]) for kind in KINDS)
    told = "; ".join(
        f"{kind} " + ", ".join(f"{title(name)} {gap:+.1f} %" for name, gap in found.items())
        for kind, found in gaps.items()
    )
    shared = means["predictive"]["L-LDA + 5 topics"] < means["predictive"]["LDA"]
    return [
        Claim(
            "Labeled LDA has a higher perplexity than LDA with as many topics",
            YES if everywhere else NO,
            told,
            f"Labeled LDA against LDA with as many topics: {told}. With five topics beside the"
            f" classes its predictive perplexity is below that of LDA on"
            f" {listed([name for name in SETS if shared.get(name, False)])}.",
        )
    ]


def measure(
    data: Path, set: str, model: str, fold: int, sweeps: int, stop: str
) -> list[dict[str, Any]]:
    """Only documents whose class is known.

    A test document comes without its class and may use all topics.
    """
    whole = corpus(data, set)
    known = whole[np.array([bool(labels) for labels in whole.labels])]
    train, test = (known[rows] for rows in fold_rows(known.n_docs, fold))
    n_classes = len({label for labels in known.labels for label in labels})
    options: dict[str, Any] = {**FIXED, **stopping(sweeps, stop), "random_state": fold}
    if model == "LDA":
        fitted: Any = LDA(n_classes, **options)
    else:
        fitted = LabeledLDA(
            5 if "+" in model else 0, rule="sibp" if "siBP" in model else "bp", **options
        )
    fitted.fit(train)
    return [
        {
            "classes": n_classes,
            "training": fitted.history_[-1]["perplexity"],
            "predictive": completion_perplexity(fitted, test),
        }
    ]


PARTS = (Part("labeled", measure, grid),)
