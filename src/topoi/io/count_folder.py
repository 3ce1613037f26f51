"""Blocks of counts in a folder, as plain arrays that are mapped into memory.

They are written whole or not at all, and checked when they are read.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from topoi.corpus import Corpus
from topoi.corpus.corpus import canonical_corpus
from topoi.corpus.packing import pack_texts, unpack_texts
from topoi.io.formats.checks import MOST, naming
from topoi.io.formats.npz import LAYOUT, check_contents, corpus_arrays, corpus_of
from topoi.io.vectorize import check_settings, vectorizer_from, vectorizer_settings
from topoi.storage.archive import Header, Refused
from topoi.storage.files import WriteError, locked
from topoi.storage.schema import demand, whole

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

    from topoi.storage.archive import Manifest

__all__ = ["CountFolder", "cached_folder", "is_folder", "write_folder"]

FORMAT = 1
MANIFEST = "source.json"
KEYS = {"format", "fingerprint", "n_words", "n_docs", "n_edges", "vectorizer"}
MOST_MANIFEST = 2**26  # bytes
WORDS = ("words", "word_ends")  # as `pack_texts` makes them


def is_folder(path: object) -> bool:
    """Whether `path` is a folder of counted blocks."""
    return isinstance(path, str | Path) and (Path(path) / MANIFEST).is_file()


class CountFolder:
    """Blocks of counts as plain .npy arrays, which are mapped into memory when they are read.

    Small and picklable: it holds a path and the sizes of the blocks.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        with self._refusing():
            found = _manifest(self.path / MANIFEST)
            self.fingerprint: str = found["fingerprint"]
            self.n_words: int = found["n_words"]
            self.n_docs: list[int] = found["n_docs"]
            self.n_edges: list[int] = found["n_edges"]
            self._settings = found["vectorizer"]
            if self._settings is not None:
                check_settings({**self._settings, "vocabulary": []})

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """One sentence that names the folder."""
        try:
            with naming(self.path):
                yield
        except Refused as error:
            raise ValueError(f"{self.path} {error}") from None
        except (ValueError, OSError, EOFError) as error:
            reason = " ".join(str(error).split())[:300].rstrip(".")
            raise ValueError(
                f"{self.path} does not hold counted blocks of topoi, or is damaged ({reason});"
                " delete it, and count again."
            ) from error

    @cached_property
    def words(self) -> np.ndarray | None:
        with self._refusing():
            if not (self.path / "words.npy").is_file():
                return None
            packed = [_array(self.path / f"{name}.npy") for name in WORDS]
            demand(
                [array.dtype.str[1:] for array in packed] == ["u1", "i8"]
                and all(array.ndim == 1 for array in packed),
                "its words are not text",
            )
            words = unpack_texts(*packed)
            demand(
                len(words) == self.n_words and len(set(words)) == len(words),
                "its words are not as many as its columns, or one is there twice",
            )
            return np.array(words, dtype=str)

    @cached_property
    def vectorizer(self) -> CountVectorizer | None:
        if self._settings is None or self.words is None:
            return None
        return vectorizer_from({**self._settings, "vocabulary": self.words.tolist()})

    def __getstate__(self) -> dict[str, object]:
        """Without words and vectoriser, which the other side reads for itself."""
        return {k: v for k, v in self.__dict__.items() if k not in ("words", "vectorizer")}

    def block(self, number: int) -> Corpus:
        with self._refusing():
            files = {name: self.path / f"{number:06}.{name}.npy" for name in LAYOUT}
            arrays = {name: _array(path) for name, path in files.items() if path.is_file()}
            sizes = {"D": self.n_docs[number], "N": self.n_edges[number], "W": self.n_words}
            for name in ("indptr", "indices", "counts"):
                demand(name in arrays, f"block {number} has no {name}")
            for name, array in arrays.items():
                LAYOUT[name].check_header(name, Header(array.dtype, array.shape), sizes)
            check_contents(arrays)
            known = vars(corpus_of(arrays, self.n_words))
            return canonical_corpus(
                **{**known, "vocabulary": self.words, "vectorizer": self.vectorizer}
            )


