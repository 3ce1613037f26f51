"""Every pile of documents that people have is read, or refused with the cure."""

from __future__ import annotations

import bz2
import io
import json
import lzma
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from support import MONEY, PETS, run

import topoi
from topoi import LDA

DOCS = [*PETS, *MONEY]
QUICK = {"min_df": 1, "max_df": 1.0}


def texts_of(source, **options):
    return sorted(topoi.read(source, keep_text=True, **{**QUICK, **options}).texts)


@pytest.fixture
def table(tmp_path):
    """A CSV file of all documents."""
    path = tmp_path / "docs.csv"
    path.write_text("id,text\n" + "".join(f"d{i},{text}\n" for i, text in enumerate(DOCS)))
    return path


def test_a_folder_of_mixed_files(tmp_path):
    for name, text in {
        "pets/a.txt": PETS[0],
        "pets/a.md": PETS[1],
        "money/b.html": f"<style>p {{}}</style><p>{MONEY[0]}</p><script>var x;</script>",
        "scan.pdf": "%PDF",
        "photo.jpg": "x",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.warns(UserWarning, match=r"2 files are not read \(1 \.jpg, 1 \.pdf\)"):
        corpus = topoi.read(tmp_path, labels="folder", keep_text=True, **QUICK)
    assert corpus.doc_names == ["money/b", "pets/a.md", "pets/a.txt"]
    assert corpus.labels.tolist() == [["money"], ["pets"], ["pets"]]
    assert corpus.texts[0] == MONEY[0]


def test_several_files_share_one_vocabulary(tmp_path):
    """A word that is rare in each file counts by its documents in all."""
    for i, text in enumerate(("cats sleep", "cats dream", "dogs bark", "dogs sleep")):
        (tmp_path / f"{i}.csv").write_text(f"id,text\nd{i},{text}\n")
    files = sorted(tmp_path.glob("*.csv"))
    for source in (files, str(tmp_path / "*.csv")):
        corpus = topoi.read(source, doc_names="id", min_df=2, max_df=1.0)
        assert corpus.vocabulary.tolist() == ["cats", "dogs", "sleep"]
        assert corpus.doc_names == ["d0", "d1", "d2", "d3"]


def test_several_texts_are_a_document_each(tmp_path):
    for i, text in enumerate(DOCS):
        (tmp_path / f"{i}.txt").write_text(f"{text}\nAnd another line.")
    assert topoi.read(str(tmp_path / "*.txt"), **QUICK).n_docs == len(DOCS)
    assert topoi.read(str(tmp_path / "*.txt"), form="lines", **QUICK).n_docs == 2 * len(DOCS)


@pytest.mark.parametrize("rows", [[{"text": text} for text in DOCS], DOCS])
def test_a_list_in_json(tmp_path, rows):
    path = tmp_path / "docs.json"
    path.write_text(json.dumps(rows))
    assert texts_of(path) == sorted(DOCS)


@pytest.mark.parametrize("content", ["{}", "[]", "[1", "[" * 100_000])
def test_other_json_is_refused(tmp_path, content):
    path = tmp_path / "docs.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"docs\.json.*(expected a list|not JSON|nested)"):
        topoi.read(path)


def packed(path: Path, content: bytes) -> None:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("docs.csv", content)
    elif path.suffix == ".zst":
        import pyarrow

        with pyarrow.CompressedOutputStream(str(path), "zstd") as file:
            file.write(content)
    else:
        path.write_bytes((bz2 if path.suffix == ".bz2" else lzma).compress(content))


@pytest.mark.parametrize("suffix", [".bz2", ".xz", ".zip", ".zst"])
def test_compressed_files(tmp_path, table, suffix):
    path = tmp_path / f"packed.csv{suffix}"
    packed(path, table.read_bytes())
    assert texts_of(path) == sorted(DOCS)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ValueError, match="damaged"):
        topoi.read(path)


def test_an_archive_of_several_files_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "two.csv.zip", "w") as archive:
        archive.writestr("a.csv", "text\nx\n")
        archive.writestr("b.csv", "text\ny\n")
    with pytest.raises(ValueError, match="2 files; unpack it"):
        topoi.read(tmp_path / "two.csv.zip")


def test_standard_input(table, monkeypatch):
    piped = io.TextIOWrapper(io.BytesIO(table.read_bytes()))
    monkeypatch.setattr(sys, "stdin", piped)
    assert texts_of("-", form="csv") == sorted(DOCS)
    with pytest.raises(ValueError, match="pass form="):
        topoi.read("-")


