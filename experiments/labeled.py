"""Labeled LDA against LDA with as many topics as there are classes: training and predictive
perplexity (A17).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.harness import (
    FIXED,
    SWEEPS,
    SWEEPS_QUICK,
    Run,
    as_markdown,
    cells,
    corpus,
    fold_rows,
    mean_table,
)
from topoi import LDA, LabeledLDA
from topoi.evaluate import completion_perplexity

MODELS = ("LDA", "L-LDA", "L-LDA siBP", "L-LDA + 5 topics")


def experiment(run: Run) -> None:
    folds, sweeps = (2, SWEEPS_QUICK) if run.quick else (3, SWEEPS)
    results = run.measure(
        "labeled",
        measure,
        cells(
            set=run.sets("cora", "nips", "blog"), model=MODELS, fold=range(folds), sweeps=[sweeps]
        ),
    )
    tables = {
        f"labeled, {kind}": as_markdown(mean_table(results, ["set", "classes"], "model", kind))
        for kind in ("training", "predictive")
    }
    run.publish("labeled", results, tables)


def measure(data: Path, set: str, model: str, fold: int, sweeps: int) -> list[dict[str, Any]]:
    """Only documents whose class is known.

    A test document comes without its class and may use all topics.
    """
    whole = corpus(data, set)
    known = whole[np.array([bool(labels) for labels in whole.labels])]
    train, test = (known[rows] for rows in fold_rows(known.n_docs, fold))
    n_classes = len({label for labels in known.labels for label in labels})
    options: dict[str, Any] = {**FIXED, "tol": "paper", "max_iter": sweeps, "random_state": fold}
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
