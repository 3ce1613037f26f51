"""The author-topic model: the authors of a document own it together, and are what the model is
about.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.graph.factors import Authors, Documents
from topoi.io.lines import composed
from topoi.models.base import TopicModelBase
from topoi.models.inputs import author_members

__all__ = ["AuthorTopicModel"]


class AuthorTopicModel(TopicModelBase):
    """Who writes about what: topic proportions of authors, with messages over (author, topic)
    pairs.

    Parameters
    ----------
    author_prior : "uniform" (default: co-authors are equally likely) or "learned" (as their words
        say).
    The others are those of LDA.

    Attributes
    ----------
    author_topic_ : (A, K) topic proportions of authors, rows sum to 1.
    author_names_ : (A,) their names.
    author_counts_ : (A, K) expected tokens of each author and topic.
    The others are those of LDA; doc_topic_ mixes the proportions of a document's authors.
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        author_prior: str = "uniform",
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
    author_prior: str

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        authors: Any = None,
        checkpoint: Any = None,
        checkpoint_every: int = 10,
    ) -> AuthorTopicModel:
        """Learn topics and authors.

        authors: a list of names for each document, or a documents x authors matrix of 0 and 1;
        without, this is LDA.

        checkpoint, checkpoint_every: as in `LDA.fit`.
        """
        corpus = self._corpus(X, reset=True)
        members = author_members(authors, corpus)
        if members is None:
            warnings.warn(
                "No authors were given, so this is LDA; give them with authors=... or in a Corpus.",
                stacklevel=2,
            )
        owners = Documents() if members is None else Authors(members, self.author_prior)
        state = self._fit(corpus.counts, [owners], self.n_components, checkpoint, checkpoint_every)
        self.author_names_ = np.array([], dtype=str) if members is None else members.names
        named = len(self.author_names_)
        self.author_counts_ = state.owner_counts()[:named].astype(np.float64)
        self.author_topic_ = state.owner_topic()[:named]
        return self

    def transform(
        self,
        X: Any,
        authors: Any = None,
        *,
        author_shares: str | None = None,
        known_authors: bool = True,
    ) -> np.ndarray:
        """(D, K) topic proportions of new documents.

        authors: lists of names, known or new (default: those of a Corpus); documents without
        authors (or all, if None) are judged by their words alone. author_shares: "uniform" or
        "learned" proportions of co-authors in a document (default: as fitted). known_authors: known
        authors bring what they wrote in training (default); False learns all authors from X alone,
        as the paper's protocol does.
        """
        check_is_fitted(self)
        corpus = self._corpus(X, reset=False)
        weights = self.weighting_(corpus.counts)
        names = self.author_names_ if known_authors and len(self.author_names_) else None
        members = author_members(authors, corpus, names)
        if members is None:
            return self._fold_in(weights).astype(self._dtype)
        base = self.author_counts_ if names is not None else None
        owners = Authors(members, author_shares or self.author_prior, base=base)
        return self._fold_in_state(weights, [owners]).doc_topic().astype(self._dtype)

    def score(self, X: Any, y: Any = None, *, authors: Any = None, **metadata: Any) -> float:
        """Mean log-likelihood per token of X, with topic proportions from `transform`; higher is
        better.
        """
        return super().score(X, y, authors=authors, **metadata)

    def _check_authors(self) -> None:
        check_is_fitted(self)
        if not len(self.author_names_):
            raise ValueError(
                "This model was fitted without authors; fit it with authors=... to ask about them."
            )

    def _author(self, name: Any) -> int:
        self._check_authors()
        found = np.flatnonzero(self.author_names_ == name)
        if not len(found):
            names = [str(author) for author in self.author_names_]
            near = [author for author in names if str(name).lower() in author.lower()][
                :3
            ] or get_close_matches(str(name), names)
            hint = (
                f"did you mean {', '.join(near)}?"
                if near
                else f"it knows {len(names)}, for instance {', '.join(names[:3])}."
            )
            raise ValueError(f"There is no author {name!r} in this model; {hint}")
        return int(found[0])

    def _ranked(self, scores: np.ndarray, n: int) -> list[tuple[Any, float]]:
        names = self.author_names_.tolist()
        return [(names[i], float(scores[i])) for i in np.argsort(-scores, kind="stable")[:n]]

    def similar_authors(self, name: Any, n: int = 10) -> list[tuple[Any, float]]:
        """Authors with the most similar topic proportions: 1 minus the Hellinger distance, 1 = the
        same.
        """
        me = self._author(name)
        roots = np.sqrt(self.author_topic_)
        similarity = 1 - np.linalg.norm(roots - roots[me], axis=1) / np.sqrt(2)
        similarity[me] = -np.inf
        return self._ranked(similarity, min(n, len(roots) - 1))

    def topics_of_author(self, name: Any, n: int = 10) -> list[tuple[int, float]]:
        """Topics an author writes most about, with their proportions."""
        proportions = self.author_topic_[self._author(name)]
        return [
            (int(k), float(proportions[k])) for k in np.argsort(-proportions, kind="stable")[:n]
        ]

    def authors_of_topic(self, topic: int, n: int = 10) -> list[tuple[Any, float]]:
        """Authors who wrote most of a topic, with their share of it."""
        self._check_authors()
        if not isinstance(topic, numbers.Integral) or not 0 <= topic < self.author_counts_.shape[1]:
            raise ValueError(
                f"There is no topic {topic!r}; topics are numbered 0 to"
                f" {self.author_counts_.shape[1] - 1}."
            )
        written = self.author_counts_[:, topic]
        return self._ranked(written / max(written.sum(), 1e-300), n)

    def who_writes_about(self, text: str | Sequence[str], n: int = 10) -> list[tuple[Any, float]]:
        """Authors most likely to write these words ("markov chain", or a list of words), with their
        probabilities among all authors.

        A text is cut into words as the training texts were, if the model knows how, and otherwise
        at spaces.
        """
        self._check_authors()
        cut = str.split if self.vectorizer_ is None else self.vectorizer_.build_analyzer()
        words = cut(composed(text)) if isinstance(text, str) else [composed(word) for word in text]
        column = {composed(str(word)): i for i, word in enumerate(self._words(None))}
        known = [
            column[form]
            for word in words
            for form in (word if word in column else word.lower(),)
            if form in column
        ]
        if not known:
            raise ValueError(
                f"None of {words} is in the vocabulary of this model; try other words."
            )
        return self._ranked(
            _softmax(np.log(self.author_topic_ @ self.topic_word_[:, known]).sum(axis=1)), n
        )

    def predict_authors(self, X: Any, n: int = 5) -> list[list[tuple[Any, float]]]:
        """For each document the n authors most likely to have written all of it, with probabilities
        (all authors equally likely before).
        """
        self._check_authors()
        counts = self._counts(X, reset=False)
        scores = np.empty((counts.shape[0], len(self.author_names_)))
        for first in range(0, scores.shape[1], 256):
            part = slice(first, first + 256)
            scores[:, part] = counts @ np.log(self.author_topic_[part] @ self.topic_word_).T
        return [self._ranked(_softmax(row), n) for row in scores]


def _softmax(scores: np.ndarray) -> np.ndarray:
    odds = np.exp(scores - scores.max())
    return odds / odds.sum()
