"""Reading MatrixMarket files, plain or .gz.

SciPy's reader is faster, but ends the process where text follows the last number. So lines are
parsed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus
from topoi.corpus.checks import is_whole
from topoi.io.formats.checks import check_range, check_size, columns_of
from topoi.io.lines import existing, numbered_lines, write_text
from topoi.io.registry import ReadOptions

__all__ = ["read_mtx", "write_mtx"]

CHUNK = 200_000  # lines parsed at a time
BANNER = "%%MatrixMarket matrix coordinate integer general"
VALUES = {
    "real": ("number",),
    "double": ("number",),
    "integer": ("whole",),
    "unsigned-integer": ("whole",),
    "pattern": (),
}
CURE = "write it again with scipy.io.mmwrite"

NumberedLine = tuple[int, str]
# Shape, documents, words, values.
Entries = tuple[tuple[int, int], np.ndarray, np.ndarray, np.ndarray]


class Banner(NamedTuple):
    """What the first line of a file says."""

    layout: str
    values: tuple[str, ...]  # kinds of numbers behind row and column
    symmetric: bool


def read_mtx(path: str | Path, options: ReadOptions) -> Corpus:
    """Read a MatrixMarket file of documents x words.

    Parameters
    ----------
    path : str or Path
        The file, plain or .gz.
    options : ReadOptions
        Only `progress` means something here.

    Returns
    -------
    Corpus
        The counts.
    """
    path = existing(path)
    numbered = numbered_lines(path, "latin-1", options.progress)  # comments may be in any encoding
    banner = _banner(path, next(numbered, (1, ""))[1])
    lines = ((number, line) for number, line in numbered if not line.isspace())
    sizes = next(((number, line) for number, line in lines if not line.startswith("%")), (2, ""))
    parse = _dense if banner.layout == "array" else _sparse
    shape, docs, words, values = parse(path, lines, sizes, banner)
    if banner.symmetric:  # only one triangle is written
        mirrored = docs != words
        docs, words = (
            np.concatenate([docs, words[mirrored]]),
            np.concatenate([words, docs[mirrored]]),
        )
        values = np.concatenate([values, values[mirrored]])
    return Corpus(sparse.csr_array((values, (docs, words)), shape=shape))


def _banner(path: Path, line: str) -> Banner:
    words = line.lower().split()
    if len(words) != 5 or words[0] != "%%matrixmarket":
        raise ValueError(
            f"{path}, line 1: not MatrixMarket; expected a first line such as {BANNER!r}."
        )
    _, thing, layout, field, symmetry = words
    known = thing == "matrix" and layout in ("coordinate", "array") and field in VALUES
    known = known and symmetry in ("general", "symmetric")
    if not known or (layout == "array" and field == "pattern"):
        fault = f"cannot read {line.strip()[:80]!r}; expected for instance {BANNER!r}"
        raise ValueError(f"{path}, line 1: {fault}, so {CURE}.")
    return Banner(layout, VALUES[field], symmetry == "symmetric")


def _sizes(path: Path, line: NumberedLine, expected: tuple[str, ...], banner: Banner) -> list[int]:
    kinds = ["whole"] * len(expected)
    columns = columns_of(path, [line], kinds, f"whole numbers ({', '.join(expected)})")
    sizes = [int(column[0]) for column in columns]
    if min(sizes) < 0:
        raise ValueError(f"{path}, line {line[0]}: the size {min(sizes)} is below 0; {CURE}.")
    if banner.symmetric and sizes[0] != sizes[1]:
        fault = f"symmetric, but {sizes[0]} x {sizes[1]}; expected a square matrix"
        raise ValueError(f"{path}, line {line[0]}: {fault}, so {CURE}.")
    return sizes


def _sparse(
    path: Path,
    lines: Iterator[NumberedLine],
    sizes: NumberedLine,
    banner: Banner,
) -> Entries:
    n_docs, n_words, n_entries = _sizes(path, sizes, ("documents", "words", "entries"), banner)
    parts: list[list[np.ndarray]] = [[], [], []]
    while chunk := list(islice(lines, CHUNK)):
        columns = columns_of(
            path,
            chunk,
            ["whole", "whole", *banner.values],
            "a document, a word and a value as line 1 announces",
        )
        check_range(path, chunk, "document", columns[0], 1, n_docs)
        check_range(path, chunk, "word", columns[1], 1, n_words)
        parts[0].append(columns[0] - 1)
        parts[1].append(columns[1] - 1)
        parts[2].append(columns[2].astype(np.float64) if banner.values else np.ones(len(chunk)))
    none = np.zeros(0, np.int64)
    docs, words, values = (np.concatenate(part) if part else none for part in parts)
    _check_found(path, sizes[0], n_entries, len(values))
    check_size(path, n_docs, n_words, n_entries)
    return (n_docs, n_words), docs, words, values


def _dense(
    path: Path,
    lines: Iterator[NumberedLine],
    sizes: NumberedLine,
    banner: Banner,
) -> Entries:
    """Every value of the matrix, or of its lower triangle, column by column."""
    n_docs, n_words = _sizes(path, sizes, ("documents", "words"), banner)
    parts = [np.zeros(0)]
    while chunk := list(islice(lines, CHUNK)):
        column = columns_of(path, chunk, banner.values, "one value as line 1 announces")[0]
        parts.append(column.astype(np.float64))
    values = np.concatenate(parts)
    _check_found(
        path,
        sizes[0],
        n_docs * (n_docs + 1) // 2 if banner.symmetric else n_docs * n_words,
        len(values),
    )
    check_size(path, n_docs, n_words, len(values))
    if banner.symmetric:
        words, docs = np.triu_indices(n_docs)
    else:
        words, docs = np.divmod(np.arange(len(values)), max(n_docs, 1))
    return (n_docs, n_words), docs, words, values


def _check_found(path: Path, line: int, announced: int, found: int) -> None:
    if announced != found:
        fault = f"announces {announced} entries but {found} follow"
        raise ValueError(
            f"{path}, line {line}: {fault}; the file may be cut off, get a whole copy."
        )


def write_mtx(corpus: Corpus, path: str | Path) -> None:
    from scipy.io import mmwrite

    counts = corpus.counts
    with write_text(path) as file:
        mmwrite(file, sparse.coo_array(counts.astype(np.int64) if is_whole(counts) else counts))
