"""Bad input is refused before anything is computed, with a sentence that says what, what was
expected, and what to do.
"""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pandas as pd
import psutil
import pytest
from conftest import small_counts
from scipy import sparse

from topoi import LDA, Corpus, LatentDirichletAllocation, evaluate
from topoi.infer import kernels
from topoi.rules import BP

X = small_counts()


def with_entry(value: float) -> np.ndarray:
    dense = X.toarray()
    dense[1, 1] = value
    return dense


@pytest.fixture(autouse=True)
def no_kernel_runs(monkeypatch):
    """Bad input never reaches a kernel: a sweep in a test of this file is an error."""

    def refuse(*_):
        raise AssertionError("bad input has reached a kernel")

    for name in kernels.__all__:
        monkeypatch.setattr(kernels, name, refuse)


# --------------------------------------------------------------------------------------- the matrix


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array, sparse.csc_matrix], ids=["dense", "csr", "csc"]
)
@pytest.mark.parametrize(
    ("value", "what"),
    [
        (-1.0, "Negative values"),
        (np.nan, "contains NaN"),
        (np.inf, "contains infinity|contains NaN or infinity"),
    ],
    ids=["negative", "nan", "inf"],
)
def test_bad_entries_are_named(form, value, what):
    with pytest.raises(ValueError, match=what):
        LDA(3).fit(form(with_entry(value)))


@pytest.mark.parametrize(
    ("value", "cure"),
    [
        (-1.0, "Clip them, or check the preprocessing"),
        (np.nan, "numpy.nan_to_num"),
        (np.inf, "numpy.nan_to_num"),
    ],
    ids=["negative", "nan", "inf"],
)
def test_bad_entries_are_cured(value, cure):
    with pytest.raises(ValueError, match=cure):
        LDA(3).fit(with_entry(value))


@pytest.mark.parametrize(
    ("value", "cure"),
    [
        (
            -1.0,
            (
                "Negative values in counts: topic models need counts or weights >= 0. Clip them, or"
                " check the preprocessing"
            ),
        ),
        (
            np.nan,
            (
                "counts contains NaN or infinity. Replace missing counts by 0, for instance with"
                " numpy.nan_to_num"
            ),
        ),
        (
            -np.inf,
            (
                "counts contains NaN or infinity. Replace missing counts by 0, for instance with"
                " numpy.nan_to_num"
            ),
        ),
    ],
    ids=["negative", "nan", "inf"],
)
@pytest.mark.parametrize("form", [np.asarray, sparse.coo_array], ids=["dense", "sparse"])
def test_bad_entries_of_a_corpus(value, cure, form):
    with pytest.raises(ValueError, match=cure):
        Corpus(form(with_entry(value)))


def test_list_of_texts():
    with pytest.raises(
        ValueError,
        match=r"X is a list of texts; .* Put CountVectorizer\(\) before the model in a Pipeline",
    ):
        LDA(3).fit(["a text", "another"])


@pytest.mark.parametrize("form", [np.array, pd.Series], ids=["array", "series"])
def test_array_of_texts(form):
    with pytest.raises(ValueError, match="CountVectorizer"):
        LDA(3).fit(form(["a text", "another"]))


def test_anndata_as_counts():
    cells = SimpleNamespace(X=X, var_names=[], obs_names=[])
    with pytest.raises(ValueError, match=r"X is AnnData; .* Give topoi.read\(X\)"):
        LDA(3).fit(cells)


@pytest.mark.parametrize("entries", [[["a", "b"], ["c", "d"]], [["1", "b"], ["c", "d"]]])
def test_strings_as_counts(entries):
    with pytest.raises(ValueError, match="could not convert string"):
        LDA(3).fit(np.array(entries, dtype=object))
    with pytest.raises(
        ValueError, match="expected counts. For raw text use scikit-learn's CountVectorizer first"
    ):
        Corpus(np.array(entries))


def test_no_documents():
    with pytest.raises(
        ValueError, match=r"Found array with 0 sample\(s\) .* while a minimum of 1 is required"
    ):
        LDA(3).fit(np.zeros((0, 5)))


