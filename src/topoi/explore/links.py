"""Questions about links: which documents should be linked?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from topoi.corpus.links import symmetric
from topoi.explore.ranking import (
    MOST_PAIRS,
    blend,
    inverse_frequency,
    learned_weights,
    sampled_queries,
    unit_tfidf,
)

__all__ = [
    "blended_pairs",
    "link_probabilities",
    "link_roots",
    "link_terms",
    "link_weights",
    "pair_scores",
]

# of the terms of a link, between those of CORA and of NIPS
FIRST_WEIGHTS = np.array([0.0, 3.0, 5.0, -2.0, 0.0, 3.0])
LEAST = 0.01  # cosine, and score by topics


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


def link_terms(
    cosine: np.ndarray, near: np.ndarray, degree: np.ndarray, topical: np.ndarray
) -> np.ndarray:
    """The terms of which scores of links are made.

    They are the cosine of words and its logarithm, the cosines to the documents that the candidate
    is linked to (their sum divided by the root of their number, and by their number), the logarithm
    of this number, and of the score by topics.

    Parameters
    ----------
    cosine : ndarray of shape (n_documents, n_candidates)
        Cosine of TF-IDF weights.
    near : ndarray of shape (n_documents, n_candidates)
        Sum of the cosines to the neighbours of the candidate.
    degree : ndarray of shape (n_documents, n_candidates) or (n_candidates,)
        Number of these neighbours.
    topical : ndarray of shape (n_documents, n_candidates)
        Scores by topics, as by `link_roots`.

    Returns
    -------
    ndarray of shape (n_documents, n_candidates, 6)

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> link_terms(one, one, one, one).round(2).tolist()
    [[[1.0, 0.0, 1.0, 1.0, 0.69, 0.0]]]
    """
    terms = np.empty((*cosine.shape, 6))
    several = np.maximum(degree, 1)
    terms[..., 0] = cosine
    terms[..., 1] = np.log(np.maximum(cosine, LEAST))
    terms[..., 2] = near / np.sqrt(several)
    terms[..., 3] = near / several
    terms[..., 4] = np.log1p(degree)
    terms[..., 5] = np.log(np.maximum(topical, LEAST))
    return terms


def link_weights(
    counts: sparse.csr_array, links: sparse.csr_array, proportions: np.ndarray, joint: np.ndarray
) -> np.ndarray:
    """Weights of the terms, learned from the links of training documents.

    Each document is ranked as if it were new: its own links are removed first, and proportions are
    those of its words alone.

    Parameters
    ----------
    counts : csr_array of shape (n_documents, n_words)
        Counts of words.
    links : csr_array of shape (n_documents, n_documents)
        1 where documents are linked.
    proportions : ndarray of shape (n_documents, n_topics)
        Topic proportions, from words alone.
    joint : ndarray of shape (n_topics, n_topics)
        How often topics meet over a link.

    Returns
    -------
    ndarray of shape (6,)
    """
    both = symmetric(links)
    degree = np.asarray(both.sum(axis=1))
    queries = sampled_queries(np.flatnonzero(degree), len(degree))
    weights = unit_tfidf(counts, inverse_frequency(counts))
    cosine = (weights[queries] @ weights.T).toarray()
    mine = both[queries].toarray()
    itself = cosine[np.arange(len(queries)), queries][:, None]
    roots, spoken = link_roots(proportions, joint)
    terms = link_terms(
        cosine, cosine @ both - itself * mine, degree - mine, spoken[queries] @ roots.T
    )
    allowed = np.ones(mine.shape, dtype=bool)
    allowed[np.arange(len(queries)), queries] = False
    return learned_weights(terms, mine / degree[queries, None], allowed, FIRST_WEIGHTS)


def link_probabilities(
    known: sparse.csr_array,
    links: sparse.csr_array,
    new: sparse.csr_array,
    topical: tuple[np.ndarray, np.ndarray],
    weights: np.ndarray,
) -> Iterator[np.ndarray]:
    """How likely links of new documents go to each training document, one document at a time.

    Parameters
    ----------
    known : csr_array of shape (n_documents, n_words)
        Counts of the training documents.
    links : csr_array of shape (n_documents, n_documents)
        1 where these are linked.
    new : csr_array of shape (n_new, n_words)
        Counts of new documents.
    topical : tuple of ndarray
        What the new documents say (n_new, n_topics), and the roots of the training documents
        (n_documents, n_topics), by `link_roots`.
    weights : ndarray of shape (6,)
        By `link_weights`.

    Yields
    ------
    ndarray of shape (n_documents,)
        Sums to 1.
    """
    both, rarity = symmetric(links), inverse_frequency(known)
    of_known, of_new = unit_tfidf(known, rarity), unit_tfidf(new, rarity)
    degree, (spoken, roots) = np.asarray(both.sum(axis=1)), topical
    step = max(MOST_PAIRS // known.shape[0], 1)
    for first in range(0, new.shape[0], step):
        part = slice(first, first + step)
        cosine = (of_new[part] @ of_known.T).toarray()
        terms = link_terms(cosine, cosine @ both, degree, spoken[part] @ roots.T)
        yield from blend(terms, weights, degree > -1)


def blended_pairs(
    counts: sparse.csr_array,
    links: sparse.csr_array,
    pairs: np.ndarray,
    topical: np.ndarray,
    weights: np.ndarray,
) -> np.ndarray:
    """Scores of pairs of training documents, each as if it were not linked.

    Parameters
    ----------
    counts : csr_array of shape (n_documents, n_words)
        Counts of words.
    links : csr_array of shape (n_documents, n_documents)
        1 where documents are linked.
    pairs : ndarray of shape (n_pairs, 2)
        Numbers of documents.
    topical : ndarray of shape (n_pairs,)
        Their scores by topics, as by `pair_scores`.
    weights : ndarray of shape (6,)
        By `link_weights`.

    Returns
    -------
    ndarray of shape (n_pairs,)
        Logarithm of odds, up to a constant; the same for (a, b) and (b, a).
    """
    both, rows = symmetric(links), unit_tfidf(counts, inverse_frequency(counts))
    degree = np.asarray(both.sum(axis=1))
    near = sparse.csr_array(both @ rows)  # (D, W) sum of the neighbours' rows
    scores = np.zeros(len(pairs))
    for first, second in (pairs.T, pairs[:, ::-1].T):
        linked = np.asarray(both[first, second]).ravel()
        itself = _dots(rows, rows, first, first)
        terms = link_terms(
            _dots(rows, rows, first, second)[:, None],
            (_dots(rows, near, first, second) - linked * itself)[:, None],
            (degree[second] - linked)[:, None],
            topical[:, None],
        )
        scores += (terms @ weights)[:, 0] / 2
    return scores


def _dots(
    one: sparse.csr_array, other: sparse.csr_array, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """(m,) products of rows, some thousands at a time."""
    parts = [np.zeros(0)]
    for start in range(0, len(first), 4096):
        part = slice(start, start + 4096)
        parts.append(np.asarray(one[first[part]].multiply(other[second[part]]).sum(axis=1)).ravel())
    return np.concatenate(parts)
