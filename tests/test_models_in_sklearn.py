"""Models with metadata in scikit-learn's company: contract, routing, cross-validation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from topoi import (
    AuthorTopicModel,
    LabeledLDA,
    RelationalTopicModel,
)

pytestmark = pytest.mark.usefixtures("warm_up_always")


def test_links_survive_cross_validation(linked):
    corpus, _ = linked
    lists = [[] for _ in range(400)]
    for a, b in zip(*corpus.links.nonzero(), strict=True):
        lists[a].append(f"doc{b}")
    with config_context(enable_metadata_routing=True):
        model = RelationalTopicModel(6, link_weight=0.1, max_iter=3).set_fit_request(
            links=True, doc_names=True
        )
        model.set_score_request(links=True, doc_names=True)
        links = np.empty(400, dtype=object)
        links[:] = lists
        params = {"links": links, "doc_names": np.array([f"doc{d}" for d in range(400)])}
        scores = cross_validate(model, corpus.counts, cv=KFold(3), params=params)["test_score"]
    assert np.isfinite(scores).all()


FEW = {"max_iter": 5, "tol": 0}


@parametrize_with_checks(
    [AuthorTopicModel(2, **FEW), RelationalTopicModel(2, **FEW), LabeledLDA(**FEW)]
)
@pytest.mark.filterwarnings("ignore:No (authors|links) were given")
def test_sklearn_contract_of_models(estimator, check):
    check(estimator)


def test_step_prefixed_and_routed_metadata(linked):
    texts = ["apples pears apples", "pears plums", "engines wheels", "wheels engines brakes"] * 5
    authors = [["ann"], ["ann", "bob"], ["cid"], ["cid"]] * 5
    pipe = make_pipeline(CountVectorizer(), AuthorTopicModel(2, max_iter=10))
    pipe.fit(texts, authortopicmodel__authors=authors)
    assert pipe[-1].author_names_.tolist() == ["ann", "bob", "cid"]
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline(
            CountVectorizer(), AuthorTopicModel(2, max_iter=10).set_fit_request(authors=True)
        )
        routed.fit(texts, authors=authors)
    np.testing.assert_array_equal(routed[-1].author_topic_, pipe[-1].author_topic_)
    proportions = AuthorTopicModel(2, max_iter=10).fit_transform(
        CountVectorizer().fit_transform(texts), authors=authors
    )
    assert proportions.shape == (20, 2)


def test_labels_are_stratified_by_cross_validation():
    counts = np.kron(np.eye(3), np.ones((20, 5))) + 1
    assert (
        cross_validate(LabeledLDA(max_iter=20), counts, np.repeat([0, 1, 2], 20), cv=4)[
            "test_score"
        ]
        == 1
    ).all()


def test_authors_reach_scores_of_cross_validation(authored):
    corpus, _ = authored
    authors = np.empty(corpus.n_docs, dtype=object)
    authors[:] = [tuple(row) for row in corpus.authors]
    with config_context(enable_metadata_routing=True):
        model = AuthorTopicModel(3, max_iter=5).set_fit_request(authors=True)
        scores = [
            cross_validate(
                model.set_score_request(authors=field_message),
                corpus.counts,
                cv=KFold(3),
                params={"authors": authors},
            )["test_score"]
            for field_message in (True, False)
        ]
    assert (scores[0] != scores[1]).all()
