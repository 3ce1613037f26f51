"""Checks of counts: what compiled code may rely on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from topoi.corpus.given import CountsLike

__all__ = [
    "check_counts",
    "is_collection",
    "is_missing",
    "is_sparse",
    "is_whole",
    "refuse_broken",
    "refuse_half_characters",
    "refuse_masked",
]

HALF_CHARACTER = re.compile("[\ud800-\udfff]")
MOST = 1e12  # that an entry may be


def check_counts(counts: CountsLike, *, name: str = "X") -> sparse.csr_array:
    """Return `counts` as a canonical float64 CSR array (sorted, no duplicates, no explicit zeros),
    or say what is wrong with it.
    """
    refuse_broken(counts, name)
    if is_sparse(counts):
        if counts.dtype.kind not in "fiub":
            raise ValueError(
                f"{name} holds {counts.dtype} entries; expected numbers. Convert it with"
                " .astype(float)."
            )
        # A copy; numbers first: small types overflow where entries are summed.
        csr = sparse.csr_array(counts.astype(np.float64))
    else:
        array = np.asarray(counts)
        if array.ndim == 1 and array.dtype.kind == "U":
            raise ValueError(
                f"{name} holds texts; expected documents x words. Read them first:"
                " topoi.read(texts, vectorizer=model.vectorizer_), or topoi.read(texts) without a"
                " model."
            )
        if array.ndim != 2:
            raise ValueError(
                f"{name} has {array.ndim} dimension(s); expected documents x words. For one"
                f" document use {name}.reshape(1, -1)."
            )
        if array.dtype.kind not in "fiub":
            raise ValueError(
                f"{name} holds {array.dtype} entries; expected counts. For raw text use"
                " topoi.read(texts) first."
            )
        csr = sparse.csr_array(array.astype(np.float64))
    if not np.isfinite(csr.data).all():
        raise ValueError(
            f"{name} contains NaN or infinity. Replace missing counts by 0, for instance with"
            " numpy.nan_to_num."
        )
    if csr.nnz and csr.data.min() < 0:
        raise ValueError(
            f"Negative values in {name}: topic models need counts or weights >= 0. Clip them, or"
            " check the preprocessing."
        )
    csr.sum_duplicates()
    csr.eliminate_zeros()
    if csr.nnz and csr.data.max() > MOST:
        raise ValueError(
            f"{name} holds {csr.data.max():g}; single precision can only work with entries up to"
            f" {MOST:g}. Divide it by a constant."
        )
    return _with_short_indices(csr)


def _with_short_indices(csr: sparse.csr_array) -> sparse.csr_array:
    """Indices of 32 bits where they suffice: many estimators of scikit-learn take no others."""
    if max(csr.nnz, *csr.shape) < 2**31:
        csr.indices = csr.indices.astype(np.int32, copy=False)
        csr.indptr = csr.indptr.astype(np.int32, copy=False)
    return csr


def refuse_broken(table: object, name: str = "X") -> None:
    """Refuse a masked array, and a sparse matrix that would lead compiled code out of its
    arrays.
    """
    refuse_masked(table, name)
    if is_sparse(table) and table.format in ("csr", "csc", "bsr"):
        try:
            table.check_format(full_check=True)
            # SciPy does not look at the pointers if the last of them is 0.
            if (np.diff(table.indptr.astype(np.int64)) < 0).any():
                raise ValueError("indptr must not decrease")
        except ValueError as error:
            raise ValueError(
                f"{name} is a damaged sparse matrix ({error}). Rebuild it from its entries, with"
                " coo_array."
            ) from None


def is_sparse(table: object) -> TypeGuard[sparse.csr_array]:
    """Whether a table is a sparse matrix or array of SciPy, in any format."""
    return bool(sparse.issparse(table))


def is_whole(counts: sparse.csr_array) -> bool:
    """Whether all entries are whole numbers."""
    return bool((counts.data == np.round(counts.data)).all())


def is_missing(value: object) -> bool:
    """None, NaN, or pandas' NA and NaT."""
    return value is None or (not isinstance(value, str) and str(value) in ("nan", "<NA>", "NaT"))


def refuse_masked(values: object, name: str = "X") -> None:
    """Refuse a masked array: everything below works on its data and would not see the mask."""
    if np.ma.isMaskedArray(values):
        raise ValueError(
            f"{name} is a masked array, whose mask would be lost. Give {name}.filled(0)."
        )


def refuse_half_characters(values: Iterable[object], name: str) -> None:
    """Refuse text with a lone surrogate, which can be neither written nor shown."""
    try:
        "".join(map(str, values)).encode()
    except UnicodeEncodeError:
        bad = next(value for value in map(str, values) if HALF_CHARACTER.search(value))
        raise ValueError(
            f"{name} holds {bad!r}, which is not text; replace its half characters (\\ud800 to"
            " \\udfff)."
        ) from None


def is_collection(X: object) -> bool:
    """Whether X is a collection of Dask (array, bag, dataframe or column of one) or Delayed."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and (
        hasattr(X, "__dask_graph__")
    )
