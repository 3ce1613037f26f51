"""Questions about links: which documents should be linked?"""

from __future__ import annotations

import numpy as np

__all__ = ["link_roots", "pair_scores"]


def link_roots(proportions: np.ndarray, joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Square roots of topic proportions, and what they say through a table of linked topics.

    They are scaled so that a document has the score 1 with itself.

    Parameters
    ----------
    proportions : ndarray of shape (n_documents, n_topics)
        Topic proportions.
    joint : ndarray of shape (n_topics, n_topics)
        How often topics meet over a link; symmetric, positive, sums to 1.

    Returns
    -------
    roots, spoken : ndarray of shape (n_documents, n_topics)
        The score of documents i and j is roots[i] @ spoken[j].

    Examples
    --------
    >>> roots, spoken = link_roots(np.eye(2), np.array([[0.4, 0.1], [0.1, 0.4]]))
    >>> (roots @ spoken.T).round(3).tolist()
    [[1.0, 0.25], [0.25, 1.0]]
    """
    marginal = np.sqrt(joint.sum(axis=1))
    table = joint / np.outer(marginal, marginal)
    root = np.sqrt(proportions)
    root = root / np.sqrt(np.einsum("ik,kl,il->i", root, table, root))[:, None]
    return root, root @ table


def pair_scores(first: np.ndarray, second: np.ndarray, joint: np.ndarray) -> np.ndarray:
    """Scores of pairs of documents from their topic proportions.

    Parameters
    ----------
    first, second : ndarray of shape (n_pairs, n_topics)
        Topic proportions of the two ends.
    joint : ndarray of shape (n_topics, n_topics)
        How often topics meet over a link.

    Returns
    -------
    ndarray of shape (n_pairs,)
        1 is the score of a document with itself.

    Examples
    --------
    >>> joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> pair_scores(np.eye(2), np.eye(2)[::-1], joint).round(3).tolist()
    [0.25, 0.25]
    """
    passed_on, held = link_roots(first, joint)[1], link_roots(second, joint)[0]
    scores: np.ndarray = np.einsum("ik,ik->i", passed_on, held)
    return scores
