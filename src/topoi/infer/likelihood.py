"""Compiled sums over a fitted model: likelihoods, and the digammas behind learned priors."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from topoi.infer.arrays import APART
from topoi.infer.kernels.primitives import allocating, compiled, digamma, draw, f4, mix, uniform
from topoi.infer.memory import pad_topics
from topoi.infer.threads import ThreadPool

__all__ = [
    "digamma",
    "document_fit",
    "document_log_likelihood",
    "expected_digamma_gain",
    "left_to_right",
    "log_likelihood",
]

CHUNKS = 64  # documents are measured in this many runs: a thread takes every n-th


@compiled
def log_likelihood(indptr, indices, data, doc_topic, word_topic, first, last, out):
    """out[d] = sum_w x[w, d] log sum_k doc_topic[d, k] word_topic[w, k] for documents first to
    last.
    """
    K = doc_topic.shape[1]
    for d in range(first, last):
        total = 0.0
        for e in range(indptr[d], indptr[d + 1]):
            p = f4(0)
            w = indices[e]
            for k in range(K):
                p += doc_topic[d, k] * word_topic[w, k]
            total += data[e] * np.log(max(np.float64(p), 1e-300))
        out[d] = total


@allocating
def expected_digamma_gain(counts, prior, expected, out):
    """out[k] = sum over rows of E[digamma(n + a) - digamma(a)], a = prior[k] (algorithms 4.5).

    Messages give *expected* counts m. A count that may be 0 is treated as 0 or m / P, with P = P(n
    > 0) = 1 - exp(-m); for small m the general form is replaced by its series. Drawn counts
    (`expected` False) are taken as they are.
    """
    K = counts.shape[1]
    at_prior, inverse, slope = np.zeros(K), np.zeros(K), np.zeros(K)
    for k in range(K):
        out[k] = 0.0
        if prior[k] > 0.0:
            at_prior[k] = digamma(prior[k])
            inverse[k] = 1.0 / prior[k]
            slope[k] = (digamma(1.0 + prior[k] + 0.01) - digamma(1.0 + prior[k])) / 0.01
    for r in range(counts.shape[0]):
        for k in range(K):
            m = np.float64(counts[r, k])
            if prior[k] <= 0.0 or m <= 0.0:
                continue
            if expected and m < 0.02:
                out[k] += m * (1.0 - 0.5 * m) * (inverse[k] + 0.5 * m * slope[k])
            elif expected:
                p = -np.expm1(-m)
                out[k] += p * (digamma(m / p + prior[k]) - at_prior[k])
            else:
                out[k] += digamma(m + prior[k]) - at_prior[k]


@allocating
def left_to_right(tokens, word_topic, alpha, n_particles, seed, number):
    """Log-likelihood of a document by the left-to-right sequential sampler.

    Wallach et al. (2009), Buntine (2009).

    log p(w) ~ sum_n log mean over particles of p(w_n | z_<n); before position n a particle redraws
    its whole past given itself. tokens: (N,) words; word_topic: (W, K); alpha: (K,). Random numbers
    are keyed by (seed, number of the document).
    """
    N, K = len(tokens), len(alpha)
    likely = np.zeros(N)
    z = np.zeros(N, np.int64)
    p = np.zeros((2, max(K, APART)), f4)[1, :K]  # apart from what stands before it (`Scratch`)
    key = mix(seed, number)
    drawn = 0
    for _ in range(n_particles):
        held = np.zeros(K)
        for n in range(N):
            for past in range(n):
                held[z[past]] -= 1.0
                for k in range(K):
                    p[k] = f4(word_topic[tokens[past], k] * (held[k] + alpha[k]))
                z[past] = draw(p, uniform(key, drawn))
                drawn += 1
                held[z[past]] += 1.0
            total = 0.0
            for k in range(K):
                value = word_topic[tokens[n], k] * (held[k] + alpha[k])
                p[k] = f4(value)
                total += value
            likely[n] += total / (n + alpha.sum())
            z[n] = draw(p, uniform(key, drawn))
            drawn += 1
            held[z[n]] += 1.0
    return np.log(likely / n_particles).sum()


def document_log_likelihood(
    counts: sparse.csr_array,
    doc_topic: np.ndarray,
    topic_word: np.ndarray,
    pool: ThreadPool | None = None,
) -> np.ndarray:
    """(D,) sum_w x log sum_k doc_topic[d, k] topic_word[k, w] of each document."""
    width = -(-topic_word.shape[0] // 16) * 16
    theta, phi = pad_topics(doc_topic, width), pad_topics(topic_word.T, width)
    out = np.zeros(counts.shape[0])
    cuts = np.linspace(0, counts.shape[0], CHUNKS + 1).astype(np.int64)
    indptr = counts.indptr.astype(np.int64)
    indices = counts.indices.astype(np.int32)
    data = counts.data.astype(np.float64)

    def score(worker: int, size: int) -> None:
        for c in range(worker, CHUNKS, size):
            log_likelihood(indptr, indices, data, theta, phi, cuts[c], cuts[c + 1], out)

    score(0, 1) if pool is None else pool.each(score)
    return out


def document_fit(
    counts: sparse.csr_array,
    doc_topic: np.ndarray,
    topic_word: np.ndarray,
    pool: ThreadPool | None = None,
) -> np.ndarray:
    """(D,) gain of each document's log-likelihood over the frequencies of words in all documents,
    per token of the document and of an average one: a few typical words alone are no good fit.
    """
    tokens, frequency = counts.sum(axis=1), np.maximum(counts.sum(axis=0), 1e-300)
    by_frequency = counts @ np.log(frequency / frequency.sum())
    gain = document_log_likelihood(counts, doc_topic, topic_word, pool) - by_frequency
    return gain / np.maximum(tokens + tokens.mean(), 1e-300)
