"""Entries of a model file: what `partial_fit` has learned so far."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from topoi.rules import LEAST_RELAXATION, MOST_RELAXATION
from topoi.storage.schema import (
    LARGEST,
    SMALLEST,
    Array,
    Contents,
    Value,
    checked_csr,
    choice,
    demand,
    flag,
    number,
    whole,
)

__all__ = ["BATCHES", "kept_documents"]

BATCHES: dict[str, Array | Value] = {  # what partial_fit has learned so far
    "_online.base": Array("f8", ("W", "K"), -1e-3, LARGEST),
    "_online.evidence": Array("f8", (2, "K"), 0, LARGEST, optional=True),
    "_online.batches": whole(1),
    "_online.documents": number(0, LARGEST),
    "_online.total_docs": number(1, LARGEST),
    "_online.seed": whole(0, 2**64),
    "_online.rule": choice("bp", "sibp", "cvb0"),
    "_online.tokens": flag(),
    "_online.relaxation": number(LEAST_RELAXATION, MOST_RELAXATION, optional=True),
    "_online.learn_alpha": flag(),
    "_online.learn_beta": flag(),
    "_online.decay": number(0, 1),
    "_online.offset": number(1, 1e12),
    "_online.started": whole(0),
    "_online.kept_indptr": Array("i4 i8", ("Y+1",), 0, optional=True),  # first documents
    "_online.kept_indices": Array("i4 i8", ("I2",), 0, optional=True),
    "_online.kept_values": Array("f4 f8", ("I2",), SMALLEST, LARGEST, optional=True),
}


def kept_documents(found: Contents) -> sparse.csr_array | None:
    """The first documents of `partial_fit`, if there are few so far."""
    parts = [found.get(f"_online.kept_{part}") for part in ("indptr", "indices", "values")]
    indptr, indices, values = parts
    if indptr is None or indices is None or values is None:
        demand(
            all(part is None for part in parts), "_online has some of what it keeps, and not all"
        )
        return None
    shape = (len(indptr) - 1, found["components_"].shape[1])
    kept = checked_csr("_online.kept", indptr, indices, shape)
    kept.data = values.astype(np.float64)
    return kept
