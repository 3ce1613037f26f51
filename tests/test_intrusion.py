"""Intrusion tasks: questions with one right answer, sheets for people, and their scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support import ask, run

from topoi import LDA, Corpus, datasets, evaluate


@pytest.fixture(scope="module")
def asked():
    """(model, corpus, tasks) of five topics in documents that mix them."""
    corpus, _ = datasets.make_lda(150, 80, 5, random_state=1)
    model = LDA(5, max_iter=40).fit(corpus)
    return model, corpus, evaluate.intrusion(model, corpus)


def test_a_word_intruder_is_a_top_word_of_another_topic_that_this_one_hardly_uses(asked):
    model, corpus, tasks = asked
    words, tops = list(corpus.words), model.top_words(5)
    questions = tasks.table[tasks.table["task"] == "word"]
    assert questions["about"].tolist() == [0, 1, 2, 3, 4]
    for _, row in questions.iterrows():
        intruder = row["choices"][row["intruder"] - 1]
        others = [word for word in row["choices"] if word != intruder]
        assert sorted(others) == sorted(tops[row["about"]])
        assert any(intruder in top for k, top in enumerate(tops) if k != row["about"])
        weights = model.topic_word_[row["about"]]
        assert weights[words.index(intruder)] <= np.median(weights)


def test_topics_that_share_their_common_words_are_asked_about_too():
    class Model:
        components_ = np.array([[9.0, 8, 7, 6, *[1] * 16], [6, 7, 9, 8, *[1] * 16]])
        topic_word_ = components_ / components_.sum(axis=1, keepdims=True)

        def transform(self, X):
            return np.full((X.n_docs, 2), 0.5)

    corpus = Corpus(np.random.default_rng(0).integers(0, 3, (30, 20)))
    table = evaluate.intrusion(Model(), corpus, n_words=2).table
    questions = table[table["task"] == "word"]
    intruders = [row["choices"][row["intruder"] - 1] for _, row in questions.iterrows()]
    assert intruders == [corpus.words[3], corpus.words[0]]  # the lowest: none is in the lower half


def test_a_topic_intruder_is_one_that_the_document_hardly_has(asked):
    model, corpus, tasks = asked
    shown = [" ".join(words) for words in model.top_words(5)]
    proportions = model.transform(corpus)
    questions = tasks.table[tasks.table["task"] == "topic"]
    assert len(questions) == 20
    assert questions["about"].is_unique
    for _, row in questions.iterrows():
        own = proportions[int(row["about"])]
        topics = [shown.index(choice) for choice in row["choices"]]
        intruder = topics[row["intruder"] - 1]
        others = [k for k in topics if k != intruder]
        assert own[intruder] < min(own[others])
        assert own[intruder] <= np.median(own)
        assert 1 <= len(others) <= 3


class Noise:
    """Topics and proportions that have nothing to do with the documents."""

    def __init__(self, corpus, n_topics=20):
        self.rng, self.vocabulary_ = np.random.default_rng(0), corpus.vocabulary
        self.components_ = self.rng.dirichlet(np.full(corpus.n_words, 0.1), n_topics)

    def transform(self, X):
        return self.rng.dirichlet(np.full(len(self.components_), 0.1), X.n_docs)


def test_the_automatic_score_tells_topics_from_noise(asked):
    _, corpus, tasks = asked
    noise = evaluate.intrusion(Noise(corpus), corpus, n_documents=100).scores
    scores = tasks.scores
    assert scores["questions"].to_dict() == {"word": 5, "topic": 20}
    assert scores["by_chance"]["word"] == pytest.approx(1 / 6)
    assert (scores["found"] > 0.7).all()
    assert (noise["found"] < noise["by_chance"] + 0.2).all()


def test_the_same_seed_asks_the_same(asked):
    model, corpus, tasks = asked
    pd.testing.assert_frame_equal(evaluate.intrusion(model, corpus).table, tasks.table)
    assert not evaluate.intrusion(model, corpus, random_state=1).table.equals(tasks.table)


def test_sheets_hold_no_answers_and_people_are_scored(asked, tmp_path):
    _, _, tasks = asked
    sheet, answers = tasks.write(tmp_path / "sheet.csv")
    assert [sheet.name, answers.name] == ["sheet.csv", "sheet.answers.csv"]
    shown = pd.read_csv(sheet, index_col="question")
    assert not {"intruder", "guess", "about"} & set(shown)
    assert shown["answer"].isna().all()
    key = pd.read_csv(answers, index_col="question")
    assert key["intruder"].tolist() == tasks.table["intruder"].tolist()
    filled = shown.assign(answer=key["intruder"])
    filled.to_csv(sheet)
    assert (tasks.score(sheet)["found"] == 1).all()
    assert (tasks.score(shown.assign(answer=key["choice"]))["found"] == 1).all()
    filled.loc[1, "answer"] = filled.loc[1, "answer"] % 6 + 1
    filled["answer"] = filled["answer"].where(filled.index <= 4)
    few = tasks.score(filled)
    assert few["questions"].to_dict() == {"word": 4}
    assert few["found"].to_dict() == {"word": 0.75}


def test_other_sheets_and_impossible_answers_are_refused(asked, tmp_path):
    model, corpus, tasks = asked
    other, _ = evaluate.intrusion(model, corpus, random_state=1).write(tmp_path / "o.csv")
    with pytest.raises(ValueError, match="does not ask these questions"):
        tasks.score(other)
    sheet, _ = tasks.write(tmp_path / "sheet.csv")
    for answer in ("7", "0", "1.5", "nonsense"):
        filled = pd.read_csv(sheet, index_col="question").assign(answer=answer)
        with pytest.raises(ValueError, match=f"An answer is '{answer}'"):
            tasks.score(filled)


def test_texts_are_shown_where_there_are_any(asked):
    model, corpus, tasks = asked
    topic = tasks.table[tasks.table["task"] == "topic"].iloc[0]
    assert set(topic["text"].split()) <= set(corpus.words)
    texts = [f"Text number {d}. " + "word " * 400 for d in range(corpus.n_docs)]
    told = Corpus(corpus.counts, corpus.vocabulary, texts=texts)
    text = evaluate.intrusion(model, told).table.iloc[-1]["text"]
    assert text.startswith("Text number ")
    assert text.endswith("word …")
    assert len(text) < 700


def test_one_topic_has_no_intruders(asked):
    _, corpus, _ = asked
    with pytest.raises(ValueError, match="at least two topics"):
        evaluate.intrusion(LDA(1, max_iter=2).fit(corpus), corpus)


def test_the_command(work, tmp_path):
    table = [work / "lda.topoi", work / "t.csv", "--text", "abstract", "--doc-names", "id"]
    answer = ask("intrusion", *table, "--documents", 4)
    assert [row["task"] for row in answer["scores"]] == ["word", "topic"]
    assert len(answer["questions"]) == 2 + 4
    out = tmp_path / "sheet.csv"
    result = run("intrusion", *table, "-o", out)
    assert "sheet.answers.csv" in result.stderr
    assert "by chance" in result.stdout
    assert "exists already" in run("intrusion", *table, "-o", out, code=2).stderr
    assert "end the name in .csv" in run("intrusion", *table, "-o", tmp_path / "x", code=2).stderr
    filled = pd.read_csv(out)
    right = pd.read_csv(tmp_path / "sheet.answers.csv")["intruder"]
    filled.assign(answer=right).to_csv(tmp_path / "filled.csv", index=False)
    found = ask("intrusion", *table, "--filled", tmp_path / "filled.csv")["scores"]
    assert [row["found"] for row in found] == [1, 1]
