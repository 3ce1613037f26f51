"""The forms in which people give what a Corpus holds.

Types for signatures, imported by type checkers only. metadata.py, links.py and dates.py turn these
forms into the one that a Corpus holds, and refuse others with the cure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from scipy import sparse

from topoi.corpus.membership import Membership, Name

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "AuthorsLike",
    "CountsLike",
    "DaskCollection",
    "DatesLike",
    "Frame",
    "GroupsLike",
    "LabelsLike",
    "LinksLike",
    "Matrix",
    "NamesLike",
    "Rows",
    "VocabularyLike",
]


class Frame(Protocol):
    """A table with named columns: of pandas, polars or Dask."""

    @property
    def columns(self) -> Iterable[str]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    def __getitem__(self, column: str, /) -> Iterable[object]: ...


class DaskCollection(Protocol):
    """An array, a bag, a frame or a column of Dask, or a Delayed."""

    def __dask_graph__(self) -> object: ...


Matrix: TypeAlias = "sparse.sparray | sparse.spmatrix | np.ndarray | pd.DataFrame"
CountsLike: TypeAlias = "Matrix | Sequence[Sequence[float]]"  # documents x words
VocabularyLike: TypeAlias = "Sequence[str] | np.ndarray | pd.Index"  # the word of each column

# One entry per document: a name, several, or None. Or documents x names, of 0 and 1.
AuthorsLike: TypeAlias = (
    "Membership | Sequence[Name | None] | Sequence[Iterable[Name]] | Matrix | pd.Series"
)
LabelsLike: TypeAlias = AuthorsLike
# Pairs of documents, the neighbours of each document, or documents x documents.
LinksLike: TypeAlias = "Sequence[Sequence[Name]] | Matrix | pd.Series"
NamesLike: TypeAlias = "Sequence[Name] | np.ndarray | pd.Series | pd.Index"
# dates.canonical_date reads each of them; None where a document has no date.
DatesLike: TypeAlias = "Sequence[str | int | float | date | None] | np.ndarray | pd.Series"
GroupsLike: TypeAlias = "Mapping[str, LabelsLike] | pd.DataFrame"  # further columns, by name
Rows: TypeAlias = "int | slice | Sequence[int] | np.ndarray"  # of a Corpus: [rows] takes them
