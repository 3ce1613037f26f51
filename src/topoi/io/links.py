"""Links that name documents: files of pairs, and lists of names for each document."""

from __future__ import annotations

import csv
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus
from topoi.io.lines import existing, numbered_lines, stem_and_suffix

__all__ = ["linked_numbers", "pairs_in_file", "with_links"]


def pairs_in_file(path: str | Path) -> Iterator[tuple[str, str]]:
    """Pairs of names, one a line: separated by commas in .csv, tabs in .tsv, otherwise blanks."""
    path = existing(path)
    suffix = stem_and_suffix(path)[1]
    delimiter = {".csv": ",", ".tsv": "\t"}.get(suffix)
    for number, line in numbered_lines(path):
        try:
            fields = (
                line.split() if delimiter is None else next(csv.reader([line], delimiter=delimiter))
            )
        except csv.Error as error:
            raise ValueError(f"{path}, line {number}: {error}; expected two names.") from error
        if len(fields) < 2 and line.strip():
            raise ValueError(
                f"{path}, line {number}: expected two names, got {line.strip()[:40]!r}."
            )
        if line.strip():
            yield fields[0].strip(), fields[1].strip()


def linked_numbers(
    pairs: Sequence[tuple[str, str]], names: Sequence[str], known: Sequence[str], n_known: int
) -> tuple[sparse.csr_array, int]:
    """Links of new documents, to each other and to those that a model knows.

    Parameters
    ----------
    pairs : sequence of (str, str)
        Ids of two documents. One of them is new, or the link is left out.
    names : sequence of str
        Ids of the new documents.
    known : sequence of str
        Names of those that the model knows, where it knows names.
    n_known : int
        How many these are.

    Returns
    -------
    links : csr_array of shape (n_new, n_known + n_new)
        As `RelationalTopicModel.transform` takes them.
    n_found : int
        Number of pairs whose documents are known.

    Examples
    --------
    >>> table, found = linked_numbers([("c", "a"), ("a", "d"), ("z", "c")], ["c", "d"], ["a"], 1)
    >>> table.toarray().astype(int).tolist(), found
    ([[1, 0, 0], [1, 0, 0]], 2)
    """
    row = {name: d for d, name in enumerate(names)}
    column = {name: d for d, name in enumerate(known)} | {n: n_known + d for n, d in row.items()}
    places = [
        (row[a], column[b]) if a in row else (row[b], column[a])
        for a, b in pairs
        if (a in row and b in column) or (b in row and a in column)
    ]
    rows, columns = np.array(places, dtype=np.int64).reshape(-1, 2).T
    shape = (len(names), n_known + len(names))
    return sparse.csr_array((np.ones(len(places)), (rows, columns)), shape=shape), len(places)


def with_links(corpus: Corpus, links: Any, name: str) -> Corpus:
    """The corpus called `name` with links given as a file of pairs of names, or lists of names.

    Ids of no document here are dropped with a warning.
    """
    if links is None:
        return corpus
    names = (
        [str(d) for d in range(corpus.n_docs)]
        if corpus.doc_names is None
        else list(map(str, corpus.doc_names))
    )
    number = {name: i for i, name in enumerate(names)}
    holder = links if isinstance(links, str | Path) else name
    where = "" if holder == "This" else f" in {holder}"
    if isinstance(links, str | Path):
        pairs = list(pairs_in_file(links))
        if pairs and not set(pairs[0]) & set(number):  # a header
            pairs = pairs[1:]
    else:
        pairs = [(names[d], other) for d, row in enumerate(links) for other in row]
    known = [(number[a], number[b]) for a, b in pairs if a in number and b in number]
    if len(number) < len(names):
        taken = _shared_name(names, {end for pair in pairs for end in pair})
        if taken is not None:
            fault = f"Links{where} name {taken!r}, which several documents are called"
            raise ValueError(f"{fault}; give each a name of its own with doc_names=....")
    if pairs and not known:
        raise ValueError(
            f"None of the {len(pairs)} links{where} joins two documents that are here; links must"
            f" name documents, such as {names[0]!r}."
        )
    if len(known) < len(pairs):
        warnings.warn(
            f"{len(pairs) - len(known)} of {len(pairs)} links{where} name documents that are not"
            " here; they are left out.",
            stacklevel=3,
        )
    return replace(corpus, links=np.array(known, dtype=np.int64).reshape(-1, 2))


def _shared_name(names: Sequence[str], linked: set[str]) -> str | None:
    """A name among `linked` that several documents have."""
    times = Counter(names)
    return next((name for name in names if times[name] > 1 and name in linked), None)
