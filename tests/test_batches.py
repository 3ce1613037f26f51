"""Blocks (batch_size) and mini-batches (partial_fit) learn what a whole corpus teaches."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from support import tune

import topoi
from topoi import LDA, LatentDirichletAllocation, datasets, evaluate
from topoi.rules import CVB0


@pytest.mark.parametrize("size", [150, 1000])
def test_one_batch_is_the_batch_fit(mixed, size):
    plain = LDA(5, max_iter=20).fit(mixed[0])
    batched = LDA(5, max_iter=20, batch_size=size).fit(mixed[0])
    np.testing.assert_array_equal(plain.components_, batched.components_)
    np.testing.assert_array_equal(plain.doc_topic_, batched.doc_topic_)


@pytest.mark.parametrize("rule", ["bp", "sibp", CVB0(messages="edge")], ids=str)
def test_blocks_find_the_planted_topics(blocks, rule):
    """The best of three seeds by training perplexity."""
    corpus, truth = blocks
    models = [
        LDA(4, rule=rule, batch_size=30, max_iter=20, random_state=seed).fit(corpus)
        for seed in range(3)
    ]
    model = min(models, key=lambda model: model.perplexity(corpus))
    assert evaluate.match_topics(truth.topic_word, model)[1].min() > 0.95
    assert model.doc_topic_.shape == (120, 4)
    np.testing.assert_allclose(model.doc_topic_.max(axis=1), 1, rtol=0, atol=0.05)
    assert [record["sweep"] for record in model.history_] == list(range(1, model.n_iter_ + 1))


def test_blocks_are_those_of_a_source(mixed):
    """The same loop, and the same bits; documents are in memory, so that they are kept."""
    in_memory = LDA(5, max_iter=12, batch_size=40).fit(mixed[0])
    of_source = LDA(5, max_iter=12).fit(topoi.Source(mixed[0], block_size=40))
    np.testing.assert_array_equal(in_memory.components_, of_source.components_)
    np.testing.assert_array_equal(in_memory.doc_topic_, of_source.transform(mixed[0]))
    perplexities = [
        [record["perplexity"] for record in model.history_] for model in (in_memory, of_source)
    ]
    assert perplexities[0] == perplexities[1]


def test_perplexity_of_weighted_blocks_is_that_of_counts(mixed):
    at_once, blocks = (
        LDA(5, max_iter=20, tol=0, weighting="tfidf", **options).fit(mixed[0])
        for options in ({"schedule": "incremental"}, {"batch_size": 40})
    )
    ours, theirs = (model.history_[-1]["perplexity"] for model in (blocks, at_once))
    assert ours == pytest.approx(theirs, rel=0.05)


def test_online_learning_of_scikit_learn_finds_the_planted_topics(blocks):
    corpus, truth = blocks
    models = [
        LatentDirichletAllocation(
            4, learning_method="online", batch_size=30, max_iter=10, random_state=seed
        ).fit(corpus)
        for seed in range(3)
    ]
    model = min(models, key=lambda model: model.perplexity(corpus))
    assert evaluate.match_topics(truth.topic_word, model)[1].min() > 0.95
    assert model.n_batch_iter_ == 1 + 10 * 4


def test_blocks_hold_as_many_tokens_as_the_corpus(blocks):
    counts = blocks[0].counts
    model = LDA(4, batch_size=40, max_iter=3, topic_word_prior=0.1).fit(counts)
    np.testing.assert_allclose(model.components_.sum() - 4 * 40 * 0.1, counts.sum(), rtol=1e-4)


@pytest.mark.parametrize("size", [1, 50])
def test_empty_documents_do_not_change_what_blocks_learn(blocks, size):
    """Four times as many empty documents as others, between them; blocks are of documents that
    have words.
    """
    padded_width = np.zeros((600, 40))
    padded_width[::5] = blocks[0].counts.toarray()
    plain, among_empty = (
        LDA(4, batch_size=size, max_iter=2, topic_word_prior=0.1).fit(X)
        for X in (padded_width[::5], padded_width)
    )
    np.testing.assert_array_equal(among_empty.components_, plain.components_)
    np.testing.assert_array_equal(among_empty.doc_topic_[::5], plain.doc_topic_)
    assert [record["residual"] for record in among_empty.history_] == [
        record["residual"] for record in plain.history_
    ]


def test_empty_documents_in_a_batch_do_not_count(blocks):
    """Neither in the scale of what a batch counts nor among the documents that learning of priors
    waits for.
    """
    models = []
    for empty in (0, 90):
        model = LDA(4, total_samples=120, doc_topic_prior=0.1)
        for part in np.array_split(np.arange(120), 6):
            model.partial_fit(
                sparse.vstack([blocks[0].counts[part], sparse.csr_array((empty, 40))], format="csr")
            )
        models.append(model)
    plain, among_empty = models
    np.testing.assert_array_equal(among_empty.components_, plain.components_)
    np.testing.assert_allclose(
        plain.components_.sum() - 4 * 40 * plain.topic_word_prior_,
        blocks[0].counts.sum(),
        rtol=0.02,
    )


def test_documents_that_a_weighting_empties_count_nowhere():
    """The first word stands in every document, so TF-IDF gives it no weight; half of the documents
    have nothing else.
    """
    counts = np.zeros((40, 3))
    counts[:, 0], counts[::2, 1], counts[::4, 2] = 1, 3, 5
    model = LDA(2, weighting="tfidf", batch_size=4, max_iter=2, topic_word_prior=0.1).fit(counts)
    assert model._n_docs == 20
    np.testing.assert_allclose(model.components_.sum() - 2 * 3 * 0.1, counts.sum(), rtol=0.05)


def test_partial_fit_finds_the_blocks(blocks):
    corpus, truth = blocks
    model = LDA(4, total_samples=120)
    order = np.random.default_rng(0).permutation(120)
    for _ in range(5):
        for part in np.array_split(order, 4):
            assert model.partial_fit(corpus.counts[part]) is model
    assert evaluate.match_topics(truth.topic_word, model)[1].min() > 0.95
    assert model.n_iter_ == 20, "batches seen"
    assert model.transform(corpus.counts).shape == (120, 4)


@pytest.mark.parametrize("seed", range(4))
def test_one_pass_finds_planted_topics_from_every_seed(seed):
    """The first batches give an overcomplete start; from random topics two of a theme stay."""
    corpus, truth = datasets.make_lda(600, 300, 12, random_state=seed)
    model = LDA(12, total_samples=600, random_state=seed)
    for part in np.array_split(np.random.default_rng(seed).permutation(600), 6):
        model.partial_fit(corpus.counts[part])
    assert evaluate.match_topics(truth.topic_word, model)[1].min() > 0.9


def test_words_that_a_batch_lacks_lose_nothing(mixed, monkeypatch):
    """They are as frequent as they were in the documents so far."""
    # the first batch is enough
    tune(monkeypatch, stream_edges=1, overcomplete_edges=1, edges_per_topic=0)
    counts = mixed[0].counts
    word = counts.sum(axis=0).argmax()
    without = counts[75:].toarray()
    without[:, word] = 0
    model = LDA(5, total_samples=1000).partial_fit(counts[:75]).partial_fit(without)
    held = (model.components_ - model.topic_word_prior_).sum(axis=0)
    assert held[word] * 150 / 1000 == pytest.approx(counts[:75].sum(axis=0)[word], rel=1e-3)


def test_first_batches_start_again_when_they_have_doubled(mixed):
    """Three batches of 50 documents: the second start is from the first two, the third batch is
    added. All is kept until there are enough, and not in files.
    """
    model = LDA(5, total_samples=1000)
    started = []
    for part in np.array_split(np.arange(150), 3):
        model.partial_fit(mixed[0].counts[part])
        started.append(model._online.started)
    edges = [mixed[0].counts[: 50 * n].nnz for n in (1, 2, 3)]
    assert started[0] == edges[0]
    assert started[-1] in edges[1:]
    assert model._online.kept.shape[0] == 150
    assert LDA(5, total_samples=150).partial_fit(mixed[0].counts)._online.kept is None


def test_a_complete_first_pass_is_learned_from_all_documents(mixed):
    """However the pass was cut into batches, its last call gives the same topics."""

    def learned(cuts):
        model = LDA(5, total_samples=150)
        for part in np.array_split(np.arange(150), cuts):
            model.partial_fit(mixed[0].counts[part])
        assert model._online.started == mixed[0].counts.nnz
        return model.components_

    np.testing.assert_array_equal(learned(1), learned(5))


def test_edited_topics_do_not_start_again(mixed):
    model = LDA(5, total_samples=1000).partial_fit(mixed[0].counts[:50])
    merged = model.merge_topics([[0, 1]])
    before = merged.topic_word_.copy()
    merged.partial_fit(mixed[0].counts)
    partner, cosine = evaluate.match_topics(before, merged)
    np.testing.assert_array_equal(partner, range(4))
    assert cosine.min() > 0.7


def test_partial_fit_goes_on_from_a_fit(blocks):
    """Topics keep their numbers when a fitted model continues to learn."""
    corpus, _ = datasets.make_blocks()
    model = LDA(4).fit(corpus)
    before = model.topic_word_.copy()
    model.partial_fit(corpus.counts[::2])
    partner, cosine = evaluate.match_topics(before, model)
    np.testing.assert_array_equal(partner, range(4))
    assert cosine.min() > 0.95
    assert (model.topic_word_ != before).any()


def test_a_refused_batch_costs_nothing(blocks):
    counts = blocks[0].counts
    model, other = LDA(4, max_iter=10).fit(counts), LDA(4, max_iter=10).fit(counts)
    with pytest.raises(ValueError, match="Negative values in data passed to LDA:"):
        model.partial_fit(-counts)
    np.testing.assert_array_equal(model.doc_topic_, other.doc_topic_)
    np.testing.assert_array_equal(
        model.partial_fit(counts[:20]).components_, other.partial_fit(counts[:20]).components_
    )


@pytest.mark.parametrize(
    "option", [{"learning_offset": 0}, {"total_samples": np.inf}, {"learning_decay": "fast"}]
)
def test_bad_options_of_batches_are_refused(blocks, option):
    with pytest.raises(ValueError, match=f"{next(iter(option))} is .*; expected a number from"):
        LDA(4, **option).partial_fit(blocks[0].counts)


@pytest.mark.parametrize("model", [LDA(3, max_iter=2), LatentDirichletAllocation(3, max_iter=2)])
def test_fit_transform_takes_a_checkpoint(blocks, model, tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        model.fit_transform(blocks[0].counts, checkpoint=tmp_path / "none" / "run.ckpt")
    assert model.fit_transform(blocks[0].counts, checkpoint=tmp_path / "run.ckpt").shape == (
        blocks[0].n_docs,
        3,
    )


def test_empty_documents_of_fit_do_not_count_in_partial_fit(blocks):
    counts = blocks[0].counts
    sparser = sparse.vstack([counts, sparse.csr_array((400, counts.shape[1]))])
    options = {"max_iter": 5, "doc_topic_prior": 0.1, "topic_word_prior": 0.05}
    few, many = (LDA(4, **options).fit(X).partial_fit(counts[:30]) for X in (counts, sparser))
    np.testing.assert_allclose(many.components_.sum(), few.components_.sum(), rtol=1e-3)


def test_partial_fit_on_an_empty_batch_changes_nothing(blocks):
    model = LDA(4).partial_fit(blocks[0].counts)
    before = model.components_.copy()
    model.partial_fit(np.zeros((3, 40)))
    np.testing.assert_array_equal(model.components_, before)


def test_one_document_at_a_time_learns_priors_that_make_sense(mixed):
    """One document says nothing about how documents differ; many of them together do."""
    counts = mixed[0].counts
    fixed = LDA(5, total_samples=150, doc_topic_prior=0.1, topic_word_prior=0.05)
    learned = LDA(5, total_samples=150)
    for model in (fixed, learned):
        for d in range(150):
            model.partial_fit(counts[[d]])
    assert 0.001 < learned.doc_topic_prior_.min() < learned.doc_topic_prior_.max() < 1
    assert learned.perplexity(counts) < 1.05 * fixed.perplexity(counts)


def test_one_document_after_a_fit_hardly_moves_the_prior(mixed):
    model = LDA(5).fit(mixed[0])
    before = model.doc_topic_prior_.copy()
    model.partial_fit(mixed[0].counts[[0]])
    np.testing.assert_allclose(model.doc_topic_prior_, before, rtol=0.8)


@pytest.mark.parametrize("total", [1e6, 1e9])
def test_a_batch_counts_however_many_documents_are_to_come(mixed, total):
    """A batch beside words that hold a billion documents' tokens: its own mass must not drown in
    theirs.
    """
    model = LDA(5, total_samples=total, doc_topic_prior=0.1, topic_word_prior=0.05)
    for d in range(100):
        model.partial_fit(mixed[0].counts[[d]])
    tokens = mixed[0].counts[:100].sum() / 100 * total
    assert 0.5 < model.components_.sum() / tokens < 2


@pytest.mark.parametrize("way", ["batches", "partial_fit"])
def test_mini_batches_begin_with_given_topics(blocks, way):
    """Topics keep the order in which they are given."""
    corpus, truth = blocks
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        model = LDA(4, init=truth.topic_word[order], batch_size=30, max_iter=3, total_samples=120)
        if way == "batches":
            model.fit(corpus)
        else:
            model.partial_fit(corpus.counts[::2]).partial_fit(corpus.counts[1::2])
        np.testing.assert_array_equal(
            evaluate.match_topics(truth.topic_word[order], model)[0], range(4)
        )


def test_partial_fit_keeps_the_weighting_of_the_fit(mixed):
    model = LDA(5, weighting="tfidf", max_iter=10).fit(mixed[0])
    before = model.weighting_
    assert model.partial_fit(mixed[0].counts[:5]).weighting_ is before
    assert (
        LDA(5, weighting="tfidf", batch_size=50, max_iter=2)
        .fit(mixed[0])
        .fit(mixed[0][:100])
        .weighting_.scale
        != before.scale
    )


def test_a_second_fit_in_blocks_starts_afresh(blocks):
    counts = blocks[0].counts
    once = LDA(4, batch_size=30, max_iter=3).fit(counts)
    twice = LDA(4, batch_size=30, max_iter=3).fit(counts[:60]).fit(counts)
    np.testing.assert_array_equal(twice.components_, once.components_)


def test_a_second_fit_in_blocks_may_have_other_words(blocks):
    model = LDA(4, batch_size=30, max_iter=2).fit(blocks[0].counts).fit(blocks[0].counts[:, :20])
    assert model.components_.shape == (4, 20)


def test_blocks_of_empty_documents_are_passed_over(blocks):
    counts = sparse.vstack([sparse.csr_array((600, 40)), blocks[0].counts], format="csr")
    assert LDA(4, batch_size=5, max_iter=2).fit(counts).n_iter_ == 2


def test_partial_fit_counts_the_words_it_leaves_out():
    first = topoi.read(
        ["cats and dogs", "dogs chase cats"], vectorizer=topoi.make_vectorizer(min_df=1, max_df=1.0)
    )
    second = topoi.read(
        ["cats chase stocks", "bonds and stocks"],
        vectorizer=topoi.make_vectorizer(min_df=1, max_df=1.0),
    )
    model = LDA(2).partial_fit(first)
    with pytest.warns(
        UserWarning,
        match=r"2 words of this batch \(3 tokens\) are not in the model's vocabulary.*vocabulary=",
    ) as caught:
        model.partial_fit(second)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(first)
