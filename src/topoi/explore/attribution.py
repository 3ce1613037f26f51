"""Who wrote this? The words of a document beside those that authors used."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

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

__all__ = [
    "AuthorWords",
    "author_probabilities",
    "author_terms",
    "author_weights",
    "author_words",
    "terms_without",
]

FIRST_WEIGHTS = np.array([30.0, 0.5, 0.3])  # between those of NIPS and of CORA
PULL = 20.0  # mean documents with which all words smooth those of an author
TOPICAL = 0.05  # how much of this is from his topics
CHUNK = 256  # authors whose words are written out at a time


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
