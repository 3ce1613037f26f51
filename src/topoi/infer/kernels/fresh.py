"""Documents inferred afresh: each starts from its words alone and takes a few passes over its own
edges.

The messages of the last round, of this document and of all others, are counted in `phi`. How much
of it is this document's is not known, since no message is kept: each edge removes its part of what
its word holds, or its current message (docs/afresh.md), and word counts do not change while the
document is inferred. Nothing else of the document's last round is read: its counts start at 0. A
discount is taken off the document's counts before the prior is added,
max(theta - own - discount, 0) + alpha, as
exp(digamma(theta + alpha)) does for counts that are not small. It is written
max(theta - own, discount) + (alpha - discount), which costs the loop nothing.
"""

from __future__ import annotations

import numpy as np

from topoi.infer.kernels.primitives import allocating, compiled, digamma, f4
from topoi.infer.kernels.updates import renew_fresh

TINY = 1e-18  # smallest exp(digamma): the product of two stays a normal single-precision number


@compiled
def infer_stage(
    arrays, lists, digammas, doc_ptr, doc_visits, docs, read, phi_held, messages, fields, params,
    afresh, scratch, worker, n_workers
):  # fmt: skip
    """Infer this worker's part of `docs`, which own themselves: their messages in messages.mu, and
    their rows of read.theta.

    lists: `GraphArrays.lists`; digammas: None, or True with VB. What is None is not compiled.
    doc_ptr (D + 1,), doc_visits: the visits of each document. phi_held (W,): what words hold of all
    topics. Words do not change.
    messages.residual of a document's first visit becomes sum |theta_new - theta_old|, of the others
    0.
    """
    zero, one = f4(0), f4(1)
    K = len(params.alpha)
    visit_edge, visit_message, slot_ptr, slots = (
        arrays.visit_edge,
        arrays.visit_message,
        arrays.slot_ptr,
        arrays.slots,
    )
    topic_ptr, words, weights = arrays.topic_ptr, arrays.edge_word, arrays.edge_x
    theta, phi, mu, residual = read.theta, read.phi, messages.mu, messages.residual
    message, field_weight, prior, word_prior = (
        fields.message,
        fields.weight,
        params.alpha,
        params.word_prior,
    )
    rows, where = scratch.numbers[worker], scratch.topics[worker]
    inverse, alpha, lowered, word, field_term, base = (
        rows[0],
        rows[1],
        rows[2],
        rows[3],
        rows[4],
        rows[5],
    )
    side, gained, new, gain, row = rows[6], rows[7], rows[8], rows[9], rows[10]
    for k in range(K):
        base[k] = one / f4(read.totals[k] + params.beta_sum)
    cap, discount = f4(params.own_cap), f4(afresh.discount)
    for i in range(worker, len(docs), n_workers):
        doc = docs[i]
        slot, list_at = slots[slot_ptr[doc]], topic_ptr[doc]
        L = topic_ptr[doc + 1] - list_at
        listed = L > 0
        if not listed:
            L = K
        for k in range(L):
            where[k] = k
        if lists is not None:
            if listed:
                for k in range(L):
                    where[k] = lists[list_at + k]
        for k in range(L):
            topic = where[k]
            inverse[k] = base[topic]
            alpha[k] = prior[topic]
            word[k] = word_prior[topic]
            field_term[k] = message[doc, topic] if field_weight[doc] > zero else zero
            side[k] = zero
        least = zero
        if field_weight[doc] > zero:
            for k in range(L):
                least += alpha[k]
        n_d = zero
        for t in range(afresh.passes + 1):
            # From nothing first, all messages at once; then in place (VB: all at once, digammas of
            # what the last pass counted).
            in_place, cut = False, zero
            if digammas is None:
                in_place, cut = t > 0, discount if t > 0 else zero
            held = zero
            for k in range(L):
                held += side[k] + alpha[k]
                gained[k] = zero
                lowered[k] = alpha[k] - cut
            if digammas is not None and t > 0:
                level = digamma(np.float64(held))
                for k in range(L):
                    likely = np.exp(digamma(max(np.float64(side[k] + alpha[k]), TINY)) - level)
                    side[k] = f4(max(likely, TINY)) if alpha[k] > zero else zero
                    lowered[k] = zero
                held = zero
            elif field_weight[doc] == zero:
                held = zero
            moved = 0.0
            for j in range(doc_ptr[doc], doc_ptr[doc + 1]):
                v = doc_visits[j]
                first, last, at = visit_edge[v], visit_edge[v + 1], visit_message[v]
                m = mu[at : at + (last - first) * L].reshape(last - first, L)
                if t == 0:
                    for a in range(at, at + (last - first) * L):
                        mu[a] = zero
                    for e in range(first, last):
                        n_d += weights[e]
                moved += renew_fresh(
                    words, weights, first, last, m, phi, phi_held, lists, where, side, gained,
                    inverse, lowered, field_term, held, least, one - field_weight[doc], new, gain,
                    row, word, cap, cut, in_place, afresh.by_part,
                )  # fmt: skip
            if not in_place:
                for k in range(L):
                    side[k] = gained[k]
            if t > 0 and moved <= afresh.tolerance * n_d:
                break
        change = zero
        for k in range(L):
            change += abs(side[k] - theta[slot, where[k]])
        if lists is not None:  # its list may have been another one
            for k in range(L):
                theta[slot, where[k]] = zero
            for k in range(K):
                change += theta[slot, k]
                theta[slot, k] = zero
        for k in range(L):
            theta[slot, where[k]] = side[k]
        for j in range(doc_ptr[doc], doc_ptr[doc + 1]):
            residual[doc_visits[j]] = change if j == doc_ptr[doc] else zero