def _array(path: Path) -> np.ndarray:
    """An array of numbers or text, mapped into memory; nothing is unpickled."""
    if not path.stat().st_size:
        raise ValueError(f"{path.name} is empty")
    array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    return np.asarray(array) if array.dtype.isnative else array.astype(array.dtype.newbyteorder())


def _manifest(path: Path) -> Manifest:
    demand(path.stat().st_size <= MOST_MANIFEST, f"{MANIFEST} is too long")
    found = json.loads(path.read_bytes())
    if not isinstance(found, dict) or found.keys() != KEYS or found["format"] != FORMAT:
        raise Refused(
            "holds counted blocks of another version of topoi; delete it, and count again."
        )
    demand(isinstance(found["fingerprint"], str), "its fingerprint is not text")
    whole(1, MOST).check("n_words", found["n_words"])
    for name in ("n_docs", "n_edges"):
        sizes = found[name]
        demand(isinstance(sizes, list) and len(sizes) > 0, f"{name} is not a list of sizes")
        for size in sizes:
            whole(0).check(name, size)
    demand(len(found["n_docs"]) == len(found["n_edges"]), "n_docs and n_edges differ in length")
    return found


def write_folder(
    path: Path,
    blocks: Iterable[Corpus],
    words: np.ndarray | None,
    vectorizer: CountVectorizer,
    mark: str,
) -> CountFolder:
    """Write counted blocks, whole or not at all; mark: the fingerprint of what they were counted
    from.
    """
    settings = None if vectorizer is None else vectorizer_settings(vectorizer)
    if settings is not None:
        settings = {**settings, "vocabulary": []}
        try:
            check_settings(settings)
        except Refused as error:
            raise ValueError(f"The vectoriser {error}") from None
        del settings["vocabulary"]
    folder = path.absolute()
    if not folder.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {folder.parent}.")
    hidden, ending = f".{folder.name}.", ".part"
    with locked(folder.with_name(f"{folder.name}.counting")):
        for left in folder.parent.glob(f"{hidden}*{ending}"):  # by a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        temporary = folder.with_name(f"{hidden}{os.getpid()}{ending}")
        try:
            temporary.mkdir()
            sizes = _write_blocks(temporary, blocks)
            if words is not None:
                for name, array in zip(WORDS, pack_texts(words.tolist()), strict=True):
                    np.save(temporary / f"{name}.npy", array)
            if not sizes:
                raise ValueError("There are no documents; give some.")
            n_docs, n_edges, n_words = zip(*sizes, strict=True)
            found = {
                "format": FORMAT,
                "fingerprint": mark,
                "n_words": n_words[0],
                "n_docs": n_docs,
                "n_edges": n_edges,
                "vectorizer": settings,
            }
            (temporary / MANIFEST).write_text(json.dumps(found))
            os.replace(temporary, folder)
        except OSError as error:
            shutil.rmtree(temporary, ignore_errors=True)
            reason = error.strerror or type(error).__name__
            raise WriteError(
                error.errno,
                f"{path} cannot be written ({reason}); free some space, or choose another place.",
            ) from error
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    return CountFolder(folder)


def _write_blocks(folder: Path, blocks: Iterable[Corpus]) -> list[tuple[int, int, int]]:
    """Each array of each block to a file of its own. Returns documents, edges, words of blocks."""
    sizes = []
    for number, corpus in enumerate(blocks):
        unnamed = canonical_corpus(**{**vars(corpus), "vocabulary": np.zeros(0, dtype=str)})
        for name, array in corpus_arrays(unnamed).items():
            if name != "vocab":
                np.save(folder / f"{number:06}.{name}.npy", array)
        sizes.append((corpus.n_docs, int(corpus.counts.nnz), corpus.n_words))
    return sizes


def cached_folder(folder: Path, mark: str) -> CountFolder:
    """The counts in a folder, if they are of the same documents and options."""
    if not is_folder(folder):
        raise ValueError(
            f"{folder} is a folder with other files; give one that does not exist yet."
        )
    found = CountFolder(folder)
    if found.fingerprint != mark:
        raise ValueError(
            f"{folder} holds counts of other documents, or counted with other options or another"
            " version of topoi. Delete it to count again, or give another folder."
        )
    return found
