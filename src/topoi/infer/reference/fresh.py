"""Documents inferred afresh."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.special import psi

from topoi.graph.wiring import Graph
from topoi.infer.arrays import Fields, FreshParams, SweepParams, Tables
from topoi.infer.reference.sweeps import message, place

__all__ = ["edges_of", "exchange", "favoured", "infer", "infer_joint"]


def infer(
    graph: Graph,
    tables: Tables,
    phi_held: np.ndarray,
    mu: np.ndarray,
    fields: Fields,
    params: SweepParams,
    afresh: FreshParams,
    docs: Iterable[int],
) -> np.ndarray:
    """Infer `docs`, which own themselves, afresh: their messages in `mu`, their rows of theta.

    Word counts do not change; each edge removes its part of the phi_held (W,) that its word holds,
    or its current message.
    Returns (V,) residuals.
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
                own = min(x[i], params.own_cap)
                others = tables.phi[word, topics]
                if afresh.by_part:
                    others = others * max(1 - own / phi_held[word], 0)
                else:
                    others = np.maximum(others - own * m[i], 0)
                word_term = (others + params.word_prior[topics]) / total
                if not by_digamma:
                    owner = np.maximum(side - own * m[i] - discount, 0) + alpha
                    owner = owner / max(held - own, alpha.sum()) if xi > 0 else owner
                new = word_term * ((1 - xi) * owner + field_term)
                new /= new.sum()
                if t > 0 and not by_digamma:
                    side = side + x[i] * (new - m[i])
                m[i] = new
            if t == 0 or by_digamma:
                side = x @ m
        mu[_places(graph, doc)] = m.ravel()
        held = np.zeros(graph.width)
        held[topics] = side
        residual[places[:1]] = np.abs(held - tables.theta[slot]).sum()
        tables.theta[slot] = held
    return residual


def infer_joint(
    graph: Graph,
    tables: Tables,
    phi_held: np.ndarray,
    mu: np.ndarray,
    fields: Fields,
    params: SweepParams,
    afresh: FreshParams,
    docs: Iterable[int],
    owner_part: np.ndarray,
) -> np.ndarray:
    """`infer` for documents of several or shared owners, who hold what other documents gave them
    and what this one gives now.

    owner_part: (pairs,) the document's part of what each owner holds. Returns (V,) residuals.
    """
    residual, follow = np.zeros(len(graph.arrays.visit_doc)), 0 if afresh.digamma else 1
    for doc in docs:
        slots, topics, _ = place(graph, doc)
        words, x, places = edges_of(graph, doc)
        field_term = (
            fields.message[doc, topics] if fields.weight[doc] > 0 else np.zeros(len(topics))
        )
        total = tables.totals[topics] + params.beta_sum
        pairs = slice(graph.arrays.slot_ptr[doc], graph.arrays.slot_ptr[doc + 1])
        others = 1 - follow * owner_part[pairs].astype(np.float64)
        side = tables.theta[np.ix_(slots, topics)] * others[:, None]
        m, owner_mass = np.zeros((len(words), *side.shape)), np.zeros(len(slots))
        for t in range(afresh.passes + 1):
            before = m.copy()
            for i, word in enumerate(words):
                own = min(x[i], params.own_cap)
                new = message(
                    tables.phi[word, topics] * max(1 - own / phi_held[word], 0), total, side,
                    params.alpha[topics], params.word_prior[topics], owner_mass,
                    (0 * m[i], own * m[i]), params, field_term, fields.weight[doc],
                )  # fmt: skip
                if t > 0:
                    side = side + follow * x[i] * (new - m[i])
                    owner_mass = owner_mass + x[i] * (new - m[i]).sum(axis=1)
                m[i] = new
            if t == 0:
                side = side + follow * np.einsum("i,iok->ok", x, m)
                owner_mass = np.einsum("i,iok->o", x, m)
        mu[_places(graph, doc)] = m.ravel()
        residual[places[:1]] = np.einsum("i,iok->", x, np.abs(m - before))
    return residual


def favoured(
    graph: Graph,
    phi: np.ndarray,
    word_weight: np.ndarray,
    least: float,
    fields: Fields,
    list_ptr: np.ndarray,
) -> np.ndarray:
    """The topics that each document favours most, document after document, ascending."""
    proportion = phi / word_weight[:, None]
    proportion = np.where(proportion >= least, proportion, 0)[:, : graph.n_topics]
    lists = []
    for doc in range(graph.n_docs):
        words, x, _ = edges_of(graph, doc)
        allowed = place(graph, doc)[1]
        allowed = allowed[allowed < graph.n_topics]
        score, xi = (x @ proportion[words])[allowed], fields.weight[doc]
        if xi > 0:
            score = (1 - xi) * score + x.sum() * fields.message[doc, allowed]
        most = np.argsort(-score, kind="stable")[: list_ptr[doc + 1] - list_ptr[doc]]
        lists.append(np.sort(allowed[most]))
    return np.concatenate(lists)


def exchange(
    graph: Graph,
    phi: np.ndarray,
    mu: np.ndarray,
    word_weight: np.ndarray,
    relaxation: float,
    docs: Iterable[int],
) -> None:
    """Replace the old contribution of `docs` to the counts of words by their messages `mu`."""
    counted, weight = np.zeros_like(phi), np.zeros(len(phi))
    for doc in docs:
        (words, x, _), topics = edges_of(graph, doc), place(graph, doc)[1]
        messages = mu[_places(graph, doc)].reshape(len(words), len(topics))
        np.add.at(counted, (words[:, None], topics), x[:, None] * messages)
        np.add.at(weight, words, x)
    moved = np.minimum(relaxation * weight, word_weight)
    phi *= (1 - moved / word_weight)[:, None]
    phi += counted * np.divide(moved, weight, out=np.zeros_like(moved), where=weight > 0)[:, None]


def edges_of(graph: Graph, doc: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Words and weights of a document's edges, word block by word block, and its visits."""
    w, (ptr, visits) = graph.arrays, graph.visits_of_docs
    of_doc = visits[ptr[doc] : ptr[doc + 1]]
    edges = [e for v in of_doc for e in range(w.visit_edge[v], w.visit_edge[v + 1])]
    return w.edge_word[edges], w.edge_x[edges].astype(np.float64), of_doc


def _places(graph: Graph, doc: int) -> np.ndarray:
    """Where the messages of a document's edges are, in the order of `edges_of`."""
    w, (ptr, visits) = graph.arrays, graph.visits_of_docs
    slots, topics, _ = place(graph, doc)
    of_doc = visits[ptr[doc] : ptr[doc + 1]]
    sizes = (w.visit_edge[of_doc + 1] - w.visit_edge[of_doc]) * len(slots) * len(topics)
    runs = [w.visit_message[v] + np.arange(n) for v, n in zip(of_doc, sizes, strict=True)]
    return np.concatenate(runs) if runs else np.zeros(0, np.int64)
