"""Coherence: do the top words of a topic stand in the same documents? A guard against bad topics,
not a proof of good ones.

Probabilities are proportions of documents of the reference corpus. A pair with a word that the
reference never uses scores 0: nothing is known of it. So no score is ever NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus
from topoi.corpus.checks import check_counts
from topoi.evaluate.inputs import counts_for, top_words_of, unwrapped, weights_of

if TYPE_CHECKING:
    from topoi.evaluate.inputs import TopicsLike
    from topoi.io.given import DocumentsLike

__all__ = ["association", "c_v", "npmi", "u_mass"]


def npmi(
    topics: TopicsLike,
    reference: DocumentsLike,
    n_words: int = 10,
    *,
    vocabulary: Sequence[str] | None = None,
) -> np.ndarray:
    """Coherence by normalised pointwise mutual information of a topic's top words.

    Parameters
    ----------
    topics : fitted model, ndarray of shape (n_topics, n_words), lists of str or lists of int
        Topics, as a model, as weights, or as their top words or the numbers of these.
    reference : Corpus or array-like of shape (n_documents, n_words)
        Documents in which words are looked for together; for lists of words a Corpus that knows
        its words.
    n_words : int, default=10
        Number of top words of each topic.
    vocabulary : sequence of str, default=None
        The word of each column of weights, which do not know their words.

    Returns
    -------
    ndarray of shape (n_topics,)
        Mean over pairs of words: -1 never together, 0 independent, 1 always together.

    Examples
    --------
    >>> import topoi
    >>> from topoi.evaluate import npmi
    >>> documents = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]
    >>> npmi([[0, 1], [0, 2]], documents).round(2).tolist()
    [1.0, -1.0]
    >>> corpus = topoi.Corpus(documents, ["cat", "dog", "bank", "money"])
    >>> npmi([["dog", "cat"], ["dog", "bank"], ["dog", "unknown"]], corpus).round(2).tolist()
    [1.0, -1.0, 0.0]
    """

    def score(together: np.ndarray, alone: np.ndarray) -> float:
        return _mean_of_pairs(_npmi_table(together, alone, alone))

    return _per_topic(topics, reference, n_words, score, vocabulary)


def u_mass(
    topics: TopicsLike,
    reference: DocumentsLike,
    n_words: int = 10,
    *,
    vocabulary: Sequence[str] | None = None,
) -> np.ndarray:
    """Coherence by UMass: mean log((D(w, v) + 1) / D(v)) over pairs with v the more probable word.

    Parameters
    ----------
    topics : fitted model, ndarray of shape (n_topics, n_words), lists of str or lists of int
        Topics, as a model, as weights, or as their top words or the numbers of these.
    reference : Corpus or array-like of shape (n_documents, n_words)
        Documents in which words are looked for together; for lists of words a Corpus that knows
        its words.
    n_words : int, default=10
        Number of top words of each topic.
    vocabulary : sequence of str, default=None
        The word of each column of weights, which do not know their words.

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

    return _per_topic(topics, reference, n_words, score, vocabulary, proportions=False)


def c_v(
    topics: TopicsLike,
    reference: DocumentsLike,
    n_words: int = 10,
    *,
    vocabulary: Sequence[str] | None = None,
) -> np.ndarray:
    """Coherence by C_V (Roeder et al. 2015) with documents as windows.

    Parameters
    ----------
    topics : fitted model, ndarray of shape (n_topics, n_words), lists of str or lists of int
        Topics, as a model, as weights, or as their top words or the numbers of these.
    reference : Corpus or array-like of shape (n_documents, n_words)
        Documents in which words are looked for together; for lists of words a Corpus that knows
        its words.
    n_words : int, default=10
        Number of top words of each topic.
    vocabulary : sequence of str, default=None
        The word of each column of weights, which do not know their words.

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
        vectors = _npmi_table(together, alone, alone)
        whole = vectors.sum(axis=0)
        norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(whole)
        return float(
            np.mean(np.divide(vectors @ whole, norms, out=np.zeros(len(vectors)), where=norms > 0))
        )

    return _per_topic(topics, reference, n_words, score, vocabulary)


def association(present: sparse.csc_array, words: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(n, m) NPMI of words with other words: columns of (D, W) ones where a document has a word."""
    first, second = present[:, words], present[:, others]
    together = (first.T @ second).toarray() / present.shape[0]
    return _npmi_table(together, first.mean(axis=0), second.mean(axis=0))


def _per_topic(
    topics: TopicsLike,
    reference: DocumentsLike,
    n_words: int,
    score: Callable[[np.ndarray, np.ndarray], float],
    vocabulary: Sequence[str] | None,
    proportions: bool = True,
) -> np.ndarray:
    """score(together, alone) of each topic: (n, n) and (n,) document counts (or proportions) of its
    top words.
    """
    counts, tops = _columns(*unwrapped(topics, reference), n_words, vocabulary)
    present = sparse.csc_array(counts.astype(bool).astype(np.float64))
    scale = counts.shape[0] if proportions else 1
    out = []
    for words in tops:
        columns = present[:, words]
        together = (columns.T @ columns).toarray()
        out.append(score(together / scale, together.diagonal() / scale) if len(words) > 1 else 0.0)
    return np.array(out)


def _columns(
    topics: TopicsLike, reference: DocumentsLike, n_words: int, vocabulary: Sequence[str] | None
) -> tuple[sparse.csr_array, list[np.ndarray]]:
    """Counts of the reference, and the top words of each topic as columns of them.

    Words that the reference does not have are in an empty column at its end.
    """
    weights, tops = weights_of(topics), top_words_of(topics, n_words)
    if weights is None and isinstance(reference, Corpus):
        counts = reference.counts
    else:
        counts = check_counts(counts_for(topics, reference, vocabulary), name="reference")
    size = counts.shape[1]
    if weights is not None and weights.shape[1] != size:
        raise ValueError(
            f"Topics have {weights.shape[1]} words, but the reference has {size}; use one"
            " vocabulary for both."
        )
    if any(words.dtype.kind == "U" for words in tops):
        if not isinstance(reference, Corpus) or reference.vocabulary is None:
            raise ValueError(
                "Topics are lists of words, but the reference does not know its words; give a"
                " Corpus with a vocabulary, or word numbers (columns of the reference)."
            )
        place = {word: column for column, word in enumerate(reference.words)}
        tops = [np.array([place.get(word, size) for word in words]) for words in tops]
        return sparse.csr_array(
            (counts.data, counts.indices, counts.indptr), shape=(counts.shape[0], size + 1)
        ), tops
    for words in tops:
        if len(words) and (words.min() < 0 or words.max() >= size):
            raise ValueError(
                f"A topic has word {words.max()}, but the reference has {size} words; use one"
                " vocabulary for both."
            )
    return counts, tops


def _npmi_table(together: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(n, m) NPMI of word pairs from proportions of documents: with both, the one, the other."""
    expected = np.outer(first, second)
    with np.errstate(divide="ignore", invalid="ignore"):
        table = np.log(together / expected) / -np.log(together)
    table = np.where(together >= 1, 1.0, np.where(together > 0, table, -1.0))
    return np.where(expected > 0, table, 0.0)


def _mean_of_pairs(table: np.ndarray) -> float:
    """Mean below the diagonal: each word with the more probable ones before it."""
    return float(table[np.tril_indices(len(table), -1)].mean())
