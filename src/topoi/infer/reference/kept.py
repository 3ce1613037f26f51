"""What is kept of messages, and messages made of it again (kernels/kept.py)."""

from __future__ import annotations

import numpy as np

from topoi.graph.wiring import Graph
from topoi.infer.reference.sweeps import place

__all__ = ["keep", "restore"]

WHOLE = 65535


def keep(graph: Graph, mu: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(edges, most) places and parts of the largest numbers of each message."""
    places = np.zeros((graph.n_edges, most), np.uint16)
    parts = np.zeros((graph.n_edges, most), np.uint16)
    for e, _, m in _messages(graph, mu):
        found = np.floor(m * WHOLE + 0.5).astype(np.int64)
        largest = np.argsort(-found, kind="stable")[:most]
        largest = largest[found[largest] > 0]
        places[e, : len(largest)] = largest
        parts[e, : len(largest)] = np.minimum(found[largest], WHOLE)
    return places, parts


def restore(
    graph: Graph, implied: np.ndarray, places: np.ndarray, parts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """All messages, from what the tables imply and what was kept, and theta (slots, width)."""
    mu, theta = implied.astype(np.float64), np.zeros((graph.n_slots, graph.width))
    for e, doc, m in _messages(graph, mu):
        (slot,), topics, _ = place(graph, doc)
        here = parts[e] > 0
        at, part = places[e][here], parts[e][here] / WHOLE
        m *= max(1 - part.sum(), 0) / max(1 - m[at].sum(), 1e-6)
        m[at] = part
        m /= m.sum()
        theta[slot, topics] += graph.arrays.edge_x[e] * m
    return mu, theta


def _messages(graph: Graph, mu: np.ndarray):
    """Each edge with its document and its message, a view of `mu`."""
    w = graph.arrays
    for v, doc in enumerate(w.visit_doc):
        n_topics = len(place(graph, doc)[1])
        for i, e in enumerate(range(w.visit_edge[v], w.visit_edge[v + 1])):
            at = w.visit_message[v] + i * n_topics
            yield e, doc, mu[at : at + n_topics]
