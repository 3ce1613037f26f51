"""LDA as a scikit-learn estimator: the contract, the formats it takes, what it shows, how
it stops.
"""

from __future__ import annotations

import inspect
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn.decomposition
from conftest import begin, small_counts
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import topoi
from topoi import LDA, AuthorTopicModel, Corpus, LatentDirichletAllocation, datasets, evaluate
from topoi.graph.plan import Plan
from topoi.infer import reference
from topoi.infer.rules import make_rule
from topoi.infer.threads import ThreadPool
from topoi.models.preflight import counted, warn_of_heavy_weights

TEXTS = [
    "cats and dogs",
    "dogs chase cats",
    "stocks and bonds",
    "bonds beat stocks",
    "cats dogs",
    "stocks bonds",
] * 4


@parametrize_with_checks(
    [
        LDA(2, max_iter=5),
        LDA(2, max_iter=5, rule="vb", schedule="synchronous"),
        LDA(
            2,
            max_iter=5,
            rule="sibp",
            schedule="residual",
            doc_topic_prior=0.1,
            topic_word_prior=None,
        ),
        LDA(2, max_iter=3, batch_size=7),
        LatentDirichletAllocation(2, max_iter=5),
        LatentDirichletAllocation(2, max_iter=3, learning_method="online", batch_size=7),
    ],
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


# ----------------------------------------------------------------------------------- in its company


def test_pipeline_of_texts_finds_the_two_themes():
    pipeline = make_pipeline(CountVectorizer(), LDA(2))
    proportions = pipeline.fit_transform(TEXTS)
    assert proportions.shape == (24, 2)
    animals = proportions.argmax(axis=1)[:2]
    np.testing.assert_array_equal(
        proportions.argmax(axis=1),
        np.tile([animals[0]] * 2 + [1 - animals[0]] * 2 + [animals[0], 1 - animals[0]], 4),
    )
    vocabulary = pipeline[0].get_feature_names_out()
    tops = [set(words[:2]) for words in pipeline[1].top_words(vocabulary=vocabulary)]
    assert sorted(tops, key=sorted) == [{"bonds", "stocks"}, {"cats", "dogs"}]


def test_pipeline_names_its_topics():
    pipeline = make_pipeline(CountVectorizer(), LDA(2, max_iter=5)).fit(TEXTS)
    np.testing.assert_array_equal(pipeline.get_feature_names_out(), ["lda0", "lda1"])


def test_topics_feed_a_classifier():
    themes = [0, 0, 1, 1, 0, 1] * 4
    assert (
        make_pipeline(CountVectorizer(), LDA(2), LogisticRegression())
        .fit(TEXTS, themes)
        .score(TEXTS, themes)
        == 1
    )


def test_grid_search_prefers_the_true_number(blocks):
    """score is the mean log-likelihood per token of left-out documents: higher is better, and one
    topic is not enough for four.
    """
    search = GridSearchCV(LDA(max_iter=30), {"n_components": [1, 4]}, cv=3).fit(blocks[0].counts)
    assert search.best_params_ == {"n_components": 4}
    assert search.best_score_ < 0


def test_clone_takes_the_parameters_and_nothing_else(mixed):
    model = LDA(5, rule="sibp", doc_topic_prior=[0.1] * 5, max_iter=7, random_state=3).fit(mixed[0])
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(mixed[0].counts)
    np.testing.assert_array_equal(copy.fit(mixed[0]).components_, model.components_)


@pytest.mark.parametrize(
    "options", [{}, {"batch_size": 40}, {"weighting": "tfidf"}, {"rule": "gibbs"}], ids=str
)
def test_pickle_keeps_the_model(mixed, options):
    model = LDA(5, max_iter=5, **options).fit(mixed[0])
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.transform(mixed[0].counts), model.transform(mixed[0].counts))
    assert copy.history_ == model.history_
    assert copy.top_words() == model.top_words()


def test_pandas_output(mixed):
    frame = LDA(3, max_iter=5).set_output(transform="pandas").fit_transform(mixed[0].counts)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["lda0", "lda1", "lda2"]
    np.testing.assert_array_equal(
        frame.to_numpy(), LDA(3, max_iter=5).fit(mixed[0].counts).transform(mixed[0].counts)
    )


