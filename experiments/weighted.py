"""TF, TF-IDF and log weights: perplexity of raw counts, coherence, and how much long documents
dominate (A18).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.harness import (
    FIXED,
    Plan,
    Run,
    as_markdown,
    fold_of,
    held_out_perplexity,
    planned,
    summary,
)
from topoi import LDA
from topoi.evaluate import npmi, split_tokens

WEIGHTINGS = ("count", "tf", "tfidf", "log")
PLAN: Plan = {"cora": ([50], 3), "medl": ([50], 3), "nips": ([50], 1)}
VALUES = {  # column: digits
    "perplexity": 1,
    "perplexity, short half": 1,
    "perplexity, long half": 1,
    "NPMI": 3,
    "weight of the longest tenth": 3,
    "largest share of a topic from the longest tenth": 3,
}


def experiment(run: Run) -> None:
    results = run.measure("weighted", measure, planned(run, PLAN, weighting=WEIGHTINGS))
    run.publish(
        "weighted",
        results,
        {"weighted": as_markdown(summary(results, ["set", "weighting"], VALUES))},
    )


def measure(
    data: Path, set: str, weighting: str, topics: int, sweeps: int, fold: int
) -> list[dict[str, Any]]:
    train, test = fold_of(data, set, fold)
    model = LDA(
        topics, weighting=weighting, **FIXED, tol="paper", max_iter=sweeps, random_state=fold
    ).fit(train)
    observed, held = split_tokens(test)
    proportions = model.transform(observed)
    long = test.counts.sum(axis=1) > np.median(test.counts.sum(axis=1))
    weight = model.weighting_(train.counts).sum(axis=1)
    longest = np.argsort(train.counts.sum(axis=1))[-(train.n_docs // 10) :]
    mass = model.doc_topic_ * weight[:, None]  # of each document in each topic
    parts = {
        "perplexity": slice(None),
        "perplexity, short half": ~long,
        "perplexity, long half": long,
    }
    return [
        {
            **{
                name: held_out_perplexity(held, proportions, model.topic_word_, docs)
                for name, docs in parts.items()
            },
            "NPMI": npmi(model, train).mean(),
            "weight of the longest tenth": weight[longest].sum() / weight.sum(),
            "largest share of a topic from the longest tenth": (
                (mass[longest].sum(axis=0) / mass.sum(axis=0)).max()
            ),
        }
    ]
