"""What a fitted LDA holds, predicts and measures, and what it can start from."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from support import begin

from topoi import LDA, evaluate
from topoi.infer import reference
from topoi.infer.threads import ThreadPool


def test_shapes_and_sums(fitted, mixed):
    counts = mixed[0].counts
    assert fitted.components_.shape == (5, 80)
    np.testing.assert_allclose(fitted.components_.sum(), counts.sum() + 5 * 80 * 0.05, rtol=1e-5)
    np.testing.assert_allclose(
        fitted.components_.sum(axis=0), counts.sum(axis=0) + 5 * 0.05, rtol=1e-4
    )
    np.testing.assert_allclose(fitted.topic_word_.sum(axis=1), 1, rtol=1e-9)
    np.testing.assert_allclose(
        fitted.topic_word_,
        fitted.components_ / fitted.components_.sum(axis=1, keepdims=True),
        rtol=1e-12,
    )
    assert fitted.doc_topic_.shape == (150, 5)
    np.testing.assert_allclose(fitted.doc_topic_.sum(axis=1), 1, rtol=1e-6)
    assert fitted.n_features_in_ == 80
    assert fitted.n_iter_ == 40


def test_estimator_runs_the_engine(mixed):
    """The fitted attributes are the tables of a plain run of the engine with the same settings."""
    counts = mixed[0].counts
    model = LDA(
        5, schedule="asynchronous", doc_topic_prior=0.1, topic_word_prior=0.05, max_iter=7, tol=0
    ).fit(counts)
    run = begin(counts, 5, alpha=0.1, beta=0.05)
    run.sweep(7)
    run.state.rebuild(run.rule, ThreadPool(1))
    np.testing.assert_array_equal(
        model.components_, run.state.tables.phi[:, :5].T.astype(np.float64) + 0.05
    )
    np.testing.assert_array_equal(model.doc_topic_, run.state.doc_topic())


def test_transform_of_the_training_documents_is_near_the_fit(fitted, mixed):
    """Fold-in sees the topics that the same documents have made: nearly what the fit said."""
    proportions = fitted.transform(mixed[0].counts)
    assert np.abs(proportions - fitted.doc_topic_).mean() < 0.01
    np.testing.assert_array_equal(proportions, clone(fitted).fit_transform(mixed[0].counts))


@pytest.mark.parametrize("rule", ["bp", "sibp"])
def test_transform_goes_on_until_messages_rest(mixed, rule):
    """The proportions are those of 500 sweeps under the fitted topics."""
    counts = mixed[0].counts
    model = LDA(5, rule=rule, doc_topic_prior=0.1, max_iter=40).fit(counts)
    topics = model.topic_word_.T
    run = begin(
        counts,
        5,
        rule,
        alpha=0.1,
        beta=1e-30,
        base=topics,
        frozen=True,
        init="warm",
        word_topic=topics,
    )
    run.sweep(500)
    np.testing.assert_allclose(model.transform(counts), run.state.doc_topic(), rtol=0, atol=0.01)


@pytest.mark.parametrize(
    ("rule", "schedule"),
    [
        ("bp", "asynchronous"),
        ("sibp", "synchronous"),
        ("vb", "synchronous"),
        ("gibbs", "asynchronous"),
    ],
)
def test_empty_documents_get_the_prior(mixed, rule, schedule):
    alpha = np.array([1.0, 2.0, 3.0])
    model = LDA(3, rule=rule, schedule=schedule, doc_topic_prior=alpha, max_iter=5).fit(mixed[0])
    X = np.vstack([np.zeros(80), mixed[0].counts[[0]].toarray(), np.zeros(80)])
    proportions = model.transform(X)
    np.testing.assert_allclose(proportions[[0, 2]], [alpha / 6, alpha / 6], rtol=1e-6)
    assert np.abs(proportions[1] - alpha / 6).max() > 0.1
    np.testing.assert_allclose(
        model.transform(np.zeros((2, 80))), [alpha / 6, alpha / 6], rtol=1e-6
    )


def test_score_and_perplexity_agree(fitted, mixed):
    counts = mixed[0].counts
    gain = (
        reference.log_likelihood(counts, fitted.transform(counts), fitted.topic_word_).sum()
        / counts.sum()
    )
    np.testing.assert_allclose(fitted.score(counts), gain, rtol=1e-6)
    np.testing.assert_allclose(fitted.perplexity(counts), np.exp(-fitted.score(counts)), rtol=1e-12)
    assert 1 < fitted.perplexity(counts) < 80, "better than guessing"


def test_history_is_the_perplexity_of_the_fit(fitted, mixed):
    """The last record is measured on the final state, with the training documents' own
    proportions.
    """
    counts = mixed[0].counts
    gain = (
        reference.log_likelihood(counts, fitted.doc_topic_, fitted.topic_word_).sum() / counts.sum()
    )
    np.testing.assert_allclose(fitted.history_[-1]["perplexity"], np.exp(-gain), rtol=1e-5)


def test_soft_start_reaches_the_blocks(blocks):
    corpus, truth = blocks
    model = LDA(4, init="soft", max_iter=300).fit(corpus)
    assert evaluate.match_topics(truth.topic_word, model)[1].min() > 0.95


def test_start_from_topics_keeps_their_order(blocks):
    """Started at the truth in any order, topic k stays topic k."""
    corpus, truth = blocks
    for order in ([0, 1, 2, 3], [2, 0, 3, 1]):
        model = LDA(4, init=truth.topic_word[order], max_iter=20).fit(corpus)
        np.testing.assert_array_equal(
            evaluate.match_topics(truth.topic_word[order], model)[0], range(4)
        )


def test_start_from_a_fitted_model_goes_on_where_it_stopped(mixed):
    corpus, _ = mixed
    first = LDA(5, doc_topic_prior=0.1, topic_word_prior=0.05, max_iter=100, random_state=1).fit(
        corpus
    )
    second = LDA(
        5, doc_topic_prior=0.1, topic_word_prior=0.05, max_iter=2, init=first, random_state=2, tol=0
    ).fit(corpus)
    cold = LDA(
        5, doc_topic_prior=0.1, topic_word_prior=0.05, max_iter=2, random_state=2, tol=0
    ).fit(corpus)
    np.testing.assert_array_equal(evaluate.match_topics(first, second)[0], range(5))
    assert second.history_[-1]["perplexity"] < 1.02 * first.history_[-1]["perplexity"]
    assert second.history_[-1]["perplexity"] < 0.95 * cold.history_[-1]["perplexity"]


def test_clone_of_a_warm_start_says_what_is_missing(mixed):
    model = LDA(5, init=LDA(5, max_iter=3).fit(mixed[0]))
    with pytest.raises(ValueError, match=r"components_"):
        clone(model).fit(mixed[0])