def test_score_and_perplexity_with_pandas_output(mixed):
    plain, framed = LDA(3, max_iter=5), LDA(3, max_iter=5).set_output(transform="pandas")
    assert plain.fit(mixed[0].counts).perplexity(mixed[0].counts) == framed.fit(
        mixed[0].counts
    ).perplexity(mixed[0].counts)


def test_data_frame_gives_the_vocabulary(mixed):
    corpus, _ = mixed
    frame = pd.DataFrame(corpus.counts.toarray(), columns=corpus.vocabulary)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LDA(5, max_iter=10).fit(frame)
        model.transform(frame)
        model.perplexity(frame)
    np.testing.assert_array_equal(model.vocabulary_, corpus.vocabulary)
    np.testing.assert_array_equal(model.feature_names_in_, corpus.vocabulary)
    assert model.top_words(3) == LDA(5, max_iter=10).fit(corpus).top_words(3)
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame[frame.columns[::-1]])


def test_names_of_numpy_are_names(mixed):
    """list(vocabulary) holds NumPy's strings, which scikit-learn passes over."""
    corpus, _ = mixed
    frame = pd.DataFrame(corpus.counts.toarray(), columns=list(corpus.vocabulary))
    model = LDA(5, max_iter=5).fit(frame)
    assert model.top_words(3) == LDA(5, max_iter=5).fit(corpus).top_words(3)
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame[list(corpus.vocabulary[::-1])])


def test_mini_batches_of_a_data_frame_do_not_warn(mixed):
    corpus, _ = mixed
    frame = pd.DataFrame(corpus.counts.toarray(), columns=corpus.vocabulary)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LDA(5, max_iter=6, batch_size=60).fit(frame)
    assert model.n_iter_ <= 6


def test_completion_of_a_model_fitted_on_a_data_frame_does_not_warn(mixed):
    corpus, _ = mixed
    model = LDA(5, max_iter=5).fit(pd.DataFrame(corpus.counts.toarray(), columns=corpus.vocabulary))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate.completion_perplexity(model, corpus) > 1


def test_corpus_gives_the_vocabulary(mixed):
    corpus, _ = mixed
    model = LDA(5, max_iter=10).fit(corpus)
    np.testing.assert_array_equal(model.vocabulary_, corpus.vocabulary)
    np.testing.assert_array_equal(model.transform(corpus), model.transform(corpus.counts))
    assert model.perplexity(corpus) == model.perplexity(corpus.counts)


def test_corpus_without_a_vocabulary():
    model = LDA(3, max_iter=5).fit(Corpus(small_counts()))
    assert model.vocabulary_ is None
    assert all(word.startswith("word") for words in model.top_words() for word in words)


# ------------------------------------------------------------------------------------------ formats


def scrambled(counts: sparse.csr_array) -> sparse.csr_matrix:
    """The same matrix with columns in no order, entries split in two, and explicit zeros."""
    coo = counts.tocoo()
    rows = np.concatenate([coo.row, coo.row, coo.row])
    columns = np.concatenate([coo.col, coo.col, (coo.col + 1) % counts.shape[1]])
    values = np.concatenate([coo.data - 0.25, np.full(coo.nnz, 0.25), np.zeros(coo.nnz)])
    order = np.random.default_rng(0).permutation(len(rows))
    order = order[np.argsort(rows[order], kind="stable")]
    indptr = np.searchsorted(rows[order], np.arange(counts.shape[0] + 1))
    out = sparse.csr_matrix((values[order], columns[order], indptr), shape=counts.shape)
    assert not out.has_sorted_indices
    assert not out.has_canonical_format
    return out


def read_only(counts):
    for array in (
        (counts.data, counts.indices, counts.indptr) if sparse.issparse(counts) else (counts,)
    ):
        array.setflags(write=False)
    return counts


def with_index_type(counts: sparse.csr_array, dtype) -> sparse.csr_array:
    out = counts.copy()
    out.indices, out.indptr = out.indices.astype(dtype), out.indptr.astype(dtype)
    return out


