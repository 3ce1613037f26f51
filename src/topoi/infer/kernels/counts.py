"""First messages, and the tables counted from messages."""

from __future__ import annotations

import numpy as np

from topoi.infer.kernels.primitives import (
    allocating,
    compiled,
    draw,
    f4,
    gather,
    inlined,
    mix,
    scatter_add,
    shape,
    uniform,
)


@inlined
def count_allowed(alpha):
    """How many topics have a prior: the others are padding."""
    n = 0
    for k in range(len(alpha)):
        n += alpha[k] > f4(0)
    return n


@inlined
def start_message(start, word_row, alpha, seed, number, n, L, m):
    """Fill the first message of an edge.

    start: 1 uniform on the simplex, 2 the topics of the word under the prior.
    """
    z = f4(0)
    for j in range(n):
        for k in range(L):
            value = alpha[k] * word_row[k]
            if start == 1:
                value = (
                    f4(-np.log(1.0 - uniform(mix(seed, number), j * L + k)))
                    if alpha[k] > f4(0)
                    else f4(0)
                )
            m[j * L + k] = value
            z += value
    for i in range(n * L):
        m[i] /= z


@compiled
def start_stage(arrays, messages, params, word_topic, start, scratch, stage, worker, n_workers):
    """First messages of this worker's cells.

    start: 0 one-hot, or as in `start_message`; word_topic: (W, K), or (1, K) for all words.

    `messages.mu` holds zeros, so a one-hot message is one number.
    """
    K = len(params.alpha)
    alpha, row, drawn = (
        scratch.numbers[worker, 0, :K],
        scratch.numbers[worker, 1, :K],
        scratch.numbers[worker, 2],
    )
    n_topics = count_allowed(params.alpha)
    for p in range(worker, params.n_doc_blocks, n_workers):
        cell = p * params.n_word_blocks + (p + stage) % params.n_word_blocks
        for v in range(arrays.cell_visit[cell], arrays.cell_visit[cell + 1]):
            n, L, first, listed = shape(arrays, arrays.visit_doc[v], K)
            usable = L if listed else n_topics
            gather(params.alpha.reshape(1, -1), 0, arrays.topics, first, listed, L, alpha)
            for e in range(arrays.visit_edge[v], arrays.visit_edge[v + 1]):
                chance = uniform(params.seed, arrays.edge_id[e])
                at = arrays.visit_message[v] + (e - arrays.visit_edge[v]) * n * L
                if start == 0:
                    pick = int(chance * n * usable)
                    i = (pick // usable) * L + pick % usable
                    if len(messages.z):
                        messages.z[e] = i
                    else:
                        messages.mu[at + i] = f4(1)
                    continue
                m = drawn[: n * L] if len(messages.z) else messages.mu[at : at + n * L]
                gather(
                    word_topic,
                    arrays.edge_word[e] % len(word_topic),
                    arrays.topics,
                    first,
                    listed,
                    L,
                    row,
                )
                start_message(start, row, alpha, params.seed, arrays.edge_id[e], n, L, m)
                if len(messages.z):
                    messages.z[e] = draw(m, chance)


@inlined
def _count_drawn(arrays, write, params, doc, w, i, L, first, listed):
    """Add one token of word w to entry i of the document's (owner, topic) table."""
    pair = arrays.slot_ptr[doc] + i // L
    t = arrays.topics[first + i % L] if listed else i % L
    write.theta[arrays.slots[pair], t] += f4(1)
    write.owner_mass[pair] += f4(1)
    if not params.frozen_words:
        write.phi[w, t] += f4(1)


@inlined
def _count_message(arrays, write, params, doc, w, x, m, n, L, first, listed, gain):
    """theta, phi, owner_mass += x m. gain: (L,) scratch."""
    for j in range(n):
        pair = arrays.slot_ptr[doc] + j
        mass = f4(0)
        for k in range(L):
            value = x * m[j * L + k]
            gain[k] = value
            mass += value
        scatter_add(write.theta, arrays.slots[pair], arrays.topics, first, listed, L, gain)
        write.owner_mass[pair] += mass
        if not params.frozen_words:
            scatter_add(write.phi, w, arrays.topics, first, listed, L, gain)


@compiled
def count_singles(arrays, lists, write, messages, params, gain, begin, end):
    """Count the messages of visits begin to end, all to documents of one owner.

    lists: `GraphArrays.lists`; gain: (K,) scratch.
    """
    K, frozen = len(params.alpha), params.frozen_words
    visit_doc, visit_edge, visit_message, mu = (
        arrays.visit_doc,
        arrays.visit_edge,
        arrays.visit_message,
        messages.mu,
    )
    words, weights, theta, phi = arrays.edge_word, arrays.edge_x, write.theta, write.phi
    for v in range(begin, end):
        first, n, at = visit_edge[v], visit_edge[v + 1] - visit_edge[v], visit_message[v]
        pair, list_at = arrays.slot_ptr[visit_doc[v]], arrays.topic_ptr[visit_doc[v]]
        slot, L, mass = arrays.slots[pair], arrays.topic_ptr[visit_doc[v] + 1] - list_at, f4(0)
        if lists is not None:
            m = mu[at : at + n * L].reshape(n, L)
            for k in range(L):
                gain[k] = f4(0)
            for i in range(n):
                w, x = words[first + i], weights[first + i]
                for k in range(L):
                    gain[k] += x * m[i, k]
                if not frozen:
                    for k in range(L):
                        phi[w, lists[list_at + k]] += x * m[i, k]
            for k in range(L):
                theta[slot, lists[list_at + k]] += gain[k]
        if L == 0:
            m = mu[at : at + n * K].reshape(n, K)
            for i in range(n):
                w, x = words[first + i], weights[first + i]
                for k in range(K):
                    theta[slot, k] += x * m[i, k]
                if not frozen:
                    for k in range(K):
                        phi[w, k] += x * m[i, k]
        for i in range(n):
            mass += weights[first + i]
        write.owner_mass[pair] += mass


def count_stage(arrays, lists, write, messages, params, scratch, stage, worker, n_workers):
    """Count the messages of this worker's cells into `write`: the tables anew, without the drift of
    many small differences. All documents have one owner. lists: as in `count_singles`.
    """
    for p in range(worker, params.n_doc_blocks, n_workers):
        cell = p * params.n_word_blocks + (p + stage) % params.n_word_blocks
        begin, end = arrays.cell_visit[cell : cell + 2]
        gain = scratch.numbers[worker, 0]
        count_singles(arrays, lists, write, messages, params, gain, begin, end)


_count_run = inlined(count_singles.py_func)


@compiled
def count_joint_stage(arrays, lists, write, messages, params, scratch, stage, worker, n_workers):
    """`count_stage` where documents may have several owners, or messages are drawn topics."""
    gain = scratch.numbers[worker, 0]
    for p in range(worker, params.n_doc_blocks, n_workers):
        cell = p * params.n_word_blocks + (p + stage) % params.n_word_blocks
        for v in range(arrays.cell_visit[cell], arrays.cell_visit[cell + 1]):
            doc, at = arrays.visit_doc[v], arrays.visit_message[v]
            n, L, first, listed = shape(arrays, doc, len(params.alpha))
            if n == 1 and not len(messages.z):
                _count_run(arrays, lists, write, messages, params, gain, v, v + 1)
                continue
            for e in range(arrays.visit_edge[v], arrays.visit_edge[v + 1]):
                w, x = arrays.edge_word[e], arrays.edge_x[e]
                if len(messages.z):
                    _count_drawn(arrays, write, params, doc, w, messages.z[e], L, first, listed)
                else:
                    m = messages.mu[at : at + n * L]
                    _count_message(arrays, write, params, doc, w, x, m, n, L, first, listed, gain)
                    at += n * L


@compiled
def merge_shared(theta, shared_counts, owner_ptr, slots):
    """Owners with rows in several document blocks: shared_counts += the sum of each row's
    difference to it, and every row becomes the result.

    theta: (slots, K); shared_counts: (shared owners, K), what all rows of an owner held before;
    owner_ptr, slots: rows of each shared owner.
    """
    K = theta.shape[1]
    for o in range(len(shared_counts)):
        for k in range(K):
            total = shared_counts[o, k]
            for i in range(owner_ptr[o], owner_ptr[o + 1]):
                total += theta[slots[i], k] - shared_counts[o, k]
            shared_counts[o, k] = max(total, f4(0))
        for i in range(owner_ptr[o], owner_ptr[o + 1]):
            for k in range(K):
                theta[slots[i], k] = shared_counts[o, k]


@allocating
def topic_totals(table):
    """(K,) sums of the rows (W, K) of a table, in their order and in double precision, as
    NumPy takes them.
    """
    totals = np.zeros(table.shape[1])
    for w in range(table.shape[0]):
        row = table[w]
        for k in range(len(totals)):
            totals[k] += row[k]
    return totals
