"""Finding and reading: topics, documents and authors as tables, and names."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import topoi
from topoi import LDA, AuthorTopicModel, Corpus, LabeledLDA, datasets, evaluate
from topoi.cli import app

PETS = ["the names of cats and dogs", "my dogs chase cats and birds", "birds and cats and dogs"]
MONEY = ["high exchange rates hurt banks", "banks fear exchange rates", "low exchange rates, banks"]
JAPANESE = "\u79c1\u306f\u732b\u304c\u597d\u304d\u3067\u3059"


def pets_and_money():
    return topoi.read(
        (PETS + MONEY) * 4,
        doc_names=[f"d{i}" for i in range(24)],
        dates=[2019, 2020] * 12,
        authors=["Ann", "Bob", "Ann;Bob"] * 8,
        groups={"source": ["web", "press"] * 12},
        keep_text=True,
        vectorizer=topoi.make_vectorizer(min_df=1, max_df=1.0),
    )


@pytest.fixture(scope="module")
def model():
    return LDA(2, max_iter=30).fit(pets_and_money())


def topic_of(model, word):
    return int(model.find_topics(word)["topic"][0])


def test_a_word_words_and_a_text_find_their_topic(model):
    money = topic_of(model, "banks")
    for asked in ("exchange rates", ["rates", "Banks"], "Banks fear their rates."):
        found = model.find_topics(asked)
        assert found.columns.tolist() == ["topic", "name", "score", "words"]
        assert found["topic"][0] == money
        assert found["score"].is_monotonic_decreasing
        assert found["score"].sum() == pytest.approx(1)
    assert topic_of(model, "birds") != money


def test_unknown_words_are_refused_or_said(model):
    with pytest.raises(ValueError, match="None of 'bank' is in the vocabulary.*did you mean banks"):
        model.find_topics("bank")
    with pytest.raises(ValueError, match="None of .* is in the vocabulary"):
        model.similar_documents(JAPANESE)
    with pytest.warns(UserWarning, match="2 of 3 words are not in the vocabulary .* 'xx', 'yy'"):
        model.find_topics("banks xx yy")


def test_the_words_of_a_topic_have_numbers(model):
    k = topic_of(model, "banks")
    table = model.show_topic(k, 3)
    assert table.columns.tolist() == [
        "word",
        "probability",
        "count",
        "frequency",
        "proportion",
        "lift",
    ]
    assert table["word"].tolist() == model.top_words(3)[k]
    np.testing.assert_allclose(table["proportion"], table["count"] / table["frequency"])
    assert (table["lift"] > 1).all()
    named = LDA(2, max_iter=5).fit(Corpus(np.eye(4) * 5)).name_topics({1: "one"})
    assert named.show_topic("one").equals(named.show_topic(1))
    with pytest.raises(ValueError, match="no topic called 'on'; did you mean 'one'"):
        named.show_topic("on")
    with pytest.raises(ValueError, match="There is no topic 2; topics are numbered 0 to 1"):
        named.show_topic(2)


def test_top_words_are_words_that_the_topic_uses():
    corpus, _ = datasets.make_blocks(n_topics=2)
    model = LDA(6, max_iter=40).fit(corpus)
    for k, words in enumerate(model.top_words(20)):
        used = model.components_[k] - model.topic_word_prior_ > 0.099
        assert set(words) <= set(np.array(corpus.words)[used])
    assert min(map(len, model.top_words(20, relevance=0.3))) < 20


def test_documents_are_a_table(model):
    table = model.document_info(n_topics=2)
    assert table.columns.tolist() == [
        *(
            "document",
            "topic",
            "name",
            "proportion",
            "topic_2",
            "name_2",
            "proportion_2",
            "tokens",
            "mark",
        ),
        *("date", "authors", "source", "text"),
    ]
    np.testing.assert_allclose(table["proportion"] + table["proportion_2"], 1, rtol=1e-6)
    assert table["topic"].tolist() == model.doc_topic_.argmax(axis=1).tolist()
    assert table["authors"].tolist()[:3] == ["Ann", "Bob", "Ann; Bob"]
    assert table["text"].tolist() == model.documents_.texts
    assert model.topic_info()["documents"].sum() == 24


def test_documents_that_rest_on_little_are_marked(model):
    texts = [
        "cats " * 9,
        JAPANESE,
        f"cats dogs birds banks rates {'zz ' * 99}",
        f"{PETS[0]} {MONEY[0]}",
    ]
    new = topoi.read(texts, vectorizer=model.vectorizer_)
    marks = model.document_info(new)["mark"].tolist()
    assert marks[:3] == ["few known words", "no known words", "few known words"]
    assert marks[3] == ""
    assert new.unknown.tolist()[1:3] == [1, 99]
    assert new[[2, 0]].unknown.tolist() == [99, 0]


def test_words_left_out_of_counts_are_unknown_too():
    corpus = Corpus([[3, 1], [0, 2]], ["cat", "zz"]).over(["cat", "dog"])
    assert corpus.unknown.tolist() == [1, 2]


def test_scores_of_unknown_words_are_not_quiet(model):
    japanese = topoi.read([PETS[0], JAPANESE], vectorizer=model.vectorizer_)
    with pytest.warns(UserWarning, match="1 of 2 documents have no word that the model knows"):
        model.perplexity(japanese)
    with pytest.warns(UserWarning, match="of the kind, that the model was fitted on"):
        evaluate.completion(model, japanese, held_out=0.4)
    with pytest.warns(UserWarning, match="has no word|have no word"):
        found = evaluate.quality(model, japanese)
    assert (found["no_known_words"], found["few_known_words"]) == (1, 1)


def test_similar_documents_share_topics(model):
    table = model.similar_documents("d3", 5)
    assert table.columns.tolist()[:3] == ["document", "similarity", "topic"]
    assert "d3" not in table["document"].tolist()
    assert set(table["topic"]) == {topic_of(model, "banks")}
    assert model.similar_documents(3, 5).equals(table)
    assert set(model.similar_documents("cats and birds", 3)["topic"]) == {topic_of(model, "cats")}
    with pytest.raises(ValueError, match="There is no document 24"):
        model.similar_documents(24)


def test_representative_documents_come_with_their_text(model):
    table = model.representative_documents(topic_of(model, "banks"), 3)
    assert table.columns.tolist()[:5] == ["document", "proportion", "fit", "tokens", "mark"]
    assert set(table["text"]) <= set(MONEY)
    assert table["proportion"].is_monotonic_decreasing


def test_documents_of_a_label_are_ranked_by_fit():
    """All have the proportion 1 of their only label; words that the labels share fit badly."""
    counts = np.array([[1, 9, 0], [9, 1, 0], [0, 5, 5], [0, 1, 9], [5, 5, 0], [0, 9, 1]])
    model = LabeledLDA(max_iter=20).fit(Corpus(counts, labels=list("aabbab")))
    assert [name for name, _ in model.top_documents(3)[0]] == [1, 4, 0]
    assert model.representative_documents("b", 3)["document"].tolist() == [3, 2, 5]


def test_authors_are_a_table(model):
    table = model.author_info(n_topics=1)
    assert table.columns.tolist() == [
        "author",
        "documents",
        "tokens",
        "topic",
        "name",
        "proportion",
    ]
    assert table["documents"].tolist() == [16, 16]
    corpus, _ = datasets.make_authors()
    learned = AuthorTopicModel(3, max_iter=10).fit(corpus)
    table = learned.author_info(n_topics=1, min_documents=2)
    best = dict(zip(learned.author_names_, learned.author_topic_.argmax(axis=1), strict=True))
    assert all(best[author] == k for author, k in zip(table["author"], table["topic"], strict=True))
    assert (table["documents"] >= 2).all()
    with pytest.raises(ValueError, match="have no authors"):
        LDA(2, max_iter=2).fit(corpus.counts).author_info()


def test_automatic_names_are_distinctive_phrases_and_unique():
    named = LDA(2, max_iter=30).fit(pets_and_money()).name_topics({0: "mine"})
    named.name_topics("auto")
    assert named.topic_names_[0] == "mine", "names that were given stay"
    named.name_topics({0: ""}).name_topics("auto")
    assert len(set(named.topic_names_)) == 2
    assert "exchange rates" in named.topic_names_[topic_of(named, "banks")]
    labeled = LabeledLDA(max_iter=3).fit(Corpus(np.eye(3), ["u", "v", "w"], labels=list("abb")))
    assert labeled.name_topics("auto").topic_names_ == ["a", "b"], "labels are names"


def test_names_come_as_lists_and_from_functions():
    model = LDA(2, max_iter=5).fit(pets_and_money())
    assert model.name_topics(["a", "b"]).topic_names_ == ["a", "b"]
    assert model.name_topics({"a": "c"}).topic_names_ == ["c", "b"]
    asked = []
    model.name_topics(lambda words, documents: asked.append((words, documents)) or "same")
    assert len(set(model.topic_names_)) == 2, "names of functions are made different"
    assert all(name.startswith("same") for name in model.topic_names_)
    assert all(set(documents) <= set(PETS + MONEY) for _, documents in asked)
    with pytest.raises(ValueError, match="3 names are given for 2 topics"):
        model.name_topics(["a", "b", "c"])
    with pytest.raises(ValueError, match="names is 'automatic'; give 'auto'"):
        model.name_topics("automatic")


def run(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done


def test_the_commands_find_and_read(model, tmp_path):
    path = tmp_path / "m.topoi"
    model.save(path)
    money = topic_of(model, "banks")
    assert json.loads(run("find", path, "exchange", "rates", "--json").stdout)[0]["topic"] == money
    assert "exchange" in run("topics", path, "--topic", money).stdout
    rows = json.loads(run("documents", path, "--topic", money, "-n", 2, "--json").stdout)
    assert len(rows) == 2
    assert rows[0]["text"] in MONEY
    run("documents", path, "-o", tmp_path / "d.csv")
    assert len(pd.read_csv(tmp_path / "d.csv")) == 24
    (tmp_path / "new.txt").write_text(MONEY[0])
    for asked in ("d3", "3", MONEY[0], tmp_path / "new.txt"):
        rows = json.loads(run("similar", path, asked, "-n", 2, "--json").stdout)
        assert [row["topic"] for row in rows] == [money] * 2
    assert "d3" in run("similar", path, "d4").stdout
    run("topics", path, "--auto-names")
    assert "exchange rates" in topoi.load(path).topic_names_[money]


def test_the_command_marks_documents_of_another_language(model, tmp_path):
    model.save(tmp_path / "m.topoi")
    (tmp_path / "new.txt").write_text(f"{PETS[0]} {MONEY[0]}\n{JAPANESE}\n")
    done = run("transform", tmp_path / "m.topoi", tmp_path / "new.txt")
    assert "1 of 2 documents have no word that the model knows" in done.stderr
    marks = [line.split(",")[1] for line in done.stdout.splitlines()]
    assert marks == ["mark", "", "no known words"]


def test_documents_are_written_out_where_a_table_is_too_narrow(model, tmp_path, monkeypatch):
    model.save(tmp_path / "m.topoi")
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("documents", tmp_path / "m.topoi", "-n", 2).stdout
    assert max(map(len, shown.splitlines())) <= 80
    flat = " ".join(shown.split())
    assert "document d0 topic" in flat
    assert "authors Ann, source web" in flat
    assert PETS[0] in flat
    monkeypatch.setenv("COLUMNS", "180")
    assert "┃ document ┃" in run("documents", tmp_path / "m.topoi", "-n", 2).stdout


def test_numbers_of_tables_are_never_cut(tmp_path, monkeypatch):
    topics = ["a topic with a long name", "another topic with one"]
    model = LDA(2, max_iter=5).fit(pets_and_money()).name_topics(topics)
    model.save(tmp_path / "m.topoi")
    monkeypatch.setenv("COLUMNS", "80")
    table = model.topic_effects("source")
    shown = run("effects", tmp_path / "m.topoi", "source").stdout
    assert all(f"{value:.4g}" in shown for value in table["estimate"])
    assert "24 documents" in shown


def test_groups_that_are_not_shown_are_counted(tmp_path):
    groups = {"city": [f"c{i % 9}" for i in range(24)]}
    corpus = Corpus(pets_and_money().counts, groups=groups)
    LDA(2, max_iter=5).fit(corpus).save(tmp_path / "m.topoi")
    shown = run("groups", tmp_path / "m.topoi", "city").stdout
    assert "6 of 9, all with -o FILE" in " ".join(shown.split())
    assert "in c0" in shown
