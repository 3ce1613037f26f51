"""Texts in every form that people have them in give the same corpus; what is wrong is named by its
place.
"""

from __future__ import annotations

import csv
import gzip
import json
import unicodedata
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

import topoi
from topoi import LDA
from topoi.io import vectorize as text

TEXTS = [
    "The cats sat on mats.",
    "Dogs and cats don't sit; they are pets",
    "Stocks fell, stocks rose",
    "",
    "A market of stocks and pets",
]
ROWS = [
    {
        "doc": f"d{i}",
        "body": body,
        "who": who,
        "tags": tags,
        "cites": cites,
        "day": f"2020-01-0{i + 1}",
    }
    for i, (body, who, tags, cites) in enumerate(
        zip(
            TEXTS,
            ["Ann; Bob", "Bob", "", '["Cy", "Ann"]', "Dee"],
            ["pets"] * 2 + ["money"] * 3,
            ["d1;d4", "", "d4", "", "d9"],
            strict=True,
        )
    )
]
NAMES = {
    "text": "body",
    "doc_names": "doc",
    "authors": "who",
    "labels": "tags",
    "links": "cites",
    "dates": "day",
}
LOOSE = {"min_df": 1, "max_df": 1.0}


def loose(**settings):
    return topoi.make_vectorizer(**{**LOOSE, **settings})


def write_table(path, rows=ROWS, delimiter=","):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def tables(folder):
    """The same table in every form."""
    yield write_table(folder / "t.csv")
    yield write_table(
        folder / "semicolon.csv",
        [
            {**row, "who": row["who"].replace(";", "|"), "cites": row["cites"].replace(";", "|")}
            for row in ROWS
        ],
        ";",
    )
    yield write_table(folder / "t.tsv", delimiter="\t")
    yield write_table(folder / "t.csv.gz")
    path = folder / "t.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in ROWS) + "\n\n")
    yield path
    yield ROWS
    pandas = pytest.importorskip("pandas")
    yield pandas.DataFrame(ROWS)
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.Table.from_pylist(ROWS), folder / "t.parquet")
    yield folder / "t.parquet"


@pytest.mark.parametrize("number", range(8))
def test_tables_of_every_form_give_one_corpus(tmp_path, number):
    source = list(tables(tmp_path))[number]
    separator = "|" if "semicolon" in str(source) else ";"
    with pytest.warns(UserWarning, match="1 of 4 links.* name documents that are not here"):
        corpus = topoi.read(source, **NAMES, vectorizer=loose(), separator=separator)
    assert corpus.doc_names == ["d0", "d1", "d2", "d3", "d4"]
    assert corpus.authors.tolist() == [["Ann", "Bob"], ["Bob"], [], ["Ann", "Cy"], ["Dee"]]
    assert corpus.labels.tolist() == [["pets"], ["pets"], ["money"], ["money"], ["money"]]
    assert np.argwhere(corpus.links.toarray()).tolist() == [[0, 1], [0, 4], [2, 4]]
    assert corpus.dates[1] == "2020-01-02"
    counts = dict(zip(corpus.vocabulary.tolist(), corpus.counts.sum(axis=0).tolist(), strict=True))
    assert counts == {
        "cats": 2,
        "dogs": 1,
        "fell": 1,
        "market": 1,
        "mats": 1,
        "pets": 2,
        "rose": 1,
        "sat": 1,
        "sit": 1,
        "stocks": 3,
    }
    assert corpus.counts.sum(axis=1)[3] == 0


def test_polars_frames_and_columns():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(ROWS)
    assert topoi.read(frame, text="body", doc_names="doc", vectorizer=loose()).doc_names[4] == "d4"
    assert topoi.read(frame["body"], vectorizer=loose()).n_docs == 5


