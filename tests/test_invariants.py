"""What holds for every corpus, rule and schedule, after any number of sweeps."""

from __future__ import annotations

import mmap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from support import Run, begin, every_combination, small_counts

from topoi import datasets
from topoi.infer import engine, reference
from topoi.infer.history import Record
from topoi.infer.memory import allocate, release
from topoi.infer.monitor import Monitor
from topoi.infer.threads import ThreadPool

COUNTS = st.sampled_from([0.0, 0.0, 0.0, 1.0, 2.0, 7.0, 40.0])
WEIGHTS = st.sampled_from([0.0, 0.0, 0.0, 0.001, 0.3, 1.0, 2.5, 120.75])


@st.composite
def corpora(draw, entries):
    """Up to 6 documents of up to 6 words, with empty documents, unused words, one document or one
    word, and at least one entry.
    """
    matrix = draw(
        arrays(np.float64, (draw(st.integers(1, 6)), draw(st.integers(1, 6))), elements=entries)
    )
    if not matrix.any():
        matrix[
            draw(st.integers(0, matrix.shape[0] - 1)), draw(st.integers(0, matrix.shape[1] - 1))
        ] = 1.0
    return sparse.csr_array(matrix)


def assert_tables_hold_the_corpus(run: Run, counts: sparse.csr_array) -> None:
    """Messages are distributions; tables and totals hold every token once; nothing is negative or
    in a padding topic.
    """
    graph, tables, K = run.state.graph, run.state.tables, run.state.graph.n_topics
    by_doc, by_word, n = counts.sum(axis=1), counts.sum(axis=0), counts.sum()
    if run.rule.draws:
        assert run.state.messages.z.min() >= 0
        assert run.state.messages.z.max() < K
    else:
        np.testing.assert_allclose(run.messages.sum(axis=1), 1, rtol=0, atol=1e-5)
        assert (run.messages >= 0).all()
        assert (run.messages[:, K:] == 0).all()
    theta = tables.theta[graph.arrays.slots]  # rows in document order
    np.testing.assert_allclose(theta.sum(axis=1), by_doc, rtol=2e-5, atol=2e-6 * n)
    np.testing.assert_allclose(tables.phi.sum(axis=1), by_word, rtol=2e-5, atol=2e-6 * n)
    np.testing.assert_allclose(
        tables.totals, tables.phi.sum(axis=0, dtype=np.float64), rtol=2e-5, atol=2e-6 * n
    )
    np.testing.assert_allclose(tables.totals.sum(), n, rtol=1e-5)
    for table in (tables.theta, tables.phi):
        assert (table >= 0).all()
        assert (table[:, K:] == 0).all()
    assert tables.totals.min() > -1e-6 * n
    assert np.isfinite(run.state.messages.residual).all()


