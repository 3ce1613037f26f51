"""Documents inferred afresh whose owners may be several, or own other documents too.

As in fresh.py a document starts from its words alone, and what others hold stands still. Of each
owner the document's part is taken off first: what its last round gave the owner is not stored, and
taken to be as large a part of what the owner holds as the document is of the owner's documents. So
an owner of one document starts from nothing, as a document that owns itself does.
"""

from __future__ import annotations

from topoi.infer.kernels.joint import joint_message
from topoi.infer.kernels.primitives import compiled, f4, gather, shape


@compiled
def infer_joint_stage(
    arrays, owner_part, doc_ptr, doc_visits, docs, read, phi_held, messages, fields, params,
    afresh, scratch, worker, n_workers
):  # fmt: skip
    """`infer_stage` for documents whose owners may be several, or own other documents too.

    owner_part (pairs,): the document's part of what each of its owners holds, which is removed.
    The rest stands still, and the owner gains what the document gives it now. With VB
    (afresh.digamma) owners stand still as a whole. There is no discount.
    """
    zero, one = f4(0), f4(1)
    K = len(params.alpha)
    topics, words, weights, mu = arrays.topics, arrays.edge_word, arrays.edge_x, messages.mu
    beta, beta_sum, cap, prior = (
        f4(params.beta),
        f4(params.beta_sum),
        f4(params.own_cap),
        f4(params.owner_prior),
    )
    follow = zero if afresh.digamma else one
    rows = scratch.numbers[worker]
    base_total = rows[0, :K]
    for k in range(K):
        base_total[k] = f4(read.totals[k] + params.beta_sum)
    for i in range(worker, len(docs), n_workers):
        doc = docs[i]
        n, L, list_at, listed = shape(arrays, doc, K)
        total, alpha, row, word_term, field_term = (
            rows[1, :L],
            rows[2, :L],
            rows[3, :L],
            rows[4, :L],
            rows[5, :L],
        )
        side, new, owner_mass, gained = (
            rows[6, : n * L],
            rows[7, : n * L],
            rows[8, :n],
            rows[9, : n * L],
        )
        own_weight = one - fields.weight[doc]
        gather(base_total.reshape(1, -1), 0, topics, list_at, listed, L, total)
        gather(params.alpha.reshape(1, -1), 0, topics, list_at, listed, L, alpha)
        field_term[:] = zero
        if own_weight < one:
            gather(fields.message, doc, topics, list_at, listed, L, field_term)
        for j in range(n):
            pair = arrays.slot_ptr[doc] + j
            others = one - follow * owner_part[pair]
            gather(
                read.theta, arrays.slots[pair], topics, list_at, listed, L,
                side[j * L : (j + 1) * L],
            )  # fmt: skip
            for k in range(j * L, (j + 1) * L):
                side[k] *= others
                gained[k] = zero
        owner_mass[:] = zero
        moved = 0.0
        for t in range(afresh.passes + 1):  # all messages at once first, then in place
            moved = 0.0
            for a in range(doc_ptr[doc], doc_ptr[doc + 1]):
                v = doc_visits[a]
                at = arrays.visit_message[v]
                for e in range(arrays.visit_edge[v], arrays.visit_edge[v + 1]):
                    x, m = weights[e], mu[at : at + n * L]
                    at += n * L
                    if t == 0:
                        m[:] = zero
                    own = min(x, cap)
                    gather(read.phi, words[e], topics, list_at, listed, L, row)
                    others = max(one - own / phi_held[words[e]], zero)
                    for k in range(L):
                        row[k] *= others
                    z = joint_message(
                        row, side, total, alpha, beta, beta_sum, zero, own, m, new, word_term,
                        owner_mass, prior,
                        params.plain_side, own_weight, field_term,
                    )  # fmt: skip
                    scale = one / z
                    for j in range(n):
                        mass = zero
                        for k in range(j * L, (j + 1) * L):
                            value = new[k] * scale
                            gain = x * (value - m[k])
                            moved += abs(gain)
                            m[k] = value
                            mass += gain
                            if t == 0:
                                gained[k] += gain
                            else:
                                side[k] = max(side[k] + follow * gain, zero)
                        if t > 0:
                            owner_mass[j] = max(owner_mass[j] + mass, zero)
            if t == 0:
                for j in range(n):
                    for k in range(j * L, (j + 1) * L):
                        side[k] += follow * gained[k]
                        owner_mass[j] += gained[k]
        for a in range(doc_ptr[doc], doc_ptr[doc + 1]):
            messages.residual[doc_visits[a]] = moved if a == doc_ptr[doc] else 0.0
