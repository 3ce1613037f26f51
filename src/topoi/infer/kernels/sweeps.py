"""One sweep of BP, siBP, CVB0 or VB: arrays in, arrays changed in place (`arrays.py` names them).

Each kernel has its plain NumPy twin in `reference.py`. Read that one first: it says the same in a
tenth of the lines. Four habits explain the look of these files (docs/design.md has the
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

from typing import Any, NamedTuple

import numpy as np

from topoi.infer.kernels.primitives import (
    buffers,
    compiled,
    f4,
    gather,
    inlined,
    scatter_add,
    shape,
)

# -------------------------------------------------------------------------------- the three updates


@inlined
def over_relax(m, i, new, z, relaxation):
    """Let `new` be m[i] moved `relaxation` times as far as to new / z, but nowhere below 0.

    Returns its sum, which clipping makes more than 1.
    """
    zero, scale, rest = f4(0), relaxation / z, f4(1) - relaxation
    z = zero
    for k in range(m.shape[1]):
        value = max(new[k] * scale + rest * m[i, k], zero)
        new[k] = value
        z += value
    return z


@inlined
def renew_dense(
    words, weights, first, last, m, phi, phi_out, side, gained, total, alpha, field_term, held,
    least, own_weight,
    new, gain, word_prior, beta_sum, cap, relaxation, least_held, in_place, own_words, moves_words
):  # fmt: skip
    """Renew the messages m of edges first to last, with one owner and all topics.

    Eq. 7; eq. 21 with cap = 0; eq. 30 with a field.

    side (K,) is what the owner holds, `held` its sum with the prior (0: no normaliser), `least` the
    sum of the prior; `gained` what it gains when the tables wait for the end of the sweep;
    word_prior (K,); heard (K,) the weighted field, silence = 1 - its weight. Without a field the
    normaliser cancels and is left out. least_held: what a topic holds at least in the owner's
    counts, 0 or the discount that was taken off alpha (kernels/fresh.py); own_words, moves_words:
    whether the words' counts contain this message, and whether they change with it. Returns sum x
    |mu_new - mu_old|.
    """
    zero, one = f4(0), f4(1)
    keep = one if in_place else zero
    K = len(alpha)
    residual = 0.0
    for i in range(last - first):
        w, x = words[first + i], weights[first + i]
        own_side = min(x, cap)
        own_word = own_side if own_words else zero
        weight = (
            own_weight
            if own_weight == one or held == zero
            else own_weight / max(held - own_side, least)
        )
        z = zero
        for k in range(K):
            word = max(phi[w, k] - own_word * m[i, k], zero) + word_prior[k]
            owner = max(side[k] - own_side * m[i, k], least_held) + alpha[k]
            value = (
                word
                * (owner * weight + field_term[k])
                / max(total[k] - own_word * m[i, k], beta_sum)
            )
            new[k] = value
            z += value
        if relaxation != one:
            z = over_relax(m, i, new, z, relaxation)
        scale, moved = one / z, zero
        for k in range(K):
            value = new[k] * scale
            moved += abs(value - m[i, k])
            gain[k] = x * (value - keep * m[i, k])
            m[i, k] = value
        residual += x * moved
        if in_place:
            for k in range(K):
                side[k] = max(side[k] + gain[k], zero)
        else:
            for k in range(K):
                gained[k] += gain[k]
        if moves_words:
            for k in range(K):
                phi_out[w, k] = max(phi_out[w, k] + gain[k], zero)
    return residual


@inlined
def renew_listed(
    words, weights, first, last, m, phi, phi_out, where, side, gained, total, alpha, field_term,
    held, least, own_weight,
    new, gain, row, word_prior, beta_sum, cap, relaxation, least_held, in_place, own_words,
    moves_words
):  # fmt: skip
    """`renew_dense` for a document that may use the topics where[:L] only; side, total, alpha,
    word_prior and heard are of these topics.
    """
    zero, one = f4(0), f4(1)
    keep = one if in_place else zero
    L = m.shape[1]
    residual = 0.0
    for i in range(last - first):
        w, x = words[first + i], weights[first + i]
        own_side = min(x, cap)
        own_word = own_side if own_words else zero
        weight = (
            own_weight
            if own_weight == one or held == zero
            else own_weight / max(held - own_side, least)
        )
        for k in range(L):  # alone: scattered loads would keep the next loop from being vectorised
            row[k] = phi[w, where[k]]
        z = zero
        for k in range(L):
            word = max(row[k] - own_word * m[i, k], zero) + word_prior[k]
            owner = max(side[k] - own_side * m[i, k], least_held) + alpha[k]
            value = (
                word
                * (owner * weight + field_term[k])
                / max(total[k] - own_word * m[i, k], beta_sum)
            )
            new[k] = value
            z += value
        if relaxation != one:
            z = over_relax(m, i, new, z, relaxation)
        scale, moved = one / z, zero
        for k in range(L):
            value = new[k] * scale
            moved += abs(value - m[i, k])
            gain[k] = x * (value - keep * m[i, k])
            m[i, k] = value
        residual += x * moved
        if in_place:
            for k in range(L):
                side[k] = max(side[k] + gain[k], zero)
        else:
            for k in range(L):
                gained[k] += gain[k]
        if moves_words:
            for k in range(L):
                phi_out[w, where[k]] = max(phi_out[w, where[k]] + gain[k], zero)
    return residual


@inlined
def joint_message(
    row,
    side,
    total,
    alpha,
    beta,
    beta_sum,
    own_word,
    own_side,
    m,
    new,
    word_term,
    owner_mass,
    prior,
    relax_after,
    own_weight,
    field_term,
):
    """m(o, k) of several owners, or of an owner and a field.

    Eqs. 26 and 30. Returns sum_ok m(o, k).

    m, new, side: (n * L,) owner by owner; says: (L,) scratch for the word's part; share: (n,) mass
    of each owner in the document; heard: (L,) the weighted field; silence: 1 - weight of the field.
    """
    zero = f4(0)
    L = len(row)
    word_term[:] = zero
    for j in range(len(owner_mass)):
        for k in range(L):
            word_term[k] += m[j * L + k]
    for k in range(L):
        own = own_word * word_term[k]
        word_term[k] = (max(row[k] - own, zero) + beta) / max(total[k] - own, beta_sum)
    z = zero
    for j in range(len(owner_mass)):
        mass, held, least = zero, zero, zero
        for k in range(L):
            mass += m[j * L + k]
            held += side[j * L + k] + alpha[k]
            least += alpha[k]
        likely = max(owner_mass[j] - own_side * mass, zero) + prior if prior > zero else f4(1)
        scale = (
            likely * own_weight
            if relax_after
            else likely * own_weight / max(held - own_side * mass, least)
        )
        for k in range(L):
            owner = max(side[j * L + k] - own_side * m[j * L + k], zero) + alpha[k]
            value = word_term[k] * (owner * scale + likely * field_term[k])
            new[j * L + k] = value
            z += value
    return z


# ---------------------------------------------------------------------------------------- one sweep


class Scratch(NamedTuple):
    """Buffers of one worker. Those of n K numbers hold n owners x L topics, owner by owner."""

    base_total: Any  # (K,) topic totals + W beta when the cell was opened
    change: Any  # (K,) what this cell has added to them
    total: Any  # (K,) the sum of both, for the document's topics
    alpha: Any  # (K,) priors of the document's topics
    row: Any  # (K,) counts of one word in the document's topics
    field_term: Any  # (K,) the field
    # (K,) what the word says, then what it gains; with one owner, the prior of words in the
    # document's topics
    word_term: Any
    side: Any  # (n K,) what the owners hold
    gained: Any  # (n K,) what the owners gain in this visit
    new: Any  # (n K,) the new message
    gain: Any  # (n K,) what the tables gain by it
    owner_mass: Any  # (n,) mass of each owner in the document
    # (K,) the document's topics; unsigned, so that an index needs no test for negative numbers
    where: Any


@inlined
def open_cell(read, params):
    K, n = len(params.alpha), params.max_owners
    one, many = buffers(7, K), buffers(5, max(n * K, n))
    for k in range(K):
        one[6, k] = f4(read.totals[k] + params.beta_sum)
    return Scratch(
        one[6, :K], one[0, :K], one[1, :K], one[2, :K], one[3, :K], one[4, :K], one[5, :K],
        many[0, : n * K], many[1, : n * K], many[2, : n * K], many[3, : n * K], many[4, :n],
        np.zeros(K, np.uint32),
    )  # fmt: skip


@inlined
def close_cell(messages, scratch, block):
    for k in range(len(scratch.change)):
        messages.change[block, k] = scratch.change[k]


@inlined
def open_visit(arrays, read, fields, params, scratch, doc):
    """Gather what a visit of `doc` needs. Returns `shape`."""
    n, L, first, listed = shape(arrays, doc, len(params.alpha))
    if listed:
        for k in range(L):
            t = arrays.topics[first + k]
            scratch.total[k] = scratch.base_total[t] + scratch.change[t]
    else:
        for k in range(L):
            scratch.total[k] = scratch.base_total[k] + scratch.change[k]
    gather(params.alpha.reshape(1, -1), 0, arrays.topics, first, listed, L, scratch.alpha)
    for j in range(n):
        pair = arrays.slot_ptr[doc] + j
        gather(
            read.theta,
            arrays.slots[pair],
            arrays.topics,
            first,
            listed,
            L,
            scratch.side[j * L : (j + 1) * L],
        )
        scratch.owner_mass[j] = read.owner_mass[pair]
    if fields.weight[doc] > f4(0):
        gather(fields.message, doc, arrays.topics, first, listed, L, scratch.field_term)
    else:
        scratch.field_term[:] = f4(0)
    return n, L, first, listed


@inlined
def close_visit(arrays, write, scratch, doc, n, L, first, listed, moves_totals):
    """Give the owners what they gained, and note it for the totals of the topics."""
    for j in range(n):
        gained = scratch.gained[j * L : (j + 1) * L]
        scatter_add(
            write.theta,
            arrays.slots[arrays.slot_ptr[doc] + j],
            arrays.topics,
            first,
            listed,
            L,
            gained,
        )
        if not moves_totals:
            continue
        if listed:
            for k in range(L):
                scratch.change[arrays.topics[first + k]] += gained[k]
        else:
            for k in range(L):
                scratch.change[k] += gained[k]


@inlined
def _renew_joint(arrays, read, write, messages, fields, params, scratch, v, n, L, first, listed):
    """Renew the messages of a visit with several owners. Returns sum x |mu_new - mu_old|."""
    zero, one = f4(0), f4(1)
    doc, begin, end, at = (
        arrays.visit_doc[v],
        arrays.visit_edge[v],
        arrays.visit_edge[v + 1],
        arrays.visit_message[v],
    )
    words, weights, topics, phi, phi_out, mu = (
        arrays.edge_word,
        arrays.edge_x,
        arrays.topics,
        read.phi,
        write.phi,
        messages.mu,
    )
    side, gained, new, gain = (
        scratch.side[: n * L],
        scratch.gained[: n * L],
        scratch.new[: n * L],
        scratch.gain[: n * L],
    )
    row, word_term, owner_mass, field_term = (
        scratch.row[:L],
        scratch.word_term[:L],
        scratch.owner_mass[:n],
        scratch.field_term[:L],
    )
    total, alpha, proportions, pair = (
        scratch.total[:L],
        scratch.alpha[:L],
        write.owner_mass,
        arrays.slot_ptr[doc],
    )
    beta, beta_sum, prior, own_weight = (
        f4(params.beta),
        f4(params.beta_sum),
        f4(params.owner_prior),
        one - fields.weight[doc],
    )
    in_place, frozen, relax_after, cap, relaxation = (
        params.in_place,
        params.frozen_words,
        params.plain_side,
        f4(params.own_cap),
        f4(params.relaxation),
    )
    keep = one if in_place else zero
    residual = 0.0
    for e in range(begin, end):
        w, x = words[e], weights[e]
        m = mu[at : at + n * L]
        at += n * L
        own_side = min(x, cap)
        own_word = zero if frozen else own_side
        gather(phi, w, topics, first, listed, L, row)
        z = joint_message(
            row,
            side,
            total,
            alpha,
            beta,
            beta_sum,
            own_word,
            own_side,
            m,
            new,
            word_term,
            owner_mass,
            prior,
            relax_after,
            own_weight,
            field_term,
        )
        if relaxation != one:
            z = over_relax(m.reshape(1, n * L), 0, new, z, relaxation)
        scale, moved = one / z, zero
        for i in range(n * L):
            value = new[i] * scale
            new[i] = value
            moved += abs(value - m[i])
        residual += x * moved
        for i in range(n * L):
            gain[i] = x * (new[i] - keep * m[i])
        for i in range(n * L):
            m[i] = new[i]
        if in_place:
            for i in range(n * L):
                side[i] = max(side[i] + gain[i], zero)
        else:
            for i in range(n * L):
                gained[i] += gain[i]
        _count_owner_mass(proportions, pair, owner_mass, gain, L, in_place)
        if not frozen:
            word_term[:] = zero
            for j in range(n):
                for k in range(L):
                    word_term[k] += gain[j * L + k]
            scatter_add(phi_out, w, topics, first, listed, L, word_term)
    return residual


@inlined
def _visit_singles(arrays, read, write, messages, fields, params, scratch, begin, end):
    """Visits messages.order[begin:end], all to documents of one owner."""
    zero, one = f4(0), f4(1)
    K = len(params.alpha)
    order, visit_doc, visit_edge, visit_message = (
        messages.order,
        arrays.visit_doc,
        arrays.visit_edge,
        arrays.visit_message,
    )
    slot_ptr, slots, topic_ptr, topics = (
        arrays.slot_ptr,
        arrays.slots,
        arrays.topic_ptr,
        arrays.topics,
    )
    words, weights, mu, residual = arrays.edge_word, arrays.edge_x, messages.mu, messages.residual
    theta, phi, theta_out, phi_out, share_out = (
        read.theta,
        read.phi,
        write.theta,
        write.phi,
        write.owner_mass,
    )
    message, field_weight, prior = fields.message, fields.weight, params.alpha
    base_total, change, total, alpha, field_term = (
        scratch.base_total,
        scratch.change,
        scratch.total,
        scratch.alpha,
        scratch.field_term,
    )
    side, gained, new, gain, where = (
        scratch.side,
        scratch.gained,
        scratch.new,
        scratch.gain,
        scratch.where,
    )
    row, word = scratch.row, scratch.word_term
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
        slot, list_at = slots[slot_ptr[doc]], topic_ptr[doc]
        L = topic_ptr[doc + 1] - list_at
        listed = L > 0
        if listed:
            for k in range(L):
                t = topics[list_at + k]
                where[k] = t
                total[k] = base_total[t] + change[t]
                alpha[k] = prior[t]
                word[k] = word_prior[t]
                side[k] = theta[slot, t]
        else:
            L = K
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
        if listed:
            moved = renew_listed(
                words, weights, first, last, m, phi, phi_out, where, side, gained, total, alpha,
                field_term, held, least, one - field_weight[doc],
                new, gain, row, word, beta_sum, cap, relaxation, zero, in_place, not frozen,
                not frozen,
            )  # fmt: skip
        else:
            moved = renew_dense(
                words, weights, first, last, m, phi, phi_out, side, gained, total, alpha,
                field_term, held, least, one - field_weight[doc],
                new, gain, word_prior, beta_sum, cap, relaxation, zero, in_place, not frozen,
                not frozen,
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
            share_out[slot_ptr[doc]] += mass


@inlined
def _visit_joint(arrays, read, write, messages, fields, params, scratch, v):
    """A visit to a document of several owners. Returns sum x |mu_new - mu_old|."""
    doc = arrays.visit_doc[v]
    n, L, first, listed = open_visit(arrays, read, fields, params, scratch, doc)
    for i in range(n * L):
        scratch.gained[i] = scratch.side[i] if params.in_place else f4(0)
    residual = _renew_joint(
        arrays, read, write, messages, fields, params, scratch, v, n, L, first, listed
    )
    if params.in_place:
        for i in range(n * L):
            scratch.gained[i] = scratch.side[i] - scratch.gained[i]
    close_visit(
        arrays,
        write,
        scratch,
        doc,
        n,
        L,
        first,
        listed,
        params.in_place and not params.frozen_words,
    )
    return residual


@inlined
def _count_owner_mass(table, first, owner_mass, gain, L, in_place):
    """Add to each owner's mass in the document what this edge gave it."""
    for j in range(len(owner_mass)):
        mass = f4(0)
        for k in range(L):
            mass += gain[j * L + k]
        table[first + j] = max(table[first + j] + mass, f4(0))
        if in_place:
            owner_mass[j] = table[first + j]