def test_no_words():
    with pytest.raises(
        ValueError, match=r"Found array with 0 feature\(s\) .* while a minimum of 1 is required"
    ):
        LDA(3).fit(np.zeros((5, 0)))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("options", [{}, {"batch_size": 2}, {"rule": "gibbs"}], ids=str)
def test_nothing_but_zeros(form, options):
    with pytest.raises(
        ValueError,
        match=(
            "X holds no words at all: every entry is 0. Check the vectoriser's vocabulary, min_df"
            " and stop words"
        ),
    ):
        LDA(3, **options).fit(form(np.zeros((4, 5))))


def test_nothing_but_explicit_zeros():
    zeros = X.copy()
    zeros.data[:] = 0
    with pytest.raises(ValueError, match="X holds no words at all"):
        LDA(3).fit(zeros)


def test_one_dimension():
    with pytest.raises(
        ValueError, match=r"Expected 2D array, got 1D array instead[\s\S]*Reshape your data"
    ):
        LDA(3).fit(np.ones(5))
    with pytest.raises(
        ValueError,
        match=(
            r"counts has 1 dimension\(s\); expected documents x words. For one document use"
            r" counts.reshape\(1, -1\)"
        ),
    ):
        Corpus(np.ones(5))


@pytest.mark.parametrize("value", [None, 5, np.array(5)], ids=["None", "number", "scalar array"])
def test_no_matrix_at_all(value):
    with pytest.raises(ValueError, match=r"Expected 2D array, got scalar array instead"):
        LDA(3).fit(value)


def test_three_dimensions():
    with pytest.raises(ValueError, match="dim"):
        LDA(3).fit(np.ones((2, 2, 2)))


def test_complex_numbers():
    with pytest.raises(ValueError, match="Complex data not supported"):
        LDA(3).fit(np.ones((2, 2), dtype=complex))
    with pytest.raises(
        ValueError,
        match=r"holds complex128 entries; expected numbers. Convert it with .astype\(float\)",
    ):
        Corpus(sparse.csr_array(np.ones((2, 2), dtype=complex)))


# ----------------------------------------------------------------------------------- the parameters


@pytest.mark.parametrize("value", [0, -1, 2.5, 3.0, "3", None, True])
def test_number_of_topics(value):
    with pytest.raises(
        ValueError, match=r"n_components is .*; expected a whole number of at least 1"
    ):
        LDA(value).fit(X)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("max_iter", 0, "max_iter is 0; expected a whole number of at least 1"),
        ("max_iter", 2.5, "max_iter is 2.5; expected a whole number of at least 1"),
        ("evaluate_every", -2, "evaluate_every is -2; expected a whole number of at least -1"),
        (
            "tol",
            -1e-4,
            r"tol is -0.0001; expected a number >= 0 \(0 means exactly max_iter sweeps\)",
        ),
        ("tol", np.nan, "tol is nan; expected a number >= 0"),
        ("tol", "small", "tol is 'small'; expected a number >= 0"),
        ("tol", "soon", r"tol is 'soon'; expected a number >= 0 .*, or 'paper'"),
        ("rule", "ep", "rule is 'ep'; choose one of 'bp', 'sibp', 'cvb0', 'vb', 'gibbs'"),
        (
            "schedule",
            "random",
            (
                "schedule is 'random'; choose one of 'auto', 'incremental', 'relaxed',"
                " 'asynchronous', 'synchronous', 'residual', 'residual-words', 'active'"
            ),
        ),
        ("weighting", "bm25", "weighting is 'bm25'; choose one of 'count', 'tf', 'tfidf', 'log'"),
        ("rule", BP, "rule is <class 'topoi.rules.BP'>; choose one of 'bp'"),
        (
            "init",
            "random",
            "init is 'random'; choose 'hard', 'soft', a fitted model or an array of topics x words",
        ),
        (
            "init",
            "warm",
            "init is 'warm'; choose 'hard', 'soft', a fitted model or an array of topics x words",
        ),
        (
            "init",
            np.ones((4, 25)),
            (
                r"init has topics of shape \(4, 25\); expected \(3, 25\): the same number of topics"
                r" and the same vocabulary"
            ),
        ),
        ("init", np.ones((3, 24)), r"init has topics of shape \(3, 24\); expected \(3, 25\)"),
        (
            "init",
            -np.ones((3, 25)),
            "init must hold nonnegative finite weights, with something in every topic",
        ),
        (
            "init",
            np.zeros((3, 25)),
            "init must hold nonnegative finite weights, with something in every topic",
        ),
        (
            "init",
            np.full((3, 25), np.nan),
            "init must hold nonnegative finite weights, with something in every topic",
        ),
        ("batch_size", 0, "batch_size is 0; expected a whole number of at least 1, or None"),
        ("batch_size", 2.5, "batch_size is 2.5; expected a whole number of at least 1, or None"),
        ("n_jobs", 0, "n_jobs is 0; expected a number of threads"),
    ],
    ids=lambda value: None if isinstance(value, np.ndarray) else str(value)[:30],
)
def test_parameters(name, value, message):
    with pytest.raises(ValueError, match=message):
        LDA(3, **{name: value}).fit(X)


