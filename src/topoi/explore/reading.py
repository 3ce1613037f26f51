"""Tables for reading a fitted model: its topics, documents and authors, and what is like what."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

import numpy as np

from topoi.corpus.coverage import document_marks
from topoi.corpus.documents import TrainingDocuments
from topoi.explore.words import question_counts

if TYPE_CHECKING:
    import pandas as pd

    from topoi.protocols import FittedModel

__all__ = [
    "author_table",
    "best_documents",
    "document_number",
    "document_table",
    "find_topics",
    "similar_documents",
    "topic_number",
    "topic_table",
]

JOINED = "; "  # between several labels, authors or values in a cell


def topic_number(names: Sequence[str], topic: int | str) -> int:
    """The number of a topic that is given by number or name.

    Parameters
    ----------
    names : sequence of str
        Names of the topics.
    topic : int or str
        Number or name.

    Returns
    -------
    int

    Examples
    --------
    >>> topic_number(["topic0", "markov chains"], "markov chains")
    1
    """
    names = list(names)
    if isinstance(topic, str):
        if topic in names:
            return names.index(topic)
        near = [name for name in names if topic.lower() in name.lower()][:3]
        near = near or get_close_matches(topic, names)
        hint = f"did you mean {', '.join(map(repr, near))}?" if near else "give its number."
        raise ValueError(f"There is no topic called {topic!r}; {hint}")
    if not isinstance(topic, numbers.Integral) or not 0 <= topic < len(names):
        raise ValueError(f"There is no topic {topic!r}; topics are numbered 0 to {len(names) - 1}.")
    return int(topic)


def topic_table(model: FittedModel, words: Sequence[str]) -> pd.DataFrame:
    """One row per topic.

    Parameters
    ----------
    model : fitted model
        A topoi model.
    words : sequence of str
        The top words of each topic, in a line.

    Returns
    -------
    pandas.DataFrame
        Columns topic, name; proportion, of all training tokens; documents, whose main topic it is
        (absent if the model keeps no documents); prior; words.
    """
    import pandas as pd

    n_topics = len(words)
    table: dict[str, object] = {
        "topic": np.arange(n_topics),
        "name": model.topic_names_,
        "proportion": np.asarray(model.topic_proportions_, dtype=np.float64),
    }
    if hasattr(model, "doc_topic_"):
        with_words = cast("TrainingDocuments", model.documents_).words > 0
        table["documents"] = np.bincount(
            model.doc_topic_[with_words].argmax(axis=1), minlength=n_topics
        )
    table["prior"] = np.asarray(model.doc_topic_prior_, dtype=np.float64)
    table["words"] = list(words)
    return pd.DataFrame(table)


def document_table(
    documents: TrainingDocuments,
    proportions: np.ndarray,
    names: Sequence[str],
    *,
    unknown: np.ndarray | None = None,
    n_topics: int = 3,
) -> pd.DataFrame:
    """One row per document.

    Parameters
    ----------
    documents : TrainingDocuments
        What is known about the documents.
    proportions : ndarray of shape (n_docs, n_components)
        Their topic proportions.
    names : sequence of str
        Names of the topics.
    unknown : ndarray of shape (n_docs,), optional
        Tokens that the model does not know.
    n_topics : int, default=3
        Number of main topics to show.

    Returns
    -------
    pandas.DataFrame
        Columns document (name or number); topic, name and proportion of the largest topic, and of
        the next ones as topic_2, name_2, proportion_2, …; tokens; mark ("no known words", "few
        known words" or ""); date, authors, labels, groups and text, where these are known.

    Examples
    --------
    >>> from topoi import Corpus
    >>> corpus = Corpus([[3, 1], [0, 0]], doc_names=["a", "b"], dates=[1999, None])
    >>> known = TrainingDocuments.of(corpus)
    >>> proportions = np.array([[0.9, 0.1], [0.5, 0.5]])
    >>> document_table(known, proportions, ["pets", "zoo"], n_topics=1).columns.tolist()
    ['document', 'topic', 'name', 'proportion', 'tokens', 'mark', 'date']
    """
    import pandas as pd

    table: dict[str, object] = {
        "document": _names(documents),
        **_main_topics(proportions, names, n_topics),
        "tokens": documents.tokens,
        "mark": document_marks(documents.words, documents.tokens, unknown),
    }
    if documents.dates is not None:
        table["date"] = documents.dates
    for name, column in documents.columns.items():
        free = name if name not in table else f"{name}_"
        table[free] = [JOINED.join(map(str, row)) for row in column]
    if documents.texts is not None:
        table["text"] = documents.texts
    return pd.DataFrame(table)


def _names(documents: TrainingDocuments) -> np.ndarray:
    return np.arange(len(documents)) if documents.names is None else documents.names


def _main_topics(
    proportions: np.ndarray, names: Sequence[str], n_topics: int
) -> dict[str, np.ndarray]:
    """topic, name and proportion of the largest topics: topic, topic_2, …"""
    if n_topics < 0:
        raise ValueError(f"n_topics is {n_topics}; expected a number of topics from 0 on.")
    order = np.argsort(-proportions, axis=1, kind="stable")
    named = np.array(names, dtype=object)
    found = {}
    for place in range(min(n_topics, proportions.shape[1])):
        end, topics = f"_{place + 1}" if place else "", order[:, place]
        found[f"topic{end}"], found[f"name{end}"] = topics, named[topics]
        found[f"proportion{end}"] = proportions[np.arange(len(topics)), topics].astype(np.float64)
    return found


def best_documents(proportions: np.ndarray, fit: np.ndarray | None, n: int) -> np.ndarray:
    """The documents that are most about a topic, best first.

    Parameters
    ----------
    proportions : ndarray of shape (n_docs,)
        Proportion of the topic in each document.
    fit : ndarray of shape (n_docs,), optional
        How well documents fit their topics, which decides where proportions are the same: those of
        a label are all 1.
    n : int
        Number of documents.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> best_documents(np.array([1.0, 0.2, 1.0]), np.array([0.5, 0.9, 0.7]), 2).tolist()
    [2, 0]
    """
    if n < 1:
        raise ValueError(f"n is {n}; expected at least 1 document.")
    tie = np.zeros(len(proportions)) if fit is None else fit
    return np.lexsort((np.arange(len(proportions)), -tie, -proportions))[:n]


def find_topics(
    model: FittedModel, text: str | Sequence[str], words: Sequence[str], n: int = 10
) -> pd.DataFrame:
    """The topics of a word, of words, or of a text.

    Parameters
    ----------
    model : fitted model
        A topoi model.
    text : str or sequence of str
        A text, or words.
    words : sequence of str
        The top words of each topic, in a line.
    n : int, default=10
        Most topics.

    Returns
    -------
    pandas.DataFrame
        Columns topic, name, score (the part of the words that is about the topic; all topics sum
        to 1), words. Best first.
    """
    import pandas as pd

    if n < 1:
        raise ValueError(f"n is {n}; expected at least 1 topic.")
    counts = question_counts(model, text)
    scores = (counts.data @ np.asarray(model.messages(counts), dtype=np.float64)) / counts.sum()
    best = np.argsort(-scores, kind="stable")[:n]
    return pd.DataFrame(
        {
            "topic": best,
            "name": np.array(model.topic_names_, dtype=object)[best],
            "score": scores[best],
            "words": np.array(words, dtype=object)[best],
        }
    )


def document_number(documents: TrainingDocuments, document: int | str) -> int | None:
    """The number of a training document that is given by number or name; None if it is neither."""
    if isinstance(document, str):
        if documents.names is None or document not in documents.names:
            return None
        return int(np.argmax(documents.names == document))
    if not isinstance(document, numbers.Integral) or not 0 <= document < len(documents):
        raise ValueError(
            f"There is no document {document!r}; documents are numbered 0 to {len(documents) - 1}."
        )
    return int(document)


def similar_documents(model: FittedModel, document: int | str, n: int = 10) -> pd.DataFrame:
    """The training documents whose topics are most like those of a document or a text.

    Parameters
    ----------
    model : fitted model
        A topoi model that keeps its documents.
    document : int or str
        A training document, by number or name, or a text.
    n : int, default=10
        Number of documents.

    Returns
    -------
    pandas.DataFrame
        As `document_table`, with the column similarity behind document: 1 minus the Hellinger
        distance of topic proportions, so 1 means the same. Best first; a training document itself
        is left out.
    """
    if n < 1:
        raise ValueError(f"n is {n}; expected at least 1 document.")
    documents = cast("TrainingDocuments", model.documents_)
    known, place = np.asarray(model.doc_topic_), document_number(documents, document)
    if place is None:
        one = np.asarray(model.transform(question_counts(model, str(document))))[0]
    else:
        one = known[place]
    distance = np.sqrt(np.maximum(1 - np.sqrt(known) @ np.sqrt(one), 0).astype(np.float64))
    similarity = np.where(documents.words > 0, 1 - distance, -np.inf)
    if place is not None:
        similarity[place] = -np.inf
    best = best_documents(similarity, documents.fit, n)
    best = best[np.isfinite(similarity[best])]
    table = document_table(documents, known, model.topic_names_, n_topics=1).iloc[best]
    table.insert(1, "similarity", similarity[best])
    return table.reset_index(drop=True)


def author_table(model: FittedModel, *, n_topics: int = 3, min_documents: int = 1) -> pd.DataFrame:
    """One row per author of the training documents.

    Parameters
    ----------
    model : fitted model
        A topoi model whose documents have authors. Where the model learned topics of authors, these
        are shown; otherwise the mean proportions of an author's documents.
    n_topics : int, default=3
        Number of main topics to show.
    min_documents : int, default=1
        Leave out authors with fewer documents.

    Returns
    -------
    pandas.DataFrame
        Columns author; documents and tokens of which they are an author; topic, name and proportion
        as in `document_table`. Most documents first.
    """
    import pandas as pd

    documents = cast("TrainingDocuments", model.documents_)
    authors = documents.authors
    if authors is None:
        raise ValueError(
            "The documents of this model have no authors; read them with authors=... before the"
            " fit."
        )
    members = authors.matrix
    n_docs = members.sum(axis=0)
    proportions = getattr(model, "author_topic_", None)
    if proportions is None or len(proportions) != len(n_docs):
        proportions = (members.T @ model.doc_topic_) / np.maximum(n_docs, 1)[:, None]
    table = pd.DataFrame(
        {
            "author": authors.names,
            "documents": n_docs.astype(np.int64),
            "tokens": members.T @ documents.tokens,
            **_main_topics(np.asarray(proportions), model.topic_names_, n_topics),
        }
    )
    table = table[table["documents"] >= min_documents]
    order = ["documents", "tokens"]
    return table.sort_values(order, ascending=False, kind="stable").reset_index(drop=True)
