"""Where the paper can be read in more than one way (A1 to A20): what the paper says, what the
toolbox does, what is done here, and what each choice does to perplexity on CORA with ten topics.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from benchmarks.common import markdown
from experiments.harness import (
    FIXED,
    FOLDS,
    SWEEPS,
    Cell,
    Part,
    cells,
    corpus,
    fold_rows,
    held_out_perplexity,
)
from experiments.page import Report, number_text
from experiments.readings import Reading, Synchronous
from experiments.rtm import links_of
from topoi import LDA
from topoi.evaluate import completion_perplexity, split_tokens
from topoi.rules import VB

HERE = Reading()
LINKED = 0.15  # xi of the relational readings
SAMPLES = 50
# In plain NumPy (readings.py): how the paper is read, xi, and sweeps between two looks (A3).
ENGINE: dict[str, tuple[Reading, float, int]] = {
    "LDA": (HERE, 0.0, 10),
    "LDA, soft start": (replace(HERE, start="soft"), 0.0, 10),
    "LDA, document removed from totals": (replace(HERE, removed="document"), 0.0, 10),
    "LDA, stop after a change below 1 in one sweep": (HERE, 0.0, 1),
    "LDA, totals lost in prediction": (replace(HERE, totals="lost"), 0.0, 10),
    "RTM": (HERE, LINKED, 10),
    "RTM, columns of eta": (replace(HERE, eta="columns"), LINKED, 10),
    "RTM, raw counts in eta": (replace(HERE, eta_counts="raw"), LINKED, 10),
    "RTM, raw sums of neighbours": (replace(HERE, neighbours="sum"), LINKED, 10),
    "RTM, links one way": (HERE, LINKED, 10),
    "RTM, totals lost in prediction": (replace(HERE, totals="lost"), LINKED, 10),
    "RTM, all literally": (
        Reading(removed="document", eta_counts="raw", neighbours="sum"), LINKED, 10
    ),
}  # fmt: skip
# By the library: options of LDA, and of prediction.
LIBRARY: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "s-BP": ({"schedule": "synchronous"}, {}),
    "a-BP": ({"schedule": "asynchronous"}, {}),
    "active BP": ({"schedule": "active"}, {}),
    "VB, one pass": ({"rule": VB(inner=1), "schedule": "synchronous"}, {}),
    "VB, ten passes": ({"rule": VB(inner=10), "schedule": "synchronous"}, {}),
    "GS, one sample": ({"rule": "gibbs"}, {"fold_in_rule": "gibbs"}),
    f"GS, mean of {SAMPLES} samples": (
        {"rule": "gibbs"},
        {"fold_in_rule": "gibbs", "fold_in_samples": SAMPLES},
    ),
    "GS, BP's fold-in": ({"rule": "gibbs"}, {"fold_in_rule": "bp"}),
}
Choice = tuple[str, str, str, str, tuple[str, ...]]
# Paper, toolbox, here, and the readings that show the difference (or where else it is measured).
CHOICES: dict[str, Choice] = {
    "A1": ("one initialisation for all, not given", "one random topic for each nonzero",
           "the same", "", ("LDA", "LDA, soft start")),
    "A2": ("document d leaves the topic totals", "the edge alone", "the edge alone", "",
           ("LDA", "LDA, document removed from totals")),
    "A3": ("perplexity of successive iterations changes by less than 1", "no rule",
           "ten sweeps apart", "", ("LDA", "LDA, stop after a change below 1 in one sweep")),
    "A4": ("any order", "documents shuffled once, words ascending", "the same", "",
           ("s-BP", "a-BP")),
    "A5": ("documents until convergence", "one pass", "ten passes, or one", "",
           ("VB, one pass", "VB, ten passes")),
    "A6": ("GS predicts by sampling", "one sample", "both, and BP for all", "",
           ("GS, one sample", f"GS, mean of {SAMPLES} samples", "GS, BP's fold-in")),
    "A7": ("joint messages of author and topic", "two marginals", "joint", "see [atm](#atm)", ()),
    "A8": ("authors from a multinomial", "equal proportions", "equal, or learned",
           "see [atm](#atm)", ()),
    "A9": ("perplexity of authors not defined", "from the test documents alone",
           "both, as options", "see [atm](#atm)", ()),
    "A10": ("f(k given k'), divided by a sum over k'", "rows", "rows", "",
            ("RTM", "RTM, columns of eta", "RTM, raw counts in eta")),
    "A11": ("sum of the counts of neighbours", "mean of their proportions",
            "mean of smoothed proportions", "",
            ("RTM", "RTM, raw sums of neighbours", "RTM, all literally")),
    "A12": ("direction not given", "one way, with self-links", "both ways, no self-links", "",
            ("RTM", "RTM, links one way")),
    "A13": ("nothing on single documents without links", "no message", "no message",
            "no effect: 1 - xi is a common factor", ()),
    "A14": ("xi = 0.15 by training perplexity", "0.05 in its demonstration", "learned, or given",
            "see [rtm](#rtm)", ()),
    "A15": ("-", "totals overwritten in prediction", "totals are sums", "",
            ("LDA", "LDA, totals lost in prediction", "RTM",
             "RTM, totals lost in prediction")),
    "A16": ("test documents with links, not said which", "among themselves", "as given",
            "see [rtm](#rtm)", ()),
    "A17": ("labeled LDA by BP; which perplexity is not said", "siBP", "BP",
            "see [labeled](#labeled)", ()),
    "A18": ("TF or TF-IDF, no formula", "none", "scaled to all tokens", "see [weighted](#weighted)",
            ()),
    "A19": ("not in the paper", "subsets by residual", "rounded up; every tenth sweep full", "",
            ("a-BP", "active BP")),
    "A20": ("not in the paper", "not in it", "batches fade", "not measured here", ()),
}  # fmt: skip


def grid(quick: bool) -> list[Cell]:
    return cells(
        set=["cora"],
        reading=[*ENGINE, *LIBRARY],
        topics=[10],
        sweeps=[20 if quick else SWEEPS],
        fold=range(2 if quick else FOLDS),
    )


def measure(
    data: Path, set: str, reading: str, topics: int, sweeps: int, fold: int
) -> list[dict[str, Any]]:
    """Sweeps, training and predictive perplexity of one way to read the paper."""
    counts = corpus(data, set).counts
    train, test = (counts[rows] for rows in fold_rows(counts.shape[0], fold))
    if reading in LIBRARY:
        options, prediction = LIBRARY[reading]
        model = LDA(topics, **options, **FIXED, tol="paper", max_iter=sweeps, random_state=fold)
        model.fit(train)
        return [
            {
                "n_sweeps": model.n_iter_,
                "training": model.history_[-1]["perplexity"],
                "predictive": completion_perplexity(model, test, **prediction),
            }
        ]
    read, xi, every = ENGINE[reading]
    inside, outside = links_for(data, set, reading, fold) if xi else (None, None)
    run = Synchronous(train, topics, read, inside, xi, fold)
    done = run.run(sweeps, every)
    observed, held = split_tokens(test)
    theta = run.fold_in(observed, outside)
    return [
        {
            "n_sweeps": done,
            "training": run.perplexity(),
            "predictive": held_out_perplexity(held, theta, run.topic_word),
        }
    ]


def links_for(
    data: Path, set: str, reading: str, fold: int
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Links among training documents, and of test documents to these."""
    links = links_of(data, set)
    if "one way" in reading:
        with np.load(data / set / f"{set}.npz", allow_pickle=False) as arrays:
            ends = arrays["links"].T
        links = sparse.csr_array((np.ones(ends.shape[1]), ends), shape=links.shape)
    train, test = fold_rows(links.shape[0], fold)
    return links[train][:, train], links[test][:, train]


PARTS = (Part("parity", measure, grid),)


def report(frames: dict[str, pd.DataFrame], quick: bool) -> Report:
    results, planned = frames["parity"], pd.DataFrame(grid(quick))
    found = dict(list(results.groupby("reading")))
    sizes = planned.groupby("reading", sort=False).size()

    def text(reading: str, value: str, digits: int = 1) -> str:
        numbers = found[reading][value] if reading in found else []
        return number_text(numbers, sizes[reading], digits)

    rows = []
    for name, (paper, toolbox, here, elsewhere, shown) in CHOICES.items():
        numbers = "; ".join(f"{reading}: {text(reading, 'predictive')}" for reading in shown)
        rows.append([name, paper, toolbox, here, elsewhere or numbers])
    kinds = {"n_sweeps": 0, "training": 1, "predictive": 1}
    measured = [
        [reading, *(text(reading, *kind) for kind in kinds.items())] for reading in sizes.index
    ]
    return Report(
        {
            "parity": markdown(["", "paper", "toolbox", "here", "predictive perplexity"], rows),
            "parity, readings": markdown(
                ["reading", "sweeps", "training perplexity", "predictive perplexity"], measured
            ),
        }
    )