FORMATS = {
    "dense": lambda c: c.toarray(),
    "dense integers": lambda c: c.toarray().astype(np.int64),
    "dense bytes": lambda c: c.toarray().astype(np.uint8),
    "dense Fortran": lambda c: np.asfortranarray(c.toarray()),
    "dense read-only": lambda c: read_only(c.toarray()),
    "list of lists": lambda c: c.toarray().tolist(),
    "data frame": lambda c: pd.DataFrame(c.toarray()),
    "csr array": lambda c: c,
    "csr matrix": sparse.csr_matrix,
    "csc array": sparse.csc_array,
    "csc matrix": sparse.csc_matrix,
    "coo array": sparse.coo_array,
    "coo matrix": sparse.coo_matrix,
    "lil matrix": sparse.lil_matrix,
    "dok array": sparse.dok_array,
    "int32 indices": lambda c: with_index_type(c, np.int32),
    "int64 indices": lambda c: with_index_type(c, np.int64),
    "integer entries": lambda c: c.astype(np.int32),
    "unsigned entries": lambda c: c.astype(np.uint16),
    "unsorted and duplicate": scrambled,
    "read-only": lambda c: read_only(c.copy()),
    "read-only unsorted": lambda c: read_only(scrambled(c)),
    "corpus": Corpus,
}


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_the_same_corpus(form):
    counts = small_counts()
    X = FORMATS[form](counts)
    expected, model = LDA(3, max_iter=8).fit(counts), LDA(3, max_iter=8).fit(X)
    np.testing.assert_allclose(model.components_, expected.components_, rtol=1e-5)
    np.testing.assert_allclose(model.transform(X), expected.transform(counts), rtol=1e-4)
    np.testing.assert_allclose(model.perplexity(X), expected.perplexity(counts), rtol=1e-5)


def test_single_precision_in_single_precision_out():
    counts = small_counts().astype(np.float32)
    model = LDA(3, max_iter=8).fit(counts)
    assert (
        model.components_.dtype
        == model.doc_topic_.dtype
        == model.transform(counts).dtype
        == np.float32
    )
    assert LDA(3, max_iter=8).fit(small_counts()).transform(small_counts()).dtype == np.float64


@pytest.mark.parametrize(
    "X",
    [np.array([[3.0]]), np.array([[0.0, 2, 0]]), np.array([[1.0], [0], [4]])],
    ids=["one", "row", "column"],
)
def test_tiny_corpora(X):
    model = LDA(4, max_iter=12).fit(X)
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(model.topic_word_.sum(axis=1), 1, rtol=1e-6)
    assert np.isfinite(model.perplexity(X))


# ---------------------------------------------------------------------------------- what it learned


@pytest.fixture(scope="module")
def fitted(mixed):
    return LDA(5, doc_topic_prior=0.1, topic_word_prior=0.05, max_iter=40, tol=0).fit(mixed[0])


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


def test_top_words(fitted, mixed):
    words = fitted.top_words(4)
    assert [len(row) for row in words] == [4] * 5
    best = mixed[0].vocabulary[fitted.components_.argmax(axis=1)]
    assert [row[0] for row in words] == best.tolist()
    renamed = fitted.top_words(4, vocabulary=[f"x{w}" for w in mixed[0].vocabulary])
    assert renamed == [[f"x{w}" for w in row] for row in words]
    with pytest.raises(ValueError, match="vocabulary has 2 words; the model was fitted with 80"):
        fitted.top_words(vocabulary=["a", "b"])


def test_topic_info(fitted):
    info = fitted.topic_info(3)
    assert list(info.columns) == ["topic", "name", "share", "prior", "words"]
    assert info["topic"].tolist() == list(range(5))
    np.testing.assert_allclose(info["share"].sum(), 1, rtol=1e-9)
    held = (fitted.components_ - fitted.topic_word_prior_).sum(axis=1)  # tokens, without the prior
    np.testing.assert_allclose(info["share"], held / held.sum(), rtol=1e-9)
    assert info["prior"].tolist() == [0.1] * 5
    assert info["words"].tolist() == [" ".join(words) for words in fitted.top_words(3)]