def test_lists_and_columns_with_what_belongs_to_them():
    pandas = pytest.importorskip("pandas")
    for source in (
        TEXTS,
        pandas.Series([*TEXTS[:3], None, TEXTS[4]]),
        np.array(TEXTS),
        (document for document in TEXTS),
    ):
        corpus = topoi.read(
            source,
            doc_names=list("abcde"),
            authors=[["Ann"], [], ["Bob"], [], ["Ann"]],
            labels=[1, 2, 1.0, None, 2],
            vectorizer=loose(),
        )
        assert corpus.n_tokens == 14
        assert corpus.authors[2] == ["Bob"]
        assert corpus.labels.tolist() == [["1"], ["2"], ["1"], [], ["2"]]
    with pytest.raises(ValueError, match="labels has 2 values for 5 documents"):
        topoi.read(TEXTS, labels=["a", "b"], vectorizer=loose())


def test_a_folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.txt").write_text("stocks fell\nstocks rose")
    (tmp_path / "sub" / "a.txt").write_text("cats and dogs")
    (tmp_path / "notes.md").write_text("not stocks")
    (tmp_path / ".git").mkdir()
    for name in ("._b.txt", ".b.txt", ".git/b.txt"):
        (tmp_path / name).write_bytes(b"hidden\0")
    calls = []
    corpus = topoi.read(
        tmp_path, vectorizer=loose(), progress=lambda done, total: calls.append((done, total))
    )
    assert corpus.doc_names == ["b", "notes", "sub/a"]
    assert corpus.n_tokens == 7
    assert calls[-1] == (3, 3)


def test_a_file_of_lines(tmp_path):
    (tmp_path / "lines.txt").write_text("cats dogs\nstocks market\n")
    assert topoi.read(tmp_path / "lines.txt", vectorizer=loose()).n_docs == 2


def test_links_in_a_file_of_pairs(tmp_path):
    table = write_table(tmp_path / "t.csv")
    (tmp_path / "links.csv").write_text("from,to\nd0,d1\nd2,d4\n")
    (tmp_path / "links.txt").write_text("d0 d1\nd2\td4\n")
    for name in ("links.csv", "links.txt"):
        corpus = topoi.read(
            table, text="body", doc_names="doc", links=tmp_path / name, vectorizer=loose()
        )
        assert np.argwhere(corpus.links.toarray()).tolist() == [[0, 1], [2, 4]]
    (tmp_path / "links.txt").write_text("0 1\n")
    corpus = topoi.read(table, text="body", links=str(tmp_path / "links.txt"), vectorizer=loose())
    assert np.argwhere(corpus.links.toarray()).tolist() == [[0, 1]], "numbers without ids"
    with pytest.raises(
        ValueError, match="None of the 1 links in .* joins two documents .* such as 'd0'"
    ):
        topoi.read(
            table, text="body", doc_names="doc", links=[["x"], [], [], [], []], vectorizer=loose()
        )
    (tmp_path / "links.txt").write_text("d0 d1\nd2\n")
    with pytest.raises(ValueError, match="line 2: expected two names"):
        topoi.read(
            table, text="body", doc_names="doc", links=tmp_path / "links.txt", vectorizer=loose()
        )


def test_what_belongs_to_counts_is_given_as_lists(tmp_path):
    topoi.write(topoi.read(TEXTS, vectorizer=loose()), tmp_path / "c.mtx")
    corpus = topoi.read(tmp_path / "c.mtx", authors=[["A"]] * 5, doc_names=list("abcde"))
    assert corpus.authors.tolist() == [["A"]] * 5
    with pytest.raises(ValueError, match="holds counts, which have no columns"):
        topoi.read(tmp_path / "c.mtx", text="body")


def test_long_cells_and_byte_order_marks(tmp_path):
    """CSV cells may be longer than the 128 KiB that Python's reader allows at first; Excel begins
    files with a mark.
    """
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbftext,n\n" + f'"{"word " * 50_000}",1\n"more words",2\n'.encode())
    corpus = topoi.read(path, vectorizer=loose())
    assert corpus.n_tokens == 50_001


def test_other_encodings(tmp_path):
    path = tmp_path / "t.csv"
    for encoding in ("latin-1", "utf-16"):
        path.write_bytes("text\ncafé crème\ncafé noir\n".encode(encoding))
        assert "café" in topoi.read(path, vectorizer=loose(), encoding=encoding).vocabulary


