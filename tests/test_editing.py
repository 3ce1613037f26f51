"""Edited topics: new models that predict, save and know what became what."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from support import ask, run

import topoi
from topoi import (
    LDA,
    AuthorTopicModel,
    LabeledLDA,
    RelationalTopicModel,
    TopicModel,
    Words,
    datasets,
)
from topoi.explore.editing import checked_edits

FEW = {"max_iter": 15}


@pytest.fixture(scope="module")
def model():
    corpus, _ = datasets.make_blocks(random_state=3)
    return LDA(4, **FEW).fit(corpus).name_topics({1: "b", 3: "d"})


def models():
    authors, _ = datasets.make_authors(40, 6, 30, 4)
    links, _ = datasets.make_links(40, 30, 4, links_per_doc=2)
    return [
        (LDA(4, **FEW).fit(authors), authors),
        (AuthorTopicModel(4, **FEW).fit(authors), authors),
        (RelationalTopicModel(4, **FEW).fit(links), links),
    ]


def assert_sound(edited, corpus, n_topics, tmp_path):
    """It predicts, saves, comes back and reports as any other model."""
    assert edited.components_.shape[0] == edited.n_components == n_topics
    assert_allclose(edited.doc_topic_.sum(axis=1), 1)
    assert_allclose(edited.transform(corpus).sum(axis=1), 1)
    edited.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    assert_array_equal(again.transform(corpus), edited.transform(corpus))
    assert again.topic_names_ == edited.topic_names_
    assert again.topic_lineage().equals(edited.topic_lineage())
    edited.report(tmp_path / "m.html")
    edited.fit(corpus)
    assert not len(edited.topic_lineage()), "a new fit has new topics"


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize(
    ("edits", "n_topics"),
    [({"merge": [[1, 3]]}, 3), ({"delete": [0]}, 3), ({"reduce": 2}, 2)],
)
def test_an_edited_model_is_a_model_like_any_other(number, edits, n_topics, tmp_path):
    fitted, corpus = models()[number]
    before = fitted.components_.copy()
    assert_sound(fitted.edit_topics(edits), corpus, n_topics, tmp_path)
    assert_array_equal(fitted.components_, before), "the old model stays as it is"


@pytest.mark.parametrize("number", range(3))
def test_a_split_keeps_every_token_and_every_other_topic(number, tmp_path):
    fitted, corpus = models()[number]
    split = fitted.split_topic(1, into=2, X=corpus)
    held = split.components_ - split.topic_word_prior_
    before = fitted.components_ - fitted.topic_word_prior_
    assert_allclose(held[1] + held[4], before[1], atol=1e-6)
    assert_allclose(held[[0, 2, 3]], before[[0, 2, 3]], atol=1e-6)
    assert_allclose(split.doc_topic_[:, [1, 4]].sum(axis=1), fitted.doc_topic_[:, 1], atol=1e-6)
    assert_sound(split, corpus, 5, tmp_path)


def test_merged_topics_hold_what_their_topics_held(model):
    merged = model.merge_topics([[3, 1]])
    held, before = (m.components_ - m.topic_word_prior_ for m in (merged, model))
    assert_allclose(held[1], before[1] + before[3])
    assert_allclose(merged.doc_topic_[:, 1], model.doc_topic_[:, [1, 3]].sum(axis=1))
    assert_allclose(merged.doc_topic_prior_.sum(), model.doc_topic_prior_.sum())
    assert merged.topic_names_ == ["topic0", "d", "topic2"], "the first in the list with a name"


def test_names_and_numbers_follow_topics(model):
    edited = model.delete_topics([0]).merge_topics([[1, 2]])
    assert edited.topic_names_ == ["b", "d"]
    lineage = edited.topic_lineage()
    assert lineage["step"].tolist() == [1] * 4 + [2] * 3
    assert lineage["new"].tolist() == [-1, 0, 1, 2, 0, 1, 1]
    assert lineage["name"].tolist() == ["topic0", "b", "topic2", "d", "b", "topic1", "d"]
    assert model.topic_names_ == ["topic0", "b", "topic2", "d"]


def test_a_split_finds_the_two_themes_that_a_topic_holds():
    corpus, _ = datasets.make_blocks(random_state=3)
    fitted = LDA(4, **FEW).fit(corpus)
    both = fitted.merge_topics([[0, 1]]).name_topics({0: "both"})
    again = both.split_topic("both", into=2, X=corpus)
    assert again.topic_names_[0] == "both"
    parts = again.topic_word_[[0, 3]]
    for theme in fitted.topic_word_[[0, 1]]:
        assert (parts @ theme).max() > 0.9 * theme @ theme


def test_kept_texts_are_enough_to_split(tmp_path):
    texts = ["cat dog cat dog", "dog pet cat", "bond stock bond", "stock bond"] * 9
    corpus = topoi.read(texts, keep_text=True)
    fitted = LDA(1, **FEW).fit(corpus)
    fitted.save(tmp_path / "m.topoi")
    split = topoi.load(tmp_path / "m.topoi").split_topic(0)
    assert sorted(sorted(words) for words in split.top_words(2)) == [
        ["bond", "stock"],
        ["cat", "dog"],
    ]
    with pytest.raises(ValueError, match="give them as X"):
        LDA(1, **FEW).fit(topoi.read(texts)).split_topic(0)
    with pytest.raises(ValueError, match="does not hold the documents"):
        fitted.split_topic(0, X=corpus[::-1])


def test_the_tree_begins_as_reduction_does(model):
    tree = model.topic_tree()
    left, right = tree[["left", "right"]].to_numpy()[0]
    new = model.reduce_topics(3).topic_lineage()["new"]
    assert new[left] == new[right]
    assert len(tree) == 3
    assert sorted(tree["topics"].iloc[-1]) == [0, 1, 2, 3]


def test_seeds_and_batches_survive_an_edit(tmp_path):
    corpus, _ = datasets.make_blocks(random_state=3)
    seeds = {"a": corpus.words[:2], "b": corpus.words[12:13]}
    fitted = LDA(4, seeds=seeds, **FEW).fit(corpus)
    merged = fitted.merge_topics([[0, 2]])
    assert merged.topic_names_[:2] == ["a", "b"]
    beyond = merged.topic_word_prior_ - merged.topic_word_prior_.min()
    assert np.flatnonzero(beyond[0]).tolist() == [0, 1]
    merged.partial_fit(corpus[:20])
    smaller = merged.delete_topics([2]).partial_fit(corpus[:20])
    assert smaller.components_.shape == (2, corpus.n_words)
    smaller.save(tmp_path / "m.topoi")
    assert topoi.load(tmp_path / "m.topoi").topic_names_ == ["a", "b"]


def test_labels_stay_and_background_can_be_edited(tmp_path):
    corpus, _ = datasets.make_labels(40, 30, 3)
    fitted = LabeledLDA(2, **FEW).fit(corpus)
    n_labels = len(fitted.classes_)
    smaller = fitted.delete_topics([n_labels])
    assert smaller.background_topics == 1
    assert smaller.predict(corpus) == smaller.predict(corpus.counts)
    smaller.save(tmp_path / "m.topoi")
    assert_array_equal(topoi.load(tmp_path / "m.topoi").components_, smaller.components_)
    for edits in ({"merge": [[0, n_labels]]}, {"delete": [0]}, {"reduce": 2}):
        with pytest.raises(ValueError, match="are labels, which cannot be merged"):
            fitted.edit_topics(edits)


def test_combinations_refuse_edits(model):
    corpus, _ = datasets.make_blocks(random_state=3)
    combined = TopicModel([Words(corpus)], 3, max_iter=3).fit()
    with pytest.raises(ValueError, match="Topics of a TopicModel cannot be edited"):
        combined.merge_topics([[0, 1]])


@pytest.mark.parametrize(
    ("edits", "match"),
    [
        ({"merge": [[0, 4]]}, "numbered 0 to 3"),
        ({"merge": [[0, -1]]}, "numbered 0 to 3"),
        ({"merge": [[0, True]]}, "numbered 0 to 3"),
        ({"merge": [["0", "1"]]}, "numbered 0 to 3"),
        ({"merge": [[0]]}, "fewer than two topics"),
        ({"merge": [0, 1]}, "expected a list of topics"),
        ({"merge": "01"}, "another form"),
        ({"merge": [[0, 1], [1, 2]]}, "named twice"),
        ({"merge": [[0, 1]], "delete": [1]}, "named twice"),
        ({"delete": [0, 1, 2, 3]}, "No topic would be left"),
        ({"delete": 1}, "another form"),
        ({"delete": [1.0]}, "numbered 0 to 3"),
        ({"reduce": 5}, "from 1 to 4"),
        ({"reduce": "2"}, "from 1 to 4"),
        ({"names": {"9": "x"}}, "names: there is no topic '9'; topics are numbered 0 to 3"),
        ({"names": {"²": "x"}}, "numbered 0 to 3"),
        ({"names": {"1": 3}}, "expected the name of a topic"),
        ({"names": {"1": "x" * 2000}}, "expected the name of a topic"),
        ({"names": [1]}, "another form"),
        ({"__class__": 1}, "Edits hold '__class__'"),
    ],
)
def test_edits_that_make_no_sense_are_refused(edits, match):
    with pytest.raises(ValueError, match=match):
        checked_edits(edits, list("abcd"))


def test_the_command_edits_as_the_page_exports(model, tmp_path):
    path, edits = tmp_path / "m.topoi", tmp_path / "edits.json"
    model.save(path)
    edits.write_text(json.dumps({"names": {"2": "c", "1": ""}, "merge": [[1, 2]], "delete": [0]}))
    run("edit", path, "--from", edits)
    assert topoi.load(tmp_path / "m-edited.topoi").topic_names_ == ["c", "d"]
    found = ask(
        *("edit", path, "--merge", "1,2", "--delete", "0", "--rename", "3=last one"),
        *("-o", tmp_path / "n.topoi"),
    )
    assert [row["new"] for row in found["lineage"]] == [-1, 0, 0, 1]
    assert {row["name"] for row in found["topics"]} == {"b", "last one"}
    assert topoi.load(path).topic_names_ == model.topic_names_
    assert len(ask("tree", path)["mergers"]) == 3
    assert "distance" in run("tree", path).output


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--merge", "a,b"],
        ["--merge", "0"],
        ["--delete", "9"],
        ["--rename", "first"],
        ["--split", "0"],
        ["--reduce", "9"],
    ],
)
def test_the_command_says_what_it_cannot_edit(model, tmp_path, options):
    model.save(tmp_path / "m.topoi")
    assert "Error: " in run("edit", tmp_path / "m.topoi", *options, code=2).output
    assert [file.name for file in tmp_path.iterdir()] == ["m.topoi"]
