"""Phrases that count as words, long texts in parts, scripts without spaces."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from support import run

import topoi
from topoi.io.phrases import Phrases, PhraseVectorizer, learned_phrases
from topoi.io.scripts import ScriptWatch

CITY = ["The mayor of New York spoke.", "New York Times: trade grows.", "York sees new trade."]
TEXTS = [*CITY, "New York Times readers elect a mayor.", "A new rule: banks trade stocks."] * 4


def test_words_that_belong_together_are_phrases_and_others_are_not():
    random = np.random.default_rng(0)
    words = [f"w{i}" for i in range(50)]

    def document():
        tokens = list(random.choice(words, 40))
        tokens[7:9] = ["hong", "kong"]
        return tokens

    documents = [document() for _ in range(100)]
    assert learned_phrases(lambda: documents, (), Phrases()) == [("hong", "kong")]
    assert learned_phrases(lambda: documents, ["kong"], Phrases()) == []
    assert learned_phrases(lambda: documents, (), Phrases(min_documents=101)) == []
    everything = learned_phrases(lambda: documents, (), Phrases(min_score=-1, longest=2))
    assert len(everything) > 40


def test_a_phrase_counts_instead_of_its_words():
    corpus = topoi.read(TEXTS, phrases=Phrases(min_score=0.4))
    counts = dict(zip(corpus.vocabulary, np.asarray(corpus.counts.sum(axis=0)), strict=True))
    assert corpus.vectorizer.phrases_ == [
        ("new", "york"),
        ("new", "york", "times"),
        ("york", "times"),
    ]
    assert counts["new_york_times"] == 8
    assert counts["new_york"] == 4
    assert counts["york"] == 4  # where it stands alone
    assert counts["new"] == 8


def test_words_beside_a_stop_word_are_no_phrase():
    texts = ["bank of america", "bank of america and others"] * 5
    given = topoi.read(texts, phrases=Phrases(min_score=-1), max_df=1.0)
    assert not any("_" in word for word in given.vocabulary)


@pytest.mark.parametrize("phrases", [True, ["new york", "new york times"]])
def test_new_texts_and_model_files_have_the_same_phrases(phrases, tmp_path):
    corpus = topoi.read(TEXTS, phrases=phrases, max_df=1.0)
    model = topoi.LDA(2, max_iter=5).fit(corpus)
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    new = ["A mayor in NEW YORK", "the New-York Times and york"]
    expected = corpus.vectorizer.transform(new).toarray()
    assert_array_equal(again.vectorizer_.transform(new).toarray(), expected)
    assert expected[0, list(corpus.vocabulary).index("new_york")] == 1
    assert_array_equal(again.transform(new), model.transform(new))
    spans = model.show(new[0]).labeled.spans
    assert ("NEW YORK", "new_york") in [(new[0][s.start : s.end], s.word) for s in spans]
    copied = clone(corpus.vectorizer).fit(TEXTS)
    assert copied.phrases_ == corpus.vectorizer.phrases_


def test_a_model_file_with_phrases_of_endless_length_is_refused(tmp_path):
    model = topoi.LDA(2, max_iter=5).fit(topoi.read(TEXTS, phrases=["new york"], max_df=1.0))
    model.vectorizer_.phrases_ = [("a",) * 21]
    with pytest.raises(ValueError, match="a phrase of 21 words"):
        model.save(tmp_path / "m.topoi")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"min_documents": 0}, "min_documents is 0"),
        ({"longest": 1.5}, "longest is 1.5"),
        ({"min_score": 2}, "min_score is 2"),
    ],
)
def test_settings_of_phrases_are_checked(settings, said):
    with pytest.raises(ValueError, match=said):
        Phrases(**settings)
    with pytest.raises(TypeError, match="expected True, a list of phrases"):
        topoi.make_vectorizer(phrases="new york")


def test_the_vectoriser_is_one_of_scikit_learn():
    vectorizer = PhraseVectorizer(phrases=Phrases(min_documents=2), min_df=2)
    assert vectorizer.get_params()["min_df"] == 2
    counts = vectorizer.fit_transform(TEXTS)
    assert_array_equal(vectorizer.transform(TEXTS).toarray(), counts.toarray())


def test_the_command_finds_phrases(tmp_path):
    (tmp_path / "t.txt").write_text("\n".join(TEXTS))
    run("fit", tmp_path / "t.txt", "--phrases", "--n-components", 2, "-o", tmp_path / "m.topoi")
    assert "new_york" in topoi.load(tmp_path / "m.topoi").vocabulary_
    both = run("fit", tmp_path / "t.txt", "--phrases", "--ngrams", "1-2", code=2)
    assert "give one of the two" in both.output


def numbered(n):
    return " ".join(f"word{i % 7}" for i in range(n))


def test_long_texts_are_cut_into_equal_parts_that_keep_what_is_known():
    texts, labels = [numbered(n) for n in (3, 700, 900, 1300)], ["a", "b", "c", "d"]
    given = {"min_df": 1, "max_df": 1.0, "labels": labels, "keep_text": True}
    corpus = topoi.read(texts, split_long=500, doc_names=["p", "q", "r", "s"], **given)
    names = ["p", "q", "r [1]", "r [2]", "s [1]", "s [2]", "s [3]"]
    assert list(corpus.doc_names) == names
    assert [len(text.split()) for text in corpus.texts] == [3, 700, 450, 450, 433, 433, 434]
    assert [list(found) for found in corpus.labels] == [[x] for x in "abccddd"]
    assert "".join(corpus.texts[2:4]) == texts[2]
    assert list(topoi.read(texts, split_long=500, **given).doc_names)[:3] == ["0", "1", "2 [1]"]


def test_lists_of_tokens_are_cut_too():
    corpus = topoi.read([["new york", "mayor"] * 30, ["mayor"]], split_long=20)
    assert list(corpus.doc_names) == ["0 [1]", "0 [2]", "0 [3]", "1"]
    assert corpus.counts.sum(axis=1).tolist() == [20, 20, 20, 1]


def test_what_cannot_be_cut_is_refused():
    texts = [numbered(20)] * 2
    cases = {
        "the name 'x \\[1\\]' is taken": {
            "source": texts,
            "split_long": 10,
            "doc_names": ["x [1]", "x"],
        },
        "Links join whole documents": {"source": texts, "split_long": 10, "links": [[], []]},
        "split_long is 0": {"source": texts, "split_long": 0},
        "holds counts, which have no text; leave split_long out": {
            "source": np.eye(3),
            "split_long": 10,
        },
    }
    for said, given in cases.items():
        with pytest.raises(ValueError, match=said):
            topoi.read(**given)


def test_the_command_cuts_long_texts(tmp_path):
    (tmp_path / "t.csv").write_text(f"id,text\na,{numbered(40)}\nb,{numbered(5)}\n")
    model, table = tmp_path / "m.topoi", tmp_path / "t.tsv"
    options = ["--doc-names", "id", "--split-long", 10, "--max-df", "1.0", "--min-df", 1]
    assert run("fit", tmp_path / "t.csv", "--n-components", 2, "-o", model, *options).exit_code == 0
    done = run("transform", model, tmp_path / "t.csv", *options[:4], "-o", table)
    assert done.exit_code == 0, done.output
    ids = [line.split("\t")[0] for line in table.read_text().splitlines()]
    assert ids == ["document", "a [1]", "a [2]", "a [3]", "a [4]", "b"]


SCRIPTS = {
    "Japanese": ["私は猫が好きです", "東京の天気は晴れです"],
    "Chinese": ["我喜欢猫", "今天天气很好"],
    "Thai": ["ฉันชอบแมว", "วันนี้อากาศดี"],
}


@pytest.mark.parametrize("language", SCRIPTS)
def test_scripts_without_spaces_bring_a_hint(language):
    texts = SCRIPTS[language] * 3
    with pytest.warns(UserWarning, match=f"seem to be {language}.*lists of tokens"):
        topoi.read(texts, min_df=1, max_df=1.0)
    topoi.read([list(text) for text in texts])  # cut into tokens: no warning
    topoi.read([f"A text about {texts[0]} and much else in English"] * 4, max_df=1.0)


def test_the_watch_stops_looking():
    watch = ScriptWatch()
    for _ in range(300):
        watch.look("plain")
    assert watch.seen == 200
    assert watch.found() is None


def test_a_source_of_blocks_learns_no_phrases():
    with pytest.raises(TypeError, match="Leave phrases out, or use topoi.read"):
        topoi.Source(TEXTS).count(phrases=True)
