"""Measures: document completion, coherence, diversity, matching."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sklearn.decomposition
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from support import small_counts

from topoi import LDA, Corpus, datasets, evaluate
from topoi.infer import reference


@given(
    counts=arrays(
        np.int64, st.tuples(st.integers(1, 8), st.integers(1, 8)), elements=st.integers(0, 9)
    ),
    held_out=st.sampled_from([0.01, 0.1, 0.5, 0.9, 0.99]),
    seed=st.integers(0, 3),
)
def test_split_tokens(counts, held_out, seed):
    """Observed and held-out tokens are the document; at least one is held out of two or more, never
    all of them.
    """
    observed, held = evaluate.split_tokens(counts, held_out, seed)
    np.testing.assert_array_equal(observed.toarray() + held.toarray(), counts)
    assert observed.data.min(initial=1) >= 1
    assert held.data.min(initial=1) >= 1
    lengths, out = counts.sum(axis=1), held.sum(axis=1)
    assert (out[lengths < 2] == 0).all()
    assert (out[lengths >= 2] >= 1).all()
    assert (out[lengths >= 2] <= lengths[lengths >= 2] - 1).all()
    expected = np.clip(np.round(held_out * lengths), 1, lengths - 1)
    np.testing.assert_array_equal(out[lengths >= 2], expected[lengths >= 2])
    again = evaluate.split_tokens(counts, held_out, seed)[1]
    np.testing.assert_array_equal(again.toarray(), held.toarray())


def test_tokens_are_held_out_not_entries():
    observed, held = evaluate.split_tokens(np.array([[10, 0], [5, 5]]), 0.1)
    assert held.toarray()[0].tolist() == [1, 0]
    assert observed.toarray()[0].tolist() == [9, 0]


def test_every_token_is_as_likely_to_be_held_out():
    """1,000 documents of 6 + 3 + 1 tokens, one held out of each: words in the proportion 6 : 3 : 1,
    within five standard errors.
    """
    held = evaluate.split_tokens(np.tile([6, 3, 1], (1000, 1)), 0.1)[1].sum(axis=0)
    share = np.array([0.6, 0.3, 0.1])
    np.testing.assert_array_less(
        np.abs(held / 1000 - share), 5 * np.sqrt(share * (1 - share) / 1000)
    )
    other = evaluate.split_tokens(np.tile([6, 3, 1], (1000, 1)), 0.1, random_state=1)[1].sum(axis=0)
    assert (held != other).any()


@pytest.mark.parametrize("K", [1, 3])
def test_uniform_topics_have_the_perplexity_of_guessing(K):
    result = evaluate.completion(np.ones((K, 25)), small_counts())
    np.testing.assert_allclose([result.perplexity, result.low, result.high], 25, rtol=1e-5)


def test_completion_by_hand():
    """Two topics without a common word: the observed tokens say which one it is, up to the
    prior.
    """
    topics = np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    # One token of each is held out, 4 and 2 are observed.
    counts = np.array([[5, 0, 0, 0], [0, 0, 0, 3]])
    result = evaluate.completion(topics, counts, doc_topic_prior=0.5)
    likely = np.array([4.5 / 5 / 2, 2.5 / 3 / 2])
    np.testing.assert_allclose(result.perplexity, np.exp(-np.log(likely).mean()), rtol=1e-5)
    assert (result.n_tokens, result.n_docs) == (2, 2)
    spread = 1.96 * np.sqrt(np.sum((np.log(likely) - np.log(likely).mean()) ** 2)) / 2
    np.testing.assert_allclose(
        [result.low, result.high], result.perplexity * np.exp([-spread, spread]), rtol=1e-5
    )


@pytest.fixture(scope="module")
def known():
    """(training corpus, test corpus, truth, the best of four fitted models)"""
    corpus, truth = datasets.make_lda(500, 120, 6, doc_length=60, random_state=4)
    train, test = corpus.split(0.3)
    models = [LDA(6, random_state=seed).fit(train) for seed in range(4)]
    return train, test, truth, max(models, key=lambda model: model.score(train))


def test_interval_contains_the_point_and_the_truth_beats_the_fit(known):
    _, test, truth, model = known
    fitted = evaluate.completion(model, test)
    best = evaluate.completion(truth.topic_word, test.counts, doc_topic_prior=0.1)
    assert fitted.low < fitted.perplexity < fitted.high
    assert best.perplexity < 1.01 * fitted.perplexity
    assert fitted.perplexity < 1.1 * best.perplexity, "and the fit is not far behind"
    assert best.perplexity < 0.5 * evaluate.completion_perplexity(np.ones((6, 120)), test.counts)
    whole = evaluate.completion(model, Corpus(sparse.vstack([test.counts] * 4)))
    assert np.log(whole.high / whole.low) < 0.7 * np.log(fitted.high / fitted.low), (
        "four times the documents, half the interval"
    )


def test_completion_follows_the_protocol(known):
    """theta from the observed tokens with topics fixed, perplexity of the held-out tokens: in plain
    NumPy.
    """
    _, test, _, model = known
    observed, held = evaluate.split_tokens(test, 0.2, 7)
    gain = (
        reference.log_likelihood(held, model.transform(observed), model.topic_word_).sum()
        / held.sum()
    )
    np.testing.assert_allclose(
        evaluate.completion_perplexity(model, test, held_out=0.2, random_state=7),
        np.exp(-gain),
        rtol=1e-5,
    )


def test_foreign_topics_are_scored_as_the_model_is(known):
    """The same topics as a bare array, with the same prior, get the same perplexity; and so does a
    scaled array.
    """
    _, test, _, model = known
    own = evaluate.completion_perplexity(model, test)
    prior = model.doc_topic_prior_
    for topics in (model.components_, 1000 * model.components_):
        np.testing.assert_allclose(
            evaluate.completion_perplexity(topics, test.counts, doc_topic_prior=prior),
            own,
            rtol=1e-4,
        )
    np.testing.assert_allclose(
        evaluate.completion_perplexity(model, test, fold_in_rule="bp"), own, rtol=1e-4
    )


def test_a_prior_learned_from_light_weights_can_be_measured(mixed):
    """It may be smaller than a prior that is given."""
    light = LDA(5, max_iter=20).fit(mixed[0].counts * 1e-9)
    assert light.doc_topic_prior_.max() < 1e-6
    assert np.isfinite(evaluate.completion_perplexity(light, mixed[0].counts, fold_in_rule="bp"))
    assert np.isfinite(evaluate.left_to_right(light, mixed[0].counts[:2])).all()


A, B, C, E = range(4)


def test_foreign_topics_may_hold_zeros(known):
    """A word that no topic has costs much, but not everything."""
    _, test, truth, _ = known
    topics = truth.topic_word.copy()
    topics[:, 0] = 0
    assert np.isfinite(evaluate.completion_perplexity(topics, test.counts))
    assert evaluate.completion_perplexity(topics, test.counts) > evaluate.completion_perplexity(
        truth.topic_word, test.counts
    )


def test_one_sample_is_worse_than_messages():
    """Ambiguity A6: theta from a single Gibbs sample of a short document is noisy."""
    corpus, truth = datasets.make_lda(
        1000, 50, 8, doc_length=15, alpha=0.3, beta=0.3, random_state=0
    )
    sample, messages = (
        evaluate.completion_perplexity(
            truth.topic_word, corpus.counts, doc_topic_prior=0.3, held_out=0.2, fold_in_rule=rule
        )
        for rule in ("gibbs", "bp")
    )
    assert sample > 1.05 * messages


def test_models_of_scikit_learn_can_be_scored(known):
    """By their own transform, or by the common fold-in."""
    train, test, _, model = known
    peer = sklearn.decomposition.LatentDirichletAllocation(6, random_state=0, max_iter=5).fit(
        train.counts
    )
    for options in ({}, {"fold_in_rule": "bp"}):
        theirs = evaluate.completion_perplexity(peer, test.counts, **options)
        assert evaluate.completion_perplexity(model, test) < theirs < 120


def test_completion_takes_every_format(known):
    _, test, _, model = known
    expected = evaluate.completion(model, test)
    for X in (test.counts, test.counts.toarray(), sparse.csc_matrix(test.counts)):
        assert evaluate.completion(model, X) == expected
    assert evaluate.completion(model, test, random_state=1) != expected


def test_left_to_right_agrees_with_the_model(known):
    """The truth explains whole documents better than uniform topics, which give n log(1 / W)
    exactly; empty documents give 0.
    """
    _, test, truth, _ = known
    few = sparse.vstack([test.counts[:20], sparse.csr_array((1, 120))], format="csr")
    uniform = evaluate.left_to_right(np.ones((6, 120)), few)
    np.testing.assert_allclose(uniform, few.sum(axis=1) * np.log(1 / 120), rtol=1e-6, atol=1e-9)
    best = evaluate.left_to_right(truth.topic_word, few, doc_topic_prior=0.1)
    assert (best[:20] > uniform[:20]).all()
    again = evaluate.left_to_right(truth.topic_word, few, doc_topic_prior=0.1)
    np.testing.assert_array_equal(best, again)
    other = evaluate.left_to_right(
        truth.topic_word, few, doc_topic_prior=0.1, random_state=1, n_particles=50
    )
    np.testing.assert_allclose(best.sum(), other.sum(), rtol=0.01)


TOGETHER = np.log2(4 / 3)  # NPMI of a and b: log(1/2 / (3/4 1/2)) / -log(1/2)


# Documents "a b", "a b", "a", "c", in a vocabulary a b c e; nobody uses e. P(a) = 3/4, P(b) = 1/2,
# P(c) = 1/4, P(a, b) = 1/2.
REFERENCE = np.array([[1, 3, 0, 0], [2, 1, 0, 0], [1, 0, 0, 0], [0, 0, 4, 0]])


@pytest.mark.parametrize(
    ("words", "npmi", "u_mass"),
    [
        ([A, B], TOGETHER, np.log(3 / 3)),  # D(a, b) + 1 over D(a)
        ([B, A], TOGETHER, np.log(3 / 2)),  # the more probable word comes first
        ([A, C], -1, np.log(1 / 3)),  # never together
        ([A, B, C], (TOGETHER - 2) / 3, (0 + np.log(1 / 3) + np.log(1 / 2)) / 3),
        ([A, E], 0, 0),  # nothing is known of e
        ([A, B, E], TOGETHER / 3, 0),
        ([E], 0, 0),  # no pair
    ],
)
def test_coherence_by_hand(words, npmi, u_mass):
    np.testing.assert_allclose(evaluate.npmi([words], REFERENCE), [npmi], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        evaluate.u_mass([words], REFERENCE), [u_mass], rtol=1e-12, atol=1e-12
    )


def test_c_v_by_hand():
    """Vectors (1, p) and (p, 1) with p the NPMI of a and b; their sum is (1 + p) (1, 1).

    A word unknown to the reference has no vector.
    """
    p = TOGETHER
    np.testing.assert_allclose(
        evaluate.c_v([[A, B]], REFERENCE), [(1 + p) / np.sqrt(2 * (1 + p**2))], rtol=1e-12
    )
    np.testing.assert_allclose(evaluate.c_v([[A, E]], REFERENCE), [0.5], rtol=1e-12)


def test_words_in_every_document_are_always_together():
    for measure in (evaluate.npmi, evaluate.c_v):
        np.testing.assert_allclose(measure([[0, 1, 2]], np.ones((5, 3))), [1], rtol=1e-12)


@pytest.mark.parametrize("measure", [evaluate.npmi, evaluate.u_mass, evaluate.c_v])
def test_coherence_is_never_nan(measure):
    """Top words missing in the reference, or all of the reference empty."""
    topics = np.random.default_rng(0).dirichlet(np.ones(25), 4)
    for corpus in (small_counts(), np.zeros((3, 25)), np.eye(25), small_counts()[:1]):
        assert np.isfinite(measure(topics, corpus)).all()


@pytest.mark.parametrize("measure", [evaluate.npmi, evaluate.c_v])
def test_true_topics_are_more_coherent_than_random_ones(blocks, measure):
    corpus, truth = blocks
    random = np.random.default_rng(0).dirichlet(np.ones(40), 4)
    assert measure(truth.topic_word, corpus.counts).min() > measure(random, corpus.counts).max()


def test_coherence_of_a_model_is_that_of_its_top_words(blocks):
    corpus, _ = blocks
    model = LDA(4, max_iter=20).fit(corpus)
    ids = [[int(word[1:]) for word in words] for words in model.top_words(5)]
    np.testing.assert_array_equal(
        evaluate.npmi(model, corpus, n_words=5), evaluate.npmi(ids, corpus.counts)
    )
    np.testing.assert_array_equal(
        evaluate.npmi(model.components_, corpus.counts, n_words=5),
        evaluate.npmi(ids, corpus.counts),
    )


def test_topic_diversity_by_hand():
    topics = np.array([[5.0, 4, 1, 0], [0, 4, 5, 1]])  # top two: {0, 1} and {2, 1}
    assert evaluate.topic_diversity(topics, n_words=2) == 3 / 4
    assert evaluate.topic_diversity(topics, n_words=1) == 1
    assert evaluate.topic_diversity(np.ones((3, 4)), n_words=2) == 1 / 3


def test_permuted_topics_match_perfectly():
    topics = np.random.default_rng(0).dirichlet(np.full(30, 0.1), 6)
    order = np.array([3, 1, 5, 0, 2, 4])
    partner, cosine = evaluate.match_topics(topics, topics[order])
    np.testing.assert_array_equal(order[partner], range(6))
    np.testing.assert_allclose(cosine, 1, rtol=1e-9)
    np.testing.assert_allclose(
        evaluate.stability([topics, topics[order], topics[::-1]]), 1, rtol=1e-9
    )


def test_matching_is_the_best_not_the_greediest():
    """By hand: the first topic likes the second's partner more, but then the second would be left
    with nothing.
    """
    first = np.array([[3.0, 2, 0], [3, 0, 0]])
    second = np.array([[1.0, 0, 0], [0, 1, 0]])
    partner, cosine = evaluate.match_topics(first, second)
    assert partner.tolist() == [1, 0]
    np.testing.assert_allclose(cosine, [2 / np.sqrt(13), 1], rtol=1e-9)


def test_topics_without_a_partner():
    topics = np.eye(3)
    partner, cosine = evaluate.match_topics(topics, topics[:2])
    assert partner.tolist() == [0, 1, -1]
    np.testing.assert_allclose(cosine, [1, 1, 0], rtol=1e-9, atol=1e-9)
    assert evaluate.match_topics(topics[:2], topics)[0].tolist() == [0, 1]


def test_stability_finds_the_topic_that_comes_and_goes():
    steady, other = np.eye(4)[:3], np.eye(4)[[0, 1, 3]]
    np.testing.assert_allclose(evaluate.stability([steady, other, steady]), [1, 1, 0.5], rtol=1e-9)


def test_gibbs_fold_in_averages_samples(mixed):
    """One sample of a short document is noisy; the mean of many predicts better, and comes near the
    expectation that BP computes.
    """
    corpus, truth = mixed
    one, many, bp = (
        evaluate.completion_perplexity(
            truth.topic_word,
            corpus.counts,
            fold_in_rule=rule,
            fold_in_samples=n,
            doc_topic_prior=0.1,
        )
        for rule, n in (("gibbs", 1), ("gibbs", 50), ("bp", 1))
    )
    assert many < one
    assert abs(many / bp - 1) < 0.02


def test_topics_over_another_vocabulary_are_refused(mixed):
    corpus, truth = mixed
    topics = truth.topic_word
    for wrong in (topics.T, topics[:, :50], np.c_[topics, topics]):
        with pytest.raises(ValueError, match="same vocabulary|not transposed"):
            evaluate.completion(wrong, corpus.counts)
        with pytest.raises(ValueError, match="same vocabulary|not transposed"):
            evaluate.left_to_right(wrong, corpus.counts[:2])
        with pytest.raises(ValueError, match="one vocabulary for both"):
            evaluate.npmi(wrong, corpus.counts)
    with pytest.raises(ValueError, match="does not know its words"):
        evaluate.npmi([["cat", "dog"]], corpus.counts)
    with pytest.raises(ValueError, match="mix words and word numbers"):
        evaluate.npmi([["cat", 2]], corpus)


def test_gibbs_fold_in_goes_on_though_no_token_moves():
    """Documents of one clear topic: sweeps in which every token keeps its topic are
    samples, too.
    """
    corpus, _ = datasets.make_blocks(random_state=3)
    model = LDA(4, max_iter=30).fit(corpus)
    for seed in range(4):
        common, sampled = (
            evaluate.completion(model, corpus[:1], fold_in_rule=rule, random_state=seed).perplexity
            for rule in ("bp", "gibbs")
        )
        assert sampled == pytest.approx(common, rel=0.2)


@pytest.mark.parametrize("samples", [0, 101, 1.5])
def test_bad_numbers_of_samples_are_refused(samples):
    with pytest.raises(ValueError, match="fold_in_samples is"):
        evaluate.completion(np.eye(3), np.eye(3) * 4, fold_in_rule="gibbs", fold_in_samples=samples)


def test_estimators_of_other_libraries_are_folded_in_like_their_topics():
    corpus, _ = datasets.make_lda(60, 40, 3)
    for other in (
        sklearn.decomposition.NMF(3, max_iter=500),
        sklearn.decomposition.LatentDirichletAllocation(3, doc_topic_prior=0.01),
    ):
        topics = other.fit(corpus.counts).components_
        assert evaluate.completion_perplexity(
            other, corpus.counts
        ) == evaluate.completion_perplexity(topics, corpus.counts)


def test_a_pipeline_is_measured_by_its_model():
    texts = ["cats purr and cats sleep"] * 6 + ["dogs bark and dogs run"] * 6
    pipeline = make_pipeline(CountVectorizer(), LDA(2, max_iter=10)).fit(texts)
    counts = pipeline[:-1].transform(texts)
    assert evaluate.completion_perplexity(pipeline, texts) == evaluate.completion_perplexity(
        pipeline[-1], counts
    )
    np.testing.assert_array_equal(
        evaluate.npmi(pipeline, texts), evaluate.npmi(pipeline[-1], counts)
    )


def test_topics_over_the_same_words_in_another_order_match():
    corpus = replace(datasets.make_lda(60, 40, 3)[0], vocabulary=[f"w{i}" for i in range(40)])
    model = LDA(3, max_iter=20).fit(corpus)
    transposed = LDA(3, max_iter=1, init=model.components_[:, ::-1]).fit(
        Corpus(corpus.counts[:, ::-1], corpus.vocabulary[::-1])
    )
    assert evaluate.stability([model, transposed]).min() > 0.9


def test_topics_as_lists_of_numbers_are_topics():
    corpus, _ = datasets.make_lda(60, 40, 3)
    topics = LDA(3, max_iter=10).fit(corpus).topic_word_
    np.testing.assert_array_equal(
        evaluate.npmi(topics.tolist(), corpus.counts), evaluate.npmi(topics, corpus.counts)
    )


def test_the_order_of_columns_does_not_change_what_is_held_out():
    corpus, truth = datasets.make_lda(60, 40, 3)
    order = np.random.default_rng(0).permutation(40)
    words = np.array(corpus.words)
    one = evaluate.completion(truth.topic_word, corpus, vocabulary=words)
    other = evaluate.completion(truth.topic_word[:, order], corpus, vocabulary=words[order])
    assert one == other
