"""Finding and reading: topics, documents and authors as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.corpus.documents import TrainingDocuments
from topoi.explore import reading
from topoi.explore.words import topic_words
from topoi.models.topics import Topics
from topoi.report.markup import spelled

if TYPE_CHECKING:
    import pandas as pd

    from topoi.corpus import Corpus
    from topoi.io.given import DocumentsLike

__all__ = ["Reading"]

N_WORDS = 8  # of a topic, in tables about something else


class Reading(Topics):
    """A model that can be searched and read."""

    if TYPE_CHECKING:  # of TopicModelBase

        def _corpus(self, X: DocumentsLike, *, reset: bool) -> Corpus: ...

    def _topic(self, topic: int | str) -> int:
        """The number of a topic that is given by number or name."""
        check_is_fitted(self)
        return reading.topic_number(self.topic_names_, topic)

    def find_topics(self, text: str | Sequence[str], n: int = 10) -> pd.DataFrame:
        """The topics of a word, of words, or of a text.

        Parameters
        ----------
        text : str or list of str
            A text, which is cut into words as the training texts were, or words.
        n : int, default=10
            Most topics.

        Returns
        -------
        pandas.DataFrame
            Columns topic, name, score (the part of the words that is about the topic; the scores
            of all topics sum to 1), words. Best first. Words that are not in the vocabulary do
            not count; if none is, this is refused.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> model = LDA(2).fit(datasets.make_blocks(n_topics=2)[0])
        >>> found = model.find_topics("w03 w04")
        >>> found.columns.tolist(), bool(found["score"][0] > 0.9)
        (['topic', 'name', 'score', 'words'], True)
        """
        check_is_fitted(self)
        words = [spelled(row) for row in self.top_words(N_WORDS)]
        return reading.find_topics(self, text, words, n)

    def show_topic(self, topic: int | str, n: int = 20, *, relevance: float = 1.0) -> pd.DataFrame:
        """The top words of a topic, with numbers.

        Parameters
        ----------
        topic : int or str
            Number or name of the topic.
        n : int, default=20
            Most words.
        relevance : float, default=1.0
            As in `top_words`.

        Returns
        -------
        pandas.DataFrame
            Columns word; probability, in the topic; count, expected tokens of the word in the
            topic; frequency, its tokens in all topics; proportion, the part of them that is in this
            topic; lift, the probability divided by that in the whole corpus.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> model = LDA(2).fit(datasets.make_blocks(n_topics=2)[0]).name_topics(["a", "b"])
        >>> model.show_topic("a", 3).columns.tolist()
        ['word', 'probability', 'count', 'frequency', 'proportion', 'lift']
        """
        return topic_words(self, self._topic(topic), n, relevance)

    def document_info(
        self, X: DocumentsLike | None = None, *, n_topics: int = 3, **metadata: Any
    ) -> pd.DataFrame:
        """One row per document: its main topics, and what is known about it.

        Parameters
        ----------
        X : Corpus or array-like of shape (n_documents, n_features), default=None
            Documents. Default: those of training.
        n_topics : int, default=3
            Number of main topics to show.
        **metadata
            Of X, passed to `transform`: authors or links.

        Returns
        -------
        pandas.DataFrame
            Columns document (name or number); topic, name and proportion of the largest topic, and
            of the next ones as topic_2, name_2, proportion_2, …; tokens; mark; date, authors,
            labels, groups and text, where these are known. A mark is "no known words" (the
            proportions are the prior), "few known words" (fewer than 5 different ones, or less than
            a fifth of the tokens) or "".

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> model = LDA(2).fit(datasets.make_blocks(n_topics=2)[0])
        >>> model.document_info(n_topics=1).columns.tolist()
        ['document', 'topic', 'name', 'proportion', 'tokens', 'mark']
        """
        documents, proportions, unknown = self._about(X, **metadata)
        return reading.document_table(
            documents, proportions, self.topic_names_, unknown=unknown, n_topics=n_topics
        )

    def _about(
        self, X: DocumentsLike, **metadata: Any
    ) -> tuple[TrainingDocuments, np.ndarray, np.ndarray | None]:
        """Documents of X or of training, their proportions, and their unknown tokens."""
        if X is None:
            return self._documents(), self.doc_topic_, None
        corpus = self._corpus(X, reset=False)
        proportions = np.asarray(self.transform(corpus, **metadata))
        return TrainingDocuments.of(corpus), proportions, corpus.unknown

    def author_info(self, *, n_topics: int = 3, min_documents: int = 1) -> pd.DataFrame:
        """One row per author of the training documents.

        Parameters
        ----------
        n_topics : int, default=3
            Number of main topics to show.
        min_documents : int, default=1
            Leave out authors with fewer documents.

        Returns
        -------
        pandas.DataFrame
            Columns author; documents and tokens of which they are an author; topic, name and
            proportion of the largest topic, and of the next ones. Topics are those that the model
            learned for the author, or the mean of their documents. Most documents first.

        Examples
        --------
        >>> from topoi import AuthorTopicModel, datasets
        >>> model = AuthorTopicModel(3, max_iter=5).fit(datasets.make_authors()[0])
        >>> model.author_info(n_topics=1).columns.tolist()
        ['author', 'documents', 'tokens', 'topic', 'name', 'proportion']
        """
        self._documents()
        return reading.author_table(self, n_topics=n_topics, min_documents=min_documents)

    def similar_documents(self, document: int | str, n: int = 10) -> pd.DataFrame:
        """The training documents whose topics are most like those of a document or a text.

        Parameters
        ----------
        document : int or str
            A training document, by number or name, or a text.
        n : int, default=10
            Number of documents.

        Returns
        -------
        pandas.DataFrame
            Columns document, similarity (1 minus the Hellinger distance of topic proportions, so 1
            means the same), and those of `document_info`. Best first; a training document itself
            is left out.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> model = LDA(2).fit(datasets.make_blocks(n_topics=2)[0])
        >>> model.similar_documents("w01 w02", 3)["similarity"].is_monotonic_decreasing
        True
        """
        self._documents()
        return reading.similar_documents(self, document, n)

    def representative_documents(self, topic: int | str, n: int = 10) -> pd.DataFrame:
        """The training documents that are most about a topic.

        Parameters
        ----------
        topic : int or str
            Number or name of the topic.
        n : int, default=10
            Number of documents.

        Returns
        -------
        pandas.DataFrame
            Columns document; proportion, of the topic; fit, how much better its topics explain the
            document than word frequencies do, which decides where proportions are the same; tokens,
            mark, date, authors, labels, groups and text, where these are known.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> model = LDA(2).fit(datasets.make_blocks(n_topics=2)[0])
        >>> model.representative_documents(0, 2).columns.tolist()
        ['document', 'proportion', 'fit', 'tokens', 'mark']
        """
        documents, k = self._documents(), self._topic(topic)
        best = reading.best_documents(self.doc_topic_[:, k], documents.fit, n)
        table = self.document_info(n_topics=0).iloc[best].reset_index(drop=True)
        table.insert(1, "proportion", self.doc_topic_[best, k].astype(np.float64))
        if documents.fit is not None:
            table.insert(2, "fit", documents.fit[best])
        return table
