"""Synthetic corpora: drawn from the models themselves, so that the answer is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus

__all__ = [
    "Truth",
    "make_authors",
    "make_blocks",
    "make_labels",
    "make_lda",
    "make_links",
]


@dataclass(frozen=True, eq=False)
class Truth:
    """What a synthetic corpus was drawn from.

    Parameters
    ----------
    topic_word : ndarray of shape (n_topics, n_words)
        Word proportions of topics.
    doc_topic : ndarray of shape (n_docs, n_topics)
        Topic proportions of documents.
    author_topic : ndarray of shape (n_authors, n_topics), optional
        Topic proportions of authors, who are called "author0", "author1", …

    Examples
    --------
    >>> _, truth = make_lda(50, n_topics=3)
    >>> truth.topic_word.shape
    (3, 100)
    """

    topic_word: np.ndarray
    doc_topic: np.ndarray
    author_topic: np.ndarray | None = None


def make_lda(
    n_docs: int = 200,
    n_words: int = 100,
    n_topics: int = 5,
    *,
    doc_length: int = 80,
    alpha: float = 0.1,
    beta: float = 0.05,
    random_state: int = 0,
) -> tuple[Corpus, Truth]:
    """Draw a corpus from LDA itself.

    Parameters
    ----------
    n_docs : int, default=200
        Number of documents.
    n_words : int, default=100
        Number of words.
    n_topics : int, default=5
        Number of topics.
    doc_length : int, default=80
        Mean number of tokens of a document; lengths are Poisson.
    alpha : float, default=0.1
        Prior of the topic proportions.
    beta : float, default=0.05
        Prior of the topics' words.
    random_state : int, default=0
        Seed.

    Returns
    -------
    corpus : Corpus
        The documents.
    truth : Truth
        What they were drawn from.

    Examples
    --------
    >>> corpus, truth = make_lda(50, n_topics=3)
    >>> corpus.shape, truth.doc_topic.shape
    ((50, 100), (50, 3))
    """
    rng = np.random.default_rng(random_state)
    topic_word = rng.dirichlet(np.full(n_words, beta), n_topics)
    doc_topic = rng.dirichlet(np.full(n_topics, alpha), n_docs)
    return _draw_counts(doc_topic, topic_word, doc_length, rng), Truth(topic_word, doc_topic)


def make_blocks(
    n_topics: int = 4,
    words_per_topic: int = 10,
    docs_per_topic: int = 30,
    *,
    doc_length: int = 40,
    random_state: int = 0,
) -> tuple[Corpus, Truth]:
    """Draw a corpus in which each document uses the words of one topic only; any method must find
    them.

    Parameters
    ----------
    n_topics : int, default=4
        Number of topics.
    words_per_topic : int, default=10
        Words of each topic, which no other topic has.
    docs_per_topic : int, default=30
        Documents of each topic.
    doc_length : int, default=40
        Mean number of tokens of a document; lengths are Poisson.
    random_state : int, default=0
        Seed.

    Returns
    -------
    corpus : Corpus
        The documents.
    truth : Truth
        What they were drawn from.

    Examples
    --------
    >>> corpus, truth = make_blocks(n_topics=2, docs_per_topic=5)
    >>> corpus.shape
    (10, 20)
    """
    rng = np.random.default_rng(random_state)
    topic_word = np.kron(np.eye(n_topics), np.full(words_per_topic, 1 / words_per_topic))
    doc_topic = np.repeat(np.eye(n_topics), docs_per_topic, axis=0)
    return _draw_counts(doc_topic, topic_word, doc_length, rng), Truth(topic_word, doc_topic)


def make_authors(
    n_docs: int = 300,
    n_authors: int = 20,
    n_words: int = 100,
    n_topics: int = 5,
    *,
    doc_length: int = 80,
    alpha: float = 0.1,
    beta: float = 0.05,
    random_state: int = 0,
) -> tuple[Corpus, Truth]:
    """Draw a corpus from the author-topic model: one to three authors a document, equally likely
    for each word.

    Parameters
    ----------
    n_docs : int, default=300
        Number of documents.
    n_authors : int, default=20
        Number of authors.
    n_words : int, default=100
        Number of words.
    n_topics : int, default=5
        Number of topics.
    doc_length : int, default=80
        Mean number of tokens of a document; lengths are Poisson.
    alpha : float, default=0.1
        Prior of the topic proportions.
    beta : float, default=0.05
        Prior of the topics' words.
    random_state : int, default=0
        Seed.

    Returns
    -------
    corpus : Corpus
        The documents.
    truth : Truth
        What they were drawn from.

    Examples
    --------
    >>> corpus, truth = make_authors(50, n_authors=8)
    >>> len(corpus.authors), truth.author_topic.shape
    (50, (8, 5))
    """
    rng = np.random.default_rng(random_state)
    topic_word = rng.dirichlet(np.full(n_words, beta), n_topics)
    author_topic = rng.dirichlet(np.full(n_topics, alpha), n_authors)
    teams = [
        np.sort(rng.choice(n_authors, rng.integers(1, 4), replace=False)) for _ in range(n_docs)
    ]
    doc_topic = np.array([author_topic[team].mean(axis=0) for team in teams])
    corpus = _draw_counts(doc_topic, topic_word, doc_length, rng)
    width = len(str(n_authors - 1))
    names = [[f"author{a:0{width}d}" for a in team] for team in teams]
    return Corpus(corpus.counts, corpus.vocabulary, authors=names), Truth(
        topic_word, doc_topic, author_topic
    )


def make_links(
    n_docs: int = 300,
    n_words: int = 200,
    n_topics: int = 5,
    *,
    doc_length: int = 40,
    links_per_doc: int = 4,
    alpha: float = 0.05,
    beta: float = 0.05,
    random_state: int = 0,
) -> tuple[Corpus, Truth]:
    """Draw documents from LDA, and links between documents with probability proportional to the
    topics they share.

    Parameters
    ----------
    n_docs : int, default=300
        Number of documents.
    n_words : int, default=200
        Number of words.
    n_topics : int, default=5
        Number of topics.
    doc_length : int, default=40
        Mean number of tokens of a document; lengths are Poisson.
    links_per_doc : int, default=4
        Links from each document.
    alpha : float, default=0.05
        Prior of the topic proportions.
    beta : float, default=0.05
        Prior of the topics' words.
    random_state : int, default=0
        Seed.

    Returns
    -------
    corpus : Corpus
        The documents.
    truth : Truth
        What they were drawn from.

    Examples
    --------
    >>> corpus, truth = make_links(50, links_per_doc=2)
    >>> corpus.links.shape, corpus.links.nnz
    ((50, 50), 100)
    """
    rng = np.random.default_rng(random_state)
    topic_word = rng.dirichlet(np.full(n_words, beta), n_topics)
    doc_topic = rng.dirichlet(np.full(n_topics, alpha), n_docs)
    closeness = doc_topic @ doc_topic.T
    np.fill_diagonal(closeness, 0)
    pairs = [
        (d, e)
        for d in range(n_docs)
        for e in rng.choice(
            n_docs, links_per_doc, replace=False, p=closeness[d] / closeness[d].sum()
        )
    ]
    corpus = _draw_counts(doc_topic, topic_word, doc_length, rng)
    return Corpus(corpus.counts, corpus.vocabulary, links=np.array(pairs)), Truth(
        topic_word, doc_topic
    )


def make_labels(
    n_docs: int = 300,
    n_words: int = 100,
    n_labels: int = 6,
    *,
    max_labels: int = 3,
    doc_length: int = 60,
    beta: float = 0.05,
    random_state: int = 0,
) -> tuple[Corpus, Truth]:
    """Draw a corpus from labeled LDA: one to `max_labels` labels a document, its words from the
    topics of its labels only.

    Parameters
    ----------
    n_docs : int, default=300
        Number of documents.
    n_words : int, default=100
        Number of words.
    n_labels : int, default=6
        Number of labels, each a topic.
    max_labels : int, default=3
        The most labels of a document.
    doc_length : int, default=60
        Mean number of tokens of a document; lengths are Poisson.
    beta : float, default=0.05
        Prior of the topics' words.
    random_state : int, default=0
        Seed.

    Returns
    -------
    corpus : Corpus
        The documents.
    truth : Truth
        What they were drawn from.

    Examples
    --------
    >>> corpus, truth = make_labels(50)
    >>> corpus.labels.names.tolist()
    ['label0', 'label1', 'label2', 'label3', 'label4', 'label5']
    """
    rng = np.random.default_rng(random_state)
    topic_word = rng.dirichlet(np.full(n_words, beta), n_labels)
    sets = [
        np.sort(rng.choice(n_labels, rng.integers(1, max_labels + 1), replace=False))
        for _ in range(n_docs)
    ]
    doc_topic = np.zeros((n_docs, n_labels))
    for d, labels in enumerate(sets):
        doc_topic[d, labels] = rng.dirichlet(np.ones(len(labels)))
    corpus = _draw_counts(doc_topic, topic_word, doc_length, rng)
    width = len(str(n_labels - 1))
    return Corpus(
        corpus.counts,
        corpus.vocabulary,
        labels=[[f"label{k:0{width}d}" for k in row] for row in sets],
    ), Truth(topic_word, doc_topic)


def _draw_counts(
    doc_topic: np.ndarray, topic_word: np.ndarray, doc_length: int, rng: np.random.Generator
) -> Corpus:
    proportions = doc_topic @ topic_word
    proportions /= proportions.sum(axis=1, keepdims=True)
    counts = np.vstack(
        [
            rng.multinomial(n, p)
            for n, p in zip(rng.poisson(doc_length, len(proportions)), proportions, strict=True)
        ]
    )
    vocabulary = [f"w{i:0{len(str(topic_word.shape[1] - 1))}d}" for i in range(topic_word.shape[1])]
    return Corpus(sparse.csr_array(counts.astype(np.float64)), vocabulary)
