"""Weighting: the weights that messages carry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from topoi.choices import WEIGHTINGS

__all__ = ["Weighting", "fit_weighting"]


@dataclass(frozen=True)
class Weighting:
    """How counts become the weights that messages carry (algorithms 1.11).

    `fit_weighting` takes idf and scale from training documents.
    """

    kind: str
    idf: np.ndarray | None
    scale: float

    def __call__(self, counts: sparse.csr_array) -> sparse.csr_array:
        """The weights of canonical counts: these themselves, if nothing changes."""
        if self.kind == "count" and self.scale == 1:
            return counts
        weights = counts.copy()
        if self.kind == "log":
            weights.data = np.log1p(counts.data)
        elif self.kind in ("tf", "tfidf"):
            weights.data = counts.data / np.repeat(counts.sum(axis=1), np.diff(counts.indptr))
        if self.idf is not None:
            weights.data = weights.data * self.idf[counts.indices]
        weights.data *= self.scale
        return weights


def fit_weighting(kind: str, counts: sparse.csr_array) -> Weighting:
    """The weighting `kind` of training counts, scaled by one factor so that all weights add up to
    all counts.
    """
    if kind not in WEIGHTINGS:
        raise ValueError(
            f"weighting is {kind!r}; choose one of {', '.join(map(repr, WEIGHTINGS))}."
        )
    if kind == "count":
        return Weighting(kind, None, 1.0)
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log(counts.shape[0] / np.maximum(df, 1)) if kind == "tfidf" else None
    total = Weighting(kind, idf, 1.0)(counts).data.sum()
    if not total > 0:
        raise ValueError(
            f"weighting={kind!r} leaves no weight at all: every word stands in every document. Use"
            " 'tf' or 'count'."
        )
    return Weighting(kind, idf, float(counts.data.sum() / total))
