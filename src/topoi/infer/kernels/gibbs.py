"""Collapsed Gibbs sampling (eq. 23): each edge is one token and holds one (owner, topic)."""

from __future__ import annotations

from topoi.infer.kernels.joint import joint_message
from topoi.infer.kernels.primitives import compiled, draw, f4, gather, inlined, uniform
from topoi.infer.kernels.visits import (
    ALPHA,
    FIELD_TERM,
    GAIN,
    GAINED,
    NEW,
    OWNER_MASS,
    ROW,
    SIDE,
    TOTAL,
    WORD_TERM,
    close_cell,
    close_visit,
    open_cell,
    open_visit,
)


@inlined
def _pair(z, n, L):
    """Owner and topic of a drawn number. Division is slow, and most documents own themselves."""
    return (0, z) if n == 1 else (z // L, z % L)


@inlined
def _gibbs_visit(arrays, read, write, messages, fields, params, rows, v):
    """Draw the topic (and owner) of each token of one document inside one cell.

    Returns 2 for each token that changed.
    """
    zero, one = f4(0), f4(1)
    doc = arrays.visit_doc[v]
    n, L, first, listed = open_visit(arrays, read, fields, params, rows, doc)
    seed, beta, beta_sum, prior, own_weight = (
        params.seed,
        f4(params.beta),
        f4(params.beta_sum),
        f4(params.owner_prior),
        one - fields.weight[doc],
    )
    words, ids, topics, phi, z = (
        arrays.edge_word,
        arrays.edge_id,
        arrays.topics,
        write.phi,
        messages.z,
    )
    side, gained, new, none = (
        rows[SIDE, : n * L],
        rows[GAINED, : n * L],
        rows[NEW, : n * L],
        rows[GAIN, : n * L],
    )
    row, total, alpha, word_term, owner_mass, field_term = (
        rows[ROW, :L], rows[TOTAL, :L], rows[ALPHA, :L], rows[WORD_TERM, :L],
        rows[OWNER_MASS, :n], rows[FIELD_TERM, :L]
    )  # fmt: skip
    token = zero if params.frozen_words else one  # a drawn token leaves the counts of words first
    for i in range(n * L):
        gained[i] = side[i]
    moved = 0.0
    for e in range(arrays.visit_edge[v], arrays.visit_edge[v + 1]):
        w, old = words[e], z[e]
        owner, k = _pair(old, n, L)
        side[old] -= one
        owner_mass[owner] -= one
        phi[w, topics[first + k] if listed else k] -= token
        total[k] -= token
        gather(phi, w, topics, first, listed, L, row)
        if n == 1 and own_weight == one:
            for i in range(L):
                new[i] = (row[i] + beta) * (side[i] + alpha[i]) / max(total[i], beta_sum)
        else:
            joint_message(
                row,
                side,
                total,
                alpha,
                beta,
                beta_sum,
                zero,
                zero,
                none,
                new,
                word_term,
                owner_mass,
                prior,
                False,
                own_weight,
                field_term,
            )
        now = draw(new, uniform(seed, ids[e]))
        owner, k = _pair(now, n, L)
        side[now] += one
        owner_mass[owner] += one
        phi[w, topics[first + k] if listed else k] += token
        total[k] += token
        z[e] = now
        moved += 2.0 if now != old else 0.0
    for i in range(n * L):
        gained[i] = side[i] - gained[i]
    for j in range(n):
        write.owner_mass[arrays.slot_ptr[doc] + j] = owner_mass[j]
    close_visit(arrays, write, rows, doc, n, L, first, listed, not params.frozen_words)
    return moved


@compiled
def gibbs_stage(arrays, read, write, messages, fields, params, scratch, stage, worker, n_workers):
    """Collapsed Gibbs sampling (eq. 23) in this worker's cells of one stage."""
    rows = scratch.numbers[worker]
    rows[GAIN] = f4(0)  # no message is removed: tokens leave the counts instead
    for p in range(worker, params.n_doc_blocks, n_workers):
        open_cell(read, params, rows)
        cell = p * params.n_word_blocks + (p + stage) % params.n_word_blocks
        for i in range(arrays.cell_visit[cell], arrays.cell_visit[cell + 1]):
            v = messages.order[i]
            messages.residual[v] = _gibbs_visit(
                arrays, read, write, messages, fields, params, rows, v
            )
        close_cell(messages, rows, p)
