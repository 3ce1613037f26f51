"""BP without stored messages (TBP, algorithms 1.12): what an edge holds is taken to be its fraction
of what its document and its word hold.

Only for documents that own themselves. Memory is K (D + W), twice that if synchronous, and a sweep
touches no more than that.
"""

from __future__ import annotations

from topoi.infer.kernels.counts import count_allowed, start_message
from topoi.infer.kernels.primitives import compiled, f4, gather, uniform


@compiled
def stateless_start_stage(
    arrays, lists, write, params, word_topic, start, scratch, stage, worker, n_workers
):
    """Count the first messages of this worker's cells into `write`.

    Arguments as in `start_stage`; lists: as in `count_stage`. Documents own themselves.
    """
    K = len(params.alpha)
    topic_ptr, rows = arrays.topic_ptr, scratch.numbers[worker]
    row, prior, m = rows[0], rows[1], rows[2]
    visit_doc, visit_edge, slot_ptr, slots = (
        arrays.visit_doc,
        arrays.visit_edge,
        arrays.slot_ptr,
        arrays.slots,
    )
    words, weights, ids, theta, phi, alpha = (
        arrays.edge_word,
        arrays.edge_x,
        arrays.edge_id,
        write.theta,
        write.phi,
        params.alpha,
    )
    seed, n_topics = params.seed, count_allowed(params.alpha)
    for p in range(worker, params.n_doc_blocks, n_workers):
        cell = p * params.n_word_blocks + (p + stage) % params.n_word_blocks
        for v in range(arrays.cell_visit[cell], arrays.cell_visit[cell + 1]):
            slot, first = slots[slot_ptr[visit_doc[v]]], topic_ptr[visit_doc[v]]
            L = topic_ptr[visit_doc[v] + 1] - first
            for e in range(visit_edge[v], visit_edge[v + 1]):
                w, x = words[e], weights[e]
                if start == 0:
                    k = int(uniform(seed, ids[e]) * (L if L > 0 else n_topics))
                    if lists is not None:
                        if L > 0:
                            k = lists[first + k]
                    theta[slot, k] += x
                    phi[w, k] += x
                    continue
                if lists is not None:
                    if L > 0:
                        gather(word_topic, w % len(word_topic), lists, first, True, L, row)
                        gather(alpha.reshape(1, -1), 0, lists, first, True, L, prior)
                        start_message(start, row, prior, seed, ids[e], 1, L, m)
                        for k in range(L):
                            theta[slot, lists[first + k]] += x * m[k]
                            phi[w, lists[first + k]] += x * m[k]
                        continue
                start_message(start, word_topic[w % len(word_topic)], alpha, seed, ids[e], 1, K, m)
                for k in range(K):
                    theta[slot, k] += x * m[k]
                for k in range(K):
                    phi[w, k] += x * m[k]


