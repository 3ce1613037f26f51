"""Bags of words as text: UCI (docword + vocab), LDA-C, SVMlight. Read in chunks, so that memory holds the matrix and not the file."""

from __future__ import annotations

import re
import warnings
from array import array
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus, is_whole
from topoi.formats.files import Tell, existing, numbered_lines, rows_of, write_text

__all__ = ["read_ldac", "read_svmlight", "read_uci", "write_ldac", "write_svmlight", "write_uci"]

CHUNK = 200_000  # lines parsed at a time
PAIR = re.compile(r"(\d+):([-+.\deE]+|nan|inf)")  # of SVMlight; what is no number in it scikit-learn refuses


# -------------------------------------------------------------------------------------------------------------------------- UCI


def read_uci(path: str | Path, *, tell: Tell | None = None) -> sparse.csr_array:
    """Three header lines (documents, words, entries), then lines "document word count", numbered from 1."""
    path = existing(path)
    lines = ((number, line) for number, line in numbered_lines(path, tell=tell) if not line.isspace())
    n_docs, n_words, n_entries = (_header(path, next(lines, (i + 1, ""))) for i in range(3))
    docs, words, counts = [], [], []
    while chunk := list(islice(lines, CHUNK)):
        table = _three_numbers(path, chunk)
        _check_entries(path, chunk, table, n_docs, n_words)
        docs.append((table[:, 0] - 1).astype(np.int32))
        words.append((table[:, 1] - 1).astype(np.int32))
        counts.append(table[:, 2])
    found = sum(map(len, docs))
    if found != n_entries:
        raise ValueError(f"{path}, line 3: announces {n_entries} entries but {found} follow; the file may be cut off, get a whole copy.")
    parts = [np.concatenate(part) if part else np.zeros(0, np.int64) for part in (counts, docs, words)]
    return sparse.csr_array((parts[0], (parts[1], parts[2])), shape=(n_docs, n_words))


def _header(path: Path, line: tuple[int, str]) -> int:
    number, text = line
    if not text.strip().isdecimal():
        raise ValueError(
            f"{path}, line {number}: expected a whole number (the first three lines of a UCI file count documents, words, entries), got {text.strip()[:40]!r}."
        )
    return int(text)


