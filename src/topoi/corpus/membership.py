"""Membership: which authors or labels each document has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

import numpy as np
from scipy import sparse

__all__ = ["Membership", "Name"]

Name = str | int | float  # of an author, a label or a document: text as a rule, else a number


@dataclass(frozen=True, eq=False)
class Membership:
    """The names of each document: its authors, or its labels.

    It reads as a list of lists: `len`, iteration and ``membership[3]`` give documents and their
    names.

    Parameters
    ----------
    matrix : csr_array of shape (n_docs, n_names)
        1 where a document has a name, sorted, nothing stored elsewhere.
    names : ndarray of shape (n_names,)
        The name of each column, none twice.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> matrix = sparse.csr_array(np.array([[1.0, 1.0], [0.0, 1.0]]))
    >>> made = Membership(matrix, np.array(["a", "b"]))
    >>> made.tolist()
    [['a', 'b'], ['b']]
    >>> made[1]
    ['b']
    """

    matrix: sparse.csr_array
    names: np.ndarray

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __iter__(self) -> Iterator[list[Name]]:
        names, columns = self.names.tolist(), self.matrix.indices.tolist()
        for first, last in pairwise(self.matrix.indptr.tolist()):
            yield [names[column] for column in columns[first:last]]

    @overload
    def __getitem__(self, rows: int) -> list[Name]: ...
    @overload
    def __getitem__(self, rows: slice | Sequence[int] | np.ndarray) -> Membership: ...
    def __getitem__(
        self, rows: int | slice | Sequence[int] | np.ndarray
    ) -> list[Name] | Membership:
        """The names of one document as a list, or the membership of several documents.

        Names that none of these documents has are left out.
        """
        chosen = np.arange(len(self))[rows]
        if chosen.ndim == 0:
            columns = self.matrix.indices[
                self.matrix.indptr[chosen] : self.matrix.indptr[chosen + 1]
            ]
            found: list[Name] = self.names[columns].tolist()
            return found
        part = self.matrix[chosen]
        used = np.bincount(part.indices, minlength=len(self.names)) > 0
        return Membership(sparse.csr_array(part[:, used]), self.names[used])

    def tolist(self) -> list[list[Name]]:
        """A list of names for each document."""
        return list(self)

    def counts(self) -> np.ndarray:
        """How many names each document has, of shape (n_docs,)."""
        return np.diff(self.matrix.indptr)

    def aligned(self, names: Sequence[Name] | np.ndarray) -> Membership:
        """The same with `names` as its first columns, in their order; its other names follow.

        Parameters
        ----------
        names : sequence
            Names that are known, none twice.

        Returns
        -------
        Membership
            This one, if its names begin with `names`.

        Examples
        --------
        >>> from topoi.corpus.metadata import membership
        >>> membership([["b"], ["c"]], 2, "authors").aligned(["a", "b"]).names.tolist()
        ['a', 'b', 'c']
        """
        if np.array_equal(self.names[: len(names)], names):
            return self
        column = {name: i for i, name in enumerate(np.asarray(names).tolist())}
        for name in self.names.tolist():
            column.setdefault(name, len(column))
        moved = np.array([column[name] for name in self.names.tolist()], dtype=np.int64)
        matrix = sparse.csr_array(
            (self.matrix.data, moved[self.matrix.indices], self.matrix.indptr),
            shape=(len(self), len(column)),
        )
        return Membership(matrix.sorted_indices(), np.array(list(column), dtype=None))

    def __repr__(self) -> str:
        return f"Membership({len(self):,} documents, {len(self.names):,} names)"
