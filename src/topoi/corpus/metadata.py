"""Authors, labels and links in the forms in which people have them, as sparse matrices; bad ones
refused with the cure.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from topoi.corpus.checks import refuse_broken, refuse_masked

__all__ = [
    "adjacency",
    "are_pairs",
    "as_csr",
    "indicator",
    "is_table",
    "neighbour_pairs",
    "neighbours_by_id",
    "one_each",
    "symmetric",
    "unnested",
    "whole_pairs",
    "zero_one",
]

EXACT = 2**53  # whole numbers up to here are exact in double precision


def indicator(
    values: Any, n_docs: int, what: str, names: np.ndarray | None = None
) -> tuple[sparse.csr_array, np.ndarray]:
    """(D, names) 0/1 matrix and the names, from a list of names for each document or a matrix with
    one row per document.

    names: known names, in their order; new ones follow in sorted order. A matrix has the numbers of
    its columns for names unless given; a DataFrame of numbers has its column names, and one of text
    has names in its cells.
    """
    refuse_masked(values, what)
    values = unnested(values)
    if _has_numbers(values):
        columns, values = (
            np.asarray(values.columns),
            _flags(values.to_numpy(dtype=np.float64), what).toarray(),
        )
        if names is not None and not np.array_equal(columns, names):
            values = [columns[row != 0].tolist() for row in values]
        else:
            names = columns
    elif hasattr(values, "columns"):
        values = values.to_numpy()
    if sparse.issparse(values) or (
        isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype.kind in "biuf"
    ):
        return _from_matrix(values, n_docs, what, names)
    if isinstance(values, Mapping) or not isinstance(values, Iterable):
        raise ValueError(
            f"{what} is a {type(values).__name__}; give a list with the names of each document, or"
            f" a documents x {what} matrix."
        )
    rows = [_names(entry) for entry in values]
    if len(rows) != n_docs:
        raise ValueError(
            f"{what} describes {len(rows)} documents but X has {n_docs}; give one list per"
            " document, empty where there are none."
        )
    known = [] if names is None else list(names)
    fresh = list({name for row in rows for name in row} - set(known))
    try:
        fresh.sort()
    except TypeError:
        kinds = " and ".join(sorted({type(name).__name__ for name in fresh}))
        raise ValueError(
            f"{what} are of different kinds ({kinds}); make them all strings, for instance."
        ) from None
    column = {name: i for i, name in enumerate([*known, *fresh])}
    docs = np.repeat(np.arange(n_docs), [len(row) for row in rows])
    columns = np.array([column[name] for row in rows for name in row], dtype=np.int64)
    table = sparse.csr_array((np.ones(len(docs)), (docs, columns)), shape=(n_docs, len(column)))
    return zero_one(table), np.array(list(column), dtype=None if column else str)


def unnested(values: Any) -> Any:
    """A table of 0 and 1 that came as lists, as an array (no list of names has one twice in this
    way); anything else as it is.
    """
    if (
        not isinstance(values, list)
        or not all(isinstance(row, list | np.ndarray) for row in values)
        or len({len(row) for row in values}) != 1
    ):
        return values
    twice = any(len(set(row)) < len(row) for row in values)
    flags = all(
        isinstance(x, int | float | np.number) and x in (0, 1) for row in values for x in row
    )
    return np.asarray(values) if twice and flags else values


def _has_numbers(values: Any) -> bool:
    """Whether values are a DataFrame with numbers in all columns."""
    return hasattr(values, "columns") and all(
        getattr(dtype, "kind", "O") in "biuf" for dtype in values.dtypes
    )


def _names(entry: Any) -> list[Any]:
    """The names of one document: a name or a list of them; gaps (None, NaN, "") are no names."""
    several = isinstance(entry, Sequence | set | frozenset | np.ndarray) and not isinstance(
        entry, str
    )
    return [
        name
        for name in (entry if several else [entry])
        if not (name is None or name == "" or name != name)
    ]


def _from_matrix(
    values: Any, n_docs: int, what: str, names: np.ndarray | None
) -> tuple[sparse.csr_array, np.ndarray]:
    table = _flags(values, what)
    if table.shape[0] != n_docs:
        raise ValueError(
            f"{what} has {table.shape[0]} rows but X has {n_docs} documents; give one row per"
            " document."
        )
    if names is not None and len(names) != table.shape[1]:
        raise ValueError(
            f"{what} has {table.shape[1]} columns but {len(names)} names are known; give lists of"
            " names instead of a matrix."
        )
    return table, np.arange(table.shape[1]) if names is None else names


def _flags(values: Any, what: str) -> sparse.csr_array:
    """A matrix of 0 and 1.

    Other numbers are refused: they may be names of authors or labels, and each would count as 1.
    """
    table = as_csr(values, what)
    odd = table.data[(table.data != 0) & (table.data != 1)]
    if len(odd):
        raise ValueError(
            f"{what} is a matrix with the entry {odd[0]:g}; expected an indicator of 0 and 1. Where"
            " names are numbers, give a list of them for each document."
        )
    return zero_one(table)


def as_csr(values: Any, what: str) -> sparse.csr_array:
    """A matrix of any kind, sparse or not, as CSR without negative numbers."""
    refuse_broken(values, what)
    table = sparse.csr_array(values if sparse.issparse(values) else np.asarray(values))
    if table.nnz and not table.data.min() >= 0:
        raise ValueError(
            f"{what} holds negative numbers or NaN; an entry says that there is something, so take"
            " them out."
        )
    return table


def zero_one(table: sparse.csr_array) -> sparse.csr_array:
    """A new table with the same entries, each of them 1."""
    table = table.copy()
    table.sum_duplicates()
    table.eliminate_zeros()
    table.data = np.ones(table.nnz)
    return table


def one_each(labels: Any) -> Any:
    """Labels with one value per document (strings, numbers, None or NaN for unknown) as lists of
    labels; other forms unchanged.
    """
    refuse_masked(labels, "labels")
    labels = unnested(labels)
    if is_table(labels) and labels.shape[1] > 1:
        return labels
    if is_table(labels):
        labels = (labels.toarray() if sparse.issparse(labels) else np.asarray(labels)).ravel()
    labels = (
        labels if isinstance(labels, Sequence) else np.asarray(labels)
    )  # a pandas column, for instance
    return [
        [name.item() if isinstance(name, np.generic) else name for name in _names(entry)]
        for entry in labels
    ]


def is_table(values: Any) -> bool:
    """Whether values are a matrix: sparse, an array of two dimensions or a DataFrame."""
    return sparse.issparse(values) or (hasattr(values, "shape") and len(values.shape) == 2)


def _listed(links: Any) -> Any:
    """Neighbours of documents, or pairs, as a list, where they are a tuple, a pandas column or an
    array of such.
    """
    refuse_masked(links, "links")
    if is_table(links) or (
        not isinstance(links, Sequence | np.ndarray) and not hasattr(links, "iloc")
    ):
        return links
    rows = list(links)
    square = len(rows) > 2 and all(
        isinstance(row, list | tuple) and len(row) == len(rows) for row in rows
    )
    return (
        np.asarray(rows) if square else rows
    )  # nobody has all documents for neighbours: a matrix in lists


def _is_matrix(links: Any) -> bool:
    """Whether links are a table, but not a column for each end of a link (and perhaps others)."""
    ends = hasattr(links, "columns") and links.shape[0] != links.shape[1]
    return is_table(links) and (sparse.issparse(links) or links.shape[1] != 2) and not ends


def are_pairs(links: Any, n_docs: int) -> bool:
    """Whether links are pairs (m, 2), not a matrix and not lists of neighbours."""
    links = _listed(links)
    if _is_matrix(links):
        return False
    if not isinstance(links, list):
        return True
    if all(isinstance(row, tuple) for row in links):
        return {len(row) for row in links} in (
            set(),
            {2},
            {3},
        )  # three: pairs with weights, which are refused
    twos = all(isinstance(row, list | np.ndarray) and len(row) == 2 for row in links)
    if twos and len(links) == n_docs:
        raise ValueError(
            f"links has {n_docs} lists of two numbers, as many as documents: pairs, or two"
            " neighbours for each? Give pairs as tuples or an array, neighbours as a documents x"
            " documents matrix."
        )
    return twos


def neighbour_pairs(lists: Any) -> np.ndarray:
    """(m, 2) document and neighbour, from a list of neighbour numbers for each document."""
    return whole_pairs(
        [(doc, neighbour) for doc, row in enumerate(lists) for neighbour in _names(row)]
    )


def whole_pairs(links: Any) -> np.ndarray:
    """(m, 2) whole numbers from pairs in any form."""
    try:
        ends = np.asarray(links, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "links are no document numbers; for ids give doc_ids, the id of each document, and"
            " lists of ids."
        ) from None
    pairs = ends.reshape(-1, 2) if not ends.size else ends
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(
            f"links has shape {ends.shape}; pairs have two columns, the numbers of two documents."
            " Leave out weights and other columns."
        )
    if not (pairs == np.round(pairs)).all():
        raise ValueError("links holds fractions or NaN; a link joins two document numbers.")
    if (np.abs(pairs) >= EXACT).any():
        far = np.abs(pairs).max()
        raise ValueError(f"links holds {far:g}; a link joins two document numbers, so take it out.")
    return pairs.astype(np.int64)


def adjacency(links: Any, n_docs: int) -> sparse.csr_array:
    """(D, D) links as given, from a matrix (an array with two columns holds pairs), pairs (m, 2),
    or a list of neighbour numbers for each document.
    """
    links = _listed(links)
    if _is_matrix(links):
        table = as_csr(links, "links")
        if table.shape != (n_docs, n_docs):
            raise ValueError(
                f"links has shape {table.shape} but X has {n_docs} documents; expected ({n_docs},"
                f" {n_docs}). Where rows are taken out (cross-validation), give a list of neighbour"
                " ids for each document, with doc_ids."
            )
        return zero_one(table)
    if not are_pairs(links, n_docs):
        if len(links) != n_docs:
            raise ValueError(
                f"links lists the neighbours of {len(links)} documents but X has {n_docs}; give one"
                " list per document."
            )
        pairs = neighbour_pairs(links)
    else:
        pairs = whole_pairs(links)
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= n_docs):
        bad = pairs[((pairs < 0) | (pairs >= n_docs)).any(axis=1)][0]
        raise ValueError(
            f"links joins documents {bad[0]} and {bad[1]}, but documents are numbered 0 to"
            f" {n_docs - 1}. Drop that link or add the document; in cross-validation give lists of"
            " ids, with doc_ids."
        )
    return zero_one(
        sparse.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n_docs, n_docs))
    )


def symmetric(table: sparse.csr_array) -> sparse.csr_array:
    """Links in both directions, without self-links (A12)."""
    both = sparse.csr_array(table + table.T)
    both.setdiag(0)
    return zero_one(both)


def neighbours_by_id(links: Any, doc_ids: Any, known_ids: Any = ()) -> list[np.ndarray]:
    """Lists of neighbour ids as numbers; neighbours that are not among `known_ids` (numbered first)
    or `doc_ids` are dropped.
    """
    if is_table(links):
        raise ValueError(
            "doc_ids go with lists of neighbour ids; links as a matrix have numbers, so leave"
            " doc_ids out."
        )
    number = {key: i for i, key in enumerate([*known_ids, *doc_ids])}
    if len(number) != len(known_ids) + len(doc_ids):
        raise ValueError("doc_ids are not all different; every document needs an id of its own.")
    if len(links) != len(doc_ids):
        raise ValueError(
            f"links lists the neighbours of {len(links)} documents but doc_ids has {len(doc_ids)};"
            " give one list per document."
        )
    named = [_names(row) for row in links]
    found = [
        np.array([number[key] for key in row if key in number], dtype=np.int64) for row in named
    ]
    if any(named) and not any(map(len, found)):
        warnings.warn(
            "None of the neighbours is among the ids of documents, so there are no links. Are both"
            " text, or both numbers?",
            stacklevel=4,
        )
    return found
