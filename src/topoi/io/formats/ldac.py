"""LDA-C files."""

from __future__ import annotations

from array import array
from pathlib import Path

from topoi.corpus import Corpus
from topoi.io.formats.checks import check_words, rows_to_csr, split_pairs, whole_counts
from topoi.io.lines import existing, numbered_lines, write_text
from topoi.io.registry import ReadOptions

__all__ = ["read_ldac", "write_ldac"]


def read_ldac(path: str | Path, options: ReadOptions) -> Corpus:
    """One document a line: the number of different words, then word:count pairs, words numbered
    from 0.
    """
    path = existing(path)
    words, counts, ends = array("q"), array("d"), array("q", [0])
    for number, line in numbered_lines(path, progress=options.progress):
        length, *fields = line.split() or [""]
        pairs = split_pairs(fields)
        if pairs is None or length != str(len(fields)):
            raise ValueError(
                f"{path}, line {number}: expected a number of words and that many pairs word:count,"
                f" got {line.strip()[:40]!r}."
            )
        check_words(path, number, pairs[0], 0, options.n_words)
        words.extend(pairs[0])
        counts.extend(pairs[1])
        ends.append(len(words))
    return Corpus(rows_to_csr(path, words, counts, ends, options.n_words))


def write_ldac(corpus: Corpus, path: str | Path) -> None:
    counts = whole_counts(corpus, path, "LDA-C")
    with write_text(path) as file:
        for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
            pairs = zip(counts.indices[a:b].tolist(), counts.data[a:b].tolist(), strict=True)
            file.write(" ".join([str(b - a), *(f"{w}:{c}" for w, c in pairs)]).encode() + b"\n")
