"""Weights instead of counts: their scale, and what is too light or too heavy to learn from."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from support import small_counts

from topoi import LDA, AuthorTopicModel, evaluate
from topoi.graph.plan import Plan
from topoi.infer import reference
from topoi.infer.rules import make_rule
from topoi.models.preflight import counted, warn_of_heavy_weights
from topoi.rules import BP, CVB0


@pytest.mark.parametrize("weighting", ["tf", "tfidf", "log"])
def test_weights_add_up_to_counts(mixed, weighting):
    counts = mixed[0].counts
    model = LDA(5, weighting=weighting, max_iter=10, topic_word_prior=0.05).fit(counts)
    np.testing.assert_allclose(model.components_.sum(), counts.sum() + 5 * 80 * 0.05, rtol=1e-4)
    np.testing.assert_allclose(model.weighting_(counts).sum(), counts.sum(), rtol=1e-9)
    assert (
        np.abs(
            model.components_ - LDA(5, max_iter=10, topic_word_prior=0.05).fit(counts).components_
        ).max()
        > 1
    )


@pytest.mark.parametrize("weighting", ["tf", "tfidf", "log"])
def test_perplexity_is_of_raw_counts(mixed, weighting):
    counts = mixed[0].counts
    model = LDA(5, weighting=weighting, max_iter=10, tol=0).fit(counts)
    proportions = model.transform(counts)
    gain = reference.log_likelihood(counts, proportions, model.topic_word_).sum() / counts.sum()
    np.testing.assert_allclose(model.perplexity(counts), np.exp(-gain), rtol=1e-5)
    gain = (
        reference.log_likelihood(counts, model.doc_topic_, model.topic_word_).sum() / counts.sum()
    )
    np.testing.assert_allclose(model.history_[-1]["perplexity"], np.exp(-gain), rtol=1e-5)


def test_term_frequencies_forget_the_length_of_a_document(mixed):
    """Under "tf" a document counts as much as any other, however often it repeats itself."""
    counts = mixed[0].counts.toarray()
    longer = counts * np.array([10, 1, 1])[np.arange(len(counts)) % 3][:, None]
    plain, repeated = (
        LDA(5, weighting="tf", max_iter=10, tol=0, doc_topic_prior=0.1, topic_word_prior=0.05).fit(
            X
        )
        for X in (counts, longer)
    )
    scale = longer.sum() / counts.sum()
    np.testing.assert_allclose(
        repeated.weighting_(sparse.csr_array(longer)).toarray(),
        scale * plain.weighting_(sparse.csr_array(counts)).toarray(),
        rtol=1e-9,
    )


def test_new_documents_get_the_weights_of_the_training_documents(mixed):
    """idf and scale come from the training documents: a batch of one has the proportions it has
    among others.
    """
    counts = mixed[0].counts
    model = LDA(5, weighting="tfidf", max_iter=10).fit(counts)
    np.testing.assert_array_equal(model.transform(counts[[7]]), model.transform(counts)[[7]])


def test_heavy_entries_are_warned_of():
    heavy = small_counts() * 1e5
    with pytest.warns(
        UserWarning,
        match=(
            r"largest entry of X is .*; above 100000 messages lose precision. Divide X by a"
            r" constant"
        ),
    ):
        LDA(3, max_iter=2).fit(heavy)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LDA(3, max_iter=2).fit(heavy / 1e4)
        LDA(3, max_iter=2, rule="sibp").fit(heavy)


@pytest.mark.parametrize("rule", ["gibbs", "cvb0"])
def test_tokens_that_single_precision_cannot_count_are_warned_of(rule):
    """Counted one by one: too many of a word, of a document, or of an author."""
    in_word, in_doc = np.full((4, 2), 3e6), np.full((2, 4), 3e6)
    authors = sparse.csr_array(np.ones((4, 1)))
    many = [
        Plan(2, sparse.csr_array(in_word)),
        Plan(2, sparse.csr_array(in_doc)),
        Plan(2, sparse.csr_array(3e6 * np.eye(4)), owners=authors),
    ]
    for plan in many:
        with pytest.warns(
            UserWarning,
            match=(
                r"has 12,000,000 tokens; above 1e\+07 single precision loses some .* use rule='bp'"
            ),
        ):
            warn_of_heavy_weights(plan, make_rule(rule))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_heavy_weights(Plan(2, sparse.csr_array(in_doc[:, :3])), make_rule(rule))
        warn_of_heavy_weights(many[0], make_rule(CVB0(messages="edge")))


def test_a_fit_warns_of_too_many_tokens(monkeypatch):
    monkeypatch.setattr("topoi.models.preflight.SAFE_SUM", 10)
    for options in ({"rule": "gibbs"}, {"rule": "cvb0"}):
        with pytest.warns(
            UserWarning, match="single precision loses some where tokens are counted one by one"
        ):
            LDA(3, max_iter=1, **options).fit(small_counts())
    with pytest.warns(
        UserWarning, match=r"has 15 entries; .* where entries are counted one by one.* mini-batches"
    ):
        LDA(3, max_iter=1).fit(small_counts())


def test_entries_of_words_and_owners_are_counted():
    counts = small_counts()
    entries, pair = counts.toarray() > 0, sparse.csr_array(np.ones((20, 1)))
    in_words, most = counted(Plan(2, counts), make_rule("bp"))
    np.testing.assert_array_equal(in_words, entries.sum(axis=0))
    assert most == entries.sum(axis=1).max()
    assert counted(Plan(2, counts, owners=pair), make_rule("bp"))[1] == counts.nnz
    in_words, most = counted(Plan(2, counts, owners=pair), make_rule("gibbs"))
    np.testing.assert_array_equal(in_words, counts.sum(axis=0))
    assert most == counts.sum()


@pytest.mark.parametrize(
    "options",
    [{}, {"schedule": "synchronous"}, {"rule": BP(messages="none")}, {"batch_size": 50}],
    ids=str,
)
def test_topics_do_not_depend_on_the_scale_of_light_weights(mixed, options):
    """Down to nearly the lightest weights that are accepted (a batch may be a little lighter than
    all of X).
    """
    light = mixed[0].counts * (1e-3 / mixed[0].counts.data.mean())
    first, lightest = (
        LDA(5, max_iter=20, tol=0, **options).fit(light * scale) for scale in (1, 1.2e-13)
    )
    np.testing.assert_allclose(lightest.topic_word_, first.topic_word_, rtol=0, atol=1e-4)
    with pytest.raises(
        ValueError,
        match=(
            "mean entry of X is 9e-17; single precision loses weights below 1e-16. Multiply X by a"
            " constant"
        ),
    ):
        LDA(5, **options).fit(light * 0.9e-13)


def test_light_weights_are_refused_before_anything_is_learned(mixed):
    counts = mixed[0].counts
    model = LDA(5)
    with pytest.raises(ValueError, match="single precision loses weights below 1e-16"):
        model.partial_fit(counts * 1e-20)
    np.testing.assert_array_equal(
        model.partial_fit(counts).components_, LDA(5).partial_fit(counts).components_
    )


def test_light_documents_can_be_predicted(mixed):
    """Beside the prior of the model they say nothing, and get the prior; new authors, too."""
    light, counts = mixed[0].counts[:3] * 1e-30, mixed[0].counts
    plain = LDA(5, max_iter=20).fit(counts)
    authored = AuthorTopicModel(5, max_iter=20).fit(counts, authors=[["ann"]] * counts.shape[0])
    for model, proportions in (
        (plain, plain.transform(light)),
        (authored, authored.transform(light, authors=[["new"]] * 3)),
    ):
        np.testing.assert_allclose(
            proportions,
            np.tile(model.doc_topic_prior_ / model.doc_topic_prior_.sum(), (3, 1)),
            rtol=1e-5,
        )


def test_learned_priors_do_not_depend_on_the_scale_of_light_matrices(blocks):
    """A matrix of fractions (TF-IDF, proportions) teaches the same topics whatever it is multiplied
    by.
    """
    weights = blocks[0].counts.astype(float)
    weights.data *= np.random.default_rng(0).uniform(0.01, 0.09, weights.nnz)
    scale = 0.01
    model, light = LDA(4, max_iter=60).fit(weights), LDA(4, max_iter=60).fit(weights * scale)
    np.testing.assert_allclose(light.topic_word_, model.topic_word_, atol=1e-3)
    np.testing.assert_allclose(light.doc_topic_prior_, scale * model.doc_topic_prior_, rtol=0.01)
    assert evaluate.topic_diversity(model, 5) == 1
