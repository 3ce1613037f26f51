"""Topic lists of documents: which topics may enter, and messages moved from old lists to
new ones.
"""

from __future__ import annotations

import numpy as np

from topoi.infer.kernels.primitives import allocating, compiled, f4


@allocating
def topics_of_words(phi, word_weight, least):
    """The topics that hold at least the proportion `least` of a word's weight, for each word:
    pointers (W + 1,) and topics.
    """
    W, K = phi.shape
    ptr = np.zeros(W + 1, np.int64)
    for w in range(W):
        floor, found = f4(least) * word_weight[w], 0
        for k in range(K):
            found += phi[w, k] >= floor
        ptr[w + 1] = ptr[w] + found
    topics = np.empty(ptr[W], np.int32)
    for w in range(W):
        floor, at = f4(least) * word_weight[w], ptr[w]
        for k in range(K):
            if phi[w, k] >= floor:
                topics[at] = k
                at += 1
    return ptr, topics


@compiled
def admit(
    indptr,
    words,
    weights,
    slot,
    theta,
    phi,
    totals,
    alpha,
    beta,
    ptr,
    topics,
    enough,
    keep,
    scratch,
    worker,
    n_workers,
):
    """Let topics on the lists `keep` (D, K) whose entry would raise the likelihood of the document.

    The slope of log p(d) in theta_d(k) is sum_w x phi_w(k) / p(w | d); for topics in use it is n_d,
    so a topic with more is missing, and one with nearly as much holds a little by its prior. Those
    with `enough` times n_d enter. indptr, words, weights: documents x words; slot (D,): row of
    theta; ptr, topics: from `topics_of_words`, only these count.
    """
    D, K = keep.shape
    W = phi.shape[0]
    rows, listed = scratch.numbers[worker], scratch.topics[worker]
    slope, owner, rate = rows[0], rows[1], rows[2]
    for k in range(K):
        rate[k] = f4(1.0 / (totals[k] + W * beta))
    b, alpha_sum, enough = f4(beta), alpha.sum(), f4(enough)
    for d in range(worker, D, n_workers):
        n_listed, n_d = 0, f4(0)
        for k in range(K):
            if keep[d, k]:
                listed[n_listed] = k
                owner[n_listed] = (theta[slot[d], k] + alpha[k]) * rate[k]
                n_listed += 1
        for i in range(indptr[d], indptr[d + 1]):
            n_d += weights[i]
        for k in range(K):
            slope[k] = f4(0)
        for i in range(indptr[d], indptr[d + 1]):
            w = words[i]
            p = f4(0)
            for j in range(n_listed):
                p += owner[j] * (phi[w, listed[j]] + b)
            give = weights[i] * (n_d + alpha_sum) / p
            for j in range(ptr[w], ptr[w + 1]):
                k = topics[j]
                slope[k] += give * (phi[w, k] + b) * rate[k]
        for k in range(K):
            if slope[k] > enough * n_d:
                keep[d, k] = True


@allocating
def copy_stage(
    arrays, old_ptr, old_topics, old_message, old_mu, messages, params, stage, worker, n_workers
):
    """Copy the messages of this worker's cells from old lists into messages.mu by the lists in
    `arrays`, and let each sum to 1 again.

    A topic that enters starts at 0; a message that has lost all its topics becomes uniform.
    """
    place, source = np.zeros(len(params.alpha), np.int64), np.zeros(len(params.alpha), np.int64)
    visit_doc, visit_edge, visit_message, topic_ptr, topics = (
        arrays.visit_doc, arrays.visit_edge, arrays.visit_message, arrays.topic_ptr, arrays.topics
    )  # fmt: skip
    for p in range(worker, params.n_doc_blocks, n_workers):
        cell = p * params.n_word_blocks + (p + stage) % params.n_word_blocks
        for v in range(arrays.cell_visit[cell], arrays.cell_visit[cell + 1]):
            doc, n_edges = visit_doc[v], visit_edge[v + 1] - visit_edge[v]
            first, L = topic_ptr[doc], topic_ptr[doc + 1] - topic_ptr[doc]
            old_first, old_L = old_ptr[doc], old_ptr[doc + 1] - old_ptr[doc]
            place[:] = -1
            for k in range(old_L):
                place[old_topics[old_first + k]] = k
            for k in range(L):
                source[k] = place[topics[first + k]]
            m = messages.mu[visit_message[v] : visit_message[v] + n_edges * L].reshape(n_edges, L)
            old = old_mu[old_message[v] : old_message[v] + n_edges * old_L].reshape(n_edges, old_L)
            for i in range(n_edges):
                z = f4(0)
                for k in range(L):
                    m[i, k] = old[i, source[k]] if source[k] >= 0 else f4(0)
                    z += m[i, k]
                for k in range(L):
                    m[i, k] = m[i, k] / z if z > f4(0) else f4(1) / L
