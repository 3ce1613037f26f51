"""Topics compared with each other: diversity inside a model, matching and stability
between models.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from topoi.corpus import Corpus
from topoi.evaluate.coherence import top_word_ids
from topoi.evaluate.perplexity import topics_of

__all__ = ["match_topics", "mean_stability", "stability", "topic_diversity"]


def topic_diversity(topics: Any, n_words: int = 25) -> float:
    """Share of distinct words among the top words of all topics: 1 when no two topics share one."""
    words = np.concatenate(top_word_ids(topics, n_words))
    return len(np.unique(words)) / len(words)


def match_topics(first: Any, second: Any) -> tuple[np.ndarray, np.ndarray]:
    """Best one-to-one matching of two models' topics by cosine (Hungarian method), over the words
    of the first.

    Returns (K,) the partner in `second` of each topic of `first` (-1 where there are too few), and
    (K,) their cosine (0 without partner).
    """
    a, b = topics_of(first), topics_of(second)
    words, others = getattr(first, "vocabulary_", None), getattr(second, "vocabulary_", None)
    if words is not None and others is not None and not np.array_equal(words, others):
        b = Corpus(b, others).like(words).counts.toarray()
    if a.shape[1] != b.shape[1]:
        raise ValueError(
            f"The models have {a.shape[1]} and {b.shape[1]} words; topics can only be matched over"
            " one vocabulary."
        )
    lengths = np.outer(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))
    cosine = a @ b.T / np.maximum(lengths, 1e-300)
    rows, columns = linear_sum_assignment(-cosine)
    partner, similarity = np.full(len(a), -1), np.zeros(len(a))
    partner[rows], similarity[rows] = columns, cosine[rows, columns]
    return partner, similarity


def stability(models: Sequence[Any]) -> np.ndarray:
    """(K,) how well each topic of the first model is found again in the others: mean matched
    cosine, 1 = always.
    """
    if len(models) < 2:
        raise ValueError(
            "Stability compares models; give at least two, fitted with different seeds."
        )
    return np.mean([match_topics(models[0], other)[1] for other in models[1:]], axis=0)


def mean_stability(models: Sequence[Any]) -> float:
    """Mean matched cosine over all pairs of models."""
    return float(np.mean([match_topics(a, b)[1].mean() for a, b in combinations(models, 2)]))
