"""Topic lists of documents: which topics may enter, and messages moved from old lists to new ones."""

from __future__ import annotations

import numpy as np

from topoi.infer.kernels.rows import compiled, f4


@compiled
def topics_of_words(phi, word_weight, least):
    """The topics that hold at least the share `least` of a word's weight, for each word: pointers (W + 1,) and topics."""
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
def admit(indptr, words, weights, slot, theta, phi, totals, alpha, beta, ptr, topics, keep, worker, n_workers):
    """Let topics on the lists `keep` (D, K) whose entry would raise the likelihood of the document.

    The slope of log p(d) in theta_d(k) is sum_w x phi_w(k) / p(w | d); for topics in use it is n_d, so a topic with more is missing.
    indptr, words, weights: documents x words; slot (D,): row of theta; ptr, topics: from `topics_of_words`, only these are asked.
    """
    D, K = keep.shape
    W = phi.shape[0]
    rate = (1.0 / (totals + W * beta)).astype(f4)
    slope, listed = np.zeros(K, f4), np.zeros(K, np.int32)
    b, alpha_sum = f4(beta), alpha.sum()
    for d in range(worker, D, n_workers):
        n_listed, n_d = 0, f4(0)
        for k in range(K):
            if keep[d, k]:
                listed[n_listed] = k
                n_listed += 1
        for i in range(indptr[d], indptr[d + 1]):
            n_d += weights[i]
        slope[:] = f4(0)
        for i in range(indptr[d], indptr[d + 1]):
            w = words[i]
            p = f4(0)
            for j in range(n_listed):
                k = listed[j]
                p += (theta[slot[d], k] + alpha[k]) * (phi[w, k] + b) * rate[k]
            give = weights[i] * (n_d + alpha_sum) / p
            for j in range(ptr[w], ptr[w + 1]):
                k = topics[j]
                slope[k] += give * (phi[w, k] + b) * rate[k]
        for k in range(K):
            if slope[k] > n_d:
                keep[d, k] = True


@compiled
def copy_stage(wires, old_ptr, old_topics, old_message, old_mu, flow, knobs, stage, worker, n_workers):
    """Copy the messages of this worker's cells from old lists into flow.mu by the lists in `wires`, and let each sum to 1 again.

    A topic that enters begins with nothing; a message that has lost all its topics says nothing and becomes even.
    """
    K = len(knobs.alpha)
    place = np.zeros(K, np.int64)
    for p in range(worker, knobs.n_doc_blocks, n_workers):
        cell = p * knobs.n_word_blocks + (p + stage) % knobs.n_word_blocks
        for v in range(wires.cell_visit[cell], wires.cell_visit[cell + 1]):
            doc = wires.visit_doc[v]
            first, L = wires.topic_ptr[doc], wires.topic_ptr[doc + 1] - wires.topic_ptr[doc]
            old_first, old_L = old_ptr[doc], old_ptr[doc + 1] - old_ptr[doc]
            place[:] = -1
            for k in range(old_L):
                place[old_topics[old_first + k]] = k
            for i in range(wires.visit_edge[v + 1] - wires.visit_edge[v]):
                m = flow.mu[wires.visit_message[v] + i * L : wires.visit_message[v] + (i + 1) * L]
                old = old_mu[old_message[v] + i * old_L : old_message[v] + (i + 1) * old_L]
                z = f4(0)
                for k in range(L):
                    at = place[wires.topics[first + k]]
                    m[k] = old[at] if at >= 0 else f4(0)
                    z += m[k]
                for k in range(L):
                    m[k] = m[k] / z if z > f4(0) else f4(1) / L
