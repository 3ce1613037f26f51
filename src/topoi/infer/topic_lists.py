"""Topic lists: the few topics that a document really uses.

At many topics they make a sweep cheap and messages small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from topoi.infer import kernels
from topoi.infer.threads import ThreadPool

if TYPE_CHECKING:
    from topoi.infer.state import State

__all__ = ["topic_lists"]

LEAST_OF_DOCUMENT = 0.003  # a topic with a smaller proportion of its document leaves the list


class Entry(NamedTuple):
    """What a topic needs to enter a list."""

    least_of_word: float  # only words of which it holds at least this proportion count for it
    enough: float  # of the slope of a topic in use


EASY, FAIR, HARD = Entry(1 / 200, 0.9), Entry(1 / 64, 1.0), Entry(1 / 16, 1.0)


def topic_lists(state: State, pool: ThreadPool, many_edges: int) -> sparse.csr_array:
    """(D, K) the topics each document holds, and those whose entry would (nearly) raise its
    likelihood. No list is empty.

    many_edges: from here on lists are kept shorter, the first ones most of all.
    """
    graph, tables, counts = state.graph, state.tables, state.graph.counts
    slot = np.asarray(graph.arrays.slots)  # documents own themselves: one row each
    held = tables.theta[slot, : graph.n_topics]
    keep = held >= (LEAST_OF_DOCUMENT * graph.doc_weight).astype(np.float32)[:, None]
    keep[np.arange(graph.n_docs), held.argmax(axis=1)] = True
    keep[graph.doc_weight == 0] = False
    keep[graph.doc_weight == 0, 0] = True
    entry = EASY if graph.n_edges < many_edges else FAIR if state.stored else HARD
    ptr, topics = kernels.topics_of_words(tables.phi, state.word_weight, entry.least_of_word)
    arrays = (
        counts.indptr.astype(np.int64),
        counts.indices.astype(np.int32),
        counts.data.astype(np.float32),
    )
    alpha = state.alpha.astype(np.float32)
    pool.each(
        kernels.admit,
        *arrays,
        slot,
        tables.theta,
        tables.phi,
        tables.totals,
        alpha,
        state.beta,
        ptr,
        topics,
        entry.enough,
        keep,
        state.scratch(pool),
    )
    return sparse.csr_array(keep.astype(np.int8))
