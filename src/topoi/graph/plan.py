"""The plan of a model: what its factors add up to, before it is laid out for the kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from topoi.graph.fields import Field, LearningField


__all__ = ["Plan", "PlanFacts"]


class PlanFacts(NamedTuple):
    """What decides how a run goes (infer/recipe.py)."""

    n_topics: int
    n_docs: int  # with words or without
    n_edges: int
    most_edges: int  # of any one shard
    weight: float  # of all edges
    token: float  # the weight that counts as one token
    private: bool  # every document owns itself, and nothing else does
    free: bool  # all topics are allowed, and nothing is held besides the messages
    fields: bool  # documents receive messages from others
    word_prior: bool  # topics have word priors of their own

    @property
    def plain(self) -> bool:
        """Private and free."""
        return self.private and self.free


@dataclass
class Plan:
    """What the factors of a model have contributed so far; `build_graph` compiles it.

    Words make it (`Words.new_plan`), the other factors add to it.
    """

    n_topics: int
    counts: sparse.csr_array  # (D, W) weights that the messages carry
    owners: sparse.csr_array | None = None  # (D, O) who owns each document
    # (D, K) which topics each document may use; an empty row allows all
    topics: sparse.csr_array | None = None
    fields: list[Field | LearningField] = field(default_factory=list)
    # pseudo-count of an owner in its document; 0 = owners are equally likely
    owner_prior: float = 0.0
    word_base: np.ndarray | None = None  # (W, K) counts that words hold besides the messages
    word_prior: np.ndarray | None = None  # (W, K) prior of words in topics, beyond beta
    owner_base: np.ndarray | None = None  # (O, K)
    frozen_words: bool = False

    @property
    def token(self) -> float:
        """The weight that counts as one token: 1, or the mean entry where entries are lighter
        (TF-IDF, proportions).
        """
        return min(1.0, float(self.counts.data.mean())) if self.counts.nnz else 1.0

    @property
    def facts(self) -> PlanFacts:
        """What decides how a run goes."""
        n_edges = self.counts.nnz
        return PlanFacts(
            n_topics=self.n_topics,
            n_docs=self.counts.shape[0],
            n_edges=n_edges,
            most_edges=n_edges,
            weight=float(self.counts.sum()),
            token=self.token,
            private=self.is_private,
            free=self.is_free,
            fields=bool(self.fields),
            word_prior=self.word_prior is not None,
        )

    def add_word_prior(self, prior: np.ndarray) -> None:
        """Pseudo-counts (W, K) of words in topics, beyond beta. None at all is no prior."""
        if prior.any():
            self.word_prior = prior if self.word_prior is None else self.word_prior + prior

    @property
    def is_private(self) -> bool:
        """Whether every document owns itself, and nothing else does."""
        return is_private_matrix(self.owners)

    @property
    def is_plain(self) -> bool:
        """Whether every document owns itself, and the plan is free."""
        return self.is_private and self.is_free

    @property
    def is_free(self) -> bool:
        """Whether documents may use all topics, and nothing is held besides the messages."""
        free = self.topics is None or bool(
            np.isin(np.diff(self.topics.indptr), (0, self.n_topics)).all()
        )
        return free and self.word_base is None and self.owner_base is None


def is_private_matrix(owners: sparse.csr_array | None) -> bool:
    """Whether every document has one owner, and every owner one document."""
    if owners is None:
        return True
    n_docs = np.bincount(owners.indices, minlength=owners.shape[1])
    return bool((np.diff(owners.indptr) == 1).all() and (n_docs == 1).all())