def test_topics_can_be_named(mixed):
    model = LDA(3, max_iter=2).fit(mixed[0])
    assert model.topic_names_ == ["topic0", "topic1", "topic2"]
    assert model.name_topics({2: "markov chains"}) is model
    assert model.topic_names_ == ["topic0", "topic1", "markov chains"]
    assert list(model.get_feature_names_out()) == ["lda0", "lda1", "markov chains"]
    assert list(model.topic_info(2)["name"]) == model.topic_names_
    with pytest.raises(ValueError, match="Two topics would be called 'markov chains'"):
        model.name_topics({0: "markov chains"})
    with pytest.raises(ValueError, match="There is no topic 3; topics are numbered 0 to 2"):
        model.name_topics({3: "x"})
    assert model.name_topics({2: ""}).topic_names_[2] == "topic2"
    model.name_topics({0: "x"}).fit(mixed[0])
    assert model.topic_names_[0] == "topic0", "a new fit has new topics"


def test_notebooks_show_the_topics():
    """The words are in the page, escaped; an unfitted model shows what scikit-learn shows."""
    model = LDA(2).fit(Corpus(np.array([[3, 0, 0], [0, 2, 2]]), ["<evil>", "cat", "dog"]))
    page = model._repr_html_()
    assert "&lt;evil&gt;" in page
    assert "<evil>" not in page
    assert "cat" in page
    assert "<th>topic</th>" in page
    assert "<th>topic</th>" not in LDA(2)._repr_html_()
    assert "LDA" in LDA(2)._repr_html_()


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: m.transform(small_counts()),
        lambda m: m.score(small_counts()),
        lambda m: m.top_words(),
        lambda m: m.topic_word_,
    ],
    ids=["transform", "score", "top_words", "topic_word_"],
)
def test_an_unfitted_model_says_so(ask):
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        ask(LDA(3))


def test_topic_info_of_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        LDA(3).topic_info()


# ----------------------------------------------------------------------------------------- stopping


def test_history_has_a_record_for_each_sweep(mixed):
    model = LDA(5, max_iter=12, tol=0, evaluate_every=5).fit(mixed[0])
    assert [record["sweep"] for record in model.history_] == list(range(1, 13))
    assert set(model.history_[0]) == {"sweep", "seconds", "residual", "perplexity", "schedule"}
    measured = [record["sweep"] for record in model.history_ if record["perplexity"] is not None]
    assert measured == [5, 10, 12], "every fifth, and the last"
    assert all(0 <= record["residual"] <= 2 for record in model.history_)
    seconds = [record["seconds"] for record in model.history_]
    assert seconds == sorted(seconds)


@pytest.mark.parametrize(
    ("rule", "schedule"),
    [
        ("bp", "asynchronous"),
        ("sibp", "synchronous"),
        ("vb", "synchronous"),
        ("gibbs", "asynchronous"),
    ],
)
def test_no_tolerance_means_exactly_max_iter(blocks, rule, schedule):
    model = LDA(4, rule=rule, schedule=schedule, max_iter=123, tol=0).fit(blocks[0])
    assert model.n_iter_ == len(model.history_) == 123
    assert model.converged_ is False


def test_no_tolerance_never_stops_even_when_nothing_moves(mixed):
    """One topic, given priors: perplexity is the same number from the first sweep on."""
    options = {"doc_topic_prior": 0.1, "topic_word_prior": 0.1, "schedule": "asynchronous"}
    model = LDA(1, max_iter=30, tol=0, **options).fit(mixed[0])
    assert model.n_iter_ == 30
    stopped = LDA(1, max_iter=30, **options).fit(mixed[0])
    assert (stopped.n_iter_, stopped.converged_) == (10, True)
    cut = LDA(1, max_iter=7, **options).fit(mixed[0])
    assert (cut.n_iter_, cut.converged_) == (7, False), "two sweeps apart say nothing about five"


def test_stops_when_perplexity_stands_still(blocks):
    model = LDA(4, schedule="asynchronous", max_iter=500, tol=1e-4, evaluate_every=5).fit(blocks[0])
    assert model.converged_ is True
    assert model.n_iter_ < 500
    assert model.n_iter_ % 5 == 0
    before, last = [
        record["perplexity"] for record in model.history_ if record["perplexity"] is not None
    ][-2:]
    assert abs(before - last) < 5 * 1e-4 * last, "the share is per sweep"
    earlier = [
        record["perplexity"] for record in model.history_[:-5] if record["perplexity"] is not None
    ]
    assert all(abs(a - b) >= 5 * 1e-4 * b for a, b in zip(earlier, earlier[1:], strict=False)), (
        "and not before"
    )


