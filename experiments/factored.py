"""The author-topic model with factored messages (A7): each nonzero keeps its proportions of topics
and its proportions of authors, and their product stands for the joint message. It is what the
authors' toolbox computes, synchronously, and serves only to be compared with joint messages.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from benchmarks.common import PRIOR
from topoi import Corpus
from topoi.graph.factors import Authors, Words, make_plan
from topoi.infer.kernels import uniforms
from topoi.infer.likelihood import document_log_likelihood
from topoi.infer.state import sweep_seed


class Factored:
    """Messages and tables of one run: theta (A, K), phi (W, K), `topics` (edges, K), `authors` (one
    number for each edge and author of its document).
    """

    def __init__(self, train: Corpus, n_topics: int, seed: int) -> None:
        authors = Authors(train.authors)
        owners = make_plan([Words(train.counts), authors], n_topics).owners
        self.author_names = authors.names
        self.counts, self.n_topics, self.members = train.counts, n_topics, owners
        self.doc = np.repeat(np.arange(train.n_docs), np.diff(train.counts.indptr))
        self.n_authors = np.diff(owners.indptr)[self.doc]
        self.first = np.r_[0, np.cumsum(self.n_authors)]
        n_edges = len(self.doc)
        pick = (
            uniforms(sweep_seed(seed, 0), np.arange(n_edges)) * self.n_authors * n_topics
        ).astype(int)
        self.topics = np.zeros((n_edges, n_topics))
        self.topics[np.arange(n_edges), pick % n_topics] = 1
        self.authors = np.zeros(self.first[-1])
        self.authors[self.first[:-1] + pick // n_topics] = 1
        self.theta, self.phi = (
            np.zeros((owners.shape[1], n_topics)),
            np.zeros((train.n_words, n_topics)),
        )
        self._pass(_count)

    def sweep(self) -> None:
        """All messages from the tables of the sweep before; then the tables anew.

        Eq. 26, with x mux muz as own mass.
        """
        theta, phi = self.theta, self.phi
        self.theta, self.phi = np.zeros_like(theta), np.zeros_like(phi)
        self._pass(_renew, theta, phi, theta.sum(axis=1), phi.sum(axis=0), PRIOR)

    def _pass(self, function: Any, *tables: Any) -> None:
        counts, owners = self.counts, self.members
        function(
            counts.indices, counts.data.astype(np.float64), self.doc, self.first, owners.indptr,
            owners.indices, self.topics, self.authors,
            self.theta, self.phi, *tables,
        )  # fmt: skip

    @property
    def author_counts(self) -> np.ndarray:
        """(A, K) of the named authors; the owners after them are documents without authors."""
        return self.theta[: len(self.author_names)]

    @property
    def topic_word(self) -> np.ndarray:
        counts = self.phi.T + PRIOR
        return counts / counts.sum(axis=1, keepdims=True)

    def perplexity(self) -> float:
        """Of the training documents, whose authors have equal proportions."""
        proportions = self.theta + PRIOR
        proportions /= proportions.sum(axis=1, keepdims=True)
        mixed = self.members @ proportions / self.members.sum(axis=1)[:, None]
        return float(
            np.exp(
                -document_log_likelihood(self.counts, mixed, self.topic_word).sum()
                / self.counts.sum()
            )
        )


def train(
    corpus: Corpus, n_topics: int, sweeps: int, seed: int, rule: bool = True
) -> tuple[Factored, int]:
    """A run until |P(t) - P(t-10)| < 1, if the rule counts, or `sweeps`. Returns it and the number
    of sweeps.
    """
    run, before = Factored(corpus, n_topics, seed), np.inf
    for done in range(1, sweeps + 1):
        run.sweep()
        if rule and done % 10 == 0:
            now = run.perplexity()
            if abs(before - now) < 1:
                break
            before = now
    return run, done


@njit(cache=True)
def _count(words, weights, doc, first, member_ptr, members, topics, authors, theta, phi):
    """theta, phi += x mux muz, x muz"""
    for e in range(len(words)):
        for j in range(first[e + 1] - first[e]):
            a, mass = members[member_ptr[doc[e]] + j], weights[e] * authors[first[e] + j]
            for k in range(topics.shape[1]):
                theta[a, k] += mass * topics[e, k]
        for k in range(topics.shape[1]):
            phi[words[e], k] += weights[e] * topics[e, k]


@njit(cache=True)
def _renew(
    words, weights, doc, first, member_ptr, members, topics, authors, theta_out, phi_out, theta,
    phi, held, totals, prior
):  # fmt: skip
    """Renew topics and authors of each edge in place from theta, phi and their sums; count them
    into theta_out, phi_out.
    """
    K, W = topics.shape[1], len(phi)
    word_term, new = np.empty(K), np.empty(K)
    for e in range(len(words)):
        w, x = words[e], weights[e]
        for k in range(K):
            own = x * topics[e, k]
            word_term[k] = (max(phi[w, k] - own, 0.0) + prior) / (
                max(totals[k] - own, 0.0) + W * prior
            )
            new[k] = 0.0
        for j in range(first[e + 1] - first[e]):
            a, own = members[member_ptr[doc[e]] + j], x * authors[first[e] + j]
            scale, sent = 1 / (max(held[a] - own, 0.0) + K * prior), 0.0
            for k in range(K):
                value = word_term[k] * (max(theta[a, k] - own * topics[e, k], 0.0) + prior) * scale
                new[k] += value
                sent += value
            authors[first[e] + j] = sent
        z = new.sum()
        for k in range(K):
            topics[e, k] = new[k] / z
        for j in range(first[e], first[e + 1]):
            authors[j] /= z
    _count(words, weights, doc, first, member_ptr, members, topics, authors, theta_out, phi_out)
