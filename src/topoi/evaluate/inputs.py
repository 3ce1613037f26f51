"""What measures are taken of: models of topoi and of other libraries, as topics, top words and
topic proportions, over the words of the documents.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from topoi.corpus import Corpus
from topoi.corpus.coverage import warn_of_unknown

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from topoi.corpus.given import CountsLike
    from topoi.io.given import CorpusLike, DocumentsLike
    from topoi.protocols import FittedModel

__all__ = [
    "ModelLike",
    "TopicsLike",
    "counts_for",
    "in_order_of",
    "proportions_of",
    "top_words_of",
    "topics_of",
    "unwrapped",
    "weights_of",
]

SMOOTHING = 1e-12  # of a uniform word distribution, mixed into topics, which may hold zeros


# Topics by their words: a fitted model of any library, weights (topics x words), or lists of words
# or of word numbers, the first the most typical.
TopicsLike: TypeAlias = "HasComponents | np.ndarray | Sequence[Sequence[float] | Sequence[str]]"


# What measures of documents take: a fitted model of topoi, of scikit-learn, or a pipeline that ends
# in one; or an array, of topics x words or documents x topics.
ModelLike: TypeAlias = "FittedModel | HasComponents | BaseEstimator | np.ndarray"


class HasComponents(Protocol):
    """A fitted model of topics, of topoi or of scikit-learn."""

    components_: np.ndarray


def unwrapped(model: ModelLike, X: DocumentsLike) -> tuple[ModelLike, DocumentsLike]:
    """The last step of a scikit-learn Pipeline, and X as the steps before it make it; any other
    model as it is.
    """
    if not hasattr(model, "steps"):
        return model, X
    pipeline = cast("Pipeline", model)
    return pipeline[-1], pipeline[:-1].transform(X)


def counts_for(
    model: TopicsLike,
    X: CorpusLike,
    vocabulary: Sequence[str] | None = None,
    *,
    scored: bool = False,
) -> CountsLike:
    """The counts of a Corpus in the order of a model's words; any other X as it is.

    vocabulary: the words of topics that do not know them. Where only the documents know their
    words, columns are taken to agree, with a warning: another library may have another order.
    scored: these counts are measured, so say if many words are unknown and do not count.
    """
    known = isinstance(X, Corpus) and X.vocabulary is not None
    if vocabulary is not None and not known:
        raise ValueError(
            "vocabulary is given, but the documents do not know their words, so that columns cannot"
            " be matched; give a Corpus with a vocabulary, or leave vocabulary out if the columns"
            " are the same."
        )
    _check_fitted(model)
    table = getattr(model, "components_", model)
    columns = table.shape[1] if isinstance(table, np.ndarray) and table.ndim == 2 else None
    if vocabulary is not None and columns is not None:
        different = len(set(vocabulary))
        if len(vocabulary) != columns or different != columns:
            raise ValueError(
                f"vocabulary has {different} different words for {columns} columns of topics; give"
                " the word of each column."
            )
    words = next(
        (
            words
            for words in (
                vocabulary,
                getattr(model, "vocabulary_", None),
                getattr(model, "feature_names_in_", None),
            )
            if words is not None
        ),
        None,
    )
    if known and words is None:
        warnings.warn(
            "The documents know their words, but the topics do not, so their columns are taken to"
            " be in the same order. Give vocabulary=..., the word of each column of the topics, or"
            " pass the counts alone.",
            stacklevel=3,
        )
    if not isinstance(X, Corpus):
        return X
    corpus = X.like(words)
    if scored:
        warn_of_unknown(corpus, stacklevel=4)
    return corpus.counts


def in_order_of(
    X: DocumentsLike, topics: TopicsLike, vocabulary: Sequence[str] | None
) -> tuple[TopicsLike, Sequence[str] | None]:
    """An array of topics, and the words of its columns, in the order in which documents have these
    words; any others as they are.

    The order of columns decides which tokens a split holds out; so all libraries have the same.

    Examples
    --------
    >>> documents = Corpus([[1, 2]], ["a", "b"])
    >>> in_order_of(documents, np.array([[0.3, 0.7]]), ["b", "a"])
    (array([[0.7, 0.3]]), ['a', 'b'])
    """
    if vocabulary is None or not isinstance(X, Corpus) or not isinstance(topics, np.ndarray):
        return topics, vocabulary
    column = {str(word): place for place, word in enumerate(vocabulary)}
    same = X.vocabulary is not None and column.keys() == set(X.words)
    if not same or topics.ndim != 2 or topics.shape[1] != len(X.words):
        return topics, vocabulary
    return topics[:, [column[word] for word in X.words]], X.words


def topics_of(model: TopicsLike, n_words: int | None = None) -> np.ndarray:
    """(K, W) topic-word proportions of a fitted model or an array; rows sum to 1, no zeros.

    n_words: the W that the documents have.
    """
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    given = getattr(model, "topic_word_", None)
    topics = np.asarray(
        getattr(model, "components_", model) if given is None else given, dtype=np.float64
    )
    if (
        topics.ndim != 2
        or not np.isfinite(topics).all()
        or (topics < 0).any()
        or not (topics.sum(axis=1) > 0).all()
    ):
        raise ValueError(
            "Topics must be a fitted model or an array (K, W) of nonnegative numbers with something"
            " in every row."
        )
    if n_words is not None and topics.shape[1] != n_words:
        raise ValueError(
            f"Topics have {topics.shape[1]} words but the documents have {n_words}; give topics x"
            " words (not transposed) over the same vocabulary."
        )
    proportions = topics / topics.sum(axis=1, keepdims=True)
    smoothed: np.ndarray = (1 - SMOOTHING) * proportions + SMOOTHING / topics.shape[1]
    return smoothed


def weights_of(topics: TopicsLike) -> np.ndarray | None:
    """(K, W) weights of words, of a fitted model or given as numbers; None for lists of words and
    of word numbers.
    """
    _check_fitted(topics)
    table = getattr(topics, "components_", topics)
    if isinstance(table, list) and table and np.size(table[0]) and _is_float(table[0]):
        table = np.asarray(table)
    if not isinstance(table, np.ndarray) or table.ndim != 2 or table.dtype.kind not in "fiu":
        return None
    whole = table.dtype.kind != "f"  # a list names no word twice
    return None if whole and all(len(np.unique(row)) == len(row) for row in table) else table


def _check_fitted(model: object) -> None:
    """Refuse an estimator that was not fitted; anything else may be topics."""
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)


def _is_float(values: object) -> bool:
    return np.asarray(values).dtype.kind == "f"


def top_words_of(topics: TopicsLike, n_words: int) -> list[np.ndarray]:
    """The top words of each topic: their numbers, from weights or lists of word numbers; the words
    themselves, from lists of words.
    """
    weights = weights_of(topics)
    if weights is not None:
        return [np.argsort(-row, kind="stable")[:n_words] for row in weights]
    rows = cast("Sequence[Sequence[float] | Sequence[str]]", topics)
    odd = isinstance(rows, str) or any(np.ndim(row) != 1 for row in rows)
    if odd or (len(rows) and not any(len(row) for row in rows)):
        raise ValueError(
            "Topics must be a fitted model, weights (topics x words), or a list of words or of word"
            " numbers for each topic."
        )
    kinds = {isinstance(word, str) for row in rows for word in row}
    if len(kinds) > 1:
        raise ValueError("Topics mix words and word numbers; give the one or the other.")
    kind: type = str if kinds == {True} else np.int64
    return [np.asarray(row, dtype=kind)[:n_words] for row in rows]


def proportions_of(model: ModelLike, X: DocumentsLike | None = None) -> np.ndarray:
    """(D, K) topic proportions, rows sum to 1: an array of them, or those of a fitted model for X,
    or for its training documents.
    """
    if hasattr(model, "transform"):
        _check_fitted(model)
        fitted = cast("FittedModel", model)
        if X is None and not hasattr(model, "doc_topic_"):
            raise ValueError(
                "The model keeps no proportions of its training documents (doc_topic_); give the"
                " documents as X."
            )
        found = fitted.doc_topic_ if X is None else fitted.transform(X)
    else:
        found = cast("np.ndarray", model)
    proportions = np.asarray(found, dtype=np.float64)
    if (
        proportions.ndim != 2
        or not np.isfinite(proportions).all()
        or (proportions < 0).any()
        or not (proportions.sum(axis=1) > 0).all()
    ):
        raise ValueError(
            "Topic proportions must be an array (documents x topics) of nonnegative numbers with"
            " something in every row."
        )
    normalised: np.ndarray = proportions / proportions.sum(axis=1, keepdims=True)
    return normalised
