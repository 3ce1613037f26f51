"""Questions about authors: who is similar, who writes about this, who wrote that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from topoi.corpus.documents import TrainingDocuments
from topoi.explore.ranking import (
    blend,
    inverse_frequency,
    learned_weights,
    sampled_queries,
    unit_tfidf,
)
from topoi.explore.words import matched_words

__all__ = [
    "AuthorWords",
    "author_log_likelihood",
    "author_number",
    "author_probabilities",
    "author_similarity",
    "author_terms",
    "author_weights",
    "author_words",
    "best",
    "softmax",
    "terms_without",
    "word_columns",
]

FIRST_WEIGHTS = np.array([30.0, 0.5, 0.3])  # between those of NIPS and of CORA
PULL = 20.0  # mean documents with which all words smooth those of an author
TOPICAL = 0.05  # how much of this is from his topics
CHUNK = 256  # authors whose words are written out at a time


def author_number(names: np.ndarray, name: Any) -> int:
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


def best(names: Sequence[Any], scores: np.ndarray, n: int) -> list[tuple[Any, float]]:
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


class AuthorWords(NamedTuple):
    """What authors wrote, as rankings read it. A authors, W words."""

    counts: sparse.csr_array  # (A, W) counts of all documents of an author
    profile: sparse.csr_array  # (A, W) sum of their TF-IDF rows
    documents: np.ndarray  # (A,) how many there are
    rarity: np.ndarray  # (W,)
    frequency: np.ndarray  # (W,) proportion of each word in all documents
    pull: float  # tokens with which frequencies smooth the words of an author


@lru_cache(maxsize=1)  # of the documents that were asked about last
def author_words(documents: TrainingDocuments) -> AuthorWords:
    """What authors wrote, from training documents that keep counts.

    Parameters
    ----------
    documents : TrainingDocuments
        With `counts` and `authors`.

    Returns
    -------
    AuthorWords

    Examples
    --------
    >>> from topoi import Corpus
    >>> corpus = Corpus([[2, 1], [0, 3]], authors=[["Ann"], ["Ann", "Bo"]])
    >>> words = author_words(TrainingDocuments.of(corpus, counts=True))
    >>> words.counts.toarray().tolist()
    [[2.0, 4.0], [0.0, 3.0]]
    """
    assert documents.counts is not None
    assert documents.authors is not None
    counts, members = documents.counts, documents.authors.matrix
    rarity, in_all = inverse_frequency(counts), np.asarray(counts.sum(axis=0)) + 0.01
    return AuthorWords(
        counts=sparse.csr_array(members.T @ counts),
        profile=sparse.csr_array(members.T @ unit_tfidf(counts, rarity)),
        documents=np.asarray(members.sum(axis=0)),
        rarity=rarity,
        frequency=in_all / in_all.sum(),
        pull=PULL * float(counts.sum()) / counts.shape[0],
    )


def author_terms(
    words: AuthorWords, counts: sparse.csr_array, expected: Callable[[slice], np.ndarray]
) -> np.ndarray:
    """The terms of which scores of authors are made.

    They are the cosine to the TF-IDF profile of the author, the logarithm of the number of his
    documents, and the log-likelihood of the TF-IDF weights under his own words, smoothed.

    Parameters
    ----------
    words : AuthorWords
        What authors wrote.
    counts : csr_array of shape (n_documents, n_words)
        Counts of words.
    expected : callable
        Word proportions (n, n_words) with which those of some authors are smoothed.

    Returns
    -------
    ndarray of shape (n_documents, n_authors, 3)
    """
    weights = unit_tfidf(counts, words.rarity)
    length = np.sqrt(np.asarray(words.profile.multiply(words.profile).sum(axis=1)).ravel())
    terms = np.empty((counts.shape[0], len(length), 3))
    terms[:, :, 0] = (weights @ words.profile.T).toarray() / np.maximum(length, 1e-300)
    terms[:, :, 1] = np.log(np.maximum(words.documents, 1))
    for first in range(0, len(length), CHUNK):
        part = slice(first, first + CHUNK)
        written = words.counts[part].toarray() + words.pull * expected(part)
        terms[:, part, 2] = weights @ np.log(written / written.sum(axis=1, keepdims=True)).T
    return terms


def author_weights(documents: TrainingDocuments) -> np.ndarray:
    """Weights of the terms, learned from training documents whose authors wrote others, too.

    A document is removed from what its authors wrote before they are scored. This takes one from
    the number of their documents and of nobody else's, so weights must not be negative. Topics
    take no part: they were learned from the documents, and would look better than they are for new
    ones.

    Parameters
    ----------
    documents : TrainingDocuments
        With `counts` and `authors`.

    Returns
    -------
    ndarray of shape (3,)

    Examples
    --------
    >>> from topoi import Corpus
    >>> corpus = Corpus([[2, 1], [0, 3]], authors=[["Ann"], ["Bo"]])
    >>> author_weights(TrainingDocuments.of(corpus, counts=True)).shape
    (3,)
    """
    assert documents.counts is not None
    assert documents.authors is not None
    words, members = author_words(documents), documents.authors.matrix
    others = members @ (words.documents > 1)  # authors that remain without the document
    queries = sampled_queries(np.flatnonzero(others > 0), members.shape[1])
    rows, columns = (part.astype(np.int64) for part in members[queries].nonzero())
    counts = documents.counts[queries]
    terms = author_terms(words, counts, lambda part: words.frequency[None, :])
    terms[rows, columns] = terms_without(words, counts, rows, columns)
    left = np.broadcast_to(words.documents, terms.shape[:2]).copy()
    left[rows, columns] -= 1
    target = np.zeros(left.shape)
    target[rows, columns] = left[rows, columns] > 0
    target /= np.maximum(target.sum(axis=1, keepdims=True), 1)
    return learned_weights(terms, target, left > 0, FIRST_WEIGHTS, lowest=0.0)


def terms_without(
    words: AuthorWords, counts: sparse.csr_array, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """Terms of documents and their own authors, as if these had not written them.

    Parameters
    ----------
    words : AuthorWords
        What authors wrote, these documents included.
    counts : csr_array of shape (n_documents, n_words)
        Counts of the documents.
    rows, columns : ndarray of shape (n_pairs,)
        Numbers of documents, and of an author of each.

    Returns
    -------
    ndarray of shape (n_pairs, 3)
    """
    weights, terms = unit_tfidf(counts, words.rarity), np.empty((len(rows), 3))
    for i, (d, author) in enumerate(zip(rows, columns, strict=True)):
        place = slice(counts.indptr[d], counts.indptr[d + 1])
        column, weight = counts.indices[place], weights.data[place]
        profile = words.profile[[author]].toarray()[0]
        profile[column] -= weight
        mine = words.counts[[author]].toarray()[0]
        tokens = mine.sum() - counts.data[place].sum()
        left = np.maximum(mine[column] - counts.data[place], 0)
        smooth = (left + words.pull * words.frequency[column]) / (tokens + words.pull)
        terms[i] = (
            weight @ profile[column] / max(np.linalg.norm(profile), 1e-9),
            np.log(max(words.documents[author] - 1, 1)),
            weight @ np.log(smooth),
        )
    return terms


def author_probabilities(
    documents: TrainingDocuments,
    counts: sparse.csr_array,
    weights: np.ndarray,
    author_topic: np.ndarray,
    topic_word: np.ndarray,
) -> np.ndarray:
    """How likely authors are to have written documents, from their words and their topics.

    Parameters
    ----------
    documents : TrainingDocuments
        With `counts` and `authors`.
    counts : csr_array of shape (n_documents, n_words)
        Counts of new documents.
    weights : ndarray of shape (3,)
        By `author_weights`.
    author_topic : ndarray of shape (n_authors, n_topics)
        Topic proportions of authors.
    topic_word : ndarray of shape (n_topics, n_words)
        Word proportions of topics.

    Returns
    -------
    ndarray of shape (n_documents, n_authors)
        Rows sum to 1; authors without documents have 0.
    """
    words = author_words(documents)

    def expected(part: slice) -> np.ndarray:
        topical: np.ndarray = author_topic[part] @ topic_word
        return TOPICAL * topical + (1 - TOPICAL) * words.frequency

    return blend(author_terms(words, counts, expected), weights, words.documents > 0)


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
    shares: np.ndarray = odds / odds.sum()
    return shares
