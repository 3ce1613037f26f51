"""What documents in partitions have beside words, and what it makes of a run on a cluster: labels
decide the topics, authors own documents together, wherever these are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from topoi.choices import AuthorPrior
from topoi.corpus import Corpus, Membership
from topoi.graph.factors import Authors, Labels
from topoi.graph.plan import Plan
from topoi.storage.digests import digest

__all__ = ["Facts", "PartitionAuthors", "PartitionFactor", "PartitionLabels", "facts_of"]


class Facts(NamedTuple):
    """What a partition is."""

    n_rows: int  # documents, with words or without
    n_docs: int  # with words
    n_edges: int
    weight: float
    heaviest: float  # entry
    longest: int  # entries of a document or an author, at most
    labels: np.ndarray | None  # names
    single: bool  # no document has several labels
    authors: np.ndarray | None  # names
    n_alone: int  # documents without authors
    n_pairs: int  # of a document and an owner: an author, or itself
    n_messages: int  # pairs of an entry and an owner
    sha256: str


def facts_of(corpus: Corpus) -> Facts:
    counts, labels = corpus.counts, corpus.labels
    n_entries = np.diff(counts.indptr)
    longest, n_authors = n_entries.max(initial=0), np.zeros(len(n_entries), np.int64)
    if corpus.authors is not None:
        n_authors = corpus.authors.counts()
        longest = max(longest, (corpus.authors.matrix.T @ n_entries).max(initial=0))
    n_owners = np.maximum(n_authors, 1)
    return Facts(
        counts.shape[0],
        int((counts.sum(axis=1) > 0).sum()),
        counts.nnz,
        float(counts.data.sum()),
        float(counts.data.max(initial=0)),
        int(longest),
        _names(labels),
        labels is None or bool((labels.counts() <= 1).all()),
        _names(corpus.authors),
        int((n_authors == 0).sum()),
        int(n_owners.sum()),
        int(n_owners @ n_entries),
        digest([counts, *map(_content, (labels, corpus.authors))]),
    )


def _names(members: Membership | None) -> np.ndarray | None:
    """Names that documents have."""
    if members is None:
        return None
    has_documents = np.asarray(members.matrix.sum(axis=0) > 0)
    return np.asarray(members.names[has_documents])


def _content(members: Membership | None) -> list[object] | None:
    return None if members is None else [members.matrix, members.names]


class PartitionFactor(Protocol):
    """What documents of all partitions have beside words."""

    @property
    def n_topics(self) -> int: ...

    @property
    def n_owners(self) -> int | None:
        """Of all documents; None where these own themselves."""
        ...

    def add_to(self, plan: Plan, corpus: Corpus, number: int) -> np.ndarray | None:
        """Add the factor of partition `number` to its plan. Returns the number of each owner of the
        plan among all owners, or None where documents own themselves.
        """
        ...


@dataclass(frozen=True, eq=False)
class PartitionLabels:
    """Labels, each of which is a topic, and topics beside them."""

    classes: np.ndarray
    n_topics: int
    n_owners: None = None

    @classmethod
    def found(cls, model: Any, facts: Sequence[Facts]) -> Self:
        """Those of all partitions; the model knows them from now on."""
        known = [fact.labels for fact in facts if fact.labels is not None]
        if len(known) < len(facts) or not sum(map(len, known)):
            raise ValueError(
                "On a cluster labels come with the documents: each partition is a Corpus with"
                " labels, such as topoi.read(..., labels=...) makes. For topics without labels use"
                " LDA."
            )
        model.classes_ = np.unique(np.concatenate(known))
        model._seen = np.ones(len(model.classes_), bool)
        model._single, model._as_matrix = all(fact.single for fact in facts), False
        return cls(model.classes_, len(model.classes_) + model.background_topics)

    def add_to(self, plan: Plan, corpus: Corpus, number: int) -> None:
        assert corpus.labels is not None
        classes, labels = self.classes, corpus.labels.aligned(self.classes)
        known = Membership(labels.matrix[:, : len(classes)], classes)
        Labels(known, self.n_topics - len(classes)).add_to(plan)


@dataclass(frozen=True, eq=False)
class PartitionAuthors:
    """Authors, who may have documents in several partitions.

    They are numbered by their names. Documents without authors own themselves; they follow,
    partition by partition: those of a partition are `alone[number]` and on.
    """

    names: np.ndarray
    alone: np.ndarray
    n_owners: int
    n_topics: int
    prior: AuthorPrior

    @classmethod
    def found(cls, model: Any, facts: Sequence[Facts]) -> Self:
        """Those of all partitions."""
        known = [fact.authors for fact in facts if fact.authors is not None]
        if not any(map(len, known)) and len(known) == len(facts):
            raise ValueError("No document of the partitions has an author. Use LDA for these.")
        if len(known) < len(facts):
            without = next(i for i, fact in enumerate(facts) if fact.authors is None)
            raise ValueError(
                f"Partition {without} has no authors. On a cluster these come with the documents:"
                " each partition is a Corpus with authors, such as topoi.read(..., authors=...)"
                " makes. For topics without authors use LDA."
            )
        kinds = {part.dtype.kind in "iufb" for part in known if len(part)}
        if len(kinds) > 1:
            raise ValueError(
                "Some partitions name authors by text, others by numbers, so they cannot be"
                " compared; make all of them text."
            )
        names = np.unique(np.concatenate([part for part in known if len(part)]))
        ends = len(names) + np.cumsum([0, *(fact.n_alone for fact in facts)])
        return cls(names, ends[:-1], int(ends[-1]), model.n_components, model.author_prior)

    def add_to(self, plan: Plan, corpus: Corpus, number: int) -> np.ndarray:
        assert corpus.authors is not None
        named = _names(corpus.authors)
        assert named is not None
        named = np.sort(named)
        matrix = corpus.authors.aligned(named).matrix[:, : len(named)]
        Authors(Membership(matrix, named), self.prior).add_to(plan)
        assert plan.owners is not None
        alone = np.arange(plan.owners.shape[1] - len(named)) + self.alone[number]
        return np.concatenate([np.searchsorted(self.names, named), alone])
