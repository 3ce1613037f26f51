"""Corpus: documents x words counts with their vocabulary and, where there are any, authors, links
and labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from topoi.corpus.checks import check_counts, refuse_half_characters, refuse_masked

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

__all__ = ["Corpus", "counts_for", "unwrapped"]


@dataclass(frozen=True, eq=False)
class Corpus:
    """A pile of documents, ready for a topic model.

    counts: documents x words, any nonnegative matrix (dense or sparse); kept as CSR. vocabulary:
    the word of each column, none twice, or None. authors: documents x authors indicator of 0 and 1,
    or a list of author names for each document. links: documents x documents, or pairs (m, 2) of
    document numbers. labels: documents x labels indicator of 0 and 1, or a list of labels for each
    document. doc_names: the name of each document, or None. dates: the date of each document, as
    text, or None. vectorizer: the fitted CountVectorizer that made counts of texts, or None; a
    model keeps it, so that it can be given raw text again.
    """

    counts: Any
    vocabulary: Sequence[str] | None = None
    authors: Any = None
    links: Any = None
    labels: Any = None
    doc_names: Sequence[str] | None = None
    dates: Sequence[str] | None = None
    vectorizer: CountVectorizer | None = None

    def __post_init__(self) -> None:
        counts = check_counts(self.counts, name="counts")
        object.__setattr__(self, "counts", counts)
        n_docs, n_words = counts.shape
        for name in ("vocabulary", "authors", "links", "labels", "doc_names", "dates"):
            refuse_masked(getattr(self, name), name)
            if name in ("vocabulary", "doc_names", "dates") and getattr(self, name) is not None:
                refuse_half_characters(getattr(self, name), name)
        if self.vocabulary is not None:
            words = np.asarray(self.vocabulary, dtype=str)
            object.__setattr__(self, "vocabulary", words)
            if words.shape != (n_words,):
                raise ValueError(
                    f"vocabulary has {words.size} words but counts has {n_words} columns; they must"
                    " agree."
                )
            _refuse_twice(words.tolist())
        for name in ("authors", "labels", "doc_names", "dates"):
            value = getattr(self, name)
            length = (
                None if value is None else value.shape[0] if hasattr(value, "shape") else len(value)
            )
            if length is not None and length != n_docs:
                raise ValueError(
                    f"{name} describes {length} documents but counts has {n_docs} rows; give one"
                    " entry per document."
                )
        if self.links is not None:
            from topoi.corpus.metadata import adjacency

            adjacency(self.links, n_docs)  # says what is wrong with them, if anything is

    @property
    def n_docs(self) -> int:
        return self.counts.shape[0]

    @property
    def n_words(self) -> int:
        return self.counts.shape[1]

    @property
    def words(self) -> list[str]:
        """The word of each column; "word0", "word1", … where there is no vocabulary."""
        return (
            [f"word{i}" for i in range(self.n_words)]
            if self.vocabulary is None
            else list(map(str, self.vocabulary))
        )

    @property
    def n_tokens(self) -> float:
        """Sum of all counts."""
        return float(self.counts.sum())

    def __repr__(self) -> str:
        extras = [
            name
            for name in ("vocabulary", "authors", "links", "labels", "doc_names", "dates")
            if getattr(self, name) is not None
        ]
        return (
            f"Corpus({self.n_docs:,} documents x {self.n_words:,} words, {self.n_tokens:,.0f}"
            f" tokens{''.join(f', {e}' for e in extras)})"
        )

    def __getitem__(self, rows: Any) -> Corpus:
        """The documents in `rows` (a number, indices, slice or mask).

        Links keep only pairs with both ends inside.
        """
        rows = np.atleast_1d(np.arange(self.n_docs)[rows])
        return Corpus(
            self.counts[rows],
            self.vocabulary,
            authors=_take(self.authors, rows),
            links=_take_links(self.links, rows, self.n_docs),
            labels=_take(self.labels, rows),
            doc_names=_take(self.doc_names, rows),
            dates=_take(self.dates, rows),
            vectorizer=self.vectorizer,
        )

    def like(self, vocabulary: Sequence[str] | None) -> Corpus:
        """This corpus over `vocabulary`, if it is known that it has other words or another order;
        refused where no word is the same.
        """
        if (
            vocabulary is None
            or self.vocabulary is None
            or np.array_equal(self.vocabulary, vocabulary)
        ):
            return self
        if not set(map(str, vocabulary)) & set(map(str, self.vocabulary)):
            raise ValueError(
                "None of the corpus's words is in the vocabulary of the model. Is this the right"
                " corpus?"
            )
        return self.over(vocabulary)

    def over(self, vocabulary: Sequence[str]) -> Corpus:
        """The same documents over other words: columns are put in the order of `vocabulary`, words
        that are not in it are left out.
        """
        if self.vocabulary is None:
            raise ValueError(
                "This corpus has no vocabulary, so its words cannot be matched with others; give"
                " one."
            )
        place = {str(word): column for column, word in enumerate(vocabulary)}
        table = self.counts.tocoo()
        columns = np.array([place.get(str(word), -1) for word in self.vocabulary], dtype=np.int64)[
            table.coords[1]
        ]
        known = columns >= 0
        counts = sparse.csr_array(
            (table.data[known], (table.coords[0][known], columns[known])),
            shape=(self.n_docs, len(place)),
        )
        return replace(self, counts=counts, vocabulary=vocabulary, vectorizer=None)

    def split(self, test_size: float = 0.2, random_state: int = 0) -> tuple[Corpus, Corpus]:
        """Training and test documents, drawn at random."""
        if not 0 < test_size < 1:
            raise ValueError(f"test_size is {test_size}; expected a share between 0 and 1.")
        order = np.random.default_rng(random_state).permutation(self.n_docs)
        if self.n_docs < 2:
            raise ValueError(f"A corpus of {self.n_docs} documents cannot be split; it takes two.")
        n_test = min(max(1, round(test_size * self.n_docs)), self.n_docs - 1)
        return self[np.sort(order[n_test:])], self[np.sort(order[:n_test])]


def unwrapped(model: Any, X: Any) -> tuple[Any, Any]:
    """The last step of a scikit-learn Pipeline, and X as the steps before it make it; any other
    model as it is.
    """
    return (model[-1], model[:-1].transform(X)) if hasattr(model, "steps") else (model, X)


def counts_for(model: Any, X: Any) -> Any:
    """The counts of a Corpus over the words of a fitted model, if both know their words; any other
    X as it is.
    """
    return X.like(getattr(model, "vocabulary_", None)).counts if isinstance(X, Corpus) else X


def _refuse_twice(words: list[str]) -> None:
    """Two columns of one word could be told apart neither in topics nor in new documents."""
    if len(set(words)) < len(words):
        twice = next(word for word, times in Counter(words).items() if times > 1)
        raise ValueError(
            f"vocabulary has {twice!r} twice; give every column a word of its own, or add up the"
            " columns (AnnData: var_names_make_unique())."
        )


def _take(values: Any, rows: np.ndarray) -> Any:
    if values is None:
        return None
    if hasattr(values, "iloc"):  # pandas, by place and not by label
        return values.iloc[rows]
    return values[rows] if hasattr(values, "shape") else [values[i] for i in rows]


def _take_links(links: Any, rows: np.ndarray, n_docs: int) -> Any:
    from topoi.corpus.metadata import adjacency, are_pairs

    if links is None:
        return None
    inside = adjacency(links, n_docs)[rows][:, rows]
    return np.column_stack(inside.tocoo().coords) if are_pairs(links, n_docs) else inside
