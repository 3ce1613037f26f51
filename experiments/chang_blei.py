"""The relational topic model of Chang and Blei (2010), by variational EM: the rival of BP's.

A link between documents d and d' has a probability that depends on the mean topic proportions of
their words, z_d and z_d':

    exponential   exp(eta . (z_d * z_d') + nu)
    logistic      sigma(eta . (z_d * z_d') + nu)

Only links are observed; `rho` pairs without a link, whose topics are those of the prior, stand for
the pairs that are not linked, as in their paper. The E-step renews documents one by one, with the
topics fixed,

    mu(k) ~ exp(psi(n_d(k) + alpha)) phi_k(w) exp(s(k)),    s = sum over links of v eta * z_d' / n_d

where v is 1 for the exponential function, and 1 - sigma(eta . (z_d * z_d') + nu) for the logistic
one (the gradient of the bound). The M-step estimates phi as BP and VB do, with beta, and eta and
nu by maximising the bound: in closed form for the exponential function, by Newton's method for
the logistic one. Without links it is VB.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from scipy import sparse
from scipy.special import expit, log_expit

from benchmarks.common import PRIOR
from topoi.infer.kernels import uniforms
from topoi.infer.kernels.primitives import digamma
from topoi.infer.likelihood import document_log_likelihood
from topoi.infer.state import sweep_seed

__all__ = ["LINK_FUNCTIONS", "ChangBlei"]

LINK_FUNCTIONS = ("exponential", "logistic")
PASSES = 10  # over a document in each E-step, which starts from the prior
FOLD_IN_SWEEPS = 20  # over new documents with links among them
RIDGE = 0.01  # precision of a normal prior of eta and nu: separable pairs would make them infinite
NEWTON_STEPS = 50


class ChangBlei:
    """Topics, proportions and link function of one run.

    Parameters
    ----------
    n_topics : int
        Number of topics.
    function : {"exponential", "logistic"}
        The link function.
    seed : int
        Seed of the first topics.
    """

    def __init__(self, n_topics: int, function: str = "exponential", seed: int = 0) -> None:
        self.n_topics, self.function, self.seed = n_topics, function, seed
        self.eta, self.nu = np.zeros(n_topics), 0.0

    def fit(
        self,
        counts: sparse.csr_array,
        links: sparse.csr_array,
        *,
        sweeps: int,
        rule: bool = True,
        topic_word: np.ndarray | None = None,
    ) -> ChangBlei:
        """EM until training perplexity changes by less than 1 in ten sweeps, or all `sweeps`.

        links: (D, D), symmetric. topic_word: first topics (K, W), or random ones.
        """
        self.counts, self.links = counts, links
        self.topic_word = self._random_topics() if topic_word is None else topic_word
        self.mean_topics = np.full((counts.shape[0], self.n_topics), 1 / self.n_topics)
        self.n_iter, before = 0, np.inf
        for self.n_iter in range(1, sweeps + 1):
            self._maximise_links()
            word_counts = self._infer(counts, links, self.mean_topics)
            self.topic_word = _normalised(word_counts.T + PRIOR)
            if rule and self.n_iter % 10 == 0:
                now = self.perplexity()
                if abs(before - now) < 1:
                    break
                before = now
        return self

    @property
    def doc_topic(self) -> np.ndarray:
        """(D, K) means of the documents' Dirichlet distributions."""
        return self._proportions(self.counts, self.mean_topics)

    def transform(self, counts: sparse.csr_array, links: sparse.csr_array) -> np.ndarray:
        """(D', K) topic proportions of new documents; links (D', D + D'), the training documents
        first.
        """
        new = np.full((counts.shape[0], self.n_topics), 1 / self.n_topics)
        known = len(self.mean_topics)
        topics = np.vstack([self.mean_topics, new])
        for _ in range(FOLD_IN_SWEEPS if links[:, known:].nnz else 1):
            self._infer(counts, links, topics, first=known)
        return self._proportions(counts, topics[known:])

    def perplexity(self) -> float:
        """Of the training documents."""
        gains = document_log_likelihood(self.counts, self.doc_topic, self.topic_word)
        return float(np.exp(-gains.sum() / self.counts.sum()))

    def link_scores(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Of pairs, from their mean topics (n, K): what the link function is monotone in."""
        return (first * second) @ self.eta + self.nu

    def link_bound(self) -> float:
        """The expected log-probability of links and of `rho` pairs without one, which the M-step
        maximises over eta and nu.
        """
        seen, rho, absent = self._link_features()
        inner = seen @ self.eta + self.nu
        if self.function == "exponential":
            topics = np.log1p(-np.exp(np.minimum(self.eta + self.nu, -1e-12)))
            other = np.log1p(-np.exp(min(self.nu, -1e-12)))
            unlinked = absent @ topics + (1 - absent.sum()) * other
            return float(inner.sum() + rho * unlinked)
        unlinked = log_expit(-(absent @ self.eta + self.nu))
        penalty = RIDGE / 2 * (self.eta @ self.eta + self.nu**2)
        return float(log_expit(inner).sum() + rho * unlinked - penalty)

    def _link_features(self) -> tuple[np.ndarray, int, np.ndarray]:
        """(n, K) products of the mean topics of linked documents, the number of pairs without a
        link, and the features of each of these: products of the prior's means.
        """
        pairs = sparse.triu(self.links, 1).tocoo()
        first, second = pairs.coords
        return (
            self.mean_topics[first] * self.mean_topics[second],
            len(first),
            np.full(self.n_topics, 1 / self.n_topics**2),
        )

    def _maximise_links(self) -> None:
        """The M-step of eta and nu."""
        seen, rho, absent = self._link_features()
        if not len(seen):
            return
        if self.function == "exponential":
            # A pair is in topic k at both ends with probability pi(k), or in none: Bernoulli
            # trials, as many as links and absent pairs give to each.
            linked, rest = seen.sum(axis=0), len(seen) - seen.sum()
            self.nu = float(np.log(rest) - np.log(rest + rho * (1 - absent.sum())))
            self.eta = np.log(linked) - np.log(linked + rho * absent) - self.nu
            return
        features = np.vstack([np.c_[seen, np.ones(len(seen))], np.r_[absent, 1.0][None]])
        labels = np.r_[np.ones(len(seen)), 0.0]
        weight = np.r_[np.ones(len(seen)), rho]
        found = np.r_[self.eta, self.nu]
        for _ in range(NEWTON_STEPS):
            p = expit(features @ found)
            slope = features.T @ (weight * (labels - p)) - RIDGE * found
            curvature = (features.T * (weight * p * (1 - p))) @ features
            step = np.linalg.solve(curvature + RIDGE * np.eye(len(found)), slope)
            found += step / max(1.0, np.abs(step).max())
            if np.abs(step).max() < 1e-8:
                break
        self.eta, self.nu = found[:-1], float(found[-1])

    def _infer(
        self, counts: sparse.csr_array, links: sparse.csr_array, topics: np.ndarray, first: int = 0
    ) -> np.ndarray:
        """Renew the mean topics of documents first, first + 1, ...; (W, K) expected counts."""
        word_counts = np.zeros((counts.shape[1], self.n_topics))
        _infer_documents(
            counts.indptr, counts.indices, counts.data.astype(np.float64), links.indptr,
            links.indices, topics, first, np.ascontiguousarray(self.topic_word.T), self.eta,
            self.nu, self.function == "logistic", PRIOR, word_counts,
        )  # fmt: skip
        return word_counts

    def _proportions(self, counts: sparse.csr_array, topics: np.ndarray) -> np.ndarray:
        return _normalised(topics * counts.sum(axis=1)[:, None] + PRIOR)

    def _random_topics(self) -> np.ndarray:
        """A random topic for each nonzero, and the topics that this gives."""
        counts = self.counts
        draws = uniforms(sweep_seed(self.seed, 0), np.arange(counts.nnz))
        topic = (draws * self.n_topics).astype(int)
        table = np.full((self.n_topics, counts.shape[1]), PRIOR)
        np.add.at(table, (topic, counts.indices), counts.data)
        return _normalised(table)


def _normalised(rows: np.ndarray) -> np.ndarray:
    return rows / rows.sum(axis=1, keepdims=True)


@njit(cache=True)
def _infer_documents(
    indptr, words, weights, link_ptr, neighbours, topics, first, word_topic, eta, nu, logistic,
    prior, word_counts
):  # fmt: skip
    """Coordinate ascent, document after document: PASSES over its words, from the prior."""
    K = topics.shape[1]
    pull, side, held, fresh, message = (
        np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    )  # fmt: skip
    for d in range(len(indptr) - 1):
        tokens = weights[indptr[d] : indptr[d + 1]].sum()
        if tokens == 0:
            continue
        linked = neighbours[link_ptr[d] : link_ptr[d + 1]]
        held[:] = 0.0
        for turn in range(PASSES):
            pull[:] = 0.0
            for other in linked:
                strength = 1.0
                if logistic:
                    inner = nu
                    for k in range(K):
                        inner += eta[k] * topics[first + d, k] * topics[other, k]
                    strength = 1 / (1 + np.exp(inner))
                for k in range(K):
                    pull[k] += strength * eta[k] * topics[other, k] / tokens
            highest = pull.max()
            for k in range(K):
                psi = digamma(held[k] + prior) if turn else 0.0
                side[k] = np.exp(psi + pull[k] - highest)
            fresh[:] = 0.0
            for e in range(indptr[d], indptr[d + 1]):
                total = 0.0
                for k in range(K):
                    message[k] = word_topic[words[e], k] * side[k]
                    total += message[k]
                for k in range(K):
                    mass = weights[e] * message[k] / total
                    fresh[k] += mass
                    if turn == PASSES - 1:
                        word_counts[words[e], k] += mass
            held[:] = fresh
            topics[first + d] = held / tokens


def links_matrix(pairs: Any, n_docs: int) -> sparse.csr_array:
    """Pairs (m, 2) as a symmetric matrix of ones."""
    both = np.vstack([pairs, pairs[:, ::-1]])
    table = sparse.csr_array((np.ones(len(both)), both.T), shape=(n_docs, n_docs))
    table.data[:] = 1
    return table
