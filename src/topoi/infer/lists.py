"""Topic lists: the few topics that a document really uses. At many topics they make a sweep cheap and messages small."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from topoi.infer import kernels
from topoi.infer.crew import Crew

if TYPE_CHECKING:
    from topoi.infer.state import State

__all__ = ["topic_lists"]

LEAST_OF_DOCUMENT = 0.003  # a topic with a smaller share of its document leaves the list
LEAST_OF_WORD = 1 / 200  # a topic may enter through words of which it holds at least this share
ENOUGH = 0.9  # of the slope of a topic in use: a topic with more enters


def topic_lists(state: State, crew: Crew) -> sparse.csr_array:
    """(D, K) the topics each document holds, and those whose entry would raise its likelihood. No list is empty."""
    graph, tables, counts = state.graph, state.tables, state.graph.plan.counts
    assert counts is not None
    slot = np.asarray(graph.wires.slots)  # documents own themselves: one row each
    held = tables.theta[slot, : graph.n_topics]
    keep = held >= (LEAST_OF_DOCUMENT * graph.doc_weight).astype(np.float32)[:, None]
    keep[np.arange(graph.n_docs), held.argmax(axis=1)] = True
    keep[graph.doc_weight == 0] = False
    keep[graph.doc_weight == 0, 0] = True
    ptr, topics = kernels.topics_of_words(tables.phi, state.word_weight, LEAST_OF_WORD)
    arrays = counts.indptr.astype(np.int64), counts.indices.astype(np.int32), counts.data.astype(np.float32)
    alpha = state.alpha.astype(np.float32)
    crew.each(kernels.admit, *arrays, slot, tables.theta, tables.phi, tables.totals, alpha, state.beta, ptr, topics, ENOUGH, keep)
    return sparse.csr_array(keep.astype(np.int8))
