"""Partitions of a corpus that is larger than one machine: where they come from, and how one of
them is opened, on the worker that needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from topoi.corpus import Corpus
from topoi.corpus.checks import is_collection
from topoi.io.read import read
from topoi.io.source import Source
from topoi.io.vectorize import TOKEN_LISTS, make_vectorizer

__all__ = [
    "Frequencies",
    "added_frequencies",
    "common_words",
    "frequencies",
    "open_partition",
    "over_words",
    "partitions_of",
]

MIN_DF, MAX_DF = 2, 0.5  # as `make_vectorizer` has them
ALL_WORDS: dict[str, Any] = {"min_df": 1, "max_df": 1.0}


class Texts(NamedTuple):
    """Texts of a partition, counted with all their words."""

    corpus: Corpus


def partitions_of(X: Any) -> list[object]:
    """The partitions of X, in their order.

    Parameters
    ----------
    X : Source, list, dask array, bag or dataframe
        Blocks of a Source are partitions. A list has matrices (documents x words), Corpora, file
        names, functions without arguments that return one of these, or Delayed. The rows of an
        array, and the items of a bag or a column, stay in their partitions.

    Returns
    -------
    list
        Each opened by `open_partition`.

    Examples
    --------
    >>> partitions_of(["part0.npz", "part1.npz"])
    ['part0.npz', 'part1.npz']
    """
    if isinstance(X, Source):
        X = [partial(_block, X, number) for number in range(len(X))]
    elif is_collection(X) and not hasattr(X, "to_delayed"):  # one Delayed
        X = [X]
    elif is_collection(X):
        if getattr(X, "ndim", 1) == 2 and hasattr(X, "rechunk"):
            X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        X = list(np.ravel(np.array(X.to_delayed(), dtype=object)))
    if not isinstance(X, list | tuple) or not X:
        raise ValueError(
            "On a cluster X is a list of partitions (matrices, Corpora, file names, functions that"
            " return one of these, or Delayed), a Source, or a dask array, bag or dataframe; got"
            f" {type(X).__name__}. For one matrix or Corpus leave client out."
        )
    return list(X)


def _block(source: Source, number: int) -> Corpus:
    return replace(source.block(number), vectorizer=source.vectorizer)


def open_partition(partition: Any, number: int) -> Any:
    """The documents of a partition: a Corpus, a matrix, or Texts.

    number: its place, for errors.
    """
    try:
        found = partition() if callable(partition) else partition
        if isinstance(found, str | Path):
            counted = read(found)
            return counted if counted.vectorizer is None else Texts(read(found, **ALL_WORDS))
        columns = getattr(found, "columns", None)
        if columns is not None and any(map(_is_text, (found[name] for name in columns))):
            raise ValueError(
                f"it is a frame with texts; choose their column, such as frame[{columns[0]!r}]."
            )
        if not _is_text(found):
            return found
        return Texts(read(list(found), **ALL_WORDS))
    except (ValueError, TypeError) as error:
        raise ValueError(f"Partition {number}: {error}") from error


def _is_text(found: Any) -> bool:
    """Whether a partition is a list or a column of texts, or of lists of tokens."""
    if isinstance(found, Corpus) or getattr(found, "ndim", 1) != 1 or hasattr(found, "toarray"):
        return False
    first = next(iter(found), None)
    return isinstance(first, str) or _is_tokens(found)


def _is_tokens(found: Any) -> bool:
    first = next(iter(found), None)
    return isinstance(first, list | tuple) and len(first) > 0 and isinstance(first[0], str)


class Frequencies(NamedTuple):
    """In how many documents words are."""

    n_docs: int
    words: np.ndarray
    counts: np.ndarray
    tokens: bool  # words are tokens that were given as they are: all of them count


def frequencies(documents: Any) -> Frequencies | None:
    """Of the texts of a partition; None if it does not have texts."""
    if not isinstance(documents, Texts):
        return None
    corpus = documents.corpus
    counts = corpus.counts
    n_docs = np.bincount(counts.indices, minlength=counts.shape[1])
    tokens = getattr(corpus.vectorizer, "token_pattern", "") == TOKEN_LISTS["token_pattern"]
    return Frequencies(corpus.n_docs, np.asarray(corpus.vocabulary, dtype=str), n_docs, tokens)


def added_frequencies(parts: Sequence[Frequencies | None]) -> Frequencies | None:
    """Of all partitions together; None if none has texts."""
    known = [part for part in parts if part is not None]
    if not known:
        return None
    if len(known) < len(parts) or len({part.tokens for part in known}) > 1:
        raise ValueError(
            "Some partitions have texts, others counts or lists of tokens; give all of them in the"
            " same form."
        )
    words, place = np.unique(np.concatenate([p.words for p in known]), return_inverse=True)
    counts = np.bincount(place, np.concatenate([p.counts for p in known]), len(words))
    n_docs = sum(part.n_docs for part in known)
    return Frequencies(n_docs, words, counts.astype(np.int64), known[0].tokens)


def common_words(found: Frequencies) -> np.ndarray:
    """The vocabulary of texts in several partitions, as `topoi.read` would choose it for all texts
    at once.
    """
    if found.tokens:
        return found.words
    kept = (found.counts >= MIN_DF) & (found.counts <= MAX_DF * found.n_docs)
    if not kept.any():
        raise ValueError(
            f"No word is in at least {MIN_DF} documents and in at most {MAX_DF:.0%} of them; give"
            " more texts, or counts."
        )
    return found.words[kept]


def over_words(texts: Texts, words: np.ndarray, tokens: bool) -> Corpus:
    """A partition of texts over the common vocabulary."""
    settings: dict[str, Any] = TOKEN_LISTS if tokens else {}
    made = make_vectorizer(**{**settings, "vocabulary": words.tolist()}).fit([""])
    return replace(texts.corpus.over(words.tolist()), vectorizer=made)
