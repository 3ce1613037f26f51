"""Active BP and Gibbs sampling."""

from __future__ import annotations

import numpy as np

from topoi.graph.wiring import Graph
from topoi.infer.arrays import ActiveSet, Fields, Messages, SweepParams, Tables
from topoi.infer.kernels import uniforms
from topoi.infer.reference.sweeps import finish_stage, message, place, visits

__all__ = ["active", "gibbs"]


def active(
    graph: Graph,
    tables: Tables,
    mu: np.ndarray,
    messages: Messages,
    active_set: ActiveSet,
    params: SweepParams,
) -> None:
    """One sweep of active BP, in place: chosen topics of chosen documents share what they hold of a
    message in new proportions.
    """
    w = graph.arrays
    for stage in range(graph.n_word_blocks):
        change = np.zeros((graph.n_doc_blocks, graph.width))
        for p, v in visits(graph, messages, stage):
            doc = w.visit_doc[v]
            if not active_set.docs[doc]:
                continue
            slot, topics = w.slots[w.slot_ptr[doc]], active_set.topics[doc]
            totals, at_start = (
                (tables.totals + change[p])[topics] + params.beta_sum,
                tables.theta[slot].copy(),
            )
            for i, e in enumerate(range(w.visit_edge[v], w.visit_edge[v + 1])):
                word, x = w.edge_word[e], float(w.edge_x[e])
                m = mu[w.visit_message[v] + i * graph.width :][: graph.width]
                own = min(x, params.own_cap) * m[topics]
                word_term = (
                    np.maximum(tables.phi[word, topics] - own, 0) + params.beta
                ) / np.maximum(totals - own, params.beta_sum)
                new = word_term * (
                    np.maximum(tables.theta[slot, topics] - own, 0) + params.alpha[topics]
                )
                gain = x * (m[topics].sum() * new / new.sum() - m[topics])
                m[topics] += gain / x
                tables.theta[slot, topics] += gain
                tables.phi[word, topics] += gain
                active_set.moved[slot, topics] += np.abs(gain)
            change[p] += tables.theta[slot] - at_start
        tables.totals[:] += change.sum(axis=0)


def gibbs(
    graph: Graph,
    tables: Tables,
    z: np.ndarray,
    messages: Messages,
    fields: Fields,
    params: SweepParams,
) -> None:
    """One sweep of collapsed Gibbs sampling, in place, with the random numbers of the kernel."""
    w = graph.arrays
    for stage in range(graph.n_word_blocks):
        before, change = tables.theta.copy(), np.zeros((graph.n_doc_blocks, graph.width))
        for p, v in visits(graph, messages, stage):
            doc = w.visit_doc[v]
            slots, topics, pairs = place(graph, doc)
            grid = np.ix_(slots, topics)
            field_term = (
                fields.message[doc, topics] if fields.weight[doc] > 0 else np.zeros(len(topics))
            )
            for e in range(w.visit_edge[v], w.visit_edge[v + 1]):
                word = w.edge_word[e]
                for step in (-1, 1):  # take the token out, put it back where it is drawn
                    if step == 1:
                        none = np.zeros((len(slots), len(topics)))
                        total = (tables.totals + change[p])[topics] + params.beta_sum
                        odds = message(
                            tables.phi[word, topics], total, tables.theta[grid],
                            params.alpha[topics], params.word_prior[topics],
                            tables.owner_mass[pairs],
                            (none, none), params, field_term, fields.weight[doc],
                        ).ravel()  # fmt: skip
                        z[e] = np.searchsorted(
                            np.cumsum(odds),
                            uniforms(params.seed, w.edge_id[e : e + 1])[0] * odds.sum(),
                            side="right",
                        )
                    owner, topic = divmod(z[e], len(topics))
                    tables.theta[slots[owner], topics[topic]] += step
                    tables.owner_mass[pairs][owner] += step
                    if not params.frozen_words:
                        tables.phi[word, topics[topic]] += step
                        change[p, topics[topic]] += step
        finish_stage(graph, tables, before, change)
