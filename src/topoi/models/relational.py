"""The relational topic model: linked documents tell each other their topics."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.links import document_name, whole_pairs
from topoi.graph.factors import Documents, Links
from topoi.models.base import TopicModelBase
from topoi.models.inputs import both_ways, links_of_new, links_of_training

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
        doc_names: Any = None,
        checkpoint: Any = None,
        checkpoint_every: int = 10,
    ) -> RelationalTopicModel:
        """Learn topics of linked documents; without links this is LDA.

        links: documents x documents matrix, pairs (m, 2) of document numbers, or a list of
        neighbours for each document. Neighbours are document numbers, or names if `doc_names` has
        the name of each document; names of documents that are not here are left out, so lists of
        names survive cross-validation. checkpoint, checkpoint_every: as in `LDA.fit`.
        """
        corpus = self._corpus(X, reset=True)
        table, names = links_of_training(links, doc_names, corpus)
        if table is None:
            warnings.warn(
                "No links were given, so this is LDA; give them with links=... or in a Corpus.",
                stacklevel=2,
            )
            table = sparse.csr_array((corpus.n_docs, corpus.n_docs))
        factor = Links(table, self.link_weight, self.link_factor, self.directed)
        state = self._fit(
            corpus.counts, [Documents(), factor], self.n_components, checkpoint, checkpoint_every
        )
        self.link_weight_ = float(factor.weight) if factor in state.graph.plan.fields else 0.0
        joint = np.eye(state.graph.n_topics) if factor.joint is None else factor.joint
        joint = (joint + joint.T) / 2 + 1e-6 * joint.mean()
        self.link_joint_ = joint / joint.sum()
        self.link_topic_ = np.eye(state.graph.n_topics) if factor.eta is None else factor.eta
        self.links_ = factor.adjacency
        self.own_topic_ = state.own_topic().astype(self._dtype)
        self.doc_names_ = None if names is None else np.array(names, dtype=str)
        return self

    def fit_transform(self, X: Any, y: Any = None, **metadata: Any) -> np.ndarray:
        """Fit, then the topic proportions of the same documents as `transform` gives them, with
        their links.
        """
        return self.fit(X, y, **metadata).transform(X, self.links_)

    def score(
        self, X: Any, y: Any = None, *, links: Any = None, doc_names: Any = None, **metadata: Any
    ) -> float:
        """Mean log-likelihood per token of X, with topic proportions from `transform`; higher is
        better.
        """
        return super().score(X, y, links=links, doc_names=doc_names, **metadata)

    def transform(self, X: Any, links: Any = None, *, doc_names: Any = None) -> np.ndarray:
        """(D, K) topic proportions of new documents.

        links: a matrix (D, N) of links to the N training documents, (D, N + D) with links among the
        new ones after them, (D, D) with links among the new ones only (if D differs from N), or
        lists of neighbours: numbers below N are training documents, N + i is new document i; with
        `doc_names`, names. Default: the links of a Corpus among its own documents, or words alone.
        """
        check_is_fitted(self)
        corpus = self._corpus(X, reset=False)
        weights, n_old = self.weighting_(corpus.counts), self.links_.shape[0]
        table = (
            None
            if self.link_weight_ == 0
            else links_of_new(links, corpus, n_old, doc_names, self.doc_names_)
        )
        if table is None:
            return self._fold_in(weights).astype(self._dtype)
        factor = Links(
            table if self.directed else both_ways(table, n_old),
            self.link_weight_,
            self.link_factor,
            self.directed,
            known=self.own_topic_.astype(np.float64),
            eta=self.link_topic_,
        )
        return self._fold_in_state(weights, [Documents(), factor]).doc_topic().astype(self._dtype)

    def _places(self, pairs: np.ndarray) -> np.ndarray:
        """(m, 2) numbers of training documents, from numbers or from names."""
        if pairs.dtype.kind in "UO" and self.doc_names_ is not None:
            number = {name: i for i, name in enumerate(self.doc_names_.tolist())}
            named = [[document_name(name) for name in pair] for pair in pairs.tolist()]
            unknown = next((name for pair in named for name in pair if name not in number), None)
            if unknown is not None:
                raise ValueError(
                    f"pairs names {unknown!r}, which is not the name of a training document."
                )
            return np.array([[number[name] for name in pair] for pair in named], dtype=np.int64)
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

    def score_proportions(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Scores of pairs of documents from their topic proportions: how well they agree through
        the table of topics that link.

        Parameters
        ----------
        first, second : ndarray of shape (n_pairs, n_components)
            Topic proportions of the two ends.

        Returns
        -------
        ndarray of shape (n_pairs,)
            1 is the score of a document with itself; where few links were seen, pairs of topics
            that link may score higher.
        """
        return np.einsum("ik,ik->i", self._speak(first)[1], self._speak(second)[0])

    def link_scores(self, pairs: Any) -> np.ndarray:
        """Scores of pairs of training documents: the higher, the likelier is a link.

        Parameters
        ----------
        pairs : array of shape (n_pairs, 2)
            Numbers of training documents, or their names.

        Returns
        -------
        ndarray of shape (n_pairs,)
            See `score_proportions`.

        Examples
        --------
        >>> from topoi.datasets import make_links
        >>> corpus, _ = make_links(60)
        >>> model = RelationalTopicModel(3, max_iter=5).fit(corpus)
        >>> model.link_scores([(0, 1), (0, 2)]).shape
        (2,)
        """
        check_is_fitted(self)
        ends = np.asarray(pairs)
        if ends.size and (ends.ndim != 2 or ends.shape[1] != 2):
            raise ValueError(
                f"pairs has shape {ends.shape}; expected two columns, the two documents of each"
                " pair. For new documents use recommend_links(X)."
            )
        places = self._places(ends.reshape(-1, 2))
        proportions = self.doc_topic_.astype(np.float64)
        return self.score_proportions(proportions[places[:, 0]], proportions[places[:, 1]])

    def recommend_links(self, X: Any, n: int = 10) -> list[list[tuple[Any, float]]]:
        """The training documents that new documents are likeliest to link to.

        Parameters
        ----------
        X : Corpus, array, sparse matrix or DataFrame of shape (n_docs, n_words)
            New documents.
        n : int, default=10
            Number of recommendations for each.

        Returns
        -------
        list of lists
            For each document n pairs (training document, score), best first. Training documents
            are called by their names, or by their numbers if the fit knew no names.

        Examples
        --------
        >>> from topoi.datasets import make_links
        >>> corpus, _ = make_links(60)
        >>> model = RelationalTopicModel(3, max_iter=5).fit(corpus)
        >>> [len(best) for best in model.recommend_links(corpus.counts[:2], n=4)]
        [4, 4]
        """
        check_is_fitted(self)
        known = self._speak(self.doc_topic_.astype(np.float64))[0]
        names = range(len(known)) if self.doc_names_ is None else self.doc_names_.tolist()
        recommended = []
        for spoken in self._speak(np.asarray(self.transform(X), dtype=np.float64))[1]:
            scores = known @ spoken
            recommended.append(
                [(names[i], float(scores[i])) for i in np.argsort(-scores, kind="stable")[:n]]
            )
        return recommended