@pytest.mark.parametrize("name", ["doc_topic_prior", "topic_word_prior"])
@pytest.mark.parametrize("value", [0, -0.1, np.nan, np.inf, 1e-40, 9e-7, 1e38])
def test_priors_are_positive(name, value):
    with pytest.raises(
        ValueError,
        match=(
            rf"{name} is .*; priors must be positive and finite, from 1e-06 to 1e\+12. For nearly"
            r" none take 1e-3"
        ),
    ):
        LDA(3, **{name: value}).fit(X)


@pytest.mark.parametrize("value", [0, -0.5, np.nan, [0.1, 0.0, 0.1]], ids=str)
def test_priors_of_a_measure_are_positive(value):
    topics = np.random.default_rng(0).random((3, 25))
    for measure in (evaluate.completion, evaluate.left_to_right):
        with pytest.raises(
            ValueError, match="doc_topic_prior is .*; priors must be positive and finite"
        ):
            measure(topics, X, doc_topic_prior=value)


def test_one_bad_prior_among_good_ones():
    with pytest.raises(
        ValueError, match="doc_topic_prior is .*; priors must be positive and finite"
    ):
        LDA(3, doc_topic_prior=[0.1, 0.0, 0.1]).fit(X)


@pytest.mark.parametrize(
    "value",
    [[0.1, 0.1], np.ones(4), np.ones((3, 3)), "auto"],
    ids=["two", "four", "matrix", "word"],
)
def test_priors_have_one_number_a_topic(value):
    with pytest.raises(
        ValueError,
        match=(
            r"doc_topic_prior is [\s\S]*; expected one number or an array of 3 numbers, or 'learn'"
        ),
    ):
        LDA(3, doc_topic_prior=value).fit(X)


@pytest.mark.parametrize(
    "value", [[0.1, 0.1], np.ones(25), "auto"], ids=["two", "one a word", "word"]
)
def test_the_word_prior_is_one_number(value):
    with pytest.raises(
        ValueError, match=r"topic_word_prior is [\s\S]*; expected one number, or 'learn'"
    ):
        LDA(3, topic_word_prior=value).fit(X)


# ------------------------------------------------------------------ combinations that make no sense


@pytest.mark.parametrize("schedule", ["asynchronous", "residual"])
def test_vb_is_synchronous(schedule):
    why = (
        "rule='vb' computes digamma once per document and topic, which needs"
        " schedule='synchronous'; .* use rule='sibp' or 'bp'"
    )
    with pytest.raises(ValueError, match=why):
        LDA(3, rule="vb", schedule=schedule).fit(X)


