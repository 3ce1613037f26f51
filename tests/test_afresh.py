"""Documents inferred afresh: the equations, blocks that take turns, and what is (not) kept between
rounds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import psi
from support import begin, last_rounds, small_counts, tune

from topoi import LDA, AuthorTopicModel, LabeledLDA, RelationalTopicModel, datasets, evaluate
from topoi.graph.factors import (
    Documents,
    Labels,
    Links,
    Words,
    canonical_factor,
    compile_factors,
    make_plan,
)
from topoi.infer import afresh, reference
from topoi.infer.blocks import make_blocks
from topoi.infer.engine import sweep
from topoi.infer.recipe import Settings, make_recipe, named_schedule
from topoi.infer.rules import make_rule
from topoi.infer.state import State
from topoi.infer.threads import ThreadPool
from topoi.rules import BP
from topoi.tuning import tuned

ALPHA, BETA = 0.1, 0.05


FACTOR = 1.5  # over-relaxation from the first round on
TURNS = replace(named_schedule("incremental", make_rule("bp")), relaxation=FACTOR, relax_after=0)
FACTORS = {  # beside the words of twenty documents
    "plain": [],
    "labels": [Labels([[d % 4] if d % 3 else [] for d in range(20)], 1, np.arange(4))],
    "many labels": [Labels([[0, 1, 2, d % 3] for d in range(20)], 2, np.arange(3))],
    "links": [Links([(0, 1), (1, 3), (5, 9), (7, 3)], 0.3)],
}


def started(counts, *factors, n_topics: int = 5, blocks: int = 3) -> State:
    """A run of schedule="incremental" before its first round."""
    beside = [canonical_factor(factor, counts.shape[0]) for factor in (Documents(), *factors)]
    graph = compile_factors([Words(counts), *beside], n_topics, blocks=blocks)
    return State.start(
        graph,
        make_rule("bp"),
        np.full(n_topics, ALPHA),
        BETA,
        seed=0,
        pool=ThreadPool(1),
        stored=False,
    )


def rounds(state: State, n: int) -> None:
    for _ in range(n):
        sweep(state, make_rule("bp"), TURNS, ThreadPool(1))


def one_document(
    x: np.ndarray, phi: np.ndarray, totals: np.ndarray, passes: int, discount: float
) -> np.ndarray:
    """(words, K) messages of one document by the equation of docs/afresh.md, word by word in plain
    NumPy.
    """
    words, mu = np.flatnonzero(x), np.zeros(phi.shape)
    others = phi * np.maximum(1 - x / np.maximum(phi.sum(axis=1), 1e-30), 0)[:, None]
    word_term = (others + BETA) / (totals + len(phi) * BETA)
    mu[words] = word_term[words] / word_term[words].sum(axis=1, keepdims=True)
    theta = x @ mu
    for _ in range(passes):
        for w in words:
            new = word_term[w] * (np.maximum(theta - x[w] * mu[w] - discount, 0) + ALPHA)
            new /= new.sum()
            theta += x[w] * (new - mu[w])
            mu[w] = new
    return mu


def test_a_document_is_the_equation():
    counts = small_counts()
    run = begin(counts, 5, "bp", "incremental", blocks=1)
    phi, totals = run.state.tables.phi[:, :5].astype(float), run.state.tables.totals[:5].copy()
    run.sweep()
    of_edge = np.zeros((counts.nnz, 5))
    of_edge[run.state.graph.arrays.edge_id] = run.messages[:, :5]
    for doc in (0, 1, 7):
        x = counts[[doc]].toarray()[0]
        expected = one_document(x, phi, totals, afresh.PASSES, afresh.DISCOUNT)
        found = of_edge[counts.indptr[doc] : counts.indptr[doc + 1]]
        assert_allclose(
            found, expected[counts.indices[counts.indptr[doc] : counts.indptr[doc + 1]]], atol=1e-5
        )


@pytest.mark.parametrize("many", [False, True], ids=["all topics", "topic lists"])
@pytest.mark.parametrize("beside", list(FACTORS))
def test_a_round_of_blocks_is_the_reference(monkeypatch, many, beside):
    """Blocks in turn: each finds its topics and its messages, and exchanges them for its part of
    what words hold.
    """
    if many:
        tune(monkeypatch, lists_above=4, favoured_topics=3)
    state, rule = started(small_counts(), *FACTORS[beside]), make_rule("bp")
    rounds(state, 3)
    twin, params = reference.doubled(state.tables), state.params(rule, in_place=False)
    rounds(state, 1)
    arrays = state.blocks.arrays
    if many:
        lists = reference.favoured(
            state.graph, twin.phi, state.word_weight, afresh.LEAST_OF_WORD, state.fields,
            arrays.topic_ptr,
        )  # fmt: skip
        arrays = arrays._replace(topics=lists)
        assert np.diff(arrays.topic_ptr).max() == 3
    graph, mu = replace(state.graph, arrays=arrays), np.zeros(len(state.blocks.mu))
    for docs in state.blocks.docs:
        how = afresh.settings(state, rule, by_part=False)
        held = afresh.held_by_words(twin.phi, fixed=False)
        reference.infer(graph, twin, held, mu, state.fields, params, how, docs)
        reference.exchange(graph, twin.phi, mu, state.word_weight, FACTOR, docs)
        twin.totals[:] = twin.phi.sum(axis=0)
    assert len(state.blocks.docs) == 3
    assert_allclose(state.tables.phi, twin.phi, atol=2e-4)
    assert_allclose(state.tables.theta, twin.theta, atol=2e-4)
    assert_allclose(state.tables.phi.sum(axis=1), small_counts().sum(axis=0), rtol=1e-4)


def test_the_last_rounds_count_all_messages_at_once():
    """What words hold then is the sum of the new messages, whatever it was before."""
    state, rule = started(small_counts()), make_rule("bp")
    rounds(state, 2)
    twin, params = reference.doubled(state.tables), state.params(rule, in_place=False)
    state.end = 3
    rounds(state, 1)
    graph, mu = state.graph, np.zeros(state.graph.message_size)
    how = afresh.settings(state, rule, by_part=True)
    held = afresh.held_by_words(twin.phi, fixed=False)
    reference.infer(graph, twin, held, mu, state.fields, params, how, range(graph.n_docs))
    assert (state.mode, len(state.blocks.docs)) == ("afresh", 3)
    assert_allclose(state.tables.phi, reference.count(graph, mu).phi, atol=1e-4)


def test_documents_hold_their_tokens_and_messages_of_one_block_exist_at_a_time():
    counts = small_counts(60)
    state = started(counts, blocks=4)
    rounds(state, 3)
    slots = state.graph.arrays.slots
    assert_allclose(state.tables.theta[slots].sum(axis=1), counts.sum(axis=1), rtol=1e-5)
    assert len(state.messages.mu) == 0
    sizes = [counts[docs].nnz * state.graph.width for docs in state.blocks.docs]
    assert len(state.blocks.mu) == max(sizes) < counts.nnz * state.graph.width / 2
    assert_array_equal(
        np.sort(np.concatenate(state.blocks.docs)), np.flatnonzero(counts.sum(axis=1))
    )


@pytest.mark.parametrize("parts", [8, 2, 1])
def test_blocks_of_any_size_have_room_for_their_messages(parts):
    """Messages of a block lie one behind the other, and blocks stay inside those of the grid."""
    counts = small_counts(60)
    graph = started(counts, blocks=4).graph
    ptr, visits = graph.visits_of_docs
    of_grid = np.searchsorted(
        graph.arrays.cell_visit[:: graph.n_word_blocks], visits[ptr[:-1]], side="right"
    )
    held = np.bincount(of_grid, counts.count_nonzero(axis=1) * graph.width)
    most = int(np.ceil(held.max() / parts))
    with tuned(chunk_bytes=4 * most):
        blocks = make_blocks(graph)
    for docs in blocks.docs:
        assert len(np.unique(of_grid[docs])) == 1
        places = np.concatenate([visits[ptr[doc] : ptr[doc + 1]] for doc in docs])
        size = np.diff(graph.arrays.visit_edge)[places] * graph.width
        begin = blocks.arrays.visit_message[places]
        assert_array_equal(begin, np.cumsum(size) - size)
        assert size.sum() <= most + counts[docs].count_nonzero(axis=1).max() * graph.width
    assert len(blocks.mu) == max(counts[docs].nnz for docs in blocks.docs) * graph.width
    assert len(blocks.docs) >= (np.ceil(held[held > 0] / most)).sum()


def test_what_a_document_was_is_forgotten():
    """Two runs with the same words and other documents' tables infer the same messages."""
    first, second = started(small_counts(), blocks=1), started(small_counts(), blocks=1)
    second.tables.theta[:] *= 7
    rounds(first, 1), rounds(second, 1)
    assert_array_equal(first.tables.phi, second.tables.phi)
    assert_array_equal(first.tables.theta, second.tables.theta)


