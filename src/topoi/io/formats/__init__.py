"""Counts on disk in the formats of other tools, read and written.

The formats are in `topoi.io.registry`.

All text formats may be compressed (.gz). gensim's corpora are read from memory: `from_gensim`,
`to_gensim`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from topoi.corpus import Corpus
from topoi.io.formats.checks import naming
from topoi.io.formats.gensim import from_gensim, to_gensim
from topoi.io.formats.h5ad import from_anndata, is_anndata, open_h5ad, to_anndata
from topoi.io.lines import (
    Progress,
    existing,
    numbered_lines,
    read_words,
    stem_and_suffix,
    writing_words,
)
from topoi.io.registry import FORMATS, Format, ReadOptions, by_suffix, suffixes
from topoi.storage.files import check_outputs, same_file

__all__ = [
    "FORMATS",
    "detect",
    "from_anndata",
    "from_gensim",
    "is_anndata",
    "open_h5ad",
    "read",
    "to_anndata",
    "to_gensim",
    "write",
]

BESIDE_COUNTS = {  # what a Corpus has beside counts and words, as warnings call it
    "authors": "authors",
    "links": "links",
    "labels": "labels",
    "doc_names": "document names",
    "dates": "dates",
    "groups": "groups",
    "texts": "texts",
}


def __dir__() -> list[str]:
    return sorted(__all__)


def detect(path: str | Path) -> str | None:
    """The format of counts in a file, by its name.

    Parameters
    ----------
    path : str or Path
        The file. It need not exist.

    Returns
    -------
    str or None
        A name in FORMATS; None if no format of counts has such a name.

    Examples
    --------
    >>> import topoi
    >>> topoi.formats.detect("docword.kos.txt.gz"), topoi.formats.detect("letters.csv")
    ('uci', None)
    """
    stem, suffix = stem_and_suffix(path)
    if suffix == ".txt" and (stem.startswith("docword") or _looks_like_uci(Path(path))):
        return "uci"
    return by_suffix(suffix)


def _looks_like_uci(path: Path) -> bool:
    """Three lines with one number, then lines with three."""
    if not path.is_file() or not path.stat().st_size:
        return False
    try:
        head = [
            line.split()
            for _, line in zip(range(4), (text for _, text in numbered_lines(path)), strict=False)
        ]
    except ValueError:  # no text: the reader of texts says so
        return False
    return [len(fields) for fields in head] == [1, 1, 1, 3] and all(
        field.isdecimal() for fields in head for field in fields
    )


def read(
    path: str | Path,
    form: str | None = None,
    *,
    vocabulary: Sequence[str] | str | Path | None = None,
    layer: str | None = None,
    zero_based: bool = False,
    progress: Progress | None = None,
) -> Corpus:
    """Read counts.

    Parameters
    ----------
    path : str or Path
        The file.
    form : str, optional
        A name in FORMATS (default: by the file's name).
    vocabulary : sequence of str, str or Path, optional
        Words, or a file of them, one per line (default: the one beside the file).
    layer : str, optional
        For AnnData, the layer that holds the counts (default: X).
    zero_based : bool, default=False
        For SVMlight, whether columns are numbered from 0 instead of 1.
    progress : callable, optional
        Called with (done, total) now and then.

    Returns
    -------
    Corpus
        The corpus.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import topoi
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (path,) = topoi.write(topoi.Corpus([[1, 2]]), Path(folder) / "pets.ldac")
    ...     topoi.formats.read(path).shape
    (1, 2)
    """
    path = existing(path)
    form = form or detect(path)
    if form is None or form not in FORMATS:
        raise ValueError(f"{path} is of no known format; pass format, one of {', '.join(FORMATS)}.")
    known = FORMATS[form]
    options = ReadOptions(layer=layer, zero_based=zero_based, progress=progress)
    _refuse_unused(path, known, layer=layer, zero_based=zero_based)
    words = (
        None if known.words_inside and vocabulary is None else _vocabulary(path, form, vocabulary)
    )
    options = replace(options, n_words=None if words is None or known.words_inside else len(words))
    with naming(path):
        return _with_words(known.read(path, options), words, path)


def _refuse_unused(path: Path, known: Format, **given: object) -> None:
    """Refuse options that mean nothing to a format."""
    default = {field.name: field.default for field in fields(ReadOptions)}
    odd = next(
        (
            name
            for name, value in given.items()
            if value != default[name] and name not in known.options
        ),
        None,
    )
    if odd is not None:
        takes = " and ".join(other.name for other in FORMATS.values() if odd in other.options)
        raise ValueError(f"{path} is {known.name}, and {odd} is for {takes} only; leave it out.")


def _with_words(corpus: Corpus, words: Any, path: Path) -> Corpus:
    if words is not None and len(words) != corpus.n_words:
        raise ValueError(
            f"{path} has {corpus.n_words} words but its vocabulary has {len(words)}; give the"
            " vocabulary that belongs to it."
        )
    return corpus if words is None else replace(corpus, vocabulary=words)


def _vocabulary(
    path: Path, form: str, given: Sequence[str] | str | Path | None
) -> Sequence[str] | None:
    if given is not None:
        return read_words(Path(given)) if isinstance(given, str | Path) else given
    beside = vocabulary_path(path, form)
    candidates = [beside, beside.with_name(beside.name + ".gz"), beside.with_suffix(".tokens")]
    found = next((candidate for candidate in candidates if candidate.is_file()), None)
    return None if found is None else read_words(found)


def vocabulary_path(path: str | Path, form: str) -> Path:
    """Where the words of a file of counts stand: vocab.kos.txt beside docword.kos.txt, name.vocab
    beside name.mtx.
    """
    path, (stem, suffix) = Path(path), stem_and_suffix(path)
    if form == "uci" and "docword" in stem:
        return path.with_name(stem.replace("docword", "vocab", 1) + suffix)
    return path.with_name(f"{stem}.vocab")


def write(
    corpus: Corpus, path: str | Path, form: str | None = None, *, overwrite: bool = False
) -> list[Path]:
    """Write a corpus, each file whole or not at all.

    Parameters
    ----------
    corpus : Corpus
        Documents. A warning names what the format cannot keep.
    path : str or Path
        The file.
    form : str, default=None
        The name of a format. Default: by the end of the file's name.
    overwrite : bool, default=False
        Whether a file may be replaced.

    Returns
    -------
    list of Path
        The files that were written: `path`, and one of words where the format has none.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import topoi
    >>> corpus = topoi.Corpus([[1, 2]], ["cat", "dog"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = topoi.write(corpus, Path(folder) / "pets.mtx")
    >>> [path.name for path in written]
    ['pets.mtx', 'pets.vocab']
    """
    form = form or detect(path)
    if form is None or form not in FORMATS:
        raise ValueError(
            f"{path}: no format has such a name; end it in {', '.join(suffixes())}, or give form,"
            f" one of {', '.join(FORMATS)}."
        )
    files = outputs(corpus, path, form)
    check_outputs(files, overwrite=overwrite)
    lost = [
        words
        for name, words in BESIDE_COUNTS.items()
        if getattr(corpus, name) is not None and name not in FORMATS[form].keeps
    ]
    if lost:
        warnings.warn(
            f"{Path(path).name} is written without {', '.join(lost)}: {form} has no place for them;"
            " .npz has.",
            stacklevel=2,
        )
    beside = vocabulary_beside(path, form)
    words = [] if corpus.vocabulary is None else list(map(str, corpus.vocabulary))
    with writing_words(beside, words) if beside is not None and beside in files else nullcontext():
        FORMATS[form].write(corpus, Path(path))
    return [Path(path)] if beside is None or not words else [Path(path), beside]


def outputs(corpus: Corpus, path: str | Path, form: str) -> list[Path]:
    """The files that `write` makes: counts, and words beside them unless they are there."""
    beside = vocabulary_beside(path, form)
    if beside is None or corpus.vocabulary is None:
        return [Path(path)]
    with suppress(FileNotFoundError, ValueError):
        if read_words(beside) == list(map(str, corpus.vocabulary)):
            return [Path(path)]  # files of one corpus in several formats may share it
    return [Path(path), beside]


def vocabulary_beside(path: str | Path, form: str) -> Path | None:
    """The file of words that belongs to a file of counts, None if the format has them inside."""
    if FORMATS[form].words_inside:
        return None
    beside = vocabulary_path(path, form)
    if same_file(path, beside):
        reason = "its words would go to a file of the same name"
        raise ValueError(f"{path} cannot be written: {reason}. Choose another name.")
    return beside
