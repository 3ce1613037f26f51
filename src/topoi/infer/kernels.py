"""The compiled heart: arrays in, arrays changed in place (`bundles.py` names them).

Each function here has its plain NumPy twin in `reference.py`. Read that one first: it says the same in a tenth of the lines.
Three habits explain the look of this file (docs/design.md has the measurements):

- one loop per written array, so that LLVM vectorises each of them;
- scalars are made single precision before they meet a loop;
- integer codes and data choose what happens, never a function passed in, so that the disk cache works in every process.

Letters: `mu` messages, `theta` owner x topic counts, `phi` word x topic counts, `totals` topic totals, `x` edge weight,
`L` number of topics a document may use (all of them, or the length of its list).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

f4 = np.float32
u8 = np.uint64

compiled = njit(fastmath=True, error_model="numpy", nogil=True, cache=True)


# ---------------------------------------------------------------------------------------------------------------- random numbers


@compiled
def _hash(seed, number):
    """SplitMix64 of a counter: the same (seed, number) gives the same bits, in any order and on any thread."""
    h = u8(seed) + (u8(number) + u8(1)) * u8(0x9E3779B97F4A7C15)
    h = (h ^ (h >> u8(30))) * u8(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> u8(27))) * u8(0x94D049BB133111EB)
    return h ^ (h >> u8(31))


@compiled
def _uniform(seed, number):
    """A number in [0, 1)."""
    return (_hash(seed, number) >> u8(11)) * (1.0 / 9007199254740992.0)


@compiled
def uniforms(seed, numbers):
    """_uniform for each of `numbers`."""
    out = np.empty(len(numbers))
    for i in range(len(numbers)):
        out[i] = _uniform(seed, numbers[i])
    return out


# ------------------------------------------------------------------------------------------------------------------------- rows


@compiled
def _shape(wires, doc, K):
    """Owners and topics of a document: n, L, where its topic list starts, whether it has one."""
    first, last = wires.topic_ptr[doc], wires.topic_ptr[doc + 1]
    return wires.slot_ptr[doc + 1] - wires.slot_ptr[doc], last - first if last > first else K, first, last > first


@compiled
def _gather(row, topics, first, listed, L, out):
    """out[:L] = row[topics of the document]"""
    if listed:
        for k in range(L):
            out[k] = row[topics[first + k]]
    else:
        for k in range(L):
            out[k] = row[k]


@compiled
def _scatter_add(row, topics, first, listed, L, change):
    """row[topics of the document] += change[:L], never below 0 (rounding)"""
    zero = f4(0)
    if listed:
        for k in range(L):
            t = topics[first + k]
            row[t] = max(row[t] + change[k], zero)
    else:
        for k in range(L):
            row[k] = max(row[k] + change[k], zero)


# --------------------------------------------------------------------------------------------------------------- the two updates


@compiled
def _renew_single(
    words, weights, first, last, m, phi, phi_out, side, gained, total, alpha, heard, held, silence,
    new, gain, beta, beta_sum, cap, in_place, frozen
):  # fmt: skip
    """Renew the messages m of edges first to last, with one owner and all topics. Eq. 7; eq. 21 with cap = 0; eq. 30 with a field.

    side (K,) is what the owner holds, `held` its sum with the prior (0: no normaliser); `gained` what it gains when the tables wait for the end
    of the sweep; heard (K,) the weighted field, silence = 1 - its weight. Without a field the normaliser cancels and is left out.
    Returns sum x |mu_new - mu_old|.
    """
    zero, one = f4(0), f4(1)
    keep = one if in_place else zero
    K = len(alpha)
    residual = 0.0
    for e in range(first, last):
        w, x = words[e], weights[e]
        i = e - first
        own_side = min(x, cap)
        own_word = zero if frozen else own_side
        weight = silence if silence == one or held == zero else silence / (held - own_side)
        z = zero
        for k in range(K):
            word = max(phi[w, k] - own_word * m[i, k], zero) + beta
            owner = max(side[k] - own_side * m[i, k], zero) + alpha[k]
            value = word * (owner * weight + heard[k]) / max(total[k] - own_word * m[i, k], beta_sum)
            new[k] = value
            z += value
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
        if not frozen:
            for k in range(K):
                phi_out[w, k] = max(phi_out[w, k] + gain[k], zero)
    return residual


@compiled
def _joint_message(row, side, total, alpha, beta, beta_sum, own_word, own_side, m, new, says, share, prior, plain, silence, heard):
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
        mass, held = zero, zero
        for k in range(L):
            mass += m[j * L + k]
            held += side[j * L + k] + alpha[k]
        likely = max(share[j] - own_side * mass, zero) + prior if prior > zero else f4(1)
        scale = likely * silence if plain else likely * silence / (held - own_side * mass)
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
    says: Any  # (K,) what the word says, then what it gains
    side: Any  # (n K,) what the owners hold
    gained: Any  # (n K,) what the owners gain in this visit
    new: Any  # (n K,) the new message
    gain: Any  # (n K,) what the tables gain by it
    share: Any  # (n,) mass of each owner in the document


@compiled
def _open_cell(read, knobs):
    K, n = len(knobs.alpha), knobs.max_owners
    stock = (read.totals + knobs.beta_sum).astype(f4)
    one = np.zeros((6, K), f4)
    many = np.zeros((4, n * K), f4)
    return Scratch(stock, one[0], one[1], one[2], one[3], one[4], one[5], many[0], many[1], many[2], many[3], np.zeros(n, f4))


@compiled
def _close_cell(flow, scratch, block):
    for k in range(len(scratch.change)):
        flow.change[block, k] = scratch.change[k]


@compiled
def _open_visit(wires, read, fields, knobs, scratch, doc):
    """Gather what a visit of `doc` needs. Returns `_shape`."""
    n, L, first, listed = _shape(wires, doc, len(knobs.alpha))
    if listed:
        for k in range(L):
            t = wires.topics[first + k]
            scratch.total[k] = scratch.stock[t] + scratch.change[t]
    else:
        for k in range(L):
            scratch.total[k] = scratch.stock[k] + scratch.change[k]
    _gather(knobs.alpha, wires.topics, first, listed, L, scratch.alpha)
    for j in range(n):
        pair = wires.slot_ptr[doc] + j
        _gather(read.theta[wires.slots[pair]], wires.topics, first, listed, L, scratch.side[j * L : (j + 1) * L])
        scratch.share[j] = read.share[pair]
    if fields.weight[doc] > f4(0):
        _gather(fields.message[doc], wires.topics, first, listed, L, scratch.heard)
    else:
        scratch.heard[:] = f4(0)
    return n, L, first, listed


@compiled
def _close_visit(wires, write, scratch, doc, n, L, first, listed, moves_totals):
    """Give the owners what they gained, and note it for the totals of the topics."""
    for j in range(n):
        gained = scratch.gained[j * L : (j + 1) * L]
        _scatter_add(write.theta[wires.slots[wires.slot_ptr[doc] + j]], wires.topics, first, listed, L, gained)
        if not moves_totals:
            continue
        if listed:
            for k in range(L):
                scratch.change[wires.topics[first + k]] += gained[k]
        else:
            for k in range(L):
                scratch.change[k] += gained[k]


@compiled
def _renew_joint(wires, read, write, flow, fields, knobs, scratch, v, n, L, first, listed):
    """Renew the messages of a visit with several owners or a topic list. Returns sum x |mu_new - mu_old|."""
    zero, one = f4(0), f4(1)
    doc = wires.visit_doc[v]
    keep = one if knobs.in_place else zero
    side, gained, new, gain = scratch.side[: n * L], scratch.gained[: n * L], scratch.new[: n * L], scratch.gain[: n * L]
    row, says, share = scratch.row[:L], scratch.says[:L], scratch.share[:n]
    residual = 0.0
    for e in range(wires.visit_edge[v], wires.visit_edge[v + 1]):
        w, x = wires.edge_word[e], wires.edge_x[e]
        at = wires.visit_message[v] + (e - wires.visit_edge[v]) * n * L
        m = flow.mu[at : at + n * L]
        own_side = min(x, f4(knobs.own_cap))
        own_word = zero if knobs.frozen_words else own_side
        _gather(read.phi[w], wires.topics, first, listed, L, row)
        z = _joint_message(
            row, side, scratch.total[:L], scratch.alpha[:L], f4(knobs.beta), f4(knobs.beta_sum), own_word, own_side, m, new, says, share,
            f4(knobs.owner_prior), knobs.plain_side, one - fields.weight[doc], scratch.heard[:L],
        )  # fmt: skip
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
        if knobs.in_place:
            for i in range(n * L):
                side[i] = max(side[i] + gain[i], zero)
        else:
            for i in range(n * L):
                gained[i] += gain[i]
        _count_shares(write.share, wires.slot_ptr[doc], share, gain, L, knobs.in_place)
        if not knobs.frozen_words:
            says[:] = zero
            for j in range(n):
                for k in range(L):
                    says[k] += gain[j * L + k]
            _scatter_add(write.phi[w], wires.topics, first, listed, L, says)
    return residual


@compiled
def _visit_single(wires, read, write, flow, fields, knobs, scratch, v, slot):
    """A visit to a document of one owner who may use all topics. Returns sum x |mu_new - mu_old|."""
    zero = f4(0)
    K = len(knobs.alpha)
    doc = wires.visit_doc[v]
    held, out = read.theta[slot], write.theta[slot]
    total, stock, change, side, gained = scratch.total, scratch.stock, scratch.change, scratch.side[:K], scratch.gained[:K]
    for k in range(K):
        total[k] = stock[k] + change[k]
    for k in range(K):
        side[k] = held[k]
    for k in range(K):
        gained[k] = zero
    mass = zero
    if fields.weight[doc] > zero:
        scratch.heard[:] = fields.message[doc]
        if not knobs.plain_side:
            for k in range(K):
                mass += side[k] + knobs.alpha[k]
    else:
        scratch.heard[:] = zero
    first, last, at = wires.visit_edge[v], wires.visit_edge[v + 1], wires.visit_message[v]
    messages = flow.mu[at : at + (last - first) * K].reshape(last - first, K)
    residual = _renew_single(
        wires.edge_word, wires.edge_x, first, last, messages, read.phi, write.phi, side, gained, total, knobs.alpha,
        scratch.heard, mass, f4(1) - fields.weight[doc], scratch.new, scratch.gain,
        f4(knobs.beta), f4(knobs.beta_sum), f4(knobs.own_cap), knobs.in_place, knobs.frozen_words,
    )  # fmt: skip
    if knobs.in_place:
        if not knobs.frozen_words:
            for k in range(K):
                change[k] += side[k] - held[k]
        for k in range(K):
            out[k] = side[k]
    else:
        mass = zero
        for k in range(K):
            out[k] += gained[k]
            mass += gained[k]
        write.share[wires.slot_ptr[doc]] += mass
    return residual


@compiled
def _visit_joint(wires, read, write, flow, fields, knobs, scratch, v):
    """A visit to any other document. Returns sum x |mu_new - mu_old|."""
    doc = wires.visit_doc[v]
    n, L, first, listed = _open_visit(wires, read, fields, knobs, scratch, doc)
    for i in range(n * L):
        scratch.gained[i] = scratch.side[i] if knobs.in_place else f4(0)
    residual = _renew_joint(wires, read, write, flow, fields, knobs, scratch, v, n, L, first, listed)
    if knobs.in_place:
        for i in range(n * L):
            scratch.gained[i] = scratch.side[i] - scratch.gained[i]
    _close_visit(wires, write, scratch, doc, n, L, first, listed, knobs.in_place and not knobs.frozen_words)
    return residual


@compiled
def _count_shares(table, first, share, gain, L, in_place):
    """Add to each owner's mass in the document what this edge gave it."""
    for j in range(len(share)):
        mass = f4(0)
        for k in range(L):
            mass += gain[j * L + k]
        table[first + j] = max(table[first + j] + mass, f4(0))
        if in_place:
            share[j] = table[first + j]