def test_weights_scale():
    """The discount is a part of a token, and a light matrix has light tokens: times 1/64, priors
    too, nothing else changes.
    """
    counts = small_counts()
    options = {"schedule": "incremental", "max_iter": 4, "tol": 0}
    plain = LDA(4, doc_topic_prior=0.1, topic_word_prior=0.05, **options).fit(
        sparse.csr_array((counts > 0).astype(float))
    )
    light = LDA(4, doc_topic_prior=0.1 / 64, topic_word_prior=0.05 / 64, **options).fit(
        sparse.csr_array((counts > 0) / 64)
    )
    assert_allclose(plain.doc_topic_, light.doc_topic_, atol=1e-5)


@pytest.mark.parametrize("rule", ["bp", "sibp", "vb"])
@pytest.mark.parametrize("weighting", ["count", "tfidf"])
def test_planted_blocks_are_found(blocks, rule, weighting):
    corpus, truth = blocks
    model = LDA(
        4,
        rule=rule,
        schedule="incremental",
        weighting=weighting,
        doc_topic_prior=0.1,
        topic_word_prior=0.05,
    ).fit(corpus)
    assert {record["schedule"] for record in model.history_} == {"incremental", "afresh"}
    assert evaluate.match_topics(truth.topic_word, model)[1].min() > 0.98


