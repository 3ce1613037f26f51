"""The one form in which a Corpus holds its vocabulary, and what it knows of each document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from topoi.corpus.checks import is_missing, refuse_half_characters
from topoi.corpus.dates import canonical_date
from topoi.corpus.membership import Membership
from topoi.corpus.metadata import document_name, label_membership, membership

if TYPE_CHECKING:
    from topoi.corpus.given import VocabularyLike

__all__ = ["ONE_EACH", "vocabulary_array"]


def vocabulary_array(vocabulary: VocabularyLike, n_words: int) -> np.ndarray | None:
    """The vocabulary as an array of text."""
    if vocabulary is None:
        return None
    refuse_half_characters(vocabulary, "vocabulary")
    words = np.asarray(vocabulary, dtype=str)
    if words.shape != (n_words,):
        raise ValueError(
            f"vocabulary has {words.size} words but counts has {n_words} columns; they must agree."
        )
    _refuse_twice(words.tolist())
    return words


def _texts(values: Iterable[object], n_docs: int, what: str) -> list[str]:
    """One text per document; "" where there is none."""
    refuse_half_characters(values, what)
    return ["" if is_missing(value) else document_name(value) for value in values]


def _dates(values: Iterable[object], n_docs: int, what: str) -> list[str]:
    """Dates in their one form; texts as they are if some of them are not dates."""
    made = [canonical_date(value) for value in values]
    return _texts(values, n_docs, what) if None in made else [str(day) for day in made]


def _numbers(values: object, n_docs: int, what: str) -> np.ndarray:
    """One number >= 0 per document."""
    made = np.asarray(values, dtype=np.float64)
    if made.shape != (n_docs,) or not (np.isfinite(made).all() and (made >= 0).all()):
        raise ValueError(f"{what} must be one finite number >= 0 for each document.")
    return made


def _refuse_twice(words: list[str]) -> None:
    """Two columns of one word could be told apart neither in topics nor in new documents."""
    if len(set(words)) < len(words):
        twice = next(word for word, times in Counter(words).items() if times > 1)
        raise ValueError(
            f"vocabulary has {twice!r} twice; give every column a word of its own, or add up the"
            " columns (AnnData: var_names_make_unique())."
        )


ONE_EACH: Mapping[
    str, Callable[..., Membership | list[str] | np.ndarray]
] = {  # what each document has one of: how it is held
    "authors": membership,
    "labels": label_membership,
    "doc_names": _texts,
    "dates": _dates,
    "texts": _texts,
    "unknown": _numbers,
}
