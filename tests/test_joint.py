"""The joint probability of words and topics, signs of convergence, and stopping by parameters."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse
from support import assert_same_run, interrupted, small_counts

import topoi
from topoi import LDA, AuthorTopicModel, datasets
from topoi.evaluate import LogJoint, log_joint

PRIORS = {"doc_topic_prior": 0.3, "topic_word_prior": 0.2}


def sequential(counts, z, alpha, beta):
    """log P(x, z) token by token: each given those before it (Polya urns)."""
    n_docs, n_words = counts.shape
    docs, words, topics = np.zeros((n_docs, len(alpha))), np.zeros((n_words, len(alpha))), 0.0
    table = counts.tocoo()
    for d, w, x, k in zip(*table.coords, table.data, z, strict=True):
        for _ in range(int(x)):
            topics += np.log((docs[d, k] + alpha[k]) / (docs[d] + alpha).sum())
            topics += np.log((words[w, k] + beta) / (words[:, k] + beta).sum())
            docs[d, k] += 1
            words[w, k] += 1
    return topics


def test_the_joint_is_that_of_drawing_token_by_token():
    counts = small_counts()
    model = LDA(3, max_iter=3, **PRIORS).fit(counts)
    z = np.random.default_rng(0).integers(3, size=counts.nnz)
    expected = sequential(sparse.csr_array(counts), z, model.doc_topic_prior_, 0.2)
    assert log_joint(model, counts, z) == pytest.approx(expected)
    assert log_joint(model, counts, np.eye(3)[z]) == pytest.approx(expected)


def test_probabilities_of_all_words_and_topics_sum_to_one():
    """Two documents of one token each, two words, two topics."""
    model = LDA(2, max_iter=2, **PRIORS).fit(np.ones((2, 2)))
    total = 0.0
    for words in itertools.product(range(2), repeat=2):
        counts = np.zeros((2, 2))
        counts[[0, 1], words] = 1
        for z in itertools.product(range(2), repeat=2):
            total += np.exp(log_joint(model, counts, z))
    assert total == pytest.approx(1)


def test_the_default_is_the_joint_of_messages(fitted, mixed):
    corpus = mixed[0]
    of_messages = log_joint(fitted, corpus)
    assert of_messages == pytest.approx(log_joint(fitted, corpus, fitted.messages(corpus)))
    other = np.random.default_rng(0).integers(5, size=corpus.counts.nnz)
    assert of_messages > log_joint(fitted, corpus, other)


@pytest.mark.parametrize("rule", ["bp", "sibp", "cvb0", "vb", "gibbs"])
def test_every_rule_is_measured_by_one_objective(mixed, rule):
    schedule = "synchronous" if rule == "vb" else "asynchronous"
    options = {"rule": rule, "schedule": schedule, "max_iter": 30, "tol": 0, **PRIORS}
    model = LDA(5, callbacks=[LogJoint(every=10)], **options).fit(mixed[0])
    measured = [r["log_joint"] for r in model.history_ if r["log_joint"] is not None]
    assert [r["sweep"] for r in model.history_ if r["log_joint"] is not None] == [10, 20, 30]
    assert measured[-1] < 0
    plain = LDA(5, **options).fit(mixed[0])
    np.testing.assert_array_equal(model.components_, plain.components_)
    start = LDA(5, callbacks=[LogJoint()], **{**options, "max_iter": 1}).fit(mixed[0])
    assert measured[-1] > start.history_[0]["log_joint"]


def test_history_has_the_joint_of_the_tables(mixed):
    """Messages of synchronous sweeps that start from given ones: counted here by hand."""
    counts = mixed[0].counts
    given = np.random.default_rng(0).dirichlet(np.ones(5), counts.nnz)
    options = {"schedule": "synchronous", "max_iter": 1, "tol": 0, "init": given, **PRIORS}
    model = LDA(5, callbacks=[LogJoint()], **options).fit(counts)
    words = model.components_.T - 0.2
    docs = model.doc_topic_ * (counts.sum(axis=1) + 1.5)[:, None] - 0.3
    from topoi.evaluate import joint

    expected = joint._of_owners(docs, np.full(5, 0.3)) + joint._of_words(words, np.array(0.2))
    assert model.history_[0]["log_joint"] == pytest.approx(expected, rel=1e-5)


def test_authors_have_a_joint_of_their_own(authored):
    corpus = authored[0][:60]
    for prior in ("uniform", "learned"):
        model = AuthorTopicModel(5, author_prior=prior, callbacks=[LogJoint()], max_iter=20, tol=0)
        values = [record["log_joint"] for record in model.fit(corpus).history_]
        assert values[0] < values[-1] < 0
    with pytest.raises(ValueError, match="author of each word"):
        log_joint(model, corpus)


def test_measurements_survive_a_file(mixed, tmp_path):
    model = LDA(5, callbacks=[LogJoint(every=2)], max_iter=5, tol=0).fit(mixed[0])
    model.save(tmp_path / "m.topoi")
    assert topoi.load(tmp_path / "m.topoi").history_ == model.history_


@pytest.mark.usefixtures("no_kernel_runs")
def test_what_needs_all_documents_is_refused_in_batches(mixed):
    for options in ({"tol": "parameters"}, {"callbacks": [LogJoint()]}):
        with pytest.raises(ValueError, match="fit all documents at once"):
            LDA(5, batch_size=20, **options).fit(mixed[0])
    with pytest.raises(ValueError, match="every is 0"):
        LogJoint(every=0)


def test_wrong_labels_are_refused(fitted, mixed):
    with pytest.raises(ValueError, match="one topic or one message for each"):
        log_joint(fitted, mixed[0], [0, 1])
    with pytest.raises(ValueError, match="z holds one topic per nonzero"):
        log_joint(fitted, mixed[0], np.full(mixed[0].counts.nnz, 9))


# --------------------------------------------------------------------------- convergence


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous", "relaxed", "residual-words"])
def test_the_violation_goes_to_zero_at_a_fixed_point(blocks, schedule):
    model = LDA(4, schedule=schedule, max_iter=300, tol=0, **PRIORS).fit(blocks[0])
    violations = [record["violation"] for record in model.history_]
    assert all(0 <= value <= 2.001 for value in violations)
    assert violations[0] > 0.1
    assert violations[-1] < 1e-3
    assert all(r["violation"] >= r["residual"] / 1.5 - 1e-9 for r in model.history_)


def test_the_violation_does_not_depend_on_scale(mixed):
    """Twice the corpus: the same topics, twice the tokens, the same violation."""
    counts = mixed[0].counts
    options = {"schedule": "synchronous", "max_iter": 5, "tol": 0, **PRIORS}
    given = np.random.default_rng(0).dirichlet(np.ones(5), counts.nnz)
    once = LDA(5, init=given, **options).fit(counts)
    scaled = {**options, "doc_topic_prior": 0.6, "topic_word_prior": 0.4}
    twice = LDA(5, init=given, **scaled).fit(2 * counts)
    for one, other in zip(once.history_, twice.history_, strict=True):
        assert one["violation"] == pytest.approx(other["violation"], rel=1e-3)


def test_a_run_stops_when_no_parameter_moves(blocks):
    options = {"schedule": "asynchronous", "max_iter": 2000, **PRIORS}
    model = LDA(4, tol="parameters", **options).fit(blocks[0])
    assert model.converged_
    assert 1 < model.n_iter_ < 2000
    before = LDA(4, **{**options, "max_iter": model.n_iter_ - 1}, tol=0).fit(blocks[0])
    earlier = LDA(4, **{**options, "max_iter": model.n_iter_ - 2}, tol=0).fit(blocks[0])

    def moved(one, other):
        return max(
            np.abs(one.doc_topic_ - other.doc_topic_).max(),
            np.abs(one.topic_word_ - other.topic_word_).max(),
        )

    assert moved(before, model) < 1e-5
    assert moved(earlier, before) >= 1e-5 * 0.99


def test_stopping_by_parameters_resumes_to_the_same_bits(tmp_path):
    corpus, _ = datasets.make_blocks(n_topics=3, random_state=5)

    def make(**more):
        options = {"schedule": "asynchronous", "max_iter": 500, "tol": "parameters", **PRIORS}
        return LDA(3, **options, **more)

    whole = make().fit(corpus)
    assert whole.converged_
    path = tmp_path / "run.ckpt"
    resumed = interrupted(make, lambda m, **kw: m.fit(corpus, **kw), path, whole.n_iter_ - 1)
    assert_same_run(resumed, whole)
