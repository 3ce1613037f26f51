"""Texts with the topics of their words: where words stand, and how they are shown."""

from __future__ import annotations

import itertools
import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from support import ask, run

import topoi
from topoi.explore.labelling import LabeledText, Span
from topoi.explore.locating import locate
from topoi.io.lines import composed
from topoi.report.coloured import OTHER, PALETTE, TEXT_COLOUR, ColouredText, slots


class Everything:
    """Contains every word."""

    def __contains__(self, word):
        return True


# Letters of several scripts, with accents before and behind them, ligatures, capitals that get
# longer in lower case or depend on what follows, soft hyphens, separators.
LETTERS = "aBcéÉe\u0301Äß\u017fﬁΣάİ日\u1112\u1161\u11ab\u00ad-.,'_7 \n\t"
VECTORIZERS = {
    "words": CountVectorizer(),
    "case": CountVectorizer(lowercase=False),
    "accents": CountVectorizer(strip_accents="unicode"),
    "ascii": CountVectorizer(strip_accents="ascii"),
    "usual": topoi.make_vectorizer(),
    "group": CountVectorizer(token_pattern=r"(\w)\w+"),
    "tokenizer": CountVectorizer(tokenizer=str.split, token_pattern=None),
    "analyzer": CountVectorizer(analyzer=str.split),
}


@pytest.mark.parametrize("name", VECTORIZERS)
@given(text=st.text(alphabet=LETTERS, max_size=40))
def test_words_are_found_where_the_vectoriser_finds_them(name, text):
    vectorizer = VECTORIZERS[name]
    counted = vectorizer.build_analyzer()(composed(text))
    places = locate(text, vectorizer, Everything())
    rest = iter(counted)
    assert all(place.word in rest for place in places), "in the same order"
    assert all(a.end <= b.start for a, b in itertools.pairwise(places))
    if name not in ("tokenizer", "analyzer"):
        prepare = vectorizer.build_preprocessor()
        for place in places:
            written = prepare(composed(text[place.start : place.end]))
            assert place.word.upper() in written.upper(), "sigma is another one at the end"
    if name in ("words", "case", "accents", "ascii"):
        assert len(places) == len(counted), "and none is left out"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_and_case_do_not_hide_words(form):
    text = unicodedata.normalize(form, "Das CAFÉ in der Straße, 한국어!")
    found = locate(text, CountVectorizer(strip_accents="unicode"), {"cafe", "straße", "strasse"})
    assert text[found[0].start : found[0].end] == unicodedata.normalize(form, "CAFÉ")
    whole = locate(text, CountVectorizer(), {"café", "한국어"})
    assert [unicodedata.normalize("NFC", text[p.start : p.end]) for p in whole] == [
        "CAFÉ",
        "한국어",
    ]


def test_the_longest_phrase_is_taken_over_stop_words():
    vectorizer = CountVectorizer(ngram_range=(1, 3), stop_words=["of"])
    text = "The House of Lords sat. House prices"
    words = {"house", "house lords", "prices"}
    found = [text[p.start : p.end] for p in locate(text, vectorizer, words)]
    assert found == ["House of Lords", "House", "prices"]


def test_runs_of_characters_are_found():
    characters = CountVectorizer(analyzer="char", ngram_range=(2, 3))
    assert [p[:2] for p in locate("ab  cd", characters, {"b c", "cd"})] == [(1, 5)]
    inside = CountVectorizer(analyzer="char_wb", ngram_range=(2, 3))
    assert [p[:2] for p in locate("ab cd", inside, {" a", "b ", "cd "})] == [(0, 1), (1, 2), (3, 5)]


