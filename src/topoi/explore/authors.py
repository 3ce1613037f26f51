"""Questions about authors: who is similar, who writes about this, who wrote that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from scipy import sparse

from topoi.explore.words import matched_words

if TYPE_CHECKING:
    from topoi.corpus.membership import Name

__all__ = [
    "author_log_likelihood",
    "author_number",
    "author_similarity",
    "best",
    "softmax",
    "word_columns",
]

Item = TypeVar("Item")  # what is ranked


def author_number(names: np.ndarray, name: Name) -> int:
    """The number of an author, or an error that names similar ones.

    Parameters
    ----------
    names : ndarray of shape (n_authors,)
        Names of the authors.
    name : str
        Name to look for.

    Returns
    -------
    int

    Examples
    --------
    >>> author_number(np.array(["Ann Lee", "Bo Berg"]), "Bo Berg")
    1
    """
    found = np.flatnonzero(names == name)
    if not len(found):
        known = [str(author) for author in names]
        near = [author for author in known if str(name).lower() in author.lower()][
            :3
        ] or get_close_matches(str(name), known)
        hint = (
            f"did you mean {', '.join(near)}?"
            if near
            else f"it knows {len(known)}, for instance {', '.join(known[:3])}."
        )
        raise ValueError(f"There is no author {name!r} in this model; {hint}")
    return int(found[0])


def best(names: Sequence[Item], scores: np.ndarray, n: int) -> list[tuple[Item, float]]:
    """The n names with the highest scores, best first.

    Parameters
    ----------
    names : sequence
        A name for each score.
    scores : ndarray of shape (n_names,)
        The higher, the better.
    n : int
        Number of names.

    Returns
    -------
    list of (name, score)

    Examples
    --------
    >>> best(["a", "b", "c"], np.array([0.2, 0.5, 0.3]), 2)
    [('b', 0.5), ('c', 0.3)]
    """
    return [(names[i], float(scores[i])) for i in np.argsort(-scores, kind="stable")[:n]]


def author_similarity(author_topic: np.ndarray, author: int) -> np.ndarray:
    """1 minus the Hellinger distance of topic proportions to those of one author.

    Parameters
    ----------
    author_topic : ndarray of shape (n_authors, n_topics)
        Topic proportions of authors.
    author : int
        Number of the author.

    Returns
    -------
    ndarray of shape (n_authors,)
        1 means the same topics, 0 different ones.

    Examples
    --------
    >>> author_similarity(np.array([[1.0, 0.0], [0.0, 1.0]]), 0).round(6).tolist()
    [1.0, 0.0]
    """
    roots = np.sqrt(author_topic)
    similarity: np.ndarray = 1 - np.linalg.norm(roots - roots[author], axis=1) / np.sqrt(2)
    return similarity


def word_columns(
    text: str | Sequence[str], vocabulary: Sequence[str], cut: Callable[[str], list[str]]
) -> list[int]:
    """Columns of the words of a text; unknown words are left out.

    Parameters
    ----------
    text : str or sequence of str
        A text, or its words.
    vocabulary : sequence of str
        The word of each column.
    cut : callable
        Cuts a text into words.

    Returns
    -------
    list of int

    Examples
    --------
    >>> word_columns("Dog and cat", ["cat", "dog"], str.split)
    [1, 0]
    """
    known, unknown = matched_words(text, vocabulary, cut)
    if not known:
        raise ValueError(f"None of {unknown} is in the vocabulary of this model; try other words.")
    return known


def author_log_likelihood(
    counts: sparse.csr_array, author_topic: np.ndarray, topic_word: np.ndarray
) -> np.ndarray:
    """Log-likelihood of documents, each written by one author alone.

    Parameters
    ----------
    counts : csr_array of shape (n_documents, n_words)
        Counts of words.
    author_topic : ndarray of shape (n_authors, n_topics)
        Topic proportions of authors.
    topic_word : ndarray of shape (n_topics, n_words)
        Word proportions of topics.

    Returns
    -------
    ndarray of shape (n_documents, n_authors)

    Examples
    --------
    >>> counts = sparse.csr_array([[2, 0]])
    >>> author_log_likelihood(counts, np.array([[1.0]]), np.array([[0.5, 0.5]])).round(3).tolist()
    [[-1.386]]
    """
    scores = np.empty((counts.shape[0], len(author_topic)))
    for first in range(0, scores.shape[1], 256):
        part = slice(first, first + 256)
        scores[:, part] = counts @ np.log(author_topic[part] @ topic_word).T
    return scores


def softmax(scores: np.ndarray) -> np.ndarray:
    """Probabilities from log odds.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Log odds, up to a constant.

    Returns
    -------
    ndarray of shape (n,)
        Sums to 1.

    Examples
    --------
    >>> softmax(np.array([1000.0, 1000.0])).tolist()
    [0.5, 0.5]
    """
    odds = np.exp(scores - scores.max())
    proportions: np.ndarray = odds / odds.sum()
    return proportions
