"""Bags of words as text: UCI (docword + vocab), LDA-C, SVMlight. Read in chunks, so that memory holds the matrix and not the file."""

from __future__ import annotations

import re
from array import array
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus, is_whole
from topoi.formats.checks import MOST, NUMBER, WHOLE, check_range, check_size, columns_of
from topoi.formats.files import Tell, existing, numbered_lines, rows_of, write_text

__all__ = ["read_ldac", "read_svmlight", "read_uci", "write_ldac", "write_svmlight", "write_uci"]

CHUNK = 200_000  # lines parsed at a time
PAIRS = re.compile(rf"(?:{WHOLE}:{NUMBER}(?: |$))*+", re.ASCII)
EXACT = 2**53  # labels beyond it could not be told apart
LABEL, QUERY = re.compile(NUMBER, re.ASCII), re.compile(rf"qid:{WHOLE}", re.ASCII)


# -------------------------------------------------------------------------------------------------------------------------- UCI


def read_uci(path: str | Path, *, tell: Tell | None = None) -> sparse.csr_array:
    """Three header lines (documents, words, entries), then lines "document word count", numbered from 1."""
    path = existing(path)
    lines = ((number, line) for number, line in numbered_lines(path, tell=tell) if not line.isspace())
    n_docs, n_words, n_entries = (_header(path, next(lines, (i + 1, ""))) for i in range(3))
    docs, words, counts = [], [], []
    while chunk := list(islice(lines, CHUNK)):
        columns = columns_of(path, chunk, ["whole"] * 3, "three whole numbers (document, word, count)")
        check_range(path, chunk, "document", columns[0], 1, n_docs)
        check_range(path, chunk, "word", columns[1], 1, n_words)
        check_range(path, chunk, "count", columns[2], 0, 2**53)
        docs.append((columns[0] - 1).astype(np.int32))
        words.append((columns[1] - 1).astype(np.int32))
        counts.append(columns[2])
    found = sum(map(len, docs))
    if found != n_entries:
        raise ValueError(f"{path}, line 3: announces {n_entries} entries but {found} follow; the file may be cut off, get a whole copy.")
    check_size(path, n_docs, n_words, found)
    parts = [np.concatenate(part) if part else np.zeros(0, np.int64) for part in (counts, docs, words)]
    return sparse.csr_array((parts[0], (parts[1], parts[2])), shape=(n_docs, n_words))


def _header(path: Path, line: tuple[int, str]) -> int:
    what = "a whole number (the first three lines of a UCI file count documents, words, entries)"
    size = int(columns_of(path, [line], ["whole"], what)[0][0])
    if not 0 <= size <= MOST:
        raise ValueError(f"{path}, line {line[0]}: {size} is not between 0 and {MOST}; correct the header.")
    return size


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
    words, counts, ends = array("q"), array("d"), array("q", [0])
    for number, line in numbered_lines(path, tell=tell):
        length, *fields = line.split() or [""]
        pairs = _pairs(fields)
        if pairs is None or length != str(len(fields)):
            raise ValueError(
                f"{path}, line {number}: expected a number of words and that many pairs word:count, got {line.strip()[:40]!r}."
            )
        _check_words(path, number, pairs[0], 0, n_words)
        words.extend(pairs[0])
        counts.extend(pairs[1])
        ends.append(len(words))
    return _rows(path, words, counts, ends, n_words)


def _pairs(fields: list[str]) -> tuple[list[int], list[float]] | None:
    """Words and values of fields word:value; None if one is anything else."""
    text = " ".join(fields)
    if PAIRS.fullmatch(text) is None:
        return None
    numbers = text.replace(":", " ").split()
    return list(map(int, numbers[0::2])), list(map(float, numbers[1::2]))


def _check_words(path: Path, line: int, words: list[int], first: int, n_words: int | None) -> None:
    """Refuse words that are not numbered from `first`, or not in the vocabulary."""
    last = MOST if n_words is None else first + n_words - 1
    bad = next((w for w in words if not first <= w <= last), None)
    if bad is not None:
        known = (
            f"the vocabulary has words {first} to {last}" if n_words is not None else f"they are numbered from {first} to at most {last}"
        )
        cure = "; if the file counts from 0, say so (zero_based=True, --zero-based)" if first == 1 and bad == 0 else ""
        raise ValueError(f"{path}, line {line}: there is no word {bad}; {known}{cure}.")


def _rows(path: Path, words: Any, counts: Any, ends: Any, n_words: int | None) -> sparse.csr_array:
    """Words are numbered from 0; without a vocabulary there are as many as the greatest of them says."""
    indices = np.asarray(words, dtype=np.int64)
    width = n_words if n_words is not None else int(indices.max(initial=-1)) + 1
    if n_words is None:
        check_size(path, 0, width, len(indices))
    return sparse.csr_array((np.asarray(counts, dtype=np.float64), indices, np.asarray(ends)), shape=(len(ends) - 1, width))


def write_ldac(corpus: Corpus, path: str | Path) -> None:
    counts = _whole(corpus, path, "LDA-C")
    with write_text(path) as file:
        for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
            pairs = zip(counts.indices[a:b].tolist(), counts.data[a:b].tolist(), strict=True)
            file.write(" ".join([str(b - a), *(f"{w}:{c}" for w, c in pairs)]).encode() + b"\n")


# --------------------------------------------------------------------------------------------------------------------- SVMlight


def read_svmlight(
    path: str | Path, *, n_words: int | None = None, zero_based: bool = False, tell: Tell | None = None
) -> tuple[sparse.csr_array, list[list[str]] | None]:
    """Read documents of labels and pairs column:value, columns ascending.

    Parameters
    ----------
    path : str or Path
        The file, plain or .gz.
    n_words : int, optional
        Number of words, if there is a vocabulary.
    zero_based : bool, default=False
        Whether the first column is 0. In SVMlight's own files it is 1.
    tell : callable, optional
        Called with (done, total) now and then.

    Returns
    -------
    counts : csr_array
        Documents x words.
    labels : list of list of str, or None
        Numbers, as text; None if every document has the label 0.
    """
    path, first = existing(path), 0 if zero_based else 1
    words, counts, ends, labels = array("q"), array("d"), array("q", [0]), []
    for number, line in numbered_lines(path, tell=tell):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        names = _labels(fields.pop(0)) if ":" not in fields[0] else []
        if fields and QUERY.fullmatch(fields[0]):
            fields.pop(0)
        pairs = _pairs(fields)
        if names is None or pairs is None or pairs[0] != sorted(set(pairs[0])):
            raise ValueError(f"{path}, line {number}: expected a label and ascending pairs column:value, got {line.strip()[:40]!r}.")
        _check_words(path, number, pairs[0], first, n_words)
        words.extend(pairs[0])
        counts.extend(pairs[1])
        ends.append(len(words))
        labels.append(names)
    table = _rows(path, np.asarray(words) - first, counts, ends, n_words)
    return table, labels if any(row != ["0"] for row in labels) else None


def _labels(field: str) -> list[str] | None:
    """Labels with commas between, as text; None if one is not a number."""
    names = field.split(",")
    numbers = [float(name) for name in names if LABEL.fullmatch(name)]
    if len(numbers) < len(names) or any(abs(number) > EXACT for number in numbers):
        return None
    return [str(int(number)) if number.is_integer() else repr(number) for number in numbers]


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
