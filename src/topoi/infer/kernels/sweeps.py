"""One sweep of BP, siBP, CVB0 or VB: arrays in, arrays changed in place (`bundles.py` names them).

Each kernel has its plain NumPy twin in `reference.py`. Read that one first: it says the same in a tenth of the lines.
Four habits explain the look of these files (docs/design.md has the measurements):

- one loop per written array, so that LLVM vectorises each of them;
- scalars are made single precision before they meet a loop;
- bundles are taken apart once per cell, not once per visit or edge: each array that leaves a tuple costs two atomic operations;
- integer codes and data choose what happens, never a function passed in, so that the disk cache works in every process.

Letters: `mu` messages, `theta` owner x topic counts, `phi` word x topic counts, `totals` topic totals, `x` edge weight,
`L` number of topics a document may use (all of them, or the length of its list).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topoi.infer.kernels.rows import buffers, compiled, f4, gather, inlined, scatter_add, shape

# --------------------------------------------------------------------------------------------------------------- the three updates


@inlined
def overstep(m, i, new, z, step):
    """Let `new` be m[i] moved `step` times as far as to new / z, but nowhere below 0. Returns its sum, which clipping makes more than 1."""
    zero, scale, rest = f4(0), step / z, f4(1) - step
    z = zero
    for k in range(m.shape[1]):
        value = max(new[k] * scale + rest * m[i, k], zero)
        new[k] = value
        z += value
    return z


@inlined
def renew_dense(
    words, weights, first, last, m, phi, phi_out, side, gained, total, alpha, heard, held, least, silence,
    new, gain, word_prior, beta_sum, cap, step, least_held, in_place, own_words, moves_words
):  # fmt: skip
    """Renew the messages m of edges first to last, with one owner and all topics. Eq. 7; eq. 21 with cap = 0; eq. 30 with a field.

    side (K,) is what the owner holds, `held` its sum with the prior (0: no normaliser), `least` the sum of the prior; `gained` what it gains when the tables wait for the end
    of the sweep; word_prior (K,); heard (K,) the weighted field, silence = 1 - its weight. Without a field the normaliser cancels and is left out.
    least_held: what a topic holds at least in the owner's counts, 0 or the discount that was taken off alpha (kernels/fresh.py);
    own_words, moves_words: whether the words' counts contain this message, and whether they change with it. Returns sum x |mu_new - mu_old|.
    """
    zero, one = f4(0), f4(1)
    keep = one if in_place else zero
    K = len(alpha)
    residual = 0.0
    for i in range(last - first):
        w, x = words[first + i], weights[first + i]
        own_side = min(x, cap)
        own_word = own_side if own_words else zero
        weight = silence if silence == one or held == zero else silence / max(held - own_side, least)
        z = zero
        for k in range(K):
            word = max(phi[w, k] - own_word * m[i, k], zero) + word_prior[k]
            owner = max(side[k] - own_side * m[i, k], least_held) + alpha[k]
            value = word * (owner * weight + heard[k]) / max(total[k] - own_word * m[i, k], beta_sum)
            new[k] = value
            z += value
        if step != one:
            z = overstep(m, i, new, z, step)
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
    words, weights, first, last, m, phi, phi_out, where, side, gained, total, alpha, heard, held, least, silence,
    new, gain, row, word_prior, beta_sum, cap, step, least_held, in_place, own_words, moves_words
):  # fmt: skip
    """`renew_dense` for a document that may use the topics where[:L] only; side, total, alpha, word_prior and heard are of these topics."""
    zero, one = f4(0), f4(1)
    keep = one if in_place else zero
    L = m.shape[1]
    residual = 0.0
    for i in range(last - first):
        w, x = words[first + i], weights[first + i]
        own_side = min(x, cap)
        own_word = own_side if own_words else zero
        weight = silence if silence == one or held == zero else silence / max(held - own_side, least)
        for k in range(L):  # alone: scattered loads would keep the next loop from being vectorised
            row[k] = phi[w, where[k]]
        z = zero
        for k in range(L):
            word = max(row[k] - own_word * m[i, k], zero) + word_prior[k]
            owner = max(side[k] - own_side * m[i, k], least_held) + alpha[k]
            value = word * (owner * weight + heard[k]) / max(total[k] - own_word * m[i, k], beta_sum)
            new[k] = value
            z += value
        if step != one:
            z = overstep(m, i, new, z, step)
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
def joint_message(row, side, total, alpha, beta, beta_sum, own_word, own_side, m, new, says, share, prior, plain, silence, heard):
    """m(o, k) of several owners, or of an owner and a field. Eqs. 26 and 30. Returns sum_ok m(o, k).

    m, new, side: (n * L,) owner by owner; says: (L,) scratch for the word's part; share: (n,) mass of each owner in the document;
    heard: (L,) the weighted field; silence: 1 - weight of the field.
    """
    zero = f4(0)
    L = len(row)
    says[:] = zero
    for j in range(len(share)):
        for k in range(L):
            says[k] += m[j * L + k]
    for k in range(L):
        own = own_word * says[k]
        says[k] = (max(row[k] - own, zero) + beta) / max(total[k] - own, beta_sum)
    z = zero
    for j in range(len(share)):
        mass, held, least = zero, zero, zero
        for k in range(L):
            mass += m[j * L + k]
            held += side[j * L + k] + alpha[k]
            least += alpha[k]
        likely = max(share[j] - own_side * mass, zero) + prior if prior > zero else f4(1)
        scale = likely * silence if plain else likely * silence / max(held - own_side * mass, least)
        for k in range(L):
            owner = max(side[j * L + k] - own_side * m[j * L + k], zero) + alpha[k]
            value = says[k] * (owner * scale + likely * heard[k])
            new[j * L + k] = value
            z += value
    return z


# ------------------------------------------------------------------------------------------------------------------- one sweep


class Scratch(NamedTuple):
    """Buffers of one worker. Those of n K numbers hold n owners x L topics, owner by owner."""

    stock: Any  # (K,) topic totals + W beta when the cell was opened
    change: Any  # (K,) what this cell has added to them
    total: Any  # (K,) the sum of both, for the document's topics
    alpha: Any  # (K,) priors of the document's topics
    row: Any  # (K,) counts of one word in the document's topics
    heard: Any  # (K,) the field
    says: Any  # (K,) what the word says, then what it gains; with one owner, the prior of words in the document's topics
    side: Any  # (n K,) what the owners hold
    gained: Any  # (n K,) what the owners gain in this visit
    new: Any  # (n K,) the new message
    gain: Any  # (n K,) what the tables gain by it
    share: Any  # (n,) mass of each owner in the document
    where: Any  # (K,) the document's topics; unsigned, so that an index needs no test for negative numbers


@inlined
def open_cell(read, knobs):
    K, n = len(knobs.alpha), knobs.max_owners
    one, many = buffers(7, K), buffers(5, max(n * K, n))
    for k in range(K):
        one[6, k] = f4(read.totals[k] + knobs.beta_sum)
    return Scratch(
        one[6, :K], one[0, :K], one[1, :K], one[2, :K], one[3, :K], one[4, :K], one[5, :K],
        many[0, : n * K], many[1, : n * K], many[2, : n * K], many[3, : n * K], many[4, :n], np.zeros(K, np.uint32),
    )  # fmt: skip


@inlined
def close_cell(flow, scratch, block):
    for k in range(len(scratch.change)):
        flow.change[block, k] = scratch.change[k]


@inlined
def open_visit(wires, read, fields, knobs, scratch, doc):
    """Gather what a visit of `doc` needs. Returns `shape`."""
    n, L, first, listed = shape(wires, doc, len(knobs.alpha))
    if listed:
        for k in range(L):
            t = wires.topics[first + k]
            scratch.total[k] = scratch.stock[t] + scratch.change[t]
    else:
        for k in range(L):
            scratch.total[k] = scratch.stock[k] + scratch.change[k]
    gather(knobs.alpha.reshape(1, -1), 0, wires.topics, first, listed, L, scratch.alpha)
    for j in range(n):
        pair = wires.slot_ptr[doc] + j
        gather(read.theta, wires.slots[pair], wires.topics, first, listed, L, scratch.side[j * L : (j + 1) * L])
        scratch.share[j] = read.share[pair]
    if fields.weight[doc] > f4(0):
        gather(fields.message, doc, wires.topics, first, listed, L, scratch.heard)
    else:
        scratch.heard[:] = f4(0)
    return n, L, first, listed


@inlined
def close_visit(wires, write, scratch, doc, n, L, first, listed, moves_totals):
    """Give the owners what they gained, and note it for the totals of the topics."""
    for j in range(n):
        gained = scratch.gained[j * L : (j + 1) * L]
        scatter_add(write.theta, wires.slots[wires.slot_ptr[doc] + j], wires.topics, first, listed, L, gained)
        if not moves_totals:
            continue
        if listed:
            for k in range(L):
                scratch.change[wires.topics[first + k]] += gained[k]
        else:
            for k in range(L):
                scratch.change[k] += gained[k]


@inlined
def _renew_joint(wires, read, write, flow, fields, knobs, scratch, v, n, L, first, listed):
    """Renew the messages of a visit with several owners. Returns sum x |mu_new - mu_old|."""
    zero, one = f4(0), f4(1)
    doc, begin, end, at = wires.visit_doc[v], wires.visit_edge[v], wires.visit_edge[v + 1], wires.visit_message[v]
    words, weights, topics, phi, phi_out, mu = wires.edge_word, wires.edge_x, wires.topics, read.phi, write.phi, flow.mu
    side, gained, new, gain = scratch.side[: n * L], scratch.gained[: n * L], scratch.new[: n * L], scratch.gain[: n * L]
    row, says, share, heard = scratch.row[:L], scratch.says[:L], scratch.share[:n], scratch.heard[:L]
    total, alpha, shares, pair = scratch.total[:L], scratch.alpha[:L], write.share, wires.slot_ptr[doc]
    beta, beta_sum, prior, silence = f4(knobs.beta), f4(knobs.beta_sum), f4(knobs.owner_prior), one - fields.weight[doc]
    in_place, frozen, plain, cap, step = knobs.in_place, knobs.frozen_words, knobs.plain_side, f4(knobs.own_cap), f4(knobs.step)
    keep = one if in_place else zero
    residual = 0.0
    for e in range(begin, end):
        w, x = words[e], weights[e]
        m = mu[at : at + n * L]
        at += n * L
        own_side = min(x, cap)
        own_word = zero if frozen else own_side
        gather(phi, w, topics, first, listed, L, row)
        z = joint_message(row, side, total, alpha, beta, beta_sum, own_word, own_side, m, new, says, share, prior, plain, silence, heard)
        if step != one:
            z = overstep(m.reshape(1, n * L), 0, new, z, step)
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
        _count_shares(shares, pair, share, gain, L, in_place)
        if not frozen:
            says[:] = zero
            for j in range(n):
                for k in range(L):
                    says[k] += gain[j * L + k]
            scatter_add(phi_out, w, topics, first, listed, L, says)
    return residual


@inlined
def _visit_singles(wires, read, write, flow, fields, knobs, scratch, begin, end):
    """Visits flow.order[begin:end], all to documents of one owner."""
    zero, one = f4(0), f4(1)
    K = len(knobs.alpha)
    order, visit_doc, visit_edge, visit_message = flow.order, wires.visit_doc, wires.visit_edge, wires.visit_message
    slot_ptr, slots, topic_ptr, topics = wires.slot_ptr, wires.slots, wires.topic_ptr, wires.topics
    words, weights, mu, residual = wires.edge_word, wires.edge_x, flow.mu, flow.residual
    theta, phi, theta_out, phi_out, share_out = read.theta, read.phi, write.theta, write.phi, write.share
    message, field_weight, prior = fields.message, fields.weight, knobs.alpha
    stock, change, total, alpha, heard = scratch.stock, scratch.change, scratch.total, scratch.alpha, scratch.heard
    side, gained, new, gain, where = scratch.side, scratch.gained, scratch.new, scratch.gain, scratch.where
    row, word = scratch.row, scratch.says
    word_prior, beta_sum, cap, step = knobs.word_prior, f4(knobs.beta_sum), f4(knobs.own_cap), f4(knobs.step)
    in_place, frozen, moves_totals = knobs.in_place, knobs.frozen_words, knobs.in_place and not knobs.frozen_words
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
                total[k] = stock[t] + change[t]
                alpha[k] = prior[t]
                word[k] = word_prior[t]
                side[k] = theta[slot, t]
        else:
            L = K
            for k in range(K):
                total[k] = stock[k] + change[k]
            for k in range(K):
                alpha[k] = prior[k]
            for k in range(K):
                side[k] = theta[slot, k]
        for k in range(L):
            gained[k] = zero
        for k in range(L):
            heard[k] = zero
        held, least = zero, zero
        if field_weight[doc] > zero:
            for k in range(L):
                heard[k] = message[doc, where[k]] if listed else message[doc, k]
            if not knobs.plain_side:
                for k in range(L):
                    held += side[k] + alpha[k]
                    least += alpha[k]
        m = mu[at : at + (last - first) * L].reshape(last - first, L)
        if listed:
            moved = renew_listed(
                words, weights, first, last, m, phi, phi_out, where, side, gained, total, alpha, heard, held, least, one - field_weight[doc],
                new, gain, row, word, beta_sum, cap, step, zero, in_place, not frozen, not frozen,
            )  # fmt: skip
        else:
            moved = renew_dense(
                words, weights, first, last, m, phi, phi_out, side, gained, total, alpha, heard, held, least, one - field_weight[doc],
                new, gain, word_prior, beta_sum, cap, step, zero, in_place, not frozen, not frozen,
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
def _visit_joint(wires, read, write, flow, fields, knobs, scratch, v):
    """A visit to a document of several owners. Returns sum x |mu_new - mu_old|."""
    doc = wires.visit_doc[v]
    n, L, first, listed = open_visit(wires, read, fields, knobs, scratch, doc)
    for i in range(n * L):
        scratch.gained[i] = scratch.side[i] if knobs.in_place else f4(0)
    residual = _renew_joint(wires, read, write, flow, fields, knobs, scratch, v, n, L, first, listed)
    if knobs.in_place:
        for i in range(n * L):
            scratch.gained[i] = scratch.side[i] - scratch.gained[i]
    close_visit(wires, write, scratch, doc, n, L, first, listed, knobs.in_place and not knobs.frozen_words)
    return residual


@inlined
def _count_shares(table, first, share, gain, L, in_place):
    """Add to each owner's mass in the document what this edge gave it."""
    for j in range(len(share)):
        mass = f4(0)
        for k in range(L):
            mass += gain[j * L + k]
        table[first + j] = max(table[first + j] + mass, f4(0))
        if in_place:
            share[j] = table[first + j]


