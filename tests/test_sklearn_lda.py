"""Code written for scikit-learn's LatentDirichletAllocation runs with ours."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import sklearn.decomposition

from topoi import LatentDirichletAllocation


def test_attributes_of_the_original(mixed):
    """What scikit-learn's class has after fit and after partial_fit, ours has, too."""
    counts = mixed[0].counts
    batch = LatentDirichletAllocation(5, max_iter=4).fit(counts)
    online = LatentDirichletAllocation(5)
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