def test_words_are_found_behind_functions_of_the_users_own():
    text = "Cats are <b class='x'>Running</b>, cats ran. Dogs é."
    plain = CountVectorizer(preprocessor=lambda text: re.sub("<.*?>", "", text).lower())
    found = [
        text[p.start : p.end] for p in locate(text, plain, {"running", "ran", "dogs", "class"})
    ]
    assert found == ["Running", "ran", "Dogs"]
    stems = CountVectorizer(
        tokenizer=lambda text: [w[:3] for w in text.split()], token_pattern=None
    )
    assert [p[:2] for p in locate("Some runners ran", stems, {"run", "ran"})] == [(5, 8), (13, 16)]


# ------------------------------------------------------------------------------------ colours


def luminance(colour):
    part = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    part = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return part @ [0.2126, 0.7152, 0.0722]


def oklab(colour):
    part = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    part = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    cones = np.cbrt(
        [
            part @ [0.4122214708, 0.5363325363, 0.0514459929],
            part @ [0.2119034982, 0.6806995451, 0.1073969566],
            part @ [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    return np.array(
        [
            cones @ [0.2104542553, 0.7936177850, -0.0040720468],
            cones @ [1.9779984951, -2.4285922050, 0.4505937099],
            cones @ [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )


def test_words_are_readable_on_every_colour():
    """WCAG asks for a contrast of 4.5 (AA); words and colours go together on any page."""
    for colour in (*PALETTE, OTHER):
        assert (luminance(colour) + 0.05) / (luminance(TEXT_COLOUR) + 0.05) >= 4.5


def test_colours_can_be_told_apart():
    for one, other in itertools.combinations((*PALETTE, OTHER), 2):
        assert np.linalg.norm(oklab(one) - oklab(other)) > 0.05


def test_a_topic_keeps_its_colour_as_far_as_it_can():
    assert slots([5]) == {5: 5}
    many = slots(list(range(100, 130)))
    assert sorted(many.values()) == list(range(len(PALETTE)))
    assert list(many) == list(range(100, 100 + len(PALETTE)))
    assert len(set(slots([0, len(PALETTE), 1]).values())) == 3


# ------------------------------------------------------------------------------- texts shown


@pytest.fixture(scope="module")
def model():
    texts = ["Cats and dogs, fur", "Dogs, cats!", "stocks, bonds, banks", "bonds of banks"] * 10
    corpus = topoi.read(texts, vectorizer=topoi.make_vectorizer(min_df=1, max_df=1.0))
    return topoi.LDA(2, doc_topic_prior=0.5, topic_word_prior=0.01).fit(corpus)


def test_a_text_is_shown_as_it_was_written(model):
    text = "My DOGS\n\tlike stocks & <i>bonds</i>, or not."
    shown = model.show(text)
    assert "".join(piece for piece, _ in shown.labeled.pieces()) == text
    spans = shown.labeled.spans
    assert [text[s.start : s.end] for s in spans] == ["DOGS", "stocks", "bonds"]
    pets, money = spans[0].topic, spans[1].topic
    assert pets != money == spans[2].topic
    assert f"My DOGS[{pets}]\n\tlike stocks[{money}] & <i>bonds[{money}]</i>, or not." in repr(
        shown
    )
    assert list(shown.labeled.proportions()) == [money, pets]


def test_labels_of_a_text_are_those_of_its_counts(model):
    text = "cats dogs banks"
    labels = model.label(topoi.read([text], vectorizer=model.vectorizer_))
    found = [(s.word, s.topic, s.probability) for s in model.show(text).labeled.spans]
    rows = labels[["word", "topic", "probability"]].itertuples(index=False, name=None)
    assert sorted(found) == sorted(rows)


def test_markup_in_texts_and_names_is_shown_and_not_obeyed():
    hostile = "</style><script>alert(1)</script>\x1b[31m"
    labeled = LabeledText(f"cats {hostile}", (Span(0, 4, "cats", 0, 0.5),), {0: hostile})
    shown = ColouredText(labeled, {0: [hostile]})
    html = shown._repr_html_()
    assert "<script" not in html
    assert html.count("</style>") == 1
    assert "\x1b" not in html + repr(shown)
    assert "&lt;script&gt;" in html


def test_a_text_without_known_words_says_so(model):
    shown = model.show("nothing of this")
    assert shown.labeled.spans == ()
    assert "None of the words" in repr(shown)
    assert "None of the words" in shown._repr_html_()


def test_models_of_counts_show_texts_too():
    corpus = topoi.Corpus([[3, 1, 0], [0, 2, 4]], ["cat", "dog", "bond"])
    model = topoi.LDA(2, max_iter=3).fit(corpus)
    assert [span.word for span in model.show("A Dog, a bond.").labeled.spans] == ["dog", "bond"]
    with pytest.raises(ValueError, match="counts without words"):
        topoi.LDA(2, max_iter=3).fit(corpus.counts).show("A dog")
    with pytest.raises(ValueError, match="expected one text"):
        model.show(["A dog"])


# ----------------------------------------------------------------------------------- command


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("Cats, DOGS\nand the market.\n", encoding="utf8")
    return path


def test_the_command_marks_words_by_numbers_where_there_are_no_colours(work, text):
    out = run("label", work / "lda.topoi", text).stdout
    assert re.search(r"Cats\[\d\], DOGS\[\d\]\nand the market\[\d\]\.", out)
    assert "\x1b" not in out


def test_the_command_colours_words_on_a_terminal(work, text, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")
    out = run("label", work / "lda.topoi", text).stdout
    assert re.search(r"\x1b\[38;2;17;17;17;48;2;[\d;]+mCats\x1b\[0m, ", out)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "48;2" not in run("label", work / "lda.topoi", text).stdout


def test_the_command_prints_tables(work, text):
    rows = run("label", work / "lda.topoi", text, "--csv").stdout.splitlines()
    assert rows[0] == "document,word,count,topic,name,probability"
    assert [row.split(",")[:2] for row in rows[1:]] == [
        ["a.txt", "cats"],
        ["a.txt", "dogs"],
        ["a.txt", "market"],
    ]
    answer = ask("label", work / "lda.topoi", text)
    assert [row["word"] for row in answer["labels"]] == ["cats", "dogs", "market"]
    (found,) = answer["texts"]
    assert [found["text"][s["start"] : s["end"]] for s in found["spans"]] == [
        "Cats",
        "DOGS",
        "market",
    ]


def test_the_command_writes_a_page(work, text, tmp_path):
    page = tmp_path / "page.html"
    run("label", work / "lda.topoi", text, "--html", page)
    html = page.read_text(encoding="utf8")
    assert "Content-Security-Policy" in html
    assert ">Cats</span>" in html
    run("label", work / "lda.topoi", text, "--html", page, code=2)  # it exists
    run("label", work / "lda.topoi", text, "--html", text, "--force", code=2)  # it is read


def test_the_command_takes_tables_folders_and_labels(work):
    columns = ["--text", "abstract", "--doc-names", "id"]
    out = run(
        "label", work / "labels.topoi", work / "t.csv", *columns, "--labels", "topic", "-n", 2
    )
    first, second = ask(
        "label", work / "labels.topoi", work / "t.csv", *columns, "--labels", "topic", "-n", 2
    )["texts"]
    assert {s["topic"] for s in first["spans"]} != {s["topic"] for s in second["spans"]}
    assert out.stdout.startswith("d0\n")
    assert len(ask("label", work / "lda.topoi", work / "texts")["texts"]) == 40
    lines = ask("label", work / "lda.topoi", work / "texts" / "00.txt", "--format", "lines")
    assert len(lines["texts"]) == 1


def test_counts_have_no_text_to_colour(work, tmp_path):
    counts = tmp_path / "c.npz"
    run("convert", work / "t.csv", counts, "--text", "abstract")
    error = run("label", work / "lda.topoi", counts, code=2).stderr
    assert "holds counts, and only texts can be coloured" in error
    assert "texts" not in ask("label", work / "lda.topoi", counts)
