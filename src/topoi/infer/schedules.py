"""Schedules: which edges come next, and when the tables are refreshed.

synchronous   every message from the tables of the previous sweep; then the tables anew
asynchronous  tables change with every message; documents in one shuffled order, words ascending
residual      asynchronous, documents whose messages moved most in the last sweep first
auto          BP of documents that own themselves: a few brisk sweeps without stored messages, then asynchronous ones, with topic lists where
              topics are many; any other model or rule: asynchronous (VB: synchronous)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import psutil

from topoi.infer.lists import topic_lists
from topoi.infer.rules import Rule

if TYPE_CHECKING:
    from topoi.graph.wiring import Graph
    from topoi.infer.crew import Crew
    from topoi.infer.state import State

__all__ = ["BRISK", "SCHEDULES", "Schedule", "make_schedule"]

SCHEDULES = ("auto", "asynchronous", "synchronous", "residual")
BRISK = (5.0, 5.0, 5.0, 4.0, 4.0, 3.0, 3.0, 2.0, 2.0, 2.0)  # relaxation of the first sweeps of "auto" (docs/performance.md)
LISTS_ABOVE = 256  # topics: below, a dense sweep is as fast as one over lists
LISTS_EVERY = 10  # sweeps after which lists are made anew


@dataclass(frozen=True)
class Schedule:
    name: str
    in_place: bool = True
    arrange: Callable[[State, Rule, Crew], None] | None = None  # prepares the next sweep: the order of visits, the messages it needs
    relax: tuple[float, ...] = ()  # of the first sweeps, while messages are not stored: how far tables move towards a message

    @property
    def stores(self) -> bool:
        """Whether messages are stored from the start."""
        return self.name != "auto"


def _largest_residual_first(state: State, rule: Rule, crew: Crew) -> None:
    if state.sweep:
        cell = np.repeat(np.arange(len(state.graph.wires.cell_visit) - 1), np.diff(state.graph.wires.cell_visit))
        state.flow.order[:] = np.lexsort((-state.flow.residual, cell))


def _store_in_time(state: State, rule: Rule, crew: Crew) -> None:
    """After the brisk sweeps store the messages: all of them, or of many topics those on lists, which are made anew now and then."""
    if state.sweep < len(BRISK):
        return
    if not state.stored:
        dense = state.graph.n_topics <= LISTS_ABOVE and 4 * state.graph.message_size < psutil.virtual_memory().available
        state.store(rule, crew, None if dense else topic_lists(state, crew))
    elif state.graph.listed and state.sweep % LISTS_EVERY == 0:
        state.relist(rule, crew, topic_lists(state, crew))


def make_schedule(name: str, rule: Rule, graph: Graph | None = None, *, warm: bool = False) -> Schedule:
    """The schedule called `name`, refused where it makes no sense with `rule`. "auto" depends on the graph, and goes gently on from a warm start."""
    if name not in SCHEDULES:
        raise ValueError(f"schedule is {name!r}; choose one of {', '.join(map(repr, SCHEDULES))}.")
    if name == "auto":
        name = (
            "synchronous"
            if rule.digamma_owners
            else "auto"
            if rule.name == "bp" and rule.stored and _plain(graph) and not warm
            else "asynchronous"
        )
    if rule.draws and name == "synchronous":
        raise ValueError("rule='gibbs' must see each draw at once, or it samples from another distribution; use schedule='asynchronous'.")
    if rule.draws and name == "residual":
        raise ValueError("rule='gibbs' never comes to rest, so there are no residuals to follow; use schedule='asynchronous'.")
    if rule.digamma_owners and name != "synchronous":
        raise ValueError(
            "rule='vb' computes digamma once per document and topic, which needs schedule='synchronous'; "
            "for tables that change with every message use rule='sibp' or 'bp'."
        )
    if graph is not None and not rule.stored and not _plain(graph):
        raise ValueError(
            "messages='none' needs documents that own themselves and may use all topics (LDA without labels or authors); use messages='auto'."
        )
    return {
        "synchronous": Schedule(name, in_place=False),
        "asynchronous": Schedule(name),
        "residual": Schedule(name, arrange=_largest_residual_first),
        "auto": Schedule(name, arrange=_store_in_time, relax=BRISK),
    }[name]


def _plain(graph: Graph | None) -> bool:
    """Whether every document owns itself and may use all topics, and words hold nothing but the messages."""
    return graph is not None and graph.private and not len(graph.wires.topics) and graph.plan.word_base is None and not graph.tokens
