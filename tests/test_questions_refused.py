"""What people ask by mistake: it is refused, or warned of, in one sentence that names the cure."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import topoi
from topoi import LDA, AuthorTopicModel, LabeledLDA, RelationalTopicModel, evaluate
from topoi.models import (
    author_questions,
    editing,
    label_questions,
    labelling,
    link_questions,
    reading,
    trends,
    updating,
)

TEXTS = ["cat dog pet", "dog cat fur", "bond stock coin", "stock coin bank"] * 6


@pytest.fixture(scope="module")
def corpus():
    made = topoi.read(
        TEXTS,
        authors=[["Ann"], ["Ann"], ["Bob"], ["Bob"]] * 6,
        labels=["pets", "pets", "money", "money"] * 6,
    )
    return replace(made, links=[(d, d + 4) for d in range(20)])


@pytest.fixture(scope="module")
def model(corpus):
    return LDA(3, max_iter=10).fit(corpus)


@pytest.mark.parametrize("text", [3, [], [1, 2], None])
def test_topics_are_found_for_a_text_or_words_only(model, text):
    with pytest.raises(ValueError, match="not a text or a list of words"):
        model.find_topics(text)


def test_numbers_of_rows_start_at_one(model, corpus):
    with pytest.raises(ValueError, match="at least 1 topic"):
        model.find_topics("cat", 0)
    with pytest.raises(ValueError, match="n_topics is -1"):
        model.document_info(n_topics=-1)
    with pytest.raises(ValueError, match="at least 1 word"):
        model.words_by(0, ["a", "b"] * 12, n=0, X=corpus)


def test_a_function_that_names_topics_returns_text(model):
    with pytest.raises(ValueError, match="returned 'None' for topic 0; expected a name"):
        model.name_topics(lambda words, documents: None)
    assert model.topic_names_ == ["topic0", "topic1", "topic2"]
    assert model.name_topics(lambda words, documents: "").topic_names_[0] == "topic0"


def test_topics_are_edited_by_name(model):
    named = topoi.LDA(3, init=model, max_iter=1).fit(topoi.read(TEXTS))
    named.name_topics({0: "pets", 2: "2000"})
    assert named.delete_topics(["pets"]).topic_names_ == ["topic0", "2000"]
    assert named.merge_topics([["topic1", "pets"]]).topic_lineage()["new"].tolist() == [0, 0, 1]
    assert named.delete_topics(["2000"]).topic_names_ == ["pets", "topic1"]
    with pytest.raises(ValueError, match="delete: there is no topic 'cars'"):
        named.delete_topics(["cars"])
    with pytest.raises(ValueError, match="fewer than two topics"):
        named.merge_topics([[]])


def test_drift_is_that_of_updates_and_not_of_edits(model):
    new = ["cat dog pet", "bond stock"] * 3
    merged = model.merge_topics([[0, 1]])
    updated = merged.update(new, new_topics=1)
    assert len(updated.topic_drift(merged)) == 3
    assert len(updated.update(new).topic_drift(merged)) == 3
    for other in (updated, model.delete_topics([0]).update(new, new_topics=1)):
        with pytest.raises(ValueError, match="Topics were merged, deleted or split since"):
            other.topic_drift(model)


@pytest.mark.parametrize("ask", ["messages", "label"])
def test_metadata_without_use_are_named(model, corpus, ask):
    with pytest.raises(TypeError, match="LDA has no use for labels; beside X it takes nothing"):
        getattr(model, ask)(corpus, labels=[["pets"]])
    labeled = LabeledLDA(max_iter=3).fit(corpus)
    with pytest.raises(TypeError, match="has no use for links; beside X it takes labels"):
        getattr(labeled, ask)(corpus, links=[])
    with pytest.raises(ValueError, match="labels holds 'cars', which is not among classes"):
        getattr(labeled, ask)(corpus, labels=[["cars"]] * corpus.n_docs)


def test_models_without_documents_say_why(corpus, tmp_path):
    source = topoi.Source(TEXTS, block_size=10).count(cache=tmp_path / "counts", min_df=1)
    model = LDA(2, max_iter=3).fit(source)
    for ask in (model.document_info, model.topics_over_time, model.top_documents):
        with pytest.raises(ValueError, match="it learned by partial_fit, from a Source, or with"):
            ask()


def test_an_update_needs_words(model, corpus):
    with pytest.raises(ValueError, match="X holds no documents"):
        model.update([])
    for nothing in (corpus[:0], topoi.Corpus(np.zeros((2, corpus.n_words)), corpus.vocabulary)):
        with pytest.raises(ValueError, match="nothing to learn"):
            model.update(nothing)


@pytest.mark.parametrize(
    ("kind", "ask"),
    [
        (AuthorTopicModel, "predict_authors"),
        (RelationalTopicModel, "recommend_links"),
        (LabeledLDA, "predict"),
        (LabeledLDA, "predict_proba"),
    ],
)
def test_answers_about_unknown_words_come_with_a_warning(corpus, kind, ask):
    model = kind(max_iter=5).fit(corpus)
    with pytest.warns(UserWarning, match="1 of 2 documents have no word that the model knows"):
        getattr(model, ask)(["cat dog pet fur stock", "日本 経済"])


def test_intrusion_takes_counts_and_refuses_documents_without_words(model, corpus):
    asked = evaluate.intrusion(model, corpus.counts, n_documents=3).table
    assert asked.equals(evaluate.intrusion(model, corpus, n_documents=3).table)
    with pytest.raises(ValueError, match="no word of the model"):
        evaluate.intrusion(model, corpus[:0])


def test_a_sheet_without_answers_has_no_score(model, corpus, tmp_path):
    tasks = evaluate.intrusion(model, corpus, n_documents=3)
    sheet, _ = tasks.write(tmp_path / "sheet.csv")
    with pytest.raises(ValueError, match="no answers; fill in the column 'answer'"):
        tasks.score(sheet)


@pytest.mark.parametrize("topics", [["cat", "dog"], [[], []], "cat", [1, 2]])
def test_coherence_needs_a_list_for_each_topic(corpus, topics):
    with pytest.raises(ValueError, match="a list of words or of word numbers for each topic"):
        evaluate.npmi(topics, corpus)


def test_a_topic_without_words_has_no_coherence(corpus):
    assert evaluate.npmi([["cat", "dog"], []], corpus)[1] == 0


@pytest.mark.parametrize("wrong", [slice(3), slice(None, None, 2)])
def test_a_vocabulary_names_every_column_once(model, corpus, wrong):
    words = list(model.vocabulary_)
    with pytest.raises(ValueError, match=f"for {len(words)} columns of topics"):
        evaluate.completion(model.components_, corpus, vocabulary=words[wrong])
    with pytest.raises(ValueError, match="different words"):
        evaluate.completion(model.components_, corpus, vocabulary=[*words[:-1], words[0]])


@pytest.mark.parametrize("candidates", [["a"], [2.5], []])
def test_numbers_of_topics_are_whole(corpus, candidates):
    with pytest.raises(ValueError, match="expected numbers of topics of at least 1"):
        evaluate.choose_n_components(LDA(), corpus, candidates)


@pytest.mark.parametrize("measure", [evaluate.completion, evaluate.intrusion, evaluate.quality])
def test_measures_take_texts_that_were_read(model, measure):
    with pytest.raises(ValueError, match=r"holds texts; .* topoi.read\(texts, vectorizer=model"):
        measure(model, TEXTS)
    assert evaluate.completion(model, topoi.read(TEXTS, vectorizer=model.vectorizer_)).n_docs == 24


@pytest.mark.parametrize(
    "measure",
    [
        lambda model, _: evaluate.clusters(model, ["a", "b"]),
        lambda model, _: evaluate.topic_diversity(model),
        *(evaluate.npmi, evaluate.quality, evaluate.log_joint, evaluate.completion),
    ],
)
def test_measures_of_a_model_that_was_not_fitted_say_so(measure, corpus):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        measure(LDA(2), corpus)


def test_the_joint_needs_a_model(model, corpus):
    with pytest.raises(ValueError, match="needs the priors of a fitted model of topoi"):
        evaluate.log_joint(model.components_, corpus)


def test_one_topic_has_no_map(corpus):
    plot = pytest.importorskip("matplotlib") and topoi.plot
    with pytest.raises(ValueError, match="one topic has no map"):
        plot.documents(LDA(1, max_iter=2).fit(corpus))


def test_every_question_has_an_example():
    homes = (author_questions, editing, label_questions, labelling, link_questions, reading)
    kinds = [kind for home in (*homes, trends, updating) for kind in vars(home).values()]
    methods = {
        f"{kind.__name__}.{name}": method
        for kind in kinds
        if inspect.isclass(kind) and kind.__module__.startswith("topoi.models.")
        for name, method in vars(kind).items()
        if inspect.isfunction(method) and not name.startswith(("_", "get_"))
        if method.__module__ in {home.__name__ for home in (*homes, trends, updating)}
    }
    assert len(methods) > 30
    assert [name for name, method in methods.items() if ">>>" not in (method.__doc__ or "")] == []
