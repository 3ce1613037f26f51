"""Corpus: documents x words counts with their vocabulary and, where there are any, authors, links
and labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from topoi.corpus.checks import (
    check_counts,
    refuse_masked,
)
from topoi.corpus.forms import ONE_EACH, vocabulary_array
from topoi.corpus.links import adjacency
from topoi.corpus.membership import Membership
from topoi.corpus.metadata import (
    columns_of_names,
)
from topoi.printable import printable

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.feature_extraction.text import CountVectorizer

    from topoi.corpus.given import (
        AuthorsLike,
        CountsLike,
        DatesLike,
        GroupsLike,
        LabelsLike,
        LinksLike,
        NamesLike,
        Rows,
        VocabularyLike,
    )

__all__ = ["Corpus", "canonical_corpus"]

BESIDE = ("vocabulary", "authors", "links", "labels", "doc_names", "dates", "texts", "groups")
LONGEST_SHOWN, MOST_SHOWN = 40, 5  # characters of a name, and names, in a notebook


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents and what is known about them, ready for a topic model.

    Everything may be given in several forms. The corpus holds one form of each, into which it is
    converted here and nowhere else.

    Parameters
    ----------
    counts : array or sparse matrix of shape (n_docs, n_words)
        Numbers >= 0. Held as a csr_array of float64: sorted, nothing twice, no stored zeros. All
        estimators of scikit-learn take it; for tools that want the older type,
        ``scipy.sparse.csr_matrix(corpus.counts)`` shares its data.
    vocabulary : sequence of str, optional
        The word of each column, none twice. Held as an array.
    authors : list of lists, matrix or DataFrame, optional
        A list of names for each document, or a documents x authors matrix of 0 and 1. Held as a
        `Membership`.
    links : matrix, array of pairs, or list of lists, optional
        Documents x documents, pairs (m, 2) of document numbers, or the neighbours of each
        document. Held as a csr_array of ones, documents x documents.
    labels : list, matrix or DataFrame, optional
        A label or a list of labels for each document, or a documents x labels matrix of 0 and 1.
        Held as a `Membership`.
    doc_names : sequence, optional
        The name of each document, by which links and outputs call it. Held as a list of str, as
        are dates and texts.
    dates : sequence, optional
        The date of each document; "" where there is none. Held as text in one form
        (`topoi.corpus.dates`) if all are dates, otherwise as they are.
    vectorizer : CountVectorizer, optional
        The fitted vectoriser that made counts of texts. A model keeps it, so that it can be given
        raw text again.
    texts : sequence of str, optional
        The text of each document.
    groups : mapping of str to list, or DataFrame, optional
        Further columns, such as the source of each document: by name, a value or a list of values
        for each document. Held as a dictionary of `Membership`.
    unknown : sequence of float, optional
        The tokens of each document that are not among the words: what was left out where texts
        were counted, or a corpus was brought to, the words of a model.

    Examples
    --------
    >>> corpus = Corpus([[1, 2], [0, 3]], ["cat", "dog"], authors=[["Ann"], ["Ann", "Bob"]])
    >>> corpus
    Corpus(2 documents x 2 words, 6 tokens, vocabulary, authors)
    >>> corpus.authors.names.tolist(), corpus.authors.tolist()
    (['Ann', 'Bob'], [['Ann'], ['Ann', 'Bob']])
    >>> corpus[1].authors.tolist(), len(corpus), corpus.shape
    ([['Ann', 'Bob']], 2, (2, 2))
    """

    counts: sparse.csr_array
    vocabulary: np.ndarray | None = None
    authors: Membership | None = None
    links: sparse.csr_array | None = None
    labels: Membership | None = None
    doc_names: list[str] | None = None
    dates: list[str] | None = None
    vectorizer: CountVectorizer | None = None
    texts: list[str] | None = None
    groups: Mapping[str, Membership] | None = None
    unknown: np.ndarray | None = None

    if TYPE_CHECKING:  # the types above are those that are held, whatever is given

        def __init__(
            self,
            counts: CountsLike,
            vocabulary: VocabularyLike | None = None,
            authors: AuthorsLike | None = None,
            links: LinksLike | None = None,
            labels: LabelsLike | None = None,
            doc_names: NamesLike | None = None,
            dates: DatesLike | None = None,
            vectorizer: CountVectorizer | None = None,
            texts: Sequence[str | None] | np.ndarray | pd.Series | None = None,
            groups: GroupsLike | None = None,
            unknown: Sequence[float] | np.ndarray | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        counts = check_counts(self.counts, name="counts")
        for name in BESIDE:
            refuse_masked(getattr(self, name), name)
        held = {
            "counts": counts,
            "vocabulary": vocabulary_array(self.vocabulary, counts.shape[1]),
            **{name: self._one_each(name, counts.shape[0]) for name in ONE_EACH},
        }
        if self.links is not None:
            held["links"] = adjacency(self.links, counts.shape[0])
        if self.groups is not None:
            held["groups"] = columns_of_names(self.groups, counts.shape[0])
        self.__dict__.update(held)

    def _one_each(self, name: str, n_docs: int) -> Membership | np.ndarray | list[str] | None:
        """What is given for each document, in its one form."""
        value = getattr(self, name)
        if value is None:
            return None
        found = value.shape[0] if hasattr(value, "shape") else len(value)
        if found != n_docs:
            raise ValueError(
                f"{name} describes {found} documents but counts has {n_docs} rows; give one entry"
                " per document."
            )
        return ONE_EACH[name](value, n_docs, name)

    def __len__(self) -> int:
        return self.n_docs

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of documents and words."""
        return self.n_docs, self.n_words

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return int(self.counts.shape[0])

    @property
    def n_words(self) -> int:
        """Number of words in the vocabulary."""
        return int(self.counts.shape[1])

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
        return (
            f"Corpus({self.n_docs:,} documents x {self.n_words:,} words, {self.n_tokens:,.0f}"
            f" tokens{''.join(f', {name}' for name in self._known())})"
        )

    def _known(self) -> list[str]:
        """What is known beside counts."""
        return [name for name in BESIDE if getattr(self, name) is not None]

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        rows = [
            ("documents", f"{self.n_docs:,}"),
            ("words", f"{self.n_words:,}"),
            ("tokens", f"{self.n_tokens:,.0f}"),
            *((name, self._summary(name)) for name in self._known()),
        ]
        cells = (f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows)
        return f"<table>{''.join(cells)}</table>"

    def _summary(self, name: str) -> str:
        value = getattr(self, name)
        if name == "links":
            return f"{value.nnz:,}"
        if name == "texts":
            return f"{len(value):,}"
        names = value.names if isinstance(value, Membership) else list(value)
        shown = ", ".join(printable(str(entry)[:LONGEST_SHOWN]) for entry in names[:MOST_SHOWN])
        return f"{len(names):,}: {shown}{', …' if len(names) > MOST_SHOWN else ''}"

    def __getitem__(self, rows: Rows) -> Corpus:
        """The documents in `rows` (a number, indices, slice or mask).

        Links keep only pairs with both ends inside, authors and labels only names that occur.
        """
        rows = np.atleast_1d(np.arange(self.n_docs)[rows])
        part: dict[str, object] = {name: _take(getattr(self, name), rows) for name in ONE_EACH}
        if self.groups is not None:
            part["groups"] = {name: column[rows] for name, column in self.groups.items()}
        links = None if self.links is None else sparse.csr_array(self.links[rows][:, rows])
        if links is not None:
            links.sort_indices()
        return self._with(counts=self.counts[rows], links=links, **part)

    def _with(self, **canonical: object) -> Corpus:
        """The same with other contents, which are canonical already and not checked again."""
        made = object.__new__(Corpus)
        made.__dict__.update({**self.__dict__, **canonical})
        return made

    def like(self, vocabulary: VocabularyLike | None) -> Corpus:
        """This corpus over `vocabulary`, if it is known that it has other words or another order.

        Parameters
        ----------
        vocabulary : sequence of str or None
            The word of each column. Refused if no word is the same.
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

    def over(self, vocabulary: VocabularyLike) -> Corpus:
        """The same documents over other words.

        Parameters
        ----------
        vocabulary : sequence of str
            The word of each column. Words that are not in it are left out.
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
        counts.sum_duplicates()
        words, unknown = vocabulary_array(vocabulary, len(place)), self.counts.sum(axis=1)
        unknown = np.maximum(unknown - counts.sum(axis=1), 0)
        unknown = unknown if self.unknown is None else unknown + self.unknown
        return self._with(counts=counts, vocabulary=words, vectorizer=None, unknown=unknown)

    def split(self, test_size: float = 0.2, random_state: int = 0) -> tuple[Corpus, Corpus]:
        """Training and test documents, drawn at random.

        Parameters
        ----------
        test_size : float, default=0.2
            Proportion of test documents, between 0 and 1.
        random_state : int, default=0
            Seed of the draw.

        Returns
        -------
        tuple of Corpus
            Training and test documents, each in the order of this corpus.
        """
        if not 0 < test_size < 1:
            raise ValueError(f"test_size is {test_size}; expected a proportion between 0 and 1.")
        order = np.random.default_rng(random_state).permutation(self.n_docs)
        if self.n_docs < 2:
            raise ValueError(f"A corpus of {self.n_docs} documents cannot be split; it takes two.")
        n_test = min(max(1, round(test_size * self.n_docs)), self.n_docs - 1)
        return self[np.sort(order[n_test:])], self[np.sort(order[:n_test])]


def canonical_corpus(counts: sparse.csr_array, **beside: object) -> Corpus:
    """A Corpus of what has the corpus's own forms already; nothing is checked or copied.

    Parameters
    ----------
    counts : csr_array
        As `check_counts` returns them.
    **beside
        Other fields of a Corpus.

    Returns
    -------
    Corpus
        The corpus.

    Examples
    --------
    >>> from topoi.corpus.checks import check_counts
    >>> canonical_corpus(check_counts([[1, 2]]))
    Corpus(1 documents x 2 words, 3 tokens)
    """
    made = object.__new__(Corpus)
    made.__dict__.update({field.name: None for field in fields(Corpus)}, counts=counts, **beside)
    return made


def _take(
    values: Membership | np.ndarray | list[str] | None, rows: np.ndarray
) -> Membership | np.ndarray | list[str] | None:
    if values is None:
        return None
    if isinstance(values, Membership | np.ndarray):
        return values[rows]
    return [values[i] for i in rows]
