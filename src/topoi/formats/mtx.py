"""Reading MatrixMarket files, plain or .gz.

SciPy's reader is faster, but ends the process where text follows the last number, so lines are parsed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from topoi.formats.checks import check_range, check_size, columns_of
from topoi.formats.files import Tell, existing, numbered_lines

__all__ = ["read_mtx"]

CHUNK = 200_000  # lines parsed at a time
BANNER = "%%MatrixMarket matrix coordinate integer general"
VALUES = {"real": ("number",), "double": ("number",), "integer": ("whole",), "unsigned-integer": ("whole",), "pattern": ()}
CURE = "write it again with scipy.io.mmwrite"

NumberedLine = tuple[int, str]
Entries = tuple[tuple[int, int], np.ndarray, np.ndarray, np.ndarray]  # shape, documents, words, values


class Banner(NamedTuple):
    """What the first line of a file says."""

    layout: str
    values: tuple[str, ...]  # kinds of numbers behind row and column
    symmetric: bool


def read_mtx(path: str | Path, *, tell: Tell | None = None) -> sparse.csr_array:
    """Read a MatrixMarket file of documents x words.

    Parameters
    ----------
    path : str or Path
        The file, plain or .gz.
    tell : callable, optional
        Called with (done, total) now and then.

    Returns
    -------
    csr_array
        The counts.
    """
    path = existing(path)
    numbered = numbered_lines(path, "latin-1", tell)  # comments may be in any encoding
    banner = _banner(path, next(numbered, (1, ""))[1])
    lines = ((number, line) for number, line in numbered if not line.isspace())
    sizes = next(((number, line) for number, line in lines if not line.startswith("%")), (2, ""))
    shape, docs, words, values = (_dense if banner.layout == "array" else _sparse)(path, lines, sizes, banner)
    if banner.symmetric:  # only one triangle is written
        mirrored = docs != words
        docs, words = np.concatenate([docs, words[mirrored]]), np.concatenate([words, docs[mirrored]])
        values = np.concatenate([values, values[mirrored]])
    return sparse.csr_array((values, (docs, words)), shape=shape)


def _banner(path: Path, line: str) -> Banner:
    words = line.lower().split()
    if len(words) != 5 or words[0] != "%%matrixmarket":
        raise ValueError(f"{path}, line 1: not a MatrixMarket file; expected a first line such as {BANNER!r}.")
    _, thing, layout, field, symmetry = words
    known = thing == "matrix" and layout in ("coordinate", "array") and field in VALUES
    if not known or symmetry not in ("general", "symmetric") or (layout == "array" and field == "pattern"):
        raise ValueError(f"{path}, line 1: cannot read {line.strip()[:80]!r}; expected for instance {BANNER!r}, so {CURE}.")
    return Banner(layout, VALUES[field], symmetry == "symmetric")


def _sizes(path: Path, line: NumberedLine, expected: tuple[str, ...], banner: Banner) -> list[int]:
    columns = columns_of(path, [line], ["whole"] * len(expected), f"whole numbers ({', '.join(expected)})")
    sizes = [int(column[0]) for column in columns]
    if min(sizes) < 0:
        raise ValueError(f"{path}, line {line[0]}: the size {min(sizes)} is below 0; {CURE}.")
    if banner.symmetric and sizes[0] != sizes[1]:
        raise ValueError(f"{path}, line {line[0]}: symmetric, but {sizes[0]} x {sizes[1]}; expected a square matrix, so {CURE}.")
    return sizes


def _sparse(path: Path, lines: Iterator[NumberedLine], sizes: NumberedLine, banner: Banner) -> Entries:
    n_docs, n_words, n_entries = _sizes(path, sizes, ("documents", "words", "entries"), banner)
    parts: list[list[np.ndarray]] = [[], [], []]
    while chunk := list(islice(lines, CHUNK)):
        columns = columns_of(path, chunk, ["whole", "whole", *banner.values], "a document, a word and a value as line 1 announces")
        check_range(path, chunk, "document", columns[0], 1, n_docs)
        check_range(path, chunk, "word", columns[1], 1, n_words)
        parts[0].append(columns[0] - 1)
        parts[1].append(columns[1] - 1)
        parts[2].append(columns[2].astype(np.float64) if banner.values else np.ones(len(chunk)))
    docs, words, values = (np.concatenate(part) if part else np.zeros(0, np.int64) for part in parts)
    _check_found(path, sizes[0], n_entries, len(values))
    check_size(path, n_docs, n_words, n_entries)
    return (n_docs, n_words), docs, words, values


def _dense(path: Path, lines: Iterator[NumberedLine], sizes: NumberedLine, banner: Banner) -> Entries:
    """Every value of the matrix, or of its lower triangle, column by column."""
    n_docs, n_words = _sizes(path, sizes, ("documents", "words"), banner)
    parts = [np.zeros(0)]
    while chunk := list(islice(lines, CHUNK)):
        parts.append(columns_of(path, chunk, banner.values, "one value as line 1 announces")[0].astype(np.float64))
    values = np.concatenate(parts)
    _check_found(path, sizes[0], n_docs * (n_docs + 1) // 2 if banner.symmetric else n_docs * n_words, len(values))
    check_size(path, n_docs, n_words, len(values))
    if banner.symmetric:
        words, docs = np.triu_indices(n_docs)
    else:
        words, docs = np.divmod(np.arange(len(values)), max(n_docs, 1))
    return (n_docs, n_words), docs, words, values


def _check_found(path: Path, line: int, announced: int, found: int) -> None:
    if announced != found:
        raise ValueError(
            f"{path}, line {line}: announces {announced} entries but {found} follow; the file may be cut off, get a whole copy."
        )
