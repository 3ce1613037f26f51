"""Source: documents that are read one block at a time, as often as needed."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from topoi.corpus import Corpus
from topoi.io.count_blocks import CountBlocks, open_blocks, paths_of
from topoi.io.count_folder import CountFolder, cached_folder, write_folder
from topoi.io.counting import Documents, count_blocks, count_texts
from topoi.io.lines import Progress
from topoi.io.vectorize import TOKEN_LISTS, make_vectorizer
from topoi.storage.digests import digest
from topoi.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topoi.io.given import CorpusLike, Readable

__all__ = ["Source"]

BLOCK_SIZE = 10_000  # documents
COUNTS_AS_THEY_ARE = {"min_df": 1, "max_df": 1.0}  # what counts lose of their words, if not told


class Source:
    """Documents that are read one block at a time, as often as needed: a corpus that need not fit
    into memory.

    A source of texts is counted first (`count`), which writes blocks of counts to disk. A source
    of counts can be fitted at once. Counted blocks are the interface: `len(source)` of them,
    `source.block(i)` is one as a `Corpus`, and all have the words `source.vocabulary`. What a
    source holds of files is their names, so it is small, and can be sent to other processes.

    Parameters
    ----------
    documents : str, Path, list, Corpus, matrix or iterable
        A file, a pattern such as `"papers/*.parquet"`, or a list of Path: texts in .csv, .tsv,
        .jsonl, .parquet, .txt and so on, as `topoi.read` takes them, or counts in a format of
        `topoi.formats`, each file a block. A folder that `count` wrote. A Corpus or matrix, which
        is cut into blocks. A list of these, each a block. Anything else that can be iterated over
        again and again: of texts, lists of tokens, dictionaries, Corpora or matrices.
    text, doc_names, labels, dates : str, optional
        The columns of tables that hold them, as in `topoi.read`. Names are compared within a
        block only.
    groups : sequence of str, default=()
        Further columns to keep.
    form : str, optional
        For files whose names do not say what they hold.
    encoding : str, default="utf-8"
        Of text files.
    separator : str, default=";"
        Between several names in a cell.
    block_size : int, default=10000
        Most documents in a block. A block of texts also ends after 16 million characters. How
        documents are cut into blocks decides the bits of a fit.

    Attributes
    ----------
    vocabulary : ndarray of shape (n_words,) or None
        The words of all blocks, if they are known.
    n_documents : int
        Documents in all blocks, with words or without.
    n_words : int
        Columns of the counts.

    Examples
    --------
    >>> texts = ["cat dog", "dog cat dog", "stock market", "market stock bond"]
    >>> source = Source(texts, block_size=2).count(min_df=1)
    >>> len(source), source.n_documents, source.vocabulary.tolist()
    (2, 4, ['bond', 'cat', 'dog', 'market', 'stock'])
    >>> source.block(1)
    Corpus(2 documents x 5 words, 5 tokens, vocabulary)
    """

    def __init__(
        self,
        documents: Readable | Iterable[CorpusLike],
        *,
        text: str | None = None,
        doc_names: str | None = None,
        labels: str | None = None,
        dates: str | None = None,
        groups: Sequence[str] = (),
        form: str | None = None,
        encoding: str = "utf-8",
        separator: str = ";",
        block_size: int = BLOCK_SIZE,
    ) -> None:
        if not isinstance(block_size, int | np.integer) or block_size < 1:
            raise ValueError(
                f"block_size is {block_size!r}; expected a whole number of at least 1."
            )
        columns = {"text": text, "doc_names": doc_names, "labels": labels, "dates": dates}
        wrong = next((n for n, v in columns.items() if v is not None and type(v) is not str), None)
        if wrong is not None:
            raise TypeError(
                f"{wrong} is a {type(columns[wrong]).__name__}; a Source takes the name of a"
                " column. For one value per document use topoi.read."
            )
        groups = (groups,) if isinstance(groups, str) else tuple(groups)
        paths = paths_of(documents)
        self._blocks = open_blocks(documents, paths, form, int(block_size))
        self._documents: Documents | None = None
        if self._blocks is not None:
            given = [name for name, column in columns.items() if column is not None]
            if given or groups:
                raise ValueError(
                    f"The source holds counts, which have no columns; leave {given or groups} out."
                )
            return
        self._documents = Documents(
            paths,
            cast("Iterable[object]", documents),
            columns,
            groups,
            form,
            encoding,
            separator,
            int(block_size),
        )

    # ------------------------------------------------------------ counted blocks

    @property
    def is_counted(self) -> bool:
        """Whether its blocks are counts, so that `block` and `fit` can be called."""
        return self._blocks is not None

    @property
    def _counted(self) -> CountBlocks:
        if self._blocks is None:
            raise ValueError(
                "This source holds texts, whose words are not counted yet; call"
                " source.count(cache='counts/'), and use what it returns."
            )
        return self._blocks

    def __len__(self) -> int:
        return len(self._counted.n_docs)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Corpus]:
        return (self.block(number) for number in range(len(self)))

    def block(self, number: int) -> Corpus:
        """A block of documents, as counts over `vocabulary`.

        Parameters
        ----------
        number : int
            From 0 to len(source) - 1.

        Returns
        -------
        Corpus
            Read anew each time.
        """
        if not 0 <= number < len(self):
            raise IndexError(f"There is no block {number}; the source has {len(self)}.")
        return self._counted.block(number)

    @property
    def vocabulary(self) -> np.ndarray | None:
        return self._counted.words

    @property
    def vectorizer(self) -> CountVectorizer | None:
        """What counted the texts, if anything did."""
        return self._counted.vectorizer

    @property
    def n_words(self) -> int:
        return self._counted.n_words

    @property
    def n_documents(self) -> int:
        return int(sum(self._counted.n_docs))

    @property
    def block_sizes(self) -> list[int]:
        """Number of documents in each block."""
        return list(self._counted.n_docs)

    @property
    def folder(self) -> Path | None:
        """Where its counts are, if they are in a folder."""
        return self._counted.path if isinstance(self._counted, CountFolder) else None

    @property
    def fingerprint(self) -> str:
        """A digest of the documents and of how they are cut and counted."""
        return digest([self._counted.fingerprint, self.block_sizes])

    def __repr__(self) -> str:
        if self._documents is not None:
            return f"Source({self._documents.name}, not counted)"
        return (
            f"Source({len(self):,} blocks, {self.n_documents:,} documents x {self.n_words:,} words)"
        )

    # ------------------------------------------------------------ counting

    def counted_by(self, vectorizer: CountVectorizer) -> Iterator[Corpus]:
        """The blocks of a source of texts, counted by a fitted vectoriser as they are read; nothing
        is written.

        Parameters
        ----------
        vectorizer : CountVectorizer
            Such as `model.vectorizer_`.

        Returns
        -------
        iterator of Corpus
            One block after the other.
        """
        if self._documents is None:
            raise ValueError("This source holds counts already; iterate over it.")
        return count_texts(self._documents, vectorizer, None)[1]

    def count(
        self,
        *,
        cache: str | Path | None = None,
        vectorizer: CountVectorizer | None = None,
        progress: Progress | None = None,
        **options: Any,
    ) -> Source:
        """Count the words of all documents, in two passes that hold one block at a time.

        The first pass finds one vocabulary from the document frequencies of all blocks, and holds
        every different word; the second writes blocks of counts.

        Parameters
        ----------
        cache : str or Path, optional
            A folder for the counts: plain .npy arrays, which are mapped into memory when they are
            read. One that exists is used again if it was made from the same files with the same
            options, and refused otherwise. Default: a temporary folder, removed with the source.
        vectorizer : CountVectorizer, optional
            In place of options. One that is fitted keeps its words, and the first pass is not
            needed.
        progress : callable, optional
            Called with (done, total) now and then.
        **options
            Of `topoi.make_vectorizer`: stop_words, min_df, max_df, max_features, vocabulary, ...
            Of counts, min_df, max_df and max_features. Lists of tokens and counts keep all words
            unless told otherwise.

        Returns
        -------
        Source
            Of counts.

        Examples
        --------
        >>> Source([["a", "b"], ["a", "c"]]).count(min_df=2).vocabulary.tolist()
        ['a']
        """
        made = self._vectorizer(vectorizer, options)
        told = {**made.get_params(), "words": getattr(made, "vocabulary_", None)}
        texts = self._documents
        of = self._counted.fingerprint if texts is None else texts.fingerprint()
        mark = digest([__version__, of, told])
        if cache is not None and Path(cache).exists() and any(Path(cache).iterdir()):
            return Source(cached_folder(Path(cache), mark))
        folder = Path(tempfile.mkdtemp(prefix="topoi-")) / "counts" if cache is None else cache
        if texts is not None:
            fitted, blocks = count_texts(texts, made, progress)
            words = fitted.get_feature_names_out()
        else:
            fitted, (words, blocks) = None, count_blocks(self._counted, made)
        found = Source(write_folder(Path(folder), blocks, words, fitted, mark))
        if cache is None:
            weakref.finalize(found, shutil.rmtree, Path(folder).parent, ignore_errors=True)
        return found

    def _vectorizer(
        self, vectorizer: CountVectorizer | None, options: dict[str, Any]
    ) -> CountVectorizer:
        if vectorizer is not None:
            if options:
                raise ValueError(
                    f"{', '.join(options)} given beside a vectorizer; set them in the vectorizer."
                )
            return _plain(vectorizer)
        known = list(signature(make_vectorizer).parameters)
        if self._documents is None:
            known = ["min_df", "max_df", "max_features"]
        unknown = next((name for name in options if name not in known), None)
        if unknown is not None:
            raise TypeError(f"count has no parameter {unknown!r}; it takes {', '.join(known)}.")
        usual: dict[str, Any] = {}
        if self._documents is None:
            usual = COUNTS_AS_THEY_ARE
        elif self._documents.paths is None and isinstance(
            next(iter(self._documents.items), None), list | tuple
        ):
            usual = TOKEN_LISTS
        return _plain(make_vectorizer(**{**usual, **options}))


def _plain(vectorizer: CountVectorizer) -> CountVectorizer:
    """Refuse a vectoriser that learns more than its words from all documents."""
    if type(vectorizer) is not CountVectorizer:
        raise TypeError(
            f"A Source is counted by a plain CountVectorizer, not a {type(vectorizer).__name__}:"
            " phrases are found in all documents at once. Leave phrases out, or use topoi.read."
        )
    return vectorizer
