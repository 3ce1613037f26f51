"""The factor of links: linked documents have similar topics (eqs. 28 and 29).

Eq. 30, which mixes a field with the owners of a document, is in infer/kernels/updates.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from topoi.choices import LINK_FACTORS, LinkFactor
from topoi.corpus.links import symmetric
from topoi.graph.fields import first_weight
from topoi.graph.link_tables import expected_links, linked_topics
from topoi.graph.plan import Plan

__all__ = ["Links"]

TINY = 1e-300  # keeps 0 / 0 away


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

    links: sparse.csr_array
    weight: Any = 0.15  # a number from add_to on
    factor: LinkFactor = "learned"
    directed: bool = False
    fixed_proportions: np.ndarray | None = None
    eta: np.ndarray | None = None
    learn: bool = field(default=False, init=False)  # whether the weight is learned

    def add_to(self, plan: Plan) -> None:
        if self.factor not in LINK_FACTORS:
            raise ValueError(
                f"link_factor is {self.factor!r}; choose 'learned', 'paper' or 'identity'."
            )
        self.weight, self.learn = first_weight(self.weight, "link_weight")
        both_ways = self.fixed_proportions is None and not self.directed
        self.adjacency = symmetric(self.links) if both_ways else self.links
        if self.adjacency.nnz and (self.weight > 0 or self.learn):
            plan.fields.append(self)

    def table_shapes(self, n_topics: int) -> dict[str, tuple[int, ...]]:
        """joint: how often topics k and k' meet over a link; a given table is not learned.

        Parameters
        ----------
        n_topics : int
            Number of topics.
        """
        fixed = self.factor == "identity" or self.fixed_proportions is not None
        return {} if fixed else {"joint": (n_topics, n_topics)}

    def learned_message(
        self, doc_topic: np.ndarray, doc_weight: np.ndarray, tables: Mapping[str, np.ndarray]
    ) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        """Mean of the neighbours' proportions, times eta (eq. 29), and the new tables.

        Parameters
        ----------
        doc_topic : ndarray of shape (n_docs, n_topics)
            Topic proportions of the documents.
        doc_weight : ndarray of shape (n_docs,)
            Tokens of the documents.
        tables : mapping of str to ndarray
            Those of the sweep before, empty at first.

        Returns
        -------
        tuple of ndarray of shape (n_docs, n_topics) and mapping of str to ndarray
            Rows sum to 1, or to 0 without neighbours (A11, A13).
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
