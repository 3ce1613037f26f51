"""Messages and labels of words, and fits that start from them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from support import every_model_combination, small_counts, tune

from topoi import (
    LDA,
    AuthorTopicModel,
    Corpus,
    LabeledLDA,
    RelationalTopicModel,
    rules,
)
from topoi.models import preflight

PRIORS = {"doc_topic_prior": 0.1, "topic_word_prior": 0.05}


def by_document(counts: sparse.csr_array, messages: np.ndarray) -> np.ndarray:
    """(D, K) sums of x mu over the words of each document."""
    at = np.arange(counts.nnz)
    return sparse.csr_array((counts.data, at, counts.indptr)) @ messages.astype(np.float64)


def by_word(counts: sparse.csr_array, messages: np.ndarray) -> np.ndarray:
    """(W, K) sums of x mu over the documents of each word."""
    shape = (counts.shape[1], counts.nnz)
    table = sparse.csr_array((counts.data, (counts.indices, np.arange(counts.nnz))), shape=shape)
    return table @ messages.astype(np.float64)


# ---------------------------------------------------------------------------------- messages


@pytest.mark.parametrize("rule", ["bp", "sibp", "cvb0", "vb", "gibbs"])
def test_messages_add_up_to_the_proportions_of_documents(mixed, rule):
    model = LDA(5, rule=rule, max_iter=15).fit(mixed[0])
    counts = small_counts(20, 80)
    messages = model.messages(counts)
    np.testing.assert_allclose(messages.sum(axis=1), 1, atol=1e-5)
    held = by_document(counts, messages) + model.doc_topic_prior_
    expected = model.transform(counts)
    np.testing.assert_allclose(held / held.sum(axis=1, keepdims=True), expected, atol=1e-4)


def test_a_message_is_what_its_word_and_the_rest_of_its_document_say(fitted, mixed):
    """Eq. 7 with the topics fixed: own contribution removed on the side of the document."""
    counts = mixed[0].counts
    messages = fitted.messages(counts).astype(np.float64)
    doc = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    others = by_document(counts, messages)[doc] - counts.data[:, None] * messages
    expected = fitted.topic_word_.T[counts.indices] * (others + fitted.doc_topic_prior_)
    np.testing.assert_allclose(messages, expected / expected.sum(axis=1, keepdims=True), atol=2e-3)


def test_messages_follow_the_canonical_order_of_x(fitted):
    counts = small_counts(20, 80)
    dense, expected = counts.toarray(), fitted.messages(counts)
    unordered = sparse.coo_array(
        (counts.data[::-1], (counts.tocoo().coords[0][::-1], counts.indices[::-1])),
        shape=counts.shape,
    )
    for X in (dense, unordered, Corpus(dense)):
        np.testing.assert_array_equal(fitted.messages(X), expected)
    one = fitted.messages(counts[[7]])
    np.testing.assert_array_equal(one, expected[counts.indptr[7] : counts.indptr[8]])


def test_messages_do_not_depend_on_how_many_documents_are_held_at_a_time(
    fitted, mixed, labeled, monkeypatch
):
    corpus, labels = labeled[0], labeled[0].labels.tolist()
    model = LabeledLDA(max_iter=5).fit(corpus)
    expected = fitted.messages(mixed[0]), model.messages(corpus, labels=labels)
    tune(monkeypatch, chunk_bytes=2000)
    np.testing.assert_array_equal(fitted.messages(mixed[0]), expected[0])
    np.testing.assert_array_equal(model.messages(corpus, labels=labels), expected[1])


def test_words_get_topics_of_the_labels_that_are_given(labeled):
    corpus = labeled[0]
    model = LabeledLDA(2, max_iter=5).fit(corpus)
    messages = model.messages(corpus, labels=corpus.labels)
    allowed = np.hstack([corpus.labels.matrix.toarray(), np.ones((corpus.n_docs, 2))])
    doc = np.repeat(np.arange(corpus.n_docs), np.diff(corpus.counts.indptr))
    assert (messages[allowed[doc] == 0] == 0).all()
    np.testing.assert_allclose(messages.sum(axis=1), 1, atol=1e-5)
    free = model.messages(corpus)
    assert (free[allowed[doc] == 0] > 0).any(), "labels of a corpus are not used unasked"
    with pytest.raises(ValueError, match="not among classes"):
        model.messages(corpus[:1], labels=["unheard of"])


def test_messages_are_sums_over_authors(authored):
    corpus = authored[0][:60]
    model = AuthorTopicModel(5, max_iter=10).fit(corpus)
    messages = model.messages(corpus)
    assert messages.shape == (corpus.counts.nnz, 5)
    np.testing.assert_allclose(messages.sum(axis=1), 1, atol=1e-5)
    alone = model.messages(corpus.counts)
    assert np.abs(messages - alone).max() > 0.1, "authors count"
    each = [[f"only {d}"] for d in range(60)]
    np.testing.assert_allclose(
        model.messages(corpus, authors=each, known_authors=False), alone, atol=5e-3
    )


def test_links_speak_in_messages(linked):
    corpus = linked[0][:80]
    model = RelationalTopicModel(6, link_weight=0.3, max_iter=10).fit(corpus)
    linked = model.messages(corpus.counts, links=corpus.links)
    alone = model.messages(corpus.counts)
    doc = np.repeat(np.arange(80), np.diff(corpus.counts.indptr))
    without = np.isin(doc, np.flatnonzero(model.links_.sum(axis=1) == 0))
    assert without.any()
    assert np.abs(linked - alone)[~without].max() > 0.1
    np.testing.assert_allclose(linked[without], alone[without], atol=5e-3)


@pytest.mark.usefixtures("no_kernel_runs")
def test_messages_that_do_not_fit_are_refused_before_anything_is_allocated(
    fitted, mixed, monkeypatch
):
    monkeypatch.setattr(preflight, "free_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"need .* GiB, but .* free.*model.label"):
        fitted.messages(mixed[0])


# ------------------------------------------------------------------------------------ labels


def test_labels_are_the_largest_messages(fitted, mixed):
    corpus = mixed[0]
    messages, labels = fitted.messages(corpus), fitted.label(corpus)
    assert labels["topic"].tolist() == messages.argmax(axis=1).tolist()
    np.testing.assert_array_equal(labels["probability"], messages.max(axis=1))
    assert labels["count"].tolist() == corpus.counts.data.tolist()
    assert labels["word"].tolist() == np.array(corpus.words)[corpus.counts.indices].tolist()
    assert labels["document"].value_counts().tolist() == sorted(
        np.diff(corpus.counts.indptr), reverse=True
    )


def test_labels_show_names_of_documents_words_and_topics():
    corpus = Corpus([[3, 1, 0], [0, 2, 4]], ["cat", "dog", "bond"], doc_names=["a", "b"])
    model = LDA(2, max_iter=3).fit(corpus).name_topics({0: "first", 1: "second"})
    labels = model.label(corpus)
    assert labels["document"].tolist() == ["a", "a", "b", "b"]
    assert labels["word"].tolist() == ["cat", "dog", "dog", "bond"]
    assert [["first", "second"][k] for k in labels["topic"]] == labels["name"].tolist()
    unnamed = model.label(corpus.counts)
    assert unnamed["document"].tolist() == [0, 0, 1, 1]


# ------------------------------------------------------------------------ fits that start there


def test_a_fit_from_messages_goes_on_where_they_are(mixed):
    """One synchronous sweep is eq. 7 on the given messages."""
    counts = mixed[0].counts
    given = np.random.default_rng(0).dirichlet(np.ones(5), counts.nnz)
    model = LDA(5, schedule="synchronous", max_iter=1, tol=0, init=given, **PRIORS).fit(counts)
    own = counts.data[:, None] * given
    doc = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    words = by_word(counts, given)
    expected = (words[counts.indices] - own + 0.05) / (words.sum(axis=0) - own + 80 * 0.05)
    expected *= by_document(counts, given)[doc] - own + 0.1
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.components_, by_word(counts, expected).T + 0.05, rtol=1e-3)


@every_model_combination
def test_every_rule_and_schedule_can_start_from_messages(mixed, rule, schedule):
    counts = mixed[0].counts
    options = {"rule": rule, "schedule": schedule, "max_iter": 2, "tol": 0, "evaluate_every": 1}
    fitted = LDA(5, **PRIORS, random_state=1).fit(counts)
    afresh = LDA(5, **options, **PRIORS).fit(counts)
    resumed = LDA(5, **options, **PRIORS, init=fitted.messages(counts)).fit(counts)
    assert resumed.perplexity(counts) < 1.02 * fitted.perplexity(counts)
    if schedule != "auto":  # it learns from a start with more topics than wanted
        assert resumed.perplexity(counts) < 0.9 * afresh.perplexity(counts)


@pytest.mark.parametrize("messages", ["none", "solved"])
def test_rules_without_stored_messages_start_from_them(mixed, messages):
    counts, rule = mixed[0].counts, rules.BP(messages=messages)
    fitted = LDA(5, **PRIORS, random_state=1).fit(counts)
    given = fitted.messages(counts)
    resumed = LDA(5, rule=rule, max_iter=2, tol=0, init=given, **PRIORS).fit(counts)
    assert resumed.perplexity(counts) < 1.02 * fitted.perplexity(counts)


def test_labels_are_a_start_too(mixed):
    counts = mixed[0].counts
    topics = LDA(5, max_iter=5).fit(counts).label(counts)["topic"]
    options = {"max_iter": 3, "tol": 0, **PRIORS}
    from_labels = LDA(5, init=topics.to_numpy(), **options).fit(counts)
    from_messages = LDA(5, init=np.eye(5)[topics], **options).fit(counts)
    np.testing.assert_array_equal(from_labels.components_, from_messages.components_)


def test_models_with_owners_labels_and_links_start_from_messages(authored, labeled, linked):
    for make, corpus in (
        (lambda **more: AuthorTopicModel(5, **more), authored[0]),
        (lambda **more: AuthorTopicModel(5, rule="gibbs", **more), authored[0]),
        (lambda **more: LabeledLDA(**more), labeled[0]),
        (lambda **more: LabeledLDA(rule="gibbs", **more), labeled[0]),
        (lambda **more: RelationalTopicModel(6, link_weight="learn", **more), linked[0]),
    ):
        first = make(max_iter=60).fit(corpus)
        given = first.messages(corpus)
        resumed = make(init=given, max_iter=2, tol=0).fit(corpus)
        again = make(max_iter=2, tol=0).fit(corpus)
        assert resumed.perplexity(corpus) <= again.perplexity(corpus)
        assert resumed.perplexity(corpus) < 1.05 * first.perplexity(corpus)


@pytest.mark.usefixtures("no_kernel_runs")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m[:-1], r"expected \(5, 80\).* or messages of shape \(\d+, 5\)"),
        (lambda m: m[:, :4], r"expected \(5, 80\)"),
        (lambda m: -m, "negative or do not sum to 1"),
        (lambda m: 2 * m, "negative or do not sum to 1"),
        (lambda m: m * np.nan, "negative or do not sum to 1"),
        (lambda m: np.full(len(m), 5), "numbers from 0 to 4"),
        (lambda m: np.full(len(m), 0.5), "numbers from 0 to 4"),
    ],
)
def test_a_start_that_is_not_of_x_is_refused(mixed, change, message):
    given = np.full((mixed[0].counts.nnz, 5), 0.2)
    with pytest.raises(ValueError, match=message):
        LDA(5, init=change(given)).fit(mixed[0])


@pytest.mark.usefixtures("no_kernel_runs")
def test_mini_batches_cannot_start_from_messages(mixed):
    given = np.full((mixed[0].counts.nnz, 5), 0.2)
    with pytest.raises(ValueError, match="init has topics of shape"):
        LDA(5, init=given, batch_size=20).fit(mixed[0])


def test_a_checkpoint_knows_the_messages_it_started_from(mixed, tmp_path):
    counts = mixed[0].counts
    one, other = np.random.default_rng(0).dirichlet(np.ones(5), (2, counts.nnz))
    stop = [lambda state, record: record.sweep == 4]
    path = tmp_path / "run.ckpt"
    LDA(5, init=one, callbacks=stop).fit(counts, checkpoint=path, checkpoint_every=2)
    with pytest.raises(ValueError, match="checkpoint of another run"):
        LDA(5, init=other).fit(counts, checkpoint=path)
