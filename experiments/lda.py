"""One fit of LDA on one fold, by any method of the paper: the cells of `perplexity` and `variants`,
which share them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks import quality
from experiments.harness import FIXED, fold_of
from topoi import LDA
from topoi.evaluate import completion_perplexity
from topoi.rules import BP

OWN: dict[str, dict[str, Any]] = {  # BP beside the paper's two schedules
    "residual": {"schedule": "residual"},
    "active": {"schedule": "active"},
    "auto": {"schedule": "auto"},
    "a-TBP": {"schedule": "asynchronous", "rule": BP(messages="none")},
    "s-TBP": {"schedule": "synchronous", "rule": BP(messages="none")},
}
METHODS: dict[str, dict[str, Any]] = {**quality.METHODS, **OWN}


def measure(
    data: Path, set: str, method: str, priors: str, topics: int, sweeps: int, fold: int
) -> list[dict[str, Any]]:
    """Sweeps until the rule held, training perplexity, and predictive perplexity with the method's
    own fold-in and with BP's for all.
    """
    train, test = fold_of(data, set, fold)
    options = FIXED if priors == "fixed" else {}
    model = LDA(
        topics, **METHODS[method], **options, tol="paper", max_iter=sweeps, random_state=fold
    ).fit(train)
    return [
        {
            "n_sweeps": model.n_iter_,
            "training": model.history_[-1]["perplexity"],
            "own": completion_perplexity(
                model, test, fold_in_rule="gibbs" if method == "GS" else None
            ),
            "common": completion_perplexity(model, test, fold_in_rule="bp"),
        }
    ]