@compiled
def _weight_of(wires, v):
    """Sum of the edge weights of a visit."""
    weight = 0.0
    for e in range(wires.visit_edge[v], wires.visit_edge[v + 1]):
        weight += wires.edge_x[e]
    return weight


@compiled
def sweep_stage(wires, read, write, flow, fields, knobs, stage, worker, n_workers):
    """Pass the messages of this worker's cells in one stage: cell (p, p + stage) for each of its document blocks p.

    In place, `write` is `read`. Otherwise messages come from `read` and their counts are added to `write`.
    """
    for p in range(worker, knobs.n_doc_blocks, n_workers):
        scratch = _open_cell(read, knobs)
        cell = p * knobs.n_word_blocks + (p + stage) % knobs.n_word_blocks
        for i in range(wires.cell_visit[cell], wires.cell_visit[cell + 1]):
            v = flow.order[i]
            if knobs.rest > 0.0 and flow.residual[v] <= knobs.rest * _weight_of(wires, v):
                if not knobs.in_place:
                    _count_visit(wires, write, flow, knobs, v, scratch.gain)
                continue
            doc = wires.visit_doc[v]
            pair, listed = wires.slot_ptr[doc], wires.topic_ptr[doc + 1] > wires.topic_ptr[doc]
            if wires.slot_ptr[doc + 1] - pair == 1 and not listed:
                flow.residual[v] = _visit_single(wires, read, write, flow, fields, knobs, scratch, v, wires.slots[pair])
            else:
                flow.residual[v] = _visit_joint(wires, read, write, flow, fields, knobs, scratch, v)
        if knobs.in_place:
            _close_cell(flow, scratch, p)