# ---------------------------------------------------------------------------------------- bad input

BAD = {
    "missing.csv": (None, "does not exist"),
    "binary.csv": (b"text\n\x00\x01\x02\n", "is a binary file"),
    "windows.csv": (
        "text\nplain\ncœur\n".encode("cp1252"),
        "windows.csv, line 3: not UTF-8 text; say .* for instance cp1252",
    ),
    "empty.csv": (b"", "is empty"),
    "columns.csv": (b"a,b\nx,y\n", "has columns a, b; name the one that holds the text"),
    "twice.csv": (
        b"text,text\nx,y\n",
        "has several columns called 'text'; give each a name of its own",
    ),
    "excel.csv": (
        b"sep=;\ntext;b\nx;y;z\n",
        "excel.csv, line 3: 3 cells where the header has 2 columns",
    ),
    "ragged.csv": (
        b"text,b\nx,y\nx,y,z\n",
        "ragged.csv, line 3: 3 cells where the header has 2 columns",
    ),
    "quotes.csv": (
        b'text\n"x\ny\n',
        "quotes.csv, line 3: unexpected end of data; check the quotes",
    ),
    "one.csv": (
        b"text\na whole document\n",
        "holds one document, and topics are learned from many",
    ),
    "none.csv": (b"text\n", "holds no documents"),
    "stop.csv": (b"text\nthe and of\nto be or not\n", "no words of its 2 documents"),
    "bad.jsonl": (b'{"text": "a"}\nnope\n', "bad.jsonl, line 2: no JSON"),
    "list.jsonl": (b'{"text": "a"}\n[1]\n', "list.jsonl, line 2: expected an object"),
    "gap.jsonl": (b'{"text": "a"}\n{"txt": "b"}\n', "gap.jsonl, line 2: there is no 'text'"),
    "number.jsonl": (b'{"text": "a"}\n{"text": 5}\n', "number.jsonl, line 2: 'text' holds a int"),
    "blank.jsonl": (b"\n\n", "holds only empty lines"),
    "bad.parquet": (b"PAR1 no", "is not a Parquet file"),
    "what.abc": (b"what", "the name does not say what it holds"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_say_what_is_wrong(tmp_path, name):
    content, error = BAD[name]
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises((ValueError, FileNotFoundError), match=error):
        topoi.read(tmp_path / name)


def test_other_bad_input(tmp_path):
    table = write_table(tmp_path / "t.csv")
    with pytest.raises(
        ValueError,
        match="has no column 'abstract' for text; its columns are doc, body, who, tags, cites, day",
    ):
        topoi.read(table, text="abstract")
    with pytest.raises(ValueError, match="line 3: the name 'pets' is taken by .*line 2"):
        topoi.read(table, text="body", doc_names="tags", vectorizer=loose())
    with pytest.raises(ValueError, match="line 4: its name is missing"):
        topoi.read(table, text="body", doc_names="who", vectorizer=loose())
    with pytest.raises(ValueError, match="There is no encoding 'klingon'"):
        topoi.read(table, text="body", encoding="klingon")
    (tmp_path / "none").mkdir()
    with pytest.raises(ValueError, match="folder without .txt, .md or .html files"):
        topoi.read(tmp_path / "none")
    with pytest.raises(ValueError, match="is empty"):
        topoi.read([])
    with pytest.raises(ValueError, match=r"Document 0: 'text' holds a dict, .*; expected text"):
        topoi.read([{"text": {}}])
    with pytest.raises(
        ValueError,
        match=r"Bags of words are read by topoi.io.formats.from_gensim\(bags, dictionary\)",
    ):
        topoi.read([[(0, 1)], [(1, 2)]])
    with pytest.raises(
        TypeError, match="A HashingVectorizer keeps no words.*; give a CountVectorizer"
    ):
        topoi.read(TEXTS, vectorizer=HashingVectorizer())
    with pytest.raises(ValueError, match="This is not AnnData, so it has no layer 'counts'"):
        topoi.read(TEXTS, layer="counts")
    (tmp_path / "none.csv").write_text("text\n")
    with pytest.raises(ValueError, match="holds no documents"):
        topoi.read(tmp_path / "none.csv", vectorizer=loose(vocabulary=["cats"]))


# -------------------------------------------------------------------------------------- vectorising


def test_defaults_suit_topics():
    """Lower case, no stop words, no numbers, nothing rare, nothing in more than half of the
    documents.
    """
    corpus = topoi.read(
        [
            "The Tree 42 rare1",
            "the tree common",
            "I don't common we've",
            "common stone",
            "stone 42 common",
        ]
    )
    assert corpus.vocabulary.tolist() == ["stone", "tree"]


def test_settings_are_adjustable(tmp_path):
    (tmp_path / "stop.txt").write_text("cats\ndon't\n")
    words = ["Red cats", "red Cats don't", "Red apples"]
    assert topoi.read(
        words, vectorizer=loose(stop_words=tmp_path / "stop.txt")
    ).vocabulary.tolist() == ["apples", "red"]
    assert topoi.read(
        words, vectorizer=loose(stop_words="none", lowercase=False)
    ).vocabulary.tolist() == [
        "Cats",
        "Red",
        "apples",
        "cats",
        "don",
        "red",
    ]
    assert "red cats" in topoi.read(words, vectorizer=loose(ngram_range=(1, 2))).vocabulary
    assert (
        topoi.read(words, vectorizer=topoi.make_vectorizer(vocabulary=["zoo", "red"]))
        .counts.toarray()
        .tolist()
        == [[0, 1]] * 3
    )
    assert topoi.read(words, vectorizer=loose(max_features=1)).vocabulary.tolist() == ["red"]


def test_a_model_reads_raw_text_again():
    corpus = topoi.read(TEXTS * 3, vectorizer=loose())
    model = LDA(2, max_iter=5).fit(corpus)
    again = topoi.read(TEXTS, vectorizer=model.vectorizer_)
    np.testing.assert_array_equal(again.counts.toarray(), corpus.counts.toarray()[:5])
    np.testing.assert_array_equal(model.transform(again), model.transform(corpus)[:5])
    assert topoi.read(["one new text about cats"], vectorizer=model.vectorizer_).n_docs == 1
    assert LDA(2, max_iter=2).fit(corpus.counts).vectorizer_ is None


def test_vectorisers_are_kept_as_plain_settings():
    fitted = loose(ngram_range=(1, 2), stop_words=["the"], token_pattern=r"\w+").fit(TEXTS)
    settings = json.loads(json.dumps(text.vectorizer_settings(fitted)))
    again = text.vectorizer_from(settings)
    np.testing.assert_array_equal(
        again.transform(TEXTS).toarray(), fitted.transform(TEXTS).toarray()
    )
    assert again.get_params()["ngram_range"] == (1, 2)
    others = {
        "one with a tokenizer of your own": CountVectorizer(
            tokenizer=str.split, token_pattern=None
        ),
        "a Tfidf": TfidfVectorizer(),
    }
    for reason, other in others.items():
        with pytest.raises(TypeError, match=f"plain CountVectorizer only, not {reason}"):
            text.vectorizer_settings(other.fit(TEXTS))


def test_counts_in_memory_are_counts():
    """Numbers in an array, a sparse matrix, or something that looks like AnnData."""
    counts = np.array([[1, 0, 2], [0, 3, 1]])
    words, cells = ["a", "b", "c"], ["x", "y"]
    cell_table = SimpleNamespace(X=counts, var_names=words, obs_names=cells)
    for source in (counts, sparse.csr_matrix(counts), cell_table):
        corpus = topoi.read(source, vocabulary=words, authors=[["Ann"], []])
        np.testing.assert_array_equal(corpus.counts.toarray(), counts)
        assert list(corpus.vocabulary) == words
        assert corpus.authors.tolist() == [["Ann"], []]
    assert list(topoi.read(cell_table).doc_names) == cells
    with pytest.raises(ValueError, match="holds counts, which have no columns"):
        topoi.read(counts, text="abstract")


def test_lists_of_stop_words_add_up(tmp_path):
    (tmp_path / "mine.txt").write_text("cats\n")
    vectorizer = topoi.make_vectorizer(stop_words=f"english,{tmp_path / 'mine.txt'}")
    assert {"the", "cats"} < set(vectorizer.stop_words)
    with pytest.raises(
        ValueError, match="swabian is not a file, and not a language that topoi has stop words for"
    ):
        topoi.make_vectorizer(stop_words="swabian")


def test_files_of_a_folder_may_end_in_capitals(tmp_path):
    for name in ("a.txt", "b.TXT"):
        (tmp_path / name).write_text("cats and dogs")
    assert topoi.read(tmp_path, vectorizer=topoi.make_vectorizer(min_df=1, max_df=1.0)).n_docs == 2


def test_decomposed_umlauts_and_soft_hyphens_tear_no_words(tmp_path):
    """macOS and many PDFs write ä as a and two dots; whoever counts, stops or chooses words means
    the same word.
    """
    words = ["Häuser", "Größe", "Gebäude"]
    lines = [unicodedata.normalize("NFD", " ".join(words)), "Häuser Grö\u00adße Ge\u00adbäude"]
    (tmp_path / "lines.txt").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "words.txt").write_text(unicodedata.normalize("NFD", "größe\n"), encoding="utf-8")
    for source in (lines, tmp_path / "lines.txt"):
        corpus = topoi.read(source, vectorizer=loose())
        assert corpus.vocabulary.tolist() == ["gebäude", "größe", "häuser"]
        assert (corpus.counts.toarray() == 1).all()
    for stop in (tmp_path / "words.txt", [unicodedata.normalize("NFD", "größe")]):
        assert topoi.read(lines, vectorizer=loose(stop_words=stop)).vocabulary.tolist() == [
            "gebäude",
            "häuser",
        ]
    for vocabulary in (tmp_path / "words.txt", [unicodedata.normalize("NFD", "größe")]):
        assert topoi.read(
            lines, vectorizer=loose(vocabulary=vocabulary)
        ).counts.toarray().tolist() == [[1], [1]]


def test_the_line_in_which_excel_names_its_separator(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'sep=;\r\ntext;b\r\n"red, blue, green";2\r\ngreen;3\r\n')
    assert topoi.read(tmp_path / "t.csv", vectorizer=loose()).vocabulary.tolist() == [
        "blue",
        "green",
        "red",
    ]


def test_columns_of_a_frame_that_stand_twice():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        [["red", 1, 2], ["blue", 3, 4], ["red", 5, 6]], columns=["text", "n", "n"]
    )
    assert topoi.read(frame, vectorizer=loose()).n_docs == 3
    with pytest.raises(ValueError, match="The frame has several columns called 'n'"):
        topoi.read(frame, text="text", doc_names="n")


def test_dates_of_a_frame_are_plain():
    pandas = pytest.importorskip("pandas")
    days = pandas.to_datetime(["2020-01-01 00:00", None, "2020-01-03 10:00"])
    frame = pandas.DataFrame(
        {
            "text": ["red", "blue", "red"],
            "day": days,
            "year": [1848, None, 1850],
            "said": ["1848/3", "1848.0", None],
        }
    )
    expected = {
        "day": ["2020-01-01", "", "2020-01-03"],
        "year": ["1848", "", "1850"],
        "said": ["1848-03", "1848", ""],
    }
    for column, dates in expected.items():
        assert topoi.read(frame, text="text", dates=column, vectorizer=loose()).dates == dates
    assert (
        topoi.read(frame["text"], dates=days.to_numpy(), vectorizer=loose()).dates[0]
        == "2020-01-01"
    )
    with pytest.raises(ValueError, match="Document 1: 'May' is not a date; expected 2020-03-05"):
        topoi.read(frame, text="text", dates=["2020", "May", None], vectorizer=loose())