def assert_invariants(
    counts: sparse.csr_array, rule: str, schedule: str, n_topics: int, blocks: int, **options: str
) -> None:
    run = begin(counts, n_topics, rule, schedule, blocks=blocks, **options)
    assert_tables_hold_the_corpus_at_start(run, counts)
    for _ in range(4):
        run.sweep()
        assert_tables_hold_the_corpus(run, counts)
    run.state.rebuild(run.rule, ThreadPool(1))
    assert_tables_hold_the_corpus(run, counts)
    np.testing.assert_allclose(run.state.doc_topic().sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(run.state.topic_word().sum(axis=1), 1, rtol=1e-6)


def assert_tables_hold_the_corpus_at_start(run: Run, counts: sparse.csr_array) -> None:
    run.state.messages.residual[:] = 0  # no sweep has been made
    assert_tables_hold_the_corpus(run, counts)


@every_combination
@settings(max_examples=40)
@given(counts=corpora(COUNTS), n_topics=st.sampled_from([1, 2, 3, 17]), blocks=st.integers(1, 3))
def test_nothing_is_lost(rule, schedule, counts, n_topics, blocks):
    assert_invariants(counts, rule, schedule, n_topics, blocks)


@pytest.mark.parametrize("schedule", ["asynchronous", "synchronous", "residual"])
@pytest.mark.parametrize("rule", ["bp", "sibp", "cvb0"])
@settings(max_examples=40)
@given(counts=corpora(WEIGHTS), n_topics=st.sampled_from([1, 2, 17]), blocks=st.integers(1, 3))
def test_nothing_is_lost_of_weights(rule, schedule, counts, n_topics, blocks):
    assert_invariants(counts, rule, schedule, n_topics, blocks, messages="edge")


@settings(max_examples=30)
@given(
    counts=corpora(WEIGHTS),
    n_topics=st.sampled_from([1, 2, 17]),
    options=st.sampled_from([{"inner": 3}, {"textbook": True}]),
)
def test_nothing_is_lost_by_variants_of_vb(counts, n_topics, options):
    assert_invariants(counts, "vb", "synchronous", n_topics, 2, **options)


@every_combination
def test_no_topic_is_no_choice(rule, schedule):
    """With one topic every message is 1 and stays 1."""
    counts = small_counts()
    run = begin(counts, 1, rule, schedule, blocks=2)
    run.sweep(3)
    np.testing.assert_allclose(run.state.messages.residual, 0, rtol=0, atol=1e-5)
    np.testing.assert_allclose(run.state.tables.phi[:, 0], counts.sum(axis=0), rtol=1e-6)


# ---------------------------------------------------------------------- s-siBP climbs its posterior


def log_posterior(
    counts: sparse.csr_array, theta: np.ndarray, phi: np.ndarray, alpha: float, beta: float
) -> float:
    """sum x log sum_k theta phi + alpha sum log theta + beta sum log phi: MAP with Dirichlet
    parameters alpha + 1, beta + 1 (1.3).

    theta, phi: (D, K) and (W, K) counts.
    """
    doc_topic = (theta + alpha) / (theta + alpha).sum(axis=1, keepdims=True)
    word_topic = (phi + beta) / (phi + beta).sum(axis=0)
    gain = reference.log_likelihood(counts, doc_topic, word_topic.T).sum()
    return gain + alpha * np.log(doc_topic).sum() + beta * np.log(word_topic).sum()


@settings(max_examples=40)
@given(
    counts=corpora(WEIGHTS),
    n_topics=st.integers(2, 4),
    blocks=st.integers(1, 2),
    init=st.sampled_from(["hard", "soft"]),
)
def test_simplified_bp_never_descends(counts, n_topics, blocks, init):
    """Every step of s-siBP raises the penalised log posterior: of the twin to double precision, of
    the kernel to single.
    """
    alpha, beta = 0.3, 0.2
    run = begin(
        counts, n_topics, "sibp", "synchronous", blocks=blocks, alpha=alpha, beta=beta, init=init
    )
    slots = run.state.graph.arrays.slots
    before = twin_before = -np.inf
    for _ in range(15):
        here = log_posterior(
            counts,
            run.state.tables.theta[slots, :n_topics].astype(float),
            run.state.tables.phi[:, :n_topics].astype(float),
            alpha,
            beta,
        )
        twin = log_posterior(
            counts, run.tables.theta[slots, :n_topics], run.tables.phi[:, :n_topics], alpha, beta
        )
        assert here >= before - 1e-6 * abs(here)
        assert twin >= twin_before - 1e-9 * abs(twin)
        before, twin_before = here, twin
        run.sweep_both()


def test_simplified_bp_climbs_on_a_real_corpus():
    """60 steps on mixed topics: not one of them down, and a long way up.

    BP, which has no such guarantee, descends on this corpus.
    """
    counts = datasets.make_lda(80, 60, 4, random_state=3)[0].counts
    climbs = {}
    for rule in ("sibp", "bp"):
        run = begin(counts, 4, rule, "synchronous", alpha=0.1, beta=0.05)
        slots, heights = run.state.graph.arrays.slots, []
        for _ in range(60):
            run.sweep()
            theta = run.state.tables.theta[slots, :4].astype(float)
            phi = run.state.tables.phi[:, :4].astype(float)
            heights.append(log_posterior(counts, theta, phi, 0.1, 0.05))
        climbs[rule] = np.diff(heights)
    tolerance = 1e-7 * abs(heights[-1])
    assert (climbs["sibp"] > -tolerance).all()
    assert climbs["sibp"].sum() > 1000
    assert (climbs["bp"] < -tolerance).any()


# ----------------------------------------------------------------------------------------- rounding


@pytest.mark.parametrize("schedule", ["asynchronous", "residual"])
@pytest.mark.parametrize("rule", ["bp", "sibp", "cvb0"])
def test_tables_do_not_drift(rule, schedule):
    """1,000 sweeps of differences without one rebuild: the tables still are the counted messages,
    to one part in 10,000.
    """
    counts = datasets.make_lda(60, 50, 4, random_state=2)[0].counts
    run = begin(counts, 4, rule, schedule, blocks=2)
    run.sweep(1000)
    exact = reference.count(run.state.graph, run.state.messages.mu.astype(np.float64))
    np.testing.assert_allclose(run.state.tables.theta, exact.theta, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(run.state.tables.phi, exact.phi, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(run.state.tables.totals, exact.totals, rtol=1e-5)
    assert_tables_hold_the_corpus(run, counts)


def test_gibbs_tables_stay_whole_numbers():
    counts = small_counts()
    run = begin(counts, 4, "gibbs", blocks=2)
    run.sweep(1000)
    before = [table.copy() for table in run.state.tables]
    run.state.rebuild(run.rule, ThreadPool(1))
    for old, new in zip(before[:3], run.state.tables[:3], strict=True):
        np.testing.assert_array_equal(old, new)


def test_rebuilding_changes_nothing_but_rounding():
    """`run` rebuilds the tables every 50 sweeps; 120 sweeps end where 120 sweeps without rebuilding
    end.
    """
    counts = datasets.make_lda(60, 50, 4, random_state=2)[0].counts
    plain, rebuilt = (begin(counts, 4, blocks=2) for _ in range(2))
    plain.sweep(120)
    engine.run(
        rebuilt.state,
        rebuilt.rule,
        rebuilt.schedule,
        max_iter=120,
        monitor=Monitor(),
        pool=ThreadPool(1),
    )
    assert rebuilt.state.sweep == plain.state.sweep == 120
    np.testing.assert_allclose(
        rebuilt.state.doc_topic(), plain.state.doc_topic(), rtol=0, atol=1e-3
    )


def test_tables_are_rebuilt_every_fifty_sweeps_and_at_the_end():
    """Then they are the counted messages bit for bit; after 49 sweeps they differ in the last
    places.
    """
    run, counted = begin(datasets.make_lda(60, 50, 4, random_state=2)[0].counts, 4, blocks=2), {}

    def look(state, record):
        before = [state.tables.theta.copy(), state.tables.phi.copy()]
        state.rebuild(run.rule, ThreadPool(1))
        counted[record.sweep] = all(
            (a == b).all() for a, b in zip(before, state.tables[:2], strict=True)
        )
        return record.sweep == 60

    engine.run(
        run.state,
        run.rule,
        run.schedule,
        max_iter=100,
        monitor=Monitor(callbacks=[look]),
        pool=ThreadPool(1),
    )
    assert [sweep for sweep, same in counted.items() if same] == [50]
    run = begin(datasets.make_lda(60, 50, 4, random_state=2)[0].counts, 4, blocks=2)
    look(
        engine.run(
            run.state, run.rule, run.schedule, max_iter=49, monitor=Monitor(), pool=ThreadPool(1)
        ),
        Record(-1, 0, 0, None),
    )
    assert counted[-1]


# ------------------------------------------------------------------------------------- equivalences


def test_tied_tokens_stay_tied():
    """s-CVB0 with one message per edge is s-CVB0 with one per token, if the tokens of an edge start
    alike (algorithms 1.4).
    """
    counts = datasets.make_lda(40, 30, 4, random_state=2)[0].counts
    assert counts.max() > 3
    topics = np.random.default_rng(0).dirichlet(np.ones(30), 4).T
    edge, token = (
        begin(counts, 4, "cvb0", "synchronous", messages=m, init="warm", word_topic=topics)
        for m in ("edge", "token")
    )
    assert token.state.graph.n_edges == counts.sum()
    for _ in range(10):
        edge.sweep()
        token.sweep()
        np.testing.assert_allclose(
            edge.state.tables.theta, token.state.tables.theta, rtol=1e-5, atol=1e-3
        )
        np.testing.assert_allclose(
            edge.state.tables.phi, token.state.tables.phi, rtol=1e-5, atol=1e-3
        )


def test_the_three_exclusions_agree_on_single_tokens():
    """Where every count is 1, removing one token is removing the edge: s-CVB0 == s-BP, and siBP
    differs.
    """
    counts = sparse.csr_array((small_counts().toarray() > 0).astype(np.float64))
    bp, cvb0, sibp = (
        begin(counts, 4, rule, "synchronous", messages="edge") for rule in ("bp", "cvb0", "sibp")
    )
    for run in (bp, cvb0, sibp):
        run.sweep(5)
    np.testing.assert_array_equal(bp.messages, cvb0.messages)
    assert np.abs(bp.messages - sibp.messages).max() > 0.01


@pytest.mark.parametrize("rule", ["sibp", "bp", "cvb0", "vb"])
def test_synchronous_sweeps_do_not_see_the_grid(rule):
    """Messages come from the last sweep's tables, so only the order of additions differs between
    grids.
    """
    counts = datasets.make_lda(60, 50, 4, random_state=2)[0].counts
    results = []
    for blocks in (1, 2, 3, 7):
        run = begin(counts, 4, rule, "synchronous", blocks=blocks)
        run.sweep(10)
        results.append((run.state.tables.theta[run.state.graph.arrays.slots], run.state.tables.phi))
    for theta, phi in results[1:]:
        np.testing.assert_allclose(theta, results[0][0], rtol=0, atol=2e-3)
        np.testing.assert_allclose(phi, results[0][1], rtol=0, atol=2e-3)


@pytest.mark.parametrize("rule", ["bp", "sibp"])
def test_asynchronous_sweeps_reach_the_same_quality_on_every_grid(rule):
    """The grid changes the order, not the quality (A4): training perplexity within 3 %."""
    counts = datasets.make_lda(100, 60, 4, random_state=2)[0].counts
    perplexities = []
    for blocks in (1, 3, 6):
        run = begin(counts, 4, rule, blocks=blocks)
        run.sweep(60)
        perplexities.append(
            np.exp(
                -reference.log_likelihood(
                    counts, run.state.doc_topic(), run.state.topic_word()
                ).sum()
                / counts.sum()
            )
        )
    np.testing.assert_allclose(perplexities, perplexities[0], rtol=0.03)


def test_scaling_weights_and_priors_together_changes_nothing():
    """BP's messages depend on counts relative to priors only."""
    counts = datasets.make_lda(40, 30, 4, random_state=2)[0].counts
    plain = begin(counts, 4, alpha=0.1, beta=0.05)
    doubled = begin(2 * counts, 4, alpha=0.2, beta=0.1)
    for run in (plain, doubled):
        run.sweep(5)
    np.testing.assert_allclose(plain.messages, doubled.messages, rtol=0, atol=1e-5)


@pytest.mark.parametrize("n", [0, 7, 2**20 + 3])
@pytest.mark.parametrize("populate", [True, False])
def test_fresh_memory_is_zero_and_may_be_written(monkeypatch, n, populate):
    if not populate:
        monkeypatch.delattr("mmap.MAP_POPULATE", raising=False)
    fresh = allocate(n)
    assert fresh.shape == (n,)
    assert fresh.dtype == np.float32
    assert not fresh.any()
    fresh[:] = 1


def test_memory_is_given_back_by_whole_pages():
    """What was given back reads as 0 where the system took it; its neighbours stay, and arrays that
    are not ours are left alone.
    """
    for array in (
        allocate(2**20),
        allocate(2**20, at_once=False),
        np.zeros(2**20, np.float32),
        np.zeros(2**20, np.float32)[:],
    ):
        array[:] = 1
        release(array, 10, 2**19 + 10)
        assert (array[:10] == 1).all()
        assert (array[2**19 + 10 :] == 1).all()
        assert set(np.unique(array)) <= {0, 1}
    if hasattr(mmap, "MAP_POPULATE"):
        array = allocate(2**20)
        array[:] = 1
        release(array, 0, 2**20)
        assert not array.any()
