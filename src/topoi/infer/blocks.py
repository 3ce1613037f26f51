"""Blocks: documents that are inferred in turn, where the messages of one block exist at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topoi.graph.arrays import GraphArrays, frozen
from topoi.graph.wiring import Graph
from topoi.infer.memory import allocate
from topoi.tuning import current

__all__ = ["Blocks", "make_blocks"]


class Blocks(NamedTuple):
    """The edges of a graph, with memory for the messages of one block."""

    arrays: GraphArrays  # visit_message begins at 0 in each block
    docs: list[np.ndarray]  # of each block, in their shuffled order
    mu: np.ndarray  # as large as the largest block


def make_blocks(graph: Graph) -> Blocks:
    """The document blocks of the grid, cut further where the messages of a block would have more
    than `chunk_bytes` (a document is never cut).

    Where topics are many, documents have lists of other bounds than in the graph.
    """
    arrays, most, topic_ptr = graph.arrays, current().chunk_bytes // 4, _list_bounds(graph)
    if topic_ptr is not None:
        arrays = arrays._replace(topic_ptr=frozen(topic_ptr, np.int64))
    n_topics = np.diff(arrays.topic_ptr)
    n_topics = np.where(n_topics > 0, n_topics, graph.width)
    visit_size = np.diff(arrays.visit_edge) * n_topics[arrays.visit_doc]

    # Documents with words, block by block: as their first visits come.
    first = np.sort(np.unique(arrays.visit_doc, return_index=True)[1])
    docs = arrays.visit_doc[first].astype(np.int64)
    of_grid = np.searchsorted(arrays.cell_visit[:: graph.n_word_blocks], first, side="right") - 1
    size = np.bincount(arrays.visit_doc, visit_size, graph.n_docs)[docs]
    begin = np.cumsum(size) - size
    held = np.bincount(of_grid, size, graph.n_doc_blocks)
    parts = np.ceil(held / most)
    middle = begin + size / 2 - (np.cumsum(held) - held)[of_grid]
    part = np.minimum(middle * parts[of_grid] // held[of_grid], parts[of_grid] - 1)
    starts = np.flatnonzero((np.diff(of_grid) != 0) | (np.diff(part) != 0)) + 1

    # Messages in this order, each block from 0 on.
    block = np.zeros(len(docs), np.int64)
    block[starts] = 1
    block = np.cumsum(block)
    shift = begin[np.r_[0, starts]] if len(docs) else begin
    place = np.zeros(graph.n_docs, np.int64)
    place[docs] = np.arange(len(docs))
    order = np.argsort(place[arrays.visit_doc], kind="stable")
    visit_message = np.zeros(len(order), np.int64)
    visit_message[order] = np.cumsum(visit_size[order]) - visit_size[order]
    visit_message -= shift[block[place[arrays.visit_doc]]].astype(np.int64)
    largest = int(np.bincount(block, size).max(initial=0))
    return Blocks(
        arrays._replace(visit_message=frozen(visit_message, np.int64)),
        np.split(frozen(docs, np.int64), starts),
        allocate(largest),
    )


def _list_bounds(graph: Graph) -> np.ndarray | None:
    """(D + 1,) bounds of the lists that documents get where topics are many: of the topics that
    they may use, but not too many.
    """
    tuning = current()
    if graph.n_topics <= tuning.lists_above:
        return None
    n_allowed = np.diff(graph.arrays.topic_ptr)
    n_allowed = np.where(n_allowed > 0, n_allowed, graph.n_topics)
    return np.r_[0, np.cumsum(np.minimum(n_allowed, tuning.favoured_topics))]
