"""Tables of topics that link: how often they meet, and the probability of one given the other (eq.
28: rows of eta).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

__all__ = ["expected_links", "linked_topics"]

TINY = 1e-300  # keeps 0 / 0 away


def expected_links(
    first: np.ndarray, second: np.ndarray, links: sparse.csr_array, joint: np.ndarray
) -> np.ndarray:
    """(K, K) expected links between topics, if each link joins one topic of either end.

    Parameters
    ----------
    first, second : ndarray of shape (n_first, n_topics), (n_second, n_topics)
        Topic proportions of the documents that links come from, and go to.
    links : csr_array of shape (n_first, n_second)
        1 where there is a link.
    joint : ndarray of shape (n_topics, n_topics)
        How often topics were joined before.

    Returns
    -------
    ndarray of shape (n_topics, n_topics)
        It sums to the number of links.

    Examples
    --------
    >>> expected_links(np.eye(2), np.eye(2), sparse.csr_array([[0, 1], [0, 0]]), np.ones((2, 2)))
    array([[0., 1.],
           [0., 0.]])
    """
    lift = joint / np.outer(joint.sum(axis=1), joint.sum(axis=0))
    ends = np.repeat(np.arange(len(first)), np.diff(links.indptr))
    odds = np.einsum("ik,ik->i", (first @ lift)[ends], second[links.indices])
    each = sparse.csr_array(
        (1 / np.maximum(odds, TINY), links.indices, links.indptr), shape=links.shape
    )
    table: np.ndarray = lift * (first.T @ (each @ second))
    return table


def linked_topics(joint: np.ndarray) -> np.ndarray:
    """(K, K) eta, rows sum to 1, from how often topics meet over a link (A10)."""
    eta: np.ndarray = joint / joint.sum(axis=1, keepdims=True)
    return eta
