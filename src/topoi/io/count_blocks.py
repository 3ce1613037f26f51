"""Blocks of counts that a Source reads one at a time: from memory, from files of counts, or from
something that is iterated over.

All blocks have the same words. What is large is read when it is asked for, and nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus
from topoi.corpus.corpus import canonical_corpus
from topoi.io import formats
from topoi.io.count_folder import CountFolder, is_folder
from topoi.io.sources import STDIN, files_named
from topoi.storage.digests import digest

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

__all__ = ["CountBlocks", "CountsInMemory", "files_fingerprint", "open_blocks", "paths_of"]


class CountBlocks(Protocol):
    """Blocks of documents over common words."""

    @property
    def words(self) -> np.ndarray | None: ...
    @property
    def n_words(self) -> int: ...
    @property
    def n_docs(self) -> Sequence[int]: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def vectorizer(self) -> CountVectorizer | None: ...
    def block(self, number: int) -> Corpus: ...


class CountsInMemory:
    """Corpora that are at hand, or one that is cut."""

    def __init__(self, corpora: Sequence[Corpus], size: int | None = None) -> None:
        self._corpora = list(corpora)
        self.words, self.n_words = _common_words(self._corpora)
        self._cuts = [
            (number, slice(first, min(first + (size or corpus.n_docs), corpus.n_docs)))
            for number, corpus in enumerate(self._corpora)
            for first in range(0, max(corpus.n_docs, 1), size or max(corpus.n_docs, 1))
        ]
        self.n_docs = [rows.stop - rows.start for _, rows in self._cuts]
        self.vectorizer = self._corpora[0].vectorizer

    def block(self, number: int) -> Corpus:
        which, rows = self._cuts[number]
        corpus = self._corpora[which]
        if rows != slice(0, corpus.n_docs):
            corpus = corpus[rows]
        return _over(corpus, self.words)

    @cached_property
    def fingerprint(self) -> str:
        return digest([self.words, self.n_docs, [corpus.counts for corpus in self._corpora]])


class CountsIterated:
    """Corpora or matrices that come one after the other, again and again."""

    vectorizer = None

    def __init__(self, items: Iterable[object]) -> None:
        self._items, self._place, self._stream = items, 0, iter(items)
        heads = [_head(_corpus(item)) for item in items]
        self.words, self.n_words = _common_words(heads)
        self.n_docs = [head.n_docs for head in heads]

    def block(self, number: int) -> Corpus:
        if number < self._place:
            self._place, self._stream = 0, iter(self._items)
        for item in self._stream:
            self._place += 1
            if self._place > number:
                return _over(_corpus(item), self.words)
        raise ValueError(f"There is no block {number} any more; the blocks must stay the same.")

    @cached_property
    def fingerprint(self) -> str:
        counts = [digest(self.block(number).counts) for number in range(len(self.n_docs))]
        return digest([self.words, counts])


def _head(corpus: Corpus) -> Corpus:
    """Words and number of documents, without the counts."""
    empty = sparse.csr_array(corpus.shape)
    return canonical_corpus(empty, vocabulary=corpus.vocabulary)


class CountFiles:
    """Files of counts, such as topoi.write makes: each is a block."""

    vectorizer = None

    def __init__(self, paths: Sequence[Path], form: str | None = None) -> None:
        self._paths, self._form = list(paths), form
        heads = [_head(formats.read(path, form)) for path in paths]
        self.words, self.n_words = _common_words(heads)
        self.n_docs = [head.n_docs for head in heads]

    def block(self, number: int) -> Corpus:
        corpus = _over(formats.read(self._paths[number], self._form), self.words)
        if corpus.shape != (self.n_docs[number], self.n_words):
            raise ValueError(
                f"{self._paths[number]} has changed since the Source was made; make it again."
            )
        return corpus

    @cached_property
    def fingerprint(self) -> str:
        return digest([self.words, files_fingerprint(self._paths)])


def files_fingerprint(paths: Iterable[Path]) -> list[object]:
    """What tells whether files are the same as before: names, sizes, times of their last change."""
    return [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in paths]


def _common_words(corpora: Sequence[Corpus]) -> tuple[np.ndarray | None, int]:
    """The words of all: as they are if all have the same, otherwise all of them, sorted."""
    first = corpora[0]
    known = [corpus.vocabulary for corpus in corpora if corpus.vocabulary is not None]
    if len(known) < len(corpora):
        if known or any(corpus.n_words != first.n_words for corpus in corpora):
            raise ValueError(
                "The blocks have different columns, and not all have a vocabulary; give every"
                " block its words, or the same columns."
            )
        return None, first.n_words
    if all(np.array_equal(words, known[0]) for words in known):
        return first.vocabulary, first.n_words
    words = np.unique(np.concatenate([np.asarray(words, dtype=str) for words in known]))
    return words, len(words)


def _over(corpus: Corpus, words: np.ndarray | None) -> Corpus:
    return corpus if words is None else corpus.like(words)


def open_blocks(
    documents: object, paths: list[Path] | None, form: str | None, block_size: int
) -> CountBlocks | None:
    """The blocks of counts that `documents` are, or None if they are documents to count.

    paths: the files that are named, if any are.
    """
    if paths is None:
        return _blocks_in_memory(documents, block_size)
    if len(paths) == 1 and is_folder(paths[0]):
        return CountFolder(paths[0])
    counts = [path for path in paths if path.is_file() and formats.detect(path) is not None]
    if form in formats.FORMATS or (form is None and len(counts) == len(paths)):
        return CountFiles(paths, form)
    if form is None and counts:
        raise ValueError(
            f"{counts[0]} holds counts and other files do not; give files of one kind."
        )
    return None


def paths_of(documents: Any) -> list[Path] | None:
    """The files that are named; None for what is in memory."""
    several = isinstance(documents, list | tuple) and len(documents) > 0
    if not isinstance(documents, str | Path) and not (
        several and all(isinstance(item, Path) for item in documents)
    ):
        return None
    if str(documents) == STDIN:
        raise ValueError(
            "Standard input can be read once, and a Source is read again and again; write it to a"
            " file first."
        )
    return files_named(documents)


def is_counts(item: object) -> bool:
    """Whether an item of a list is a block of counts, and not a document."""
    return isinstance(item, Corpus) or sparse.issparse(item) or getattr(item, "ndim", 0) == 2


def _blocks_in_memory(documents: object, block_size: int) -> CountBlocks | None:
    """Counts that are at hand; None if these are documents to count."""
    if isinstance(documents, CountFolder):
        return documents
    if is_counts(documents):
        return CountsInMemory([_corpus(documents)], block_size)
    if hasattr(documents, "columns") and hasattr(documents, "shape"):
        raise TypeError("A frame is in memory already; use topoi.read(frame, text=...).")
    if not hasattr(documents, "__iter__") or iter(documents) is documents:
        raise TypeError(
            f"A {type(documents).__name__} cannot be read again and again; give files, a list, or"
            " an object whose __iter__ starts from the beginning."
        )
    if isinstance(documents, list | tuple) and documents and is_counts(documents[0]):
        return CountsInMemory([_corpus(item) for item in documents])
    if is_counts(next(iter(documents), None)):
        return CountsIterated(documents)
    return None


def _corpus(item: object) -> Corpus:
    return item if isinstance(item, Corpus) else Corpus(item)
