"""Questions that models with labels answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.corpus import Corpus, Membership
from topoi.corpus.coverage import warn_of_unknown
from topoi.corpus.metadata import is_table, label_membership, one_each
from topoi.explore.editing import Moves
from topoi.explore.labels import (
    chosen_labels,
    label_posterior,
    label_proportions,
    likeliest_labels,
    same_labels,
)
from topoi.explore.updating import Growth
from topoi.graph.factors import Labels
from topoi.infer.state import State
from topoi.models.updating import Updating

if TYPE_CHECKING:
    from topoi.corpus.given import LabelsLike
    from topoi.corpus.membership import Name
    from topoi.io.given import DocumentsLike

__all__ = ["LabelQuestions"]


class LabelQuestions(Updating):
    """A model whose first topics are labels."""

    threshold: float = 0.5
    classes_: np.ndarray  # (C,)
    _seen: np.ndarray  # (C,) whether a training document has the label
    _single: bool  # no training document has several labels
    _as_matrix: bool  # labels were given as a matrix

    background_topics: int

    def _check_edit(self, moves: Moves) -> None:
        labels = moves.transfer[: self._n_labels]
        own = np.eye(*labels.shape)
        rest = moves.transfer[self._n_labels :, : self._n_labels]
        if labels.shape[1] < self._n_labels or (labels != own).any() or rest.any():
            raise ValueError(
                "The first topics of this model are labels, which cannot be merged, deleted or"
                f" split; edit background topics ({self._n_labels} and above), or fit again with"
                " other labels."
            )

    def _move(self, moves: Moves) -> None:
        super()._move(moves)
        self.background_topics = len(self.components_) - self._n_labels

    def _growth(
        self, corpus: Corpus, new_topics: int, *, labels: LabelsLike | None = None, **metadata: Any
    ) -> Growth:
        if not self._n_labels:
            return super()._growth(corpus, new_topics, labels=labels, **metadata)
        growth = super()._growth(corpus, new_topics, **metadata)
        given = corpus.labels if labels is None else labels
        given = [[]] * corpus.n_docs if given is None else given
        members = label_membership(given, corpus.n_docs, "labels", self.classes_)
        growth.corpus = replace(growth.corpus, labels=members)
        of_new = members.matrix[:, self._n_labels :].T @ corpus.counts
        first = of_new.toarray().T + 1 / corpus.n_words
        growth.first = np.hstack([first / first.sum(axis=0), growth.first])
        growth.places = self._places_among(len(members.names), len(growth.places))
        background = growth.n_topics - len(members.names)
        growth.factors.append(Labels(members, background, members.names))
        return growth

    def _places_among(self, n_labels: int, n_topics: int) -> np.ndarray:
        """The numbers of this model's topics where there are more labels: background follows."""
        later = np.arange(n_topics) >= self._n_labels
        return np.arange(n_topics) + later * (n_labels - self._n_labels)

    def _places_of(self, since: Any) -> np.ndarray:
        places: np.ndarray = since._places_among(self._n_labels, len(since.components_))
        return places

    def _keep_growth(self, old: Self, growth: Growth, state: State) -> None:
        super()._keep_growth(old, growth, state)
        labels = next((part.labels for part in growth.factors if isinstance(part, Labels)), None)
        if labels is None:
            return
        assert self.documents_ is not None
        assert self.documents_.labels is not None
        self._keep_labels(self.documents_.labels.aligned(labels.names), as_matrix=old._as_matrix)
        if "background_topics" in vars(self):
            self.background_topics = growth.n_topics - self._n_labels

    def _keep_labels(self, labels: Membership, *, as_matrix: bool = False) -> None:
        """What is known of the labels of a fit."""
        self.classes_ = labels.names
        self._seen = np.asarray(labels.matrix.sum(axis=0) > 0)
        self._as_matrix = as_matrix
        self._single = bool((labels.counts() <= 1).all())
        self._know(labels=labels)

    @property
    def _n_labels(self) -> int:
        return len(getattr(self, "classes_", ()))  # a combination may have no labels

    def _check_labels(self) -> None:
        check_is_fitted(self)
        if not self._n_labels:
            raise ValueError(
                "This model was fitted without labels; add Labels(...) to its factors."
            )

    def _usual_name(self, topic: int) -> str:
        if not self._n_labels:
            return super()._usual_name(topic)
        return (
            str(self.classes_[topic])
            if topic < self._n_labels
            else f"background{topic - self._n_labels}"
        )

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Names of the columns of `transform`: the labels, unless `name_topics` gave others.

        Parameters
        ----------
        input_features : None
            Not used; scikit-learn passes it.

        Returns
        -------
        ndarray of shape (n_components,)
            One name per topic.
        """
        if not self._n_labels:
            return super().get_feature_names_out(input_features)
        return np.array(self.topic_names_, dtype=object)

    def predict_proba(self, X: DocumentsLike) -> np.ndarray:
        """Probabilities of labels, or their proportions in documents.

        Where no training document has several labels, how likely each label is given all words
        (naive Bayes with the topics of this model); else the proportions of `transform`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.

        Returns
        -------
        ndarray of shape (n_documents, n_classes)
            Rows sum to 1. Background topics, and labels that no training document had, are left
            out.

        Examples
        --------
        >>> from topoi import LabeledLDA, datasets
        >>> corpus, _ = datasets.make_labels()
        >>> model = LabeledLDA(max_iter=5).fit(corpus)
        >>> model.predict_proba(corpus[:2]).sum(axis=1).round(6).tolist()
        [1.0, 1.0]
        """
        self._check_labels()
        corpus = self._corpus(X, reset=False)
        warn_of_unknown(corpus)
        if not self._single:
            return label_proportions(np.asarray(self.transform(corpus)), self._seen)
        if self.documents_ is None:  # a Source: labels are as frequent as their tokens are
            frequency = self.topic_proportions_[: self._n_labels] * self._n_docs
        else:
            assert self.documents_.labels is not None
            frequency = np.asarray(self.documents_.labels.matrix.sum(axis=0))
        return label_posterior(
            self.weighting_(corpus.counts),
            self.topic_word_,
            self.topic_proportions_,
            frequency,
        )

    def predict(self, X: DocumentsLike) -> Any:
        """Labels of documents.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.

        Returns
        -------
        ndarray or list of list
            One label each if no training document had several, however labels were given; else
            lists of labels. An indicator matrix if y was one.

        Examples
        --------
        >>> import topoi
        >>> texts, animals = ["cat dog cat", "dog pet", "bond stock", "stock bond"], ["pets"] * 2
        >>> corpus = topoi.read(texts * 5, labels=[*animals, "money", "money"] * 5)
        >>> model = topoi.LabeledLDA().fit(corpus)
        >>> model.predict(["a dog", "bond prices"]).tolist()
        ['pets', 'money']
        """
        check_is_fitted(self)
        proportions = self.predict_proba(X)
        likeliest = proportions.argmax(axis=1)
        if self._single and not self._as_matrix:
            return self.classes_[likeliest]
        chosen = (
            np.arange(len(self.classes_)) == likeliest[:, None]
            if self._single
            else chosen_labels(proportions, self.threshold)
        )
        if self._as_matrix:
            return chosen.astype(np.int64)
        return [self.classes_[row].tolist() for row in chosen]

    def most_likely(self, X: DocumentsLike, n: int = 1) -> list[list[object]]:
        """The n labels with the largest proportions in each document.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        n : int, default=1
            Number of labels.

        Returns
        -------
        list of list
            For each document, best first.

        Examples
        --------
        >>> from topoi import LabeledLDA, datasets
        >>> corpus, _ = datasets.make_labels()
        >>> model = LabeledLDA(max_iter=5).fit(corpus)
        >>> [len(labels) for labels in model.most_likely(corpus[:2], 3)]
        [3, 3]
        """
        check_is_fitted(self)
        return likeliest_labels(self.predict_proba(X), self.classes_, n)

    def score(self, X: DocumentsLike, y: object = None, **metadata: Any) -> float:
        """Mean log-likelihood per token; with y, the accuracy of `predict`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        y : as in `fit`, default=None
            The true labels.
        **metadata
            Passed to `transform`, without y.

        Returns
        -------
        float
            With y, the proportion of documents with exactly the right labels.

        Examples
        --------
        >>> import topoi
        >>> texts, animals = ["cat dog cat", "dog pet", "bond stock", "stock bond"], ["pets"] * 2
        >>> corpus = topoi.read(texts * 5, labels=[*animals, "money", "money"] * 5)
        >>> model = topoi.LabeledLDA().fit(corpus)
        >>> model.score(["a dog", "bond prices"], ["pets", "money"])
        1.0
        """
        if y is None:
            return super().score(X, **metadata)
        predicted = self.predict(X)
        n_docs = len(predicted)
        in_matrix = is_table(one_each(y))
        truth = label_membership(y, n_docs, "y", None if in_matrix else self.classes_).matrix
        known = None if self._as_matrix else self.classes_
        found = label_membership(predicted, n_docs, "y", known).matrix
        return same_labels(truth, found)

    def top_words_by_label(self, n: int = 10, **options: Any) -> dict[Name, list[str]]:
        """The top words of each label.

        Parameters
        ----------
        n : int, default=10
            Number of words.
        **options
            Those of `top_words`.

        Returns
        -------
        dict of label to list of str

        Examples
        --------
        >>> from topoi import LabeledLDA, datasets
        >>> corpus, _ = datasets.make_labels()
        >>> model = LabeledLDA(max_iter=5).fit(corpus)
        >>> {len(words) for words in model.top_words_by_label(4).values()}
        {4}
        """
        self._check_labels()
        return dict(zip(self.classes_.tolist(), self.top_words(n, **options), strict=False))