@allocating
def favour_stage(
    arrays, doc_ptr, doc_visits, phi, word_weight, word_ptr, word_topics, fields, n_topics,
    list_ptr, lists, scratch, worker, n_workers
):  # fmt: skip
    """lists[list_ptr[d] : list_ptr[d + 1]] = the topics that document d favours most, ascending.

    A topic is favoured by each word as much as it holds of the word's counts, and by the field. A
    word favours only the topics that `topics_of_words` lists for it: word_ptr, word_topics. A list
    with room for all topics that the document may use (arrays.topics) gets these.
    """
    zero, one = f4(0), f4(1)
    score, value = scratch.numbers[worker, 0], scratch.numbers[worker, 1]
    topic_ptr, topics, words, weights = (
        arrays.topic_ptr,
        arrays.topics,
        arrays.edge_word,
        arrays.edge_x,
    )
    visit_edge, message, field_weight = arrays.visit_edge, fields.message, fields.weight
    for doc in range(worker, len(doc_ptr) - 1, n_workers):
        at, n = list_ptr[doc], list_ptr[doc + 1] - list_ptr[doc]
        allowed_at, C = topic_ptr[doc], topic_ptr[doc + 1] - topic_ptr[doc]
        listed = C > 0
        if not listed:
            C = n_topics
        if n == C:
            for c in range(n):
                lists[at + c] = topics[allowed_at + c] if listed else c
            continue
        for k in range(n_topics):
            score[k] = zero
        n_d = zero
        for j in range(doc_ptr[doc], doc_ptr[doc + 1]):
            v = doc_visits[j]
            for e in range(visit_edge[v], visit_edge[v + 1]):
                w, x = words[e], weights[e]
                n_d += x
                give = x / word_weight[w]
                for i in range(word_ptr[w], word_ptr[w + 1]):
                    score[word_topics[i]] += give * phi[w, word_topics[i]]
        for c in range(C):
            k = topics[allowed_at + c] if listed else c
            value[c] = score[k]
            if field_weight[doc] > zero:
                value[c] = score[k] * (one - field_weight[doc]) + n_d * message[doc, k]
        least = np.partition(value[:C], C - n)[C - n]
        room = n  # for topics with exactly `least`: the first of them
        for c in range(C):
            room -= value[c] > least
        for c in range(C):
            if value[c] > least or (value[c] == least and room > 0):
                room -= value[c] == least
                lists[at] = topics[allowed_at + c] if listed else c
                at += 1


@allocating
def exchange_stage(
    arrays, doc_ptr, doc_visits, docs, mu, word_weight, relaxation, phi, worker, n_workers
):
    """Replace the old contribution of `docs` to the counts of this worker's words by their messages
    `mu`.

    The old contribution is not stored. It is taken to be a fraction of the counts of a word: as
    large as the fraction of its weight (`word_weight`) that is in `docs`. `relaxation` times that
    fraction is replaced, and never more than all. The sum of a word's counts stays the same. With
    a factor of 0 nothing is taken off, and the messages are added.
    """
    zero, one, relaxation = f4(0), f4(1), f4(relaxation)
    K, give = phi.shape[1], np.zeros(len(phi), f4)
    visit_edge, visit_message, topic_ptr, topics, words, weights = (
        arrays.visit_edge,
        arrays.visit_message,
        arrays.topic_ptr,
        arrays.topics,
        arrays.edge_word,
        arrays.edge_x,
    )
    if relaxation == zero:
        give[:] = one
    else:
        for doc in docs:
            for j in range(doc_ptr[doc], doc_ptr[doc + 1]):
                for e in range(visit_edge[doc_visits[j]], visit_edge[doc_visits[j] + 1]):
                    if words[e] % n_workers == worker:
                        give[words[e]] += weights[e]
    for w in range(worker, len(phi), n_workers):
        if relaxation > zero and give[w] > zero:
            moved = min(relaxation * give[w], word_weight[w])
            keep = max(one - moved / word_weight[w], zero)
            give[w] = moved / give[w]
            for k in range(K):
                phi[w, k] *= keep
    for doc in docs:
        first, L = topic_ptr[doc], topic_ptr[doc + 1] - topic_ptr[doc]
        listed = L > 0
        if not listed:
            L = K
        for j in range(doc_ptr[doc], doc_ptr[doc + 1]):
            v = doc_visits[j]
            e, n_edges = visit_edge[v], visit_edge[v + 1] - visit_edge[v]
            m = mu[visit_message[v] : visit_message[v] + n_edges * L].reshape(n_edges, L)
            for i in range(n_edges):
                w = words[e + i]
                if w % n_workers != worker:
                    continue
                x = give[w] * weights[e + i]
                if listed:
                    for k in range(L):
                        phi[w, topics[first + k]] += x * m[i, k]
                else:
                    for k in range(L):
                        phi[w, k] += x * m[i, k]