# ----------------------------------------------------------------------------------------------------------------- Gibbs sampling


@compiled
def _draw(p, uniform):
    """Index i with probability p[i] / sum p."""
    rest = np.float64(0)
    for i in range(len(p)):
        rest += p[i]
    rest *= uniform
    last = 0
    for i in range(len(p)):
        if p[i] > f4(0):  # padding topics cannot be drawn
            last = i
            rest -= p[i]
            if rest < 0.0:
                break
    return last


@compiled
def _gibbs_visit(wires, read, write, flow, fields, knobs, scratch, silent, v):
    """Draw the topic (and owner) of each token of one document inside one cell. Returns 2 for each token that changed."""
    zero, one = f4(0), f4(1)
    doc = wires.visit_doc[v]
    n, L, first, listed = _open_visit(wires, read, fields, knobs, scratch, doc)
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
        _gather(table, wires.topics, first, listed, L, row)
        if n == 1 and fields.weight[doc] == zero:
            for k in range(L):
                new[k] = (row[k] + beta) * (side[k] + alpha[k]) / max(total[k], beta_sum)
        else:
            _joint_message(
                row, side, total, alpha, beta, beta_sum, zero, zero, none, new, says, share,
                f4(knobs.owner_prior), False, one - fields.weight[doc], scratch.heard[:L],
            )  # fmt: skip
        now = _draw(new, _uniform(knobs.seed, wires.edge_id[e]))
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
    _close_visit(wires, write, scratch, doc, n, L, first, listed, not knobs.frozen_words)
    return moved


