"""Memory of messages and tables."""

from __future__ import annotations

import mmap

import numpy as np

__all__ = ["allocate", "pad_topics", "release"]

AT_ONCE_FROM = 2**20  # numbers


def allocate(n: int, at_once: bool = True) -> np.ndarray:
    """(n,) float32 zeros.

    Much memory is asked for in one go: touched page by page, it costs as much time as several
    sweeps.
    """
    if n >= AT_ONCE_FROM and hasattr(mmap, "MAP_POPULATE"):
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (mmap.MAP_POPULATE if at_once else 0)
        try:
            return np.frombuffer(mmap.mmap(-1, 4 * n, flags=flags), np.float32)
        except OSError:  # NumPy says better what is wrong
            pass
    return np.zeros(n, np.float32)


def release(array: np.ndarray, begin: int, end: int) -> None:
    """Return the memory of array[begin:end], which is not needed any more, if `allocate` asked the
    system for it.
    """
    memory = getattr(array.base, "obj", array.base)
    if isinstance(memory, mmap.mmap):
        first = -(-4 * begin // mmap.PAGESIZE) * mmap.PAGESIZE
        last = 4 * end // mmap.PAGESIZE * mmap.PAGESIZE
        if last > first:
            memory.madvise(mmap.MADV_DONTNEED, int(first), int(last - first))


def pad_topics(table: np.ndarray, width: int) -> np.ndarray:
    """(rows, K) as single precision, with zeros for padding topics."""
    out = np.zeros((table.shape[0], width), np.float32)
    out[:, : table.shape[1]] = table
    return out
