"""What readers check before they allocate memory: numbers, ranges, and sizes that a header
claims.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus
from topoi.corpus.checks import is_whole

__all__ = [
    "MOST",
    "NUMBER",
    "TOO_LARGE",
    "WHOLE",
    "check_range",
    "check_size",
    "check_words",
    "columns_of",
    "enough_memory",
    "naming",
    "rows_to_csr",
    "split_pairs",
    "whole_counts",
]

WHOLE = r"-?\d{1,18}"  # fits into 64 bits
# Possessive quantifiers: no line can make it slow.
NUMBER = r"[-+]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][-+]?\d{1,4})?+"
KINDS = {"whole": (WHOLE, np.int64), "number": (NUMBER, np.float64)}

TOO_LARGE = "holds more than the memory of this machine; free some, or use a larger machine."
MOST = 2**31 - 1  # documents or words: kernels number them with 32 bits
ALWAYS_PLAUSIBLE = 2**22  # documents or words: 32 MB of row pointers
PER_ENTRY = 100  # documents or words that may be claimed for each entry

NumberedLines = Sequence[tuple[int, str]]
PAIRS = re.compile(rf"(?:{WHOLE}:{NUMBER}(?: |$))*+", re.ASCII)

NumberArray: TypeAlias = "array[int] | array[float] | np.ndarray"  # read one by one, or at once


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Make every refusal inside, and a lack of memory, one sentence that names the file.

    Parameters
    ----------
    path : Path
        The file that is read.
    """
    try:
        with enough_memory(path):
            yield
    except (ValueError, OverflowError) as error:
        if str(path) in str(error):
            raise
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from error


@contextmanager
def enough_memory(path: str | Path) -> Iterator[None]:
    """Make a lack of memory inside one sentence that names the file.

    Parameters
    ----------
    path : str or Path
        The file that is read.
    """
    try:
        yield
    except MemoryError as error:
        raise ValueError(f"{path} {TOO_LARGE}") from error


def check_size(path: str | Path, n_docs: int, n_words: int, n_entries: int) -> None:
    """Refuse sizes that the entries of a file do not account for, before memory is allocated.

    Documents may be empty and words unused, so a few millions are always allowed.

    Parameters
    ----------
    path : str or Path
        The file, for the error.
    n_docs, n_words : int
        What the file claims.
    n_entries : int
        Entries that it really has.
    """
    most = min(max(ALWAYS_PLAUSIBLE, PER_ENTRY * n_entries), MOST)
    for what, size in (("documents", n_docs), ("words", n_words)):
        if size > most:
            raise ValueError(
                f"{path} claims {_shown(size)} {what} but has {n_entries:,} entries; "
                f"at most {most:,} {what} are read for so many. "
                f"Correct the header or the ids, and number {what} without gaps."
            )


def _shown(size: int) -> str:
    return f"{size:,}" if size < 10**20 else "more than 10^20"


def columns_of(
    path: Path,
    chunk: NumberedLines,
    kinds: Sequence[str],
    expected: str,
) -> list[np.ndarray]:
    """Columns of numbers in lines that hold one of each kind.

    Parameters
    ----------
    path : Path
        The file, for the error.
    chunk : sequence of (int, str)
        Lines with their numbers.
    kinds : sequence of {"whole", "number"}
        One for each column.
    expected : str
        What a line must hold, for the error.

    Returns
    -------
    list of ndarray
        int64 for "whole", float64 for "number".
    """
    line_pattern, dtype = _line_of(tuple(kinds))
    for number, line in chunk:
        if line_pattern.fullmatch(line) is None:
            got = line.strip()[:40]
            raise ValueError(f"{path}, line {number}: expected {expected}, got {got!r}.")
    table = np.loadtxt([line for _, line in chunk], dtype=dtype, ndmin=1, comments=None)
    return [table[name] for name in table.dtype.names or ()]


@cache
def _line_of(kinds: tuple[str, ...]) -> tuple[re.Pattern[str], np.dtype]:
    fields = r"[ \t]++".join(KINDS[kind][0] for kind in kinds)
    dtype = np.dtype([(f"column{i}", KINDS[kind][1]) for i, kind in enumerate(kinds)])
    return re.compile(rf"[ \t]*+{fields}[ \t]*+\n?", re.ASCII), dtype


def check_range(
    path: Path,
    chunk: NumberedLines,
    what: str,
    values: np.ndarray,
    low: int,
    high: int,
) -> None:
    """Refuse the first line whose value is outside of a range.

    Parameters
    ----------
    path : Path
        The file, for the error.
    chunk : sequence of (int, str)
        Lines with their numbers.
    what : str
        What the values are, for the error.
    values : ndarray
        One value per line.
    low, high : int
        The range, both ends included.
    """
    bad = np.flatnonzero((values < low) | (values > high))
    if len(bad):
        line, value = chunk[bad[0]][0], values[bad[0]]
        fault = f"{what} {value} is not between {low} and {high}"
        raise ValueError(f"{path}, line {line}: {fault}; correct the line or the header.")


def whole_counts(corpus: Corpus, path: str | Path, form: str) -> sparse.csr_array:
    """Counts as whole numbers, or the advice to write another format."""
    counts = corpus.counts
    if not is_whole(counts):
        raise ValueError(
            f"{form} holds whole numbers only, and the corpus has weights with fractions; write"
            f" {path} as .npz or .mtx instead."
        )
    return counts.astype(np.int64)


def rows_to_csr(
    path: Path, words: NumberArray, counts: NumberArray, ends: NumberArray, n_words: int | None
) -> sparse.csr_array:
    """Words are numbered from 0; without a vocabulary there are as many as the greatest of them
    says.
    """
    indices = np.asarray(words, dtype=np.int64)
    width = n_words if n_words is not None else int(indices.max(initial=-1)) + 1
    if n_words is None:
        check_size(path, 0, width, len(indices))
    return sparse.csr_array(
        (np.asarray(counts, dtype=np.float64), indices, np.asarray(ends)),
        shape=(len(ends) - 1, width),
    )


def split_pairs(fields: list[str]) -> tuple[list[int], list[float]] | None:
    """Words and values of fields word:value; None if one is anything else."""
    text = " ".join(fields)
    if PAIRS.fullmatch(text) is None:
        return None
    numbers = text.replace(":", " ").split()
    return list(map(int, numbers[0::2])), list(map(float, numbers[1::2]))


def check_words(path: Path, line: int, words: list[int], first: int, n_words: int | None) -> None:
    """Refuse words that are not numbered from `first`, or not in the vocabulary."""
    last = MOST if n_words is None else first + n_words - 1
    bad = next((w for w in words if not first <= w <= last), None)
    if bad is not None:
        known = "the vocabulary has words" if n_words is not None else "they are numbered from"
        guessed = first == 1 and bad == 0
        cure = "; if the file counts from 0, say so with zero_based=True" if guessed else ""
        raise ValueError(
            f"{path}, line {line}: there is no word {bad}; {known} {first} to {last}{cure}."
        )
