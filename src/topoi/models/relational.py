"""The relational topic model: linked documents tell each other their topics."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from topoi.corpus import Corpus
from topoi.corpus.metadata import (
    adjacency,
    as_csr,
    is_table,
    neighbour_pairs,
    neighbours_by_id,
    symmetric,
    whole_pairs,
)
from topoi.graph.factors import Documents, Links, linked_topics
from topoi.graph.fields import LearnedField
from topoi.models.base import TopicModelBase

__all__ = ["RelationalTopicModel"]


class RelationalTopicModel(TopicModelBase):
    """Topics of documents that cite, follow or point at each other.

    Parameters
    ----------
    link_weight : how much of a document's topics its neighbours decide: "learn" (default), or a
        number in [0, 1) (the paper's is 0.15).
    link_factor : "learned" (default: a table of which topics link to which), "paper" (the same by
        plain co-occurrence of smoothed counts, eq. 28), or "identity" (linked
        documents agree directly).
    directed : use links in the given direction only; default: both ways.
    The others are those of LDA.

    Attributes
    ----------
    link_topic_ : (K, K) eta: the topics k' of neighbours of topic k, rows sum to 1. link_weight_ :
    xi, learned or given. own_topic_ : (D, K) topic proportions of the training documents without
    what neighbours say: what they say to others. The others are those of LDA; doc_topic_ includes
    what neighbours say.
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        link_weight: Any = "learn",
        link_factor: str = "learned",
        directed: bool = False,
        rule: str = "bp",
        schedule: str = "auto",
        doc_topic_prior: Any = "learn",
        topic_word_prior: Any = "learn",
        weighting: str = "count",
        messages: str = "auto",
        init: Any = "hard",
        max_iter: int = 200,
        tol: float = 1e-4,
        stop: str = "relative",
        evaluate_every: int = 5,
        vb_inner: int = 1,
        vb_textbook: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
        callbacks: Sequence[Callable[[Any, Any], Any]] | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    n_components: int
    link_weight: Any
    link_factor: str
    directed: bool

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        links: Any = None,
        doc_ids: Any = None,
        checkpoint: Any = None,
        checkpoint_every: int = 10,
    ) -> RelationalTopicModel:
        """Learn topics of linked documents; without links this is LDA.

        links: documents x documents matrix, pairs (m, 2) of document numbers, or a list of
        neighbours for each document. Neighbours are document numbers, or ids if `doc_ids` names the
        documents; ids of documents that are not here are left out, so lists of ids survive
        cross-validation. The links of a Corpus are numbers, and the names of its documents are
        their ids. checkpoint, checkpoint_every: as in `LDA.fit`.
        """
        by_id = doc_ids is not None and links is not None
        links = getattr(X, "links", None) if links is None else links
        doc_ids = getattr(X, "doc_names", None) if doc_ids is None else doc_ids
        if links is None:
            warnings.warn(
                "No links were given, so this is LDA; give them with links=... or in a Corpus.",
                stacklevel=2,
            )
        counts = self._counts(X, reset=True)
        n_docs = counts.shape[0]
        if doc_ids is not None and len(doc_ids) != n_docs:
            raise ValueError(
                f"doc_ids names {len(doc_ids)} documents but X has {n_docs}; give one id per"
                " document."
            )
        links = neighbours_by_id(links, doc_ids) if by_id else links
        table = sparse.csr_array((n_docs, n_docs)) if links is None else adjacency(links, n_docs)
        factor = Links(table, self.link_weight, self.link_factor, self.directed)
        state = self._fit(
            counts, [Documents(), factor], self.n_components, checkpoint, checkpoint_every
        )
        learned = state.learned[0] if state.learned else LearnedField(0.0)
        self.link_weight_ = float(learned.weight)
        joint = learned.tables.get("joint", np.eye(state.graph.n_topics))
        self.link_topic_ = linked_topics(joint)
        joint = (joint + joint.T) / 2 + 1e-6 * joint.mean()
        self.link_joint_ = joint / joint.sum()
        self.links_ = factor.adjacency
        self.own_topic_ = state.own_topic().astype(self._dtype)
        self.doc_ids_ = (
            None
            if doc_ids is None
            else [key.item() if isinstance(key, np.generic) else key for key in doc_ids]
        )
        return self

    def fit_transform(self, X: Any, y: Any = None, **metadata: Any) -> np.ndarray:
        """Fit, then the topic proportions of the same documents as `transform` gives them, with
        their links.
        """
        return self.fit(X, y, **metadata).transform(X, self.links_)

    def score(
        self, X: Any, y: Any = None, *, links: Any = None, doc_ids: Any = None, **metadata: Any
    ) -> float:
        """Mean log-likelihood per token of X, with topic proportions from `transform`; higher is
        better.
        """
        return super().score(X, y, links=links, doc_ids=doc_ids, **metadata)

    def transform(self, X: Any, links: Any = None, *, doc_ids: Any = None) -> np.ndarray:
        """(D, K) topic proportions of new documents.

        links: a matrix (D, N) of links to the N training documents, (D, N + D) with links among the
        new ones after them, (D, D) with links among the new ones only (if D differs from N), or
        lists of neighbours: numbers below N are training documents, N + i is new document i; with
        `doc_ids`, ids. Default: the links of a Corpus among its own documents, or words alone.
        """
        check_is_fitted(self)
        weights = self.weighting_(self._counts(X, reset=False))
        if links is None and getattr(X, "links", None) is not None:
            links = sparse.hstack(
                [sparse.csr_array((X.n_docs, len(self.doc_topic_))), adjacency(X.links, X.n_docs)]
            )
        if links is None or self.link_weight_ == 0:
            return self._fold_in(weights).astype(self._dtype)
        factor = Links(
            self._new_links(links, doc_ids, weights.shape[0]),
            self.link_weight_,
            self.link_factor,
            self.directed,
            known=self.own_topic_.astype(np.float64),
            eta=self.link_topic_,
        )
        return self._fold_in_state(weights, [Documents(), factor]).doc_topic().astype(self._dtype)

    def _new_links(self, links: Any, doc_ids: Any, n_new: int) -> sparse.csr_array:
        """(D, N + D) links of new documents to training documents and among themselves, the latter
        both ways unless directed.
        """
        n_old = self.links_.shape[0]
        if doc_ids is not None:
            if self.doc_ids_ is None:
                raise ValueError(
                    "This model was fitted without doc_ids, so it cannot know ids of training"
                    " documents; give their numbers."
                )
            links = neighbours_by_id(links, doc_ids, self.doc_ids_)
        if not is_table(links):
            if len(links) != n_new:
                raise ValueError(
                    f"links lists the neighbours of {len(links)} documents but X has {n_new}; give"
                    " one list per document."
                )
            ends = neighbour_pairs(links)
            bad = ends[(ends[:, 1] < 0) | (ends[:, 1] >= n_old + n_new), 1]
            if len(bad):
                raise ValueError(
                    f"links names document {bad[0]}; training documents are 0 to {n_old - 1}, new"
                    f" ones {n_old} to {n_old + n_new - 1}."
                )
            links = sparse.csr_array(
                (np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n_new, n_old + n_new)
            )
        table = as_csr(links, "links")
        if table.shape == (n_new, n_old):
            table = sparse.csr_array(sparse.hstack([table, sparse.csr_array((n_new, n_new))]))
        elif table.shape == (n_new, n_new):
            table = sparse.csr_array(sparse.hstack([sparse.csr_array((n_new, n_old)), table]))
        if table.shape != (n_new, n_old + n_new):
            raise ValueError(
                f"links has shape {table.shape}; expected ({n_new}, {n_old}) to training documents"
                f" or ({n_new}, {n_old + n_new}) to all."
            )
        if self.directed:
            return table
        among = symmetric(sparse.csr_array(table[:, n_old:]))
        return sparse.csr_array(sparse.hstack([table[:, :n_old], among], format="csr"))

    def _places(self, pairs: np.ndarray) -> np.ndarray:
        """(m, 2) numbers of training documents, from numbers or from ids that are text."""
        if pairs.dtype.kind in "UO" and self.doc_ids_ is not None:
            number = {key: i for i, key in enumerate(self.doc_ids_)}
            unknown = next((key for key in pairs.ravel().tolist() if key not in number), None)
            if unknown is not None:
                raise ValueError(
                    f"pairs names {unknown!r}, which is not a id of a training document."
                )
            return np.array(
                [[number[key] for key in pair] for pair in pairs], dtype=np.int64
            ).reshape(-1, 2)
        pairs = whole_pairs(pairs)
        bad = pairs[(pairs < 0) | (pairs >= len(self.doc_topic_))]
        if len(bad):
            raise ValueError(
                f"pairs names document {bad[0]}; training documents are numbered 0 to"
                f" {len(self.doc_topic_) - 1}."
            )
        return pairs

    def _speak(self, proportions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m, K) square roots of topic proportions, and what they say through the link table;
        scaled so that a document has the score 1 with itself.
        """
        marginal = np.sqrt(self.link_joint_.sum(axis=1))
        table = self.link_joint_ / np.outer(marginal, marginal)
        root = np.sqrt(proportions)
        root = root / np.sqrt(np.einsum("ik,kl,il->i", root, table, root))[:, None]
        return root, root @ table

    def link_scores(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """(m,) scores of document pairs from their topic proportions (m, K): how well they agree
        through the table of topics that link.

        1 is the score of a document with itself; where few links were seen, pairs of topics that
        link may score higher.
        """
        return np.einsum("ik,ik->i", self._speak(first)[1], self._speak(second)[0])

    def predict_links(self, pairs_or_X: Any, n: int = 10) -> Any:
        """Scores of pairs, or recommendations for new documents.

        pairs (m, 2) of training document numbers, or of ids that are text: (m,) scores, higher =
        likelier. X (documents x words): for each document a list of n (training document, score),
        best first; training documents by id if fit knew ids.
        """
        check_is_fitted(self)
        proportions = self.doc_topic_.astype(np.float64)
        if (
            not sparse.issparse(pairs_or_X)
            and not isinstance(pairs_or_X, Corpus)
            and self.n_features_in_ != 2
        ):
            pairs = np.asarray(pairs_or_X)
            if not pairs.size or (pairs.ndim == 2 and pairs.shape[1] == 2):
                ends = self._places(pairs.reshape(-1, 2))
                return self.link_scores(proportions[ends[:, 0]], proportions[ends[:, 1]])
        names = range(len(proportions)) if self.doc_ids_ is None else self.doc_ids_
        known, recommended = self._speak(proportions)[0], []
        for spoken in self._speak(np.asarray(self.transform(pairs_or_X), dtype=np.float64))[1]:
            scores = known @ spoken
            recommended.append(
                [(names[i], float(scores[i])) for i in np.argsort(-scores, kind="stable")[:n]]
            )
        return recommended
