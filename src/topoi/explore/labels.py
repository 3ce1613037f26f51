"""Questions about labels: which labels has this document?"""

from __future__ import annotations

import numpy as np
from scipy import sparse

__all__ = [
    "chosen_labels",
    "label_posterior",
    "label_proportions",
    "likeliest_labels",
    "same_labels",
]


def label_proportions(doc_topic: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Proportions of labels, without background topics and labels that nothing was learned of.

    Parameters
    ----------
    doc_topic : ndarray of shape (n_documents, n_topics)
        Topic proportions; labels come first, background topics after them.
    seen : ndarray of bool of shape (n_classes,)
        Whether a training document had the label.

    Returns
    -------
    ndarray of shape (n_documents, n_classes)
        Rows sum to 1.

    Examples
    --------
    >>> label_proportions(np.array([[0.25, 0.25, 0.5]]), np.array([True, True])).tolist()
    [[0.5, 0.5]]
    """
    among_labels = doc_topic[:, : len(seen)] * seen
    proportions: np.ndarray = among_labels / among_labels.sum(axis=1, keepdims=True)
    return proportions


def label_posterior(
    weights: sparse.csr_array,
    topic_word: np.ndarray,
    topic_proportions: np.ndarray,
    n_documents: np.ndarray,
) -> np.ndarray:
    """How likely each label is, where documents have one (naive Bayes with the model's topics).

    Background topics share the words of every label, as much as they hold of all tokens.

    Parameters
    ----------
    weights : csr_array of shape (n_documents, n_words)
        Weights of words in documents.
    topic_word : ndarray of shape (n_topics, n_words)
        Word proportions; labels come first, background topics after them.
    topic_proportions : ndarray of shape (n_topics,)
        Proportion of all tokens that each topic holds.
    n_documents : ndarray of shape (n_classes,)
        Number of training documents with each label; without any, it is never likely.

    Returns
    -------
    ndarray of shape (n_documents, n_classes)
        Rows sum to 1.

    Examples
    --------
    >>> words = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> found = label_posterior(sparse.csr_array([[1, 0]]), words, np.ones(2) / 2, np.ones(2))
    >>> found.round(3).tolist()
    [[0.9, 0.1]]
    """
    n_classes = len(n_documents)
    background = topic_proportions[n_classes:]
    words = (1 - background.sum()) * topic_word[:n_classes] + background @ topic_word[n_classes:]
    with np.errstate(divide="ignore"):
        odds = weights @ np.log(words).T + np.log(n_documents)
    found = np.exp(odds - odds.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def chosen_labels(proportions: np.ndarray, threshold: float) -> np.ndarray:
    """Which labels have at least a part of the largest proportion of their document.

    Parameters
    ----------
    proportions : ndarray of shape (n_documents, n_classes)
        Proportions of labels.
    threshold : float
        The part, above 0 and up to 1.

    Returns
    -------
    ndarray of bool of shape (n_documents, n_classes)

    Examples
    --------
    >>> chosen_labels(np.array([[0.6, 0.3, 0.1]]), 0.5).tolist()
    [[True, True, False]]
    """
    chosen: np.ndarray = proportions >= threshold * proportions.max(axis=1, keepdims=True)
    return chosen


def likeliest_labels(proportions: np.ndarray, classes: np.ndarray, n: int) -> list[list[object]]:
    """The n labels with the largest proportions in each document, best first.

    Parameters
    ----------
    proportions : ndarray of shape (n_documents, n_classes)
        Proportions of labels.
    classes : ndarray of shape (n_classes,)
        The labels.
    n : int
        Number of labels.

    Returns
    -------
    list of list

    Examples
    --------
    >>> likeliest_labels(np.array([[0.1, 0.9]]), np.array(["cat", "dog"]), 1)
    [['dog']]
    """
    return [classes[row[:n]].tolist() for row in np.argsort(-proportions, axis=1, kind="stable")]


def same_labels(truth: sparse.csr_array, found: sparse.csr_array) -> float:
    """The proportion of documents with exactly the right labels.

    Parameters
    ----------
    truth, found : csr_array of shape (n_documents, n_classes)
        1 where a document has a label. One may have columns that the other lacks.

    Returns
    -------
    float

    Examples
    --------
    >>> same_labels(sparse.csr_array([[1, 0], [0, 1]]), sparse.csr_array([[1], [1]]))
    0.5
    """
    width = max(truth.shape[1], found.shape[1])
    truth, found = truth.copy(), found.copy()
    truth.resize((truth.shape[0], width))
    found.resize((found.shape[0], width))
    return float(1 - (np.abs(truth - found).sum(axis=1) > 0).mean())
