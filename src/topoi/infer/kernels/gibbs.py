"""Collapsed Gibbs sampling (eq. 23): each edge is one token and holds one (owner, topic)."""

from __future__ import annotations

from topoi.infer.kernels.rows import buffers, compiled, draw, f4, gather, inlined, uniform
from topoi.infer.kernels.sweeps import close_cell, close_visit, joint_message, open_cell, open_visit


@inlined
def _pair(z, n, L):
    """Owner and topic of a drawn number. Division is slow, and most documents own themselves."""
    return (0, z) if n == 1 else (z // L, z % L)


@inlined
def _gibbs_visit(wires, read, write, flow, fields, knobs, scratch, silent, v):
    """Draw the topic (and owner) of each token of one document inside one cell. Returns 2 for each token that changed."""
    zero, one = f4(0), f4(1)
    doc = wires.visit_doc[v]
    n, L, first, listed = open_visit(wires, read, fields, knobs, scratch, doc)
    seed, beta, beta_sum, prior, silence = knobs.seed, f4(knobs.beta), f4(knobs.beta_sum), f4(knobs.owner_prior), one - fields.weight[doc]
    words, ids, topics, phi, z = wires.edge_word, wires.edge_id, wires.topics, write.phi, flow.z
    side, gained, new, none = scratch.side[: n * L], scratch.gained[: n * L], scratch.new[: n * L], silent[: n * L]
    row, total, alpha, says, share, heard = (
        scratch.row[:L], scratch.total[:L], scratch.alpha[:L], scratch.says[:L], scratch.share[:n], scratch.heard[:L]
    )  # fmt: skip
    token = zero if knobs.frozen_words else one  # what a draw takes from the words
    gained[:] = side
    moved = 0.0
    for e in range(wires.visit_edge[v], wires.visit_edge[v + 1]):
        w, old = words[e], z[e]
        owner, k = _pair(old, n, L)
        side[old] -= one
        share[owner] -= one
        phi[w, topics[first + k] if listed else k] -= token
        total[k] -= token
        gather(phi, w, topics, first, listed, L, row)
        if n == 1 and silence == one:
            for i in range(L):
                new[i] = (row[i] + beta) * (side[i] + alpha[i]) / max(total[i], beta_sum)
        else:
            joint_message(row, side, total, alpha, beta, beta_sum, zero, zero, none, new, says, share, prior, False, silence, heard)
        now = draw(new, uniform(seed, ids[e]))
        owner, k = _pair(now, n, L)
        side[now] += one
        share[owner] += one
        phi[w, topics[first + k] if listed else k] += token
        total[k] += token
        z[e] = now
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
    silent = buffers(1, len(knobs.alpha) * knobs.max_owners)[0]
    for p in range(worker, knobs.n_doc_blocks, n_workers):
        scratch = open_cell(read, knobs)
        cell = p * knobs.n_word_blocks + (p + stage) % knobs.n_word_blocks
        for i in range(wires.cell_visit[cell], wires.cell_visit[cell + 1]):
            v = flow.order[i]
            flow.residual[v] = _gibbs_visit(wires, read, write, flow, fields, knobs, scratch, silent, v)
        close_cell(flow, scratch, p)
