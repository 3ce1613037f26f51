"""Rankings that blend several terms, with weights learned on training documents.

A training document takes part as if it were new: what it added to a candidate is removed first.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

__all__ = ["blend", "inverse_frequency", "learned_weights", "sampled_queries", "unit_tfidf"]

MOST_PAIRS = 1_000_000  # of documents and candidates that weights are learned from
PULL = 1.0  # towards the first weights, in documents


def inverse_frequency(counts: sparse.csr_array) -> np.ndarray:
    """How rare words are: log((1 + documents) / (1 + documents with the word)) + 1.

    Parameters
    ----------
    counts : csr_array of shape (n_documents, n_words)
        Counts of words.

    Returns
    -------
    ndarray of shape (n_words,)

    Examples
    --------
    >>> inverse_frequency(sparse.csr_array([[1, 1], [1, 0]])).round(3).tolist()
    [1.0, 1.405]
    """
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    return np.asarray(np.log((1 + counts.shape[0]) / (1 + frequency)) + 1)


def unit_tfidf(counts: sparse.csr_array, rarity: np.ndarray) -> sparse.csr_array:
    """Rows log(1 + count) * rarity of length 1; empty rows stay empty.

    Parameters
    ----------
    counts : csr_array of shape (n_documents, n_words)
        Counts of words.
    rarity : ndarray of shape (n_words,)
        By `inverse_frequency`.

    Returns
    -------
    csr_array of shape (n_documents, n_words)

    Examples
    --------
    >>> counts = sparse.csr_array([[3.0, 0.0], [2.0, 2.0]])
    >>> unit_tfidf(counts, np.ones(2)).toarray().round(3).tolist()
    [[1.0, 0.0], [0.707, 0.707]]
    """
    values = np.log1p(counts.data) * rarity[counts.indices]
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    length = np.sqrt(np.bincount(row, values**2, minlength=counts.shape[0]))
    return sparse.csr_array(
        (values / np.maximum(length, 1e-300)[row], counts.indices, counts.indptr),
        shape=counts.shape,
    )


def sampled_queries(queries: np.ndarray, n_candidates: int) -> np.ndarray:
    """Some of many documents, evenly spread, so that there are not too many pairs.

    Parameters
    ----------
    queries : ndarray of int
        Numbers of documents.
    n_candidates : int
        With how many candidates each is paired.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> len(sampled_queries(np.arange(5000), 1000))
    1000
    """
    most = max(MOST_PAIRS // max(n_candidates, 1), 50)
    if len(queries) <= most:
        return queries
    return queries[np.linspace(0, len(queries) - 1, most).astype(np.int64)]


def learned_weights(
    terms: np.ndarray,
    target: np.ndarray,
    allowed: np.ndarray,
    first: np.ndarray,
    lowest: float = -np.inf,
) -> np.ndarray:
    """Weights of terms with which the right candidates are likeliest (conditional logit).

    Parameters
    ----------
    terms : ndarray of shape (n_documents, n_candidates, n_terms)
        Terms of the scores.
    target : ndarray of shape (n_documents, n_candidates)
        Probabilities of the right candidates; rows sum to 1.
    allowed : ndarray of bool of shape (n_documents, n_candidates)
        Which candidates there are.
    first : ndarray of shape (n_terms,)
        Weights where there are few documents.
    lowest : float, default=-inf
        The least that a weight may be.

    Returns
    -------
    ndarray of shape (n_terms,)

    Examples
    --------
    >>> terms = np.repeat(np.array([[[1.0], [0.0]]]), 50, axis=0)
    >>> target = np.repeat(np.array([[1.0, 0.0]]), 50, axis=0)
    >>> bool(learned_weights(terms, target, target > -1, np.zeros(1))[0] > 1)
    True
    """
    if not len(terms):
        return first
    scale = np.maximum(terms.reshape(-1, terms.shape[-1]).std(axis=0), 1e-9)
    scaled = terms / scale

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        found = blend(scaled, weights, allowed)
        away = weights - first * scale
        surprise = -(target * np.log(np.maximum(found, 1e-300))).sum()
        slope = np.einsum("da,daf->f", found - target, scaled)
        return float(surprise + PULL * away @ away), slope + 2 * PULL * away

    bounds = [(lowest, np.inf)] * len(first)
    found = minimize(loss, first * scale, jac=True, method="L-BFGS-B", bounds=bounds).x
    return np.asarray(found / scale)


def blend(terms: np.ndarray, weights: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Probabilities of candidates: the softmax of the weighted sum of terms.

    Parameters
    ----------
    terms : ndarray of shape (n_documents, n_candidates, n_terms)
        Terms of the scores.
    weights : ndarray of shape (n_terms,)
        A weight for each.
    allowed : ndarray of bool of shape (n_documents, n_candidates) or (n_candidates,)
        Which candidates there are; the others get 0.

    Returns
    -------
    ndarray of shape (n_documents, n_candidates)
        Rows sum to 1.

    Examples
    --------
    >>> blend(np.zeros((1, 3, 1)), np.ones(1), np.array([True, True, False])).tolist()
    [[0.5, 0.5, 0.0]]
    """
    scores = np.where(allowed, terms @ weights, -np.inf)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))
