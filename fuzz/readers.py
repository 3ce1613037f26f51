"""Damaged files of every format that topoi reads, n cases for each reader.

Text carries no digest, so a changed count is another corpus. What is accepted must be sound, and
counts must be those that a plain reader with numbers of any size finds (twins.py).
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.io
from scipy import sparse

import topoi
from fuzz import tables, text_damage
from fuzz.archives import Contents, packed
from fuzz.damage import ARRAY_KINDS, damaged
from fuzz.harness import Case, outcome_of, scratch_folder
from fuzz.twins import TWINS
from topoi import Corpus

COUNTS = np.array([[2, 1, 0, 0], [0, 0, 0, 0], [0, 3, 1, 5], [1, 0, 2, 0]])
WORDS = ["tree", "café", "new york", "zebra"]
ROWS = [
    {
        "text": "cats and dogs",
        "id": "a",
        "authors": "Ann;Bob",
        "labels": "pets",
        "links": "b",
        "date": "2020-01-01",
    },
    {
        "text": "dogs, cats; café",
        "id": "b",
        "authors": "Bob",
        "labels": "pets;food",
        "links": "a;c",
        "date": "2021",
    },
    {
        "text": "stocks and bonds\nfell",
        "id": "c",
        "authors": "",
        "labels": "",
        "links": "",
        "date": "",
    },
    {
        "text": 'the "dogs" rose',
        "id": "d",
        "authors": "Zoë",
        "labels": "news",
        "links": "a",
        "date": "2022-05",
    },
]
PATTERN = b"%%MatrixMarket matrix coordinate pattern general\n% caf\xe9\n4 4 3\n1 2\n3 4\n4 1\n"
COLUMNS = {
    "text": "text",
    "doc_names": "id",
    "authors": "authors",
    "labels": "labels",
    "links": "links",
    "dates": "date",
}


@dataclass(frozen=True)
class Reader:
    """How a file is written, damaged and read. `named` must be in every refusal."""

    path: str
    wholes: list[Any]
    damage: Callable[[Any, np.random.Generator], tuple[str, bytes]]
    options: dict[str, Any] = field(default_factory=dict)
    beside: dict[str, bytes] = field(default_factory=dict)  # files that are whole
    source: str = ""  # what is read, if it is not the damaged file
    named: str = ""
    packs: bool = False  # may be compressed (.gz)


def readers() -> dict[str, Reader]:
    """All readers, with small files that are whole."""
    corpus = Corpus(COUNTS, WORDS)
    vocabulary = "".join(f"{word}\n" for word in WORDS).encode()
    lines = b"cats and dogs\ndogs, cats\ncaf\xc3\xa9 and bonds\n\n"
    links = [b"a b\nb c\nd a\n", b"source target\na b\nd c\n"]
    csv_file, jsonl = (
        _csv(","),
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS).encode(),
    )
    counts = [_written(corpus, name) for name in ("docword.c.txt", "c.ldac", "c.svm")]
    labeled = _written(Corpus(COUNTS, WORDS, labels=[["3"], ["3", "7"], [], ["7"]]), "l.svm")
    text = partial(Reader, damage=text_damage.damaged, packs=True)
    return {
        "csv": text("t.csv", [csv_file, _csv(";"), b"sep=;\n" + _csv(";")], options=COLUMNS),
        "tsv": text("t.tsv", [_csv("\t")], options=COLUMNS),
        "jsonl": text("t.jsonl", [jsonl], options=COLUMNS),
        "lines": text("t.txt", [lines]),
        "folder": Reader(
            "f/b.txt",
            [lines],
            text_damage.damaged,
            source="f",
            named="f",
            beside={"f/a.txt": b"dogs", "f/c/d.txt": b"cats"},
        ),
        "parquet": Reader(
            "t.parquet",
            [tables.parquet_bytes(pa.Table.from_pylist(ROWS))],
            tables.damage_parquet,
            COLUMNS,
        ),
        "npz": Reader(
            "c.npz", [_npz(), *map(_scipy_npz, ("csr", "csc", "coo", "bsr", "dia"))], _damaged_npz
        ),
        "uci": text("docword.c.txt", [counts[0]], beside={"vocab.c.txt": vocabulary}),
        "ldac": text("c.ldac", [counts[1]]),
        "mtx": text(
            "c.mtx",
            [_mtx(corpus.counts), _mtx(COUNTS), _mtx(COUNTS / 3), _mtx(COUNTS + COUNTS.T), PATTERN],
        ),
        "svmlight": text("c.svm", [counts[2], labeled]),
        "h5ad": Reader(
            "c.h5ad",
            [_written(Corpus(COUNTS, WORDS, doc_names=list("abcd")), "c.h5ad")],
            tables.damage_h5ad,
        ),
        "vocabulary": text(
            "c.vocab",
            [vocabulary],
            beside={"c.mtx": _mtx(corpus.counts)},
            source="c.mtx",
            named="c",
        ),
        "links": text(
            "l.txt",
            links,
            options={**COLUMNS, "links": "l.txt"},
            beside={"t.csv": csv_file},
            source="t.csv",
        ),
    }


def _csv(delimiter: str) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(ROWS[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(ROWS)
    return out.getvalue().encode()


def _mtx(matrix: Any) -> bytes:
    out = io.BytesIO()
    scipy.io.mmwrite(out, matrix)
    return out.getvalue()


def _written(corpus: Corpus, name: str) -> bytes:
    """The bytes of a corpus as topoi writes it."""
    with tempfile.TemporaryDirectory() as folder:
        return topoi.write(corpus, Path(folder) / name)[0].read_bytes()


def _npz() -> Contents:
    corpus = Corpus(
        COUNTS, WORDS, authors=[["Ann", "Bob"], [], ["Bob"], ["Cid"]],
        labels=[["x"], ["x", "y"], [], ["y"]], links=np.array([[0, 2], [2, 1]]),
        doc_names=list("abcd"), dates=["2020", "2021-05", "", "x"], texts=["a", "", "ü", "bc"],
        groups={"source": ["web", None, "press", "web"], "kind": [["p", "q"], "q", "p", None]},
    )  # fmt: skip
    with np.load(io.BytesIO(_written(corpus, "c.npz"))) as data:
        return Contents({}, dict(data))


def _scipy_npz(form: str) -> Contents:
    out = io.BytesIO()
    sparse.save_npz(out, sparse.csr_matrix(COUNTS).asformat(form))
    out.seek(0)
    with np.load(out) as data:
        return Contents({}, dict(data))


def _damaged_npz(whole: Contents, rng: np.random.Generator) -> tuple[str, bytes]:
    damage, contents = damaged(whole, rng, ARRAY_KINDS)
    data = packed(contents)
    if rng.random() < 0.1:
        kind = text_damage.one(
            [text_damage.flip_bytes, text_damage.cut, text_damage.replace_all], rng
        )
        damage, data = f"{damage} {kind.__name__}", kind(data, rng)
    return damage, data


def cases(n: int, seed: int, reader: str | None = None) -> Iterator[Case]:
    """n damaged files for each reader, or for one of them."""
    folder = scratch_folder()
    made = readers()
    for number, (name, known) in enumerate(made.items()):
        if reader not in (None, name):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = [
                said(_read(folder / name, known, known.path, _undamaged(whole)))
                for whole in known.wholes
            ]
        for i in range(n):
            rng = np.random.default_rng([seed, number, i])
            which = int(rng.integers(len(known.wholes)))
            yield _case(f"{name}-{i}", folder / name, name, known, which, expected[which], rng)


def _case(
    label: str,
    folder: Path,
    name: str,
    known: Reader,
    which: int,
    expected: list[Any],
    rng: np.random.Generator,
) -> Case:
    damage, data = known.damage(known.wholes[which], rng)
    path = known.path
    if known.packs and rng.random() < 0.3:
        packing, data = text_damage.compressed(data, rng)
        path, damage = f"{path}.gz", f"{damage} gz {packing}"
    return Case(f"{label} {damage}", partial(_run, folder, name, known, path, data, expected))


def _undamaged(whole: Any) -> bytes:
    return packed(whole) if isinstance(whole, Contents) else whole


def _read(folder: Path, known: Reader, path: str, data: bytes) -> Corpus:
    """The corpus of a folder with one file that may be damaged."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in {**known.beside, path: data}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    options = {
        key: folder / path if value == known.path else value for key, value in known.options.items()
    }
    if known.options.get("text") or not known.options:
        options["vectorizer"] = topoi.make_vectorizer(min_df=1, max_df=1.0, stop_words=None)
    return topoi.read(folder / (known.source or path), **options)


