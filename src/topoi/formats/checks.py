"""What readers of counts check before they allocate memory: numbers in lines, ranges, and sizes that a header claims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

__all__ = ["MOST", "NUMBER", "WHOLE", "check_range", "check_size", "columns_of", "enough_memory", "naming"]

WHOLE = r"-?\d{1,18}"  # fits into 64 bits
NUMBER = r"[-+]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][-+]?\d{1,4})?+"  # possessive: no line can make it slow
KINDS = {"whole": (WHOLE, np.int64), "number": (NUMBER, np.float64)}

MOST = 2**31 - 1  # documents or words: kernels number them with 32 bits
ALWAYS_PLAUSIBLE = 2**22  # documents or words: 32 MB of row pointers
PER_ENTRY = 100  # documents or words that may be claimed for each entry

NumberedLines = Sequence[tuple[int, str]]


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
        raise ValueError(f"{path} holds more than the memory of this machine; free some, or use a larger machine.") from error


def check_size(path: str | Path, n_docs: int, n_words: int, n_entries: int) -> None:
    """Refuse sizes that the entries of a file do not account for: memory would be allocated for them.

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
                f"{path} claims {_shown(size)} {what} but has {n_entries:,} entries; at most {most:,} {what} are read for so many. "
                f"Correct the header or the ids, and number {what} without gaps."
            )


def _shown(size: int) -> str:
    return f"{size:,}" if size < 10**20 else "more than 10^20"


def columns_of(path: Path, chunk: NumberedLines, kinds: Sequence[str], expected: str) -> list[np.ndarray]:
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
            raise ValueError(f"{path}, line {number}: expected {expected}, got {line.strip()[:40]!r}.")
    table = np.loadtxt([line for _, line in chunk], dtype=dtype, ndmin=1, comments=None)
    return [table[name] for name in table.dtype.names or ()]


@cache
def _line_of(kinds: tuple[str, ...]) -> tuple[re.Pattern[str], np.dtype]:
    fields = r"[ \t]++".join(KINDS[kind][0] for kind in kinds)
    dtype = np.dtype([(f"column{i}", KINDS[kind][1]) for i, kind in enumerate(kinds)])
    return re.compile(rf"[ \t]*+{fields}[ \t]*+\n?", re.ASCII), dtype


def check_range(path: Path, chunk: NumberedLines, what: str, values: np.ndarray, low: int, high: int) -> None:
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
        raise ValueError(
            f"{path}, line {chunk[bad[0]][0]}: {what} {values[bad[0]]} is not between {low} and {high}; correct the line or the header."
        )
