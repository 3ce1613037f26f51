"""Too much memory, bad questions to a fitted model, bad measures: refused with the cure."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from support import small_counts, with_entry

from topoi import LDA, evaluate

pytestmark = pytest.mark.usefixtures("no_kernel_runs")


X = small_counts()


def test_too_many_topics_are_refused():
    """The error names the size, what is free, and the settings that avoid it."""
    message = (
        r"1000000000 topics on [\d,]+ edges need [\d,.]+ GiB, but [\d,.]+ GiB are free. "
        r"Use fewer topics \(n_components\), .* or blocks of documents in turn \(batch_size\)"
    )
    with pytest.raises(MemoryError, match=message):
        LDA(10**9, doc_topic_prior=0.1).fit(X)


@pytest.mark.parametrize("prior", ["learn", 0.1, None], ids=str)
def test_too_many_topics_take_no_memory(prior):
    """Peak of what Python and NumPy allocate: a few copies of the corpus, not one number a
    topic.
    """
    tracemalloc.start()
    try:
        with pytest.raises(MemoryError, match="GiB are free"):
            LDA(10**9, doc_topic_prior=prior).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10e6


def leave_free(n_bytes: int, monkeypatch) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=n_bytes))


def test_memory_is_judged_by_what_is_free(monkeypatch):
    """1,000 bytes free: even this corpus is too much.

    Token rules count tokens, the others (document, word) pairs.
    """
    leave_free(1000, monkeypatch)
    for rule, edges in (("bp", X.nnz), ("gibbs", X.sum()), ("cvb0", X.sum())):
        with pytest.raises(
            MemoryError, match=rf"3 topics on {edges:,.0f} edges need 0.0 GiB, but 0.0 GiB are free"
        ):
            LDA(3, rule=rule).fit(X)


@pytest.mark.parametrize(
    "fit", [lambda m: m.fit(X), lambda m: m.partial_fit(X)], ids=["batch_size", "partial_fit"]
)
def test_batches_that_do_not_fit(fit, monkeypatch):
    """A batch and the tables of all words need memory too; the cure is a smaller batch or fewer
    topics.
    """
    leave_free(1000, monkeypatch)
    with pytest.raises(MemoryError, match="n_components"):
        fit(LDA(3, batch_size=5))


@pytest.fixture(scope="module")
def fitted():
    """Fixtures of a module come before those of a test, so this one still has real kernels."""
    return LDA(3, max_iter=3).fit(X)


@pytest.mark.parametrize("ask", ["transform", "score", "perplexity", "partial_fit"])
def test_wrong_number_of_columns(fitted, ask):
    with pytest.raises(
        ValueError, match="X has 7 features, but LDA is expecting 25 features as input"
    ):
        getattr(fitted, ask)(np.ones((2, 7)))


@pytest.mark.parametrize("ask", ["transform", "score", "perplexity"])
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_bad_entries_of_new_documents(fitted, ask, value):
    with pytest.raises(ValueError, match="Negative values|contains NaN|contains infinity"):
        getattr(fitted, ask)(with_entry(value))


@pytest.mark.parametrize("ask", ["score", "perplexity"])
def test_no_likelihood_without_words(fitted, ask):
    with pytest.raises(
        ValueError,
        match=(
            "X holds no words, so it has no likelihood. Score documents that share words with the"
            " training documents"
        ),
    ):
        getattr(fitted, ask)(np.zeros((2, 25)))


def test_the_first_batch_has_words():
    with pytest.raises(ValueError, match="X holds no words at all: every entry is 0"):
        LDA(3).partial_fit(np.zeros((2, 5)))


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5])
def test_proportion_of_held_out_tokens(share):
    with pytest.raises(
        ValueError, match=rf"held_out is {share}; expected a proportion between 0 and 1"
    ):
        evaluate.split_tokens(X, share)


def test_tokens_of_weights_cannot_be_split():
    with pytest.raises(
        ValueError,
        match="Tokens can only be split in whole-number counts; give raw counts, not weights",
    ):
        evaluate.completion(np.ones((2, 25)), 0.5 * X)
    with pytest.raises(
        ValueError,
        match="Left-to-right likelihood needs whole-number counts; give raw counts, not weights",
    ):
        evaluate.left_to_right(np.ones((2, 25)), 0.5 * X)


def test_documents_too_short_to_split():
    with pytest.raises(
        ValueError,
        match="No document has two tokens, so none can be held out. Test on longer documents",
    ):
        evaluate.completion(np.ones((2, 3)), np.eye(3))


@pytest.mark.parametrize(
    "topics",
    [np.ones(5), -np.ones((2, 5)), np.full((2, 5), np.nan), np.array([[1.0, 1], [0, 0]])],
    ids=["flat", "negative", "nan", "empty topic"],
)
def test_foreign_topics(topics):
    with pytest.raises(
        ValueError,
        match=(
            r"Topics must be a fitted model or an array \(K, W\) of nonnegative numbers with"
            r" something in every row"
        ),
    ):
        evaluate.match_topics(topics, topics)


def test_measures_of_an_unfitted_model():
    with pytest.raises(ValueError, match="fit"):
        evaluate.completion(LDA(3), X)


def test_topics_over_different_words():
    with pytest.raises(
        ValueError,
        match="The models have 4 and 5 words; topics can only be matched over one vocabulary",
    ):
        evaluate.match_topics(np.ones((2, 4)), np.ones((2, 5)))
    with pytest.raises(
        ValueError,
        match="A topic has word 30, but the reference has 25 words; use one vocabulary for both",
    ):
        evaluate.npmi([[0, 30]], X)


def test_stability_of_one_model():
    with pytest.raises(
        ValueError,
        match="Stability compares models; give at least two, fitted with different seeds",
    ):
        evaluate.stability([np.ones((2, 4))])


@pytest.mark.parametrize("candidates", [[], [0, 3]])
def test_candidates_for_the_number_of_topics(candidates):
    with pytest.raises(
        ValueError, match=r"candidates are .*; expected numbers of topics of at least 1"
    ):
        evaluate.choose_n_components(LDA(), X, candidates)


def test_one_seed_is_not_enough():
    with pytest.raises(
        ValueError, match="n_seeds is 1; at least 2 are needed to see how stable topics are"
    ):
        evaluate.choose_n_components(LDA(), X, [2], n_seeds=1)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"callbacks": print}, "callbacks is"),
        ({"callbacks": [1]}, "callbacks is"),
        ({"n_jobs": "two"}, "n_jobs is"),
    ],
)
def test_bad_callbacks_and_threads_are_refused(option, message):
    with pytest.raises(ValueError, match=message):
        LDA(2, **option).fit(X)
