"""What sweeps do around the updates: buffers of a worker, opening and closing cells and visits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topoi.infer.kernels.primitives import buffers, f4, gather, inlined, scatter_add, shape

__all__ = ["Scratch", "close_cell", "close_visit", "open_cell", "open_visit"]


class Scratch(NamedTuple):
    """Buffers of one worker. Those of n K numbers hold n owners x L topics, owner by owner."""

    base_total: np.ndarray  # (K,) topic totals + W beta when the cell was opened
    change: np.ndarray  # (K,) what this cell has added to them
    total: np.ndarray  # (K,) the sum of both, for the document's topics
    alpha: np.ndarray  # (K,) priors of the document's topics
    row: np.ndarray  # (K,) counts of one word in the document's topics
    field_term: np.ndarray  # (K,) the field times its weight
    # (K,) the factor of the word, then what its counts gain; with one owner, the prior of words in
    # the document's topics
    word_term: np.ndarray
    side: np.ndarray  # (n K,) counts of the owners
    gained: np.ndarray  # (n K,) what the owners gain in this visit
    new: np.ndarray  # (n K,) the new message
    gain: np.ndarray  # (n K,) what the tables gain by it
    owner_mass: np.ndarray  # (n,) mass of each owner in the document
    # (K,) the document's topics; unsigned, so that an index needs no test for negative numbers
    where: np.ndarray


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
    """Add what the owners gained to their counts, and to the cell's change of topic totals."""
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
