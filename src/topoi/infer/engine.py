"""The main loop: sweep, refresh, learn, look, stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from topoi.infer import kernels
from topoi.infer.afresh import infer_afresh
from topoi.infer.arrays import Fields
from topoi.infer.memory import pad_topics
from topoi.infer.monitor import Monitor
from topoi.infer.out_of_core import sweep_blocks
from topoi.infer.priors import Learner
from topoi.infer.rules import Rule
from topoi.infer.schedules import Schedule
from topoi.infer.state import State
from topoi.infer.tables import blank_tables
from topoi.infer.threads import ThreadPool

__all__ = ["REBUILD_EVERY", "run", "sweep"]

REBUILD_EVERY = 50  # sweeps after which tables are counted anew


class Saves(Protocol):
    """Keeps a run, so that it can resume after a crash."""

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
    pool: ThreadPool,
    learners: Sequence[Learner] = (),
    checkpoint: Saves | None = None,
) -> State:
    """Sweep until the monitor says stop or `max_iter` sweeps are done.

    The last `schedule.fresh_rounds` sweeps infer documents afresh, all at once. At the end tables
    are counted anew: what is in them then is a function of the messages alone.
    """
    monitor.follow(
        schedule.full_every, max(len(schedule.warm_up), *(learner.after for learner in learners), 0)
    )
    monitor.begin(state)
    while state.sweep < (state.end or max_iter):
        if state.end is None and state.sweep >= max_iter - schedule.fresh_rounds:
            state.end = max_iter
        sweep(state, rule, schedule, pool)
        if state.sweep % REBUILD_EVERY == 0:
            state.rebuild(rule, pool)
        for learner in learners:
            learner.update(state)
        if monitor.look(state, pool):
            if monitor.stopped:
                break
            state.end = min(state.sweep + schedule.fresh_rounds, max_iter)
        if checkpoint is not None:
            last = state.sweep >= (state.end or max_iter)
            checkpoint.save(state, rule, schedule, monitor, last=last)
    state.rebuild(rule, pool)
    return state


def sweep(state: State, rule: Rule, schedule: Schedule, pool: ThreadPool) -> None:
    """Renew every message once (those in focus, if the schedule is active), or infer all documents
    afresh.
    """
    warms_up = state.sweep < len(schedule.warm_up)
    afresh = (schedule.afresh and not warms_up) or rule.inner > 1 or state.end is not None
    # The first messages carry little information: keeping a part of them would only delay the
    # others.
    at_once = afresh and (state.end is not None or state.sweep == 0)
    if state.elsewhere is not None:
        recalls = not (afresh or warms_up)
        sweep_blocks(
            state,
            rule,
            pool,
            lambda block: sweep(block, rule, schedule, pool),
            at_once=at_once,
            recalls=recalls,
        )
        state.sweep += 1
        return
    if schedule.arrange is not None:
        schedule.arrange(state, rule, pool)
    state.relaxation = 1.0
    if afresh:
        state.mode = schedule.name if state.end is None else "afresh"
        refresh_fields(state)
        infer_afresh(state, rule, pool, None if at_once else schedule.relaxation_at(state.sweep))
        state.sweep += 1
        return
    if not state.stored:
        _pass_stateless(state, rule, schedule, pool)
        state.sweep += 1
        return
    state.mode = (
        "listed" if state.graph.listed else "relaxed" if schedule.name == "auto" else schedule.name
    )
    refresh_fields(state)
    _pass_messages(state, rule, schedule, pool)
    state.sweep += 1


def _pass_stateless(state: State, rule: Rule, schedule: Schedule, pool: ThreadPool) -> None:
    """A sweep without stored messages. Fields are not used."""
    graph = state.graph
    relaxation = schedule.warm_up[state.sweep] if state.sweep < len(schedule.warm_up) else 1.0
    state.mode = "warm-up" if state.sweep < len(schedule.warm_up) else schedule.name
    state.relaxation = relaxation
    params = state.params(rule, in_place=schedule.in_place)
    write = state.tables if schedule.in_place else blank_tables(graph, state.word_base, state.spare)
    scratch = state.scratch(pool)
    for stage in range(graph.n_word_blocks):
        pool.each(
            kernels.stateless_stage,
            graph.arrays,
            state.tables,
            write,
            state.messages,
            params,
            state.doc_weight,
            state.word_weight,
            relaxation,
            None if schedule.in_place else rule.solve,
            scratch,
            stage,
        )
        if schedule.in_place:
            state.merge_stage()
    if not schedule.in_place:
        state.messages.residual[:] = np.abs(write.theta - state.tables.theta).sum() / max(
            len(state.messages.residual), 1
        )
        state.spare = state.tables
    state.tables = write._replace(totals=write.phi.sum(axis=0, dtype=np.float64))


def _pass_messages(state: State, rule: Rule, schedule: Schedule, pool: ThreadPool) -> None:
    graph = state.graph
    if state.active_set is not None:
        _pass_active(state, rule, pool)
        return
    state.relaxation = schedule.relaxation_at(state.sweep)
    read, params = rule.seen(
        state.tables,
        state.params(rule, in_place=schedule.in_place, relaxation=state.relaxation),
    )
    arrays, read, params = state.oriented(read, params)
    write = read if schedule.in_place else blank_tables(graph, state.word_base, state.spare)
    fields = (
        state.fields
        if graph.transposed is None
        else Fields(state.fields.message, np.zeros(graph.n_words, np.float32))
    )
    kernel, lists = (
        (kernels.gibbs_stage, ())
        if rule.draws
        else (kernels.sweep_stage, (arrays.lists,))
        if graph.max_owners == 1
        else (kernels.joint_stage, (arrays.lists,))
    )
    scratch = state.scratch(pool)
    for stage in range(graph.n_word_blocks):
        pool.each(
            kernel, arrays, *lists, read, write, state.messages, fields, params, scratch, stage
        )
        if schedule.in_place:
            state.merge_stage()
    if not schedule.in_place:
        state.tables, state.spare = state.finished(write), state.tables


def _pass_active(state: State, rule: Rule, pool: ThreadPool) -> None:
    params, scratch = state.params(rule, in_place=True), state.scratch(pool)
    for stage in range(state.graph.n_word_blocks):
        pool.each(
            kernels.active_stage,
            state.graph.arrays,
            state.tables,
            state.messages,
            state.active_set,
            params,
            scratch,
            stage,
        )
        state.merge_stage()


def refresh_fields(state: State) -> None:
    """Compute the fields: one weighted message per document, from the current topic proportions of
    the others.
    """
    if not state.graph.fields:
        return
    proportions = state.own_topic()
    message = np.zeros((state.graph.n_docs, state.graph.n_topics))
    weight = np.zeros(state.graph.n_docs)
    for number, learned in enumerate(state.learned):
        field_message = state.field_message(number, proportions)
        message += learned.weight * field_message
        weight += learned.weight * (field_message.sum(axis=1) > 0)
    state.fields = Fields(pad_topics(message, state.graph.width), weight.astype(np.float32))
