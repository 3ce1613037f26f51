"""Whatever people have: each kind of input is read, or refused with the cure."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import subprocess
import sys
import zipfile
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import topoi

TEXTS = ["cats chase dogs", "dogs and cats", "banks sold stocks", "stocks of banks"]
IDS = ["a", "b", "c", "d"]
ROWS = [{"id": i, "text": text} for i, text in zip(IDS, TEXTS, strict=True)]
CSV = "id,text\n" + "".join(f"{row['id']},{row['text']}\n" for row in ROWS)
LINES = "\n".join(TEXTS) + "\n"
ALL_WORDS = {"min_df": 1, "max_df": 1.0}
COUNTS = sparse.csr_array(np.array([[1, 2, 0], [2, 1, 0], [0, 1, 1], [0, 0, 3]], dtype=float))
WORDS = ["cats", "dogs", "banks"]


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def folder_of(folder, suffixes=("txt",)):
    for i, text in enumerate(TEXTS):
        suffix = suffixes[i % len(suffixes)]
        content = f"<p>{text}</p><script>no()</script>" if suffix == "html" else text
        put(folder / "texts" / ("pets" if i < 2 else "money") / f"{i}.{suffix}", content)
    return folder / "texts"


def zipped(folder):
    with zipfile.ZipFile(folder / "t.csv.zip", "w") as archive:
        archive.writestr("t.csv", CSV)
    return folder / "t.csv.zip"


def written(name):
    """Counts in a format of topoi, in a file of this name."""

    def make(folder):
        topoi.write(topoi.Corpus(COUNTS, WORDS), folder / name)
        return folder / name

    return make


def zstandard(folder):
    pyarrow = pytest.importorskip("pyarrow")
    with pyarrow.CompressedOutputStream(str(folder / "t.csv.zst"), "zstd") as file:
        file.write(CSV.encode())
    return folder / "t.csv.zst"


def parquet(folder):
    pytest.importorskip("pyarrow")
    pd.DataFrame(ROWS).to_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def several(folder):
    return [
        put(folder / "a.csv", CSV[: CSV.index("c,")]),
        put(folder / "b.csv", "id,text\n" + CSV[CSV.index("c,") :]),
    ]


def pattern(folder):
    several(folder)
    return str(folder / "*.csv")


def lda_c(folder):
    put(folder / "t.vocab", "\n".join(WORDS))
    return put(folder / "t.ldac", "2 0:1 1:2\n2 0:2 1:1\n2 1:1 2:1\n1 2:3\n")


def polars_frame(folder):
    return pytest.importorskip("polars").DataFrame(ROWS)


def anndata(folder):
    made = pytest.importorskip("anndata").AnnData(COUNTS)
    made.var_names, made.obs_names = WORDS, IDS
    return made


BY_TEXT = {"text": "text", **ALL_WORDS}
LABELED = {"labels": "folder", **ALL_WORDS}
READ = {
    ".csv": (lambda f: put(f / "t.csv", CSV), BY_TEXT),
    ".csv with ; and a byte order mark": (
        lambda f: put(f / "t.csv", "\ufeff" + CSV.replace(",", ";")),
        BY_TEXT,
    ),
    ".tsv": (lambda f: put(f / "t.tsv", CSV.replace(",", "\t")), BY_TEXT),
    ".jsonl": (lambda f: put(f / "t.jsonl", "\n".join(map(json.dumps, ROWS))), BY_TEXT),
    ".json": (lambda f: put(f / "t.json", json.dumps(ROWS)), BY_TEXT),
    ".json of texts": (lambda f: put(f / "t.json", json.dumps(TEXTS)), ALL_WORDS),
    ".parquet": (parquet, BY_TEXT),
    ".txt, a document a line": (lambda f: put(f / "t.txt", LINES), ALL_WORDS),
    "a folder of .txt": (folder_of, ALL_WORDS),
    "a folder of .txt, .md and .html": (lambda f: folder_of(f, ("txt", "md", "html")), ALL_WORDS),
    "subfolders as labels": (folder_of, LABELED),
    ".gz": (lambda f: put(f / "t.csv.gz", gzip.compress(CSV.encode())), BY_TEXT),
    ".bz2": (lambda f: put(f / "t.csv.bz2", bz2.compress(CSV.encode())), BY_TEXT),
    ".xz": (lambda f: put(f / "t.csv.xz", lzma.compress(CSV.encode())), BY_TEXT),
    ".zst": (zstandard, BY_TEXT),
    ".zip": (zipped, BY_TEXT),
    "several files": (several, BY_TEXT),
    "a pattern": (pattern, BY_TEXT),
    "another encoding": (
        lambda f: put(f / "t.csv", CSV.encode("utf-16")),
        {**BY_TEXT, "encoding": "utf-16"},
    ),
    "a list of texts": (lambda f: TEXTS, ALL_WORDS),
    "lists of tokens": (lambda f: [text.split() for text in TEXTS], {}),
    "a list of dictionaries": (lambda f: ROWS, BY_TEXT),
    "a pandas frame": (lambda f: pd.DataFrame(ROWS), BY_TEXT),
    "a pandas column": (lambda f: pd.Series(TEXTS), ALL_WORDS),
    "a polars frame": (polars_frame, BY_TEXT),
    "a dense matrix": (lambda f: COUNTS.toarray(), {"vocabulary": WORDS}),
    "a sparse matrix": (lambda f: COUNTS, {"vocabulary": WORDS}),
    "AnnData": (anndata, {}),
    ".npz": (written("t.npz"), {}),
    ".mtx": (written("t.mtx"), {}),
    "UCI": (written("docword.t.txt"), {}),
    "LDA-C": (lda_c, {}),
    "SVMlight": (written("t.svm"), {}),
    ".h5ad": (written("t.h5ad"), {}),
}
REPEATED = CSV.replace("b,", "a,")
MISSING = CSV.replace("b,", ",")
BY_ID = {"doc_names": "id", **BY_TEXT}
REFUSED = {
    ".pdf": (lambda f: put(f / "t.pdf", b"%PDF-1.7"), {}, "pdftotext"),
    ".docx": (lambda f: put(f / "t.docx", b"PK"), {}, "pandoc"),
    ".xlsx": (lambda f: put(f / "t.xlsx", b"PK"), {}, r"save the sheet as \.csv"),
    "an unknown suffix": (lambda f: put(f / "t.xyz", "x"), {}, "name the format with form="),
    "no such file": (lambda f: f / "no.csv", {}, "no.csv"),
    "a pattern without files": (lambda f: str(f / "*.csv"), {}, "check the pattern"),
    "bytes that are no text": (
        lambda f: put(f / "t.csv", b"id,text\na,\xff\xfe\x00"),
        BY_TEXT,
        "encoding",
    ),
    "an empty file": (lambda f: put(f / "t.csv", ""), {}, "give a file with documents"),
    "an empty folder": (lambda f: f, {}, "put each document into one"),
    "a folder of other files": (lambda f: put(f / "d" / "t.pdf", "x").parent, {}, r"without \.txt"),
    "one document": (lambda f: put(f / "t.txt", "one text\n"), {}, "give more, or cut"),
    "an unknown column": (
        lambda f: put(f / "t.csv", CSV),
        {"text": "abstract"},
        "its columns are id, text",
    ),
    "no column of text": (
        lambda f: put(f / "t.csv", "a,b\n1,2\n"),
        {},
        "name the one that holds the text",
    ),
    "a missing id": (lambda f: put(f / "t.csv", MISSING), BY_ID, "name is missing"),
    "a repeated id": (lambda f: put(f / "t.csv", REPEATED), BY_ID, "'a' is taken"),
    "a damaged .gz": (
        lambda f: put(f / "t.csv.gz", gzip.compress(CSV.encode())[:-9]),
        BY_TEXT,
        "t.csv.gz",
    ),
    "lines of JSON in .json": (
        lambda f: put(f / "t.json", '{"text": "x"}\n{"text": "y"}\n'),
        {},
        "form='jsonl'",
    ),
    "counts without their columns": (lambda f: COUNTS, {"text": "text"}, "which have no columns"),
    "only stop words": (lambda f: ["the and of", "the of"], {}, "try min_df 1"),
    "several files of counts": (
        lambda f: [written("a.npz")(f), written("b.npz")(f)],
        {},
        "give one file",
    ),
    "standard input without a format": (lambda f: "-", {}, "form='csv'"),
}


@pytest.mark.parametrize("kind", READ)
def test_it_is_read(kind, tmp_path):
    make, options = READ[kind]
    corpus = topoi.read(make(tmp_path), **options)
    assert corpus.n_docs == 4
    assert {"cats", "dogs", "banks"} <= set(map(str, corpus.vocabulary))
    if kind == "subfolders as labels":
        assert [list(labels) for labels in corpus.labels] == [["money"]] * 2 + [["pets"]] * 2


@pytest.mark.parametrize("kind", REFUSED)
def test_it_is_refused_with_the_cure(kind, tmp_path):
    make, options, cure = REFUSED[kind]
    with pytest.raises((ValueError, FileNotFoundError), match=cure):
        topoi.read(make(tmp_path), **options)


@pytest.mark.parametrize("content", [MISSING, REPEATED])
def test_a_document_without_an_id_of_its_own_may_be_left_out(content, tmp_path):
    with pytest.warns(UserWarning, match="1 of 4 documents are left out"):
        corpus = topoi.read(put(tmp_path / "t.csv", content), on_error="skip", **BY_ID)
    assert corpus.n_docs == 3


def test_other_files_of_a_folder_are_counted_and_named(tmp_path):
    folder = folder_of(tmp_path)
    put(folder / "scan.pdf", "x")
    with pytest.warns(UserWarning, match=r"1 files are not read \(1 \.pdf\)"):
        assert topoi.read(folder, **ALL_WORDS).n_docs == 4


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_standard_input_is_read(name, tmp_path):
    options = ["--format", "csv", "--text", "text", "--min-df", "1", "--max-df", "1.0", "--json"]
    command = [sys.executable, "-m", "topoi", "convert", name, str(tmp_path / "o.npz"), *options]
    done = subprocess.run(command, input=CSV.encode(), capture_output=True, check=True)
    assert json.load(BytesIO(done.stdout))["documents"] == 4
