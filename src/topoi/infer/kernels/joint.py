"""A sweep where documents have several owners (eqs. 26 and 30).

A kernel of its own, because it takes long to compile and LDA never needs it.
"""

from __future__ import annotations

from topoi.infer.kernels.primitives import compiled, f4, gather, inlined, scatter_add
from topoi.infer.kernels.sweeps import pass_cells, visit_singles
from topoi.infer.kernels.updates import over_relax
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
    close_visit,
    open_visit,
)

__all__ = ["joint_message", "joint_stage"]

_visit_single = inlined(visit_singles.py_func)


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
    plain_side,
    own_weight,
    field_term,
):
    """The new message m(o, k) of several owners, or of an owner and a field, not normalised.

    Eqs. 26 and 30. Returns its sum.

    - m, new, side: (n * L,) old and new message, and counts of the owners, owner by owner;
    - word_term: (L,) scratch for the factor of the word;
    - owner_mass: (n,) mass of each owner in the document; prior: its pseudo-count, 0 where owners
      are equally likely;
    - field_term: (L,) the field times its weight; own_weight: 1 - that weight;
    - plain_side: `SweepParams.plain_side`.
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
            if plain_side
            else likely * own_weight / max(held - own_side * mass, least)
        )
        for k in range(L):
            owner = max(side[j * L + k] - own_side * m[j * L + k], zero) + alpha[k]
            value = word_term[k] * (owner * scale + likely * field_term[k])
            new[j * L + k] = value
            z += value
    return z


@inlined
def _visit_joint(arrays, read, write, messages, fields, params, rows, v):
    """A visit to a document of several owners. Returns sum x |mu_new - mu_old|."""
    zero, one = f4(0), f4(1)
    n, L, first, listed = open_visit(arrays, read, fields, params, rows, arrays.visit_doc[v])
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
        rows[SIDE, : n * L],
        rows[GAINED, : n * L],
        rows[NEW, : n * L],
        rows[GAIN, : n * L],
    )
    row, word_term, owner_mass, field_term = (
        rows[ROW, :L],
        rows[WORD_TERM, :L],
        rows[OWNER_MASS, :n],
        rows[FIELD_TERM, :L],
    )
    total, alpha, proportions, pair = (
        rows[TOTAL, :L],
        rows[ALPHA, :L],
        write.owner_mass,
        arrays.slot_ptr[doc],
    )
    beta, beta_sum, prior, own_weight = (
        f4(params.beta),
        f4(params.beta_sum),
        f4(params.owner_prior),
        one - fields.weight[doc],
    )
    in_place, frozen, plain_side, cap, relaxation = (
        params.in_place,
        params.frozen_words,
        params.plain_side,
        f4(params.own_cap),
        f4(params.relaxation),
    )
    keep = one if in_place else zero
    for i in range(n * L):
        gained[i] = side[i] if in_place else zero
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
            plain_side,
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
    if in_place:
        for i in range(n * L):
            gained[i] = side[i] - gained[i]
    close_visit(arrays, write, rows, doc, n, L, first, listed, in_place and not frozen)
    return residual


@inlined
def _count_owner_mass(table, first, owner_mass, gain, L, in_place):
    """Add what this edge gains to the mass of each owner in the document."""
    for j in range(len(owner_mass)):
        mass = f4(0)
        for k in range(L):
            mass += gain[j * L + k]
        table[first + j] = max(table[first + j] + mass, f4(0))
        if in_place:
            owner_mass[j] = table[first + j]


@compiled
def visit_any(arrays, lists, read, write, messages, fields, params, rows, where, begin, end):
    """`visit_singles` where documents may have several owners."""
    for i in range(begin, end):
        v = messages.order[i]
        doc = arrays.visit_doc[v]
        if arrays.slot_ptr[doc + 1] - arrays.slot_ptr[doc] > 1:
            messages.residual[v] = _visit_joint(
                arrays, read, write, messages, fields, params, rows, v
            )
        else:
            _visit_single(
                arrays, lists, read, write, messages, fields, params, rows, where, i, i + 1
            )


def joint_stage(*args):
    """`sweep_stage` where documents may have several owners."""
    pass_cells(visit_any, *args)
