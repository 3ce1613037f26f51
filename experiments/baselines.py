"""Are our baselines as strong as published ones? GS against tomotopy, VB against scikit-learn: the
same priors, documents and number of sweeps, one scorer.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common import PRIOR, score
from benchmarks.race import tokens
from experiments.harness import FIXED, FOLDS, Cell, Part, cells, fold_of
from experiments.page import Claim, Report, as_markdown, by_set, change, holds_on, mean_table, told
from topoi import LDA, Corpus
from topoi.rules import VB

SETS = ("cora", "medl")
TOPICS = 20
SWEEPS = {"GS": 500, "VB": 100}
# What is compared, ours first, and what it is called.
PAIRS = (
    ("GS, topoi", "GS, tomotopy", "GS is as good as that of tomotopy"),
    ("VB, topoi", "VB, scikit-learn", "VB of textbooks is as good as that of scikit-learn"),
    ("VB, paper", "VB, scikit-learn", "VB of the paper is as good as scikit-learn's of textbooks"),
)
INNER = 100  # passes over a document in a sweep, at most, as scikit-learn has it
WITHIN = 1.0  # per cent


def grid(quick: bool) -> list[Cell]:
    sets, folds = (SETS[:1], 2) if quick else (SETS, FOLDS)
    return [
        cell
        for method in RUNNERS
        for cell in cells(
            set=sets,
            method=[method],
            topics=[10 if quick else TOPICS],
            sweeps=[10 if quick else SWEEPS[method[:2]]],
            fold=range(folds),
        )
    ]


def measure(
    data: Path, set: str, method: str, topics: int, sweeps: int, fold: int
) -> list[dict[str, Any]]:
    """Predictive perplexity of the topics of one library, BP's fold-in for all."""
    train, test = fold_of(data, set, fold)
    return [{"common": score(RUNNERS[method](train, topics, sweeps, fold), test)}]


def our_gibbs(train: Corpus, topics: int, sweeps: int, seed: int) -> np.ndarray:
    options = {"max_iter": sweeps, "tol": 0, "evaluate_every": 0, "random_state": seed}
    return LDA(topics, rule="gibbs", **FIXED, **options).fit(train).topic_word_


def our_vb(train: Corpus, topics: int, sweeps: int, seed: int) -> np.ndarray:
    """VB with exp(psi) on both sides, which is what scikit-learn computes, from where it starts:
    random topics, under which documents are inferred first.
    """
    options = {"rule": VB(inner=INNER, textbook=True), "schedule": "synchronous", **FIXED}
    options |= {"tol": 0, "evaluate_every": 0, "random_state": seed}
    first = LDA(topics, max_iter=1, **options).fit(train)
    first.components_ = np.random.default_rng(seed).gamma(100, 0.01, (topics, train.n_words))
    start = first.messages(train)
    return LDA(topics, init=start, max_iter=sweeps - 1, **options).fit(train).topic_word_


def papers_vb(train: Corpus, topics: int, sweeps: int, seed: int) -> np.ndarray:
    """VB as the paper has it: exp(psi) for documents alone."""
    options = {"max_iter": sweeps, "tol": 0, "evaluate_every": 0, "random_state": seed}
    return LDA(topics, rule="vb", **FIXED, **options).fit(train).topic_word_


def tomotopy(train: Corpus, topics: int, sweeps: int, seed: int) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of compiled modules on new Pythons
        import tomotopy as tp

    model = tp.LDAModel(k=topics, alpha=PRIOR, eta=PRIOR, min_cf=0, rm_top=0, seed=seed)
    model.optim_interval = 0  # the priors stay
    for words in tokens(train):
        if len(words):
            model.add_doc([str(word) for word in words])
    model.train(sweeps, workers=1)
    out = np.full((topics, train.n_words), PRIOR)  # words without a token have the prior only
    known = np.array([int(word) for word in model.used_vocabs])
    for k in range(topics):
        out[k, known] = model.get_topic_word_dist(k, normalize=False)
    return out / out.sum(axis=1, keepdims=True)


def scikit_learn(train: Corpus, topics: int, sweeps: int, seed: int) -> np.ndarray:
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(
        topics,
        doc_topic_prior=PRIOR,
        topic_word_prior=PRIOR,
        learning_method="batch",
        max_iter=sweeps,
        max_doc_update_iter=INNER,
        random_state=seed,
    ).fit(train.counts)
    return model.components_ / model.components_.sum(axis=1, keepdims=True)


RUNNERS = {
    "GS, topoi": our_gibbs,
    "GS, tomotopy": tomotopy,
    "VB, topoi": our_vb,
    "VB, paper": papers_vb,
    "VB, scikit-learn": scikit_learn,
}
PARTS = (Part("baselines", measure, grid),)


def report(frames: dict[str, pd.DataFrame], quick: bool) -> Report:
    results, by = frames["baselines"], ["set", "topics"]
    table = mean_table(results, grid(quick), by, "method", "common")
    claims = []
    for ours, theirs, claim in PAIRS:
        gaps = by_set(change(results, by, "method", "common", ours, theirs))
        claims.append(
            Claim(
                f"(ours) Our {claim}",
                holds_on(gaps.index[gaps <= WITHIN], gaps.index),
                told(gaps),
                f'The perplexity of "{ours}" differs from that of "{theirs}" after as many sweeps'
                f" by {told(gaps)}.",
            )
        )
    return Report({"baselines": as_markdown(table)}, claims)
