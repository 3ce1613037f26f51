"""SVMlight files."""

from __future__ import annotations

import re
from array import array
from pathlib import Path

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus
from topoi.io.formats.checks import NUMBER, WHOLE, check_words, rows_to_csr, split_pairs
from topoi.io.lines import existing, numbered_lines, write_text
from topoi.io.registry import ReadOptions

__all__ = ["read_svmlight", "write_svmlight"]

OWN_NUMBER = re.compile("0|[1-9][0-9]{0,8}")  # labels that stay what they are; 007 would become 7
EXACT = 2**53  # labels beyond it could not be told apart
LABEL, QUERY = re.compile(NUMBER, re.ASCII), re.compile(rf"qid:{WHOLE}", re.ASCII)


def read_svmlight(path: str | Path, options: ReadOptions) -> Corpus:
    """Read documents of labels and pairs column:value, columns ascending.

    Parameters
    ----------
    path : str or Path
        The file, plain or .gz.
    options : ReadOptions
        With `zero_based` the first column is 0. In SVMlight's own files it is 1.

    Returns
    -------
    Corpus
        Labels are numbers, as text; there are none if every document has the label 0.
    """
    path, first = existing(path), 0 if options.zero_based else 1
    words, counts, ends, labels = array("q"), array("d"), array("q", [0]), []
    for number, line in numbered_lines(path, progress=options.progress):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        names = _labels(fields.pop(0)) if ":" not in fields[0] else []
        if fields and QUERY.fullmatch(fields[0]):
            fields.pop(0)
        pairs = split_pairs(fields)
        if names is None or pairs is None or pairs[0] != sorted(set(pairs[0])):
            raise ValueError(
                f"{path}, line {number}: expected a label and ascending pairs column:value, got"
                f" {line.strip()[:40]!r}."
            )
        check_words(path, number, pairs[0], first, options.n_words)
        words.extend(pairs[0])
        counts.extend(pairs[1])
        ends.append(len(words))
        labels.append(names)
    table = rows_to_csr(path, np.asarray(words) - first, counts, ends, options.n_words)
    return Corpus(table, labels=labels if any(row != ["0"] for row in labels) else None)


def _labels(field: str) -> list[str] | None:
    """Labels with commas between, as text; None if one is not a number."""
    names = field.split(",")
    numbers = [float(name) for name in names if LABEL.fullmatch(name)]
    if len(numbers) < len(names) or any(abs(number) > EXACT for number in numbers):
        return None
    return [str(int(number)) if number.is_integer() else repr(number) for number in numbers]


def write_svmlight(corpus: Corpus, path: str | Path) -> None:
    """Labels become numbers: their own if all are whole numbers from 0, otherwise their places in
    the sorted list of labels.
    """
    from sklearn.datasets import dump_svmlight_file

    labels = [["0"]] * corpus.n_docs if corpus.labels is None else corpus.labels
    rows = [list(map(str, row)) for row in labels]
    names = sorted({name for row in rows for name in row})
    numeric = all(map(OWN_NUMBER.fullmatch, names))
    number = {name: int(name) if numeric else i for i, name in enumerate(names)}
    lengths = np.diff(corpus.counts.indptr)
    blank = [d for d, row in enumerate(rows) if not row and not lengths[d]]
    if blank:
        fault = (
            f"document {blank[0]} has neither labels nor words, and SVMlight has no line for that"
        )
        raise ValueError(f"{path} cannot be written: {fault}; leave it out, or write .npz instead.")
    table = sparse.lil_array((corpus.n_docs, max(number.values(), default=0) + 1), dtype=np.int64)
    for d, row in enumerate(rows):
        for name in row:
            table[d, number[name]] = 1
    with write_text(path) as file:
        counts = corpus.counts.copy()
        # What scikit-learn writes.
        counts.indices, counts.indptr = (
            counts.indices.astype(np.int32),
            counts.indptr.astype(np.int32),
        )
        dump_svmlight_file(counts, table.tocsr(), file, zero_based=False, multilabel=True)
