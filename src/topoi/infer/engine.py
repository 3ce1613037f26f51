"""The main loop: sweep, refresh, learn, look, stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from topoi.infer import kernels
from topoi.infer.afresh import infer_afresh
from topoi.infer.bundles import Fields
from topoi.infer.crew import Crew
from topoi.infer.monitor import Monitor
from topoi.infer.priors import Learner
from topoi.infer.rules import Rule
from topoi.infer.schedules import Schedule
from topoi.infer.state import State, blank_tables, widened

__all__ = ["REBUILD_EVERY", "run", "sweep"]

REBUILD_EVERY = 50  # sweeps after which tables are counted anew


class Saves(Protocol):
    """Keeps a run, so that it can go on after a crash."""

    def save(
        self,
        state: State,
        rule: Rule,
        schedule: Schedule,
        monitor: Monitor,
        *,
        last: bool,
    ) -> None: ...


def run(
    state: State,
    rule: Rule,
    schedule: Schedule,
    *,
    max_iter: int,
    monitor: Monitor,
    crew: Crew,
    learners: Sequence[Learner] = (),
    checkpoint: Saves | None = None,
) -> State:
    """Sweep until the monitor says stop or `max_iter` sweeps are done.

    The last `schedule.finish` sweeps infer documents afresh, with the priors as they are then.
    At the end tables are counted anew: what is in them then is a function of the messages alone.
    """
    monitor.follow(schedule.full_every, max(len(schedule.relax), *(learner.after for learner in learners), 0))
    while state.sweep < (state.end or max_iter):
        state.end = state.end or (max_iter if state.sweep >= max_iter - schedule.finish else None)
        sweep(state, rule, schedule, crew)
        if state.sweep % REBUILD_EVERY == 0:
            state.rebuild(rule, crew)
        for learner in learners if state.end is None else ():
            learner.update(state)
        if monitor.look(state, crew):
            if monitor.stopped:
                break
            state.end = min(state.sweep + schedule.finish, max_iter)
        if checkpoint is not None:
            last = state.sweep >= (state.end or max_iter)
            checkpoint.save(state, rule, schedule, monitor, last=last)
    state.rebuild(rule, crew)
    return state


def sweep(state: State, rule: Rule, schedule: Schedule, crew: Crew) -> None:
    """Renew every message once (those in focus, if the schedule is active), or infer all documents afresh."""
    if schedule.arrange is not None:
        schedule.arrange(state, rule, crew)
    if schedule.afresh or rule.inner > 1 or state.end is not None:
        state.mode = schedule.name if state.end is None else "afresh"
        refresh_fields(state)
        infer_afresh(state, rule, crew, schedule.step_of(state.sweep))
        state.sweep += 1
        return
    if not state.stored:
        _pass_tiny(state, rule, schedule, crew)
        state.sweep += 1
        return
    state.mode = "listed" if state.graph.listed else "relaxed" if schedule.name == "auto" else schedule.name
    refresh_fields(state)
    _pass_messages(state, rule, schedule, crew)
    state.sweep += 1


def _pass_tiny(state: State, rule: Rule, schedule: Schedule, crew: Crew) -> None:
    """A sweep without stored messages. Fields are silent."""
    graph, relax = state.graph, schedule.relax[state.sweep] if state.sweep < len(schedule.relax) else 1.0
    state.mode = "brisk" if state.sweep < len(schedule.relax) else schedule.name
    knobs = state.knobs(rule, in_place=schedule.in_place)
    write = state.tables if schedule.in_place else blank_tables(graph, state.spare)
    for stage in range(graph.n_word_blocks):
        crew.each(
            kernels.tiny_stage,
            graph.wires,
            state.tables,
            write,
            state.flow,
            knobs,
            state.doc_weight,
            state.word_weight,
            relax,
            rule.solve,
            stage,
        )
        if schedule.in_place:
            state.settle_stage()
    if not schedule.in_place:
        state.flow.residual[:] = np.abs(write.theta - state.tables.theta).sum() / max(len(state.flow.residual), 1)
        state.spare = state.tables
    state.tables = write._replace(totals=write.phi.sum(axis=0, dtype=np.float64))


def _pass_messages(state: State, rule: Rule, schedule: Schedule, crew: Crew) -> None:
    graph = state.graph
    if state.focus is not None:
        _pass_active(state, rule, crew)
        return
    kernel = kernels.gibbs_stage if rule.draws else kernels.sweep_stage if graph.max_owners == 1 else kernels.joint_stage
    read, knobs = rule.seen(state.tables, state.knobs(rule, in_place=schedule.in_place, step=schedule.step_of(state.sweep)))
    wires, read, knobs = state.facing(read, knobs)
    write = read if schedule.in_place else blank_tables(graph, state.spare)
    fields = state.fields if graph.turned is None else Fields(state.fields.message, np.zeros(graph.n_words, np.float32))
    for stage in range(graph.n_word_blocks):
        crew.each(kernel, wires, read, write, state.flow, fields, knobs, stage)
        if schedule.in_place:
            state.settle_stage()
    if not schedule.in_place:
        state.tables, state.spare = state.finished(write), state.tables


def _pass_active(state: State, rule: Rule, crew: Crew) -> None:
    knobs = state.knobs(rule, in_place=True)
    for stage in range(state.graph.n_word_blocks):
        crew.each(kernels.active_stage, state.graph.wires, state.tables, state.flow, state.focus, knobs, stage)
        state.settle_stage()


def refresh_fields(state: State) -> None:
    """Let documents hear each other: one weighted message per document, from the topic shares that are their own now."""
    fields = state.graph.plan.fields
    if not fields:
        return
    shares = state.own_topic()
    message, weight = np.zeros((state.graph.n_docs, state.graph.n_topics)), np.zeros(state.graph.n_docs)
    for field in fields:
        heard = state.heard(field, shares)
        message += field.weight * heard
        weight += field.weight * (heard.sum(axis=1) > 0)
    state.fields = Fields(widened(message, state.graph.width), weight.astype(np.float32))