@pytest.mark.parametrize(
    ("schedule", "why"),
    [
        (
            "synchronous",
            (
                "must see each draw at once, or it samples from another distribution; use"
                " schedule='asynchronous'"
            ),
        ),
        (
            "residual",
            "never converges, so there are no residuals to follow; use schedule='asynchronous'",
        ),
        (
            "relaxed",
            "draws whole topics, so there is nothing to over-relax; use schedule='asynchronous'",
        ),
    ],
)
def test_gibbs_is_asynchronous(schedule, why):
    with pytest.raises(ValueError, match=f"rule='gibbs' {why}"):
        LDA(3, rule="gibbs", schedule=schedule).fit(X)


@pytest.mark.parametrize("options", [{"rule": "gibbs"}, {"rule": "cvb0"}], ids=str)
@pytest.mark.parametrize("cause", ["fractions", "weighting"])
def test_tokens_are_whole(options, cause):
    why = (
        "works on single tokens and needs whole-number counts; .* Use rule='bp', or give raw counts"
        " with weighting='count'"
    )
    with pytest.raises(ValueError, match=why):
        LDA(3, weighting="count" if cause == "fractions" else "log", **options).fit(
            0.5 * X if cause == "fractions" else X
        )


def test_tokens_of_weighted_mini_batches_are_whole():
    with pytest.raises(ValueError, match="works on single tokens and needs whole-number counts"):
        LDA(3, rule="cvb0", weighting="log", batch_size=3).fit(X)
    with pytest.raises(ValueError, match="works on single tokens and needs whole-number counts"):
        LDA(3, rule="cvb0", batch_size=3).fit(0.5 * X)


def test_the_cure_for_tokens_of_fractions_is_another_setting():
    with pytest.raises(ValueError, match="messages='edge'"):
        LDA(3, rule=BP(messages="token")).fit(0.5 * X)


@pytest.mark.parametrize(
    "options",
    [
        {"rule": "gibbs"},
        {"rule": "vb", "schedule": "synchronous"},
        {"schedule": "synchronous"},
        {"schedule": "residual"},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "fit", [lambda m: m.fit(X), lambda m: m.partial_fit(X)], ids=["batch_size", "partial_fit"]
)
def test_mini_batches_need_asynchronous_messages(options, fit):
    with pytest.raises(
        (ValueError, AttributeError), match=r"Mini-batches|has no attribute 'partial_fit'"
    ):
        fit(LDA(3, batch_size=5, **options))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learning_decay", -1.0),
        ("learning_decay", 2.0),
        ("learning_offset", -1.0),
        ("total_samples", 0),
    ],
)
def test_settings_of_mini_batches(name, value):
    with pytest.raises(ValueError, match=name):
        LDA(3, **{name: value}).partial_fit(X)


def test_random_state():
    with pytest.raises(ValueError, match="random_state"):
        LDA(3, random_state="seed").fit(X)


def test_weights_that_are_all_zero():
    with pytest.raises(
        ValueError,
        match="leaves no weight at all: every word stands in every document. Use 'tf' or 'count'",
    ):
        LDA(3, weighting="tfidf").fit(np.ones((4, 5)))


@pytest.mark.parametrize("method", ["offline", None])
def test_learning_method_of_scikit_learns_class(method):
    with pytest.raises(ValueError, match=r"learning_method is .*; choose 'batch' or 'online'"):
        LatentDirichletAllocation(3, learning_method=method).fit(X)


# ---------------------------------------------------------------------------------- too much memory


def test_too_many_topics_are_refused():
    """The error names the size, what is free, and the settings that avoid it."""
    message = (
        r"1000000000 topics on [\d,]+ edges need [\d,.]+ GiB, but [\d,.]+ GiB are free. "
        r"Use fewer topics \(n_components\), .* or mini-batches in constant memory \(batch_size\)"
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


# ------------------------------------------------------------------------------------ after the fit


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


# ----------------------------------------------------------------------------------------- measures


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5])
def test_share_of_held_out_tokens(share):
    with pytest.raises(ValueError, match=rf"held_out is {share}; expected a share between 0 and 1"):
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
