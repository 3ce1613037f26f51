"""Active BP (algorithms 1.14): in chosen documents, renew chosen topics of each message among themselves."""

from __future__ import annotations

import numpy as np

from topoi.infer.kernels.rows import buffers, compiled, f4


@compiled
def active_stage(wires, tables, flow, focus, knobs, stage, worker, n_workers):
    """Renew the messages in focus in this worker's cells of one stage, in place. Only for documents that own themselves.

    The topics outside the focus keep their share of a message; those inside share what is left in new proportions.
    """
    zero = f4(0)
    K, S = len(knobs.alpha), focus.topics.shape[1]
    order, visit_doc, visit_edge, visit_message, mu = flow.order, wires.visit_doc, wires.visit_edge, wires.visit_message, flow.mu
    slot_ptr, slots, words, weights = wires.slot_ptr, wires.slots, wires.edge_word, wires.edge_x
    theta, phi, prior, beta, beta_sum = tables.theta, tables.phi, knobs.alpha, f4(knobs.beta), f4(knobs.beta_sum)
    docs, topics, moved, residual = focus.docs, focus.topics, focus.moved, flow.residual
    where, scratch = np.zeros(S, np.uint32), buffers(4, S)
    total, alpha, side, new = scratch[0, :S], scratch[1, :S], scratch[2, :S], scratch[3, :S]
    for p in range(worker, knobs.n_doc_blocks, n_workers):
        stock, change = (tables.totals + knobs.beta_sum).astype(f4), np.zeros(K, f4)
        cell = p * knobs.n_word_blocks + (p + stage) % knobs.n_word_blocks
        for i in range(wires.cell_visit[cell], wires.cell_visit[cell + 1]):
            v = order[i]
            doc = visit_doc[v]
            if not docs[doc]:
                continue
            slot = slots[slot_ptr[doc]]
            for k in range(S):
                t = topics[doc, k]
                where[k] = t
                total[k] = stock[t] + change[t]
                alpha[k] = prior[t]
                side[k] = theta[slot, t]
            here = 0.0
            for e in range(visit_edge[v], visit_edge[v + 1]):
                w, x = words[e], weights[e]
                at = visit_message[v] + (e - visit_edge[v]) * K
                own = min(x, f4(knobs.own_cap))
                kept, z = zero, zero
                for k in range(S):
                    m = mu[at + where[k]]
                    word = max(phi[w, where[k]] - own * m, zero) + beta
                    value = word * (max(side[k] - own * m, zero) + alpha[k]) / max(total[k] - own * m, beta_sum)
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
            flow.change[p, k] = change[k]