def _three_numbers(path: Path, chunk: list[tuple[int, str]]) -> np.ndarray:
    """(n, 3) numbers of lines that must hold three each."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy only warns of 1.5 where a whole number is due
        try:
            table = np.loadtxt([line for _, line in chunk], dtype=np.int64, ndmin=2, comments=None)
            if table.shape[1] == 3:
                return table
        except (ValueError, Warning):
            pass
    number, line = next((n, line) for n, line in chunk if len(line.split()) != 3 or not all(map(_is_whole, line.split())))
    raise ValueError(f"{path}, line {number}: expected three whole numbers (document, word, count), got {line.strip()[:40]!r}.")


def _is_whole(text: str) -> bool:
    return text.isascii() and text.removeprefix("-").isdecimal() and len(text) < 19


def _check_entries(path: Path, chunk: list[tuple[int, str]], table: np.ndarray, n_docs: int, n_words: int) -> None:
    for column, (what, low, high) in enumerate((("document", 1, n_docs), ("word", 1, n_words), ("count", 0, 2**53))):
        bad = np.flatnonzero((table[:, column] < low) | (table[:, column] > high))
        if len(bad):
            raise ValueError(
                f"{path}, line {chunk[bad[0]][0]}: {what} {table[bad[0], column]} is not between {low} and {high}; correct the line or the header."
            )


def write_uci(corpus: Corpus, path: str | Path) -> None:
    counts = _whole(corpus, path, "UCI")
    docs = np.repeat(np.arange(1, counts.shape[0] + 1), np.diff(counts.indptr))
    with write_text(path) as file:
        file.write(f"{counts.shape[0]}\n{counts.shape[1]}\n{counts.nnz}\n".encode())
        for a in range(0, counts.nnz, CHUNK):
            part = slice(a, a + CHUNK)
            np.savetxt(file, np.column_stack([docs[part], counts.indices[part] + 1, counts.data[part]]), fmt="%d")


def _whole(corpus: Corpus, path: str | Path, form: str) -> sparse.csr_array:
    """Counts as whole numbers, or the advice to write another format."""
    counts = corpus.counts
    if not is_whole(counts):
        raise ValueError(
            f"{form} holds whole numbers only, and the corpus has weights with fractions; write {path} as .npz or .mtx instead."
        )
    return counts.astype(np.int64)


# ------------------------------------------------------------------------------------------------------------------------ LDA-C


def read_ldac(path: str | Path, *, n_words: int | None = None, tell: Tell | None = None) -> sparse.csr_array:
    """One document a line: the number of different words, then word:count pairs, words numbered from 0."""
    path = existing(path)
    words, counts, ends = array("q"), array("d"), [0]
    for number, line in numbered_lines(path, tell=tell):
        length, _, rest = line.strip().partition(" ")
        numbers = rest.replace(":", " ").split()
        try:
            words.extend(map(int, numbers[0::2]))
            counts.extend(map(float, numbers[1::2]))
            good = int(length) * 2 == len(numbers) and rest.count(":") * 2 == len(numbers)
        except ValueError:
            good = False
        if not good:
            raise ValueError(
                f"{path}, line {number}: expected a number of words and that many pairs word:count, got {line.strip()[:40]!r}."
            )
        ends.append(len(words))
        _check_words(path, number, words[ends[-2] :], n_words)
    indices = np.asarray(words)
    width = n_words if n_words is not None else int(indices.max(initial=-1)) + 1
    return sparse.csr_array((np.asarray(counts), indices, np.asarray(ends)), shape=(len(ends) - 1, width))


def _check_words(path: Path, line: int, words: Any, n_words: int | None) -> None:
    bad = next((w for w in words if w < 0 or (n_words is not None and w >= n_words)), None)
    if bad is not None:
        known = "numbers start at 0" if n_words is None else f"the vocabulary has words 0 to {n_words - 1}"
        raise ValueError(f"{path}, line {line}: there is no word {bad}; {known}.")


def write_ldac(corpus: Corpus, path: str | Path) -> None:
    counts = _whole(corpus, path, "LDA-C")
    with write_text(path) as file:
        for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
            pairs = zip(counts.indices[a:b].tolist(), counts.data[a:b].tolist(), strict=True)
            file.write(" ".join([str(b - a), *(f"{w}:{c}" for w, c in pairs)]).encode() + b"\n")


# --------------------------------------------------------------------------------------------------------------------- SVMlight


def read_svmlight(
    path: str | Path, *, n_words: int | None = None, tell: Tell | None = None
) -> tuple[sparse.csr_array, list[list[str]] | None]:
    """Counts, and the labels (numbers, as text) unless every document has label 0. scikit-learn reads it."""
    from sklearn.datasets import load_svmlight_file

    path = existing(path)
    for number, line in numbered_lines(path, tell=tell):
        _check_svmlight(path, number, line)
    counts, targets = load_svmlight_file(str(path), n_features=n_words, multilabel=True)
    labels = [[f"{label:g}" for label in row] for row in targets]
    return sparse.csr_array(counts), labels if any(row != ["0"] for row in labels) else None


def _check_svmlight(path: Path, number: int, line: str) -> None:
    """scikit-learn's errors do not name the line."""
    fields = line.partition("#")[0].split()
    columns = [int(match[1]) for match in map(PAIR.fullmatch, fields) if match]
    n_others = len(fields) - len(columns)  # the label and, where there are queries, the query
    if n_others > 1 + any(field.startswith("qid:") for field in fields) or columns != sorted(set(columns)):
        raise ValueError(f"{path}, line {number}: expected a label and ascending pairs column:value, got {line.strip()[:40]!r}.")


def write_svmlight(corpus: Corpus, path: str | Path) -> None:
    """Labels become numbers: their own if all are whole numbers from 0, otherwise their places in the sorted list of labels."""
    from sklearn.datasets import dump_svmlight_file

    rows = [["0"]] * corpus.n_docs if corpus.labels is None else rows_of(corpus.labels)
    names = sorted({name for row in rows for name in row})
    number = {name: int(name) if all(n.isdecimal() for n in names) else i for i, name in enumerate(names)}
    table = sparse.lil_array((corpus.n_docs, max(number.values(), default=0) + 1), dtype=np.int64)
    for d, row in enumerate(rows):
        for name in row:
            table[d, number[name]] = 1
    with write_text(path) as file:
        counts = corpus.counts.copy()
        counts.indices, counts.indptr = counts.indices.astype(np.int32), counts.indptr.astype(np.int32)  # what scikit-learn writes
        dump_svmlight_file(counts, table.tocsr(), file, zero_based=False, multilabel=True)
