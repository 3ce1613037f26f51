"""Questions that models with authors answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from topoi.choices import AuthorPrior
from topoi.corpus import Corpus, Membership
from topoi.corpus.coverage import warn_of_unknown
from topoi.corpus.metadata import membership
from topoi.explore.attribution import author_probabilities, author_weights
from topoi.explore.authors import (
    author_log_likelihood,
    author_number,
    author_similarity,
    best,
    softmax,
    word_columns,
)
from topoi.explore.editing import Moves, moved_table
from topoi.explore.reading import topic_number
from topoi.explore.updating import Growth
from topoi.graph.factors import Authors
from topoi.infer.state import State
from topoi.models.inputs import author_members
from topoi.models.updating import Updating

if TYPE_CHECKING:
    from topoi.corpus.given import AuthorsLike
    from topoi.corpus.membership import Name
    from topoi.io.given import DocumentsLike

__all__ = ["AuthorQuestions"]

HALF = 0.5  # of a token: who wrote less has not written about a topic


class AuthorQuestions(Updating):
    """A model that learned authors: their names, topics and tokens."""

    author_names_: np.ndarray  # (A,)
    author_topic_: np.ndarray  # (A, K)
    author_counts_: np.ndarray  # (A, K)
    author_blend_: np.ndarray | None  # (3,)
    author_prior: AuthorPrior = "uniform"

    def _keep_authors(
        self, members: Membership | None, state: State, counts: sparse.csr_array | None
    ) -> None:
        """What a run has learned of authors. counts: of the training documents, to be kept."""
        self.author_names_ = np.array([], dtype=str) if members is None else members.names
        named = len(self.author_names_)
        self.author_counts_ = state.owner_counts()[:named].astype(np.float64)
        self.author_topic_ = state.owner_topic()[:named]
        self.author_blend_ = None
        self._know(authors=members)
        if named and counts is not None:
            self._know(counts=counts)
            assert self.documents_ is not None
            self.author_blend_ = author_weights(self.documents_)

    def _keep_merged_authors(self, names: np.ndarray, counts: np.ndarray) -> None:
        """What a run on a cluster has learned of authors. counts: (A, K) their tokens."""
        self.author_names_, self.author_counts_ = names, counts.astype(np.float64)
        proportions = self.author_counts_ + self.doc_topic_prior_
        self.author_topic_ = proportions / proportions.sum(axis=1, keepdims=True)
        self.author_blend_ = None
        if self.documents_ is not None and self.documents_.authors is not None:
            self._know(authors=self.documents_.authors.aligned(names))

    def _move(self, moves: Moves) -> None:
        super()._move(moves)
        known = self.documents_
        counts = moved_table(self.author_counts_, moves.transfer)
        if moves.split is not None and known is not None and known.authors is not None:
            parts = np.flatnonzero(moves.transfer[moves.split])
            written = known.authors.matrix.T @ (known.tokens[:, None] * self.doc_topic_[:, parts])
            proportion = written / np.maximum(written.sum(axis=1, keepdims=True), 1e-300)
            counts[:, parts] = self.author_counts_[:, [moves.split]] * proportion
        self.author_counts_ = counts
        proportions = counts + self.doc_topic_prior_
        self.author_topic_ = proportions / proportions.sum(axis=1, keepdims=True)

    def _growth(
        self,
        corpus: Corpus,
        new_topics: int,
        *,
        authors: AuthorsLike | None = None,
        **metadata: Any,
    ) -> Growth:
        names = getattr(self, "author_names_", ())
        if not len(names):
            return super()._growth(corpus, new_topics, authors=authors, **metadata)
        growth = super()._growth(corpus, new_topics, **metadata)
        members = author_members(authors, corpus, self.author_names_)
        if members is None:
            members = membership([[]] * corpus.n_docs, corpus.n_docs, "authors", self.author_names_)
        growth.corpus = replace(growth.corpus, authors=members)
        base = growth.moved(self.author_counts_)
        growth.factors[0] = Authors(members, self.author_prior, base=base)
        return growth

    def _keep_growth(self, old: Self, growth: Growth, state: State) -> None:
        super()._keep_growth(old, growth, state)
        owners = growth.factors[0]
        if isinstance(owners, Authors):
            self.author_names_ = owners.authors.names
            named = len(self.author_names_)
            self.author_counts_ = state.owner_counts()[:named].astype(np.float64)
            self.author_topic_ = state.owner_topic()[:named]
            assert self.documents_ is not None
            assert self.documents_.authors is not None
            self._know(authors=self.documents_.authors.aligned(self.author_names_))

    def _check_authors(self) -> None:
        check_is_fitted(self)
        if not len(getattr(self, "author_names_", ())):
            raise ValueError(
                "This model was fitted without authors; fit it with authors=... to ask about them."
            )

    def _author(self, name: Name) -> int:
        self._check_authors()
        return author_number(self.author_names_, name)

    def _best_authors(
        self, scores: np.ndarray, n: int, min_documents: int
    ) -> list[tuple[Name, float]]:
        """Names and scores of the n best authors with so many training documents, best first."""
        enough = scores > -np.inf
        if self.documents_ is not None and self.documents_.authors is not None:
            wrote = np.asarray(self.documents_.authors.matrix.sum(axis=0))
            enough &= wrote >= min_documents
        elif min_documents > 1:  # on a cluster, where each author has a document
            raise ValueError(
                f"min_documents is {min_documents}, but this model was fitted with"
                " keep_documents=False and does not know who wrote how much; fit it with"
                " keep_documents=True, or leave min_documents out."
            )
        known = np.flatnonzero(enough)
        return best(self.author_names_[known].tolist(), scores[known], n)

    def similar_authors(
        self, name: Name, n: int = 10, *, min_documents: int = 1
    ) -> list[tuple[Name, float]]:
        """Authors with the most similar topic proportions.

        Parameters
        ----------
        name : str
            An author of the model.
        n : int, default=10
            Number of authors.
        min_documents : int, default=1
            Leave out authors of fewer training documents.

        Returns
        -------
        list of (name, similarity)
            Best first; 1 minus the Hellinger distance, so 1 means the same.

        Examples
        --------
        >>> from topoi import AuthorTopicModel, datasets
        >>> corpus, _ = datasets.make_authors()
        >>> model = AuthorTopicModel(3, max_iter=5).fit(corpus)
        >>> len(model.similar_authors("author03", 2))
        2
        """
        me = self._author(name)
        similarity = author_similarity(self.author_topic_, me)
        similarity[me] = -np.inf
        return self._best_authors(similarity, n, min_documents)

    def topics_of_author(self, name: Name, n: int = 10) -> list[tuple[int, float]]:
        """Topics that an author writes most about.

        Parameters
        ----------
        name : str
            An author of the model.
        n : int, default=10
            Number of topics.

        Returns
        -------
        list of (topic, proportion)
            Largest first.

        Examples
        --------
        >>> from topoi import AuthorTopicModel, datasets
        >>> corpus, _ = datasets.make_authors()
        >>> model = AuthorTopicModel(3, max_iter=5).fit(corpus)
        >>> round(sum(proportion for _, proportion in model.topics_of_author("author03")), 3)
        1.0
        """
        proportions = self.author_topic_[self._author(name)]
        return best(range(len(proportions)), proportions, n)

    def authors_of_topic(
        self, topic: int | str, n: int = 10, *, min_documents: int = 0
    ) -> list[tuple[Name, float]]:
        """Authors who wrote most of a topic.

        Parameters
        ----------
        topic : int or str
            Number or name of the topic.
        n : int, default=10
            Number of authors.
        min_documents : int, default=0
            Leave out authors of fewer training documents.

        Returns
        -------
        list of (name, proportion)
            Largest first, with the proportion of the topic's tokens. Authors who wrote less than
            half a token of it are left out.

        Examples
        --------
        >>> from topoi import AuthorTopicModel, datasets
        >>> corpus, _ = datasets.make_authors()
        >>> model = AuthorTopicModel(3, max_iter=5).fit(corpus)
        >>> len(model.authors_of_topic(0, 4, min_documents=2))
        4
        """
        self._check_authors()
        written = self.author_counts_[:, topic_number(self.topic_names_, topic)]
        proportions = written / max(written.sum(), 1e-300)
        proportions[written < HALF] = -np.inf
        return self._best_authors(proportions, n, min_documents)

    def who_writes_about(
        self, text: str | Sequence[str], n: int = 10, *, min_documents: int = 1
    ) -> list[tuple[Name, float]]:
        """Authors most likely to write some words.

        Parameters
        ----------
        text : str or list of str
            A text or its words. A text is tokenised like the training texts if the model knows how,
            and otherwise at spaces.
        n : int, default=10
            Number of authors.
        min_documents : int, default=1
            Leave out authors of fewer training documents.

        Returns
        -------
        list of (name, probability)
            Best first, as by `predict_authors`.

        Examples
        --------
        >>> import topoi
        >>> texts, authors = ["cat dog", "dog cat", "stock", "bond"], ["Ann", "Ann", "Bob", "Bob"]
        >>> corpus = topoi.read(texts * 5, authors=[[name] for name in authors * 5])
        >>> model = topoi.AuthorTopicModel(2).fit(corpus)
        >>> model.who_writes_about("a dog")[0][0]
        'Ann'
        """
        self._check_authors()
        cut = str.split if self.vectorizer_ is None else self.vectorizer_.build_analyzer()
        known = word_columns(text, self._words(None).tolist(), cut)
        counts = np.bincount(known, minlength=self.components_.shape[1])[None, :]
        (found,) = self._author_probabilities(sparse.csr_array(counts, dtype=np.float64))
        return self._best_authors(found, n, min_documents)

    def predict_authors(
        self, X: DocumentsLike, n: int = 5, *, min_documents: int = 1
    ) -> list[list[tuple[Name, float]]]:
        """Authors most likely to have written each document.

        The words of a document are compared with those that authors used (TF-IDF and a language
        model, smoothed by the topics of the author); authors of many documents are likelier. The
        weights are learned from the training documents, each as if its authors had not written
        it (`author_blend_`). Without counts (`keep_counts=False`) topics alone decide.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        n : int, default=5
            Number of authors.
        min_documents : int, default=1
            Leave out authors of fewer training documents.

        Returns
        -------
        list of list of (name, probability)
            For each document, best first: the probability that one of its authors, drawn at random,
            is this one, if they are among the authors of the model.

        Examples
        --------
        >>> from topoi import AuthorTopicModel, datasets
        >>> corpus, _ = datasets.make_authors()
        >>> model = AuthorTopicModel(3, max_iter=5).fit(corpus)
        >>> [len(best) for best in model.predict_authors(corpus[:2], n=3)]
        [3, 3]
        """
        self._check_authors()
        corpus = self._corpus(X, reset=False)
        warn_of_unknown(corpus)
        found = self._author_probabilities(corpus.counts)
        return [self._best_authors(row, n, min_documents) for row in found]

    def _author_probabilities(self, counts: sparse.csr_array) -> np.ndarray:
        """(D, A) how likely authors are; rows sum to 1."""
        if self.author_blend_ is None:
            scores = author_log_likelihood(counts, self.author_topic_, self.topic_word_)
            return np.array([softmax(row) for row in scores])
        assert self.documents_ is not None
        return author_probabilities(
            self.documents_, counts, self.author_blend_, self.author_topic_, self.topic_word_
        )
