"""Authors, labels and links in the forms in which people have them, as sparse matrices; bad ones refused with the cure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["adjacency", "are_pairs", "indicator", "neighbours_by_id", "one_each", "symmetric", "zero_one"]


def indicator(values: Any, n_docs: int, what: str, names: np.ndarray | None = None) -> tuple[sparse.csr_array, np.ndarray]:
    """(D, names) 0/1 matrix and the names, from a list of names for each document or a matrix with one row per document.

    names: known names, in their order; new ones follow in sorted order. A matrix has the numbers of its columns for names unless given.
    """
    if sparse.issparse(values) or (isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype.kind in "biuf"):
        return _from_matrix(values, n_docs, what, names)
    rows = [_names(entry) for entry in values]
    if len(rows) != n_docs:
        raise ValueError(
            f"{what} describes {len(rows)} documents but X has {n_docs}; give one list per document, empty where there are none."
        )
    known = [] if names is None else list(names)
    fresh = list({name for row in rows for name in row} - set(known))
    try:
        fresh.sort()
    except TypeError:
        kinds = " and ".join(sorted({type(name).__name__ for name in fresh}))
        raise ValueError(f"{what} are of different kinds ({kinds}); make them all strings, for instance.") from None
    column = {name: i for i, name in enumerate([*known, *fresh])}
    docs = np.repeat(np.arange(n_docs), [len(row) for row in rows])
    columns = np.array([column[name] for row in rows for name in row], dtype=np.int64)
    table = sparse.csr_array((np.ones(len(docs)), (docs, columns)), shape=(n_docs, len(column)))
    return zero_one(table), np.array(list(column), dtype=None if column else str)


def _names(entry: Any) -> list[Any]:
    """The names of one document: a name or a list of them; gaps (None, NaN, "") are no names."""
    several = isinstance(entry, Sequence | set | frozenset | np.ndarray) and not isinstance(entry, str)
    return [name for name in (entry if several else [entry]) if not (name is None or name == "" or name != name)]


def _from_matrix(values: Any, n_docs: int, what: str, names: np.ndarray | None) -> tuple[sparse.csr_array, np.ndarray]:
    table = zero_one(_nonnegative(sparse.csr_array(values), what))
    if table.shape[0] != n_docs:
        raise ValueError(f"{what} has {table.shape[0]} rows but X has {n_docs} documents; give one row per document.")
    if names is not None and len(names) != table.shape[1]:
        raise ValueError(f"{what} has {table.shape[1]} columns but {len(names)} names are known; give lists of names instead of a matrix.")
    return table, np.arange(table.shape[1]) if names is None else names


def _nonnegative(table: sparse.csr_array, what: str) -> sparse.csr_array:
    if table.nnz and not table.data.min() >= 0:
        raise ValueError(f"{what} holds negative numbers or NaN; an entry says that there is something, so take them out.")
    return table


def zero_one(table: sparse.csr_array) -> sparse.csr_array:
    """The same entries, each of them 1."""
    table.sum_duplicates()
    table.eliminate_zeros()
    table.data = np.ones(table.nnz)
    return table


def one_each(labels: Any) -> Any:
    """Labels with one value per document (strings, numbers, None or NaN for unknown) as lists of labels; other forms unchanged."""
    if sparse.issparse(labels) or (isinstance(labels, np.ndarray) and labels.ndim == 2):
        return labels
    labels = labels if isinstance(labels, Sequence) else np.asarray(labels)  # a pandas column, for instance
    return [[name.item() if isinstance(name, np.generic) else name for name in _names(entry)] for entry in labels]


def _is_matrix(links: Any) -> bool:
    return sparse.issparse(links) or (isinstance(links, np.ndarray) and links.ndim == 2 and links.shape[1] != 2)


def are_pairs(links: Any, n_docs: int) -> bool:
    """Whether links are pairs (m, 2), not a matrix and not lists of neighbours."""
    if _is_matrix(links):
        return False
    if not isinstance(links, list) or all(isinstance(row, tuple) for row in links):
        return True
    twos = all(isinstance(row, list) and len(row) == 2 for row in links)
    if twos and len(links) == n_docs:
        raise ValueError(
            f"links has {n_docs} lists of two numbers, as many as documents: pairs, or two neighbours for each? "
            "Give pairs as tuples or an array, neighbours as a documents x documents matrix."
        )
    return twos


def _whole(links: Any) -> np.ndarray:
    """(m, 2) whole numbers from pairs in any form."""
    ends = np.asarray(links, dtype=np.float64)
    pairs = ends.reshape(-1, 2) if not ends.size else ends
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(
            f"links has shape {ends.shape}; pairs have two columns, the numbers of two documents. Leave out weights and other columns."
        )
    if not (pairs == np.round(pairs)).all():
        raise ValueError("links holds fractions or NaN; pairs are two document numbers each.")
    return pairs.astype(np.int64)


def adjacency(links: Any, n_docs: int) -> sparse.csr_array:
    """(D, D) links as given, from a sparse matrix, pairs (m, 2), or a list of neighbour numbers for each document."""
    if _is_matrix(links):
        table = sparse.csr_array(links)
        if table.shape != (n_docs, n_docs):
            raise ValueError(
                f"links has shape {table.shape} but X has {n_docs} documents; expected ({n_docs}, {n_docs}). Where rows are taken out "
                "(cross-validation), give a list of neighbour ids for each document, with doc_ids."
            )
        return zero_one(_nonnegative(table, "links"))
    if not are_pairs(links, n_docs):
        if len(links) != n_docs:
            raise ValueError(f"links lists the neighbours of {len(links)} documents but X has {n_docs}; give one list per document.")
        pairs = np.array([(d, neighbour) for d, row in enumerate(links) for neighbour in row], dtype=np.int64).reshape(-1, 2)
    else:
        pairs = _whole(links)
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= n_docs):
        bad = pairs[((pairs < 0) | (pairs >= n_docs)).any(axis=1)][0]
        raise ValueError(
            f"links joins documents {bad[0]} and {bad[1]}, but documents are numbered 0 to {n_docs - 1}. Drop that link or add the document."
        )
    return zero_one(sparse.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n_docs, n_docs)))


def symmetric(table: sparse.csr_array) -> sparse.csr_array:
    """Links in both directions, without self-links (A12)."""
    both = sparse.csr_array(table + table.T)
    both.setdiag(0)
    return zero_one(both)


def neighbours_by_id(links: Any, doc_ids: Any, known_ids: Any = ()) -> list[np.ndarray]:
    """Lists of neighbour ids as numbers; neighbours that are not among `known_ids` (numbered first) or `doc_ids` are dropped."""
    number = {key: i for i, key in enumerate([*known_ids, *doc_ids])}
    if len(number) != len(known_ids) + len(doc_ids):
        raise ValueError("doc_ids are not all different; every document needs an id of its own.")
    if len(links) != len(doc_ids):
        raise ValueError(
            f"links lists the neighbours of {len(links)} documents but doc_ids has {len(doc_ids)}; give one list per document."
        )
    return [np.array([number[key] for key in row if key in number], dtype=np.int64) for row in links]
