"""The main loop: sweep, refresh, learn, look, stop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topoi.infer import kernels
from topoi.infer.bundles import Fields
from topoi.infer.crew import Crew
from topoi.infer.monitor import Monitor
from topoi.infer.priors import Learner
from topoi.infer.rules import Rule
from topoi.infer.schedules import Schedule
from topoi.infer.state import State, blank_tables, widened

__all__ = ["REBUILD_EVERY", "run", "sweep"]

REBUILD_EVERY = 50  # sweeps after which tables are counted anew


def run(
    state: State,
    rule: Rule,
    schedule: Schedule,
    *,
    max_iter: int,
    monitor: Monitor,
    crew: Crew,
    learners: Sequence[Learner] = (),
    rest: float = 0.0,
) -> State:
    """Sweep until the monitor says stop or `max_iter` sweeps are done. A visit that moved less than `rest` per token is left alone."""
    while state.sweep < max_iter:
        sweep(state, rule, schedule, crew, rest)
        if state.sweep % REBUILD_EVERY == 0:
            state.rebuild(rule, crew)
        for learner in learners:
            learner.update(state)
        if monitor.look(state, crew):
            break
    return state


def sweep(state: State, rule: Rule, schedule: Schedule, crew: Crew, rest: float = 0.0) -> None:
    """Renew every message once (`rule.inner` times against the same words)."""
    if schedule.arrange is not None and state.sweep:
        schedule.arrange(state)
    refresh_fields(state)
    for _ in range(rule.inner - 1):
        words, totals = state.tables.phi.copy(), state.tables.totals
        _pass_messages(state, rule, schedule, crew, rest)
        state.tables = state.tables._replace(phi=words, totals=totals)
    _pass_messages(state, rule, schedule, crew, rest)
    state.sweep += 1


def _pass_messages(state: State, rule: Rule, schedule: Schedule, crew: Crew, rest: float) -> None:
    graph = state.graph
    kernel = kernels.gibbs_stage if rule.draws else kernels.sweep_stage
    read, knobs = rule.seen(state.tables, state.knobs(rule, in_place=schedule.in_place, rest=rest))
    write = read if schedule.in_place else blank_tables(graph, state.spare)
    for stage in range(graph.n_word_blocks):
        crew.each(kernel, graph.wires, read, write, state.flow, state.fields, knobs, stage)
        if schedule.in_place:
            state.settle_stage()
    if not schedule.in_place:
        state.tables, state.spare = state.finished(write), state.tables


def refresh_fields(state: State) -> None:
    """Let documents hear each other: one weighted message per document, from the topic shares their owners give them now."""
    fields = state.graph.plan.fields
    if not fields:
        return
    silent = Fields(state.fields.message, np.zeros(state.graph.n_docs, np.float32))
    state.fields = silent
    shares, doc_weight = state.doc_topic(), state.graph.doc_weight
    message, weight = np.zeros((state.graph.n_docs, state.graph.n_topics)), np.zeros(state.graph.n_docs)
    for field in fields:
        heard = field.message(shares, doc_weight)
        message += field.weight * heard
        weight += field.weight * (heard.sum(axis=1) > 0)
    state.fields = Fields(widened(message, state.graph.width), weight.astype(np.float32))
