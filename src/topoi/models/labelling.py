"""The words of documents and their topics: messages and labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.models.preflight import refuse_large_messages
from topoi.models.topics import Topics

if TYPE_CHECKING:
    import pandas as pd

    from topoi.corpus import Corpus
    from topoi.explore.factor_graph import FactorGraph
    from topoi.io.given import DocumentsLike
    from topoi.report.coloured import ColouredText

__all__ = ["Labelling"]


class Labelling(Topics):
    """A model that can say which topic each word of a document is about."""

    if TYPE_CHECKING:  # of TopicModelBase

        def _corpus(self, X: DocumentsLike, *, reset: bool) -> Corpus: ...

        def _message_parts(
            self, corpus: Corpus, **metadata: Any
        ) -> Iterator[tuple[slice, np.ndarray]]: ...

    def messages(self, X: DocumentsLike, **metadata: Any) -> np.ndarray:
        """The message of every word of every document: how likely each topic is for it.

        Documents are folded in as `transform` does it, with the topics of the model fixed. So a
        message is the product of a factor of the word (its proportion of each topic) and one of
        the other words of the document (their messages, without its own, and the prior). This holds
        for training documents, too: their messages are computed anew under the fitted topics, in
        which they have had their part. Sums of messages, weighted by counts, are the counts behind
        `transform`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        **metadata
            As for `transform`: authors (of which messages are the sum) or links. `LabeledLDA` takes
            `labels`, too, in any form that `fit` takes: words then get topics of these labels and
            of the background only.

        Returns
        -------
        ndarray of float32 of shape (n_nonzeros, n_components)
            One row for each nonzero of X, document by document and words ascending, which is the
            order of `Corpus(X).counts`. Rows sum to 1. `init` of a new model takes them.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> corpus, _ = datasets.make_blocks(n_topics=2)
        >>> model = LDA(2).fit(corpus)
        >>> model.messages(corpus).shape == (corpus.counts.nnz, 2)
        True
        """
        check_is_fitted(self)
        corpus = self._corpus(X, reset=False)
        indptr, n_topics = corpus.counts.indptr, self.components_.shape[0]
        refuse_large_messages(corpus.counts.nnz, n_topics)
        out = np.empty((corpus.counts.nnz, n_topics), np.float32)
        for rows, messages in self._message_parts(corpus, **metadata):
            out[indptr[rows.start] : indptr[rows.stop]] = messages
        return out

    def label(self, X: DocumentsLike, **metadata: Any) -> pd.DataFrame:
        """The most likely topic of every word of every document.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        **metadata
            As for `messages`.

        Returns
        -------
        pandas.DataFrame
            One row per document and word, in the order of `messages`: document (its name, or its
            number), word, count, topic, name (of the topic) and probability.

        Examples
        --------
        >>> import topoi
        >>> texts = ["cats and dogs", "dogs and cats", "stocks and bonds", "bonds of banks"]
        >>> corpus = topoi.read(texts * 5, vectorizer=topoi.make_vectorizer(max_df=1.0))
        >>> labels = topoi.LDA(2).fit(corpus).label(corpus)
        >>> list(labels.columns)
        ['document', 'word', 'count', 'topic', 'name', 'probability']
        """
        from topoi.explore.labelling import label_table

        check_is_fitted(self)
        corpus = self._corpus(X, reset=False)
        indptr, size = corpus.counts.indptr, corpus.counts.nnz
        topics, probabilities = np.empty(size, np.int64), np.empty(size)
        for rows, messages in self._message_parts(corpus, **metadata):
            part = slice(indptr[rows.start], indptr[rows.stop])
            topics[part], probabilities[part] = messages.argmax(axis=1), messages.max(axis=1)
        return label_table(corpus, self._words(None), topics, probabilities, self.topic_names_)

    def show(self, text: str, **metadata: Any) -> ColouredText:
        """A text with each word in the colour of its most likely topic.

        Words that the model does not know have no colour.

        Parameters
        ----------
        text : str
            The text. It is cut into words as the training texts were; words are found in it
            whatever their case and accents.
        **metadata
            As for `messages`, for this one document: ``authors=[["Ann Lee"]]``.

        Returns
        -------
        ColouredText
            In a notebook it shows itself in colours, with a legend; elsewhere with the numbers of
            topics. Its `labeled.spans` are the words with their places and topics.

        Examples
        --------
        >>> import topoi
        >>> texts = ["Cats and dogs!", "Dogs, cats", "stocks and bonds", "bonds of banks"]
        >>> corpus = topoi.read(texts * 5, vectorizer=topoi.make_vectorizer(max_df=1.0))
        >>> shown = topoi.LDA(2).fit(corpus).show("Do cats like stocks?")
        >>> [span.word for span in shown.labeled.spans]
        ['cats', 'stocks']
        """
        from topoi.explore.labelling import label_texts, texts_as_corpus
        from topoi.report.coloured import coloured_text

        check_is_fitted(self)
        if not isinstance(text, str):
            raise ValueError(
                f"text is a {type(text).__name__}; expected one text. For documents in other forms"
                " use label(X)."
            )
        (labeled,) = label_texts(self, texts_as_corpus(self, [text]), **metadata)
        return coloured_text(self, labeled)

    def graph(self, X: DocumentsLike | None = None, **metadata: Any) -> FactorGraph:
        """The factor graph of the model: in words, as a drawing, and one edge with its messages.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus, default=None
            Documents, of which one can ask for edges: ``graph.edge(document, word)``.
        **metadata
            As for `messages`.

        Returns
        -------
        FactorGraph
            Printed, it describes the graph; in a notebook it draws a fragment, as the figures of
            the paper do. `svg()` and `dot()` (for Graphviz) are its drawing, `edge()` the
            neighbours of a word of a document and the messages that it receives.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> corpus, _ = datasets.make_blocks(n_topics=2)
        >>> graph = LDA(2).fit(corpus).graph(corpus)
        >>> edge = graph.edge(0, corpus.words[corpus.counts.indices[0]])
        >>> edge.messages.shape
        (2, 5)
        """
        from topoi.explore.factor_graph import factor_graph

        check_is_fitted(self)
        corpus = None if X is None else self._corpus(X, reset=False)
        return factor_graph(self, corpus, **metadata)

    def prepare_topic_data(
        self, corpus: Sequence[str], embeddings: object = None
    ) -> dict[str, object]:
        """What topicwizard shows: ``topicwizard.visualize(texts, model=model)`` calls this.

        Parameters
        ----------
        corpus : sequence of str
            Documents, as texts.
        embeddings : None
            Not used.

        Returns
        -------
        dict
            As `topoi.explore.adapters.to_topicwizard`.

        Examples
        --------
        >>> import topoi
        >>> texts = ["cats and dogs", "dogs and cats", "stocks and bonds", "bonds of banks"] * 5
        >>> model = topoi.LDA(2).fit(topoi.read(texts))
        >>> model.prepare_topic_data(texts)["topic_names"]
        ['topic0', 'topic1']
        """
        from topoi.explore.adapters import to_topicwizard

        return to_topicwizard(self, corpus)
