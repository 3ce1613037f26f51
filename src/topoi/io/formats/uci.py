"""UCI bag-of-words files."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus
from topoi.io.formats.checks import MOST, check_range, check_size, columns_of, whole_counts
from topoi.io.lines import existing, numbered_lines, write_text
from topoi.io.registry import ReadOptions

__all__ = ["read_uci", "write_uci"]

CHUNK = 200_000  # lines parsed at a time


def read_uci(path: str | Path, options: ReadOptions) -> Corpus:
    """Three header lines (documents, words, entries), then lines "document word count", numbered
    from 1.
    """
    path = existing(path)
    lines = (
        (number, line)
        for number, line in numbered_lines(path, progress=options.progress)
        if not line.isspace()
    )
    n_docs, n_words, n_entries = (_header(path, next(lines, (i + 1, ""))) for i in range(3))
    docs, words, counts = [], [], []
    while chunk := list(islice(lines, CHUNK)):
        columns = columns_of(
            path, chunk, ["whole"] * 3, "three whole numbers (document, word, count)"
        )
        check_range(path, chunk, "document", columns[0], 1, n_docs)
        check_range(path, chunk, "word", columns[1], 1, n_words)
        check_range(path, chunk, "count", columns[2], 0, 2**53)
        docs.append((columns[0] - 1).astype(np.int32))
        words.append((columns[1] - 1).astype(np.int32))
        counts.append(columns[2])
    found = sum(map(len, docs))
    if found != n_entries:
        raise ValueError(
            f"{path}, line 3: announces {n_entries} entries but {found} follow; the file may be cut"
            " off, get a whole copy."
        )
    check_size(path, n_docs, n_words, found)
    parts = [
        np.concatenate(part) if part else np.zeros(0, np.int64) for part in (counts, docs, words)
    ]
    return Corpus(sparse.csr_array((parts[0], (parts[1], parts[2])), shape=(n_docs, n_words)))


def _header(path: Path, line: tuple[int, str]) -> int:
    what = "a whole number (the first three lines of a UCI file count documents, words, entries)"
    size = int(columns_of(path, [line], ["whole"], what)[0][0])
    if not 0 <= size <= MOST:
        raise ValueError(
            f"{path}, line {line[0]}: {size} is not between 0 and {MOST}; correct the header."
        )
    return size


def write_uci(corpus: Corpus, path: str | Path) -> None:
    counts = whole_counts(corpus, path, "UCI")
    docs = np.repeat(np.arange(1, counts.shape[0] + 1), np.diff(counts.indptr))
    with write_text(path) as file:
        file.write(f"{counts.shape[0]}\n{counts.shape[1]}\n{counts.nnz}\n".encode())
        for a in range(0, counts.nnz, CHUNK):
            part = slice(a, a + CHUNK)
            np.savetxt(
                file,
                np.column_stack([docs[part], counts.indices[part] + 1, counts.data[part]]),
                fmt="%d",
            )
