"""gensim's corpora, in memory: iterables of (word number, count) lists with a Dictionary."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus
from topoi.corpus.checks import is_whole
from topoi.io.formats.checks import check_size

__all__ = ["from_gensim", "to_gensim"]


def from_gensim(
    documents: Iterable[Iterable[tuple[int, float]]], dictionary: Mapping[int, str] | None = None
) -> Corpus:
    """A gensim corpus, streamed or in a list, as counts.

    Parameters
    ----------
    documents : iterable of iterables of (int, float)
        Word numbers and counts of each document.
    dictionary : mapping of int to str, default=None
        gensim's Dictionary, or any mapping from number to word.

    Returns
    -------
    Corpus
        With a vocabulary, if there is a dictionary.

    Examples
    --------
    >>> import topoi
    >>> topoi.formats.from_gensim([[(0, 2)], [(1, 1)]], {0: "cat", 1: "dog"}).shape
    (2, 2)
    """
    words, counts, ends = array("q"), array("d"), array("q", [0])
    for d, document in enumerate(documents):
        try:
            for word, count in document:
                words.append(word)
                counts.append(count)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"Document {d} is not a list of (word number, count) pairs; make it one with"
                " dictionary.doc2bow."
            ) from error
        ends.append(len(words))
    names = None if dictionary is None else dict(dictionary.items())
    width = 1 + max(max(words, default=-1), -1 if names is None else max(names, default=-1))
    if min(words, default=0) < 0:
        raise ValueError(f"There is no word number {min(words)}; words are numbered from 0.")
    check_size("The corpus", 0, width, len(words))
    table = sparse.csr_array(
        (np.asarray(counts), np.asarray(words), np.asarray(ends)), shape=(len(ends) - 1, width)
    )
    return Corpus(
        table, None if names is None else [names.get(w, f"word{w}") for w in range(width)]
    )


def to_gensim(corpus: Corpus) -> tuple[list[list[tuple[int, float]]], dict[int, str]]:
    """A corpus for gensim's models.

    Parameters
    ----------
    corpus : Corpus
        Documents.

    Returns
    -------
    tuple of list and dict
        Lists of (word number, count), and a mapping from number to word (gensim's id2word).

    Examples
    --------
    >>> import topoi
    >>> topoi.formats.to_gensim(topoi.Corpus([[1, 2]], ["cat", "dog"]))
    ([[(0, 1), (1, 2)]], {0: 'cat', 1: 'dog'})
    """
    counts = corpus.counts
    data = counts.data.astype(np.int64) if is_whole(counts) else counts.data
    documents = [
        list(zip(counts.indices[a:b].tolist(), data[a:b].tolist(), strict=True))
        for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    ]
    return documents, dict(enumerate(corpus.words))
