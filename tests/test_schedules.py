"""Schedules that go by word and that look only at what moves: their kernels against the twins, and
what they must not change.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from support import PLAIN_SCHEDULES, begin, called_from_python, small_counts, tune

from topoi import LDA, LabeledLDA, RelationalTopicModel
from topoi.datasets import make_lda
from topoi.graph.plan import Plan
from topoi.infer import engine, reference, schedules
from topoi.infer.arrays import ActiveSet
from topoi.infer.kernels.updates import over_relax
from topoi.infer.recipe import Settings, make_recipe
from topoi.infer.rules import make_rule
from topoi.infer.threads import ThreadPool
from topoi.rules import BP
from topoi.tuning import Tuning, tuned

grids = pytest.mark.parametrize("blocks", [1, 3])
rules = pytest.mark.parametrize("rule", ["bp", "sibp", "cvb0"])
ALPHA = np.array([0.05, 0.1, 0.2, 0.3, 0.4])


@grids
@rules
def test_a_sweep_by_word_is_the_reference_with_documents_and_words_exchanged(rule, blocks):
    run = begin(small_counts(), 5, rule, "residual-words", blocks=blocks, alpha=ALPHA)
    state = run.state
    state.visit_words()
    state.rebuild(run.rule, ThreadPool(1))
    mu = state.messages.mu.astype(np.float64)
    seen = replace(state.graph, arrays=state.graph.transposed, transposed=None)
    _, twin, _ = state.oriented(
        reference.doubled(state.tables), state.params(run.rule, in_place=True)
    )
    for _ in range(3):
        _, _, params = state.oriented(state.tables, state.params(run.rule, in_place=True))
        run.sweep()
        residual = reference.sweep(seen, twin, twin, mu, state.messages, no_fields(state), params)
        np.testing.assert_allclose(state.tables.phi, twin.theta, rtol=0, atol=1e-4)
        np.testing.assert_allclose(state.tables.theta, twin.phi, rtol=0, atol=1e-4)
        np.testing.assert_allclose(state.tables.totals, twin.totals, rtol=0, atol=1e-4)
        np.testing.assert_allclose(state.messages.mu, mu, rtol=0, atol=1e-5)
        np.testing.assert_allclose(state.messages.residual, residual, rtol=0, atol=1e-4)


def no_fields(state):
    return state.fields._replace(weight=np.zeros(state.graph.n_words, np.float32))


def test_turning_to_words_keeps_every_message_and_table():
    run = begin(small_counts(), 5, blocks=3)
    run.sweep(3)
    state, before = run.state, reference.doubled(run.state.tables)
    old = dict(zip(state.graph.arrays.edge_id.tolist(), run.messages.copy(), strict=True))
    state.visit_words()
    for edge, message in zip(state.graph.transposed.edge_id.tolist(), run.messages, strict=True):
        np.testing.assert_array_equal(message, old[edge])
    state.rebuild(run.rule, ThreadPool(1))
    np.testing.assert_allclose(state.tables.theta, before.theta, atol=1e-4)
    np.testing.assert_allclose(state.tables.phi, before.phi, atol=1e-4)


def test_relaxed_sweeps_get_further():
    corpus, _ = make_lda(200, 300, 30, random_state=0)

    def after(sweeps, schedule):
        options = {"doc_topic_prior": 0.1, "topic_word_prior": 0.05, "max_iter": sweeps, "tol": 0}
        return np.mean(
            [
                LDA(30, schedule=schedule, random_state=s, **options)
                .fit(corpus)
                .history_[-1]["perplexity"]
                for s in range(5)
            ]
        )

    assert after(20, "relaxed") < after(30, "asynchronous") < after(20, "asynchronous")


def test_a_relaxed_message_that_would_fall_below_zero_is_clipped():
    m, new = np.array([[0.9, 0.1, 0.0]], np.float32), np.array([0.2, 1.4, 0.4], np.float32)
    z = called_from_python(over_relax)(m, 0, new, np.float32(2), np.float32(1.5))
    np.testing.assert_allclose(new, [0, 1.0, 0.3], atol=1e-6)
    assert z == pytest.approx(1.3)


def test_auto_over_relaxes_more_once_topics_have_taken_shape():
    def schedule_of(plan, **settings):
        settings = {"rule": make_rule("bp"), **settings}
        return make_recipe(plan.facts, Settings(**settings)).schedule

    counts, late = small_counts(), Tuning().late_after
    by_auto = schedule_of(Plan(5, counts))
    factors = [by_auto.relaxation_at(sweep) for sweep in (0, 10, late - 1, late, 500)]
    assert factors == [1.0, 1.5, 1.5, 1.9, 1.9]
    shared = Plan(5, counts, owners=sparse.csr_array(np.ones((counts.shape[0], 2))))
    assert not shared.facts.private
    for schedule in (
        schedule_of(shared),  # the counts of an owner that blocks share are late in a sweep
        schedule_of(Plan(5, counts), schedule="relaxed"),
        schedule_of(Plan(5, counts), rule=make_rule(BP(relaxation=1.5))),
    ):
        assert schedule.relaxation_at(500) == 1.5
    damped = schedule_of(Plan(5, counts), rule=make_rule(BP(relaxation=0.7)))
    assert damped.relaxation_at(500) == 0.7


@grids
def test_late_sweeps_are_the_reference(blocks):
    run = begin(small_counts(), 5, schedule="relaxed", blocks=blocks, alpha=ALPHA)
    run.schedule = replace(run.schedule, late_relaxation=1.9, late_after=2)
    for _ in range(5):
        residual = run.sweep_both()
        np.testing.assert_allclose(run.state.messages.mu, run.mu, rtol=0, atol=1e-5)
        np.testing.assert_allclose(run.state.tables.phi, run.tables.phi, rtol=0, atol=1e-4)
        np.testing.assert_allclose(run.state.messages.residual, residual, rtol=0, atol=1e-4)
    assert run.state.relaxation == 1.9


def test_late_sweeps_get_further_and_end_at_a_fixed_point():
    corpus, _ = make_lda(200, 300, 30, alpha=0.5, random_state=0)

    def fits(sweeps, factor):
        options = {"doc_topic_prior": 0.1, "topic_word_prior": 0.05, "max_iter": sweeps, "tol": 0}
        with tuned(late_relaxation=factor, fresh_rounds=0):
            return [LDA(30, random_state=s, **options).fit(corpus).history_[-1] for s in range(5)]

    def perplexity(history):
        return np.mean([record["perplexity"] for record in history])

    assert perplexity(fits(40, 1.9)) < perplexity(fits(40, 1.5))
    assert max(record["residual"] for record in fits(600, 1.9)) < 1e-3


def test_words_that_moved_most_come_first():
    run = begin(small_counts(), 5, schedule="residual-words", blocks=2)
    run.sweep(2)
    schedules.largest_residual_of_words_first(run.state, run.rule, ThreadPool(1))
    cells, messages = run.state.graph.transposed.cell_visit, run.state.messages
    for first, last in zip(cells[:-1], cells[1:], strict=True):
        assert sorted(messages.order[first:last]) == list(range(first, last))
        assert (np.diff(messages.residual[messages.order[first:last]]) <= 0).all()


@grids
@rules
def test_an_active_sweep_is_the_reference(rule, blocks):
    run = begin(small_counts(), 5, rule, "active", blocks=blocks, alpha=ALPHA)
    state = run.state
    tables, mu = reference.doubled(state.tables), state.messages.mu.astype(np.float64)
    for _ in range(4):
        params = state.params(run.rule, in_place=True)
        run.schedule.arrange(state, run.rule, ThreadPool(1))
        active_set = ActiveSet(
            state.active_set.docs,
            state.active_set.topics,
            state.active_set.moved.astype(np.float64),
        )
        engine._pass_active(state, run.rule, ThreadPool(1))
        state.sweep += 1
        reference.active(state.graph, tables, mu, state.messages, active_set, params)
        np.testing.assert_allclose(state.tables.theta, tables.theta, rtol=0, atol=1e-4)
        np.testing.assert_allclose(state.tables.phi, tables.phi, rtol=0, atol=1e-4)
        np.testing.assert_allclose(state.tables.totals, tables.totals, rtol=0, atol=1e-4)
        np.testing.assert_allclose(state.messages.mu, mu, rtol=0, atol=1e-5)
        np.testing.assert_allclose(state.active_set.moved, active_set.moved, rtol=0, atol=1e-3)


def test_everything_active_is_asynchronous(monkeypatch):
    tune(monkeypatch, full_every=1)
    active = begin(small_counts(), 5, schedule="active", blocks=2)
    plain = begin(small_counts(), 5, blocks=2)
    for run in (active, plain):
        run.sweep(5)
    np.testing.assert_allclose(active.state.tables.theta, plain.state.tables.theta, atol=1e-3)
    np.testing.assert_allclose(active.messages, plain.messages, atol=1e-4)


def test_active_documents_and_topics_are_those_that_moved_most():
    run = begin(small_counts(), 5, schedule="active")
    for sweep in range(1, 13):
        moved = (
            None
            if run.state.active_set is None
            else run.state.active_set.moved[run.state.graph.arrays.slots, :5].copy()
        )
        run.schedule.arrange(run.state, run.rule, ThreadPool(1))
        active_set, full = run.state.active_set, sweep in (1, 10)
        assert active_set.docs.sum() == (20 if full else 10)
        assert active_set.topics.shape[1] == (
            5 if full else max(1, int(np.ceil(5 * max(0.2, 0.8 ** (sweep - 1)))))
        )
        if not full:
            assert (
                moved.sum(axis=1)[active_set.docs].min()
                >= moved.sum(axis=1)[~active_set.docs].max()
            )
        engine._pass_active(run.state, run.rule, ThreadPool(1))
        run.state.sweep += 1


@rules
@pytest.mark.parametrize("schedule", PLAIN_SCHEDULES)
def test_messages_and_tables_stay_sound(rule, schedule):
    counts = small_counts()
    run = begin(counts, 5, rule, schedule, blocks=3)
    run.sweep(60)
    np.testing.assert_allclose(run.messages.sum(axis=1), 1, atol=1e-4)
    assert run.messages.min() >= 0
    tables, graph = run.state.tables, run.state.graph
    np.testing.assert_allclose(
        tables.theta.sum(axis=1)[graph.arrays.slots], counts.sum(axis=1), atol=1e-2
    )
    np.testing.assert_allclose(tables.phi.sum(axis=1), counts.sum(axis=0), atol=1e-2)
    np.testing.assert_allclose(tables.totals, tables.phi.sum(axis=0), atol=1e-2)
    before = reference.doubled(tables)
    run.state.rebuild(run.rule, ThreadPool(1))
    np.testing.assert_allclose(run.state.tables.theta, before.theta, atol=1e-2)
    np.testing.assert_allclose(run.state.tables.phi, before.phi, atol=1e-2)


@rules
@pytest.mark.parametrize("schedule", PLAIN_SCHEDULES)
def test_planted_blocks_are_found(blocks, rule, schedule):
    corpus, truth = blocks
    model = LDA(
        4, rule=rule, schedule=schedule, doc_topic_prior=0.1, topic_word_prior=0.05, random_state=1
    ).fit(corpus)
    assert model.perplexity(corpus) < 1.1 * len(truth.topic_word[0]) / 4


def test_active_ends_after_a_full_sweep(mixed):
    model = LDA(5, schedule="active").fit(mixed[0])
    assert model.converged_
    assert model.n_iter_ % Tuning().full_every == 0


@pytest.mark.parametrize("schedule", PLAIN_SCHEDULES)
def test_refused_where_documents_do_not_own_themselves(schedule):
    counts = small_counts()
    with pytest.raises(ValueError, match="use schedule='auto'"):
        LabeledLDA(schedule=schedule).fit(counts, [["a"], ["b"]] * 10)
    with pytest.raises(ValueError, match="use schedule='auto'"):
        RelationalTopicModel(3, schedule=schedule).fit(counts, links=[(0, 1), (3, 4)])
    with pytest.raises(ValueError, match="needs stored messages"):
        LDA(3, schedule=schedule, rule=BP(messages="none")).fit(counts)
