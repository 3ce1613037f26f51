"""Counts on disk in the formats of other tools, read and written.

| name | files | keeps |
| --- | --- | --- |
| npz | .npz (our layout, or SciPy's) | everything |
| uci | docword.NAME.txt, .uci, with vocab.NAME.txt beside | words |
| ldac | .ldac, .lda-c, .dat, with NAME.vocab beside | words |
| mtx | .mtx (MatrixMarket), with NAME.vocab beside | words |
| svmlight | .svm, .svmlight, .libsvm, with NAME.vocab beside | words, labels as numbers |
| h5ad | .h5ad (AnnData, if installed) | words, names of documents |

All text formats may be compressed (.gz). gensim's corpora are read from memory: `from_gensim`, `to_gensim`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from topoi.corpus import Corpus
from topoi.files import check_outputs, same_file
from topoi.formats import arrays, bags
from topoi.formats.arrays import from_anndata, is_anndata, open_h5ad, to_anndata
from topoi.formats.checks import naming
from topoi.formats.files import Tell, existing, numbered_lines, read_words, stem_and_suffix, writing_words
from topoi.formats.memory import from_gensim, to_gensim
from topoi.formats.mtx import read_mtx
from topoi.formats.npz import read_npz

__all__ = ["FORMATS", "detect", "from_anndata", "from_gensim", "is_anndata", "open_h5ad", "read", "to_anndata", "to_gensim", "write"]

FORMATS = ("npz", "uci", "ldac", "mtx", "svmlight", "h5ad")
SUFFIXES = {
    ".npz": "npz",
    ".uci": "uci",
    ".ldac": "ldac",
    ".lda-c": "ldac",
    ".dat": "ldac",
    ".mtx": "mtx",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".h5ad": "h5ad",
}
KEPT = {"npz": {"authors", "links", "labels", "doc_names", "dates"}, "svmlight": {"labels"}, "h5ad": {"doc_names"}}
WRITERS = {
    "npz": arrays.write_npz,
    "uci": bags.write_uci,
    "ldac": bags.write_ldac,
    "mtx": arrays.write_mtx,
    "svmlight": bags.write_svmlight,
    "h5ad": arrays.write_h5ad,
}


def detect(path: str | Path) -> str | None:
    """The format of counts in `path` by its name, or None if it holds no counts that we know."""
    stem, suffix = stem_and_suffix(path)
    if suffix == ".txt" and (stem.startswith("docword") or _looks_like_uci(Path(path))):
        return "uci"
    return SUFFIXES.get(suffix)


def _looks_like_uci(path: Path) -> bool:
    """Three lines with one number, then lines with three."""
    if not path.is_file() or not path.stat().st_size:
        return False
    try:
        head = [line.split() for _, line in zip(range(4), (text for _, text in numbered_lines(path)), strict=False)]
    except ValueError:  # no text: the reader of texts says so
        return False
    return [len(fields) for fields in head] == [1, 1, 1, 3] and all(field.isdecimal() for fields in head for field in fields)


def read(
    path: str | Path,
    form: str | None = None,
    *,
    vocabulary: Sequence[str] | str | Path | None = None,
    layer: str | None = None,
    zero_based: bool = False,
    tell: Tell | None = None,
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
    tell : callable, optional
        Called with (done, total) now and then.

    Returns
    -------
    Corpus
        The corpus.
    """
    path = existing(path)
    form = form or detect(path)
    if form not in FORMATS:
        raise ValueError(f"{path} is of no known format; say which (format) of {', '.join(FORMATS)}.")
    if zero_based and form != "svmlight":
        raise ValueError(f"{path} is {form}, whose numbers have one meaning; zero_based is for SVMlight, so leave it out.")
    if form in ("npz", "h5ad"):
        corpus = read_npz(path) if form == "npz" else arrays.read_h5ad(path, layer)
        return corpus if vocabulary is None else _with_words(corpus, _vocabulary(path, form, vocabulary), path)
    words = _vocabulary(path, form, vocabulary)
    n_words, labels = None if words is None else len(words), None
    if form == "uci":
        counts = bags.read_uci(path, tell=tell)
    elif form == "ldac":
        counts = bags.read_ldac(path, n_words=n_words, tell=tell)
    elif form == "mtx":
        counts = read_mtx(path, tell=tell)
    else:
        counts, labels = bags.read_svmlight(path, n_words=n_words, zero_based=zero_based, tell=tell)
    with naming(path):
        return _with_words(Corpus(counts, labels=labels), words, path)


def _with_words(corpus: Corpus, words: Sequence[str] | None, path: Path) -> Corpus:
    if words is not None and len(words) != corpus.n_words:
        raise ValueError(f"{path} has {corpus.n_words} words but its vocabulary has {len(words)}; give the vocabulary that belongs to it.")
    return corpus if words is None else replace(corpus, vocabulary=words)


def _vocabulary(path: Path, form: str, given: Sequence[str] | str | Path | None) -> Sequence[str] | None:
    if given is not None:
        return read_words(Path(given)) if isinstance(given, str | Path) else given
    beside = vocabulary_path(path, form)
    candidates = [beside, beside.with_name(beside.name + ".gz"), beside.with_suffix(".tokens")]
    found = next((candidate for candidate in candidates if candidate.is_file()), None)
    return None if found is None else read_words(found)


def vocabulary_path(path: str | Path, form: str) -> Path:
    """Where the words of a file of counts stand: vocab.kos.txt beside docword.kos.txt, name.vocab beside name.mtx."""
    path, (stem, suffix) = Path(path), stem_and_suffix(path)
    if form == "uci" and "docword" in stem:
        return path.with_name(stem.replace("docword", "vocab", 1) + suffix)
    return path.with_name(f"{stem}.vocab")


def write(corpus: Corpus, path: str | Path, form: str | None = None, *, overwrite: bool = False) -> list[Path]:
    """Write a corpus, each file whole or not at all, and name the files. What the format cannot keep is warned of."""
    form = form or detect(path)
    if form not in FORMATS:
        raise ValueError(
            f"{path}: the name says no known format; end it in {', '.join(SUFFIXES)}, or say which (format) of {', '.join(FORMATS)}."
        )
    files = outputs(corpus, path, form)
    check_outputs(files, overwrite=overwrite)
    lost = [
        name
        for name in ("authors", "links", "labels", "doc_names", "dates")
        if getattr(corpus, name) is not None and name not in KEPT.get(form, ())
    ]
    if lost:
        warnings.warn(f"{Path(path).name} does not keep {', '.join(lost)}: {form} has no place for them; .npz has.", stacklevel=2)
    beside = vocabulary_beside(path, form)
    words = [] if corpus.vocabulary is None else list(map(str, corpus.vocabulary))
    with writing_words(beside, words) if beside is not None and beside in files else nullcontext():
        WRITERS[form](corpus, path)
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
    if form in ("npz", "h5ad"):
        return None
    beside = vocabulary_path(path, form)
    if same_file(path, beside):
        reason = "its words would go to a file of the same name"
        raise ValueError(f"{path} cannot be written: {reason}. Choose another name.")
    return beside
