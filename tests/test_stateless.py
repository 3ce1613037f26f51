"""BP without stored messages, topic lists, and the schedule that uses both: kernels against their
twins, and what must stay true.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from support import begin, last_rounds, small_counts, tune

from topoi import LDA, AuthorTopicModel, RelationalTopicModel, datasets
from topoi.graph.plan import Plan
from topoi.infer import engine, kept, reference
from topoi.infer.recipe import Prior, Settings, make_recipe, named_schedule
from topoi.infer.schedules import Schedule
from topoi.infer.state import State
from topoi.infer.tables import blank_tables
from topoi.infer.threads import ThreadPool
from topoi.infer.topic_lists import EASY, HARD, topic_lists
from topoi.rules import BP, CVB0
from topoi.tuning import Tuning

grids = pytest.mark.parametrize("blocks", [1, 3])

pytestmark = pytest.mark.usefixtures("warm_up_always")


def tiny_run(blocks: int, start: str = "hard"):
    """A run on small_counts whose messages are not stored."""
    run = begin(small_counts(), 5, blocks=blocks)
    topics = np.random.default_rng(1).dirichlet(np.ones(25), 5).T
    word_topic = topics if start == "warm" else None
    run.state = State.start(
        run.state.graph,
        run.rule,
        np.full(5, 0.1),
        0.05,
        seed=0,
        pool=ThreadPool(1),
        init=start,
        word_topic=word_topic,
        stored=False,
    )
    return run


def assert_same_tables(tables, twin) -> None:
    np.testing.assert_allclose(tables.theta, twin.theta, rtol=0, atol=1e-4)
    np.testing.assert_allclose(tables.phi, twin.phi, rtol=0, atol=1e-4)
    np.testing.assert_allclose(tables.totals, twin.totals, rtol=0, atol=1e-4)


@grids
@pytest.mark.parametrize("start", ["hard", "soft", "warm"])
def test_the_start_is_that_of_stored_messages(blocks, start):
    topics = np.random.default_rng(1).dirichlet(np.ones(25), 5).T
    stored = begin(
        small_counts(),
        5,
        blocks=blocks,
        init=start,
        word_topic=topics if start == "warm" else None,
    )
    assert_same_tables(tiny_run(blocks, start).state.tables, stored.state.tables)


@grids
@pytest.mark.parametrize(
    ("in_place", "relaxation", "solve"),
    [(True, 1.0, 0), (True, 3.0, 0), (False, 1.0, 0), (False, 1.0, 4)],
)
def test_a_sweep_without_messages_is_the_reference(blocks, in_place, relaxation, solve):
    run = tiny_run(blocks)
    rule = replace(run.rule, solve=solve)
    schedule = Schedule(
        "asynchronous" if in_place else "synchronous", in_place=in_place, warm_up=(relaxation,) * 3
    )
    twin = reference.doubled(run.state.tables)
    for _ in range(3):
        params = run.state.params(run.rule, in_place=in_place)
        engine.sweep(run.state, rule, schedule, ThreadPool(1))
        write = twin if in_place else reference.doubled(blank_tables(run.state.graph, None))
        reference.stateless(
            run.state.graph,
            twin,
            write,
            run.state.messages,
            params,
            run.state.word_weight.astype(float),
            relaxation,
            solve,
        )
        twin = write
        assert_same_tables(run.state.tables, twin)


@pytest.mark.parametrize("relaxation", [1.0, 2.0, 5.0, 1e9])
def test_rows_keep_the_weight_of_their_document_and_word(relaxation):
    run = tiny_run(3)
    for _ in range(20):
        engine.sweep(
            run.state, run.rule, Schedule("asynchronous", warm_up=(relaxation,) * 20), ThreadPool(1)
        )
    tables, graph = run.state.tables, run.state.graph
    np.testing.assert_allclose(
        tables.theta.sum(axis=1)[graph.arrays.slots], graph.doc_weight, rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(tables.phi.sum(axis=1), run.state.word_weight, rtol=1e-4, atol=1e-5)
    assert tables.theta.min() >= 0
    assert tables.phi.min() >= 0


def test_synchronous_tbp_is_synchronous_sibp():
    stateless, run = tiny_run(2), begin(small_counts(), 5, "sibp", "synchronous", blocks=2)
    for _ in range(5):
        engine.sweep(
            stateless.state, stateless.rule, Schedule("synchronous", in_place=False), ThreadPool(1)
        )
        run.sweep()
    assert_same_tables(stateless.state.tables, run.state.tables)


@grids
def test_solved_messages_are_those_of_bp_at_rest(blocks):
    """Where BP has converge, the messages that the tables imply are the ones that were stored: a
    sweep of either moves nothing.
    """
    run = begin(small_counts(), 5, "bp", "synchronous", blocks=blocks)
    run.sweep(400)
    before, state = run.state.tables.theta.copy(), run.state
    state.stored = False
    engine.sweep(
        state, replace(run.rule, solve=60), Schedule("synchronous", in_place=False), ThreadPool(1)
    )
    np.testing.assert_allclose(state.tables.theta, before, atol=5e-3)
    # Not solved for: TBP converges elsewhere.
    engine.sweep(state, run.rule, Schedule("synchronous", in_place=False), ThreadPool(1))
    assert np.abs(state.tables.theta - before).max() > 0.02


def some_lists(n_docs: int, n_topics: int, seed: int) -> sparse.csr_array:
    dense = np.random.default_rng(seed).random((n_docs, n_topics)) < 0.6
    dense[:, 0] |= ~dense.any(axis=1)
    return sparse.csr_array(dense.astype(np.int8))


@grids
@pytest.mark.parametrize("listed", [False, True])
def test_recalled_messages_are_the_reference(blocks, listed):
    run = tiny_run(blocks)
    run.sweep(3)
    twin, word_weight = reference.doubled(run.state.tables), run.state.word_weight.astype(float)
    run.state.store(run.rule, ThreadPool(1), some_lists(20, 5, 0) if listed else None)
    params = run.state.params(run.rule, in_place=True)
    np.testing.assert_allclose(
        run.state.messages.mu,
        reference.recall(run.state.graph, twin, params, word_weight),
        atol=1e-5,
    )
    assert_same_tables(run.state.tables, reference.count(run.state.graph, run.state.messages.mu))


@grids
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("most", [1, 3])
def test_kept_messages_are_the_reference(blocks, listed, most, monkeypatch):
    monkeypatch.setattr(kept, "MOST", most)
    run, pool = tiny_run(blocks), ThreadPool(1)
    run.sweep(3)
    run.state.store(run.rule, pool, some_lists(20, 5, 0) if listed else None)
    for _ in range(3):
        engine.sweep(run.state, run.rule, Schedule("asynchronous"), pool)
    mu = run.state.messages.mu.copy()
    found = kept.keep(run.state, run.rule, pool)
    places, parts = reference.keep(run.state.graph, mu, most)
    np.testing.assert_array_equal(found.parts, parts)
    np.testing.assert_array_equal(found.places, places)

    twin, params = reference.doubled(run.state.tables), run.state.params(run.rule, in_place=True)
    implied = reference.recall(run.state.graph, twin, params, run.state.word_weight.astype(float))
    kept.recall(run.state, found, run.rule, pool, np.full_like(mu, np.nan))
    mu, theta = reference.restore(run.state.graph, implied, places, parts)
    np.testing.assert_allclose(run.state.messages.mu, mu, atol=1e-5)
    np.testing.assert_allclose(run.state.tables.theta, theta, atol=1e-4)


def test_a_message_of_few_topics_is_kept_whole():
    run, pool = tiny_run(2), ThreadPool(1)
    run.sweep(3)
    run.state.store(run.rule, pool)
    engine.sweep(run.state, run.rule, Schedule("asynchronous"), pool)
    mu = run.state.messages.mu.copy()
    kept.recall(run.state, kept.keep(run.state, run.rule, pool), run.rule, pool, np.zeros_like(mu))
    np.testing.assert_allclose(run.state.messages.mu, mu, atol=5 / kept.WHOLE)


@grids
def test_a_sweep_over_lists_is_the_reference(blocks):
    run = tiny_run(blocks)
    run.sweep(3)
    run.state.store(run.rule, ThreadPool(1), some_lists(20, 5, 0))
    run.tables, run.mu = (
        reference.doubled(run.state.tables),
        run.state.messages.mu.astype(np.float64),
    )
    for _ in range(3):
        run.sweep_both()
        assert_same_tables(run.state.tables, run.tables)
        np.testing.assert_allclose(run.state.messages.mu, run.mu, rtol=0, atol=1e-5)


def test_messages_move_to_new_lists():
    """A topic that stays keeps its proportion among those that stay; one that enters begins at 0;
    messages sum to 1.
    """
    run = tiny_run(3)
    old = some_lists(20, 5, 0).toarray() > 0
    new = some_lists(20, 5, 1).toarray() > 0
    run.sweep(3)
    run.state.store(run.rule, ThreadPool(1), sparse.csr_array(old.astype(np.int8)))
    run.sweep(2)
    before = spread(run.state)
    run.state.relist(run.rule, ThreadPool(1), sparse.csr_array(new.astype(np.int8)))
    after = spread(run.state)
    doc = np.repeat(run.state.graph.arrays.visit_doc, np.diff(run.state.graph.arrays.visit_edge))
    kept = before * new[doc]
    lost = kept.sum(axis=1) == 0
    expected = np.where(
        lost[:, None],
        new[doc] / new[doc].sum(axis=1, keepdims=True),
        kept / np.maximum(kept.sum(axis=1), 1e-30)[:, None],
    )
    np.testing.assert_allclose(after, expected, atol=1e-5)
    assert lost.any()
    assert_same_tables(run.state.tables, reference.count(run.state.graph, run.state.messages.mu))


def spread(state: State) -> np.ndarray:
    """(edges, K) listed messages with zeros for the topics that are not on the list."""
    w = state.graph.arrays
    out, at = np.zeros((state.graph.n_edges, state.graph.n_topics)), 0
    for e, doc in enumerate(np.repeat(w.visit_doc, np.diff(w.visit_edge))):
        topics = w.topics[w.topic_ptr[doc] : w.topic_ptr[doc + 1]]
        out[e, topics] = state.messages.mu[at : at + len(topics)]
        at += len(topics)
    return out


@pytest.mark.parametrize(
    ("n_jobs", "many_edges", "entry"), [(1, 2**21, EASY), (2, 2**21, EASY), (1, 0, HARD)]
)
def test_lists_are_the_reference(n_jobs, many_edges, entry):
    corpus, _ = datasets.make_lda(60, 40, 6, random_state=2)
    run = begin(corpus.counts, 6, blocks=3)
    run.state = State.start(
        run.state.graph, run.rule, np.full(6, 0.1), 0.05, seed=0, pool=ThreadPool(1), stored=False
    )
    run.sweep(12)
    with ThreadPool(n_jobs) as pool:
        lists = topic_lists(run.state, pool, many_edges).toarray() > 0
    tables, slot = reference.doubled(run.state.tables), np.asarray(run.state.graph.arrays.slots)
    held = tables.theta[slot, :6]
    keep = held >= 0.003 * corpus.counts.sum(axis=1)[:, None]
    keep[np.arange(60), held.argmax(axis=1)] = True
    tables = tables._replace(
        phi=tables.phi[:, :6], theta=tables.theta[:, :6], totals=tables.totals[:6]
    )
    expected = reference.admit(
        corpus.counts,
        slot,
        tables,
        run.state.alpha[:6],
        run.state.beta,
        keep,
        run.state.word_weight,
        *entry,
    )
    np.testing.assert_array_equal(lists, expected)
    assert not lists.all()
    assert (lists & ~keep).any()


def test_lists_of_many_edges_are_shorter_at_first_most_of_all(monkeypatch, mixed):
    tune(monkeypatch, lists_above=0)
    first, second, sizes = len(Tuning().warm_up), 20, []
    for many_edges in (2**21, 0):
        tune(monkeypatch, many_edges=many_edges)
        seen = []
        LDA(
            20,
            max_iter=second + 1,
            tol=0,
            callbacks=[lambda state, _, seen=seen: seen.append(state.graph.message_size)],
        ).fit(mixed[0])
        sizes.append(seen)
    few, many = sizes
    assert many[first] < few[first]
    assert many[second] <= few[second]
    assert many[second] / many[first] > few[second] / few[first]


def test_a_missing_topic_is_admitted(blocks):
    """Take the right topic from a document's list: the slope asks for it back."""
    corpus, _ = blocks
    run = begin(corpus.counts, 4, alpha=0.01, beta=0.01)
    run.sweep(60)
    best = run.state.owner_counts()[:, :4].argmax(axis=1)
    state = run.state
    # Every document is wrong now.
    state.tables.theta[:, :4] = np.roll(state.tables.theta[:, :4], 1, axis=1)
    lists = topic_lists(state, ThreadPool(1), Tuning().many_edges).toarray()
    assert lists[np.arange(len(best)), best].all()


