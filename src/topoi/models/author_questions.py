"""Questions that models with authors answer."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.explore.authors import (
    author_log_likelihood,
    author_number,
    author_similarity,
    best,
    softmax,
    word_columns,
)
from topoi.explore.editing import Moves, moved_table
from topoi.models.base import TopicModelBase

__all__ = ["AuthorQuestions"]


class AuthorQuestions(TopicModelBase):
    """A model that learned authors: their names, topics and tokens."""

    author_names_: np.ndarray  # (A,)
    author_topic_: np.ndarray  # (A, K)
    author_counts_: np.ndarray  # (A, K)

    def _move(self, moves: Moves) -> None:
        super()._move(moves)
        known = self.documents_
        counts = moved_table(self.author_counts_, moves.shares)
        if moves.split is not None and known is not None and known.authors is not None:
            parts = np.flatnonzero(moves.shares[moves.split])
            written = known.authors.matrix.T @ (known.tokens[:, None] * self.doc_topic_[:, parts])
            share = written / np.maximum(written.sum(axis=1, keepdims=True), 1e-300)
            counts[:, parts] = self.author_counts_[:, [moves.split]] * share
        self.author_counts_ = counts
        proportions = counts + self.doc_topic_prior_
        self.author_topic_ = proportions / proportions.sum(axis=1, keepdims=True)

    def _check_authors(self) -> None:
        check_is_fitted(self)
        if not len(self.author_names_):
            raise ValueError(
                "This model was fitted without authors; fit it with authors=... to ask about them."
            )

    def _author(self, name: Any) -> int:
        self._check_authors()
        return author_number(self.author_names_, name)

    def similar_authors(self, name: Any, n: int = 10) -> list[tuple[Any, float]]:
        """Authors with the most similar topic proportions.

        Parameters
        ----------
        name : str
            An author of the model.
        n : int, default=10
            Number of authors.

        Returns
        -------
        list of (name, similarity)
            Best first; 1 minus the Hellinger distance, so 1 means the same.
        """
        me = self._author(name)
        similarity = author_similarity(self.author_topic_, me)
        similarity[me] = -np.inf
        return best(self.author_names_.tolist(), similarity, min(n, len(similarity) - 1))

    def topics_of_author(self, name: Any, n: int = 10) -> list[tuple[int, float]]:
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
        """
        proportions = self.author_topic_[self._author(name)]
        return best(range(len(proportions)), proportions, n)

    def authors_of_topic(self, topic: int, n: int = 10) -> list[tuple[Any, float]]:
        """Authors who wrote most of a topic.

        Parameters
        ----------
        topic : int
            Number of the topic.
        n : int, default=10
            Number of authors.

        Returns
        -------
        list of (name, proportion)
            Largest first, with the proportion of the topic's tokens.
        """
        self._check_authors()
        if not isinstance(topic, numbers.Integral) or not 0 <= topic < self.author_counts_.shape[1]:
            raise ValueError(
                f"There is no topic {topic!r}; topics are numbered 0 to"
                f" {self.author_counts_.shape[1] - 1}."
            )
        written = self.author_counts_[:, topic]
        return best(self.author_names_.tolist(), written / max(written.sum(), 1e-300), n)

    def who_writes_about(self, text: str | Sequence[str], n: int = 10) -> list[tuple[Any, float]]:
        """Authors most likely to write some words.

        Parameters
        ----------
        text : str or list of str
            A text or its words. A text is tokenised like the training texts if the model knows how,
            and otherwise at spaces.
        n : int, default=10
            Number of authors.

        Returns
        -------
        list of (name, probability)
            Best first; probabilities are among all authors.
        """
        self._check_authors()
        cut = str.split if self.vectorizer_ is None else self.vectorizer_.build_analyzer()
        known = word_columns(text, self._words(None).tolist(), cut)
        scores = np.log(self.author_topic_ @ self.topic_word_[:, known]).sum(axis=1)
        return best(self.author_names_.tolist(), softmax(scores), n)

    def predict_authors(self, X: Any, n: int = 5) -> list[list[tuple[Any, float]]]:
        """Authors most likely to have written each document.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        n : int, default=5
            Number of authors.

        Returns
        -------
        list of list of (name, probability)
            For each document, best first; all authors are equally likely before.
        """
        self._check_authors()
        counts = self._counts(X, reset=False)
        scores = author_log_likelihood(counts, self.author_topic_, self.topic_word_)
        names = self.author_names_.tolist()
        return [best(names, softmax(row), n) for row in scores]
