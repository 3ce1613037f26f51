"""What a fitted model shows of its topics: words, names, proportions, documents."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.documents import TrainingDocuments
from topoi.report.markup import element, spelled

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Topics"]


class Topics(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator with `components_` (K, W) and `doc_topic_` (D, K), once it is fitted."""

    components_: np.ndarray
    doc_topic_: np.ndarray
    doc_topic_prior_: np.ndarray
    topic_word_prior_: float
    vocabulary_: Sequence[str] | np.ndarray | None
    documents_: TrainingDocuments | None  # None after partial_fit
    _topic_names: dict[int, str]

    @property
    def topic_word_(self) -> np.ndarray:
        """(K, W) word proportions of topics, rows sum to 1."""
        check_is_fitted(self)
        proportions: np.ndarray = self.components_ / self.components_.sum(axis=1, keepdims=True)
        return proportions

    @property
    def topic_proportions_(self) -> np.ndarray:
        """(K,) share of all training tokens that each topic holds; 0 for a topic that
        nothing uses.
        """
        check_is_fitted(self)
        held = np.maximum(self.components_ - self.topic_word_prior_, 0).sum(axis=1)
        proportions: np.ndarray = held / max(held.sum(), 1e-300)
        return proportions

    @property
    def doc_names_(self) -> np.ndarray | None:
        """(D,) names of the training documents, if known."""
        return None if self.documents_ is None else self.documents_.names

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def _words(self, vocabulary: Sequence[str] | None) -> np.ndarray:
        words = self.vocabulary_ if vocabulary is None else vocabulary
        if words is None:
            return np.array([f"word{i}" for i in range(self.components_.shape[1])])
        if len(words) != self.components_.shape[1]:
            raise ValueError(
                f"vocabulary has {len(words)} words; the model was fitted with"
                f" {self.components_.shape[1]}."
            )
        return np.asarray(words)

    @property
    def topic_names_(self) -> list[str]:
        """The names of topics: those given by `name_topics`, and "topic0", "topic1", … for the
        others.
        """
        check_is_fitted(self)
        return [
            self._topic_names.get(k, self._usual_name(k)) for k in range(self.components_.shape[0])
        ]

    def _usual_name(self, topic: int) -> str:
        return f"topic{topic}"

    def name_topics(self, names: Mapping[int, str]) -> Self:
        """Give topics names, which tables and outputs then show beside their numbers.

        Parameters
        ----------
        names : dict of int to str
            Names by topic number. An empty name removes one.

        Returns
        -------
        This model.
        """
        check_is_fitted(self)
        n_topics = self.components_.shape[0]
        for topic in names:
            if not isinstance(topic, numbers.Integral) or not 0 <= topic < n_topics:
                raise ValueError(
                    f"There is no topic {topic!r}; topics are numbered 0 to {n_topics - 1}."
                )
        given = {
            **self._topic_names,
            **{int(topic): str(name).strip() for topic, name in names.items()},
        }
        given = {topic: name for topic, name in given.items() if name}
        every = [given.get(k, self._usual_name(k)) for k in range(n_topics)]
        twice = next((name for name in every if every.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"Two topics would be called {twice!r}; give each a name of its own.")
        self._topic_names = given
        return self

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of `transform`: those given by `name_topics`, otherwise
        scikit-learn's (lda0, lda1, …).
        """
        usual = super().get_feature_names_out(input_features)
        return np.array(
            [self._topic_names.get(k, name) for k, name in enumerate(usual)], dtype=object
        )

    def top_words(
        self, n: int = 10, *, vocabulary: Sequence[str] | None = None, relevance: float = 1.0
    ) -> list[list[str]]:
        """The top words of each topic.

        Parameters
        ----------
        n : int, default=10
            Number of words.
        vocabulary : sequence of str, default=None
            The word of each column, if `fit` did not know it.
        relevance : float, default=1.0
            1 takes the most probable words. The smaller it is, the more words count that are
            typical of the topic rather than frequent everywhere (Sievert and Shirley 2014); 0.3 to
            0.6 where stop words are still in.

        Returns
        -------
        list of list of str
        """
        check_is_fitted(self)
        if n < 1:
            raise ValueError(f"n is {n}; expected at least 1 word.")
        if not 0 <= relevance <= 1:
            raise ValueError(f"relevance is {relevance!r}; expected a number from 0 to 1.")
        words, scores = self._words(vocabulary), self.components_
        if relevance < 1:
            scores = np.log(self.topic_word_) - (1 - relevance) * np.log(
                self.topic_proportions_ @ self.topic_word_
            )
        return [[str(words[w]) for w in np.argsort(-row, kind="stable")[:n]] for row in scores]

    def top_documents(self, n: int = 10) -> list[list[tuple[Any, float]]]:
        """The training documents that are most about each topic.

        Parameters
        ----------
        n : int, default=10
            Number of documents.

        Returns
        -------
        list of list of (name, proportion)
            Names are numbers if `fit` knew none.
        """
        check_is_fitted(self)
        if n < 1:
            raise ValueError(f"n is {n}; expected at least 1 document.")
        if not hasattr(self, "doc_topic_"):
            raise ValueError(
                "This model learned by partial_fit and keeps no documents; take the largest"
                " proportions of its transform."
            )
        names = range(len(self.doc_topic_)) if self.doc_names_ is None else self.doc_names_.tolist()
        return [
            [(names[d], float(proportions[d])) for d in np.argsort(-proportions, kind="stable")[:n]]
            for proportions in self.doc_topic_.T
        ]

    def topic_info(
        self, n: int = 10, *, vocabulary: Sequence[str] | None = None, relevance: float = 1.0
    ) -> pd.DataFrame | list[dict[str, Any]]:
        """One row per topic: id, name, share of all tokens, prior and top words.

        Parameters
        ----------
        n : int, default=10
            Number of words.
        vocabulary : sequence of str, default=None
            The word of each column, if `fit` did not know it.
        relevance : float, default=1.0
            As in `top_words`.

        Returns
        -------
        pandas.DataFrame, or list of dict if pandas is not installed
        """
        check_is_fitted(self)
        share, names = self.topic_proportions_, self.topic_names_
        rows = [
            {
                "topic": k,
                "name": names[k],
                "share": float(share[k]),
                "prior": float(self.doc_topic_prior_[k]),
                "words": spelled(words),
            }
            for k, words in enumerate(self.top_words(n, vocabulary=vocabulary, relevance=relevance))
        ]
        try:
            import pandas as pd
        except ImportError:
            return rows
        return pd.DataFrame(rows)

    def save(self, path: str | Path) -> None:
        """Write the model to one file, which `topoi.load` reads.

        Parameters
        ----------
        path : str or Path
            The file. It is replaced if it exists.
        """
        from topoi.models.files import save

        save(self, path)

    def report(
        self, path: str | Path, *, test: Any = None, n_words: int = 12, n_documents: int = 6
    ) -> None:
        """Write an HTML page about the model: a map of topics, their words, documents and authors.

        The page has no scripts and loads nothing from the network.

        Parameters
        ----------
        path : str or Path
            The file. It is replaced if it exists.
        test : Corpus or array-like of shape (n_documents, n_features), default=None
            Documents that the model has not seen, to measure it on.
        n_words : int, default=12
            Number of words per topic.
        n_documents : int, default=6
            Number of documents, and of authors, per topic.
        """
        from topoi.report.page import write

        write(self, path, test=test, n_words=n_words, n_documents=n_documents)

    def _repr_html_inner(self) -> str:
        inherited: str = super()._repr_html_inner()
        if not hasattr(self, "components_"):
            return inherited
        return topics_html(self) + inherited


def topics_html(model: Topics) -> str:
    """A table of topics for notebooks."""
    share = model.topic_proportions_
    header = element("tr", element("th", "topic"), element("th", "share"), element("th", "words"))
    rows = [
        element(
            "tr",
            element("td", k),
            element("td", f"{share[k]:.1%}"),
            element("td", spelled(words), style="text-align:left"),
        )
        for k, words in enumerate(model.top_words(8))
    ]
    return element("table", element("thead", header), element("tbody", *rows))
