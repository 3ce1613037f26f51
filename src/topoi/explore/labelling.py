"""Labels of words: the topic that each word of a document is about, in tables and in texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topoi.corpus import Corpus
from topoi.explore.locating import locate
from topoi.io.lines import composed
from topoi.io.vectorize import vectorizer_of

if TYPE_CHECKING:
    import pandas as pd

    from topoi.protocols import FittedModel

__all__ = ["LabeledText", "Span", "label_table", "label_texts", "texts_as_corpus"]


def label_table(
    corpus: Corpus,
    words: np.ndarray,
    topics: np.ndarray,
    probabilities: np.ndarray,
    names: Sequence[str],
) -> pd.DataFrame:
    """One row per document and word, with its topic.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    words : ndarray of str of shape (n_words,)
        The word of each column.
    topics, probabilities : ndarray of shape (n_nonzeros,)
        The topic of each nonzero of the counts, and how likely it is.
    names : sequence of str
        Names of the topics.

    Returns
    -------
    pandas.DataFrame
        Columns document, word, count, topic, name and probability.

    Examples
    --------
    >>> corpus = Corpus([[2, 0], [1, 3]], doc_names=["a", "b"])
    >>> words, topics = np.array(["cat", "dog"]), np.array([0, 0, 1])
    >>> print(label_table(corpus, words, topics, np.array([0.9, 0.8, 0.7]), ["pets", "zoo"]))
      document word  count  topic  name  probability
    0        a  cat    2.0      0  pets          0.9
    1        b  cat    1.0      0  pets          0.8
    2        b  dog    3.0      1   zoo          0.7
    """
    import pandas as pd

    counts = corpus.counts
    documents = np.arange(corpus.n_docs) if corpus.doc_names is None else corpus.doc_names
    return pd.DataFrame(
        {
            "document": np.repeat(np.asarray(documents), np.diff(counts.indptr)),
            "word": words[counts.indices],
            "count": counts.data,
            "topic": topics,
            "name": np.asarray(names)[topics],
            "probability": probabilities,
        }
    )


class Span(NamedTuple):
    """A word of a text, text[start:end], and its most likely topic."""

    start: int
    end: int
    word: str  # as the model spells it
    topic: int
    probability: float


@dataclass(frozen=True)
class LabeledText:
    """A text with the topics of its words.

    Attributes
    ----------
    text : str
        The text as it was written.
    spans : tuple of Span
        The words that the model knows, in the order of the text.
    names : mapping of int to str
        The name of each topic that a word has.

    Examples
    --------
    >>> labeled = LabeledText("Cats bite.", (Span(0, 4, "cats", 1, 0.9),), {1: "pets"})
    >>> print(labeled)
    Cats[1] bite.
    """

    text: str
    spans: tuple[Span, ...]
    names: Mapping[int, str]

    def pieces(self) -> Iterator[tuple[str, Span | None]]:
        """The whole text, piece by piece, each with its span if it is a word with a topic."""
        at = 0
        for span in self.spans:
            if at < span.start:
                yield self.text[at : span.start], None
            yield self.text[span.start : span.end], span
            at = span.end
        if at < len(self.text):
            yield self.text[at:], None

    def proportions(self) -> dict[int, float]:
        """Topics, the most frequent first, and the proportion of words that each has."""
        topics, n_words = np.unique([span.topic for span in self.spans], return_counts=True)
        order = np.argsort(-n_words, kind="stable")
        return {int(topics[i]): float(n_words[i] / len(self.spans)) for i in order}

    def __str__(self) -> str:
        return "".join(
            piece if span is None else f"{piece}[{span.topic}]" for piece, span in self.pieces()
        )


def texts_as_corpus(model: FittedModel, texts: Sequence[str]) -> Corpus:
    """Texts as the counts of the model's words.

    Parameters
    ----------
    model : fitted model
        One that knows its words.
    texts : sequence of str
        One text per document.

    Returns
    -------
    Corpus
        With the texts as they are.

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> corpus, _ = datasets.make_blocks(n_topics=2)
    >>> texts_as_corpus(LDA(2, max_iter=2).fit(corpus), [" ".join(corpus.words[:3])])
    Corpus(1 documents x 20 words, 3 tokens, vocabulary, texts)
    """
    vectorizer = vectorizer_of(model)
    counts = vectorizer.transform([composed(text) for text in texts]).astype(np.float64)
    corpus = Corpus(counts, vectorizer.get_feature_names_out(), texts=list(texts))
    return corpus.like(model.vocabulary_)


def label_texts(model: FittedModel, corpus: Corpus, **metadata: Any) -> list[LabeledText]:
    """The texts of a corpus with the topics of their words.

    Parameters
    ----------
    model : fitted model
        One that knows its words.
    corpus : Corpus
        Documents with their texts, as `texts_as_corpus` or `topoi.read` make it.
    **metadata
        As for `model.messages`.

    Returns
    -------
    list of LabeledText
        One per document.

    Examples
    --------
    >>> import topoi
    >>> texts = ["Cats and dogs!", "Dogs, cats", "stocks and bonds", "bonds of banks"]
    >>> corpus = topoi.read(texts * 5, vectorizer=topoi.make_vectorizer(max_df=1.0))
    >>> model = topoi.LDA(2).fit(corpus)
    >>> (labeled,) = label_texts(model, texts_as_corpus(model, ["My Dogs"]))
    >>> labeled.spans[0].word, labeled.spans[0][:2]
    ('dogs', (3, 7))
    """
    if corpus.texts is None:
        raise ValueError("The corpus has no texts; read it with keep_text=True.")
    vectorizer, names = vectorizer_of(model), model.topic_names_
    labels, indptr = model.label(corpus, **metadata), corpus.counts.indptr
    columns = [labels[name].tolist() for name in ("word", "topic", "probability")]
    found = []
    for d, text in enumerate(corpus.texts):
        rows = (column[indptr[d] : indptr[d + 1]] for column in columns)
        topics = {word: (topic, likely) for word, topic, likely in zip(*rows, strict=True)}
        spans = tuple(
            Span(*place, *topics[place.word]) for place in locate(text, vectorizer, topics)
        )
        found.append(LabeledText(text, spans, {s.topic: names[s.topic] for s in spans}))
    return found
