"""Links between documents in the forms in which people have them, as one sparse matrix; bad ones
refused with the cure.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from topoi.corpus.checks import is_sparse, refuse_masked
from topoi.corpus.metadata import as_csr, document_name, is_frame, is_table, names_of, zero_one

if TYPE_CHECKING:
    from topoi.corpus.given import LinksLike, NamesLike

__all__ = [
    "adjacency",
    "are_pairs",
    "neighbour_pairs",
    "neighbours_by_name",
    "symmetric",
    "whole_pairs",
]

EXACT = 2**53  # whole numbers up to here are exact in double precision


def _listed(links: LinksLike) -> LinksLike:
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
    # Nobody has all documents for neighbours: a matrix in lists.
    return np.asarray(rows) if square else rows


def _is_matrix(links: LinksLike) -> bool:
    """Whether links are a table, but not a column for each end of a link (and perhaps others)."""
    ends = is_frame(links) and links.shape[0] != links.shape[1]
    return is_table(links) and (is_sparse(links) or links.shape[1] != 2) and not ends


def are_pairs(links: LinksLike, n_docs: int) -> bool:
    """Whether links are pairs (m, 2), not a matrix and not lists of neighbours."""
    links = _listed(links)
    if _is_matrix(links):
        return False
    if not isinstance(links, list):
        return True
    if all(isinstance(row, tuple) for row in links):
        # Three are pairs with weights, which are refused.
        return {len(row) for row in links} in (
            set(),
            {2},
            {3},
        )
    twos = all(isinstance(row, list | np.ndarray) and len(row) == 2 for row in links)
    if twos and len(links) == n_docs:
        raise ValueError(
            f"links has {n_docs} lists of two numbers, as many as documents: pairs, or two"
            " neighbours for each? Give pairs as tuples or an array, neighbours as a documents x"
            " documents matrix."
        )
    return twos


def neighbour_pairs(lists: LinksLike) -> np.ndarray:
    """(m, 2) document and neighbour, from a list of neighbour numbers for each document."""
    return whole_pairs(
        [(doc, neighbour) for doc, row in enumerate(lists) for neighbour in names_of(row)]
    )


def whole_pairs(links: LinksLike) -> np.ndarray:
    """(m, 2) whole numbers from pairs in any form."""
    try:
        ends = np.asarray(links, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "links are not document numbers; for names give doc_names, the name of each document,"
            " and lists of names."
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


def adjacency(links: LinksLike, n_docs: int) -> sparse.csr_array:
    """Links as a documents x documents matrix of ones, in the directions that are given.

    Parameters
    ----------
    links : matrix, array of pairs, or list of lists
        Documents x documents, pairs (m, 2) of document numbers (so an array with two columns holds
        pairs), or a list of neighbours' numbers for each document.
    n_docs : int
        Number of documents.

    Returns
    -------
    csr_array of shape (n_docs, n_docs)
        Sorted, every stored entry 1.

    Examples
    --------
    >>> adjacency([(0, 1), (2, 0)], 3).toarray().astype(int).tolist()
    [[0, 1, 0], [0, 0, 0], [1, 0, 0]]
    """
    links = _listed(links)
    if _is_matrix(links):
        table = as_csr(links, "links")
        if table.shape != (n_docs, n_docs):
            raise ValueError(
                f"links has shape {table.shape} but X has {n_docs} documents; expected ({n_docs},"
                f" {n_docs}). Where rows are taken out (cross-validation), give a list of"
                " neighbours' names for each document, with doc_names."
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
            " names, with doc_names."
        )
    return zero_one(
        sparse.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n_docs, n_docs))
    )


def symmetric(table: sparse.csr_array) -> sparse.csr_array:
    """Links in both directions, without self-links (A12)."""
    both = sparse.csr_array(table + table.T)
    both.setdiag(0)
    return zero_one(both)


def neighbours_by_name(
    links: LinksLike, doc_names: NamesLike, known_names: NamesLike = ()
) -> list[np.ndarray]:
    """Lists of the names of neighbours as lists of numbers.

    Parameters
    ----------
    links : list of lists
        The names of each document's neighbours. Those of no document here are left out.
    doc_names : sequence
        The name of each document. Names are compared as text: 3 and "3" are the same.
    known_names : sequence, optional
        Names of other documents, which are numbered first.

    Returns
    -------
    list of ndarray
        The numbers of each document's neighbours.

    Examples
    --------
    >>> [row.tolist() for row in neighbours_by_name([["b", "z"], []], ["a", "b"])]
    [[1], []]
    """
    if is_table(links):
        raise ValueError(
            "doc_names go with lists of neighbours' names; links as a matrix have numbers, so leave"
            " doc_names out."
        )
    names = [document_name(name) for name in (*known_names, *doc_names)]
    number = {name: i for i, name in enumerate(names)}
    if len(number) != len(names):
        twice = next(name for i, name in enumerate(names) if number[name] != i)
        raise ValueError(
            f"doc_names are not all different: {twice!r} is there twice. Give every document a name"
            " of its own."
        )
    if len(links) != len(doc_names):
        raise ValueError(
            f"links lists the neighbours of {len(links)} documents but doc_names has"
            f" {len(doc_names)}; give one list per document."
        )
    named = [[document_name(name) for name in names_of(row)] for row in links]
    found = [
        np.array([number[name] for name in row if name in number], dtype=np.int64) for row in named
    ]
    if any(named) and not any(map(len, found)):
        warnings.warn(
            "None of the neighbours is among the names of documents, so there are no links. Do"
            " links and doc_names spell them alike?",
            stacklevel=4,
        )
    return found