@inlined
def _next_joint(wires, flow, begin, end):
    """The first visit from flow.order[begin] on to a document of several owners."""
    order, visit_doc, slot_ptr = flow.order, wires.visit_doc, wires.slot_ptr
    for i in range(begin, end):
        doc = visit_doc[order[i]]
        if slot_ptr[doc + 1] - slot_ptr[doc] > 1:
            return i
    return end


@compiled
def sweep_stage(wires, read, write, flow, fields, knobs, stage, worker, n_workers):
    """Pass the messages of this worker's cells in one stage: cell (p, p + stage) for each of its document blocks p. All documents have one owner.

    In place, `write` is `read`. Otherwise messages come from `read` and their counts are added to `write`.
    """
    for p in range(worker, knobs.n_doc_blocks, n_workers):
        scratch = open_cell(read, knobs)
        cell = p * knobs.n_word_blocks + (p + stage) % knobs.n_word_blocks
        begin, end = wires.cell_visit[cell], wires.cell_visit[cell + 1]
        _visit_singles(wires, read, write, flow, fields, knobs, scratch, begin, end)
        if knobs.in_place:
            close_cell(flow, scratch, p)


@compiled
def joint_stage(wires, read, write, flow, fields, knobs, stage, worker, n_workers):
    """`sweep_stage` where documents may have several owners. A kernel of its own, because it takes long to compile and LDA never needs it."""
    for p in range(worker, knobs.n_doc_blocks, n_workers):
        scratch = open_cell(read, knobs)
        cell = p * knobs.n_word_blocks + (p + stage) % knobs.n_word_blocks
        i, end = wires.cell_visit[cell], wires.cell_visit[cell + 1]
        while i < end:
            joint = _next_joint(wires, flow, i, end)
            _visit_singles(wires, read, write, flow, fields, knobs, scratch, i, joint)
            if joint < end:
                v = flow.order[joint]
                flow.residual[v] = _visit_joint(wires, read, write, flow, fields, knobs, scratch, v)
            i = joint + 1
        if knobs.in_place:
            close_cell(flow, scratch, p)
