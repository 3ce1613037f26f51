"""Priors: given, learned, handed on."""

from __future__ import annotations

import numpy as np

from topoi import LDA, datasets


def test_asymmetric_prior_is_used_and_kept(mixed):
    alpha = np.array([0.01, 0.05, 0.1, 0.5, 2.0])
    model = LDA(5, doc_topic_prior=alpha, max_iter=30).fit(mixed[0])
    np.testing.assert_array_equal(model.doc_topic_prior_, alpha)
    assert (
        np.abs(
            model.components_ - LDA(5, doc_topic_prior=0.532, max_iter=30).fit(mixed[0]).components_
        ).max()
        > 1
    )


def test_priors_of_none_are_scikit_learns(mixed):
    model = LDA(4, doc_topic_prior=None, topic_word_prior=None, max_iter=15).fit(mixed[0])
    np.testing.assert_array_equal(model.doc_topic_prior_, np.full(4, 0.25))
    assert model.topic_word_prior_ == 0.25


def test_learned_priors_by_default(mixed):
    model = LDA(5, max_iter=30).fit(mixed[0])
    assert model.doc_topic_prior_.shape == (5,)
    assert len(np.unique(model.doc_topic_prior_)) == 5
    assert isinstance(model.topic_word_prior_, float)
    assert model.topic_word_prior_ != 0.1


def test_many_topics_and_few_tokens_keep_their_topics():
    """The prior that learning starts from must not outweigh a short document, or all topics become
    one.
    """
    corpus, _ = datasets.make_blocks(4, 10, 40, doc_length=20)
    model = LDA(600).fit(corpus)
    assert model.doc_topic_prior_.sum() < 20
    assert model.perplexity(corpus) < 1.2 * LDA(4, random_state=1).fit(corpus).perplexity(corpus)


def test_a_fitted_model_hands_its_priors_on(mixed):
    first = LDA(5, max_iter=60, tol=0).fit(mixed[0])
    again = LDA(5, init=first, max_iter=1).fit(mixed[0])
    np.testing.assert_allclose(again.doc_topic_prior_, first.doc_topic_prior_)
    assert again.topic_word_prior_ == first.topic_word_prior_
    other = LDA(5, init=first.components_, max_iter=1).fit(mixed[0])
    assert other.topic_word_prior_ != first.topic_word_prior_
