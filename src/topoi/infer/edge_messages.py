"""Messages in document order, (edges, K): out of a state, and into it.

Inside, the messages of a document stand side by side, owner by owner, for the topics it may use.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from topoi.graph.wiring import Graph
from topoi.infer import kernels
from topoi.infer.rules import Rule
from topoi.infer.state import State, sweep_seed
from topoi.infer.tables import blank_tables
from topoi.infer.threads import ThreadPool

__all__ = ["checked_messages", "edge_messages", "entries_within", "start_from_messages"]


class Block(NamedTuple):
    """The m edges of all documents with n owners and L topics."""

    edges: np.ndarray  # (m,)
    places: np.ndarray  # (m, n * L) where their messages stand in `mu`
    n_owners: int
    topics: np.ndarray | None  # (m, L) topics that the messages are about; None: all, and padding


def _blocks(graph: Graph) -> Iterator[Block]:
    """Edges by the shape of their messages: there are few shapes, and many documents."""
    arrays = graph.transposed or graph.arrays
    doc = np.repeat(arrays.visit_doc, np.diff(arrays.visit_edge))
    # Of each edge in its visit.
    number = np.arange(graph.n_edges) - np.repeat(
        arrays.visit_edge[:-1], np.diff(arrays.visit_edge)
    )
    owners, listed = np.diff(arrays.slot_ptr)[doc], np.diff(arrays.topic_ptr)[doc]
    size = owners * np.where(listed > 0, listed, graph.width)
    first = np.repeat(arrays.visit_message, np.diff(arrays.visit_edge)) + number * size
    shapes = np.column_stack([owners, listed])
    for n, L in np.unique(shapes, axis=0).tolist():
        edges = np.flatnonzero((owners == n) & (listed == L))
        places = first[edges, None] + np.arange(n * (L or graph.width))
        topics = None
        if L:
            topics = arrays.topics[arrays.topic_ptr[doc[edges], None] + np.arange(L)]
        yield Block(edges, places, n, topics)


def edge_messages(state: State) -> np.ndarray:
    """(edges, K) stored messages in document order, summed over the owners of a document."""
    graph, mu = state.graph, state.messages.mu
    edge_id = (graph.transposed or graph.arrays).edge_id
    out = np.zeros((graph.n_edges, graph.n_topics), np.float32)
    for block in _blocks(graph):
        found = mu[block.places].reshape(len(block.edges), block.n_owners, -1).sum(axis=1)
        rows = edge_id[block.edges]
        if block.topics is None:
            out[rows] = found[:, : graph.n_topics]
        else:
            out[rows[:, None], block.topics] = found
    return out


def checked_messages(given: np.ndarray, n_topics: int, name: str = "init") -> np.ndarray:
    """(edges, K) messages whose rows sum to 1, from messages or from the topic of each edge.

    name: of the parameter that holds them.
    """
    if given.ndim == 1:
        if not np.isin(given, np.arange(n_topics)).all():
            raise ValueError(
                f"{name} holds one topic per nonzero of X; expected numbers from 0 to"
                f" {n_topics - 1}."
            )
        return np.eye(n_topics, dtype=np.float32)[given.astype(np.int64)]
    sums = given.sum(axis=1, keepdims=True)
    if not (given >= 0).all() or not (np.abs(sums - 1) < 1e-3).all():
        raise ValueError(
            f"{name} holds messages of which some are negative or do not sum to 1; give one"
            " distribution over topics per nonzero of X, as model.messages(X) does."
        )
    return (given / sums).astype(np.float32)


def start_from_messages(state: State, messages: np.ndarray, rule: Rule, pool: ThreadPool) -> None:
    """Give a state that has not been updated yet its first messages.

    messages: (nonzeros of graph.counts, K), rows sum to 1. Owners of a document share a message
    equally; its mass on topics that the document may not use goes to those it may. A rule that
    draws, draws from it.
    """
    graph = state.graph
    given = _among_allowed(messages, graph)
    entry = _entries(graph, rule)
    if not state.stored:
        _count(state, given)
    elif rule.draws:
        _draw(state, given, entry)
    else:
        for block in _blocks(graph):
            state.messages.mu[block.places] = _spread(given, entry, block, graph.width)
    state.rebuild(rule, pool)


def _among_allowed(messages: np.ndarray, graph: Graph) -> np.ndarray:
    """The messages, but for topics that their documents may use only."""
    if graph.topics is None:
        return messages
    lists = graph.topics.toarray() > 0
    allowed = lists | ~lists.any(axis=1, keepdims=True)
    allowed = np.repeat(allowed, np.diff(graph.counts.indptr), axis=0)
    kept = np.where(allowed, messages, 0)
    lost = kept.sum(axis=1) == 0
    kept[lost] = allowed[lost]
    return kept / kept.sum(axis=1, keepdims=True)


def _entries(graph: Graph, rule: Rule) -> np.ndarray:
    """(edges,) the nonzero of graph.counts that each edge is, or is a token of."""
    edge_id = (graph.transposed or graph.arrays).edge_id
    if not rule.tokens:
        return edge_id
    repeats = graph.counts.data.astype(np.int64)
    return np.repeat(np.arange(graph.counts.nnz), repeats)[edge_id]


def _spread(messages: np.ndarray, entry: np.ndarray, block: Block, width: int) -> np.ndarray:
    """(m, n * L) messages of a block's edges, the same for each owner."""
    rows = messages[entry[block.edges]]
    if block.topics is None:
        rows = np.pad(rows, ((0, 0), (0, width - rows.shape[1])))
    else:
        rows = np.take_along_axis(rows, block.topics, axis=1)
    return np.tile(rows / block.n_owners, (1, block.n_owners))


def _draw(state: State, messages: np.ndarray, entry: np.ndarray) -> None:
    """An (owner, topic) of each token, with the random numbers that a start draws with."""
    arrays = state.graph.arrays
    chance = kernels.uniforms(sweep_seed(state.seed, 0), arrays.edge_id)
    for block in _blocks(state.graph):
        reached = np.cumsum(_spread(messages, entry, block, state.graph.width), axis=1)
        drawn = (reached <= chance[block.edges, None] * reached[:, -1:]).sum(axis=1)
        state.messages.z[block.edges] = np.minimum(drawn, (reached < reached[:, -1:]).sum(axis=1))


def _count(state: State, messages: np.ndarray) -> None:
    """The tables of messages that are not stored; their documents own themselves."""
    graph, K = state.graph, state.graph.n_topics
    counts, numbers = graph.counts, np.arange(graph.counts.nnz)
    of_docs = sparse.csr_array(
        (counts.data, numbers, counts.indptr), shape=(graph.n_docs, counts.nnz)
    )
    of_words = sparse.csr_array(
        (counts.data, (counts.indices, numbers)), shape=(graph.n_words, counts.nnz)
    )
    state.tables = blank_tables(graph, state.word_base, state.tables)
    state.tables.theta[graph.arrays.slots, :K] = of_docs @ messages
    state.tables.phi[:, :K] += of_words @ messages


def entries_within(counts: sparse.csr_array, part: sparse.csr_array) -> np.ndarray:
    """The numbers of those nonzeros of `counts` that are nonzeros of `part`, of the same shape."""
    n_words = counts.shape[1]
    keys = [
        np.repeat(np.arange(table.shape[0]), np.diff(table.indptr)) * n_words + table.indices
        for table in (counts, part)
    ]
    return np.flatnonzero(np.isin(*keys))
