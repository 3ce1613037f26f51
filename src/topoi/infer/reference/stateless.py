"""BP without stored messages, and messages on topic lists."""

from __future__ import annotations

import numpy as np

from topoi.graph.wiring import Graph
from topoi.infer.arrays import Messages, SweepParams, Tables
from topoi.infer.reference.sweeps import place, visits

__all__ = ["admit", "recall", "stateless"]


def _implied(theta, phi, totals, x, n_d, n_w, params: SweepParams, alpha) -> np.ndarray:
    """The message that tables imply for an edge whose fraction x / n of its document and of its
    word is put aside (TBP).
    """
    new = (
        (theta * (1 - x / n_d) + alpha)
        * (phi * (1 - x / n_w) + params.beta)
        / np.maximum(totals + params.beta_sum, params.beta_sum)
    )
    return new / new.sum()


def _solved(mu, theta, phi, totals, x, params: SweepParams, steps: int) -> np.ndarray:
    """The BP message that is itself in the tables (algorithms 4.3), from a first guess mu."""
    for step in range(steps):
        own = x * mu
        new = (np.maximum(theta - own, 0) + params.alpha) * (np.maximum(phi - own, 0) + params.beta)
        new = new / np.maximum(totals - own + params.beta_sum, params.beta_sum)
        mu = new / new.sum() if step == 0 else (mu + new / new.sum()) / 2
    return mu


def stateless(
    graph: Graph,
    read: Tables,
    write: Tables,
    messages: Messages,
    params: SweepParams,
    word_weight: np.ndarray,
    relaxation: float = 1.0,
    solve: int = 0,
) -> None:
    """One sweep of BP without stored messages.

    In place, `write` is `read`; otherwise it starts blank, and what is put aside is `_solved` for.
    """
    w = graph.arrays
    for stage in range(graph.n_word_blocks):
        change = np.zeros((graph.n_doc_blocks, graph.width))
        for p, v in visits(graph, messages, stage):
            doc = w.visit_doc[v]
            slot, n_d = w.slots[w.slot_ptr[doc]], graph.doc_weight[doc]
            totals, at_start = read.totals + change[p], write.theta[slot].copy()
            for e in range(w.visit_edge[v], w.visit_edge[v + 1]):
                word, x = w.edge_word[e], float(w.edge_x[e])
                n_w = word_weight[word]
                aside = x if params.in_place else 0.0
                new = _implied(
                    read.theta[slot], read.phi[word], totals, aside, n_d, n_w, params, params.alpha
                )
                if not params.in_place:
                    new = _solved(new, read.theta[slot], read.phi[word], totals, x, params, solve)
                for table, row, n in ((write.theta, slot, n_d), (write.phi, word, n_w)):
                    move = min(relaxation * x, n) if params.in_place else x
                    table[row] = table[row] * (1 - move / n if params.in_place else 1) + move * new
            if params.in_place:
                change[p] += write.theta[slot] - at_start
        if params.in_place:
            write.totals[:] += change.sum(axis=0)
    write.totals[:] = write.phi.sum(axis=0)


def recall(
    graph: Graph, tables: Tables, params: SweepParams, word_weight: np.ndarray
) -> np.ndarray:
    """All messages as the tables imply them, laid out as the graph wants them."""
    w = graph.arrays
    mu = np.zeros(graph.message_size)
    for v, doc in enumerate(w.visit_doc):
        (slot,), topics, _ = place(graph, doc)
        for i, e in enumerate(range(w.visit_edge[v], w.visit_edge[v + 1])):
            word, at = w.edge_word[e], w.visit_message[v] + i * len(topics)
            rows = tables.theta[slot, topics], tables.phi[word, topics], tables.totals[topics]
            weights = w.edge_x[e], graph.doc_weight[doc], word_weight[word]
            mu[at : at + len(topics)] = _implied(*rows, *weights, params, params.alpha[topics])
    return mu


def admit(
    counts, slot, tables: Tables, alpha, beta, keep, word_weight, least, enough
) -> np.ndarray:
    """(D, K) `keep` with the topics whose slope in the document's log-likelihood exceeds `enough`
    n_d; words count only for topics that hold much of them.
    """
    dense = counts.toarray()
    phi = (tables.phi + beta) / (tables.totals + len(tables.phi) * beta)
    counts_for = tables.phi >= least * word_weight[:, None]
    theta = (tables.theta[slot] + alpha) / (dense.sum(axis=1) + alpha.sum())[:, None]
    likely = (theta * keep) @ phi.T
    slope = (dense / likely) @ (phi * counts_for)
    return keep | (slope > enough * dense.sum(axis=1)[:, None])