def test_the_papers_rule(mixed):
    """|P(t) - P(t-10)| < 1: measured every ten sweeps, whatever evaluate_every and tol say."""
    priors = {"doc_topic_prior": 0.1, "topic_word_prior": 0.05}
    model = LDA(
        5, stop="paper", schedule="asynchronous", max_iter=500, evaluate_every=3, tol=1e-9, **priors
    ).fit(mixed[0])
    measured = [record for record in model.history_ if record["perplexity"] is not None]
    assert model.converged_ is True
    assert [record["sweep"] for record in measured] == list(range(10, model.n_iter_ + 1, 10))
    values = [record["perplexity"] for record in measured]
    assert abs(values[-1] - values[-2]) < 1
    assert all(abs(a - b) >= 1 for a, b in zip(values[:-1], values[1:-1], strict=False))


def test_perplexity_can_be_left_unmeasured(mixed):
    model = LDA(5, max_iter=30, evaluate_every=-1).fit(mixed[0])
    assert model.n_iter_ == 30
    assert all(record["perplexity"] is None for record in model.history_)


def test_callbacks_see_every_sweep_and_may_stop(mixed):
    seen = []

    def stop_at_four(state, record):
        seen.append((state.sweep, record.sweep, record.residual))
        return record.sweep == 4

    model = LDA(5, max_iter=50, callbacks=[lambda *_: None, stop_at_four]).fit(mixed[0])
    assert [(a, b) for a, b, _ in seen] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert model.n_iter_ == 4
    assert model.converged_ is False
    assert [residual for *_, residual in seen] == [record["residual"] for record in model.history_]


def test_verbose_shows_a_bar_on_stderr(mixed, capfd):
    LDA(5, max_iter=10, tol=0, verbose=1).fit(mixed[0])
    out, err = capfd.readouterr()
    assert out == ""
    assert "Sweeps" in err
    assert "10/10" in err
    assert "perplexity" in err


@pytest.mark.parametrize("options", [{}, {"batch_size": 50}, {"rule": "gibbs"}], ids=str)
def test_silent_otherwise(mixed, capfd, options):
    LDA(5, max_iter=10, verbose=0, **options).fit(mixed[0]).transform(mixed[0].counts)
    assert capfd.readouterr() == ("", "")


# ------------------------------------------------------------------------------------------- starts


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


# ---------------------------------------------------------------------------------------- weighting


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


def test_fractions_are_welcome():
    weights = small_counts()
    weights.data *= np.random.default_rng(0).uniform(0.1, 2, weights.nnz)
    model = LDA(3, max_iter=10, topic_word_prior=0.1).fit(weights)
    np.testing.assert_allclose(model.components_.sum(), weights.sum() + 3 * 25 * 0.1, rtol=1e-5)
    assert LDA(3, rule="cvb0", messages="edge", max_iter=3).fit(weights).n_iter_ == 3


# ------------------------------------------------------------------------------------------- priors


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
        warn_of_heavy_weights(many[0], make_rule("cvb0", messages="edge"))


def test_a_fit_warns_of_too_many_tokens(monkeypatch):
    monkeypatch.setattr("topoi.models.preflight.MANY", 10)
    for options in ({"rule": "gibbs"}, {"rule": "cvb0"}, {"rule": "cvb0", "batch_size": 15}):
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
    "options", [{}, {"schedule": "synchronous"}, {"messages": "none"}, {"batch_size": 50}], ids=str
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
    plain, authored = (
        LDA(5, max_iter=20).fit(counts),
        AuthorTopicModel(5, max_iter=20).fit(counts, authors=[["ann"]] * counts.shape[0]),
    )
    for model, proportions in (
        (plain, plain.transform(light)),
        (authored, authored.transform(light, authors=[["new"]] * 3)),
    ):
        np.testing.assert_allclose(
            proportions,
            np.tile(model.doc_topic_prior_ / model.doc_topic_prior_.sum(), (3, 1)),
            rtol=1e-5,
        )


