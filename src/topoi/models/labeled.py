"""Labeled LDA: topics are labels, and a document uses its own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from topoi.corpus import Membership
from topoi.corpus.metadata import is_table, label_membership, one_each
from topoi.graph.factors import Documents, Factor, Labels
from topoi.models.base import TopicModelBase

__all__ = ["LabeledLDA"]


class LabeledLDA(TopicModelBase):
    """One topic per label; what each word of a document owes to each of its labels; labels of new
    documents.

    Parameters
    ----------
    background_topics : topics beside the labels that every document may use. threshold : of
    `predict` for several labels per document: labels with at least this part of the largest share
    are predicted. The others are those of LDA.

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
    _parameters_at_least: ClassVar[dict[str, int]] = {
        "max_iter": 1,
        "vb_inner": 1,
        "evaluate_every": -1,
        "background_topics": 0,
    }

    def fit(
        self, X: Any, y: Any = None, *, checkpoint: Any = None, checkpoint_every: int = 10
    ) -> LabeledLDA:
        """Learn one topic per label.

        y: a list of labels for each document, one label each, or an indicator matrix of 0 and 1
        (documents x labels).

        A document without labels (empty list, None, NaN) uses all topics. checkpoint,
        checkpoint_every: as in `LDA.fit`.
        """
        if y is None and getattr(X, "labels", None) is None:
            raise ValueError(
                "LabeledLDA requires y to be passed, but the target y is None. Give the labels of"
                " each document, or use LDA for topics without labels."
            )
        part = self.threshold
        if not isinstance(part, float | int | np.number) or not 0 < part <= 1:
            raise ValueError(
                f"threshold is {part!r}; expected a part of the largest share, above 0 and up to 1."
            )
        corpus = self._corpus(X, reset=True)
        if _is_column(y):
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected.",
                DataConversionWarning,
                stacklevel=2,
            )
        labels = corpus.labels if y is None else label_membership(y, corpus.n_docs, "y")
        classes = labels.names
        if not labels.matrix.nnz:
            raise ValueError("y holds no label at all. For topics without labels use LDA.")
        if classes.dtype.kind == "f" and (classes != np.round(classes)).any():
            raise ValueError(
                "Unknown label type: y is continuous. Give labels; for numbers use a regression on"
                " topic proportions."
            )
        self._seen = np.asarray(labels.matrix.sum(axis=0) > 0)
        if not self._seen.all():
            missing = ", ".join(map(str, classes[~self._seen][:5]))
            warnings.warn(
                f"No document has the label {missing}, so it is never predicted.", stacklevel=2
            )
        self._as_matrix, self._single = _form(labels if y is None else y)
        factors: list[Factor] = [Documents(), Labels(labels, self.background_topics)]
        self._fit(
            corpus.counts,
            factors,
            len(classes) + self.background_topics,
            checkpoint,
            checkpoint_every,
        )
        self.classes_ = classes
        return self

    def _usual_name(self, topic: int) -> str:
        return (
            str(self.classes_[topic])
            if topic < len(self.classes_)
            else f"background{topic - len(self.classes_)}"
        )

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of `transform`: the labels, unless `name_topics` gave others."""
        return np.array(self.topic_names_, dtype=object)

    def predict_proba(self, X: Any) -> np.ndarray:
        """(D, C) share of each label in each document, rows sum to 1; background, and labels that
        no training document had, left out.
        """
        proportions = np.asarray(self.transform(X))[:, : len(self.classes_)] * self._seen
        return proportions / proportions.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Any:
        """Labels of new documents, in the form of y: one each, lists, or an indicator matrix."""
        check_is_fitted(self)
        proportions = self.predict_proba(X)
        if self._single:
            return self.classes_[proportions.argmax(axis=1)]
        chosen = proportions >= self.threshold * proportions.max(axis=1, keepdims=True)
        if self._as_matrix:
            return chosen.astype(np.int64)
        return [self.classes_[row].tolist() for row in chosen]

    def most_likely(self, X: Any, n: int = 1) -> list[list[Any]]:
        """For each document the n labels with the largest proportions, best first."""
        check_is_fitted(self)
        return [
            self.classes_[row[:n]].tolist()
            for row in np.argsort(-self.predict_proba(X), axis=1, kind="stable")
        ]

    def score(self, X: Any, y: Any = None, **metadata: Any) -> float:
        """Without y: mean log-likelihood per token.

        With y: accuracy of `predict` (share of documents with exactly the right labels).
        """
        if y is None:
            return super().score(X)
        predicted = self.predict(X)
        n_docs = len(predicted)
        in_matrix = is_table(one_each(y))
        truth = label_membership(y, n_docs, "y", None if in_matrix else self.classes_).matrix
        known = None if self._as_matrix else self.classes_
        found = label_membership(predicted, n_docs, "y", known).matrix
        width = max(truth.shape[1], found.shape[1])
        truth.resize((n_docs, width))
        found.resize((n_docs, width))
        return float(1 - (np.abs(truth - found).sum(axis=1) > 0).mean())

    def top_words_by_label(self, n: int = 10, **options: Any) -> dict[Any, list[str]]:
        """The n top words of each label; options as in `top_words`."""
        return dict(zip(self.classes_.tolist(), self.top_words(n, **options), strict=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.target_tags.required = True
        # Poor on the clouds of points that scikit-learn tries, as naive Bayes is.
        tags.classifier_tags = ClassifierTags(multi_label=True, poor_score=True)
        return tags


def _is_column(y: Any) -> bool:
    return is_table(y) and y.shape[1] == 1


def _form(y: Any) -> tuple[bool, bool]:
    """Whether y is a matrix, and whether it has one label for each document (rather than lists)."""
    if isinstance(y, Membership):
        return False, bool((y.counts() <= 1).all())
    as_matrix = is_table(one_each(y))
    return as_matrix, not as_matrix and (_is_column(y) or not _is_nested(y))


def _is_nested(y: Any) -> bool:
    """Any document with a list of labels (rather than one label each)."""
    return any(
        isinstance(value, Sequence | set | frozenset | np.ndarray) and not isinstance(value, str)
        for value in np.asarray(y, dtype=object)
    )