@compiled
def gibbs_stage(wires, read, write, flow, fields, knobs, stage, worker, n_workers):
    """Collapsed Gibbs (eq. 23) in this worker's cells of one stage: each edge is one token and holds one (owner, topic)."""
    silent = np.zeros(len(knobs.alpha) * knobs.max_owners, f4)
    for p in range(worker, knobs.n_doc_blocks, n_workers):
        scratch = _open_cell(read, knobs)
        cell = p * knobs.n_word_blocks + (p + stage) % knobs.n_word_blocks
        for i in range(wires.cell_visit[cell], wires.cell_visit[cell + 1]):
            v = flow.order[i]
            flow.residual[v] = _gibbs_visit(wires, read, write, flow, fields, knobs, scratch, silent, v)
        _close_cell(flow, scratch, p)


# -------------------------------------------------------------------------------------------------------------- start and rebuild


@compiled
def _start_message(start, word_row, alpha, seed, number, n, L, m):
    """Fill the first message of an edge. start: 1 uniform on the simplex, 2 what the word says under the prior."""
    z = f4(0)
    for j in range(n):
        for k in range(L):
            value = alpha[k] * word_row[k]
            if start == 1:
                value = f4(-np.log(1.0 - _uniform(_hash(seed, number), j * L + k))) if alpha[k] > f4(0) else f4(0)
            m[j * L + k] = value
            z += value
    for i in range(n * L):
        m[i] /= z


