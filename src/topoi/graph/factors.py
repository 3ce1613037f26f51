"""Factors: what a model is made of.

Each one adds its part to a plan; `build_graph` compiles the plan. Factors hold their data in the
forms of a Corpus; `TopicModel` brings other forms into these by `canonical_factor`.

LDA is [Words(counts), Documents()]. Another model is another list. A factor may give the weights of
the messages (Words), the owners of a document (Documents), the topics it may use, or a message from
other documents (a `Field`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from scipy import sparse

from topoi.choices import AUTHOR_PRIORS, AuthorPrior, WeightingName
from topoi.corpus import Membership
from topoi.corpus.dates import dates_as_text
from topoi.corpus.links import adjacency
from topoi.corpus.metadata import label_membership, membership
from topoi.graph.dates import Dates
from topoi.graph.fields import Field
from topoi.graph.links import Links
from topoi.graph.plan import Plan
from topoi.graph.weighting import Weighting, fit_weighting
from topoi.graph.wiring import Graph, build_graph

if TYPE_CHECKING:
    from topoi.corpus import Corpus

__all__ = [
    "Authors",
    "Dates",
    "Documents",
    "Factor",
    "Field",
    "Labels",
    "Links",
    "Words",
    "canonical_factor",
    "compile_factors",
    "make_plan",
]


class Factor(Protocol):
    """Anything with `add_to(plan)`: every factor but Words, which makes the plan."""

    def add_to(self, plan: Plan) -> None:
        """Add the owners, allowed topics, field or word prior that it stands for to `plan`."""


@dataclass
class Words:
    """The observed counts: each nonzero is an edge and carries a message.

    Parameters
    ----------
    counts : csr_array of shape (n_docs, n_words), or Corpus
        Documents x words. With a Corpus, a TopicModel also has its vocabulary.
    weighting : {"count", "tf", "tfidf", "log"} or Weighting, default="count"
        "tf" is x/n_d, "tfidf" x/n_d log(D/df), "log" log(1+x), each rescaled so that all weights
        add up to all counts.
    base : ndarray of shape (n_words, n_topics), default=None
        Counts that words hold besides the messages.
    frozen : bool, default=False
        Whether words hold the base and nothing else (prediction).

    Examples
    --------
    >>> from topoi import TopicModel, Words
    >>> TopicModel([Words([[2, 1, 0], [0, 1, 2]])], 2, max_iter=5).fit().components_.shape
    (2, 3)
    """

    counts: sparse.csr_array | Corpus
    weighting: WeightingName | Weighting = "count"
    base: np.ndarray | None = None
    frozen: bool = False

    def new_plan(self, n_topics: int) -> Plan:
        """The plan to which the other factors add.

        Parameters
        ----------
        n_topics : int
            Number of topics.
        """
        weighting = (
            self.weighting
            if isinstance(self.weighting, Weighting)
            else fit_weighting(self.weighting, self.counts)
        )
        return Plan(n_topics, weighting(self.counts), word_base=self.base, frozen_words=self.frozen)


@dataclass
class Documents:
    """Each document owns its own topic proportions: the owner side of LDA.

    Examples
    --------
    >>> from topoi import Documents, TopicModel, Words
    >>> TopicModel([Words([[2, 1], [0, 1]]), Documents()], 2, max_iter=5).fit().doc_topic_.shape
    (2, 2)
    """

    def add_to(self, plan: Plan) -> None:
        plan.owners = sparse.eye_array(plan.counts.shape[0], format="csr")


@dataclass
class Authors:
    """The authors of each document own it together (author-topic model).

    A document without authors owns itself.

    Parameters
    ----------
    authors : Membership
        The authors of each document (`TopicModel` takes all forms that a Corpus does).
    prior : {"uniform", "learned"}, default="uniform"
        Whether co-authors count equally, or by how well they explain the words (A8).
    names : ndarray of shape (n_names,), default=None
        The first authors, in this order; others follow. After compilation it holds all names;
        owners beyond them are documents without authors.
    base : ndarray of shape (n_names, n_topics), default=None
        Tokens that the named authors hold besides the messages.

    Examples
    --------
    >>> from topoi import Authors, TopicModel, Words
    >>> factors = [Words([[2, 1], [0, 1]]), Authors([["al"], ["al", "bo"]])]
    >>> TopicModel(factors, 2, max_iter=5).fit().factors_[-1].names.tolist()
    ['al', 'bo']
    """

    authors: Any  # any form that a Corpus takes; canonical_factor makes it a Membership
    prior: AuthorPrior = "uniform"
    names: np.ndarray | None = None
    base: np.ndarray | None = None

    def add_to(self, plan: Plan) -> None:
        if self.prior not in AUTHOR_PRIORS:
            raise ValueError(f"author_prior is {self.prior!r}; choose 'uniform' or 'learned'.")
        n_docs = plan.counts.shape[0]
        members, self.names = self.authors.matrix, self.authors.names
        orphans = np.flatnonzero(np.diff(members.indptr) == 0)
        own = sparse.csr_array(
            (np.ones(len(orphans)), (orphans, np.arange(len(orphans)))),
            shape=(n_docs, len(orphans)),
        )
        plan.owners = sparse.csr_array(sparse.hstack([members, own], format="csr"))
        plan.owner_prior = plan.token if self.prior == "learned" else 0.0
        if self.base is not None:
            plan.owner_base = np.zeros((plan.owners.shape[1], plan.n_topics))
            plan.owner_base[: len(self.base)] = self.base


@dataclass
class Labels:
    """Topics are labels: a document uses its own labels and the `background` topics, an unlabeled
    one all topics (labeled LDA).

    Parameters
    ----------
    labels : Membership
        The labels of each document (`TopicModel` takes all forms that a Corpus does).
    background : int, default=0
        Number of topics beside the labels, which every document may use. They follow the labels.
    classes : ndarray of shape (n_labels,), default=None
        The labels in the order of their topics. After compilation it holds all labels.

    Examples
    --------
    >>> from topoi import Labels, TopicModel, Words
    >>> factors = [Words([[2, 1], [0, 1]]), Labels([["pets"], ["zoo"]])]
    >>> TopicModel(factors, 2, max_iter=5).fit().doc_topic_.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    labels: Any  # as authors
    background: int = 0
    classes: np.ndarray | None = None

    def add_to(self, plan: Plan) -> None:
        n_docs = plan.counts.shape[0]
        known, self.classes = self.labels.matrix, self.labels.names
        if known.shape[1] + self.background != plan.n_topics:
            raise ValueError(
                f"{known.shape[1]} labels and {self.background} background topics make"
                f" {known.shape[1] + self.background} topics, not {plan.n_topics};"
                " make n_components their sum."
            )
        n_labels = np.diff(known.indptr)
        shared = sparse.csr_array(np.ones((n_docs, self.background)))
        listed = ((n_labels > 0) & (n_labels < known.shape[1])).astype(np.float64)
        topics = sparse.csr_array(
            sparse.diags_array(listed) @ sparse.hstack([known, shared], format="csr")
        )
        topics.eliminate_zeros()
        topics.sort_indices()
        plan.topics = topics if topics.nnz else None


