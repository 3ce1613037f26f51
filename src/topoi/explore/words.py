"""Words of topics, and the words of a question."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from topoi.corpus.coverage import MOST_UNKNOWN
from topoi.io.lines import composed

if TYPE_CHECKING:
    import pandas as pd

    from topoi.protocols import FittedModel

__all__ = [
    "matched_words",
    "question_counts",
    "top_columns",
    "topic_words",
    "word_weights",
    "words_of",
]

LEAST_USE = 0.1  # tokens of a word in a topic: less is hardly a use
MOST_NAMED = 5  # unknown words that an error or a warning names


def words_of(model: FittedModel, vocabulary: Sequence[str] | None = None) -> np.ndarray:
    """The word of each column: those given, else the model's, else "word0", "word1", …"""
    n_words = model.components_.shape[1]
    words = model.vocabulary_ if vocabulary is None else vocabulary
    if words is None:
        return np.array([f"word{i}" for i in range(n_words)])
    if len(words) != n_words:
        raise ValueError(f"vocabulary has {len(words)} words; the model was fitted with {n_words}.")
    return np.asarray(words, dtype=str)


def word_weights(model: FittedModel) -> np.ndarray:
    """(K, W) tokens of each word in each topic, without the prior."""
    components = np.asarray(model.components_, dtype=np.float64)
    weights: np.ndarray = np.maximum(components - model.topic_word_prior_, 0)
    return weights


def top_columns(model: FittedModel, n: int, relevance: float = 1.0) -> list[np.ndarray]:
    """The columns of the top words of each topic, best first.

    Parameters
    ----------
    model : fitted model
        A topoi model.
    n : int
        Most words of a topic. A topic that uses fewer has fewer: it does not show words that it
        does not use.
    relevance : float, default=1.0
        1 takes the most probable words; the smaller, the more words count that are typical of the
        topic (Sievert and Shirley 2014).

    Returns
    -------
    list of ndarray
    """
    if n < 1:
        raise ValueError(f"n is {n}; expected at least 1 word.")
    if not 0 <= relevance <= 1:
        raise ValueError(f"relevance is {relevance!r}; expected a number from 0 to 1.")
    scores = np.asarray(model.components_, dtype=np.float64)
    weights = scores - np.min(model.topic_word_prior_)  # a seed word is used by its topic
    if relevance < 1:
        overall = model.topic_proportions_ @ model.topic_word_
        scores = np.log(model.topic_word_) - (1 - relevance) * np.log(overall)
    frequency = weights.sum(axis=0)
    token = min(1.0, frequency[frequency > 0].min(initial=1.0))  # where entries are weights
    scores = np.where(weights >= LEAST_USE * token, scores, -np.inf)
    best = [np.argsort(-row, kind="stable")[:n] for row in scores]
    return [columns[np.isfinite(row[columns])] for columns, row in zip(best, scores, strict=True)]


def topic_words(
    model: FittedModel, topic: int, n: int = 20, relevance: float = 1.0
) -> pd.DataFrame:
    """The top words of one topic, with numbers.

    Parameters
    ----------
    model : fitted model
        A topoi model.
    topic : int
        Number of the topic.
    n : int, default=20
        Most words.
    relevance : float, default=1.0
        As in `top_columns`.

    Returns
    -------
    pandas.DataFrame
        Columns word; probability, in the topic; count, expected tokens of the word in the topic;
        frequency, its tokens in all topics; proportion, the part of them that is in this topic;
        lift, the probability divided by that in the whole corpus.
    """
    import pandas as pd

    columns, weights = top_columns(model, n, relevance)[topic], word_weights(model)
    frequency = weights.sum(axis=0)
    probability = model.topic_word_[topic, columns]
    return pd.DataFrame(
        {
            "word": words_of(model)[columns],
            "probability": probability,
            "count": weights[topic, columns],
            "frequency": frequency[columns],
            "proportion": weights[topic, columns] / frequency[columns],
            "lift": probability / (frequency[columns] / frequency.sum()),
        }
    )


def matched_words(
    text: str | Sequence[str], vocabulary: Sequence[str], cut: Callable[[str], list[str]]
) -> tuple[list[int], list[str]]:
    """The columns of a text's words, and the words that have none.

    Parameters
    ----------
    text : str or sequence of str
        A text, or its words.
    vocabulary : sequence of str
        The word of each column.
    cut : callable
        Cuts a text into words.

    Returns
    -------
    known : list of int
    unknown : list of str

    Examples
    --------
    >>> matched_words("Dog and cat", ["cat", "dog"], str.split)
    ([1, 0], ['and'])
    """
    words = cut(composed(text)) if isinstance(text, str) else [composed(word) for word in text]
    column = {composed(str(word)): i for i, word in enumerate(vocabulary)}
    forms = [word if word in column else word.lower() for word in words]
    known = [column[form] for form in forms if form in column]
    return known, [word for word, form in zip(words, forms, strict=True) if form not in column]


def question_counts(model: FittedModel, text: str | Sequence[str]) -> sparse.csr_array:
    """(1, W) counts of a text or of words, over the words of a model.

    Parameters
    ----------
    model : fitted model
        A topoi model.
    text : str or sequence of str
        A text is cut into words as the training texts were, or else at spaces; words are taken as
        they are.

    Returns
    -------
    csr_array of shape (1, n_words)
        Refused if no word is known, with a warning if most are not.
    """
    if not isinstance(text, str):
        given = list(text) if isinstance(text, Iterable) else None
        if not given or not all(isinstance(word, str) for word in given):
            raise ValueError(f"{str(text)[:60]!r} is not a text or a list of words; give one.")
        text = given
    words = words_of(model)
    cut = str.split if model.vectorizer_ is None else model.vectorizer_.build_analyzer()
    known, unknown = matched_words(text, words.tolist(), cut)
    shown = ", ".join([*map(repr, unknown[:MOST_NAMED]), *(["…"] * (len(unknown) > MOST_NAMED))])
    if not known:
        near = get_close_matches(unknown[0], words.tolist()) if unknown else []
        cure = f"did you mean {' or '.join(near)}?" if near else "try other words."
        raise ValueError(
            f"None of {shown} is in the vocabulary of this model; {cure}"
            if unknown
            else f"{str(text)[:60]!r} has no words but those that were left out at the fit; {cure}"
        )
    if len(unknown) > MOST_UNKNOWN * (len(known) + len(unknown)):
        warnings.warn(
            f"{len(unknown)} of {len(known) + len(unknown)} words are not in the vocabulary of this"
            f" model and do not count: {shown}.",
            stacklevel=4,
        )
    places = np.array(known)
    table = (np.ones(len(places)), (np.zeros(len(places), dtype=np.int64), places))
    return sparse.csr_array(table, shape=(1, len(words)))
