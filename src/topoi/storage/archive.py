"""Reading zips of a JSON manifest and plain arrays, such as `storage.write_archive` writes.

Nothing is taken on trust: names, sizes and headers are looked at before anything is read, and a
member is only read when someone asks for it, after its type and shape were found to be right.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np

from topoi.free_memory import free_memory
from topoi.storage.digests import digest
from topoi.storage.files import atomic_write

__all__ = [
    "MOST_EXPANSION",
    "Archive",
    "Header",
    "Manifest",
    "Refused",
    "member_names",
    "n_bytes",
    "open_archive",
    "open_zip",
    "sealed",
    "write_archive",
]

MANIFEST = "manifest.json"
MOST_MANIFEST = 2**24  # bytes; long lists are arrays
MOST_MEMBERS = 1_000
CURE = "give another file"
CHUNK = 2**24  # bytes read at a time
MOST_EXPANSION = 1_032  # deflate cannot make more of a byte

Manifest: TypeAlias = dict[str, Any]  # parsed JSON


class Header(NamedTuple):
    """What a .npy member says of itself."""

    dtype: np.dtype
    shape: tuple[int, ...]


@contextmanager
def open_archive(path: Path, what: str, cure: str = CURE) -> Iterator[Archive]:
    """The archive at `path`; what is wrong with it becomes one sentence that calls it `what`, and
    ends with the cure.
    """
    with open_zip(path, what, cure) as opened:
        yield Archive(opened)


@contextmanager
def open_zip(path: Path, what: str, cure: str = CURE) -> Iterator[zipfile.ZipFile]:
    """The zip at `path`; what is wrong with it becomes one sentence that calls it `what`, and ends
    with the cure.
    """
    with path.open("rb") as file:
        try:
            with zipfile.ZipFile(file) as opened:
                yield opened
        except Refused as error:
            raise ValueError(f"{path} {error}") from None
        except MemoryError:
            raise ValueError(
                f"{path} holds more than the memory of this machine; free some, or take a larger"
                " machine."
            ) from None
        except Exception as error:  # a damaged zip fails in many ways
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            raise ValueError(
                f"{path} is not {what}, or it is damaged ({reason.rstrip('.')}); {cure}."
            ) from error


class Refused(ValueError):
    """A reason not to read a file that is whole: the rest of a sentence that begins with a path."""


class Archive:
    """An open archive: its `manifest`, and the `headers` of its arrays by name."""

    def __init__(self, opened: zipfile.ZipFile) -> None:
        self._zip = opened
        names = member_names(opened)
        if MANIFEST not in names:
            raise ValueError(f"it has no {MANIFEST}")
        odd = next((name for name in names if name != MANIFEST and not name.endswith(".npy")), None)
        if odd is not None:
            raise ValueError(f"it has the member {odd!r}, which does not belong there")
        self.manifest = self._read_manifest()
        self.headers = {
            name.removesuffix(".npy"): self._header(name) for name in names if name != MANIFEST
        }

    def _read_manifest(self) -> Manifest:
        size = self._zip.getinfo(MANIFEST).file_size
        if size > MOST_MANIFEST:
            raise ValueError(f"its manifest has {size:,} bytes; at most {MOST_MANIFEST:,} are read")
        text = self._zip.read(MANIFEST).decode("utf-8")
        manifest = json.loads(text, object_pairs_hook=_without_twice, parse_constant=_no_number)
        if not isinstance(manifest, dict):
            raise ValueError("its manifest is not an object")
        return manifest

    def _header(self, name: str) -> Header:
        """Type and shape of an array, if the size of its member is what they make."""
        with self._zip.open(name) as file:
            header = _read_header(file, name)
            expected = file.tell() + n_bytes(header)
        claimed = self._zip.getinfo(name).file_size
        if claimed != expected:
            raise ValueError(f"{name} has {claimed:,} bytes; its header makes it {expected:,}")
        return header

    def read_all(self) -> dict[str, np.ndarray]:
        """All arrays, if contents are those that the manifest was written with.

        Ask only after all headers were found to be right.
        """
        needed = sum(map(n_bytes, self.headers.values()))
        if needed > free_memory():
            raise MemoryError
        arrays = {name: self._read(name) for name in self.headers}
        manifest = {key: value for key, value in self.manifest.items() if key != "sha256"}
        if self.manifest.get("sha256") != digest([manifest, arrays]):
            raise ValueError("its contents do not have the SHA-256 digest that its manifest states")
        return arrays

    def _read(self, name: str) -> np.ndarray:
        with self._zip.open(f"{name}.npy") as file:
            header = _read_header(file, name)
            array = np.empty(header.shape, header.dtype)
            if array.nbytes:
                into = array.reshape(-1).view(np.uint8).data
                while len(into):
                    n = file.readinto(into[:CHUNK])  # type: ignore[attr-defined]
                    if not n:
                        raise ValueError(f"{name} ends too early")
                    into = into[n:]
            if file.read(1):  # at the end the checksum is looked at
                raise ValueError(f"{name} does not end where it should")
        return array


def sealed(manifest: Manifest, arrays: dict[str, np.ndarray]) -> Manifest:
    """A manifest with the digest of itself and of all arrays: what was written is what is read."""
    return {**manifest, "sha256": digest([manifest, arrays])}


def member_names(opened: zipfile.ZipFile) -> list[str]:
    """Names of the members: not too many, none twice, none larger than the file can hold."""
    names = [entry.filename for entry in opened.infolist()]
    if len(names) > MOST_MEMBERS:
        raise ValueError(f"it has {len(names)} members")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"it has the member {twice!r} twice")
    for entry in opened.infolist():
        _refuse_impossible(entry)
    return names


def _refuse_impossible(entry: zipfile.ZipInfo) -> None:
    """Refuse a member that claims more than the bytes which the file has for it can hold."""
    if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{entry.filename!r} is packed in a way that topoi does not write")
    expansion = MOST_EXPANSION if entry.compress_type == zipfile.ZIP_DEFLATED else 1
    if entry.file_size > expansion * entry.compress_size:
        raise ValueError(
            f"{entry.filename!r} claims {entry.file_size:,} bytes, more than the file can hold"
        )


def _read_header(file: IO[bytes], name: str) -> Header:
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError(f"{name} has a header of another version")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
    if by_columns and len(shape) > 1:
        raise ValueError(f"{name} is written column by column")
    if dtype.hasobject or dtype.kind not in "biufU" or not dtype.isnative or dtype.itemsize == 0:
        raise ValueError(f"{name} holds {dtype}, not plain numbers or text")
    if any(isinstance(n, bool) or n < 0 for n in shape):
        raise ValueError(f"{name} has the shape {shape}")
    return Header(dtype, tuple(int(n) for n in shape))


def n_bytes(header: Header) -> int:
    """Size of an array."""
    size = header.dtype.itemsize
    for n in header.shape:
        size *= n  # as whole numbers of any size: nothing wraps around
    return size


def _without_twice(pairs: list[tuple[str, object]]) -> Manifest:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("its manifest has a key twice")
    return found


def _no_number(text: str) -> None:
    raise ValueError(f"its manifest holds {text}, which is not a number")


def write_archive(
    path: Path, manifest: Manifest, arrays: dict[str, np.ndarray], *, compress: bool = True
) -> None:
    """Write a manifest and arrays to one zip."""
    with atomic_write(path) as whole, zipfile.ZipFile(whole, "w") as archive:
        archive.writestr(
            _entry("manifest.json", compress), json.dumps(manifest, ensure_ascii=False)
        )
        for key, array in arrays.items():
            with archive.open(_entry(f"{key}.npy", compress), "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def _entry(name: str, compress: bool) -> zipfile.ZipInfo:
    """An entry of a zip with a fixed time, so that equal models are equal files."""
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    return entry
