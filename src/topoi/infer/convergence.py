"""Signs of convergence: how far messages are from their updates, and how far parameters move."""

from __future__ import annotations

import numpy as np

from topoi.infer.state import State

__all__ = ["PARAMETER_TOLERANCE", "ParameterChange", "largest_violation"]

PARAMETER_TOLERANCE = 1e-5  # lambda of the paper


def largest_violation(state: State) -> float:
    """How far the messages of a document were from their updates in the last sweep, per token:
    the largest of all documents (words, where sweeps visit these). 0 at a fixed point, up to 2.
    """
    graph = state.graph
    if not graph.n_edges:
        return 0.0
    by_word = graph.transposed is not None
    visit_doc = (graph.transposed or graph.arrays).visit_doc
    weight = state.word_weight if by_word else state.doc_weight
    moved = np.bincount(visit_doc, state.messages.residual, minlength=len(weight))
    held = np.bincount(visit_doc, minlength=len(weight)) > 0
    return float((moved[held] / weight[held]).max()) / state.relaxation


class ParameterChange:
    """The largest change of a topic proportion of a document, or of a word proportion of a topic,
    since the last call.
    """

    def __init__(self, state: State) -> None:
        self.before = state.doc_topic(), state.topic_word()

    def __call__(self, state: State) -> float:
        after = state.doc_topic(), state.topic_word()
        change = max(
            float(np.abs(new - old).max(initial=0))
            for old, new in zip(self.before, after, strict=True)
        )
        self.before = after
        return change
