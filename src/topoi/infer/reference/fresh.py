"""Documents inferred afresh."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.special import psi

from topoi.graph.wiring import Graph
from topoi.infer.arrays import Fields, FreshParams, SweepParams, Tables
from topoi.infer.reference.sweeps import message, place

__all__ = ["edges_of", "infer", "infer_joint"]


def infer(
    graph: Graph,
    tables: Tables,
    mu: np.ndarray,
    fields: Fields,
    params: SweepParams,
    afresh: FreshParams,
    docs: Iterable[int],
) -> np.ndarray:
    """Infer `docs`, which own themselves, afresh: their messages in `mu`, their rows of theta.

    Words stand still. Returns (V,) residuals.
    """
    residual = np.zeros(len(graph.arrays.visit_doc))
    for doc in docs:
        (slot,), topics, _ = place(graph, doc)
        words, x, places = edges_of(graph, doc)
        xi = fields.weight[doc]
        field_term = fields.message[doc, topics] if xi > 0 else np.zeros(len(topics))
        alpha, total = (
            params.alpha[topics].astype(np.float64),
            tables.totals[topics] + params.beta_sum,
        )
        m, side = np.zeros((len(words), len(topics))), np.zeros(len(topics))
        for t in range(afresh.passes + 1):
            by_digamma, discount = afresh.digamma and t > 0, afresh.discount * (t > 0)
            held = side.sum() + alpha.sum()
            if by_digamma:
                owner = np.exp(psi(side + alpha) - psi(held))
            for i, word in enumerate(words):
                own_side = min(x[i], params.own_cap) * m[i]
                own_word = own_side * (not params.frozen_words)
                word_term = (
                    np.maximum(tables.phi[word, topics] - own_word, 0) + params.word_prior[topics]
                )
                word_term = word_term / np.maximum(total - own_word, params.beta_sum)
                if not by_digamma:
                    owner = np.maximum(side - own_side - discount, 0) + alpha
                    owner = (
                        owner / max(held - min(x[i], params.own_cap), alpha.sum())
                        if xi > 0
                        else owner
                    )
                new = word_term * ((1 - xi) * owner + field_term)
                new /= new.sum()
                if t > 0 and not by_digamma:
                    side = side + x[i] * (new - m[i])
                m[i] = new
            if t == 0 or by_digamma:
                side = x @ m
        _write_messages(graph, doc, mu, m)
        residual[places[:1]] = np.abs(side - tables.theta[slot, topics]).sum()
        tables.theta[slot, topics] = side
    return residual


def infer_joint(
    graph: Graph,
    tables: Tables,
    mu: np.ndarray,
    fields: Fields,
    params: SweepParams,
    afresh: FreshParams,
    docs: Iterable[int],
) -> np.ndarray:
    """`infer` for documents of several or shared owners, which stand still like words.

    Returns (V,) residuals.
    """
    residual = np.zeros(len(graph.arrays.visit_doc))
    for doc in docs:
        slots, topics, _ = place(graph, doc)
        words, x, places = edges_of(graph, doc)
        field_term = (
            fields.message[doc, topics] if fields.weight[doc] > 0 else np.zeros(len(topics))
        )
        total, held = tables.totals[topics] + params.beta_sum, tables.theta[np.ix_(slots, topics)]
        m, owner_mass = np.zeros((len(words), *held.shape)), np.zeros(len(slots))
        for t in range(afresh.passes + 1):
            before = m.copy()
            for i, word in enumerate(words):
                own = min(x[i], params.own_cap) * m[i]
                new = message(
                    tables.phi[word, topics], total, held, params.alpha[topics],
                    params.word_prior[topics], owner_mass,
                    (own * (not params.frozen_words), own), params, field_term, fields.weight[doc],
                )  # fmt: skip
                m[i] = new if t < 2 else (m[i] + new) / 2
            owner_mass = np.einsum("i,iok->o", x, m)
        _write_messages(graph, doc, mu, m)
        residual[places[:1]] = np.einsum("i,iok->", x, np.abs(m - before))
    return residual


def edges_of(graph: Graph, doc: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Words and weights of a document's edges, word block by word block, and its visits."""
    w, (ptr, visits) = graph.arrays, graph.visits_of_docs
    of_doc = visits[ptr[doc] : ptr[doc + 1]]
    edges = [e for v in of_doc for e in range(w.visit_edge[v], w.visit_edge[v + 1])]
    return w.edge_word[edges], w.edge_x[edges].astype(np.float64), of_doc


def _write_messages(graph: Graph, doc: int, mu: np.ndarray, messages: np.ndarray) -> None:
    """Put the messages of a document's edges, in the order of `_edges_of`, where the graph wants
    them.
    """
    w, (ptr, visits), done = graph.arrays, graph.visits_of_docs, 0
    for v in visits[ptr[doc] : ptr[doc + 1]]:
        n = w.visit_edge[v + 1] - w.visit_edge[v]
        part = messages[done : done + n].ravel()
        mu[w.visit_message[v] : w.visit_message[v] + len(part)] = part
        done += n
