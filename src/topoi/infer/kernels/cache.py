"""Compiled kernels on disk. A damaged file is compiled again; an unwritable folder stops no fit.

Numba keeps machine code in pickles. Reading one runs code, so topoi reads only from folders that
Numba itself takes: beside the source, in the user's cache folder, or in NUMBA_CACHE_DIR; never
from a shared temporary one.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache

__all__ = ["kernel_cache", "on_first_compilation"]


_listeners: list[Callable[[], None]] = []


def on_first_compilation(listener: Callable[[], None]) -> None:
    """Call a function, once, when a kernel of this process has to be compiled."""
    _listeners[:] = [listener]


def kernel_cache(function: Callable[..., Any]) -> FunctionCache | NullCache:
    """Where the compiled code of a kernel is kept.

    Parameters
    ----------
    function : Callable
        The kernel in Python.

    Returns
    -------
    FunctionCache or NullCache
        A cache on disk, or, with one warning, none if no folder can be written to.
    """
    try:
        return KernelCache(function)
    except RuntimeError:  # Numba has found no folder that it may write to
        _warn_uncached("no cache folder is writable")
        return NullCache()


class KernelCache(FunctionCache):
    """Numba's cache of one function, with files that are checked before they are read."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # Other names than Numba's own: it could not read these files.
        name, stamp = f"{self._impl.filename_base}-topoi", self._impl.locator.get_source_stamp()
        self._cache_file = CheckedFiles(self._cache_path, name, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code, or None: then it is compiled, and whoever asked is told once."""
        found = super().load_overload(sig, target_context)
        if found is None:
            while _listeners:
                _listeners.pop()()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code; a fit continues without it if it cannot be written."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _warn_uncached(f"{self._cache_path} could not be written to ({error.strerror})")


class CheckedFiles(IndexDataCacheFile):
    """Index and data of a kernel, each behind a digest.

    A file with a wrong digest is as good as absent.

    The digest also covers the version of Numba, whether indices are checked, and all sources that
    kernels are compiled from: Numba watches only the file of a kernel, and not those of the
    functions that become part of it.
    """

    def _load_index(self) -> dict[Any, str]:
        return self._read(self._index_path) or {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, overloads)

    def _load_data(self, name: str) -> Any:
        data = self._read(self._data_path(name))
        if data is None:
            raise FileNotFoundError(name)  # `load` takes it for a miss
        return data

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _read(self, path: str) -> Any:
        """The contents of a file, or None if it is missing, damaged, or made from other sources."""
        try:
            digest, content = _cut(Path(path).read_bytes())
            return pickle.loads(content) if digest == self._digest(content) else None
        except Exception:  # whatever it is, compiling again is right
            return None

    def _write(self, path: str, value: Any) -> None:
        content = self._dump(value)
        with self._open_for_write(path) as file:
            file.write(self._digest(content) + content)

    def _digest(self, content: bytes) -> bytes:
        checked: Any = config.BOUNDSCHECK  # type: ignore[attr-defined]
        made_by = repr((numba.__version__, checked, self._source_stamp, _shared_sources()))
        return hashlib.sha256(made_by.encode() + content).digest()


def _cut(sealed: bytes) -> tuple[bytes, bytes]:
    size = hashlib.sha256().digest_size
    return sealed[:size], sealed[size:]


@functools.cache
def _shared_sources() -> str:
    """A digest of the files that kernels take functions and arrays from."""
    folder = Path(__file__).parent
    arrays = [folder.parents[1] / package / "arrays.py" for package in ("graph", "infer")]
    digest = hashlib.sha256()
    for path in [*sorted(folder.glob("*.py")), *arrays]:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


@functools.cache
def _warn_uncached(reason: str) -> None:
    """Once for each reason, however many kernels there are."""
    warnings.warn(
        f"Compiled kernels are not kept: {reason}. Every process compiles them again; set"
        " NUMBA_CACHE_DIR to a folder of your own.",
        stacklevel=2,
    )