def _run(
    folder: Path, name: str, known: Reader, path: str, data: bytes, expected: list[Any]
) -> str:
    found: list[Corpus] = []

    def read() -> str:
        found.append(_read(folder, known, path, data))
        return "accepted"

    outcome = outcome_of(read, folder / (known.named or path))
    if outcome == "refused":
        return outcome
    problem = problem_of(found[0]) or _differs_from_twin(name, found[0], path, data)
    if problem:
        raise AssertionError(problem)
    return "harmless" if said(found[0]) == expected else "another"


def said(corpus: Corpus) -> list[Any]:
    """All that a corpus holds."""
    links = None if corpus.links is None else corpus.links.tocoo()
    told: list[Any] = [
        corpus.counts.shape,
        corpus.counts.indptr.tolist(),
        corpus.counts.indices.tolist(),
        corpus.counts.data.tolist(),
    ]
    told += [
        None if value is None else list(map(str, value))
        for value in (corpus.vocabulary, corpus.doc_names, corpus.dates)
    ]
    told += [
        None if corpus.authors is None else corpus.authors.tolist(),
        None if corpus.labels is None else corpus.labels.tolist(),
        None if links is None else [ends.tolist() for ends in links.coords],
        corpus.texts,
        {name: column.tolist() for name, column in (corpus.groups or {}).items()},
    ]
    return told