def test_lists_of_tokens_are_taken_as_they_are():
    corpus = topoi.read([["New York", "the", "the"], ["mayor"]])
    assert corpus.vocabulary.tolist() == ["New York", "mayor", "the"]
    assert corpus.counts.toarray().tolist() == [[1, 0, 2], [0, 1, 0]]
    with pytest.raises(ValueError, match="Document 1 is a str"):
        topoi.read([["a"], "b"])


def test_options_of_the_vectoriser_are_passed_on():
    corpus = topoi.read(["Red cat", "Red dog"], min_df=1, max_df=1.0, ngram_range=(2, 2))
    assert corpus.vocabulary.tolist() == ["red cat", "red dog"]
    with pytest.raises(TypeError, match="no parameter 'min_fd'"):
        topoi.read(DOCS, min_fd=2)
    with pytest.raises(ValueError, match="min_df given beside a vectorizer"):
        topoi.read(DOCS, min_df=2, vectorizer=topoi.make_vectorizer())
    with pytest.raises(ValueError, match="holds counts, so min_df"):
        topoi.read(np.eye(3), min_df=2)


def test_documents_at_fault_are_skipped_and_counted(tmp_path):
    path = tmp_path / "ids.csv"
    path.write_text("id,text\na,red cat\na,blue cat\n,green cat\nb,black cat\n")
    with pytest.raises(ValueError, match="'a' is taken"):
        topoi.read(path, doc_names="id", **QUICK)
    with pytest.warns(UserWarning, match="2 of 4 documents are left out.*'a' is taken"):
        corpus = topoi.read(path, doc_names="id", on_error="skip", keep_text=True, **QUICK)
    assert corpus.doc_names == ["a", "b"]
    assert corpus.texts == ["red cat", "black cat"]


def test_stop_words_of_languages():
    corpus = topoi.read(["der Hund und die Katze", "the cat"], stop_words="german,english", **QUICK)
    assert corpus.vocabulary.tolist() == ["cat", "hund", "katze"]
    with pytest.raises(ValueError, match="not a language that topoi has stop words for"):
        topoi.make_vectorizer(stop_words="klingon")


def test_models_take_texts_tokens_and_files(table):
    options = {"max_iter": 5, "random_state": 0}
    corpus = topoi.read(DOCS * 2)
    expected = LDA(2, **options).fit(corpus)
    model = LDA(2, **options).fit(DOCS * 2)
    np.testing.assert_array_equal(model.components_, expected.components_)
    np.testing.assert_array_equal(model.transform([PETS[0]]), expected.transform(corpus[0]))
    table.write_text("text\n" + "\n".join(DOCS * 2))
    np.testing.assert_array_equal(
        LDA(2, **options).fit(str(table)).components_, expected.components_
    )
    tokens = [text.split() for text in DOCS]
    assert LDA(2, **options).fit(tokens).transform([["cats"]]).shape == (1, 2)


def test_a_model_of_counts_reads_texts_by_its_words():
    corpus = topoi.read(DOCS, **QUICK)
    model = LDA(2, max_iter=5).fit(topoi.Corpus(corpus.counts, corpus.vocabulary))
    assert model.transform(DOCS).shape == (len(DOCS), 2)
    bare = LDA(2, max_iter=5).fit(corpus.counts)
    with pytest.raises(ValueError, match="fitted on counts without words"):
        bare.transform(DOCS)


def test_files_that_are_not_there_or_given_twice(tmp_path, table):
    with pytest.raises(FileNotFoundError, match="matches no file"):
        topoi.read(str(tmp_path / "*.jsonl"))
    with pytest.raises(ValueError, match="given twice"):
        topoi.read([table, table])
    topoi.write(topoi.read(table, doc_names="id", **QUICK), tmp_path / "counts.npz")
    with pytest.raises(ValueError, match="holds counts; several files must be texts"):
        topoi.read([table, tmp_path / "counts.npz"])


def test_the_command_reads_several_files(tmp_path, table):
    other = tmp_path / "more.csv"
    other.write_text("id,text\n" + "".join(f"e{i},{text}\n" for i, text in enumerate(DOCS)))
    out = tmp_path / "m.topoi"
    result = run(
        "fit",
        table,
        other,
        "--doc-names",
        "id",
        "--n-components",
        "2",
        "--max-iter",
        "5",
        "-o",
        out,
    )
    assert f"{2 * len(DOCS)} documents" in result.output
    assert topoi.load(out).doc_names_.tolist()[:1] == ["d0"]