@compiled
def start_stage(wires, flow, knobs, word_topic, start, stage, worker, n_workers):
    """First messages of this worker's cells. start: 0 one-hot, or as in `_start_message`; word_topic: (W, K), or (1, K) for all words.

    `flow.mu` holds zeros, so a one-hot message is one number.
    """
    K = len(knobs.alpha)
    alpha, row = np.zeros(K, f4), np.zeros(K, f4)
    drawn = np.zeros(K * knobs.max_owners, f4)
    n_topics = (knobs.alpha > f4(0)).sum()
    for p in range(worker, knobs.n_doc_blocks, n_workers):
        cell = p * knobs.n_word_blocks + (p + stage) % knobs.n_word_blocks
        for v in range(wires.cell_visit[cell], wires.cell_visit[cell + 1]):
            n, L, first, listed = _shape(wires, wires.visit_doc[v], K)
            usable = L if listed else n_topics
            _gather(knobs.alpha, wires.topics, first, listed, L, alpha)
            for e in range(wires.visit_edge[v], wires.visit_edge[v + 1]):
                uniform = _uniform(knobs.seed, wires.edge_id[e])
                at = wires.visit_message[v] + (e - wires.visit_edge[v]) * n * L
                if start == 0:
                    pick = int(uniform * n * usable)
                    i = (pick // usable) * L + pick % usable
                    if len(flow.z):
                        flow.z[e] = i
                    else:
                        flow.mu[at + i] = f4(1)
                    continue
                m = drawn[: n * L] if len(flow.z) else flow.mu[at : at + n * L]
                _gather(word_topic[wires.edge_word[e] % len(word_topic)], wires.topics, first, listed, L, row)
                _start_message(start, row, alpha, knobs.seed, wires.edge_id[e], n, L, m)
                if len(flow.z):
                    flow.z[e] = _draw(m, uniform)


@compiled
def _count_drawn(wires, write, knobs, doc, w, i, L, first, listed):
    """Add one token of word w to entry i of the document's (owner, topic) table."""
    pair = wires.slot_ptr[doc] + i // L
    t = wires.topics[first + i % L] if listed else i % L
    write.theta[wires.slots[pair], t] += f4(1)
    write.share[pair] += f4(1)
    if not knobs.frozen_words:
        write.phi[w, t] += f4(1)


@compiled
def _count_message(wires, write, knobs, doc, w, x, m, n, L, first, listed, gain):
    """theta, phi, share += x m. gain: (L,) scratch"""
    for j in range(n):
        pair = wires.slot_ptr[doc] + j
        mass = f4(0)
        for k in range(L):
            value = x * m[j * L + k]
            gain[k] = value
            mass += value
        _scatter_add(write.theta[wires.slots[pair]], wires.topics, first, listed, L, gain)
        write.share[pair] += mass
        if not knobs.frozen_words:
            _scatter_add(write.phi[w], wires.topics, first, listed, L, gain)


@compiled
def _count_single(words, weights, first, m, theta, phi, frozen):
    """theta (K,), phi += x m for the edges from `first` on, with one owner and all topics. Returns the mass."""
    mass = f4(0)
    for i in range(m.shape[0]):
        w, x = words[first + i], weights[first + i]
        for k in range(len(theta)):
            theta[k] += x * m[i, k]
        if not frozen:
            for k in range(len(theta)):
                phi[w, k] += x * m[i, k]
        mass += x
    return mass


@compiled
def _count_visit(wires, write, flow, knobs, v, gain):
    """Count the messages of one visit into `write`. gain: (K,) scratch"""
    doc = wires.visit_doc[v]
    n, L, first, listed = _shape(wires, doc, len(knobs.alpha))
    begin, end, at = wires.visit_edge[v], wires.visit_edge[v + 1], wires.visit_message[v]
    if n == 1 and not listed and not len(flow.z):
        m = flow.mu[at : at + (end - begin) * L].reshape(end - begin, L)
        pair = wires.slot_ptr[doc]
        row = write.theta[wires.slots[pair]]
        write.share[pair] += _count_single(wires.edge_word, wires.edge_x, begin, m, row, write.phi, knobs.frozen_words)
        return
    for e in range(begin, end):
        w, x = wires.edge_word[e], wires.edge_x[e]
        if len(flow.z):
            _count_drawn(wires, write, knobs, doc, w, flow.z[e], L, first, listed)
        else:
            message = flow.mu[at + (e - begin) * n * L : at + (e - begin + 1) * n * L]
            _count_message(wires, write, knobs, doc, w, x, message, n, L, first, listed, gain)


@compiled
def count_stage(wires, write, flow, knobs, stage, worker, n_workers):
    """Count the messages of this worker's cells into `write`: the tables anew, without the drift of many small differences."""
    gain = np.zeros(len(knobs.alpha), f4)
    for p in range(worker, knobs.n_doc_blocks, n_workers):
        cell = p * knobs.n_word_blocks + (p + stage) % knobs.n_word_blocks
        for v in range(wires.cell_visit[cell], wires.cell_visit[cell + 1]):
            _count_visit(wires, write, flow, knobs, v, gain)


@compiled
def merge_shared(theta, known, owner_ptr, slots):
    """Owners with rows in several document blocks: known += sum of each row's difference to it; every row becomes the result.

    theta: (slots, K); known: (shared owners, K), what all rows of an owner held before; owner_ptr, slots: rows of each shared owner.
    """
    K = theta.shape[1]
    for o in range(len(known)):
        for k in range(K):
            total = known[o, k]
            for i in range(owner_ptr[o], owner_ptr[o + 1]):
                total += theta[slots[i], k] - known[o, k]
            known[o, k] = max(total, f4(0))
        for i in range(owner_ptr[o], owner_ptr[o + 1]):
            for k in range(K):
                theta[slots[i], k] = known[o, k]