# ------------------------------------------------------------------------------------------ batches


@pytest.mark.parametrize("size", [150, 1000])
def test_one_batch_is_the_batch_fit(mixed, size):
    plain, batched = (
        LDA(5, max_iter=20).fit(mixed[0]),
        LDA(5, max_iter=20, batch_size=size).fit(mixed[0]),
    )
    np.testing.assert_array_equal(plain.components_, batched.components_)
    np.testing.assert_array_equal(plain.doc_topic_, batched.doc_topic_)


@pytest.mark.parametrize("rule", ["bp", "sibp", "cvb0"])
def test_mini_batches_find_the_blocks(blocks, rule):
    """The best of three seeds by training perplexity; the first batch is a quarter of the corpus,
    and may settle on too few blocks.
    """
    corpus, truth = blocks
    models = [
        LDA(4, rule=rule, batch_size=30, max_iter=10, random_state=seed).fit(corpus)
        for seed in range(3)
    ]
    model = min(models, key=lambda model: model.perplexity(corpus))
    assert evaluate.match_topics(truth.topic_word, model)[1].min() > 0.95
    assert model.doc_topic_.shape == (120, 4)
    np.testing.assert_allclose(model.doc_topic_.max(axis=1), 1, rtol=0, atol=0.05)
    assert [record["sweep"] for record in model.history_] == list(range(1, model.n_iter_ + 1))


def test_mini_batches_hold_as_many_tokens_as_the_corpus(blocks):
    """What the words hold is scaled to the whole corpus."""
    counts = blocks[0].counts
    model = LDA(4, batch_size=40, max_iter=3, topic_word_prior=0.1).fit(counts)
    np.testing.assert_allclose(model.components_.sum() - 4 * 40 * 0.1, counts.sum(), rtol=0.02)


@pytest.mark.parametrize("size", [1, 50])
def test_empty_documents_do_not_change_what_batches_learn(blocks, size):
    """Four times as many empty documents as others, between them; batches are of documents that
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
    assert model._online.total_docs == 20
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


def test_partial_fit_goes_on_from_a_fit(blocks):
    """Topics keep their numbers when a fitted model goes on learning."""
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
    fixed, learned = (
        LDA(5, total_samples=150, doc_topic_prior=0.1, topic_word_prior=0.05),
        LDA(5, total_samples=150),
    )
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


def test_words_in_another_order_are_put_in_order(mixed):
    """A Corpus knows its words: for prediction and for every measure they are those of training."""
    corpus = mixed[0]
    transposed = Corpus(corpus.counts[:, ::-1], corpus.vocabulary[::-1])
    model = LDA(5, max_iter=20).fit(corpus)
    np.testing.assert_array_equal(model.transform(transposed), model.transform(corpus))
    assert model.perplexity(transposed) == model.perplexity(corpus)
    assert evaluate.completion_perplexity(model, transposed) == evaluate.completion_perplexity(
        model, corpus
    )
    np.testing.assert_array_equal(evaluate.npmi(model, transposed), evaluate.npmi(model, corpus))
    np.testing.assert_array_equal(
        evaluate.left_to_right(model, transposed[:2]), evaluate.left_to_right(model, corpus[:2])
    )
    with pytest.raises(
        ValueError, match="init was fitted on other words, or on the same in another order"
    ):
        LDA(5, init=model).fit(transposed)


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


def test_a_second_fit_in_batches_starts_afresh(blocks):
    counts = blocks[0].counts
    once = LDA(4, batch_size=30, max_iter=3).fit(counts)
    twice = LDA(4, batch_size=30, max_iter=3).fit(counts[:60]).fit(counts)
    np.testing.assert_array_equal(twice.components_, once.components_)


def test_a_second_fit_in_batches_may_have_other_words(blocks):
    model = LDA(4, batch_size=30, max_iter=2).fit(blocks[0].counts).fit(blocks[0].counts[:, :20])
    assert model.components_.shape == (4, 20)


def test_mini_batches_of_empty_documents_are_passed_over(blocks):
    counts = sparse.vstack([sparse.csr_array((600, 40)), blocks[0].counts], format="csr")
    assert LDA(4, batch_size=5, max_iter=2).fit(counts).n_iter_ == 2


# -------------------------------------------------------------------- scikit-learn's own class name


def test_attributes_of_the_original(mixed):
    """What scikit-learn's class has after fit and after partial_fit, ours has, too."""
    counts = mixed[0].counts
    batch, online = (
        LatentDirichletAllocation(5, max_iter=4).fit(counts),
        LatentDirichletAllocation(5),
    )
    online.partial_fit(counts[:80]).partial_fit(counts[80:])
    theirs = sklearn.decomposition.LatentDirichletAllocation
    their_batch, their_online = theirs(5, max_iter=4).fit(counts), theirs(5)
    their_online.partial_fit(counts[:80]).partial_fit(counts[80:])
    assert (
        (batch.n_batch_iter_, online.n_batch_iter_)
        == (their_batch.n_batch_iter_, their_online.n_batch_iter_)
        == (5, 3)
    )
    for model in (batch, online):
        assert model.exp_dirichlet_component_.shape == model.components_.shape
        assert (model.exp_dirichlet_component_.sum(axis=1) < 1).all()
        with pytest.raises(ValueError, match="n is -3; expected at least 1 word"):
            model.top_words(-3)


