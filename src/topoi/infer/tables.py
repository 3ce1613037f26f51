"""Tables before any message is counted: what words and owners hold besides."""

from __future__ import annotations

import numpy as np

from topoi.graph.wiring import Graph
from topoi.infer.arrays import Tables
from topoi.infer.memory import allocate, pad_topics

__all__ = ["blank_tables", "owner_base", "scale_rows"]


def blank_tables(graph: Graph, word_base: np.ndarray | None, old: Tables | None = None) -> Tables:
    """Tables without any message: what words (W, K) and owners hold besides, and the prior
    of words in topics (`Graph.word_prior`), which is a constant on top.

    `old` tables of the same graph give their memory and, when words are frozen, their words.
    """
    theta = (
        allocate(graph.n_slots * graph.width).reshape(-1, graph.width) if old is None else old.theta
    )
    theta[:] = 0
    if graph.owner_base is not None:
        theta[:, : graph.n_topics] = graph.owner_base[graph.slot_owner]
    if old is not None and graph.frozen_words:
        phi = old.phi
    elif word_base is not None:
        phi = pad_topics(word_base, graph.width)
    else:
        phi = (
            allocate(graph.n_words * graph.width).reshape(-1, graph.width)
            if old is None
            else old.phi
        )
        phi[:] = 0
    if graph.word_prior is not None:
        phi[:, : graph.n_topics] += graph.word_prior
    owner_mass = np.zeros(len(graph.arrays.slots), np.float32)
    return Tables(theta, phi, phi.sum(axis=0, dtype=np.float64), owner_mass)


def owner_base(graph: Graph) -> np.ndarray:
    """(owners, width) what owners hold besides the messages."""
    base = graph.owner_base
    return (
        np.zeros((graph.n_owners, graph.width), np.float32)
        if base is None
        else pad_topics(base, graph.width)
    )


def scale_rows(table: np.ndarray, weight: np.ndarray) -> None:
    """Let each row of a table hold exactly its weight, if it holds anything."""
    held = table.sum(axis=1)
    table *= np.divide(weight, held, out=np.zeros_like(held), where=held > 0)[:, None]
