"""Starts from given topics, and from the documents of topics that have word priors of their own
(seeds).

A prior alone, on top of topics that were found without it, moves a few words and leaves the topics
where they are (docs/lab-notes.md).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

__all__ = ["broken_apart", "guided_counts", "guided_topics"]

DOCUMENTS = 100  # at most so many, drawn at random, make a topic without a prior
BACKGROUND = 0.2  # proportion of a topic that is the word proportions of all documents


def guided_counts(counts: sparse.csr_array, word_prior: np.ndarray, seed: int) -> np.ndarray:
    """(W, K) counts of words to start topics from; those of shards may be added up.

    Documents count for the topics whose words they hold, by the proportion of these among their
    tokens. A topic without a prior of its own gets some documents at random.

    counts: (D, W); word_prior: (W, K), of which the part that all topics have in common is
    left out.
    """
    guide = word_prior - word_prior.min(axis=1, keepdims=True)
    total = guide.sum(axis=1, keepdims=True)
    proportion = counts @ np.divide(guide, total, out=np.zeros_like(guide), where=total > 0)
    proportion /= np.maximum(counts.sum(axis=1), 1e-30)[:, None]
    K = word_prior.shape[1]
    order = np.random.default_rng(seed).permutation(counts.shape[0])
    for topic in np.flatnonzero(~guide.any(axis=0)):
        proportion[order[topic::K][:DOCUMENTS], topic] = 1.0
    return counts.T @ proportion


def guided_topics(counted: np.ndarray, word_weight: np.ndarray) -> np.ndarray:
    """(W, K) word proportions of topics to start from, columns sum to 1.

    counted: what `guided_counts` has found; word_weight: (W,) weight of each word in all documents.
    """
    background = (word_weight / word_weight.sum())[:, None]
    total = counted.sum(axis=0)
    found = np.where(total > 0, counted / np.maximum(total, 1e-30), background)
    return (1 - BACKGROUND) * found + BACKGROUND * background


def broken_apart(topics: np.ndarray, seed: int) -> np.ndarray:
    """Topics (W, K) of which no two are equal: equal ones would stay equal for ever. Every copy
    of an earlier column is multiplied by noise; columns sum to 1 before and after.
    """
    first = np.unique(np.round(topics, 12), axis=1, return_index=True)[1]
    copies = np.setdiff1d(np.arange(topics.shape[1]), first)
    if not len(copies):
        return topics
    noise = np.random.default_rng(seed).uniform(0.5, 1.5, (len(topics), len(copies)))
    topics = topics.copy()
    topics[:, copies] *= noise
    topics[:, copies] /= topics[:, copies].sum(axis=0)
    return topics
