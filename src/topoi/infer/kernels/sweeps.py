"""One sweep of BP, siBP, CVB0 or VB: arrays in, arrays changed in place (`arrays.py` names them).

Each kernel has its plain NumPy twin in `reference/`. Read that one first: it computes the
same in a tenth of the lines. Four habits explain the look of these files (docs/design.md has the
measurements):

- one loop per written array, so that LLVM vectorises each of them;
- scalars are made single precision before they meet a loop;
- tuples of arrays are taken apart once per cell, not once per visit or edge: each array that leaves
  a tuple costs two atomic operations;
- integer codes and data choose what happens, never a function passed in, so that the disk cache
  works in every process.

Letters: `mu` messages, `theta` owner x topic counts, `phi` word x topic counts, `totals` topic
totals, `x` edge weight, `L` number of topics a document may use (all of them, or the length of its
list).
"""

from __future__ import annotations

from topoi.infer.kernels.primitives import compiled, f4
from topoi.infer.kernels.updates import renew_dense, renew_listed
from topoi.infer.kernels.visits import (
    ALPHA,
    BASE_TOTAL,
    CHANGE,
    FIELD_TERM,
    GAIN,
    GAINED,
    NEW,
    ROW,
    SIDE,
    TOTAL,
    WORD_TERM,
)

__all__ = ["pass_cells", "sweep_stage", "visit_singles"]


@compiled
def visit_singles(arrays, lists, read, write, messages, fields, params, rows, where, begin, end):
    """Visits messages.order[begin:end], all to documents of one owner.

    lists: `GraphArrays.lists`; rows: as in visits.py; where: (K,) scratch for a document's topics.
    """
    zero, one = f4(0), f4(1)
    K = len(params.alpha)
    order, visit_doc, visit_edge, visit_message = (
        messages.order,
        arrays.visit_doc,
        arrays.visit_edge,
        arrays.visit_message,
    )
    slot_ptr, slots, topic_ptr = arrays.slot_ptr, arrays.slots, arrays.topic_ptr
    words, weights, mu, residual = arrays.edge_word, arrays.edge_x, messages.mu, messages.residual
    theta, phi, theta_out, phi_out, mass_out = (
        read.theta,
        read.phi,
        write.theta,
        write.phi,
        write.owner_mass,
    )
    message, field_weight, prior = fields.message, fields.weight, params.alpha
    base_total, change, total, alpha, field_term = (
        rows[BASE_TOTAL],
        rows[CHANGE],
        rows[TOTAL],
        rows[ALPHA],
        rows[FIELD_TERM],
    )
    side, gained, new, gain = rows[SIDE], rows[GAINED], rows[NEW], rows[GAIN]
    row, word = rows[ROW], rows[WORD_TERM]
    word_prior, beta_sum, cap, relaxation = (
        params.word_prior,
        f4(params.beta_sum),
        f4(params.own_cap),
        f4(params.relaxation),
    )
    in_place, frozen, moves_totals = (
        params.in_place,
        params.frozen_words,
        params.in_place and not params.frozen_words,
    )
    for i in range(begin, end):
        v = order[i]
        doc, first, last, at = visit_doc[v], visit_edge[v], visit_edge[v + 1], visit_message[v]
        slot, L, listed, moved = slots[slot_ptr[doc]], K, False, 0.0
        if lists is not None:
            list_at = topic_ptr[doc]
            if topic_ptr[doc + 1] > list_at:
                L, listed = topic_ptr[doc + 1] - list_at, True
                for k in range(L):
                    t = lists[list_at + k]
                    where[k] = t
                    total[k] = base_total[t] + change[t]
                    alpha[k] = prior[t]
                    word[k] = word_prior[t]
                    side[k] = theta[slot, t]
        if not listed:
            for k in range(K):
                total[k] = base_total[k] + change[k]
            for k in range(K):
                alpha[k] = prior[k]
            for k in range(K):
                side[k] = theta[slot, k]
        for k in range(L):
            gained[k] = zero
        for k in range(L):
            field_term[k] = zero
        held, least = zero, zero
        if field_weight[doc] > zero:
            for k in range(L):
                field_term[k] = message[doc, where[k]] if listed else message[doc, k]
            if not params.plain_side:
                for k in range(L):
                    held += side[k] + alpha[k]
                    least += alpha[k]
        m = mu[at : at + (last - first) * L].reshape(last - first, L)
        if lists is not None:
            if listed:
                moved = renew_listed(
                    words, weights, first, last, m, phi, phi_out, where, side, gained, total,
                    alpha, field_term, held, least, one - field_weight[doc],
                    new, gain, row, word, beta_sum, cap, relaxation, in_place, not frozen,
                )  # fmt: skip
        if not listed:
            moved = renew_dense(
                words, weights, first, last, m, phi, phi_out, side, gained, total, alpha,
                field_term, held, least, one - field_weight[doc],
                new, gain, word_prior, beta_sum, cap, relaxation, in_place, not frozen,
            )  # fmt: skip
        residual[v] = moved
        if in_place and listed:
            for k in range(L):
                t = where[k]
                if moves_totals:
                    change[t] += side[k] - theta[slot, t]
                theta_out[slot, t] = side[k]
        elif in_place:
            if moves_totals:
                for k in range(K):
                    change[k] += side[k] - theta[slot, k]
            for k in range(K):
                theta_out[slot, k] = side[k]
        else:
            mass = zero
            for k in range(L):
                mass += gained[k]
            for k in range(L):
                t = where[k] if listed else k
                theta_out[slot, t] += gained[k]
            mass_out[slot_ptr[doc]] += mass


def sweep_stage(*args):
    """`pass_cells` where all documents have one owner."""
    pass_cells(visit_singles, *args)


def pass_cells(
    visit, arrays, lists, read, write, messages, fields, params, scratch, stage, worker, n_workers
):
    """Pass the messages of this worker's cells in one stage: cell (p, p + stage) for each of its
    document blocks p. lists: as in `visit_singles`.

    In place, `write` is `read`. Otherwise messages come from `read` and their counts are added to
    `write`. Not compiled: what a kernel calls is compiled alone and once more with it.
    """
    rows, where, K = scratch.numbers[worker], scratch.topics[worker], len(params.alpha)
    for p in range(worker, params.n_doc_blocks, n_workers):
        rows[BASE_TOTAL, :K] = read.totals + params.beta_sum
        rows[CHANGE, :K] = 0
        cell = p * params.n_word_blocks + (p + stage) % params.n_word_blocks
        begin, end = arrays.cell_visit[cell : cell + 2]
        visit(arrays, lists, read, write, messages, fields, params, rows, where, begin, end)
        if params.in_place:
            messages.change[p] = rows[CHANGE, :K]
