"""Collapsed Gibbs sampling (eq. 23): each edge is one token and holds one (owner, topic)."""

from __future__ import annotations

import numpy as np

from topoi.infer.kernels.rows import compiled, draw, f4, gather, uniform
from topoi.infer.kernels.sweeps import close_cell, close_visit, joint_message, open_cell, open_visit


@compiled
def _gibbs_visit(wires, read, write, flow, fields, knobs, scratch, silent, v):
    """Draw the topic (and owner) of each token of one document inside one cell. Returns 2 for each token that changed."""
    zero, one = f4(0), f4(1)
    doc = wires.visit_doc[v]
    n, L, first, listed = open_visit(wires, read, fields, knobs, scratch, doc)
    beta, beta_sum = f4(knobs.beta), f4(knobs.beta_sum)
    side, gained, new, none = scratch.side[: n * L], scratch.gained[: n * L], scratch.new[: n * L], silent[: n * L]
    row, total, alpha, says, share = scratch.row[:L], scratch.total[:L], scratch.alpha[:L], scratch.says[:L], scratch.share[:n]
    token = zero if knobs.frozen_words else one  # what a draw takes from the words
    gained[:] = side
    moved = 0.0
    for e in range(wires.visit_edge[v], wires.visit_edge[v + 1]):
        table = write.phi[wires.edge_word[e]]
        old = flow.z[e]
        side[old] -= one
        share[old // L] -= one
        table[wires.topics[first + old % L] if listed else old % L] -= token
        total[old % L] -= token
        gather(table, wires.topics, first, listed, L, row)
        if n == 1 and fields.weight[doc] == zero:
            for k in range(L):
                new[k] = (row[k] + beta) * (side[k] + alpha[k]) / max(total[k], beta_sum)
        else:
            joint_message(
                row, side, total, alpha, beta, beta_sum, zero, zero, none, new, says, share,
                f4(knobs.owner_prior), False, one - fields.weight[doc], scratch.heard[:L],
            )  # fmt: skip
        now = draw(new, uniform(knobs.seed, wires.edge_id[e]))
        side[now] += one
        share[now // L] += one
        table[wires.topics[first + now % L] if listed else now % L] += token
        total[now % L] += token
        flow.z[e] = now
        moved += 2.0 if now != old else 0.0
    for i in range(n * L):
        gained[i] = side[i] - gained[i]
    for j in range(n):
        write.share[wires.slot_ptr[doc] + j] = share[j]
    close_visit(wires, write, scratch, doc, n, L, first, listed, not knobs.frozen_words)
    return moved


@compiled
def gibbs_stage(wires, read, write, flow, fields, knobs, stage, worker, n_workers):
    """Collapsed Gibbs (eq. 23) in this worker's cells of one stage: each edge is one token and holds one (owner, topic)."""
    silent = np.zeros(len(knobs.alpha) * knobs.max_owners, f4)
    for p in range(worker, knobs.n_doc_blocks, n_workers):
        scratch = open_cell(read, knobs)
        cell = p * knobs.n_word_blocks + (p + stage) % knobs.n_word_blocks
        for i in range(wires.cell_visit[cell], wires.cell_visit[cell + 1]):
            v = flow.order[i]
            flow.residual[v] = _gibbs_visit(wires, read, write, flow, fields, knobs, scratch, silent, v)
        close_cell(flow, scratch, p)
