"""Factors: what a model is made of.

Each one adds its part to a plan; `build_graph` compiles the plan. Factors hold their data in the
forms of a Corpus; `TopicModel` brings other forms into these by `canonical_factor`.

LDA is [Words(counts), Documents()]. Another model is another list. A factor may give the weights of
the messages (Words), the owners of a document (Documents), the topics it may use, or a message from
other documents (a `Field`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from topoi.choices import AuthorPrior, LinkFactor
from topoi.corpus import Membership
from topoi.corpus.dates import dates_as_text
from topoi.corpus.links import adjacency, symmetric
from topoi.corpus.metadata import label_membership, membership
from topoi.graph.dates import Dates
from topoi.graph.fields import Field, first_weight
from topoi.graph.link_tables import expected_links, linked_topics
from topoi.graph.plan import Plan
from topoi.graph.weighting import Weighting, fit_weighting
from topoi.graph.wiring import Graph, build_graph

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

TINY = 1e-300  # keeps 0 / 0 away


class Factor(Protocol):
    """Anything with `add_to(plan)`: every factor but Words, which makes the plan."""

    def add_to(self, plan: Plan) -> None: ...


@dataclass
class Words:
    """The observed counts, documents x words (for a TopicModel also a Corpus, whose words it then
    knows): each nonzero is an edge and carries a message.

    weighting: "count", or "tf" x/n_d, "tfidf" x/n_d log(D/df), "log" log(1+x), each rescaled so
    that all weights add up to all counts. base: (W, K) counts that words hold besides the messages.
    frozen: words hold the base and nothing else (prediction).
    """

    counts: Any
    weighting: str | Weighting = "count"
    base: np.ndarray | None = None
    frozen: bool = False

    def new_plan(self, n_topics: int) -> Plan:
        """The plan to which the other factors add."""
        weighting = (
            self.weighting
            if isinstance(self.weighting, Weighting)
            else fit_weighting(self.weighting, self.counts)
        )
        return Plan(n_topics, weighting(self.counts), word_base=self.base, frozen_words=self.frozen)


@dataclass
class Documents:
    """Each document owns its own topic proportions: the owner side of LDA."""

    def add_to(self, plan: Plan) -> None:
        plan.owners = sparse.eye_array(plan.counts.shape[0], format="csr")


@dataclass
class Authors:
    """The authors of each document own it together (author-topic model).

    A document without authors owns itself.

    authors: a Membership (`TopicModel` takes all forms that a Corpus does). prior: "uniform" or
    "learned": whether co-authors count equally, or by how well they explain the words (A8). names:
    fixes the order of authors; others follow. base: (A, K) tokens the named authors already hold.
    After compilation `names` holds all names; owners beyond them are documents without authors.
    """

    authors: Any
    prior: AuthorPrior = "uniform"
    names: np.ndarray | None = None
    base: np.ndarray | None = None

    def add_to(self, plan: Plan) -> None:
        if self.prior not in ("uniform", "learned"):
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

    labels: a Membership (`TopicModel` takes all forms that a Corpus does). classes: fixes their
    order. After compilation `classes` holds all labels; topic k is classes[k], background topics
    follow.
    """

    labels: Any
    background: int = 0
    classes: np.ndarray | None = None

    def add_to(self, plan: Plan) -> None:
        n_docs = plan.counts.shape[0]
        known, self.classes = self.labels.matrix, self.labels.names
        if known.shape[1] + self.background != plan.n_topics:
            raise ValueError(
                f"{known.shape[1]} labels and {self.background} background topics make"
                f" {known.shape[1] + self.background} topics, not {plan.n_topics}."
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


@dataclass
class Links:
    """Linked documents send each other their topic proportions, once per sweep (relational topic
    model, eqs. 28-30).

    Parameters
    ----------
    links : csr_array of shape (n_docs, n_docs)
        Ones where documents are linked (`TopicModel` takes all forms that a Corpus does). Made
        symmetric, without self-links, unless `directed`.
    weight : float or "learn", default=0.15
        The weight xi of the neighbours in a message, from 0 up to (not including) 1. "learn"
        estimates it from held-out tokens.
    factor : {"learned", "paper", "identity"}, default="learned"
        What becomes of the neighbours' proportions: multiplied by a K x K table eta of topics that
        link, estimated by EM ("learned") or by plain co-occurrence as in eq. 28 ("paper"), or used
        as they are ("identity").
    directed : bool, default=False
        Whether only the documents that link receive a message.
    fixed_proportions : ndarray of shape (n_fixed, n_topics), default=None
        For new documents: topic proportions of documents that do not change. `links` is then of
        shape (n_docs, n_fixed + n_docs).
    eta : ndarray of shape (n_topics, n_topics), default=None
        For new documents: the table of the model.

    Examples
    --------
    >>> from topoi import Links, TopicModel, Words, datasets
    >>> corpus, _ = datasets.make_links(60, random_state=0)
    >>> model = TopicModel([Words(corpus), Links(corpus.links)], 4, max_iter=10).fit()
    >>> model.doc_topic_.shape
    (60, 4)
    """

    links: Any
    weight: Any = 0.15
    factor: LinkFactor = "learned"
    directed: bool = False
    fixed_proportions: np.ndarray | None = None
    eta: np.ndarray | None = None
    learn: bool = False

    def add_to(self, plan: Plan) -> None:
        if self.factor not in ("learned", "paper", "identity"):
            raise ValueError(
                f"link_factor is {self.factor!r}; choose 'learned', 'paper' or 'identity'."
            )
        self.weight, self.learn = first_weight(self.weight, "link_weight")
        both_ways = self.fixed_proportions is None and not self.directed
        self.adjacency = symmetric(self.links) if both_ways else self.links
        if self.adjacency.nnz and (self.weight > 0 or self.learn):
            plan.fields.append(self)

    def table_shapes(self, n_topics: int) -> dict[str, tuple[int, ...]]:
        """joint: how often topics k and k' meet over a link; a given table is not learned."""
        fixed = self.factor == "identity" or self.fixed_proportions is not None
        return {} if fixed else {"joint": (n_topics, n_topics)}

    def learned_message(
        self, doc_topic: np.ndarray, doc_weight: np.ndarray, tables: Mapping[str, np.ndarray]
    ) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        """Mean of the neighbours' proportions, through eta; rows sum to 1, or to 0 without
        neighbours (A11, A13).
        """
        degree = np.maximum(self.adjacency.sum(axis=1), 1)[:, None]
        proportions = (
            doc_topic
            if self.fixed_proportions is None
            else np.vstack([self.fixed_proportions, doc_topic])
        )
        message = (self.adjacency @ proportions) / degree
        if self.factor == "identity":
            return message, tables
        eta = self.eta
        if self.fixed_proportions is None:
            joint = (
                self._paper_table(doc_topic, doc_weight)
                if self.factor == "paper"
                else self._learned_table(doc_topic, tables.get("joint"))
            )
            tables, eta = {"joint": joint}, linked_topics(joint)
        assert eta is not None, "links of new documents come with the eta of the model"
        message = message @ eta.T
        return message / np.maximum(message.sum(axis=1, keepdims=True), TINY), tables

    def _paper_table(self, doc_topic: np.ndarray, doc_weight: np.ndarray) -> np.ndarray:
        """(K, K) sum over links of theta_d(k) theta_d'(k') in tokens (eq. 28).

        Documents with many topics blur it.
        """
        counts = doc_topic * doc_weight[:, None]
        table: np.ndarray = counts.T @ (self.adjacency @ counts) + TINY
        return table

    def _learned_table(self, doc_topic: np.ndarray, joint: np.ndarray | None) -> np.ndarray:
        """(K, K) expected links between topics: one EM step per sweep of a mixture in which each
        link joins one topic of either end.

        A link d, d' joins k and k' with probability proportional to theta_d(k) lift(k, k')
        theta_d'(k'), lift = joint / product of marginals.
        """
        if joint is None:
            K = doc_topic.shape[1]
            joint = np.eye(K) + 1 / K
        return expected_links(doc_topic, doc_topic, self.adjacency, joint) + 1e-6


def canonical_factor(factor: Factor, n_docs: int) -> Factor:
    """A factor with its authors, labels or links in the form that a Corpus has them in.

    Parameters
    ----------
    factor : Factor
        Any factor. It stays as it is.
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
        raise ValueError(
            f"labels holds {labels.names[len(fixed)]!r}, which is not among classes; add it there,"
            " or leave it out."
        )
    return labels


def make_plan(factors: Sequence[Any], n_topics: int) -> Plan:
    """The plan of a list of factors, of which `Words` is the first."""
    words, *others = factors
    if not isinstance(words, Words):
        raise ValueError(f"The first factor must be Words(counts); got {words!r}.")
    plan = words.new_plan(n_topics)
    for factor in others:
        factor.add_to(plan)
    weight = sum(field.weight for field in plan.fields)
    if weight >= 1:
        raise ValueError(
            f"The weights of links (and other fields) sum to {weight:g}; together they must stay"
            " below 1. Lower them."
        )
    return plan


def compile_factors(factors: Sequence[Any], n_topics: int, **layout: Any) -> Graph:
    """The graph of a list of factors; `layout` goes to `build_graph`."""
    return build_graph(make_plan(factors, n_topics), **layout)
