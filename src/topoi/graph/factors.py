"""Factors: what a model is made of. Each one adds its part to a plan; `build_graph` compiles the plan.

LDA is [Words(counts), Documents()]. Another model is another list. A factor may say which weights the messages carry (Words), who owns a
document (Documents), which topics it may use, or what other documents tell it (a `Field`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from topoi.corpus import check_counts
from topoi.graph.wiring import Graph, Plan, build_graph

__all__ = ["Documents", "Factor", "Field", "Weighting", "Words", "compile_factors", "fit_weighting"]

WEIGHTINGS = ("count", "tf", "tfidf", "log")


class Factor(Protocol):
    """Anything with `add_to(plan)`."""

    def add_to(self, plan: Plan) -> None: ...


class Field(Protocol):
    """What other documents say about a document's topics, refreshed once per sweep.

    `weight` is the share of the owner's say that the field replaces; `message(doc_topic)` takes (D, K) topic shares of the documents and
    returns (D, K) rows that sum to 1, or to 0 for documents that hear nothing.
    """

    weight: float

    def message(self, doc_topic: np.ndarray) -> np.ndarray: ...


@dataclass
class Words:
    """The observed counts, documents x words: each nonzero is an edge and carries a message.

    weighting: "count", or "tf" x/n_d, "tfidf" x/n_d log(D/df), "log" log(1+x), each rescaled so that all weights add up to all counts.
    base: (W, K) counts that words hold besides the messages. frozen: words hold the base and nothing else (prediction).
    """

    counts: Any
    weighting: str | Weighting = "count"
    base: np.ndarray | None = None
    frozen: bool = False

    def add_to(self, plan: Plan) -> None:
        counts = check_counts(self.counts, name="counts")
        weighting = self.weighting if isinstance(self.weighting, Weighting) else fit_weighting(self.weighting, counts)
        plan.counts = weighting(counts)
        plan.word_base = self.base
        plan.frozen_words = self.frozen


@dataclass
class Documents:
    """Each document owns its own topic shares: the owner side of LDA."""

    def add_to(self, plan: Plan) -> None:
        assert plan.counts is not None, "Words come first"
        plan.owners = sparse.eye_array(plan.counts.shape[0], format="csr")


@dataclass(frozen=True)
class Weighting:
    """How counts become the weights that messages carry (algorithms 1.11). `fit_weighting` takes idf and scale from training documents."""

    kind: str
    idf: np.ndarray | None
    scale: float

    def __call__(self, counts: sparse.csr_array) -> sparse.csr_array:
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
    """The weighting `kind` of training counts, scaled by one factor so that all weights add up to all counts."""
    if kind not in WEIGHTINGS:
        raise ValueError(f"weighting is {kind!r}; choose one of {', '.join(map(repr, WEIGHTINGS))}.")
    if kind == "count":
        return Weighting(kind, None, 1.0)
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log(counts.shape[0] / np.maximum(df, 1)) if kind == "tfidf" else None
    total = Weighting(kind, idf, 1.0)(counts).data.sum()
    if not total > 0:
        raise ValueError(f"weighting={kind!r} leaves no weight at all: every word stands in every document. Use 'tf' or 'count'.")
    return Weighting(kind, idf, float(counts.data.sum() / total))


def compile_factors(factors: Sequence[Factor], n_topics: int, **layout: Any) -> Graph:
    """The graph of a list of factors; `layout` goes to `build_graph`."""
    plan = Plan(n_topics)
    for factor in factors:
        factor.add_to(plan)
    return build_graph(plan, **layout)