@inlined
def _next_joint(arrays, messages, begin, end):
    """The first visit from messages.order[begin] on to a document of several owners."""
    order, visit_doc, slot_ptr = messages.order, arrays.visit_doc, arrays.slot_ptr
    for i in range(begin, end):
        doc = visit_doc[order[i]]
        if slot_ptr[doc + 1] - slot_ptr[doc] > 1:
            return i
    return end


@compiled
def sweep_stage(arrays, read, write, messages, fields, params, stage, worker, n_workers):
    """Pass the messages of this worker's cells in one stage: cell (p, p + stage) for each of its
    document blocks p. All documents have one owner.

    In place, `write` is `read`. Otherwise messages come from `read` and their counts are added to
    `write`.
    """
    for p in range(worker, params.n_doc_blocks, n_workers):
        scratch = open_cell(read, params)
        cell = p * params.n_word_blocks + (p + stage) % params.n_word_blocks
        begin, end = arrays.cell_visit[cell], arrays.cell_visit[cell + 1]
        _visit_singles(arrays, read, write, messages, fields, params, scratch, begin, end)
        if params.in_place:
            close_cell(messages, scratch, p)


@compiled
def joint_stage(arrays, read, write, messages, fields, params, stage, worker, n_workers):
    """`sweep_stage` where documents may have several owners.

    A kernel of its own, because it takes long to compile and LDA never needs it.
    """
    for p in range(worker, params.n_doc_blocks, n_workers):
        scratch = open_cell(read, params)
        cell = p * params.n_word_blocks + (p + stage) % params.n_word_blocks
        i, end = arrays.cell_visit[cell], arrays.cell_visit[cell + 1]
        while i < end:
            joint = _next_joint(arrays, messages, i, end)
            _visit_singles(arrays, read, write, messages, fields, params, scratch, i, joint)
            if joint < end:
                v = messages.order[joint]
                messages.residual[v] = _visit_joint(
                    arrays, read, write, messages, fields, params, scratch, v
                )
            i = joint + 1
        if params.in_place:
            close_cell(messages, scratch, p)
