"""File formats of counts: one entry each.

Light to import; readers and writers are loaded when needed.

Suffixes, the command's choices, and the texts of helps and errors come from here. To add a format,
see docs/extend.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topoi.corpus import Corpus

__all__ = [
    "FORMATS",
    "TEXT_FORMATS",
    "Format",
    "ReadOptions",
    "by_suffix",
    "names",
    "register",
    "suffixes",
]

TEXT_FORMATS: Mapping[str, tuple[str, ...]] = {  # of documents, read row by row (io/tables.py)
    "csv": (".csv",),
    "tsv": (".tsv",),
    "json": (".json",),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "lines": (".txt",),
    "document": (".md", ".html", ".htm"),  # the whole file is one
}


@dataclass(frozen=True)
class ReadOptions:
    """What a reader of counts may be told.

    Parameters
    ----------
    n_words : int, optional
        Number of words in the vocabulary beside the file, if there is one.
    layer : str, optional
        For AnnData, the layer that holds the counts.
    zero_based : bool, default=False
        For SVMlight, whether columns are numbered from 0 instead of 1.
    progress : callable, optional
        Called with (done, total) now and then.
    """

    n_words: int | None = None
    layer: str | None = None
    zero_based: bool = False
    progress: Callable[[int, int], None] | None = None


@dataclass(frozen=True)
class Format:
    """A file format of counts.

    Parameters
    ----------
    name : str
        What people call it.
    suffixes : tuple of str
        Ends of file names, lower case, with the dot.
    read : callable
        (path, ReadOptions) -> Corpus.
    write : callable
        (corpus, path) -> None. It writes through `topoi.storage.files.atomic_write`.
    keeps : frozenset of str
        What it keeps of a Corpus beside counts and words.
    words_inside : bool, default=False
        Whether words are in the file itself, not in a vocabulary file beside it.
    options : frozenset of str
        The `ReadOptions` that mean something to it.
    description : str
        One line about its files.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, ReadOptions], Corpus]
    write: Callable[[Corpus, Path], None]
    keeps: frozenset[str] = frozenset()
    words_inside: bool = False
    options: frozenset[str] = field(default=frozenset())
    description: str = ""


def _in(module: str, function: str) -> Callable[..., Any]:
    """A function of a module that is imported when it is called."""

    def call(*args: Any) -> Any:
        return getattr(import_module(f"topoi.io.formats.{module}"), function)(*args)

    return call


def _built_in(name: str, suffixes: tuple[str, ...], **more: Any) -> Format:
    return Format(name, suffixes, _in(name, f"read_{name}"), _in(name, f"write_{name}"), **more)


_ALL = frozenset({"authors", "links", "labels", "doc_names", "dates", "groups", "texts"})
_KNOWN: dict[str, Format] = {
    made.name: made
    for made in (
        _built_in(
            "npz", (".npz",), keeps=_ALL, words_inside=True, description="our layout, or SciPy's"
        ),
        _built_in("uci", (".uci",), description="docword.NAME.txt, with vocab.NAME.txt beside"),
        _built_in("ldac", (".ldac", ".lda-c", ".dat"), description="LDA-C, with NAME.vocab beside"),
        _built_in("mtx", (".mtx",), description="MatrixMarket, with NAME.vocab beside"),
        _built_in(
            "svmlight",
            (".svm", ".svmlight", ".libsvm"),
            keeps=frozenset({"labels"}),
            options=frozenset({"zero_based"}),
            description="columns numbered from 1, with NAME.vocab beside; labels as numbers",
        ),
        _built_in(
            "h5ad",
            (".h5ad",),
            keeps=frozenset({"doc_names"}),
            words_inside=True,
            options=frozenset({"layer"}),
            description="AnnData, if it is installed",
        ),
    )
}
FORMATS: Mapping[str, Format] = _KNOWN


def register(new: Format) -> None:
    """Make a format known to `topoi.read`, `topoi.write` and the command.

    Parameters
    ----------
    new : Format
        Its name and suffixes must not be taken.
    """
    taken = [*FORMATS, *suffixes()]
    clash = next((name for name in (new.name, *new.suffixes) if name in taken), None)
    if clash is not None:
        raise ValueError(f"{clash!r} is taken by another format; choose another name or suffix.")
    _KNOWN[new.name] = new


def by_suffix(suffix: str) -> str | None:
    """The name of the format whose files end in `suffix`, or None."""
    return next((known.name for known in FORMATS.values() if suffix in known.suffixes), None)


def names() -> list[str]:
    """The names of all formats of counts."""
    return list(FORMATS)


def suffixes() -> list[str]:
    """The ends of file names of all formats of counts."""
    return [suffix for known in FORMATS.values() for suffix in known.suffixes]
