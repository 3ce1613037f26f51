"""LDA in scikit-learn's company: its contract, pipelines, searches, clones, pickles."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from topoi import LDA, LatentDirichletAllocation


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


TEXTS = [
    "cats and dogs",
    "dogs chase cats",
    "stocks and bonds",
    "bonds beat stocks",
    "cats dogs",
    "stocks bonds",
] * 4


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
