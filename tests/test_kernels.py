"""Every kernel against its plain twin in `reference/`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.special import psi
from support import (
    COMBINATIONS,
    PLAIN_SCHEDULES,
    begin,
    called_from_python,
    every_combination,
    small_counts,
)

from topoi import datasets
from topoi.graph.factors import Documents
from topoi.graph.plan import Plan
from topoi.graph.wiring import Graph
from topoi.infer import kernels, likelihood, reference
from topoi.infer.likelihood import document_log_likelihood
from topoi.infer.priors import LEAST_PRIOR
from topoi.infer.threads import ThreadPool

SWEEPS = 3
one_cell_and_nine = pytest.mark.parametrize("blocks", [1, 3])


@dataclass
class Wired:
    """Owners, topic lists and a field as given: the joint updates without any model's own
    preparation.
    """

    owners: Any = None
    topics: Any = None
    owner_prior: float = 0.0
    field: Any = None

    def add_to(self, plan: Plan) -> None:
        plan.owners, plan.topics, plan.owner_prior = self.owners, self.topics, self.owner_prior
        if self.field is not None:
            plan.fields.append(self.field)


@dataclass
class Neighbour:
    """A field: each document receives a message from the next one, the last from none."""

    weight: float = 0.3
    learn: bool = False

    def message(self, doc_topic: np.ndarray, *_: object) -> np.ndarray:
        return np.vstack([doc_topic[1:], np.zeros(doc_topic.shape[1])])


def some_owners(n_docs: int, n_owners: int, seed: int = 0) -> sparse.csr_array:
    """One to three owners of each document, most of them shared."""
    rng = np.random.default_rng(seed)
    dense = np.zeros((n_docs, n_owners))
    for row in dense:
        row[rng.choice(n_owners, rng.integers(1, 4), replace=False)] = 1
    return sparse.csr_array(dense)


def some_topics(n_docs: int, n_topics: int, seed: int = 0) -> sparse.csr_array:
    """A list of topics for each document; every fourth document has none and may use all."""
    dense = np.random.default_rng(seed).random((n_docs, n_topics)) < 0.5
    dense[:, 0] |= ~dense.any(axis=1)
    dense[::4] = False
    return sparse.csr_array(dense.astype(np.float64))


def wired(kind: str, n_docs: int, n_topics: int) -> Wired:
    own = sparse.eye_array(n_docs, format="csr")
    owners, topics = some_owners(n_docs, 6), some_topics(n_docs, n_topics)
    return {
        "owners": Wired(owners),
        "learned owners": Wired(owners, owner_prior=1.0),
        "topics": Wired(own, topics),
        "field": Wired(own, field=Neighbour()),
        "all together": Wired(owners, topics, 1.0, Neighbour()),
    }[kind]


def assert_twins_agree(run) -> None:
    """SWEEPS sweeps of both; tables, messages, residuals and draws agree after each."""
    for _ in range(SWEEPS):
        residual = run.sweep_both()
        tables = run.state.tables
        np.testing.assert_allclose(tables.theta, run.tables.theta, rtol=0, atol=1e-4)
        np.testing.assert_allclose(tables.phi, run.tables.phi, rtol=0, atol=1e-4)
        np.testing.assert_allclose(tables.totals, run.tables.totals, rtol=0, atol=1e-4)
        np.testing.assert_allclose(tables.owner_mass, run.tables.owner_mass, rtol=0, atol=1e-4)
        np.testing.assert_allclose(run.state.messages.mu, run.mu, rtol=0, atol=1e-5)
        np.testing.assert_array_equal(run.state.messages.z, run.z)
        np.testing.assert_allclose(run.state.messages.residual, residual, rtol=0, atol=1e-4)


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
def test_the_least_prior_is_heard_in_single_precision(schedule):
    """Words of a single document hold nothing but the prior beside their own message: what rounding
    leaves of that must not outweigh it.
    """
    corpus, _ = datasets.make_lda(60, 200, 4, doc_length=50, alpha=0.2, beta=0.1)
    assert (np.diff(corpus.counts.tocsc().indptr) == 1).sum() > 10
    run = begin(corpus.counts, 4, "bp", schedule, alpha=LEAST_PRIOR, beta=LEAST_PRIOR)
    for _ in range(10):
        run.sweep_both()
    apart = np.abs(run.messages - run.mu.reshape(run.messages.shape)).sum(axis=1)
    assert apart.max() < 0.05
    assert (apart > 0.01).mean() < 0.005


@one_cell_and_nine
@every_combination
def test_sweep_is_the_reference(rule, schedule, blocks):
    run = begin(small_counts(), 5, rule, schedule, blocks=blocks)
    assert run.state.graph.n_word_blocks == blocks
    assert_twins_agree(run)


@one_cell_and_nine
@pytest.mark.parametrize("n_topics", [1, 16, 17])
def test_sweep_at_the_edge_of_the_padding(n_topics, blocks):
    run = begin(small_counts(), n_topics, blocks=blocks)
    assert run.state.graph.width == (16 if n_topics < 17 else 32)
    assert_twins_agree(run)


@pytest.mark.parametrize("start", ["soft", "warm"])
@every_combination
def test_sweep_from_other_starts(rule, schedule, start):
    topics = np.random.default_rng(1).dirichlet(np.ones(25), 5).T
    assert_twins_agree(
        begin(
            small_counts(),
            5,
            rule,
            schedule,
            blocks=2,
            init=start,
            word_topic=topics if start == "warm" else None,
        )
    )


@one_cell_and_nine
@pytest.mark.parametrize(
    "options", [{"inner": 3}, {"textbook": True}, {"inner": 2, "textbook": True}], ids=str
)
def test_variants_of_vb(options, blocks):
    assert_twins_agree(begin(small_counts(), 5, "vb", "synchronous", blocks=blocks, **options))


@pytest.mark.parametrize(
    ("rule", "messages"), [("bp", "token"), ("sibp", "token"), ("cvb0", "edge")]
)
@pytest.mark.parametrize("schedule", ["asynchronous", "synchronous"])
def test_messages_of_the_other_kind(rule, messages, schedule):
    run = begin(small_counts(), 5, rule, schedule, blocks=2, messages=messages)
    counts = small_counts()
    assert run.state.graph.n_edges == (counts.sum() if messages == "token" else counts.nnz)
    assert_twins_agree(run)


@one_cell_and_nine
@pytest.mark.parametrize("schedule", ["asynchronous", "synchronous", "residual"])
@pytest.mark.parametrize("rule", ["bp", "sibp"])
def test_fractional_weights(rule, schedule, blocks):
    weights = small_counts()
    weights.data *= np.random.default_rng(5).uniform(0.01, 3, weights.nnz)
    assert_twins_agree(begin(weights, 5, rule, schedule, blocks=blocks))


@one_cell_and_nine
@every_combination
def test_asymmetric_alpha(rule, schedule, blocks):
    assert_twins_agree(
        begin(small_counts(), 5, rule, schedule, blocks=blocks, alpha=[0.01, 0.1, 0.3, 1.0, 3.0])
    )


@one_cell_and_nine
@pytest.mark.parametrize("kind", ["owners", "learned owners", "topics", "field", "all together"])
@every_combination
def test_joint_updates(rule, schedule, kind, blocks):
    counts = small_counts()
    assert_twins_agree(
        begin(counts, 5, rule, schedule, factors=(wired(kind, counts.shape[0], 5),), blocks=blocks)
    )


@one_cell_and_nine
@every_combination
def test_frozen_words_stay(rule, schedule, blocks):
    """Prediction: own mass leaves the owner's side only, words and totals stay as they are, one
    block of words.
    """
    topics = np.random.default_rng(1).dirichlet(np.ones(25), 5).T
    run = begin(small_counts(), 5, rule, schedule, blocks=blocks, base=topics, frozen=True)
    assert run.state.graph.n_word_blocks == 1
    before = run.state.tables.phi.copy(), run.state.tables.totals.copy()
    assert_twins_agree(run)
    np.testing.assert_array_equal(run.state.tables.phi, before[0])
    np.testing.assert_array_equal(run.state.tables.totals, before[1])
    np.testing.assert_array_equal(run.state.tables.phi[:, :5], topics.astype(np.float32))


@every_combination
def test_words_with_a_base(rule, schedule):
    """Mini-batches: counts that words hold besides the messages."""
    base = np.random.default_rng(1).gamma(1.0, 2.0, (25, 5))
    run = begin(small_counts(), 5, rule, schedule, blocks=2, base=base)
    assert_twins_agree(run)
    np.testing.assert_allclose(
        run.state.tables.phi.sum(), base.sum() + small_counts().sum(), rtol=1e-6
    )


@one_cell_and_nine
@pytest.mark.parametrize("kind", ["plain", "owners", "topics"])
@every_combination
def test_tables_are_the_counted_messages(rule, schedule, kind, blocks):
    counts = small_counts()
    factor = Documents() if kind == "plain" else wired(kind, counts.shape[0], 5)
    run = begin(counts, 5, rule, schedule, factors=(factor,), blocks=blocks)
    run.sweep(2)
    run.state.rebuild(run.rule, ThreadPool(1))
    mu = (
        one_hot(run.state.graph, run.state.messages.z)
        if run.rule.draws
        else run.state.messages.mu.astype(np.float64)
    )
    expected = reference.count(run.state.graph, mu)
    for name in ("theta", "phi", "totals", "owner_mass"):
        np.testing.assert_allclose(
            getattr(run.state.tables, name),
            getattr(expected, name),
            rtol=0,
            atol=1e-5,
            err_msg=name,
        )


def one_hot(graph: Graph, z: np.ndarray) -> np.ndarray:
    """Drawn (owner, topic) of each token as flat messages."""
    mu = np.zeros(graph.message_size)
    for v, doc in enumerate(graph.arrays.visit_doc):
        slots, topics, _ = reference.place(graph, doc)
        for i, e in enumerate(range(graph.arrays.visit_edge[v], graph.arrays.visit_edge[v + 1])):
            mu[graph.arrays.visit_message[v] + i * len(slots) * len(topics) + z[e]] = 1
    return mu


def test_rows_of_a_shared_owner_agree():
    """known + the sum of each row's difference to it, by hand: 5 + (6 - 5) + (3 - 5) = 4; 1 + (0 -
    1) + (0 - 1) is clipped at 0.
    """
    theta = np.array([[6, 0], [9, 9], [3, 0]], np.float32)
    known = np.array([[5, 1]], np.float32)
    kernels.merge_shared(theta, known, np.array([0, 2]), np.array([0, 2]))
    np.testing.assert_array_equal(theta, [[4, 0], [9, 9], [4, 0]])
    np.testing.assert_array_equal(known, [[4, 0]])


def test_shared_owners_hold_the_same_in_every_row():
    counts = small_counts()
    run = begin(counts, 5, factors=(wired("owners", counts.shape[0], 5),), blocks=3)
    graph = run.state.graph
    assert len(graph.shared_ptr) > 3, "the corpus has owners in several blocks"
    run.sweep(2)
    for first, last in zip(graph.shared_ptr[:-1], graph.shared_ptr[1:], strict=True):
        rows = run.state.tables.theta[graph.shared_slots[first:last]]
        assert len(rows) > 1
        assert (rows == rows[0]).all()
    np.testing.assert_allclose(run.state.owner_counts().sum(), counts.sum(), rtol=1e-5)


@pytest.mark.parametrize("shape", [(1, 16), (700, 16), (3001, 208)])
def test_totals_are_those_of_numpy_to_the_bit(shape):
    table = np.random.default_rng(0).gamma(0.05, size=shape).astype(np.float32)
    assert np.array_equal(kernels.topic_totals(table), table.sum(axis=0, dtype=np.float64))


def test_log_likelihood_is_the_reference():
    counts = small_counts()
    rng = np.random.default_rng(0)
    doc_topic = rng.dirichlet(np.ones(5), counts.shape[0])
    topic_word = rng.dirichlet(np.ones(counts.shape[1]), 5)
    expected = reference.log_likelihood(counts, doc_topic, topic_word)
    np.testing.assert_allclose(
        document_log_likelihood(counts, doc_topic, topic_word), expected, rtol=1e-6
    )
    with ThreadPool(2) as pool:
        np.testing.assert_allclose(
            document_log_likelihood(counts, doc_topic, topic_word, pool), expected, rtol=1e-6
        )


def test_digamma_is_scipys():
    x = np.r_[
        np.geomspace(1e-6, 1e6, 400), 1.4616321449683622, 5.999999, 6.0
    ]  # the second is the root
    digamma = called_from_python(likelihood.digamma)
    np.testing.assert_allclose([digamma(v) for v in x], psi(x), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("expected", [True, False])
def test_expected_digamma_gain_is_the_reference(expected):
    rng = np.random.default_rng(0)
    counts = np.vstack(
        [
            np.geomspace(1e-6, 100, 60)[:, None] * np.ones(7),
            rng.gamma(0.2, 5.0, (40, 7)),
            np.zeros((3, 7)),
        ]
    )
    prior = np.array([1e-4, 0.01, 0.1, 1.0, 10.0, 0.05, 0.0])
    out = np.full(7, np.nan)
    likelihood.expected_digamma_gain(counts.astype(np.float32), prior, expected, out)
    np.testing.assert_allclose(
        out[:6], reference.expected_digamma_gain(counts[:, :6], prior[:6], expected), rtol=1e-3
    )
    assert out[6] == 0, "padding topics gain nothing"


def test_expected_digamma_gain_of_a_rare_token():
    """A 1 % chance of one token is worth 1 % of psi(1 + a) - psi(a) = 1 / a; taken for a hundredth
    of a token it would be worth 50.
    """
    out = np.zeros(1)
    likelihood.expected_digamma_gain(np.array([[0.01]], np.float32), np.array([0.01]), True, out)
    np.testing.assert_allclose(out, [1.0], rtol=0.01)
    likelihood.expected_digamma_gain(np.array([[0.01]], np.float32), np.array([0.01]), False, out)
    np.testing.assert_allclose(out, psi(0.02) - psi(0.01), rtol=1e-6)
    np.testing.assert_allclose(out, [50.0], rtol=0.01)


def test_uniforms_are_uniform_and_keyed():
    """Mean and spread of 100,000 numbers within five standard errors; the same key gives the same
    number, in any order.
    """
    numbers = np.arange(100_000)
    drawn = kernels.uniforms(7, numbers)
    assert drawn.min() >= 0
    assert drawn.max() < 1
    np.testing.assert_allclose(drawn.mean(), 0.5, rtol=0, atol=5 * np.sqrt(1 / 12 / len(drawn)))
    np.testing.assert_allclose(drawn.var(), 1 / 12, rtol=0, atol=5 * np.sqrt(1 / 180 / len(drawn)))
    np.testing.assert_array_equal(kernels.uniforms(7, numbers[::-1].copy())[::-1], drawn)
    assert len(np.unique(drawn)) == len(drawn)
    assert not np.isin(kernels.uniforms(8, numbers), drawn).any()


def test_hard_start_takes_all_topics_alike():
    """20,000 edges, 5 topics: each gets its fifth within five standard errors, and no padding topic
    gets any.
    """
    run = begin(sparse.csr_array(np.ones((200, 100))), 5)
    share = run.messages.mean(axis=0)
    assert set(np.unique(run.messages)) == {0, 1}
    np.testing.assert_allclose(share[:5], 0.2, rtol=0, atol=5 * np.sqrt(0.2 * 0.8 / 20_000))
    assert (share[5:] == 0).all()


def test_first_draws_do_not_repeat_the_start():
    """Under priors so large that all topics are alike, a fifth of 20,000 tokens keeps its topic,
    within five standard errors.
    """
    run = begin(sparse.csr_array(np.ones((200, 100))), 5, "gibbs", alpha=1e6, beta=1e6)
    before = run.state.messages.z.copy()
    run.sweep()
    np.testing.assert_allclose(
        (run.state.messages.z == before).mean(), 0.2, rtol=0, atol=5 * np.sqrt(0.2 * 0.8 / 20_000)
    )


@pytest.mark.parametrize("rule", ["bp", "gibbs"])
def test_start_does_not_depend_on_the_grid(rule):
    starts = []
    for blocks in (1, 2, 5):
        run = begin(small_counts(), 5, rule, blocks=blocks)
        first = run.state.messages.z if run.rule.draws else run.messages
        in_document_order = np.empty_like(first)
        in_document_order[run.state.graph.arrays.edge_id] = first
        starts.append(in_document_order)
    np.testing.assert_array_equal(starts[0], starts[1])
    np.testing.assert_array_equal(starts[0], starts[2])


def test_warm_start_is_what_the_word_says_under_the_prior():
    """alpha (1, 3), the word has proportions (0.6, 0.2): the message is (0.6, 0.6) / 1.2."""
    run = begin(
        np.array([[2.0]]), 2, alpha=[1.0, 3.0], init="warm", word_topic=np.array([[0.6, 0.2]])
    )
    np.testing.assert_allclose(run.messages[0, :2], [0.5, 0.5], rtol=1e-6)
    assert (run.messages[0, 2:] == 0).all()


def test_graph_arrays_are_read_only():
    graph = begin(small_counts(), 5, blocks=3).state.graph
    arrays = {
        **graph.arrays._asdict(),
        **{
            name: getattr(graph, name)
            for name in ("slot_owner", "owner_slot", "shared_ptr", "shared_slots")
        },
    }
    for name, array in arrays.items():
        assert not array.flags.writeable, name
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 0


def test_every_combination_is_covered():
    """The list of combinations is what the engine accepts, no more and no less."""
    from topoi.choices import RULES, SCHEDULES
    from topoi.infer.recipe import named_schedule
    from topoi.infer.rules import make_rule

    accepted = set()
    for rule in RULES:
        for schedule in set(SCHEDULES) - {"auto", *PLAIN_SCHEDULES}:
            try:
                named_schedule(schedule, make_rule(rule))
            except ValueError:
                continue
            accepted.add((rule, schedule))
    assert accepted == set(COMBINATIONS)
