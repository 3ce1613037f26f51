"""What a fitted model knows about its training documents, beside their topic proportions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from topoi.corpus.corpus import Corpus
from topoi.corpus.membership import Membership
from topoi.corpus.metadata import membership

__all__ = ["TrainingDocuments"]


@dataclass(frozen=True, eq=False)
class TrainingDocuments:
    """The training documents of a model: names, dates, lengths, authors, labels, groups, texts.

    Parameters
    ----------
    tokens : ndarray of shape (n_docs,)
        The sum of each document's counts.
    words : ndarray of shape (n_docs,)
        Number of different words in each document.
    names : ndarray of shape (n_docs,), optional
        The name of each document.
    dates : ndarray of shape (n_docs,), optional
        The date of each document as text, "" where there is none.
    texts : list of str, optional
        The text of each document, if it was kept.
    authors, labels : Membership, optional
        Those of each document.
    groups : mapping of str to Membership
        Further columns, by name.
    fit : ndarray of shape (n_docs,), optional
        How much better its topics explain a document's words than the frequencies of words in the
        corpus do: the gain of log-likelihood, divided by the tokens of the document and of an
        average one, so that a few words alone are no good fit.
    counts : csr_array of shape (n_docs, n_words), optional
        Counts of words, if they were kept.

    Examples
    --------
    >>> corpus = Corpus([[2, 1], [0, 3]], doc_names=["a", "b"], groups={"source": ["web", "press"]})
    >>> known = TrainingDocuments.of(corpus)
    >>> len(known), known.tokens.tolist(), known.column("source").tolist()
    (2, [3.0, 3.0], [['web'], ['press']])
    """

    tokens: np.ndarray
    words: np.ndarray
    names: np.ndarray | None = None
    dates: np.ndarray | None = None
    texts: list[str] | None = None
    authors: Membership | None = None
    labels: Membership | None = None
    groups: Mapping[str, Membership] = field(default_factory=dict)
    fit: np.ndarray | None = None
    counts: sparse.csr_array | None = None

    @classmethod
    def of(cls, corpus: Corpus, *, counts: bool = False) -> TrainingDocuments:
        """What a corpus knows about its documents. counts: whether to keep these, too."""
        return cls(
            tokens=corpus.counts.sum(axis=1).astype(np.float64),
            words=np.diff(corpus.counts.indptr).astype(np.int64),
            names=None if corpus.doc_names is None else np.array(corpus.doc_names, dtype=str),
            dates=None if corpus.dates is None else np.array(corpus.dates, dtype=str),
            texts=corpus.texts,
            authors=corpus.authors,
            labels=corpus.labels,
            groups={} if corpus.groups is None else corpus.groups,
            counts=corpus.counts if counts else None,
        )

    @classmethod
    def joined(cls, parts: Sequence[TrainingDocuments]) -> TrainingDocuments:
        """Documents of several parts, one after the other; what every part knows is known.

        Parameters
        ----------
        parts : sequence of TrainingDocuments
            At least one.

        Returns
        -------
        TrainingDocuments
        """
        known = {
            name: [getattr(part, name) for part in parts]
            for name in ("names", "dates", "fit")
            if all(getattr(part, name) is not None for part in parts)
        }
        columns = [name for name in parts[0].columns if all(name in p.columns for p in parts)]
        n_docs = sum(map(len, parts))
        joined = {
            name: membership([row for part in parts for row in part.columns[name]], n_docs, name)
            for name in columns
        }
        texts, counts = ([getattr(part, name) for part in parts] for name in ("texts", "counts"))
        return cls(
            tokens=np.concatenate([part.tokens for part in parts]),
            words=np.concatenate([part.words for part in parts]),
            texts=None if None in texts else [text for part in texts for text in part or ()],
            authors=joined.pop("authors", None),
            labels=joined.pop("labels", None),
            groups=joined,
            counts=_stacked(counts),
            **{name: np.concatenate(arrays) for name, arrays in known.items()},
        )

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def columns(self) -> dict[str, Membership]:
        """All that groups documents, by name: "authors" and "labels", where known, and groups."""
        known = {"authors": self.authors, "labels": self.labels}
        return {name: column for name, column in known.items() if column is not None} | dict(
            self.groups
        )

    def column(self, name: str) -> Membership:
        """One of `columns`, refused with what there is if it is not known."""
        if name not in self.columns:
            known = ", ".join(map(repr, self.columns)) or "none"
            raise ValueError(
                f"This model does not know {name!r} of its documents; it knows {known}. Read"
                f" documents with groups=[{name!r}], or give one value per document."
            )
        return self.columns[name]

    def __repr__(self) -> str:
        known = [name for name in ("names", "dates", "texts") if getattr(self, name) is not None]
        return f"TrainingDocuments({', '.join([f'{len(self):,}', *known, *self.columns])})"


def _stacked(counts: Sequence[sparse.csr_array | None]) -> sparse.csr_array | None:
    """Counts one below the other, if all are known and have the same words."""
    known = [part for part in counts if part is not None]
    if len(known) < len(counts) or len({part.shape[1] for part in known}) > 1:
        return None
    return sparse.csr_array(sparse.vstack(known))