@compiled
def stateless_stage(
    arrays,
    read,
    write,
    messages,
    params,
    doc_weight,
    word_weight,
    relaxation,
    solve,
    scratch,
    stage,
    worker,
    n_workers,
):
    """Renew theta and phi edge by edge in this worker's cells of one stage.

    In place (`solve` is None; then the rest is not compiled): the edge's fraction x / n_d of
    theta_d and x / n_w of phi_w is put aside, the message computed from the rest, and `relaxation`
    times that fraction exchanged for it. Otherwise nothing is put aside and the messages of the old
    tables are counted into `write`; with `solve` > 0 steps it is the message itself that is put
    aside: mu = BP's message without x mu in the tables, the first step whole, the others half
    (algorithms 4.3). doc_weight (D,), word_weight (W,): sums of
    x.
    """
    zero, half, one = f4(0), f4(0.5), f4(1)
    K = len(params.alpha)
    order, visit_doc, visit_edge, residual = (
        messages.order,
        arrays.visit_doc,
        arrays.visit_edge,
        messages.residual,
    )
    slot_ptr, slots, words, weights = arrays.slot_ptr, arrays.slots, arrays.edge_word, arrays.edge_x
    theta, phi, theta_out, phi_out = read.theta, read.phi, write.theta, write.phi
    alpha, beta, beta_sum, in_place, relaxation = (
        params.alpha,
        f4(params.beta),
        f4(params.beta_sum),
        params.in_place,
        f4(relaxation),
    )
    rows = scratch.numbers[worker]
    new, rate, side, trial, base_total, change = (
        rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    )  # fmt: skip
    for p in range(worker, params.n_doc_blocks, n_workers):
        for k in range(K):
            base_total[k], change[k] = f4(read.totals[k] + params.beta_sum), zero
        cell = p * params.n_word_blocks + (p + stage) % params.n_word_blocks
        for i in range(arrays.cell_visit[cell], arrays.cell_visit[cell + 1]):
            v = order[i]
            doc = visit_doc[v]
            slot, n_d = slots[slot_ptr[doc]], doc_weight[doc]
            for k in range(K):
                rate[k] = one / max(
                    base_total[k] + change[k], beta_sum
                )  # as theta changes; the sweep ends with totals counted from phi
            for k in range(K):
                side[k] = theta[slot, k]
            for e in range(visit_edge[v], visit_edge[v + 1]):
                w, x = words[e], weights[e]
                n_w = word_weight[w]
                rest_d, rest_w = (
                    (max(one - x / n_d, zero), max(one - x / n_w, zero)) if in_place else (one, one)
                )
                z = zero
                for k in range(K):
                    value = (side[k] * rest_d + alpha[k]) * (phi[w, k] * rest_w + beta) * rate[k]
                    new[k] = value
                    z += value
                if solve is None:
                    move_d, move_w = min(relaxation * x, n_d), min(relaxation * x, n_w)
                    keep_d, keep_w = max(one - move_d / n_d, zero), max(one - move_w / n_w, zero)
                    give_d, give_w = move_d / z, move_w / z
                    for k in range(K):
                        side[k] = side[k] * keep_d + give_d * new[k]
                    for k in range(K):
                        phi[w, k] = phi[w, k] * keep_w + give_w * new[k]
                else:
                    scale = one / z
                    for k in range(K):
                        new[k] *= scale
                    for step in range(solve):
                        z = zero
                        for k in range(K):
                            own = x * new[k]
                            value = (max(side[k] - own, zero) + alpha[k]) * (
                                max(phi[w, k] - own, zero) + beta
                            )
                            value /= max(base_total[k] - own, beta_sum)
                            trial[k] = value
                            z += value
                        pace = one if step == 0 else half
                        scale = pace / z
                        for k in range(K):
                            new[k] = new[k] * (one - pace) + trial[k] * scale
                    for k in range(K):
                        theta_out[slot, k] += x * new[k]
                    for k in range(K):
                        phi_out[w, k] += x * new[k]
            if solve is None:
                moved = zero
                for k in range(K):
                    moved += abs(side[k] - theta[slot, k])
                for k in range(K):
                    change[k] += side[k] - theta[slot, k]
                for k in range(K):
                    theta[slot, k] = side[k]
                residual[v] = moved
        if solve is None:
            for k in range(K):
                messages.change[p, k] = change[k]


@compiled
def recall_stage(
    arrays,
    lists,
    read,
    messages,
    params,
    doc_weight,
    word_weight,
    scratch,
    stage,
    worker,
    n_workers,
):
    """Fill messages.mu with the message that the tables imply for each edge of this worker's cells:
    all topics of a document, or those on its list (lists: as in `count_stage`).
    """
    one = f4(1)
    K = len(params.alpha)
    visit_doc, visit_edge, visit_message, mu = (
        arrays.visit_doc,
        arrays.visit_edge,
        arrays.visit_message,
        messages.mu,
    )
    slot_ptr, slots, topic_ptr = arrays.slot_ptr, arrays.slots, arrays.topic_ptr
    words, weights, theta, phi, alpha, beta = (
        arrays.edge_word,
        arrays.edge_x,
        read.theta,
        read.phi,
        params.alpha,
        f4(params.beta),
    )
    rate, new = scratch.numbers[worker, 0], scratch.numbers[worker, 1]
    for k in range(K):
        rate[k] = f4(1.0 / (read.totals[k] + params.beta_sum))
    for p in range(worker, params.n_doc_blocks, n_workers):
        cell = p * params.n_word_blocks + (p + stage) % params.n_word_blocks
        for v in range(arrays.cell_visit[cell], arrays.cell_visit[cell + 1]):
            doc = visit_doc[v]
            slot, first = slots[slot_ptr[doc]], topic_ptr[doc]
            L = topic_ptr[doc + 1] - first
            at = visit_message[v]
            for e in range(visit_edge[v], visit_edge[v + 1]):
                w, x = words[e], weights[e]
                rest_d, rest_w = (
                    max(one - x / doc_weight[doc], f4(0)),
                    max(one - x / word_weight[w], f4(0)),
                )
                z = f4(0)
                if lists is not None:
                    for k in range(L):
                        t = lists[first + k]
                        new[k] = (
                            (theta[slot, t] * rest_d + alpha[t])
                            * (phi[w, t] * rest_w + beta)
                            * rate[t]
                        )
                        z += new[k]
                if L == 0:
                    for k in range(K):
                        value = (
                            (theta[slot, k] * rest_d + alpha[k])
                            * (phi[w, k] * rest_w + beta)
                            * rate[k]
                        )
                        new[k] = value
                        z += value
                n = L if L > 0 else K
                scale = one / z
                for k in range(n):
                    mu[at + k] = new[k] * scale
                at += n
