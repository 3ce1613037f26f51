"""Bad parameters and combinations of them are refused before anything is computed."""

from __future__ import annotations

import numpy as np
import pytest
from support import small_counts

from topoi import LDA, LatentDirichletAllocation, Source, evaluate
from topoi.rules import BP

pytestmark = pytest.mark.usefixtures("no_kernel_runs")


X = small_counts()


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
            "init is 'random'; choose 'hard', 'soft', a fitted model, an array of topics x words",
        ),
        (
            "init",
            "warm",
            "init is 'warm'; choose 'hard', 'soft', a fitted model, an array of topics x words",
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
                "needs counts that change with every draw, or it samples from a wrong distribution;"
                " use schedule='asynchronous'"
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
        LDA(3, rule="cvb0", weighting="log").partial_fit(X)
    with pytest.raises(ValueError, match="works on single tokens and needs whole-number counts"):
        LDA(3, rule="cvb0").partial_fit(0.5 * X)


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
def test_mini_batches_need_asynchronous_messages(options):
    with pytest.raises(AttributeError, match=r"Mini-batches|has no attribute 'partial_fit'"):
        LDA(3, **options).partial_fit(X)


@pytest.mark.parametrize(
    ("options", "cure"),
    [
        ({"rule": "gibbs"}, "use rule 'bp'"),
        ({"rule": "cvb0"}, "use rule 'bp'"),
        ({"schedule": "synchronous"}, "use schedule='auto'"),
        ({"schedule": "residual"}, "use schedule='auto'"),
    ],
    ids=str,
)
def test_blocks_infer_documents_afresh(options, cure):
    with pytest.raises(ValueError, match=cure):
        LDA(3, batch_size=5, **options).fit(X)


def test_the_blocks_of_a_source_are_its_own():
    with pytest.raises(ValueError, match="leave batch_size out, and give block_size to the Source"):
        LDA(3, batch_size=5).fit(Source(X, block_size=5))


def test_online_learning_has_no_checkpoint(tmp_path):
    model = LatentDirichletAllocation(3, learning_method="online", batch_size=5)
    with pytest.raises(ValueError, match=r"cannot be saved.* topoi\.LDA\(batch_size"):
        model.fit(X, checkpoint=tmp_path / "run")


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


@pytest.mark.parametrize("value", [-1, np.nan, "0.1"])
def test_the_tolerance_of_scikit_learn(value):
    with pytest.raises(ValueError, match=r"perp_tol is .*; expected a number >= 0"):
        LatentDirichletAllocation(2, perp_tol=value).fit(X)
