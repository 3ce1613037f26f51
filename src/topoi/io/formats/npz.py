"""Reading .npz files, our layout or SciPy's.

Types, shapes and sizes are checked before an array is read. Nothing is unpickled.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus, Membership
from topoi.corpus.checks import is_whole, refuse_broken, refuse_half_characters
from topoi.corpus.packing import (
    PackedGroups,
    pack_groups,
    pack_texts,
    unpack_groups,
    unpack_texts,
)
from topoi.free_memory import free_memory
from topoi.io.formats.checks import check_size, naming
from topoi.io.lines import existing
from topoi.io.registry import ReadOptions
from topoi.storage.archive import Header, Refused, member_names, n_bytes, open_zip
from topoi.storage.files import atomic_write
from topoi.storage.schema import Array

__all__ = ["LAYOUT", "check_contents", "corpus_arrays", "corpus_of", "read_npz", "write_npz"]

WHAT, CURE = "a .npz file of counts", "write the file again"
WHOLE = "i1 i2 i4 i8 u1 u2 u4 u8"
NUMBER = f"b1 f2 f4 f8 {WHOLE}"
NAME = f"U {WHOLE}"
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
NEEDED = ("indptr", "indices", "counts", "vocab")

# D documents, N entries, W words; P pairs of documents and A authors, Q of documents and L labels;
# E links; B bytes of texts; G groups with V values, R in all documents.
LAYOUT = {
    "indptr": Array(WHOLE, ("D+1",), low=0),
    "indices": Array(WHOLE, ("N",), low=0),
    "counts": Array(NUMBER, ("N",), low=0),
    "vocab": Array(NAME, ("W",)),
    "doc_names": Array(NAME, ("D",)),
    "dates": Array(NAME, ("D",)),
    "authors_indptr": Array(WHOLE, ("D+1",), low=0),
    "authors_indices": Array(WHOLE, ("P",), low=0),
    "author_names": Array(NAME, ("A",)),
    "labels": Array(WHOLE, ("D",), low=-1),
    "labels_indptr": Array(WHOLE, ("D+1",), low=0),
    "labels_indices": Array(WHOLE, ("Q",), low=0),
    "label_names": Array(NAME, ("L",)),
    "links": Array(WHOLE, ("E", 2), low=0),
    "text_bytes": Array("u1", ("B",)),
    "text_ends": Array("i8", ("D",), low=0),
    "groups": Array("U", ("G",), different=True),
    "group_of": Array("i8", ("V",), low=0),
    "group_values": Array("U", ("V",)),
    "group_indptr": Array("i4 i8", ("D+1",), low=0),
    "group_indices": Array("i4 i8", ("R",), low=0),
}
GROUPS = ("groups", "group_of", "group_values", "group_indptr", "group_indices")


def read_npz(
    path: str | Path, options: ReadOptions | None = None, *, scipy_too: bool = True
) -> Corpus:
    """Read a corpus in our layout (see `topoi.datasets.load_npz`), or a matrix in SciPy's.

    Parameters
    ----------
    path : str or Path
        The file.
    options : ReadOptions, optional
        None of them means anything here.
    scipy_too : bool, default=True
        Whether SciPy's layout is read as well.

    Returns
    -------
    Corpus
        The corpus.
    """
    path = existing(path)
    with open_zip(path, WHAT) as opened:
        names = member_names(opened)
        members = [name.removesuffix(".npy") for name in names if name.endswith(".npy")]
        if scipy_too and "format" in members:
            matrix = _scipy_matrix(path, opened, members)
            with naming(path):
                return Corpus(matrix)
        missing = next((name for name in NEEDED if name not in members), None)
        if missing is not None:
            expected = "indptr, indices, counts and vocab, as topoi.write makes them"
            raise Refused(f"has no array {missing!r}; expected {expected}.")
        arrays = _arrays(opened, [name for name in LAYOUT if name in members])
    with naming(path):
        return corpus_of(arrays)


def _arrays(opened: zipfile.ZipFile, names: list[str]) -> dict[str, np.ndarray]:
    """The arrays of our layout, their headers checked first and their contents afterwards."""
    headers = {name: _header(opened, name) for name in names}
    sizes: dict[str, int] = {}
    for name in names:
        LAYOUT[name].check_header(name, headers[name], sizes)
    _refuse_too_large(headers)
    arrays = {name: _array(opened, name) for name in names}
    check_contents(arrays)
    return arrays


def check_contents(arrays: dict[str, np.ndarray]) -> None:
    """Refuse arrays of our layout that hold what they must not."""
    for name, array in arrays.items():
        LAYOUT[name].check_content(name, array)
        if array.dtype.kind == "U":
            refuse_half_characters(array.tolist(), name)


def _header(opened: zipfile.ZipFile, name: str) -> Header:
    """Type and shape of an array, if its member has the bytes for them."""
    with opened.open(f"{name}.npy") as file:
        version = np.lib.format.read_magic(file)
        if version not in HEADERS:
            raise ValueError(f"{name} has a header of an unknown version")
        shape, _, dtype = HEADERS[version](file)
        if dtype.hasobject:
            raise Refused(
                f"holds pickled objects in {name!r}; save plain numbers and text instead."
            )
        header = Header(dtype, tuple(map(int, shape)))
        expected = file.tell() + n_bytes(header)
    claimed = opened.getinfo(f"{name}.npy").file_size
    if any(n < 0 for n in header.shape) or claimed != expected:
        raise ValueError(f"{name} has {claimed:,} bytes; its header makes it {expected:,}")
    return header


def _refuse_too_large(headers: dict[str, Header]) -> None:
    if sum(map(n_bytes, headers.values())) > free_memory():
        raise MemoryError


def _array(opened: zipfile.ZipFile, name: str) -> np.ndarray:
    """An array whose header was checked, in the byte order of this machine."""
    with opened.open(f"{name}.npy") as file:
        array = np.lib.format.read_array(file, allow_pickle=False)
        if file.read(1):  # at the end the checksum is looked at
            raise ValueError(f"{name} does not end where it should")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def corpus_of(arrays: dict[str, np.ndarray], n_words: int | None = None) -> Corpus:
    """The corpus that arrays of our layout are, whose types and contents were checked.

    n_words: number of columns, if the words themselves are elsewhere.
    """
    vocabulary = arrays["vocab"].astype(str) if n_words is None else None
    width = len(arrays["vocab"]) if n_words is None else n_words
    _check_rows(arrays["indptr"], arrays["indices"], width, "indices", "vocab")
    table = (
        arrays["counts"].astype(np.float64),
        arrays["indices"].astype(np.int64),
        arrays["indptr"].astype(np.int64),
    )
    counts = sparse.csr_array(table, shape=(len(arrays["indptr"]) - 1, width))
    authors, labels = _name_lists(arrays, "author"), _name_lists(arrays, "label")
    if "labels" in arrays:
        labels = _one_label_each(arrays)
    texts = [name for name in ("doc_names", "dates") if name in arrays]
    others: dict[str, Any] = {name: arrays[name].astype(str) for name in texts}
    if "links" in arrays:
        others["links"] = arrays["links"]
    if "text_ends" in arrays:
        others["texts"] = unpack_texts(_demand(arrays, "text_bytes"), arrays["text_ends"])
    if "groups" in arrays:
        packed = PackedGroups(*(_demand(arrays, name) for name in GROUPS))
        others["groups"] = unpack_groups(packed)
    return Corpus(counts, vocabulary, authors=authors, labels=labels, **others)


def _check_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    n_columns: int,
    name: str,
    names: str,
) -> None:
    """Refuse sparse rows that do not part `indices`, or that point beyond the columns."""
    ends = indptr.astype(np.int64)
    if ends[0] != 0 or (np.diff(ends) < 0).any() or ends[-1] != len(indices):
        raise ValueError(
            f"the row pointers of {name} do not part its {len(indices)} numbers; {CURE}."
        )
    if len(indices) and indices.max() >= n_columns:
        raise ValueError(
            f"{name} holds {indices.max()}, but {names} has {n_columns} items; {CURE}."
        )


def _name_lists(arrays: dict[str, np.ndarray], what: str) -> list[list[str]] | None:
    """Lists of names from sparse rows: authors_indptr, authors_indices, author_names."""
    if f"{what}s_indptr" not in arrays:
        return None
    needed = (f"{what}s_indptr", f"{what}s_indices", f"{what}_names")
    ends, numbers, names = (_demand(arrays, name) for name in needed)
    _check_rows(ends, numbers, len(names), f"{what}s_indices", f"{what}_names")
    named = names.astype(str)[numbers.astype(np.int64)].tolist()
    return [named[a:b] for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]


def _one_label_each(arrays: dict[str, np.ndarray]) -> list[list[str]]:
    """The label of each document; -1 is none."""
    numbers, names = arrays["labels"], _demand(arrays, "label_names").astype(str).tolist()
    if numbers.max(initial=-1) >= len(names):
        raise ValueError(
            f"labels holds {numbers.max()}, but label_names has {len(names)} items; {CURE}."
        )
    return [[names[c]] if c >= 0 else [] for c in numbers.tolist()]


def _demand(arrays: dict[str, np.ndarray], name: str) -> np.ndarray:
    if name not in arrays:
        raise ValueError(f"the array {name!r} is missing; {CURE}.")
    return arrays[name]


def _scipy_matrix(path: Path, opened: zipfile.ZipFile, members: list[str]) -> sparse.csr_array:
    """A matrix that scipy.sparse.save_npz wrote, whatever its sparse format."""
    headers = {name: _header(opened, name) for name in members}
    shape = headers.get("shape")
    if (
        "data" not in headers
        or shape is None
        or shape.shape != (2,)
        or shape.dtype.kind not in "iu"
    ):
        raise ValueError("it is not as scipy.sparse.save_npz writes it")
    _refuse_too_large(headers)
    n_docs, n_words = map(int, _array(opened, "shape"))
    if min(n_docs, n_words) < 0:
        raise ValueError(f"its shape is ({n_docs}, {n_words})")
    check_size(path, n_docs, n_words, n_bytes(headers["data"]) // headers["data"].dtype.itemsize)
    table = sparse.load_npz(path)
    refuse_broken(table, "the matrix")
    return sparse.csr_array(table)


def write_npz(corpus: Corpus, path: str | Path) -> None:
    """Our layout. It keeps all a corpus knows, but for the vectoriser."""
    arrays = corpus_arrays(corpus)
    with atomic_write(path) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def corpus_arrays(corpus: Corpus) -> dict[str, np.ndarray]:
    """All a corpus knows, but for the vectoriser, as arrays of our layout."""
    counts = corpus.counts
    arrays: dict[str, np.ndarray] = {
        "indptr": counts.indptr.astype(np.int64),
        "indices": counts.indices.astype(np.int32),
        "counts": (
            counts.data.astype(np.int32)
            if is_whole(counts) and counts.data.max(initial=0) < 2**31
            else counts.data
        ),
        "vocab": np.array(corpus.words, dtype=str),
    }
    for name in ("doc_names", "dates"):
        if getattr(corpus, name) is not None:
            arrays[name] = np.asarray(getattr(corpus, name), dtype=str)
    if corpus.texts is not None:
        arrays["text_bytes"], arrays["text_ends"] = pack_texts(corpus.texts)
    if corpus.groups:
        arrays |= dict(zip(GROUPS, pack_groups(corpus.groups), strict=True))
    if corpus.authors is not None:
        arrays["authors_indptr"], arrays["authors_indices"], arrays["author_names"] = _as_rows(
            corpus.authors
        )
    if corpus.labels is not None:
        indptr, indices, arrays["label_names"] = _as_rows(corpus.labels)
        if (corpus.labels.counts() <= 1).all():
            arrays["labels"] = np.full(corpus.n_docs, -1, np.int32)
            arrays["labels"][np.diff(indptr) > 0] = indices
        else:
            arrays["labels_indptr"], arrays["labels_indices"] = indptr, indices
    if corpus.links is not None:
        arrays["links"] = np.column_stack(corpus.links.nonzero()).astype(np.int32)
    return arrays


def _as_rows(members: Membership) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """indptr, indices and sorted names, as text; names that no document has are left out."""
    rows = [list(map(str, row)) for row in members]
    names, indices = np.unique([name for row in rows for name in row], return_inverse=True)
    return (
        members.matrix.indptr.astype(np.int64),
        indices.astype(np.int32),
        names.astype(str),
    )
