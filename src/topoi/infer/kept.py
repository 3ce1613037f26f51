"""What a block of documents keeps until its next turn: what its documents hold, and the largest
numbers of each message.

The tables imply the rest of a message. Once topics have taken shape, a few numbers are nearly all
of it; messages that are recalled from the tables alone are too smooth (docs/lab-notes.md).
"""

from __future__ import annotations

import numpy as np

from topoi.infer import kernels
from topoi.infer.arrays import Kept
from topoi.infer.kernels.kept import WHOLE
from topoi.infer.rules import Rule
from topoi.infer.state import State
from topoi.infer.threads import ThreadPool

__all__ = ["MOST", "WHOLE", "keep", "recall"]

MOST = 8  # numbers of a message: more are no better, fewer are worse (docs/lab-notes.md)


def keep(state: State, rule: Rule, pool: ThreadPool) -> Kept:
    """What to keep of a block after its turn."""
    shape = (state.graph.n_edges, MOST)
    kept = Kept(state.tables.theta, np.zeros(shape, np.uint16), np.zeros(shape, np.uint16))
    if state.stored:
        params = state.params(rule, in_place=True)
        for stage in range(state.graph.n_word_blocks):
            pool.each(
                kernels.keep_stage,
                state.graph.arrays,
                state.messages,
                kept.places,
                kept.parts,
                params,
                stage,
            )
    return kept


def recall(state: State, kept: Kept, rule: Rule, pool: ThreadPool, mu: np.ndarray) -> None:
    """Store the messages of a block in `mu` again, and count what its documents hold."""
    state.recall(rule, pool, mu)
    theta, params = np.zeros_like(state.tables.theta), state.params(rule, in_place=True)
    for stage in range(state.graph.n_word_blocks):
        pool.each(
            kernels.restore_stage,
            state.graph.arrays,
            state.graph.arrays.lists,
            theta,
            state.messages,
            kept.places,
            kept.parts,
            params,
            stage,
        )
    state.tables = state.tables._replace(theta=theta, owner_mass=state.doc_weight.copy())
