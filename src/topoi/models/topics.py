"""What a fitted model shows of its topics: words, names, proportions, documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.documents import TrainingDocuments
from topoi.explore.naming import EXAMPLES, Namer, names_by
from topoi.explore.reading import best_documents, topic_number, topic_table
from topoi.explore.words import top_columns, words_of
from topoi.report.markup import element, spelled

if TYPE_CHECKING:
    import pandas as pd

    from topoi.corpus.membership import Name
    from topoi.io.given import DocumentsLike
    from topoi.report.notebook import Explorer

__all__ = ["Topics"]

Names = Mapping[int, str] | Mapping[str, str] | Sequence[str] | Namer | Literal["auto"]


class Topics(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator with `components_` (K, W) and `doc_topic_` (D, K), once it is fitted."""

    components_: np.ndarray
    doc_topic_: np.ndarray
    doc_topic_prior_: np.ndarray
    topic_word_prior_: float | np.ndarray
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
        """(K,) proportion of all training tokens that each topic holds; 0 for a topic that
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
        return words_of(self, vocabulary)

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

    def name_topics(self, names: Names) -> Self:
        """Give topics names, which tables and outputs then show beside their numbers.

        Parameters
        ----------
        names : dict, list of str, callable or "auto"
            A dict gives names by topic number or present name; an empty one removes a name. A list
            has a name for each topic. A function is called for each topic with its typical words
            and the documents most about it (lists of str: texts if they were kept, otherwise
            names) and returns a name; so a language model can find names. "auto" takes a few
            distinctive words, or phrases if texts were kept, for topics that have no name and are
            not labels. Names of functions and automatic ones are made different from each other.

        Returns
        -------
        This model.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> model = LDA(2).fit(datasets.make_blocks(n_topics=2)[0])
        >>> model.name_topics({0: "first"}).topic_names_
        ['first', 'topic1']
        >>> model.name_topics(lambda words, documents: f"{len(words)} words").topic_names_
        ['10 words (w02)', '10 words (w10)']
        """
        check_is_fitted(self)
        given = {**self._topic_names, **self._numbered(names)}
        given = {k: name for k, name in given.items() if name}
        final = [given.get(k, self._usual_name(k)) for k in range(len(self.components_))]
        twice = next((name for name in final if final.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"Two topics would be called {twice!r}; give each a name of its own.")
        self._topic_names = given
        return self

    def _numbered(self, names: Names) -> dict[int, str]:
        """Names by topic number, from any form in which `name_topics` takes them."""
        known = self.topic_names_
        if isinstance(names, str):
            if names != "auto":
                raise ValueError(f"names is {names!r}; give 'auto', a list, a dict or a function.")
            free = [k for k, name in enumerate(known) if name == f"topic{k}"]
            return names_by(self, None, free, self._examples(free))
        if callable(names):
            return names_by(self, names, range(len(known)), self._examples(range(len(known))))
        if isinstance(names, Mapping):
            return {topic_number(known, k): str(name).strip() for k, name in names.items()}
        if len(names) != len(known):
            raise ValueError(
                f"{len(names)} names are given for {len(known)} topics; give one for each, or a"
                " dict."
            )
        return {k: str(name).strip() for k, name in enumerate(names)}

    def _examples(self, topics: Sequence[int]) -> list[list[str]]:
        """Documents about each of these topics: texts if they were kept, otherwise names."""
        documents = self.documents_
        if documents is None or not hasattr(self, "doc_topic_"):
            return [[] for _ in topics]
        names = range(len(documents)) if documents.names is None else documents.names.tolist()
        shown = names if documents.texts is None else documents.texts
        best = (best_documents(self.doc_topic_[:, k], documents.fit, EXAMPLES) for k in topics)
        return [[str(shown[d]) for d in row] for row in best]

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Names of the columns of `transform`: those given by `name_topics`, otherwise
        scikit-learn's (lda0, lda1, …).

        Parameters
        ----------
        input_features : None
            Not used; scikit-learn passes it.

        Returns
        -------
        ndarray of shape (n_components,)
            One name per topic.
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
            Most words of a topic. A topic that uses fewer words has fewer.
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
        words = self._words(vocabulary)
        return [[str(words[w]) for w in columns] for columns in top_columns(self, n, relevance)]

    def top_documents(self, n: int = 10) -> list[list[tuple[Name, float]]]:
        """The training documents that are most about each topic; where proportions are the same,
        those that fit their topics best.

        Parameters
        ----------
        n : int, default=10
            Number of documents.

        Returns
        -------
        list of list of (name, proportion)
            Names are numbers if `fit` knew none.
        """
        documents = self._documents()
        names = range(len(documents)) if documents.names is None else documents.names.tolist()
        return [
            [(names[d], float(row[d])) for d in best_documents(row, documents.fit, n)]
            for row in self.doc_topic_.T
        ]

    def _documents(self) -> TrainingDocuments:
        """What is known about the training documents, if they are kept."""
        check_is_fitted(self)
        if self.documents_ is None or not hasattr(self, "doc_topic_"):
            raise ValueError(
                "This model keeps no documents: it learned by partial_fit, from a Source, or with"
                " keep_documents=False. Ask its transform or label about documents that you have."
            )
        return self.documents_

    def topic_info(
        self, n: int = 10, *, vocabulary: Sequence[str] | None = None, relevance: float = 1.0
    ) -> pd.DataFrame:
        """One row per topic.

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
        pandas.DataFrame
            Columns topic, name; proportion, of all training tokens; documents, whose main topic it
            is (absent after `partial_fit`); prior; words.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> LDA(2).fit(datasets.make_blocks(n_topics=2)[0]).topic_info(3).columns.tolist()
        ['topic', 'name', 'proportion', 'documents', 'prior', 'words']
        """
        check_is_fitted(self)
        words = self.top_words(n, vocabulary=vocabulary, relevance=relevance)
        return topic_table(self, [spelled(row) for row in words])

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
        self,
        path: str | Path,
        *,
        test: DocumentsLike | None = None,
        n_words: int = 12,
        n_documents: int = 6,
    ) -> None:
        """Write a page to explore the model: a map of topics, their words, documents and authors.

        It is one HTML file that loads nothing from the network. Without scripts, and in print, it
        shows the topics one after the other. With its own script it is an explorer: words by
        relevance, a search, topics of texts that are typed into it, names and merges for
        `topoi edit`.

        Parameters
        ----------
        path : str or Path
            The file. It is replaced if it exists.
        test : Corpus or array-like of shape (n_documents, n_features), default=None
            Documents that the model has not seen, to measure it on.
        n_words : int, default=12
            Number of words per topic in print.
        n_documents : int, default=6
            Number of documents, and of authors, per topic in print.
        """
        from topoi.report.page import write

        write(self, path, test=test, n_words=n_words, n_documents=n_documents)

    def explore(self, *, height: int = 800) -> Explorer:
        """The page of `report` in a notebook cell.

        Parameters
        ----------
        height : int, default=800
            Pixels.

        Returns
        -------
        Explorer
            What a notebook shows as the page; `str` is its HTML.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> corpus, _ = datasets.make_blocks(n_topics=2)
        >>> LDA(2).fit(corpus).explore()
        Explorer of 2 topics: shown in a notebook; elsewhere write the page with report(path).
        """
        from topoi.report.notebook import Explorer
        from topoi.report.page import page_of

        return Explorer(page_of(self), self.components_.shape[0], height)

    def _repr_html_inner(self) -> str:
        inherited: str = super()._repr_html_inner()
        if not hasattr(self, "components_"):
            return inherited
        return topics_html(self) + inherited


def topics_html(model: Topics) -> str:
    """A table of topics for notebooks."""
    proportions = model.topic_proportions_
    header = element(
        "tr", element("th", "topic"), element("th", "proportion"), element("th", "words")
    )
    rows = [
        element(
            "tr",
            element("td", k),
            element("td", f"{proportions[k]:.1%}"),
            element("td", spelled(words), style="text-align:left"),
        )
        for k, words in enumerate(model.top_words(8))
    ]
    return element("table", element("thead", header), element("tbody", *rows))
