"""One message, one sweep of BP, siBP, CVB0 or VB, and the tables of given messages."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from topoi.graph.wiring import Graph
from topoi.infer.arrays import Fields, Messages, SweepParams, Tables

__all__ = ["count", "doubled", "finish_stage", "message", "place", "sweep", "visits"]


def doubled(tables: Tables) -> Tables:
    """A double-precision copy."""
    return Tables(*(np.array(table, dtype=np.float64) for table in tables))


def message(
    word,
    total,
    held,
    alpha,
    word_prior,
    owner_mass,
    own,
    params: SweepParams,
    field_term,
    field_weight,
) -> np.ndarray:
    """The new message of an edge (eqs. 7, 21, 26 and 30): (n, L), sums to 1.

    mu(o, k) ~ (phi_w - own + beta) / (N - own + W beta) * [(1 - xi) (theta_o - own_o + alpha) /
    (T_o - own_o + A) + xi field], times the owner's proportion of the document where that is
    learned. own: (n, L) what the edge removes of itself, from words and from owners.
    """
    own_word, own_side = own
    gone = own_word.sum(axis=0)
    word_term = (np.maximum(word - gone, 0) + word_prior) / np.maximum(
        total - gone, params.beta_sum
    )
    owners = np.maximum(held - own_side, 0) + alpha
    if not params.plain_side:
        owners = (
            owners
            / np.maximum((held + alpha).sum(axis=1) - own_side.sum(axis=1), alpha.sum())[:, None]
        )
    likely = np.ones(len(held))
    if params.owner_prior > 0:
        likely = np.maximum(owner_mass - own_side.sum(axis=1), 0) + params.owner_prior
    new = word_term * likely[:, None] * ((1 - field_weight) * owners + field_term)
    return new / new.sum()


def visits(graph: Graph, messages: Messages, stage: int) -> Iterator[tuple[int, int]]:
    """(document block, visit) of one stage, in the order in which a single worker takes them."""
    for p in range(graph.n_doc_blocks):
        cell = p * graph.n_word_blocks + (p + stage) % graph.n_word_blocks
        for i in range(graph.arrays.cell_visit[cell], graph.arrays.cell_visit[cell + 1]):
            yield p, messages.order[i]


def place(graph: Graph, doc: int) -> tuple[np.ndarray, np.ndarray, slice]:
    """Owners (rows of theta) and topics of a document, and its (document, owner) pairs."""
    w = graph.arrays
    pairs = slice(w.slot_ptr[doc], w.slot_ptr[doc + 1])
    listed = w.topics[w.topic_ptr[doc] : w.topic_ptr[doc + 1]]
    return w.slots[pairs], listed if len(listed) else np.arange(graph.width), pairs


def finish_stage(
    graph: Graph, tables: Tables, before: np.ndarray, change: np.ndarray | float = 0.0
) -> None:
    """Add up what the cells changed in the totals, and make the rows of a shared owner agree."""
    tables.totals[:] += np.sum(change, axis=0)
    for o in range(len(graph.shared_ptr) - 1):
        rows = graph.shared_slots[graph.shared_ptr[o] : graph.shared_ptr[o + 1]]
        tables.theta[rows] = np.maximum(
            before[rows[0]] + (tables.theta[rows] - before[rows]).sum(axis=0), 0
        )


def sweep(
    graph: Graph,
    read: Tables,
    write: Tables,
    mu: np.ndarray,
    messages: Messages,
    fields: Fields,
    params: SweepParams,
) -> np.ndarray:
    """One sweep of BP, siBP, CVB0 or VB.

    In place, `write` is `read`; otherwise it starts blank. `mu` changes. Returns (V,) residuals.
    """
    w = graph.arrays
    residual = np.zeros(len(w.visit_doc))
    start = write.theta.copy()
    for stage in range(graph.n_word_blocks):
        before, change = write.theta.copy(), np.zeros((graph.n_doc_blocks, graph.width))
        for p, v in visits(graph, messages, stage):
            doc = w.visit_doc[v]
            slots, topics, pairs = place(graph, doc)
            grid = np.ix_(slots, topics)
            total = (read.totals + change[p])[topics] + params.beta_sum
            field_term = (
                fields.message[doc, topics] if fields.weight[doc] > 0 else np.zeros(len(topics))
            )
            at_start = write.theta[grid].copy()
            for i, e in enumerate(range(w.visit_edge[v], w.visit_edge[v + 1])):
                word, x = w.edge_word[e], float(w.edge_x[e])
                size = len(slots) * len(topics)
                m = mu[w.visit_message[v] + i * size : w.visit_message[v] + (i + 1) * size].reshape(
                    len(slots), -1
                )
                own = min(x, params.own_cap) * m
                new = message(
                    read.phi[word, topics], total, read.theta[grid], params.alpha[topics],
                    params.word_prior[topics], read.owner_mass[pairs],
                    (own * (not params.frozen_words), own), params, field_term, fields.weight[doc],
                )  # fmt: skip
                if params.relaxation != 1:
                    new = np.maximum(m + params.relaxation * (new - m), 0)
                    new /= new.sum()
                residual[v] += x * np.abs(new - m).sum()
                gain = x * (new - m if params.in_place else new)
                m[:] = new
                write.theta[grid] += gain
                write.owner_mass[pairs] += gain.sum(axis=1)
                if not params.frozen_words:
                    write.phi[word, topics] += gain.sum(axis=0)
            if params.in_place and not params.frozen_words:
                change[p, topics] += (write.theta[grid] - at_start).sum(axis=0)
        if params.in_place:
            finish_stage(graph, write, before, change)
    if not params.in_place:
        finish_stage(graph, write, start)
        write.totals[:] = write.phi.sum(axis=0)
    return residual


def count(graph: Graph, mu: np.ndarray) -> Tables:
    """The tables of given messages, without any base."""
    w = graph.arrays
    tables = Tables(
        np.zeros((graph.n_slots, graph.width)),
        np.zeros((graph.n_words, graph.width)),
        np.zeros(graph.width),
        np.zeros(len(w.slots)),
    )
    for v, doc in enumerate(w.visit_doc):
        slots, topics, pairs = place(graph, doc)
        size = len(slots) * len(topics)
        for i, e in enumerate(range(w.visit_edge[v], w.visit_edge[v + 1])):
            mass = w.edge_x[e] * mu[
                w.visit_message[v] + i * size : w.visit_message[v] + (i + 1) * size
            ].reshape(len(slots), -1)
            tables.theta[np.ix_(slots, topics)] += mass
            tables.phi[w.edge_word[e], topics] += mass.sum(axis=0)
            tables.owner_mass[pairs] += mass.sum(axis=1)
    finish_stage(graph, tables, np.zeros_like(tables.theta))
    tables.totals[:] = tables.phi.sum(axis=0)
    return tables
