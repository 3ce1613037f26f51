"""Ensembles: topics that several seeds agree on, as one model."""

from __future__ import annotations

import numpy as np
import pytest
from support import ask

import topoi
from topoi import LDA, AuthorTopicModel, LabeledLDA, datasets
from topoi.evaluate import match_topics
from topoi.models.ensemble import core_topics


def test_an_ensemble_finds_planted_topics_and_predicts_as_one_model(blocks, tmp_path):
    corpus, truth = blocks
    model = topoi.ensemble(LDA(4, max_iter=20), corpus, n=3)
    assert isinstance(model, LDA)
    assert match_topics(truth.topic_word, model)[1].min() > 0.95
    assert model.stability_.shape == (4,)
    assert model.stability_.min() > 0.9
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    np.testing.assert_array_equal(again.stability_, model.stability_)
    np.testing.assert_array_equal(again.transform(corpus), model.transform(corpus))
    assert not hasattr(model.delete_topics([0]), "stability_"), "it was that of the old topics"


def test_topics_that_seeds_disagree_on_are_less_stable(blocks):
    """With more topics than themes, some are found by chance."""
    model = topoi.ensemble(LDA(7, max_iter=20, doc_topic_prior=0.1), blocks[0], n=4)
    assert model.stability_.min() < 0.9 < model.stability_.max()


def test_the_core_does_not_depend_on_the_order_of_topics():
    topics = np.random.default_rng(0).dirichlet(np.full(9, 0.2), 4)
    runs = [topics, topics[[2, 0, 3, 1]], topics[::-1]]
    np.testing.assert_allclose(core_topics(runs), topics)


def test_authors_have_ensembles_and_labels_none():
    corpus, _ = datasets.make_authors(40, 6, 30, 3)
    model = topoi.ensemble(AuthorTopicModel(3, max_iter=4), corpus, n=2)
    assert model.author_topic_.shape == (6, 3)
    with pytest.raises(ValueError, match="fit it once"):
        topoi.ensemble(LabeledLDA(), corpus)
    with pytest.raises(ValueError, match="at least 2 runs"):
        topoi.ensemble(LDA(2), corpus, n=1)


def test_the_command_makes_an_ensemble(work, tmp_path):
    found = ask(
        *("ensemble", work / "t.csv", "--text", "abstract", "--n-components", 2, "--runs", 2),
        *("--max-iter", 5, "-o", tmp_path / "e.topoi"),
    )
    model = topoi.load(tmp_path / "e.topoi")
    shown = {row["topic"]: row["stability"] for row in found["topics"]}
    assert shown == {k: pytest.approx(value) for k, value in enumerate(model.stability_)}
