"""TF, TF-IDF and log weights: perplexity of raw counts, coherence, and how much long documents
dominate (A18).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.harness import (
    FIXED,
    LONG_TOPICS,
    Cell,
    Part,
    fold_of,
    held_out_perplexity,
    planned,
    stopping,
)
from experiments.page import Report, as_markdown, summary
from topoi import LDA
from topoi.evaluate import npmi, split_tokens

WEIGHTINGS = ("count", "tf", "tfidf", "log")
VALUES = {  # column: digits
    "perplexity": 1,
    "perplexity, short half": 1,
    "perplexity, long half": 1,
    "NPMI": 3,
    "weight of the longest tenth": 3,
    "largest proportion of a topic from the longest tenth": 3,
}


def grid(quick: bool) -> list[Cell]:
    return planned(quick, topics=LONG_TOPICS, weighting=WEIGHTINGS)


def report(frames: dict[str, pd.DataFrame], quick: bool) -> Report:
    rows = summary(frames["weighted"], grid(quick), ["set", "weighting"], VALUES)
    return Report({"weighted": as_markdown(rows)})


def measure(
    data: Path, set: str, weighting: str, topics: int, sweeps: int, stop: str, fold: int
) -> list[dict[str, Any]]:
    train, test = fold_of(data, set, fold)
    model = LDA(
        topics, weighting=weighting, **FIXED, **stopping(sweeps, stop), random_state=fold
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
            "largest proportion of a topic from the longest tenth": (
                (mass[longest].sum(axis=0) / mass.sum(axis=0)).max()
            ),
        }
    ]


PARTS = (Part("weighted", measure, grid),)
