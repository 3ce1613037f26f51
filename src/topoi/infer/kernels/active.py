"""Active BP (algorithms 1.14): in chosen documents, renew chosen topics of each message among
themselves.
"""

from __future__ import annotations

from topoi.infer.kernels.primitives import compiled, f4


@compiled
def active_stage(arrays, tables, messages, active_set, params, scratch, stage, worker, n_workers):
    """Renew the messages in focus in this worker's cells of one stage, in place.

    Only for documents that own themselves.

    The topics outside the focus keep their part of a message; those inside share what is left in
    new proportions.
    """
    zero = f4(0)
    K, S = len(params.alpha), active_set.topics.shape[1]
    order, visit_doc, visit_edge, visit_message, mu = (
        messages.order,
        arrays.visit_doc,
        arrays.visit_edge,
        arrays.visit_message,
        messages.mu,
    )
    slot_ptr, slots, words, weights = arrays.slot_ptr, arrays.slots, arrays.edge_word, arrays.edge_x
    theta, phi, prior, beta, beta_sum = (
        tables.theta,
        tables.phi,
        params.alpha,
        f4(params.beta),
        f4(params.beta_sum),
    )
    docs, topics, moved, residual = (
        active_set.docs,
        active_set.topics,
        active_set.moved,
        messages.residual,
    )
    rows, where = scratch.numbers[worker], scratch.topics[worker]
    total, alpha, side, new, base_total, change = (
        rows[0],
        rows[1],
        rows[2],
        rows[3],
        rows[4],
        rows[5],
    )
    for p in range(worker, params.n_doc_blocks, n_workers):
        for k in range(K):
            base_total[k], change[k] = f4(tables.totals[k] + params.beta_sum), zero
        cell = p * params.n_word_blocks + (p + stage) % params.n_word_blocks
        for i in range(arrays.cell_visit[cell], arrays.cell_visit[cell + 1]):
            v = order[i]
            doc = visit_doc[v]
            if not docs[doc]:
                continue
            slot = slots[slot_ptr[doc]]
            for k in range(S):
                t = topics[doc, k]
                where[k] = t
                total[k] = base_total[t] + change[t]
                alpha[k] = prior[t]
                side[k] = theta[slot, t]
            here = 0.0
            for e in range(visit_edge[v], visit_edge[v + 1]):
                w, x = words[e], weights[e]
                at = visit_message[v] + (e - visit_edge[v]) * K
                own = min(x, f4(params.own_cap))
                kept, z = zero, zero
                for k in range(S):
                    m = mu[at + where[k]]
                    word = max(phi[w, where[k]] - own * m, zero) + beta
                    value = (
                        word
                        * (max(side[k] - own * m, zero) + alpha[k])
                        / max(total[k] - own * m, beta_sum)
                    )
                    new[k] = value
                    kept += m
                    z += value
                if z <= zero:
                    continue
                scale = kept / z
                for k in range(S):
                    gain = x * (new[k] * scale - mu[at + where[k]])
                    mu[at + where[k]] = new[k] * scale
                    side[k] = max(side[k] + gain, zero)
                    phi[w, where[k]] = max(phi[w, where[k]] + gain, zero)
                    moved[slot, where[k]] += abs(gain)
                    here += abs(gain)
            residual[v] = here
            for k in range(S):
                change[where[k]] += side[k] - theta[slot, where[k]]
                theta[slot, where[k]] = side[k]
        for k in range(K):
            messages.change[p, k] = change[k]