@pytest.mark.parametrize("lists_above", [0, 256])
def test_auto_warms_up_then_stores(monkeypatch, mixed, lists_above):
    tune(monkeypatch, lists_above=lists_above)
    corpus, _ = mixed
    model = LDA(5, max_iter=30, tol=0).fit(corpus)
    chosen = [record["schedule"] for record in model.history_]
    # Lists are for many topics, which do not start overcomplete.
    warm_up = Tuning().short_warm_up if lists_above else Tuning().warm_up
    last = min(last_rounds(corpus), 30 // 4)
    stored = 30 - len(warm_up) - last
    assert (
        chosen
        == ["warm-up"] * len(warm_up)
        + ["relaxed" if lists_above else "listed"] * stored
        + ["afresh"] * last
    )
    plain = LDA(5, schedule="asynchronous", max_iter=30, tol=0).fit(corpus)
    assert model.perplexity(corpus) < 1.03 * plain.perplexity(corpus)
    np.testing.assert_array_equal(
        LDA(5, max_iter=30, tol=0, n_jobs=2).fit(corpus).components_, model.components_
    )


def test_auto_of_other_rules_and_of_a_warm_start_takes_no_warm_up(mixed):
    corpus, _ = mixed
    for rule, chosen in (
        ("sibp", "asynchronous"),
        ("gibbs", "asynchronous"),
        ("vb", "synchronous"),
    ):
        assert {r["schedule"] for r in LDA(3, rule=rule, max_iter=3).fit(corpus).history_} == {
            chosen
        }
    first = LDA(3, max_iter=3).fit(corpus)
    assert {r["schedule"] for r in LDA(3, init=first, max_iter=3).fit(corpus).history_} == {
        "relaxed"
    }


def test_auto_does_not_stop_in_its_warm_up(blocks):
    corpus, _ = blocks
    assert LDA(1, tol=0.5).fit(corpus).n_iter_ > len(Tuning().warm_up)


@pytest.mark.parametrize("schedule", ["asynchronous", "synchronous", "residual", "auto"])
def test_messages_none_finds_the_blocks(blocks, schedule):
    corpus, truth = blocks
    model = LDA(
        4,
        rule=BP(messages="none"),
        schedule=schedule,
        doc_topic_prior=0.1,
        topic_word_prior=0.05,
        random_state=1,
    ).fit(corpus)
    assert model.perplexity(corpus) < 1.1 * len(truth.topic_word[0]) / 4


def test_solved_messages_find_the_blocks_with_the_same_bits_on_any_number_of_threads(blocks):
    corpus, truth = blocks
    options = {
        "rule": BP(messages="solved"),
        "doc_topic_prior": 0.1,
        "topic_word_prior": 0.05,
        "random_state": 1,
    }
    one, two = (LDA(4, n_jobs=n, **options).fit(corpus) for n in (1, 2))
    assert one.perplexity(corpus) < 1.1 * len(truth.topic_word[0]) / 4
    assert {r["schedule"] for r in one.history_} == {"synchronous"}
    np.testing.assert_array_equal(one.components_, two.components_)
    with pytest.raises(ValueError, match="tables that stay the same during a sweep"):
        LDA(4, schedule="asynchronous", **options).fit(corpus)


def test_messages_none_is_refused_where_it_cannot_be():
    with pytest.raises(ValueError, match="Only BP works without stored messages"):
        CVB0(messages="none")
    with pytest.raises(ValueError, match="own themselves"):
        AuthorTopicModel(3, rule=BP(messages="none")).fit(small_counts(), authors=[["a"]] * 20)


def test_make_schedule_without_a_plan_takes_no_warm_up():
    assert named_schedule("auto", begin(small_counts()).rule).name == "relaxed"


def test_few_edges_need_no_haste(monkeypatch, mixed):
    tune(monkeypatch, warm_up_from=10**6)
    assert {r["schedule"] for r in LDA(3, max_iter=20).fit(mixed[0]).history_} == {
        "relaxed",
        "afresh",
    }


@pytest.mark.parametrize(("max_iter", "warm_up"), [(1, 0), (2, 1), (10, 5), (29, 14), (200, 15)])
def test_at_most_half_of_the_sweeps_are_warm_up(monkeypatch, mixed, max_iter, warm_up):
    tune(monkeypatch, lists_above=0)
    model = LDA(3, max_iter=max_iter, tol=0).fit(mixed[0])
    assert [r["schedule"] for r in model.history_].count("warm-up") == warm_up


def test_links_are_heard_however_few_sweeps_there_are():
    corpus, _ = datasets.make_links(60)
    options = {"max_iter": 4, "tol": 0, "random_state": 1}
    linked = RelationalTopicModel(4, link_weight=0.5, **options).fit(corpus)
    assert not np.array_equal(linked.components_, LDA(4, **options).fit(corpus.counts).components_)
    with pytest.raises(ValueError, match="use rule='bp'"):
        RelationalTopicModel(4, rule=BP(messages="none")).fit(corpus)


def test_synchronous_tbp_has_a_residual(mixed):
    model = LDA(3, rule=BP(messages="none"), schedule="synchronous", max_iter=5).fit(mixed[0])
    assert all(0 < r["residual"] <= 2 for r in model.history_)


def test_haste_wipes_out_no_topics():
    """Many topics, learned priors: as many different ones as without warm-up sweeps."""
    corpus, _ = datasets.make_lda(1200, 800, 40, alpha=0.05, random_state=5)
    found = {
        schedule: len(
            {
                tuple(words)
                for words in LDA(40, schedule=schedule, max_iter=60).fit(corpus).top_words(5)
            }
        )
        for schedule in ("auto", "asynchronous")
    }
    assert found["auto"] >= found["asynchronous"] - 2


def test_a_heavy_prior_needs_no_haste(mixed):
    """Relaxation is 1 where the prior weighs as much as a tenth of a document."""
    corpus, _ = mixed
    plan = Plan(5, corpus.counts)
    mean = corpus.counts.sum() / corpus.n_docs

    def warm_up(share: float, **options) -> tuple[float, ...]:
        """Of a prior whose sum is this proportion of a document."""
        alpha = Prior(np.full(5, share * mean / 5), False)
        settings = Settings(begin(small_counts()).rule, doc_topic_prior=alpha, **options)
        return make_recipe(plan.facts, settings).schedule.warm_up

    assert set(warm_up(0.2)) == {1.0}
    assert warm_up(0.05) == Tuning().short_warm_up
    assert warm_up(0.05, init="soft") == Tuning().warm_up
