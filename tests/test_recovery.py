"""Corpora whose answer is known: topics and priors come back."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import sparse
from scipy.special import psi
from support import begin, every_combination, small_counts

from topoi import LDA, datasets, evaluate
from topoi.infer import reference
from topoi.infer.monitor import PRIOR_TOLERANCE
from topoi.infer.priors import PRIOR_RANGE, PriorLearner


def worst_match(truth, model) -> float:
    return float(evaluate.match_topics(truth.topic_word, model)[1].min())


@every_combination
def test_blocks_are_found(blocks, rule, schedule):
    """Five seeds: the one with the lowest training perplexity finds all four blocks, and so do at
    least four of the five.
    """
    corpus, truth = blocks
    # exp(digamma) all but forbids topics with a small prior, so VB needs a larger one (Asuncion et
    # al. 2009)
    priors = {"doc_topic_prior": 0.5, "topic_word_prior": 0.1} if rule == "vb" else {}
    models = [
        LDA(4, rule=rule, schedule=schedule, random_state=seed, **priors).fit(corpus)
        for seed in range(5)
    ]
    matches = [worst_match(truth, model) for model in models]
    best = int(np.argmin([model.history_[-1]["perplexity"] for model in models]))
    assert matches[best] > 0.95
    assert sum(match > 0.95 for match in matches) >= 4
    np.testing.assert_allclose(models[best].doc_topic_.max(axis=1), 1, rtol=0, atol=0.1)
    labels = models[best].doc_topic_.argmax(axis=1).reshape(4, -1)
    assert (labels == labels[:, :1]).all(), "documents of a block have the same topic"
    assert len(set(labels[:, 0])) == 4, "and other blocks have others"


@every_combination
def test_blocks_are_found_among_empty_documents_and_unused_words(blocks, rule, schedule):
    corpus, truth = blocks
    counts = sparse.vstack([corpus.counts, sparse.csr_array((7, 40))])
    counts = sparse.hstack([counts, sparse.csr_array((127, 5))], format="csr")
    model = LDA(4, rule=rule, schedule=schedule).fit(counts)
    padded_width = np.hstack([truth.topic_word, np.zeros((4, 5))])
    assert evaluate.match_topics(padded_width, model)[1].min() > 0.95
    prior = model.doc_topic_prior_ / model.doc_topic_prior_.sum()
    np.testing.assert_allclose(model.doc_topic_[-7:], np.tile(prior, (7, 1)), rtol=1e-6)


@pytest.mark.parametrize("seed", [1, 2])
def test_mixed_topics_are_found(seed):
    """Documents that mix topics: topics by cosine, and proportions of the documents too."""
    corpus, truth = datasets.make_lda(300, 100, 5, random_state=seed)
    model = LDA(5).fit(corpus)
    partner, cosine = evaluate.match_topics(truth.topic_word, model)
    assert cosine.min() > 0.95
    assert np.abs(model.doc_topic_[:, partner] - truth.doc_topic).mean() < 0.03


def test_tokens_of_two_senses_are_told_apart():
    """A word that two topics share belongs to each document's own topic: the point of messages per
    edge.
    """
    first, second = [4.0, 4, 0, 0, 3], [0.0, 0, 4, 4, 3]  # the last word is in both
    counts = np.array([first] * 20 + [second] * 20)
    model = LDA(2).fit(counts)
    partner, _ = evaluate.match_topics(np.array([[4, 4, 0, 0, 3], [0, 0, 4, 4, 3.0]]), model)
    np.testing.assert_allclose(model.topic_word_[partner, 4], 3 / 11, rtol=0.05)
    np.testing.assert_allclose(model.doc_topic_[:20, partner[0]], 1, rtol=0, atol=0.05)


# ------------------------------------------------------------------------------------------- priors

ALPHA, BETA = 0.08, 0.04  # what algorithms 4.5 found on CORA


@cache
def learned_priors(
    rule: str, schedule: str, first: float, expected: bool | None = None
) -> tuple[float, float]:
    """(mean alpha, beta) after 200 sweeps on short documents (57 tokens, as CORA's), both priors
    starting from `first`.
    """
    corpus, _ = datasets.make_lda(
        600, 500, 10, doc_length=57, alpha=ALPHA, beta=BETA, random_state=0
    )
    run = begin(corpus.counts, 10, rule, schedule, alpha=first, beta=first)
    learner = PriorLearner(expected=run.rule.expected_counts if expected is None else expected)
    for _ in range(200):
        run.sweep()
        learner.update(run.state)
    return float(run.state.alpha[:10].mean()), run.state.beta


@pytest.mark.parametrize("expected", [True, False])
def test_one_step_of_the_fixed_point(expected):
    """algorithms 4.5, line by line. Documents and words that hold nothing say nothing."""
    run = begin(small_counts(), 4, alpha=[0.05, 0.1, 0.2, 0.4], beta=0.03)
    run.sweep(12)
    run.state.sweep = 10
    theta = run.state.tables.theta[:, :4].astype(float)
    phi = run.state.tables.phi[:, :4].astype(float)
    alpha, beta, W = run.state.alpha[:4].copy(), run.state.beta, 25
    gain = reference.expected_digamma_gain(theta, alpha, expected)
    new_alpha = alpha * gain / (psi(theta.sum(axis=1) + alpha.sum()) - psi(alpha.sum())).sum()
    gain = reference.expected_digamma_gain(phi, np.full(4, beta), expected).sum()
    new_beta = beta * gain / (W * (psi(phi.sum(axis=0) + W * beta) - psi(W * beta)).sum())
    PriorLearner(expected=expected, steps=1).update(run.state)
    np.testing.assert_allclose(run.state.alpha[:4], new_alpha, rtol=1e-3)
    np.testing.assert_allclose(run.state.beta, new_beta, rtol=1e-3)
    assert (run.state.alpha[4:] == 0).all(), "padding topics stay without a prior"


@pytest.mark.parametrize(
    ("rule", "schedule"),
    [
        ("bp", "asynchronous"),
        ("bp", "synchronous"),
        ("sibp", "asynchronous"),
        ("cvb0", "asynchronous"),
        ("gibbs", "asynchronous"),
    ],
)
def test_learned_priors_do_not_run_away(rule, schedule):
    """From 0.01, 0.1 and 1 they end within a factor of 2 of the truth, and within 20 % of each
    other.
    """
    ends = np.array([learned_priors(rule, schedule, first) for first in (0.01, 0.1, 1.0)])
    truth = np.array([ALPHA, BETA])
    assert (ends < 2 * truth).all(), ends
    assert (ends > truth / 2).all(), ends
    assert (ends.max(axis=0) < 1.2 * ends.min(axis=0)).all(), ends


def test_priors_learned_from_plain_expectations_would():
    """The trap of algorithms 4.5: an expected count taken at face value inflates the priors.

    This is why `expected` is there.
    """
    corrected = learned_priors("bp", "asynchronous", 0.1)
    plain = learned_priors("bp", "asynchronous", 0.1, expected=False)
    assert plain[0] > 2 * corrected[0]


def test_learned_alpha_knows_which_topics_are_common():
    """Topics drawn with alpha from 0.02 to 0.5: the learned ones come in the same order, within a
    factor of 2.
    """
    rng = np.random.default_rng(0)
    alpha = np.array([0.02, 0.05, 0.1, 0.2, 0.5])
    topic_word = rng.dirichlet(np.full(200, 0.05), 5)
    proportions = rng.dirichlet(alpha, 800) @ topic_word
    counts = np.vstack([rng.multinomial(80, row / row.sum()) for row in proportions])
    model = LDA(5, init=topic_word).fit(counts)
    partner, cosine = evaluate.match_topics(topic_word, model)
    assert cosine.min() > 0.95
    learned = model.doc_topic_prior_[partner]
    assert (np.diff(learned) > 0).all()
    assert (learned < 2 * alpha).all()
    assert (learned > alpha / 2).all()


def test_given_priors_stay(mixed):
    corpus, _ = mixed
    model = LDA(5, doc_topic_prior=0.3, topic_word_prior=0.02, max_iter=30).fit(corpus)
    np.testing.assert_array_equal(model.doc_topic_prior_, np.full(5, 0.3))
    assert model.topic_word_prior_ == 0.02


def test_priors_stay_in_their_range():
    """A corpus of single tokens says nothing about priors; they end at their bounds, finite."""
    model = LDA(3, max_iter=100, tol=0).fit(np.eye(6))
    for prior in (model.doc_topic_prior_, model.topic_word_prior_):
        assert np.min(prior) >= PRIOR_RANGE[0]
        assert np.max(prior) <= PRIOR_RANGE[1]


def test_learning_waits_for_the_topics(blocks):
    """Not before sweep 10, then every 5 sweeps, and in each of the last rounds."""
    corpus, _ = blocks
    seen = []
    LDA(
        4, max_iter=27, tol=0, callbacks=[lambda state, record: seen.append(float(state.alpha[0]))]
    ).fit(corpus)
    changed = np.flatnonzero(np.diff(seen)) + 2  # sweep numbers start at 1
    assert changed.tolist()[:3] == [10, 15, 20]
    assert changed.tolist()[3:] == list(range(changed[3], 28)), "documents are inferred afresh"


def test_a_run_does_not_converge_while_its_priors_move():
    """Perplexity may stand still for some sweeps while the priors are still on their way."""
    corpus, _ = datasets.make_lda(400, 300, 10, alpha=0.3, random_state=2)
    moved = []

    def look(state, record):
        moved.append(state.prior_change)

    model = LDA(10, tol=0.05, callbacks=[look]).fit(corpus)  # perplexity never moves so much
    assert model.converged_
    first_at_rest = next(
        sweep for sweep, change in enumerate(moved, 1) if change <= PRIOR_TOLERANCE
    )
    assert model.n_iter_ > first_at_rest > 10
    fixed = LDA(10, tol=0.05, doc_topic_prior=0.1, topic_word_prior=0.1).fit(corpus)
    assert fixed.n_iter_ < model.n_iter_, "given priors need not be waited for"