def canonical_factor(factor: Factor, n_docs: int) -> Factor:
    """A factor with its authors, labels or links in the form that a Corpus has them in.

    Parameters
    ----------
    factor : Factor
        A factor of any kind. It stays as it is.
    n_docs : int
        Number of documents.

    Returns
    -------
    Factor
        A new factor, or `factor` if it is of another kind.

    Examples
    --------
    >>> canonical_factor(Authors([["bo"], ["al", "bo"]]), 2).authors.names.tolist()
    ['al', 'bo']
    """
    if isinstance(factor, Authors):
        members = membership(factor.authors, n_docs, "authors", factor.names)
        return replace(factor, authors=members, names=members.names)
    if isinstance(factor, Labels):
        return replace(factor, labels=_among_classes(factor, n_docs))
    if isinstance(factor, Dates):
        return replace(factor, dates=dates_as_text(factor.dates))
    if isinstance(factor, Links) and factor.fixed_proportions is None:
        return replace(factor, links=adjacency(factor.links, n_docs))
    return factor


def _among_classes(factor: Labels, n_docs: int) -> Membership:
    """The labels, none of which is new if classes are given."""
    fixed = factor.classes
    labels = label_membership(factor.labels, n_docs, "labels", fixed)
    if fixed is not None and len(labels.names) > len(fixed):
        new = labels.names.tolist()[len(fixed)]
        raise ValueError(
            f"labels holds {new!r}, which is not among classes; add it there, or leave it out."
        )
    return labels


def make_plan(factors: Sequence[Words | Factor], n_topics: int) -> Plan:
    """The plan of a list of factors, of which `Words` is the first."""
    words, *others = factors
    if not isinstance(words, Words):
        raise ValueError(f"The first factor must be Words(counts); got {words!r}.")
    plan = words.new_plan(n_topics)
    for factor in cast("list[Factor]", others):
        factor.add_to(plan)
    weight = sum(field.weight for field in plan.fields)
    if weight >= 1:
        raise ValueError(
            f"The weights of links (and other fields) sum to {weight:g}; together they must stay"
            " below 1. Lower them."
        )
    return plan


def compile_factors(factors: Sequence[Words | Factor], n_topics: int, **layout: Any) -> Graph:
    """The graph of a list of factors; `layout` goes to `build_graph`."""
    return build_graph(make_plan(factors, n_topics), **layout)
