"""The relational topic model: linked documents tell each other their topics."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from topoi.graph.factors import Documents, Links
from topoi.graph.metadata import adjacency, neighbours_by_id, symmetric
from topoi.models.base import TopicModelBase

__all__ = ["RelationalTopicModel"]


class RelationalTopicModel(TopicModelBase):
    """Topics of documents that cite, follow or point at each other.

    Parameters
    ----------
    link_weight : how much of a document's topics its neighbours decide: "learn" (default), or a number in [0, 1) (the paper's is 0.15).
    link_factor : "learned" (default: a table of which topics link to which), "paper" (the same by plain co-occurrence, eq. 28), or "identity" (linked
        documents agree directly).
    directed : use links in the given direction only; default: both ways.
    The others are those of LDA.

    Attributes
    ----------
    link_topic_ : (K, K) eta: the topics k' of neighbours of topic k, rows sum to 1.
    link_weight_ : xi, learned or given.
    The others are those of LDA; doc_topic_ includes what neighbours say.
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
        self, X: Any, y: Any = None, *, links: Any = None, doc_ids: Any = None, checkpoint: Any = None, checkpoint_every: int = 10
    ) -> RelationalTopicModel:
        """Learn topics of linked documents; without links this is LDA.

        links: documents x documents matrix, pairs (m, 2) of document numbers, or a list of neighbours for each document. Neighbours are
        document numbers, or ids if `doc_ids` names the documents; ids of documents that are not here are left out, so lists of ids survive
        cross-validation. checkpoint, checkpoint_every: as in `LDA.fit`.
        """
        links = getattr(X, "links", None) if links is None else links
        if links is None:
            warnings.warn("No links were given, so this is LDA; give them with links=... or in a Corpus.", stacklevel=2)
        counts = self._counts(X, reset=True)
        n_docs = counts.shape[0]
        table = sparse.csr_array((n_docs, n_docs)) if links is None else adjacency(self._by_id(links, doc_ids, n_docs), n_docs)
        factor = Links(table, self.link_weight, self.link_factor, self.directed)
        state = self._fit(counts, [Documents(), factor], self.n_components, checkpoint, checkpoint_every)
        self.link_weight_ = float(factor.weight) if factor in state.graph.plan.fields else 0.0
        joint = np.eye(state.graph.n_topics) if factor.joint is None else factor.joint
        joint = (joint + joint.T) / 2 + 1e-6 * joint.mean()
        self.link_joint_ = joint / joint.sum()
        self.link_topic_ = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
        self.links_ = factor.adjacency
        self.doc_ids_ = None if doc_ids is None else list(doc_ids)
        return self

    def transform(self, X: Any, links: Any = None, *, doc_ids: Any = None) -> np.ndarray:
        """(D, K) topic shares of new documents.

        links: None (words alone), a sparse matrix (D, N) of links to the N training documents, (D, N + D) with links among the new ones after
        them, (D, D) with links among the new ones only (if D differs from N), or lists of neighbours: numbers below N are training
        documents, N + i is new document i; with `doc_ids`, ids.
        """
        check_is_fitted(self)
        weights = self.weighting_(self._counts(X, reset=False))
        if links is None or self.link_weight_ == 0:
            return self._fold_in(weights).astype(self._dtype)
        known = self.doc_topic_.astype(np.float64)
        factor = Links(
            self._new_links(links, doc_ids, weights.shape[0]),
            self.link_weight_,
            self.link_factor,
            self.directed,
            known=known,
            eta=self.link_topic_,
        )
        return self._fold_in_state(weights, [Documents(), factor]).doc_topic().astype(self._dtype)

    def _by_id(self, links: Any, doc_ids: Any, n_docs: int) -> Any:
        if doc_ids is None:
            return links
        if len(doc_ids) != n_docs:
            raise ValueError(f"doc_ids names {len(doc_ids)} documents but X has {n_docs}; give one id per document.")
        return neighbours_by_id(links, doc_ids)

    def _new_links(self, links: Any, doc_ids: Any, n_new: int) -> sparse.csr_array:
        """(D, N + D) links of new documents to training documents and among themselves, the latter both ways unless directed."""
        n_old = self.links_.shape[0]
        if doc_ids is not None:
            if self.doc_ids_ is None:
                raise ValueError("This model was fitted without doc_ids, so it cannot know ids of training documents; give their numbers.")
            links = neighbours_by_id(links, doc_ids, self.doc_ids_)
        if not sparse.issparse(links):
            rows = [list(row) for row in links]
            if len(rows) != n_new:
                raise ValueError(f"links lists the neighbours of {len(rows)} documents but X has {n_new}; give one list per document.")
            ends = np.array([(d, end) for d, row in enumerate(rows) for end in row], dtype=np.int64).reshape(-1, 2)
            if len(ends) and (ends.min() < 0 or ends[:, 1].max() >= n_old + n_new):
                raise ValueError(
                    f"links names document {ends[:, 1].max()}; training documents are 0 to {n_old - 1}, new ones {n_old} to {n_old + n_new - 1}."
                )
            links = sparse.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n_new, n_old + n_new))
        table = sparse.csr_array(links)
        if table.shape == (n_new, n_old):
            table = sparse.csr_array(sparse.hstack([table, sparse.csr_array((n_new, n_new))]))
        elif table.shape == (n_new, n_new):
            table = sparse.csr_array(sparse.hstack([sparse.csr_array((n_new, n_old)), table]))
        if table.shape != (n_new, n_old + n_new):
            raise ValueError(
                f"links has shape {table.shape}; expected ({n_new}, {n_old}) to training documents or ({n_new}, {n_old + n_new}) to all."
            )
        if self.directed:
            return table
        among = symmetric(sparse.csr_array(table[:, n_old:]))
        return sparse.csr_array(sparse.hstack([table[:, :n_old], among], format="csr"))

    def _speak(self, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m, K) square roots of topic shares, and what they say through the link table; scaled so that a document has the score 1 with itself."""
        marginal = np.sqrt(self.link_joint_.sum(axis=1))
        table = self.link_joint_ / np.outer(marginal, marginal)
        root = np.sqrt(shares)
        root = root / np.sqrt(np.einsum("ik,kl,il->i", root, table, root))[:, None]
        return root, root @ table

    def link_scores(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """(m,) scores of document pairs from their topic shares (m, K): how well they agree through the table of topics that link.

        1 is the score of a document with itself; where few links were seen, pairs of topics that link may score higher.
        """
        return np.einsum("ik,ik->i", self._speak(first)[1], self._speak(second)[0])

    def predict_links(self, pairs_or_X: Any, n: int = 10) -> Any:
        """Scores of pairs, or recommendations for new documents.

        pairs (m, 2) of training document numbers: (m,) scores, higher = likelier. X (documents x words): for each document a list of n
        (training document, score), best first; training documents by id if fit had doc_ids.
        """
        check_is_fitted(self)
        shares = self.doc_topic_.astype(np.float64)
        if not sparse.issparse(pairs_or_X):
            pairs = np.asarray(pairs_or_X)
            if pairs.ndim == 2 and pairs.shape[1] == 2 and self.n_features_in_ != 2 and pairs.dtype.kind in "iu":
                if len(pairs) and (pairs.min() < 0 or pairs.max() >= len(shares)):
                    raise ValueError(f"pairs names document {pairs.max()}; training documents are numbered 0 to {len(shares) - 1}.")
                return self.link_scores(shares[pairs[:, 0]], shares[pairs[:, 1]])
        names = self.doc_ids_ or range(len(shares))
        known, recommended = self._speak(shares)[0], []
        for spoken in self._speak(np.asarray(self.transform(pairs_or_X), dtype=np.float64))[1]:
            scores = known @ spoken
            recommended.append([(names[i], float(scores[i])) for i in np.argsort(-scores, kind="stable")[:n]])
        return recommended