def test_every_argument_of_scikit_learns_class():
    """Same names, same defaults, same order."""
    theirs = inspect.signature(sklearn.decomposition.LatentDirichletAllocation.__init__).parameters
    ours = inspect.signature(LatentDirichletAllocation.__init__).parameters
    assert list(ours) == list(theirs)
    assert {name: p.default for name, p in ours.items()} == {
        name: p.default for name, p in theirs.items()
    }


@pytest.mark.parametrize("learning_method", ["batch", "online"])
def test_code_written_for_scikit_learn_runs(mixed, learning_method):
    """The usual script, with every argument set, on both classes: only the import differs."""
    counts = mixed[0].counts
    arguments = {
        "n_components": 5,
        "doc_topic_prior": 0.1,
        "topic_word_prior": 0.05,
        "learning_method": learning_method,
        "learning_decay": 0.8,
        "learning_offset": 5.0,
        "max_iter": 6,
        "batch_size": 50,
        "evaluate_every": 2,
        "total_samples": 1000,
        "perp_tol": 1e-9,
        "mean_change_tol": 1e-3,
        "max_doc_update_iter": 20,
        "n_jobs": 1,
        "verbose": 0,
        "random_state": 3,
    }
    results = []
    for kind in (sklearn.decomposition.LatentDirichletAllocation, LatentDirichletAllocation):
        model = kind(**arguments)
        proportions = model.fit_transform(counts)
        assert proportions.shape == (150, 5)
        np.testing.assert_allclose(proportions.sum(axis=1), 1, rtol=1e-6)
        assert model.components_.shape == (5, 80)
        assert model.n_features_in_ == 80
        assert np.isfinite(model.score(counts))
        topics = [
            [counts.shape[1] - 1 - i for i in topic.argsort()[: -4 - 1 : -1]]
            for topic in model.components_
        ]
        assert len(topics) == 5
        assert list(model.get_feature_names_out()) == [
            f"latentdirichletallocation{k}" for k in range(5)
        ]
        model.partial_fit(counts)
        assert model.get_params() == arguments
        results.append(model.perplexity(counts))
    assert results[1] < results[0], "and the topics are better"


def test_normalize_of_scikit_learns_transform(mixed):
    counts = mixed[0].counts
    model = LatentDirichletAllocation(3, max_iter=2, random_state=0).fit(counts)
    np.testing.assert_array_equal(model.transform(counts, normalize=True), model.transform(counts))
    raw = model.transform(counts, normalize=False)
    np.testing.assert_allclose(
        raw / raw.sum(axis=1, keepdims=True), model.transform(counts), rtol=1e-6
    )


def test_sub_sampling_of_scikit_learns_perplexity(mixed):
    model = LatentDirichletAllocation(3, max_iter=2, random_state=0).fit(mixed[0].counts)
    assert model.perplexity(mixed[0].counts, sub_sampling=False) == model.perplexity(
        mixed[0].counts
    )


