"""Topics compared with each other: diversity inside a model, matching and stability
between models.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from topoi.corpus import Corpus
from topoi.evaluate.inputs import top_words_of, topics_of

if TYPE_CHECKING:
    from topoi.evaluate.inputs import TopicsLike

__all__ = [
    "match_topics",
    "mean_stability",
    "rank_biased_diversity",
    "stability",
    "topic_diversity",
]


def topic_diversity(topics: TopicsLike, n_words: int = 25) -> float:
    """Proportion of distinct words among the top words of all topics.

    Parameters
    ----------
    topics : fitted model, ndarray of shape (n_topics, n_words), lists of str or lists of int
        Topics, as a model, as weights, or as their top words or the numbers of these.
    n_words : int, default=25
        Number of top words of each topic.

    Returns
    -------
    float
        1 when no two topics share a word.

    Examples
    --------
    >>> from topoi.evaluate import topic_diversity
    >>> topic_diversity([[0, 1], [1, 2]])
    0.75
    """
    words = np.concatenate(top_words_of(topics, n_words))
    return len(np.unique(words)) / len(words)


def rank_biased_diversity(topics: TopicsLike, n_words: int = 10, *, p: float = 0.9) -> float:
    """How different the rankings of words are: 1 minus the mean rank-biased overlap of two topics.

    The first words of topics count more than later ones, which people hardly see.

    Parameters
    ----------
    topics : fitted model, ndarray of shape (n_topics, n_words), lists of str or lists of int
        Topics, as a model, as weights, or as their top words or the numbers of these.
    n_words : int, default=10
        Number of top words of each topic; lists of words are cut to the shortest.
    p : float, default=0.9
        How much later words count, from above 0 to below 1: a word p times as much as the word
        before it.

    Returns
    -------
    float
        1 when no two topics share a word, 0 when all have the same words in the same order. The
        overlap is extrapolated behind the last word (Webber, Moffat and Zobel 2010, eq. 32).

    Examples
    --------
    >>> from topoi.evaluate import rank_biased_diversity
    >>> round(rank_biased_diversity([["cat", "dog"], ["cat", "bank"]]), 3)
    0.45
    >>> round(rank_biased_diversity([["dog", "cat"], ["bank", "cat"]]), 3)
    0.55
    """
    if not 0 < p < 1:
        raise ValueError(f"p is {p!r}; expected a number above 0 and below 1.")
    tops = top_words_of(topics, n_words)
    length = min(map(len, tops), default=0)
    if len(tops) < 2 or not length:
        raise ValueError("Rank-biased diversity compares topics; give at least two, with words.")
    words = np.unique([row[:length] for row in tops], return_inverse=True)[1]
    words = words.reshape(len(tops), length)
    overlap = np.zeros((len(tops), len(tops)))  # of the words up to a depth
    weighted = np.zeros_like(overlap)
    for depth in range(1, length + 1):
        ones, starts = np.ones(len(tops) * depth), np.arange(len(tops) + 1) * depth
        has = sparse.csr_array((ones, words[:, :depth].ravel(), starts))
        overlap = (has @ has.T).toarray()
        weighted += (1 - p) / p * p**depth * overlap / depth
    weighted += p**length * overlap / length
    return float(1 - weighted[np.triu_indices(len(tops), 1)].mean())


def match_topics(first: TopicsLike, second: TopicsLike) -> tuple[np.ndarray, np.ndarray]:
    """Best one-to-one matching of two models' topics by cosine, over the words of the first.

    Parameters
    ----------
    first, second : fitted model or ndarray of shape (n_topics, n_words)
        The topics to match.

    Returns
    -------
    partner : ndarray of shape (n_topics,)
        The topic of `second` that each topic of `first` is matched with; -1 for none.
    cosine : ndarray of shape (n_topics,)
        Their similarity; 0 without a partner.

    Examples
    --------
    >>> from topoi.evaluate import match_topics
    >>> partner, cosine = match_topics([[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]])
    >>> partner.tolist(), cosine.round(3).tolist()
    ([1, 0], [1.0, 1.0])
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


def stability(models: Sequence[TopicsLike]) -> np.ndarray:
    """How well each topic of the first model is found again in the others.

    Parameters
    ----------
    models : sequence of fitted models or ndarrays of shape (n_topics, n_words)
        At least two, fitted with different seeds.

    Returns
    -------
    ndarray of shape (n_topics,)
        Mean cosine of matched topics; 1 means always found.

    Examples
    --------
    >>> from topoi.evaluate import stability
    >>> stability([[[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]]]).round(3).tolist()
    [1.0, 1.0]
    """
    if len(models) < 2:
        raise ValueError(
            "Stability compares models; give at least two, fitted with different seeds."
        )
    cosines: np.ndarray = np.mean(
        [match_topics(models[0], other)[1] for other in models[1:]], axis=0
    )
    return cosines


def mean_stability(models: Sequence[TopicsLike]) -> float:
    """Mean matched cosine over all pairs of models."""
    return float(np.mean([match_topics(a, b)[1].mean() for a, b in combinations(models, 2)]))
