"""What sweeps do around the updates: opening and closing cells and visits.

`rows` are the buffers of one worker, `Scratch.numbers[worker]`, each with room for n K numbers:
n owners x L topics, owner by owner.
"""

from __future__ import annotations

from topoi.infer.kernels.primitives import f4, gather, inlined, scatter_add, shape

__all__ = ["close_cell", "close_visit", "open_cell", "open_visit"]

BASE_TOTAL = 0  # (K,) topic totals + W beta when the cell was opened
CHANGE = 1  # (K,) what this cell has added to them
TOTAL = 2  # (K,) the sum of both, for the document's topics
ALPHA = 3  # (K,) priors of the document's topics
ROW = 4  # (K,) counts of one word in the document's topics
FIELD_TERM = 5  # (K,) the field times its weight
# (K,) the factor of the word, then what its counts gain; with one owner, the prior of words in the
# document's topics
WORD_TERM = 6
SIDE = 7  # (n K,) counts of the owners
GAINED = 8  # (n K,) what the owners gain in this visit
NEW = 9  # (n K,) the new message
GAIN = 10  # (n K,) what the tables gain by it
OWNER_MASS = 11  # (n,) mass of each owner in the document


@inlined
def open_cell(read, params, rows):
    base_total, change = rows[BASE_TOTAL], rows[CHANGE]
    for k in range(len(params.alpha)):
        base_total[k] = f4(read.totals[k] + params.beta_sum)
        change[k] = f4(0)


@inlined
def close_cell(messages, rows, block):
    change = rows[CHANGE]
    for k in range(messages.change.shape[1]):
        messages.change[block, k] = change[k]


@inlined
def open_visit(arrays, read, fields, params, rows, doc):
    """Gather what a visit of `doc` needs. Returns `shape`."""
    n, L, first, listed = shape(arrays, doc, len(params.alpha))
    base_total, change, total = rows[BASE_TOTAL], rows[CHANGE], rows[TOTAL]
    for k in range(L):
        t = arrays.topics[first + k] if listed else k
        total[k] = base_total[t] + change[t]
    gather(params.alpha.reshape(1, -1), 0, arrays.topics, first, listed, L, rows[ALPHA])
    for j in range(n):
        pair = arrays.slot_ptr[doc] + j
        gather(
            read.theta,
            arrays.slots[pair],
            arrays.topics,
            first,
            listed,
            L,
            rows[SIDE, j * L : (j + 1) * L],
        )
        rows[OWNER_MASS, j] = read.owner_mass[pair]
    if fields.weight[doc] > f4(0):
        gather(fields.message, doc, arrays.topics, first, listed, L, rows[FIELD_TERM])
    else:
        rows[FIELD_TERM, :L] = f4(0)
    return n, L, first, listed


@inlined
def close_visit(arrays, write, rows, doc, n, L, first, listed, moves_totals):
    """Add what the owners gained to their counts, and to the cell's change of topic totals."""
    change = rows[CHANGE]
    for j in range(n):
        gained = rows[GAINED, j * L : (j + 1) * L]
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
                change[arrays.topics[first + k]] += gained[k]
        else:
            for k in range(L):
                change[k] += gained[k]
