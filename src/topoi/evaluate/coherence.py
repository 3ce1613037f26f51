"""Coherence: do the top words of a topic stand in the same documents? A guard against bad topics,
not a proof of good ones.

Probabilities are proportions of documents of the reference corpus. A pair with a word that the
reference never uses scores 0: nothing is known of it. So no score is ever NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from topoi.corpus.checks import check_counts
from topoi.corpus.corpus import counts_for, unwrapped

__all__ = ["c_v", "npmi", "top_word_ids", "u_mass"]


def top_word_ids(topics: Any, n_words: int) -> list[np.ndarray]:
    """Word numbers of each topic's top words, from a fitted model, an array (K, W) of weights, or
    lists of word numbers.
    """
    table = getattr(topics, "components_", topics)
    if isinstance(table, list) and table and np.asarray(table[0]).dtype.kind == "f":
        table = np.asarray(table)
    is_array = isinstance(table, np.ndarray) and table.ndim == 2
    if is_array and (
        table.dtype.kind == "f" or any(len(np.unique(row)) < len(row) for row in table)
    ):  # a list names no word twice
        return [np.argsort(-row, kind="stable")[:n_words] for row in table]
    if any(isinstance(word, str) for row in table for word in row):
        raise ValueError(
            "Topics are lists of words; give word numbers (columns of the reference), topics x"
            " words weights, or a fitted model."
        )
    return [np.asarray(row, dtype=np.int64)[:n_words] for row in table]


def npmi(topics: Any, reference: Any, n_words: int = 10) -> np.ndarray:
    """Coherence by normalised pointwise mutual information of a topic's top words.

    Parameters
    ----------
    topics : fitted model, ndarray of shape (n_topics, n_words) or lists of int
        Topics, as a model, as weights, or as the numbers of their top words.
    reference : Corpus or array-like of shape (n_documents, n_words)
        Documents in which words are looked for together.
    n_words : int, default=10
        Number of top words of each topic.

    Returns
    -------
    ndarray of shape (n_topics,)
        Mean over pairs of words: -1 never together, 0 independent, 1 always together.

    Examples
    --------
    >>> from topoi.evaluate import npmi
    >>> documents = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]
    >>> npmi([[0, 1], [0, 2]], documents).round(2).tolist()
    [1.0, -1.0]
    """
    return _per_topic(
        topics,
        reference,
        n_words,
        lambda together, alone: _mean_of_pairs(_npmi_table(together, alone)),
    )


def u_mass(topics: Any, reference: Any, n_words: int = 10) -> np.ndarray:
    """Coherence by UMass: mean log((D(w, v) + 1) / D(v)) over pairs with v the more probable word.

    Parameters
    ----------
    topics : fitted model, ndarray of shape (n_topics, n_words) or lists of int
        Topics, as a model, as weights, or as the numbers of their top words.
    reference : Corpus or array-like of shape (n_documents, n_words)
        Documents in which words are looked for together.
    n_words : int, default=10
        Number of top words of each topic.

    Returns
    -------
    ndarray of shape (n_topics,)
        The larger, the more coherent.

    Examples
    --------
    >>> from topoi.evaluate import u_mass
    >>> documents = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]
    >>> u_mass([[0, 1], [0, 2]], documents).round(2).tolist()
    [0.41, -0.69]
    """

    def score(together: np.ndarray, alone: np.ndarray) -> float:
        ratio = np.log((together + 1.0) / np.maximum(alone, 1)[None, :]) * (
            (alone > 0)[:, None] & (alone > 0)[None, :]
        )
        return _mean_of_pairs(ratio)

    return _per_topic(topics, reference, n_words, score, proportions=False)


def c_v(topics: Any, reference: Any, n_words: int = 10) -> np.ndarray:
    """Coherence by C_V (Roeder et al. 2015) with documents as windows.

    Parameters
    ----------
    topics : fitted model, ndarray of shape (n_topics, n_words) or lists of int
        Topics, as a model, as weights, or as the numbers of their top words.
    reference : Corpus or array-like of shape (n_documents, n_words)
        Documents in which words are looked for together.
    n_words : int, default=10
        Number of top words of each topic.

    Returns
    -------
    ndarray of shape (n_topics,)
        Mean cosine of each word's vector of NPMI with the sum of all; 1 is the best.

    Examples
    --------
    >>> from topoi.evaluate import c_v
    >>> documents = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]
    >>> c_v([[0, 1], [0, 2]], documents).round(2).tolist()
    [1.0, 0.0]
    """

    def score(together: np.ndarray, alone: np.ndarray) -> float:
        vectors = _npmi_table(together, alone)
        whole = vectors.sum(axis=0)
        norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(whole)
        return float(
            np.mean(np.divide(vectors @ whole, norms, out=np.zeros(len(vectors)), where=norms > 0))
        )

    return _per_topic(topics, reference, n_words, score)


def _per_topic(
    topics: Any,
    reference: Any,
    n_words: int,
    score: Callable[[np.ndarray, np.ndarray], float],
    proportions: bool = True,
) -> np.ndarray:
    """score(together, alone) of each topic: (n, n) and (n,) document counts (or proportions) of its
    top words.
    """
    topics, reference = unwrapped(topics, reference)
    counts = check_counts(counts_for(topics, reference), name="reference")
    present = sparse.csc_array(counts.astype(bool).astype(np.float64))
    scale = counts.shape[0] if proportions else 1
    out = []
    table = getattr(topics, "components_", topics)
    if (
        isinstance(table, np.ndarray)
        and table.ndim == 2
        and table.dtype.kind == "f"
        and table.shape[1] != counts.shape[1]
    ):
        raise ValueError(
            f"Topics have {table.shape[1]} words, but the reference has {counts.shape[1]}; use one"
            " vocabulary for both."
        )
    for words in top_word_ids(topics, n_words):
        if len(words) and (words.min() < 0 or words.max() >= counts.shape[1]):
            raise ValueError(
                f"A topic has word {words.max()}, but the reference has {counts.shape[1]} words;"
                " use one vocabulary for both."
            )
        columns = present[:, words]
        together = (columns.T @ columns).toarray()
        out.append(score(together / scale, together.diagonal() / scale) if len(words) > 1 else 0.0)
    return np.array(out)


def _npmi_table(together: np.ndarray, alone: np.ndarray) -> np.ndarray:
    """(n, n) NPMI of word pairs from proportions of documents."""
    expected = np.outer(alone, alone)
    with np.errstate(divide="ignore", invalid="ignore"):
        table = np.log(together / expected) / -np.log(together)
    table = np.where(together >= 1, 1.0, np.where(together > 0, table, -1.0))
    return np.where(expected > 0, table, 0.0)


def _mean_of_pairs(table: np.ndarray) -> float:
    """Mean below the diagonal: each word with the more probable ones before it."""
    return float(table[np.tril_indices(len(table), -1)].mean())
