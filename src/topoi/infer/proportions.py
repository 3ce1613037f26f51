"""Results of a state: topic proportions of owners and documents, word proportions of topics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from topoi.graph.fields import LearnedField, LearningField
from topoi.graph.wiring import Graph
from topoi.infer.arrays import Fields, Tables
from topoi.infer.tables import owner_base

__all__ = ["Proportions"]


class Proportions:
    """The part of `State` that reads tables and changes nothing but what fields learn."""

    graph: Graph
    alpha: np.ndarray
    beta: float
    tables: Tables
    fields: Fields
    learned: list[LearnedField]

    def owner_counts(self) -> np.ndarray:
        """(owners, K) expected tokens of each owner and topic."""
        counts = self.tables.theta[self.graph.owner_slot, : self.graph.n_topics]
        absent = self.graph.owner_slot < 0
        if absent.any():
            counts[absent] = owner_base(self.graph)[absent, : self.graph.n_topics]
        return counts

    def owner_topic(self) -> np.ndarray:
        """(owners, K) topic proportions (eq. 12; eq. 27 for authors), rows sum to 1."""
        counts = self.owner_counts() + self.alpha[: self.graph.n_topics]
        return counts / counts.sum(axis=1, keepdims=True)

    def owner_proportions(self) -> sparse.csr_array:
        """(documents, owners) how much of each document is each owner's, rows sum to 1."""
        arrays, prior = self.graph.arrays, self.graph.owner_prior
        pair_doc = np.repeat(np.arange(self.graph.n_docs), np.diff(arrays.slot_ptr))
        mass = self.tables.owner_mass + prior if prior > 0 else np.ones(len(arrays.slots))
        mass = mass / np.bincount(pair_doc, mass, minlength=self.graph.n_docs)[pair_doc]
        shape = (self.graph.n_docs, self.graph.n_owners)
        return sparse.csr_array(
            (mass, self.graph.slot_owner[arrays.slots], arrays.slot_ptr), shape=shape
        )

    def doc_topic(self) -> np.ndarray:
        """(D, K) topic proportions of documents, rows sum to 1: `own_topic` and the field."""
        own, weight = self.own_topic(), self.fields.weight[:, None].astype(np.float64)
        return (
            (1 - weight) * own + self.fields.message[:, : self.graph.n_topics]
            if weight.any()
            else own
        )

    def own_topic(self) -> np.ndarray:
        """(D, K) topic proportions that documents have from their owners, restricted to the topics
        they may use; rows sum to 1.
        """
        proportions = self.owner_proportions()
        owner_topic = self.owner_topic()
        allowed = self.allowed()
        if allowed is not None:  # a pair of document and owner has proportions of its own
            of_pair = (
                owner_topic[proportions.indices]
                * allowed[np.repeat(np.arange(self.graph.n_docs), np.diff(proportions.indptr))]
            )
            owner_topic = of_pair / of_pair.sum(axis=1, keepdims=True)
            proportions = sparse.csr_array(
                (proportions.data, np.arange(proportions.nnz), proportions.indptr),
                shape=(self.graph.n_docs, proportions.nnz),
            )
        return owner_topic[proportions.indices] if self.graph.private else proportions @ owner_topic

    def allowed(self) -> np.ndarray | None:
        """(D, K) 1 for the topics that a document may use, 0 for others; None where all documents
        may use all.
        """
        topics = self.graph.topics
        return None if topics is None else topics.toarray() + (np.diff(topics.indptr) == 0)[:, None]

    def field_message(self, number: int, proportions: np.ndarray) -> np.ndarray:
        """(D, K) the message of field `number` on the topics that each document may use, from topic
        proportions (D, K). Rows sum to 1, or to 0 where there is none.

        A field that learns tables takes one step.
        """
        field, weight = self.graph.fields[number], self.graph.doc_weight
        if isinstance(field, LearningField):
            known = self.learned[number]
            message, tables = field.learned_message(proportions, weight, known.tables)
            self.learned[number] = replace(known, tables=tables)
        else:
            message = field.message(proportions, weight)
        allowed = self.allowed()
        if allowed is None:
            return message
        message = message * allowed
        total = message.sum(axis=1, keepdims=True)
        return np.divide(message, total, out=np.zeros_like(message), where=total > 0)

    def topic_word(self) -> np.ndarray:
        """(K, W) word proportions of topics (eq. 13), rows sum to 1."""
        counts = self.tables.phi[:, : self.graph.n_topics].T.astype(np.float64) + self.beta
        return counts / counts.sum(axis=1, keepdims=True)
