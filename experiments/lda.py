"""One fit of LDA on one fold, by any method of the paper: the cells of `perplexity` and `variants`,
which share them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks import quality
from experiments.harness import FIXED, fold_of, stopping
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
TOOLBOX_VB, PAPER_VB = "VB, toolbox", "VB, paper"  # A5
METHODS: dict[str, dict[str, Any]] = {
    **quality.METHODS,
    **OWN,
    # One pass over each document per sweep, which continues from the last one.
    TOOLBOX_VB: quality.METHODS["VB"],
    # Ten passes over each document, which starts afresh, with the topics fixed: near convergence.
    PAPER_VB: {"rule": "vb", "schedule": "synchronous"},
}


def measure(
    data: Path,
    set: str,
    method: str,
    priors: str,
    topics: int,
    sweeps: int,
    stop: str,
    fold: int,
) -> list[dict[str, Any]]:
    """Number of sweeps, training perplexity, and predictive perplexity with the method's own
    fold-in and with BP's for all.
    """
    train, test = fold_of(data, set, fold)
    options = FIXED if priors == "fixed" else {}
    model = LDA(
        topics, **METHODS[method], **options, **stopping(sweeps, stop), random_state=fold
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