def test_scikit_learns_defaults_do_not_measure(mixed):
    """evaluate_every=-1: exactly max_iter sweeps; a positive one stops when perplexity changes by
    less than perp_tol.
    """
    model = LatentDirichletAllocation(5, random_state=0).fit(mixed[0].counts)
    assert model.n_iter_ == 10
    np.testing.assert_array_equal(model.doc_topic_prior_, np.full(5, 0.2))
    stopped = LatentDirichletAllocation(
        5, random_state=0, max_iter=300, evaluate_every=1, perp_tol=0.5
    ).fit(mixed[0].counts)
    assert stopped.n_iter_ < 300
    before, last = (record["perplexity"] for record in stopped.history_[-2:])
    assert abs(before - last) < 0.5


# --------------------------------------------------------------------------- light and odd matrices


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


@pytest.mark.parametrize("kind", [np.uint8, np.int8])
def test_small_types_do_not_overflow(kind):
    table = sparse.coo_array(
        (np.array([100, 100, 100], kind), ([0, 0, 1], [0, 0, 1])), shape=(2, 2)
    )
    model = LDA(1, max_iter=1).fit(table)
    for counts in (Corpus(table).counts, model.components_ - model.topic_word_prior_):
        np.testing.assert_allclose(np.sort(counts.sum(axis=0)), [100, 200], rtol=1e-5)


def test_entries_beyond_single_precision_are_refused():
    with pytest.raises(ValueError, match="Divide it by a constant"):
        LDA(2).fit(np.eye(3) * 1e30)


def test_a_frame_in_another_order_than_the_corpus_of_training(blocks):
    words = [f"w{i}" for i in range(blocks[0].n_words)]
    corpus = Corpus(blocks[0].counts, words)
    model = LDA(4, max_iter=5).fit(corpus)
    frame = pd.DataFrame(corpus.counts.toarray(), columns=words)[words[::-1]]
    np.testing.assert_array_equal(model.transform(frame), model.transform(corpus))


def test_tol_0_means_max_iter_sweeps_under_the_rule_of_the_paper_too(blocks):
    assert LDA(4, stop="paper", tol=0, max_iter=45).fit(blocks[0]).n_iter_ == 45


def test_phrases_are_told_apart():
    corpus = Corpus(np.eye(2) * 3, ["markov chain", "monte carlo"])
    assert ", " in LDA(1, max_iter=2).fit(corpus).topic_info().words[0]


def test_relevance_prefers_words_that_are_typical():
    """A word that is everywhere leads all topics by probability, none by relevance."""
    counts = np.kron(np.eye(2), np.full((20, 3), 3.0))
    corpus = Corpus(np.hstack([np.full((40, 1), 9.0), counts]), ["the", *"abcdef"])
    model = LDA(2, max_iter=30).fit(corpus)
    assert all(words[0] == "the" for words in model.top_words(2))
    assert sorted("".join(sorted(words)) for words in model.top_words(3, relevance=0.3)) == [
        "abc",
        "def",
    ]
    assert model.topic_info(2, relevance=0.3).words[0] != model.topic_info(2).words[0]
    with pytest.raises(ValueError, match="relevance is 2"):
        model.top_words(relevance=2)


def test_top_documents_are_most_about_their_topic():
    corpus, _ = datasets.make_blocks()
    model = LDA(4, max_iter=30).fit(
        replace(corpus, doc_names=[f"d{i}" for i in range(corpus.n_docs)])
    )
    for k, documents in enumerate(model.top_documents(3)):
        best = np.sort(model.doc_topic_[:, k])[::-1][:3]
        assert [share for _, share in documents] == best.tolist()
        assert all(model.doc_topic_[int(name[1:]), k] == share for name, share in documents)
    assert isinstance(
        LDA(4, max_iter=5).fit(corpus.counts).top_documents(1)[0][0][0], int
    )  # numbers where there are no names
    with pytest.raises(ValueError, match="keeps no documents"):
        LDA(4).partial_fit(corpus.counts).top_documents()
    with pytest.raises(ValueError, match="n is 0"):
        model.top_documents(0)


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
