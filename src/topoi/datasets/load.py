"""Corpora that are here already: the demo corpus, and .npz files."""

from __future__ import annotations

from pathlib import Path

from topoi.corpus import Corpus

__all__ = ["load_demo", "load_npz"]


def load_demo() -> Corpus:
    """The docstrings of NumPy, SciPy and scikit-learn as installed here, with "See Also" links,
    cited authors, and subpackages as labels.

    Returns
    -------
    Corpus
        Some 3,000 short documents; no network is needed.

    Examples
    --------
    >>> load_demo().labels.names[:2].tolist()  # doctest: +SKIP
    ['numpy', 'numpy.char']
    """
    from topoi.datasets.demo import docstring_corpus

    return docstring_corpus()


def load_npz(path: str | Path) -> Corpus:
    """Read a corpus from one .npz file, as `topoi.write` makes it.

    Parameters
    ----------
    path : str or Path
        A file with arrays indptr, indices, counts, vocab and, where present, doc_names, dates,
        authors_indptr, authors_indices, author_names, links, labels, label_names; documents with
        several labels have labels_indptr and labels_indices. Pickled content is refused.

    Returns
    -------
    Corpus
        The corpus.

    Examples
    --------
    >>> import tempfile, topoi
    >>> from topoi.datasets import make_lda
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = topoi.write(make_lda(20)[0], f"{folder}/c.npz")
    ...     load_npz(f"{folder}/c.npz").shape
    (20, 100)
    """
    from topoi.io.formats.npz import read_npz

    return read_npz(path, scipy_too=False)
