"""Authors and labels in the forms in which people have them, as a `Membership`; bad ones refused
with the cure. Links are in links.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeGuard, cast

import numpy as np
from scipy import sparse

from topoi.corpus.checks import (
    is_missing,
    is_sparse,
    refuse_broken,
    refuse_half_characters,
    refuse_masked,
)
from topoi.corpus.membership import Membership, Name

if TYPE_CHECKING:
    import pandas as pd

    from topoi.corpus.given import AuthorsLike, GroupsLike, LabelsLike, Matrix

__all__ = [
    "as_csr",
    "columns_of_names",
    "document_name",
    "is_table",
    "label_membership",
    "membership",
    "names_of",
    "one_each",
    "zero_one",
]


def membership(
    values: AuthorsLike, n_docs: int, what: str, names: np.ndarray | None = None
) -> Membership:
    """The names of each document, from any form in which people give them.

    Parameters
    ----------
    values : Membership, list of lists, matrix or DataFrame
        A list of names for each document, or a documents x names matrix of 0 and 1. A matrix has
        the numbers of its columns for names, unless `names` are given; a DataFrame of numbers has
        its column names, and one of text has names in its cells.
    n_docs : int
        Number of documents that there must be.
    what : str
        What the names are, for errors: "authors", "labels".
    names : ndarray, optional
        Known names, in their order; new ones follow in sorted order.

    Returns
    -------
    Membership
        `values` itself, if it is one and its names begin with `names`.

    Examples
    --------
    >>> made = membership([["bo"], ["al", "bo"], []], 3, "authors")
    >>> made.names.tolist(), made.matrix.toarray().astype(int).tolist()
    (['al', 'bo'], [[0, 1], [1, 1], [0, 0]])
    """
    if isinstance(values, Membership):
        _check_length(len(values), n_docs, what)
        return values if names is None else values.aligned(names)
    refuse_masked(values, what)
    values = unnested(values)
    if _has_numbers(values):
        columns = np.asarray(values.columns)
        values = _flags(values.to_numpy(dtype=np.float64), what).toarray()
        if names is not None and not np.array_equal(columns, names):
            values = [columns[row != 0].tolist() for row in values]
        else:
            names = columns
    elif is_frame(values):
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
    rows = [names_of(entry) for entry in values]
    _check_length(len(rows), n_docs, what)
    return _from_lists(rows, what, [] if names is None else list(names))


def _check_length(found: int, n_docs: int, what: str) -> None:
    if found != n_docs:
        raise ValueError(
            f"{what} describes {found} documents but X has {n_docs}; give one list per document,"
            " empty where there are none."
        )


def _from_lists(rows: list[list[Name]], what: str, known: list[Name]) -> Membership:
    fresh = list({name for row in rows for name in row} - set(known))
    try:
        fresh.sort()
    except TypeError:
        kinds = " and ".join(sorted({type(name).__name__ for name in fresh}))
        raise ValueError(
            f"{what} are of different kinds ({kinds}); make them all strings, for instance."
        ) from None
    column = {name: i for i, name in enumerate([*known, *fresh])}
    docs = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    columns = np.array([column[name] for row in rows for name in row], dtype=np.int64)
    table = sparse.csr_array((np.ones(len(docs)), (docs, columns)), shape=(len(rows), len(column)))
    return Membership(zero_one(table), np.array(list(column), dtype=None if column else str))


def label_membership(
    values: object, n_docs: int, what: str = "labels", names: np.ndarray | None = None
) -> Membership:
    """The labels of each document, which may also be one value each; see `membership`.

    Examples
    --------
    >>> label_membership(["sport", None], 2).tolist()
    [['sport'], []]
    """
    return membership(one_each(values), n_docs, what, names)


def columns_of_names(groups: GroupsLike, n_docs: int) -> dict[str, Membership]:
    """Further columns, by their names: text values, one or several for each document.

    Parameters
    ----------
    groups : mapping of str to list, or DataFrame
        Values that are not text become text.
    n_docs : int
        Number of documents that there must be.

    Returns
    -------
    dict of str to Membership

    Examples
    --------
    >>> made = columns_of_names({"source": ["blog", None], "year": [2020, 2021]}, 2)
    >>> made["source"].tolist(), made["year"].tolist()
    ([['blog'], []], [['2020'], ['2021']])
    """
    if not (isinstance(groups, Mapping) or is_frame(groups)):
        raise ValueError(
            f"groups is a {type(groups).__name__}; give a dictionary of columns by name, or a"
            " DataFrame."
        )
    taken = next((name for name in ("authors", "labels") if name in groups), None)
    if taken is not None:
        raise ValueError(
            f"groups holds {taken!r}; give these as {taken}=..., or rename the column."
        )
    made = {}
    for name, values in groups.items():
        what = f"groups[{str(name)!r}]"
        if not isinstance(values, Membership):
            given = one_each([None if is_missing(value) else value for value in values])
            rows = cast("list[list[Name]]", given)
            values = [[document_name(value) for value in row] for row in rows]
            refuse_half_characters((value for row in values for value in row), what)
        made[str(name)] = membership(values, n_docs, what)
    return made


def unnested(values: LabelsLike) -> LabelsLike:
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


def _has_numbers(values: object) -> TypeGuard[pd.DataFrame]:
    """Whether values are a DataFrame with numbers in all columns."""
    return is_frame(values) and all(
        getattr(dtype, "kind", "O") in "biuf" for dtype in values.dtypes
    )


def names_of(entry: object) -> list[Name]:
    """The names of one document: a name or a list of them; gaps (None, NaN, "") are no names."""
    several = isinstance(entry, Sequence | set | frozenset | np.ndarray) and not isinstance(
        entry, str
    )
    return [
        name
        for name in (cast("Iterable[Name]", entry) if several else [cast("Name", entry)])
        if not (name is None or name == "" or name != name)
    ]


def _from_matrix(values: Matrix, n_docs: int, what: str, names: np.ndarray | None) -> Membership:
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
    return Membership(table, np.arange(table.shape[1]) if names is None else np.asarray(names))


def _flags(values: object, what: str) -> sparse.csr_array:
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


def as_csr(values: object, what: str) -> sparse.csr_array:
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


def one_each(labels: LabelsLike) -> LabelsLike:
    """Labels with one value per document (strings, numbers, None or NaN for unknown) as lists of
    labels; other forms unchanged.
    """
    if isinstance(labels, Membership):
        return labels
    refuse_masked(labels, "labels")
    labels = unnested(labels)
    if is_table(labels) and labels.shape[1] > 1:
        return labels
    if is_table(labels):
        labels = (labels.toarray() if is_sparse(labels) else np.asarray(labels)).ravel()
    # A pandas column, for instance.
    labels = labels if isinstance(labels, Sequence) else np.asarray(labels)
    return [
        [name.item() if isinstance(name, np.generic) else name for name in names_of(entry)]
        for entry in labels
    ]


def is_frame(values: object) -> TypeGuard[pd.DataFrame]:
    """Whether values have named columns, as a DataFrame has."""
    return hasattr(values, "columns")


def is_table(values: object) -> TypeGuard[np.ndarray]:
    """Whether values are a matrix: sparse, an array of two dimensions or a DataFrame."""
    return sparse.issparse(values) or (hasattr(values, "shape") and len(values.shape) == 2)


def document_name(value: object) -> str:
    """The name of a document as text; 3.0 is 3, since frames turn whole numbers into floats.

    Examples
    --------
    >>> document_name(3.0)
    '3'
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
