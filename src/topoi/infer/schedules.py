"""Schedules: which edges come next, and when the tables are refreshed.

- synchronous: every message from the tables of the previous sweep; then the tables anew;
- asynchronous: tables change with every message; documents in one shuffled order, words ascending;
- residual: asynchronous, documents whose messages changed most in the last sweep first;
- residual-words: the same by word: words are visited instead of documents;
- relaxed: asynchronous, and over-relaxed after ten sweeps: each message moves 1.5 times as far as
  its update, which saves sweeps;
- incremental: documents are inferred afresh in every round, a block of them at a time; no messages
  are stored (afresh.py);
- active (ABP): asynchronous, only the documents that changed most, and in each only the topics that
  changed most; every tenth sweep is a full one;
- auto: with BP, relaxed. Where documents own themselves it starts overcomplete, with more topics
  than wanted (overcomplete.py). Many edges get some warm-up sweeps without stored messages after
  that, and many topics get topic lists. After twenty sweeps messages move 1.9 times as far as
  their update. The last rounds infer documents afresh. With any other rule, asynchronous
  (VB: synchronous).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topoi.infer.arrays import ActiveSet
from topoi.infer.rules import Rule
from topoi.infer.topic_lists import topic_lists
from topoi.tuning import Tuning

if TYPE_CHECKING:
    from topoi.infer.state import State
    from topoi.infer.threads import ThreadPool

__all__ = [
    "Schedule",
    "focus_on_what_moves",
    "largest_residual_first",
    "largest_residual_of_words_first",
    "store_in_time",
]


@dataclass(frozen=True)
class Schedule:
    name: str
    in_place: bool = True
    # prepares the next sweep: the order of visits, the messages it needs
    arrange: Callable[[State, Rule, ThreadPool], None] | None = None
    full_every: int = 1  # every so many sweeps all messages are renewed
    relaxation: float = 1.0  # factor on the change of a stored message,
    relax_after: int = 0  # after so many sweeps in which it is 1
    late_relaxation: float | None = None  # another factor, if there is one,
    late_after: int = 0  # after so many sweeps
    # of the first sweeps, while messages are not stored: how far tables move towards a message
    warm_up: tuple[float, ...] = ()
    stores: bool = True  # messages are stored from the start
    afresh: bool = False  # documents are inferred afresh in every round,
    fresh_rounds: int = 0  # or in so many rounds after the sweeps

    def relaxation_at(self, sweep: int) -> float:
        if self.late_relaxation is not None and sweep >= self.late_after:
            return self.late_relaxation
        return self.relaxation if sweep >= self.relax_after else 1.0


def largest_residual_first(state: State, rule: Rule, pool: ThreadPool) -> None:
    if state.sweep:
        visits = (state.graph.transposed or state.graph.arrays).cell_visit
        cell = np.repeat(np.arange(len(visits) - 1), np.diff(visits))
        state.messages.order[:] = np.lexsort((-state.messages.residual, cell))


def largest_residual_of_words_first(state: State, rule: Rule, pool: ThreadPool) -> None:
    if state.graph.transposed is None:
        state.visit_words()
    largest_residual_first(state, rule, pool)


def focus_on_what_moves(state: State, rule: Rule, pool: ThreadPool, tuning: Tuning) -> None:
    """Choose the documents and topics of the next sweep by how much they moved when they were last
    renewed.
    """
    graph, K = state.graph, state.graph.n_topics
    moved = (
        np.zeros((graph.n_slots, graph.width), np.float32)
        if state.active_set is None
        else state.active_set.moved
    )
    if state.active_set is None or (state.sweep + 1) % tuning.full_every == 0:
        n_docs, n_topics = graph.n_docs, K
    else:
        n_docs = max(1, int(np.ceil(tuning.active_documents * graph.n_docs)))
        n_topics = max(1, int(np.ceil(max(tuning.active_topics, tuning.shrink**state.sweep) * K)))
    slot = np.asarray(graph.arrays.slots)
    of_topics = moved[slot, :K]
    docs = np.zeros(graph.n_docs, bool)
    docs[np.argsort(-of_topics.sum(axis=1), kind="stable")[:n_docs]] = True
    topics = np.sort(np.argsort(-of_topics, axis=1, kind="stable")[:, :n_topics], axis=1).astype(
        np.int32
    )
    rows = np.flatnonzero(docs)
    moved[slot[rows][:, None], topics[rows]] = 0
    state.active_set = ActiveSet(docs, topics, moved)


def store_in_time(
    state: State, rule: Rule, pool: ThreadPool, warm_up: int, lists: bool, tuning: Tuning
) -> None:
    """After the warm-up sweeps store the messages: all of them, or those on topic lists, which are
    made anew now and then.
    """
    if state.sweep < warm_up:
        return
    if not state.stored:
        state.store(rule, pool, topic_lists(state, pool, tuning.many_edges) if lists else None)
    elif state.graph.listed and state.sweep % tuning.lists_every == 0:
        state.relist(rule, pool, topic_lists(state, pool, tuning.many_edges))
