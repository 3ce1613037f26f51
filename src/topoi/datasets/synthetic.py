"""Corpora whose answer is known, drawn from the models themselves, and readers of corpora
on disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus

__all__ = [
    "Truth",
    "load_demo",
    "load_npz",
    "make_authors",
    "make_blocks",
    "make_labels",
    "make_lda",
    "make_links",
]


@dataclass(frozen=True, eq=False)
class Truth:
    """What a synthetic corpus was drawn from."""

    topic_word: np.ndarray  # (K, W)
    doc_topic: np.ndarray  # (D, K)
    author_topic: np.ndarray | None = None  # (A, K), authors "author0", "author1", …


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
    """Draw a corpus from LDA itself. Documents have Poisson lengths around `doc_length`."""
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
    """Block-diagonal corpus: each document uses the words of one topic only.

    Any method must find the blocks.
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
    """Draw documents from LDA and links between documents with probability proportional to the
    topics they share.
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


def load_demo() -> Corpus:
    """The docstrings of NumPy, SciPy and scikit-learn as installed here, with "See Also" links,
    cited authors, and subpackages as labels.
    """
    from topoi.datasets.demo import docstring_corpus

    return docstring_corpus()


def load_npz(path: str | Path) -> Corpus:
    """Read a corpus from one .npz file with arrays indptr, indices, counts, vocab and, where
    present, doc_names, authors_indptr, authors_indices, author_names, links, labels, label_names,
    dates; documents with several labels have labels_indptr and labels_indices. Pickled content is
    refused. `topoi.write(corpus, "NAME.npz")` writes such a file.
    """
    from topoi.io.formats.npz import read_npz

    return read_npz(path, scipy_too=False)