def problem_of(corpus: Corpus) -> str | None:
    """What is wrong with a corpus that was read, if anything is."""
    counts = corpus.counts
    if (
        not isinstance(counts, sparse.csr_array)
        or counts.dtype != np.float64
        or not counts.has_canonical_format
    ):
        return "counts are not canonical CSR of float64"
    counts.check_format(full_check=True)
    if not np.isfinite(counts.data).all() or (counts.data <= 0).any():
        return "counts are not finite and above 0"
    words = None if corpus.vocabulary is None else list(corpus.vocabulary)
    if words is not None and (len(words) != corpus.n_words or len(set(words)) < len(words)):
        return "the vocabulary does not fit, or has a word twice"
    columns = {"authors": corpus.authors, "labels": corpus.labels, **(corpus.groups or {})}
    for what, value in columns.items():
        if value is not None and value.matrix.shape != (corpus.n_docs, len(value.names)):
            return f"{what} are not of the documents"
    if corpus.links is not None and corpus.links.shape != (corpus.n_docs, corpus.n_docs):
        return "links are not between the documents"
    for values in (
        words,
        corpus.doc_names,
        corpus.dates,
        corpus.texts,
        *(row for column in columns.values() for row in column or ()),
    ):
        "".join(
            map(str, values if values is not None else ())
        ).encode()  # raises if it cannot be written again
    return None


def _differs_from_twin(name: str, corpus: Corpus, path: str, data: bytes) -> str | None:
    twin = TWINS.get(name)
    if twin is None:
        return None
    raw = gzip.decompress(data) if path.endswith(".gz") else data
    text = io.TextIOWrapper(io.BytesIO(raw), "latin-1" if name == "mtx" else "utf-8-sig").read()
    table = corpus.counts.tocoo()
    found = dict(
        zip(
            zip(*(ends.tolist() for ends in table.coords), strict=True),
            table.data.tolist(),
            strict=True,
        )
    )
    plain = twin(text)
    same = found.keys() == plain.keys() and all(
        np.isclose(found[place], plain[place]) for place in found
    )
    return None if same else "a plain reader finds other counts"
