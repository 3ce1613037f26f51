"""BP in plain NumPy, with a switch for each place where the paper can be read in more than one way
(A1, A2, A10, A11, A15). It serves only to see what a choice does to perplexity; with the default
choices it is synchronous BP of this library.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from benchmarks.common import PRIOR
from topoi.infer.likelihood import document_log_likelihood

__all__ = ["Reading", "Synchronous"]

TINY = 1e-300  # keeps 0 / 0 away


@dataclass(frozen=True)
class Reading:
    """One way to read the paper; the defaults are those of the library.

    Parameters
    ----------
    start : {"hard", "soft"}
        First messages: one random topic each, or random proportions (A1).
    removed : {"edge", "document"}
        What leaves the topic totals below the word's part: the edge, or all of its document, as
        eq. 7 says literally (A2).
    eta : {"rows", "columns"}
        Which sums of eq. 28 are 1 (A10).
    eta_counts : {"smoothed", "raw"}
        Counts in eq. 28: with the prior of the proportions, or as they are.
    neighbours : {"mean", "sum"}
        Eq. 29: the mean of the neighbours' proportions, normalised, or the sum of their counts
        (A11).
    totals : {"summed", "lost"}
        In prediction: topics are divided by their totals, or not, as in the toolbox (A15).
    """

    start: str = "hard"
    removed: str = "edge"
    eta: str = "rows"
    eta_counts: str = "smoothed"
    neighbours: str = "mean"
    totals: str = "summed"


class Synchronous:
    """Synchronous BP of LDA, or of the relational model with weight xi (eqs. 7 and 28 to 30).

    Parameters
    ----------
    counts : csr_array of shape (n_docs, n_words)
        Documents.
    n_topics : int
        Number of topics.
    reading : Reading
        How the paper is read.
    links : csr_array of shape (n_docs, n_docs), default=None
        Symmetric links.
    xi : float, default=0.0
        Weight of links.
    seed : int, default=0
        Seed of the first messages.
    """

    def __init__(
        self,
        counts: sparse.csr_array,
        n_topics: int,
        reading: Reading,
        links: sparse.csr_array | None = None,
        xi: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.counts, self.n_topics, self.reading = counts, n_topics, reading
        self.links, self.xi = links, xi if links is not None else 0.0
        self.doc = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        self.word, self.x = counts.indices, counts.data.astype(np.float64)[:, None]
        edges = np.arange(counts.nnz)
        self.to_docs = sparse.csr_array((np.ones(len(edges)), (self.doc, edges)))
        self.to_docs.resize((counts.shape[0], len(edges)))
        self.to_words = sparse.csr_array((np.ones(len(edges)), (self.word, edges)))
        self.to_words.resize((counts.shape[1], len(edges)))
        rng = np.random.default_rng(seed)
        if reading.start == "hard":
            self.mu = np.zeros((len(edges), n_topics))
            self.mu[edges, rng.integers(n_topics, size=len(edges))] = 1
        else:
            self.mu = rng.dirichlet(np.ones(n_topics), size=len(edges))
        self.lengths = counts.sum(axis=1)[:, None]
        self.table: np.ndarray | None = None  # eta
        self._count()

    def _count(self) -> None:
        mass = self.x * self.mu
        self.theta, self.phi = self.to_docs @ mass, self.to_words @ mass

    @property
    def doc_topic(self) -> np.ndarray:
        """(D, K) proportions by eq. 12."""
        return (self.theta + PRIOR) / (self.lengths + self.n_topics * PRIOR)

    @property
    def topic_word(self) -> np.ndarray:
        """(K, W) proportions by eq. 13."""
        counts = self.phi.T + PRIOR
        return counts / counts.sum(axis=1, keepdims=True)

    def sweep(self) -> None:
        """All messages from those of the sweep before (eqs. 7 and 30)."""
        own = self.x * self.mu
        gone = own if self.reading.removed == "edge" else self.theta[self.doc]
        total = self.phi.sum(axis=0) - gone + self.counts.shape[1] * PRIOR
        word_term = (np.maximum(self.phi[self.word] - own, 0) + PRIOR) / total
        self.mu = self._mixed(word_term, own)
        self._count()

    def _mixed(self, word_term: np.ndarray, own: np.ndarray) -> np.ndarray:
        """New messages: the word's part times the document's, mixed with its neighbours' (30)."""
        side = np.maximum(self.theta[self.doc] - own, 0) + PRIOR
        side /= np.maximum(self.lengths[self.doc] - self.x, 0) + self.n_topics * PRIOR
        if self.xi:
            said, linked = self.from_neighbours()
            weight = self.xi * linked[self.doc, None]
            side = (1 - weight) * side + weight * said[self.doc]
        mu = word_term * side
        return mu / mu.sum(axis=1, keepdims=True)

    def from_neighbours(self) -> tuple[np.ndarray, np.ndarray]:
        """(D, K) what neighbours say (eq. 29), and which documents have any (A13)."""
        assert self.links is not None
        counts = self.theta + PRIOR if self.reading.eta_counts == "smoothed" else self.theta
        table = counts.T @ (self.links @ counts) + TINY
        axis = 1 if self.reading.eta == "rows" else 0
        self.table = table / table.sum(axis=axis, keepdims=True)
        said = self.sent(self.links, self.theta, self.doc_topic)
        return said, np.diff(self.links.indptr) > 0

    def sent(
        self, links: sparse.csr_array, counts: np.ndarray, proportions: np.ndarray
    ) -> np.ndarray:
        """Eq. 29 with the table of the last sweep, from documents with these counts."""
        assert self.table is not None
        if self.reading.neighbours == "sum":
            return (links @ counts) @ self.table.T
        said = (links @ proportions) @ self.table.T
        return said / np.maximum(said.sum(axis=1, keepdims=True), TINY)

    def perplexity(self) -> float:
        """Of the training documents, by eq. 12."""
        gains = document_log_likelihood(self.counts, self.doc_topic, self.topic_word)
        return float(np.exp(-gains.sum() / self.counts.sum()))

    def run(self, sweeps: int, every: int = 10) -> int:
        """Sweep until |P(t) - P(t - every)| < 1 (A3), or `sweeps`; every = 0 never stops."""
        before = np.inf
        for done in range(1, sweeps + 1):
            self.sweep()
            if every and done % every == 0:
                now = self.perplexity()
                if abs(before - now) < 1:
                    break
                before = now
        return done

    def fold_in(
        self,
        counts: sparse.csr_array,
        links: sparse.csr_array | None = None,
        passes: int = 100,
    ) -> np.ndarray:
        """(D', K) proportions of new documents by eq. 12, topics fixed. links: (D', D) to training
        documents.
        """
        topics = self.phi + PRIOR if self.reading.totals == "lost" else self.topic_word.T
        new = Synchronous(counts, self.n_topics, self.reading)
        word_term = topics[new.word]
        new.mu = word_term / word_term.sum(axis=1, keepdims=True)
        new._count()
        weight = np.zeros((len(new.doc), 1))
        said = np.zeros((counts.shape[0], self.n_topics))
        if self.xi and links is not None:
            said = self.sent(links, self.theta, self.doc_topic)
            weight = self.xi * (np.diff(links.indptr) > 0)[new.doc, None]
        for _ in range(passes):
            side = np.maximum(new.theta[new.doc] - new.x * new.mu, 0) + PRIOR
            side /= np.maximum(new.lengths[new.doc] - new.x, 0) + self.n_topics * PRIOR
            mu = word_term * ((1 - weight) * side + weight * said[new.doc])
            new.mu = mu / mu.sum(axis=1, keepdims=True)
            new._count()
        return new.doc_topic
