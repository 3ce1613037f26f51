"""Labeled LDA: topics are labels, and a document uses its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from topoi.graph.factors import Documents, Factor, Labels
from topoi.graph.metadata import indicator, one_each
from topoi.models.base import TopicModelBase

__all__ = ["LabeledLDA"]


class LabeledLDA(TopicModelBase):
    """One topic per label; what each word of a document owes to each of its labels; labels of new documents.

    Parameters
    ----------
    background_topics : topics beside the labels that every document may use.
    threshold : of `predict` for several labels per document: labels with at least this part of the largest share are predicted.
    The others are those of LDA.

    Attributes
    ----------
    classes_ : (C,) the labels; topic k belongs to classes_[k], background topics come after them.
    The others are those of LDA.
    """

    def __init__(
        self,
        background_topics: int = 0,
        *,
        threshold: float = 0.5,
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

    background_topics: int
    threshold: float
    _parameters_at_least: ClassVar[dict[str, int]] = {"max_iter": 1, "vb_inner": 1, "evaluate_every": -1, "background_topics": 0}

    def fit(self, X: Any, y: Any = None, *, checkpoint: Any = None, checkpoint_every: int = 10) -> LabeledLDA:
        """Learn one topic per label. y: a list of labels for each document, one label each, or an indicator matrix (documents x labels).

        A document without labels (empty list, None, NaN) uses all topics. checkpoint, checkpoint_every: as in `LDA.fit`.
        """
        y = getattr(X, "labels", None) if y is None else y
        if y is None:
            raise ValueError(
                "LabeledLDA requires y to be passed, but the target y is None. Give the labels of each document, or use LDA for topics without labels."
            )
        counts = self._counts(X, reset=True)
        labels = one_each(y)
        _, classes = indicator(labels, counts.shape[0], "y")
        if not len(classes):
            raise ValueError("y holds no label at all. For topics without labels use LDA.")
        self._single = labels is not y and not _is_nested(y)
        self._as_matrix = _is_matrix(y)
        factors: list[Factor] = [Documents(), Labels(labels, self.background_topics, classes)]
        self._fit(counts, factors, len(classes) + self.background_topics, checkpoint, checkpoint_every)
        self.classes_ = classes
        return self

    def fit_transform(self, X: Any, y: Any = None, **metadata: Any) -> np.ndarray:
        """Fit, then topic shares of the documents as `transform` gives them, labels unknown."""
        return self.fit(X, y).transform(X)

    def _usual_name(self, topic: int) -> str:
        return str(self.classes_[topic]) if topic < len(self.classes_) else f"background{topic - len(self.classes_)}"

    def predict_proba(self, X: Any) -> np.ndarray:
        """(D, C) share of each label in each document, rows sum to 1, background left out."""
        shares = np.asarray(self.transform(X))[:, : len(self.classes_)]
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Any:
        """Labels of new documents, in the form of y: one each, lists, or an indicator matrix."""
        check_is_fitted(self)
        shares = self.predict_proba(X)
        if self._single:
            return self.classes_[shares.argmax(axis=1)]
        chosen = shares >= self.threshold * shares.max(axis=1, keepdims=True)
        if self._as_matrix:
            return chosen.astype(np.int64)
        return [list(self.classes_[row]) for row in chosen]

    def most_likely(self, X: Any, n: int = 1) -> list[list[Any]]:
        """For each document the n labels with the largest shares, best first."""
        check_is_fitted(self)
        return [list(self.classes_[row[:n]]) for row in np.argsort(-self.predict_proba(X), axis=1, kind="stable")]

    def score(self, X: Any, y: Any = None, **metadata: Any) -> float:
        """Without y: mean log-likelihood per token. With y: accuracy of `predict` (share of documents with exactly the right labels)."""
        if y is None:
            return super().score(X)
        predicted = self.predict(X)
        n_docs = len(predicted)
        truth, _ = indicator(one_each(y), n_docs, "y", None if _is_matrix(y) else self.classes_)
        found, _ = indicator(one_each(predicted), n_docs, "y", None if self._as_matrix else self.classes_)
        width = max(truth.shape[1], found.shape[1])
        truth.resize((n_docs, width))
        found.resize((n_docs, width))
        return float(1 - (np.abs(truth - found).sum(axis=1) > 0).mean())

    def top_words_by_label(self, n: int = 10, *, vocabulary: Sequence[str] | None = None) -> dict[Any, list[str]]:
        """The n most probable words of each label."""
        return dict(zip(self.classes_.tolist(), self.top_words(n, vocabulary=vocabulary), strict=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.classifier_tags = ClassifierTags(multi_label=True)
        return tags


def _is_matrix(y: Any) -> bool:
    return sparse.issparse(y) or (isinstance(y, np.ndarray) and y.ndim == 2)


def _is_nested(y: Any) -> bool:
    """Any document with a list of labels (rather than one label each)."""
    return any(
        isinstance(value, Sequence | set | frozenset | np.ndarray) and not isinstance(value, str) for value in np.asarray(y, dtype=object)
    )
