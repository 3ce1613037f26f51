"""Questions that models with links answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from topoi.choices import LINK_SCORES, LinkFactor, LinkScore
from topoi.corpus import Corpus
from topoi.corpus.coverage import warn_of_unknown
from topoi.corpus.links import whole_pairs
from topoi.corpus.metadata import document_name
from topoi.explore.authors import best
from topoi.explore.editing import Moves
from topoi.explore.links import (
    blended_pairs,
    link_probabilities,
    link_roots,
    link_weights,
    pair_scores,
)
from topoi.explore.updating import Growth
from topoi.graph.fields import LearnedField
from topoi.graph.link_tables import expected_links, linked_topics
from topoi.graph.links import Links
from topoi.infer.state import State
from topoi.models.inputs import both_ways, links_of_new
from topoi.models.updating import Updating

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topoi.corpus.given import LinksLike, NamesLike
    from topoi.corpus.membership import Name
    from topoi.io.given import DocumentsLike

__all__ = ["LinkQuestions"]

TINY_JOINT = 1e-6  # how often topics meet that never did, in units of the mean


class LinkQuestions(Updating):
    """A model that learned which topics link to which."""

    link_weight_: float
    link_topic_: np.ndarray  # (K, K)
    link_joint_: np.ndarray  # (K, K)
    own_topic_: np.ndarray  # (D, K)
    links_: sparse.csr_array  # (D, D)
    link_blend_: np.ndarray | None  # (6,)
    link_factor: LinkFactor = "learned"

    def _keep_links(self, factor: Links, state: State, counts: sparse.csr_array | None) -> None:
        """What a run has learned of links. counts: of the training documents, to be kept."""
        fields = zip(state.graph.fields, state.learned, strict=True)
        learned = next((each for field, each in fields if field is factor), LearnedField(0.0))
        self.link_weight_ = float(learned.weight)
        self._keep_joint(learned.tables.get("joint", np.eye(state.graph.n_topics)))
        self.links_ = factor.adjacency
        self.own_topic_ = state.own_topic().astype(self._dtype)
        self._keep_blend(counts)

    def _keep_joint(self, joint: np.ndarray) -> None:
        """How often topics meet over a link."""
        self.link_topic_ = linked_topics(joint)
        joint = (joint + joint.T) / 2 + 1e-6 * joint.mean()
        self.link_joint_ = joint / joint.sum()

    def _growth(
        self,
        corpus: Corpus,
        new_topics: int,
        *,
        links: LinksLike | None = None,
        doc_names: NamesLike | None = None,
        **metadata: Any,
    ) -> Growth:
        if not hasattr(self, "link_joint_"):
            return super()._growth(corpus, new_topics, links=links, **metadata)
        if doc_names is not None:
            corpus = replace(corpus, doc_names=[document_name(name) for name in doc_names])
        growth = super()._growth(corpus, new_topics, **metadata)
        n_old = self.links_.shape[0]
        table = links_of_new(links, corpus, n_old, doc_names, self.doc_names_)
        if table is None:
            table = sparse.csr_array((corpus.n_docs, n_old + corpus.n_docs))
        growth.factors.append(
            Links(
                table if self._is_directed else both_ways(table, n_old),
                self.link_weight_,
                self.link_factor,
                self._is_directed,
                fixed_proportions=growth.moved(self.own_topic_.astype(np.float64)),
                eta=linked_topics(self._grown_joint(growth)),
            )
        )
        return growth

    @property
    def _is_directed(self) -> bool:
        """Whether links count in their own direction only."""
        return bool((self.links_ != self.links_.T).nnz)

    @property
    def _is_identity(self) -> bool:
        """Whether topics link to themselves alone, and this was not learned."""
        return np.array_equal(self.link_topic_, np.eye(len(self.link_topic_)))

    def _grown_joint(self, growth: Growth) -> np.ndarray:
        """How often topics meet over a link, new ones with themselves as others do on average."""
        if self._is_identity:
            return np.eye(growth.n_topics)
        joint = self.link_joint_.sum(axis=1)[:, None] * self.link_topic_
        grown = growth.moved(growth.moved(joint).T).T
        grown[growth.added, growth.added] = np.diag(joint).mean()
        found: np.ndarray = np.maximum(grown, TINY_JOINT * joint.mean())
        return found

    def _keep_growth(self, old: Self, growth: Growth, state: State) -> None:
        super()._keep_growth(old, growth, state)
        factor = next((part for part in growth.factors if isinstance(part, Links)), None)
        if factor is None:
            return
        table, n_old, directed = factor.adjacency, old.links_.shape[0], old._is_directed
        own = state.own_topic()
        assert factor.fixed_proportions is not None
        both = np.vstack([factor.fixed_proportions, own])
        self.own_topic_ = both.astype(self._dtype)
        to_old = sparse.csr_array(table[:, :n_old])
        back = sparse.csr_array((n_old, table.shape[0])) if directed else to_old.T
        self.links_ = sparse.csr_array(sparse.vstack([sparse.hstack([old.links_, back]), table]))
        self.links_.sort_indices()
        joint = old._grown_joint(growth)
        if not old._is_identity:
            met = expected_links(own, both, table, joint)
            if not directed:
                met = met + expected_links(own, factor.fixed_proportions, to_old, joint).T
            joint = joint * old.links_.nnz + met
        self._keep_joint(joint)

    def _check_links(self) -> None:
        check_is_fitted(self)
        if not hasattr(self, "link_joint_"):
            raise ValueError("This model was fitted without links; add Links(...) to its factors.")

    def _keep_blend(self, counts: sparse.csr_array | None) -> None:
        """Weights of what rankings blend. counts: of the training documents, to be kept."""
        self.link_blend_ = None
        if counts is not None and self.links_.nnz:
            self._know(counts=counts)
            proportions = self._fold_in(self.weighting_(counts))
            self.link_blend_ = link_weights(counts, self.links_, proportions, self.link_joint_)

    def _known_counts(self, by: str) -> sparse.csr_array | None:
        """Counts of the training documents, if rankings blend words with topics."""
        if by not in LINK_SCORES:
            raise ValueError(f"by is {by!r}; choose 'blend' or 'topics'.")
        if by == "topics" or self.link_blend_ is None:
            return None
        assert self.documents_ is not None
        return self.documents_.counts

    def _move(self, moves: Moves) -> None:
        super()._move(moves)
        transfer, weight = moves.transfer, self.link_joint_.sum(axis=1)
        joint = transfer.T @ self.link_joint_ @ transfer
        self.link_joint_ = joint / joint.sum()
        linked = transfer.T @ (weight[:, None] * self.link_topic_) @ transfer
        self.link_topic_ = linked / linked.sum(axis=1, keepdims=True)
        own = moves.of_documents(self.own_topic_, self.doc_topic_prior_)
        self.own_topic_ = own.astype(self.own_topic_.dtype)

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

        Examples
        --------
        >>> from topoi import RelationalTopicModel, datasets
        >>> model = RelationalTopicModel(3, max_iter=5).fit(datasets.make_links(60)[0])
        >>> model.score_proportions(model.doc_topic_[:2], model.doc_topic_[1:3]).shape
        (2,)
        """
        self._check_links()
        return pair_scores(first, second, self.link_joint_)

    def link_scores(
        self,
        pairs: Sequence[tuple[Name, Name]] | np.ndarray,
        *,
        by: LinkScore = "blend",
    ) -> np.ndarray:
        """Scores of pairs of training documents: the higher, the likelier is a link.

        Parameters
        ----------
        pairs : array of shape (n_pairs, 2)
            Numbers of training documents, or their names.
        by : {"blend", "topics"}, default="blend"
            "blend" weighs words, neighbours and topics as `recommend_links` does, as if the pair
            was not linked. "topics" is the score of the paper's link table alone, and what there is
            without counts.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Logarithm of odds up to a constant; by topics, see `score_proportions`.

        Examples
        --------
        >>> from topoi import RelationalTopicModel
        >>> from topoi.datasets import make_links
        >>> corpus, _ = make_links(60)
        >>> model = RelationalTopicModel(3, max_iter=5).fit(corpus)
        >>> model.link_scores([(0, 1), (0, 2)]).shape
        (2,)
        """
        self._check_links()
        ends = np.asarray(pairs)
        if ends.size and (ends.ndim != 2 or ends.shape[1] != 2):
            raise ValueError(
                f"pairs has shape {ends.shape}; expected two columns, the two documents of each"
                " pair. For new documents use recommend_links(X)."
            )
        places = self._places(ends.reshape(-1, 2))
        proportions = self.doc_topic_.astype(np.float64)
        topical = self.score_proportions(proportions[places[:, 0]], proportions[places[:, 1]])
        counts = self._known_counts(by)
        if counts is None or self.link_blend_ is None:
            return topical
        return blended_pairs(counts, self.links_, places, topical, self.link_blend_)

    def recommend_links(
        self, X: DocumentsLike, n: int = 10, *, by: LinkScore = "blend"
    ) -> list[list[tuple[Name, float]]]:
        """The training documents that new documents are likeliest to link to.

        Topics are blended with words: those of the candidate, and of the documents it is linked
        to. The weights are learned from the links of training documents, each as if it were new
        (`link_blend_`).

        Parameters
        ----------
        X : Corpus, array, sparse matrix or DataFrame of shape (n_docs, n_words)
            New documents.
        n : int, default=10
            Number of recommendations for each.
        by : {"blend", "topics"}, default="blend"
            "topics": the score of the paper's link table alone (`score_proportions`), and what
            there is without counts (`keep_counts=False`).

        Returns
        -------
        list of lists
            For each document n pairs (training document, probability), best first: how likely one
            of its links, drawn at random, goes there. Training documents are called by their names,
            or by their numbers if the fit knew no names.

        Examples
        --------
        >>> from topoi import RelationalTopicModel
        >>> from topoi.datasets import make_links
        >>> corpus, _ = make_links(60)
        >>> model = RelationalTopicModel(3, max_iter=5).fit(corpus)
        >>> [len(best) for best in model.recommend_links(corpus.counts[:2], n=4)]
        [4, 4]
        """
        self._check_links()
        corpus = self._corpus(X, reset=False)
        warn_of_unknown(corpus)
        roots = link_roots(self.doc_topic_.astype(np.float64), self.link_joint_)[0]
        new = np.asarray(self.transform(corpus), dtype=np.float64)
        spoken = link_roots(new, self.link_joint_)[1]
        counts = self._known_counts(by)
        found: Iterator[np.ndarray] = (roots @ row for row in spoken)
        if counts is not None and self.link_blend_ is not None:
            found = link_probabilities(
                counts, self.links_, corpus.counts, (spoken, roots), self.link_blend_
            )
        names = range(len(roots)) if self.doc_names_ is None else self.doc_names_.tolist()
        return [best(names, scores, n) for scores in found]