@pytest.mark.parametrize("seed", range(3))
def test_all_planted_topics_are_found_from_every_seed(seed):
    corpus, truth = datasets.make_lda(600, 300, 20, alpha=0.05, random_state=seed)
    model = LDA(20, schedule="incremental", random_state=seed).fit(corpus)
    assert (evaluate.match_topics(truth.topic_word, model)[1] > 0.9).all()


def test_every_model_infers_its_documents_afresh():
    authors = datasets.make_authors(60)[0]
    links = datasets.make_links(60)[0]
    labels = datasets.make_labels(60)[0]
    options = {
        "schedule": "incremental",
        "max_iter": 30,
        "doc_topic_prior": 0.1,
        "topic_word_prior": 0.05,
    }
    for model, corpus in (
        (AuthorTopicModel(4, **options), authors),
        (RelationalTopicModel(4, **options), links),
        (LabeledLDA(**options), labels),
    ):
        model.fit(corpus)
        used = {record["schedule"] for record in model.history_}
        assert used <= {"incremental", "afresh", "link weight"}
        assert model.history_[-1]["perplexity"] < model.history_[4]["perplexity"] * 1.01
        assert_allclose(model.doc_topic_.sum(axis=1), 1, atol=1e-5)


def test_the_last_rounds_of_auto_infer_documents_afresh(mixed):
    """As many as there is room for; those that own several documents' words are left as
    they are.
    """
    corpus, _ = mixed
    most = last_rounds(corpus)
    assert 3 < most < 10
    for max_iter, last in ((3, 0), (4, 1), (12, 3), (60, most)):
        chosen = [
            record["schedule"] for record in LDA(5, max_iter=max_iter, tol=0).fit(corpus).history_
        ]
        assert chosen.count("afresh") == last
        assert chosen[max_iter - last :] == ["afresh"] * last
    converged = LDA(5).fit(corpus)
    assert converged.converged_
    assert [record["schedule"] for record in converged.history_][-most:] == ["afresh"] * most
    authors = AuthorTopicModel(4, max_iter=20, tol=0).fit(datasets.make_authors(60)[0])
    assert "afresh" not in {record["schedule"] for record in authors.history_}


@pytest.mark.parametrize("schedule", ["auto", "incremental"])
@pytest.mark.parametrize(("tokens", "rounds"), [(6, 20), (50, 6), (125, 2), (1000, 1), (9000, 1)])
def test_short_documents_get_more_last_rounds(schedule, tokens, rounds):
    counts = sparse.csr_array(np.full((3, 2), tokens / 2))
    facts = make_plan([Words(counts), Documents()], 2).facts
    recipe = make_recipe(facts, Settings(make_rule("bp"), schedule, max_iter=200))
    assert recipe.schedule.fresh_rounds == rounds


def test_a_callback_stops_a_run_at_once(mixed):
    model = LDA(5, callbacks=[lambda _state, record: record.sweep == 7]).fit(mixed[0])
    assert model.n_iter_ == 7
    assert "afresh" not in {record["schedule"] for record in model.history_}


def test_what_cannot_be_inferred_afresh_is_refused(mixed):
    for options in (
        {"rule": "gibbs"},
        {"rule": "cvb0"},
        {"rule": BP(messages="none")},
        {"rule": BP(messages="token")},
    ):
        with pytest.raises(ValueError, match="incremental"):
            LDA(3, schedule="incremental", **options).fit(mixed[0])


@pytest.mark.parametrize("rule", ["bp", "sibp", "vb"])
def test_prediction_is_inference_under_fixed_words_until_documents_converge(mixed, rule):
    """Another look at a predicted document changes nothing: it is a fixed point of the rule."""
    counts = mixed[0].counts[:20]
    model = LDA(5, rule=rule, doc_topic_prior=ALPHA, topic_word_prior=BETA, max_iter=20).fit(
        mixed[0]
    )
    topics, theta = model.topic_word_.T, model.transform(counts)
    for doc in range(20):
        x, n = counts[[doc]].toarray()[0], counts[[doc]].sum()
        held = theta[doc] * (n + 5 * ALPHA) - ALPHA
        mu = topics * _says(held, rule)
        mu /= mu.sum(axis=1, keepdims=True)
        for _ in range(
            100 if rule == "bp" else 0
        ):  # its own part of what the document holds is removed
            mu = topics * (np.maximum(held - x[:, None] * mu, 0) + ALPHA)
            mu /= mu.sum(axis=1, keepdims=True)
        assert_allclose(x @ mu, held, atol=0.02 * n)


def _says(held: np.ndarray, rule: str) -> np.ndarray:
    return np.exp(psi(held + ALPHA)) if rule == "vb" else held + ALPHA
