"""The update of one message at a time: documents of one owner, with all topics or a list of them.

Eq. 7; eq. 21 without removal of the own message; eq. 30 with a field. Documents of several owners:
joint.py.
"""

from __future__ import annotations

from topoi.infer.kernels.primitives import f4, inlined

__all__ = ["over_relax", "renew_dense", "renew_fresh", "renew_listed"]


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
    new, gain, word_prior, beta_sum, cap, relaxation, in_place, moves_words
):  # fmt: skip
    """Update the messages m of edges first to last, with one owner and all topics.

    Eq. 7; eq. 21 with cap = 0; eq. 30 with a field. Returns sum x |mu_new - mu_old|.

    - side (K,): counts of the owner; held: their sum with the prior, or 0 where there is no field,
      since then the normaliser cancels; least: the sum of the prior;
    - gained (K,): what the owner gains, where tables change only at the end of the sweep;
    - field_term (K,): the field times its weight; own_weight: 1 - that weight;
    - moves_words: whether the counts of words contain this message and change with it.
    """
    zero, one = f4(0), f4(1)
    keep = one if in_place else zero
    K = m.shape[1]
    residual = 0.0
    for i in range(last - first):
        w, x = words[first + i], weights[first + i]
        own_side = min(x, cap)
        own_word = own_side if moves_words else zero
        weight = (
            own_weight
            if own_weight == one or held == zero
            else own_weight / max(held - own_side, least)
        )
        z = zero
        for k in range(K):
            word = max(phi[w, k] - own_word * m[i, k], zero) + word_prior[k]
            owner = max(side[k] - own_side * m[i, k], zero) + alpha[k]
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
    new, gain, row, word_prior, beta_sum, cap, relaxation, in_place, moves_words
):  # fmt: skip
    """`renew_dense` for a document that may use the topics where[:L] only; side, total, alpha,
    word_prior and field_term are of these topics.
    """
    zero, one = f4(0), f4(1)
    keep = one if in_place else zero
    L = m.shape[1]
    residual = 0.0
    for i in range(last - first):
        w, x = words[first + i], weights[first + i]
        own_side = min(x, cap)
        own_word = own_side if moves_words else zero
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
            owner = max(side[k] - own_side * m[i, k], zero) + alpha[k]
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
def renew_fresh(
    words, weights, first, last, m, phi, phi_held, lists, where, side, gained, inverse, alpha,
    field_term, held, least, own_weight, new, gain, row, word_prior, cap, least_held, in_place,
    by_part
):  # fmt: skip
    """Update the messages m of a document that is inferred afresh (kernels/fresh.py).

    As `renew_dense`, or `renew_listed` where there are `lists`, but word counts do not
    change. They contain the edge's last message, which is not stored: it is taken to be (by_part)
    the edge's part of the phi_held (W,) that the word holds, or its current message.

    inverse (K,): 1 / topic totals with the prior. least_held: what a topic holds at least in the
    owner's counts, 0 or the discount that was taken off alpha.
    """
    zero, one = f4(0), f4(1)
    keep = one if in_place else zero
    L = m.shape[1]
    residual = 0.0
    for i in range(last - first):
        w, x = words[first + i], weights[first + i]
        own = min(x, cap)
        others = max(one - own / phi_held[w], zero) if by_part else one
        current = zero if by_part else own
        weight = (
            own_weight if own_weight == one or held == zero else own_weight / max(held - own, least)
        )
        if lists is not None:
            for k in range(L):
                row[k] = phi[w, where[k]]
        else:
            for k in range(L):
                row[k] = phi[w, k]
        z = zero
        for k in range(L):
            word = (max(row[k] - current * m[i, k], zero) * others + word_prior[k]) * inverse[k]
            owner = max(side[k] - own * m[i, k], least_held) + alpha[k]
            value = word * (owner * weight + field_term[k])
            new[k] = value
            z += value
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
    return residual
