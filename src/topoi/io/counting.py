"""Documents to counted blocks, in two passes that hold one block at a time.

The first pass finds one vocabulary from the document frequencies of all blocks, the second counts
its words. Tokens, words and their order are those of `topoi.read` on all documents at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from itertools import chain, islice
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from topoi.corpus import Corpus
from topoi.io.count_blocks import CountBlocks, files_fingerprint
from topoi.io.folders import SUFFIXES
from topoi.io.gathering import GROUP, Gathering
from topoi.io.lines import Progress
from topoi.io.rows import Rows, rows_in_memory
from topoi.io.tables import open_files, open_rows
from topoi.io.word_counts import no_words_left, too_few
from topoi.storage.digests import digest

__all__ = ["Documents", "count_blocks", "count_texts"]

MOST_CHARACTERS = 2**24  # of the texts of a block
Row = tuple[str, Mapping[str, object]]


@dataclass(frozen=True)
class Documents:
    """Documents that can be read again and again: files, or something to iterate over.

    paths: files of rows, or None. items: what is iterated over, if there are no files. columns: the
    columns that hold the text, names of documents, labels and dates, and further groups.
    """

    paths: list[Path] | None
    items: Iterable[object]
    columns: Mapping[str, str | None]
    groups: tuple[str, ...]
    form: str | None
    encoding: str
    separator: str
    block_size: int

    @property
    def name(self) -> str:
        if self.paths is None:
            return "The list"
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        return f"{self.paths[0]}{more}"

    def fingerprint(self) -> str:
        """A digest of the documents: of names, sizes and times of files, or of all that is
        iterated over.
        """
        about = [dict(self.columns), self.groups, self.form, self.encoding, self.separator]
        if self.paths is not None:
            files = (
                file
                for path in self.paths
                for file in ([path] if path.is_file() else sorted(path.rglob("*")))
                if file.is_file()
            )
            return digest([*about, self.block_size, files_fingerprint(files)])
        parts = [digest(part) for part in _lists(self.items, self.block_size)]
        return digest([*about, self.block_size, parts])

    def blocks(self, progress: Progress | None = None) -> Iterator[tuple[list[str], Gathering]]:
        """The texts of each block, and what stands beside them."""
        tables = self._tables(progress)
        first = next(tables)
        wanted: dict[str, Any] = {
            **self.columns,
            **{f"{GROUP}{name}": name for name in self.groups},
            "authors": None,
            "links": None,
        }
        wanted["text"] = first.column("text", self.columns["text"])
        stream = self._rows(chain([first], tables), wanted)
        while True:
            head = next(stream, None)
            if head is None:
                return
            cut = self._cut(chain([head], stream), wanted["text"])
            rows = Rows(first.name, first.columns, cut, first.ids_are_certain, first.tokens)
            gathering = Gathering(rows, dict(wanted), self.separator, keep_text=False)
            yield list(gathering.texts()), gathering

    def _rows(self, tables: Iterator[Rows], wanted: Mapping[str, object]) -> Iterator[Row]:
        """The rows of all tables, each of which must have the columns that are wanted."""
        for rows in tables:
            for what, column in wanted.items():
                if isinstance(column, str):
                    rows.column(what.removeprefix(GROUP), column)
            yield from rows

    def _cut(self, stream: Iterator[Row], text: str) -> Iterator[Row]:
        """The next rows, as many as a block has."""
        characters = 0
        for number, row in enumerate(stream, 1):
            yield row
            characters += len(str(row[1].get(text, "")))
            if number == self.block_size or characters >= MOST_CHARACTERS:
                return

    def _tables(self, progress: Progress | None) -> Iterator[Rows]:
        """One table after the other: no more than one file is open."""
        if self.paths is None:
            yield from self._tables_in_memory()
            return
        several = len(self.paths) > 1 and self.form is None
        if self.form == "document" or (
            several and all(path.suffix.lower() in SUFFIXES for path in self.paths)
        ):
            yield open_files(self.paths, self.form, self.encoding, progress)
            return
        sizes = [path.stat().st_size for path in self.paths]
        for number, path in enumerate(self.paths):
            done = None if progress is None else _part_of(progress, sizes, number)
            yield open_rows(path, self.form, self.encoding, done)

    def _tables_in_memory(self) -> Iterator[Rows]:
        done = 0
        for part in _lists(self.items, self.block_size):
            rows = rows_in_memory(part, None)
            rows.rows = _numbered_from(done, rows.rows)
            done += len(part)
            yield rows
        if not done:
            raise ValueError("The list of documents is empty; give some.")


def _lists(items: Iterable[object], size: int) -> Iterator[list[object]]:
    """Lists of `size` items, the last of what is left."""
    stream = iter(items)
    while part := list(islice(stream, size)):
        yield part


def _numbered_from(first: int, rows: Any) -> Iterator[Row]:
    for number, (_, row) in enumerate(rows, first):
        yield f"Document {number}", row


def _part_of(progress: Progress, sizes: list[int], number: int) -> Progress:
    """Tells how far all files are, from how far file `number` is."""
    before, size, total = sum(sizes[:number]), sizes[number], sum(sizes)

    def part(done: int, of: int) -> None:
        progress(before + int(size * done / max(of, 1)), total)

    return part


# ------------------------------------------------------------ two passes


def count_texts(
    documents: Documents, vectorizer: CountVectorizer, progress: Progress | None
) -> tuple[CountVectorizer, Iterator[Corpus]]:
    """The vectoriser with its vocabulary, and the counted blocks."""
    fitted, second = vectorizer, progress
    if not hasattr(vectorizer, "vocabulary_") and vectorizer.vocabulary is not None:
        fitted = vectorizer.fit([""])
    elif not hasattr(vectorizer, "vocabulary_"):
        known = _frequencies(documents, vectorizer, _half(progress, 0))
        words = _pruned(*known, vectorizer, documents.name)
        fitted, second = copy(vectorizer), _half(progress, 1)
        fitted.vocabulary_ = {word: column for column, word in enumerate(words)}
        fitted.fixed_vocabulary_ = False
    names = fitted.get_feature_names_out()

    def counted() -> Iterator[Corpus]:
        for texts, gathering in documents.blocks(second):
            counts = sparse.csr_array(fitted.transform(texts))
            yield Corpus(counts, names, **gathering.columns())

    return fitted, counted()


def _half(progress: Progress | None, number: int) -> Progress | None:
    """Tells how far two passes are, from how far one of them is."""
    if progress is None:
        return None
    return lambda done, total: progress(number * total + done, 2 * total)


def _frequencies(
    documents: Documents, vectorizer: CountVectorizer, progress: Progress | None
) -> tuple[int, Counter[str], Counter[str]]:
    """Number of documents, in how many of them each word is, and how often in all."""
    cut: Callable[[str], list[str]] = vectorizer.build_analyzer()
    n_docs, in_docs, in_all = 0, Counter[str](), Counter[str]()
    for texts, _ in documents.blocks(progress):
        for text in texts:
            words = cut(text)
            found = set(words)
            in_docs.update(found)
            if vectorizer.max_features is not None:
                in_all.update(found if vectorizer.binary else words)
        n_docs += len(texts)
    return n_docs, in_docs, in_all


def _pruned(
    n_docs: int,
    in_docs: Counter[str],
    in_all: Counter[str],
    vectorizer: CountVectorizer,
    name: str,
) -> list[str]:
    """The words that min_df, max_df and max_features leave, sorted, as CountVectorizer does it."""
    if n_docs < 2:
        raise too_few(name, n_docs)
    least, most = (
        float(bound) if isinstance(bound, Integral) else bound * n_docs
        for bound in (vectorizer.min_df, vectorizer.max_df)
    )
    words = sorted(word for word, n in in_docs.items() if least <= n <= most)
    limit = vectorizer.max_features
    if limit is not None and len(words) > limit:
        often = np.array([in_all[word] for word in words])
        words = [words[place] for place in np.sort((-often).argsort()[:limit])]
    if not words:
        raise no_words_left(name, n_docs)
    return words


def count_blocks(
    blocks: CountBlocks, vectorizer: CountVectorizer
) -> tuple[np.ndarray | None, Iterator[Corpus]]:
    """The words that min_df, max_df and max_features leave of blocks of counts, and the blocks over
    these words.
    """
    numbers = range(len(blocks.n_docs))
    in_docs, in_all = np.zeros(blocks.n_words), np.zeros(blocks.n_words)
    for number in numbers:
        counts = blocks.block(number).counts
        in_docs += np.bincount(counts.indices, minlength=blocks.n_words)
        in_all += counts.sum(axis=0)
    names = [f"word{i}" for i in range(blocks.n_words)] if blocks.words is None else blocks.words
    by_name = dict(zip(map(str, names), range(blocks.n_words), strict=True))
    known = Counter({word: int(in_docs[i]) for word, i in by_name.items() if in_docs[i]})
    often = Counter({word: in_all[i] for word, i in by_name.items()})
    words = _pruned(sum(blocks.n_docs), known, often, vectorizer, "The source")
    kept = np.array([by_name[word] for word in words])

    def counted() -> Iterator[Corpus]:
        for number in numbers:
            corpus = blocks.block(number)
            beside = {**vars(corpus), "counts": corpus.counts[:, kept], "unknown": None}
            beside |= {"vocabulary": None if blocks.words is None else np.array(words)}
            yield Corpus(**beside)

    return (None if blocks.words is None else np.array(words, dtype=str)), counted()
