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
        """Documents of several parts, one after the other.

        Texts, counts and fits are known if every part knows them; names, dates, authors, labels and
        groups if any does. Documents of the others have none, and their number for a name.

        Parameters
        ----------
        parts : sequence of TrainingDocuments
            At least one. Words of counts that only some have come last.

        Returns
        -------
        TrainingDocuments
        """
        n_docs = sum(map(len, parts))
        columns = dict.fromkeys(name for part in parts for name in part.columns)
        joined = {
            name: membership(
                [row for p in parts for row in p.columns.get(name, [[]] * len(p))], n_docs, name
            )
            for name in columns
        }
        every = {name: [getattr(part, name) for part in parts] for name in ("texts", "fit")}
        all_texts = None not in every["texts"]
        all_fit = all(fit is not None for fit in every["fit"])
        return cls(
            tokens=np.concatenate([part.tokens for part in parts]),
            words=np.concatenate([part.words for part in parts]),
            names=_chained([p.names for p in parts], [str(d) for d in range(n_docs)], parts),
            dates=_chained([part.dates for part in parts], [""] * n_docs, parts),
            texts=[text for part in every["texts"] for text in part] if all_texts else None,
            authors=joined.pop("authors", None),
            labels=joined.pop("labels", None),
            groups=joined,
            fit=np.concatenate(every["fit"]) if all_fit else None,
            counts=_stacked([part.counts for part in parts]),
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


def _chained(
    known: Sequence[np.ndarray | None], usual: Sequence[str], parts: Sequence[TrainingDocuments]
) -> np.ndarray | None:
    """Text about documents of all parts, the usual one where a part knows none; None if all do."""
    if all(part is None for part in known):
        return None
    found, first = [], 0
    for text, part in zip(known, parts, strict=True):
        last = first + len(part)
        found.append(np.array(usual[first:last], dtype=str) if text is None else text)
        first = last
    return np.concatenate(found)


def _stacked(counts: Sequence[sparse.csr_array | None]) -> sparse.csr_array | None:
    """Counts one below the other, if all are known."""
    known = [part for part in counts if part is not None]
    if len(known) < len(counts):
        return None
    n_words = max(part.shape[1] for part in known)
    wide = [
        sparse.csr_array((c.data, c.indices, c.indptr), shape=(c.shape[0], n_words)) for c in known
    ]
    return sparse.csr_array(sparse.vstack(wide))
