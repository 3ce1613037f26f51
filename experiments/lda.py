"""One fit of LDA on one fold, by any method of the paper: the cells of `perplexity` and `variants`, which share them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks import quality
from experiments.harness import FIXED, FOLDS, LARGE, Cell, Run, cells, fold_of
from topoi import LDA
from topoi.evaluate import completion_perplexity

SCHEDULES = ("residual",)  # of BP, beside the paper's two; a new one is one more name here
METHODS: dict[str, dict[str, Any]] = {**quality.METHODS, **{name: {"rule": "bp", "schedule": name} for name in SCHEDULES}}

TOPICS = (10, 20, 30, 40, 50)
TOPICS_LARGE = (10, 30, 50)  # of NIPS and BLOG, where a cell of GS takes minutes
SWEEPS, SWEEPS_QUICK = 300, 20  # at most; the rule |P(t) - P(t-10)| < 1 mostly stops before


def lda_cells(run: Run, methods: tuple[str, ...], priors: str, folds: int = FOLDS, folds_large: int = FOLDS) -> list[Cell]:
    """Cells of all four sets and all numbers of topics."""
    if run.quick:
        return cells(set=["cora"], method=methods, topics=[10], priors=[priors], fold=range(2), sweeps=[SWEEPS_QUICK])
    small = cells(set=["cora", "medl"], method=methods, topics=TOPICS, priors=[priors], fold=range(folds), sweeps=[SWEEPS])
    return small + cells(set=LARGE, method=methods, topics=TOPICS_LARGE, priors=[priors], fold=range(folds_large), sweeps=[SWEEPS])


def measure(data: Path, set: str, method: str, topics: int, priors: str, fold: int, sweeps: int) -> list[dict[str, Any]]:
    """Sweeps until the rule held, training perplexity, and predictive perplexity with the method's own fold-in and with BP's for all."""
    train, test = fold_of(data, set, fold)
    options = FIXED if priors == "fixed" else {}
    model = LDA(topics, **METHODS[method], **options, stop="paper", max_iter=sweeps, random_state=fold).fit(train)
    return [
        {
            "n_sweeps": model.n_iter_,
            "training": model.history_[-1]["perplexity"],
            "own": completion_perplexity(model, test, fold_in_rule="gibbs" if method == "GS" else None),
            "common": completion_perplexity(model, test, fold_in_rule="bp"),
        }
    ]
