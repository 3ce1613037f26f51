"""Objects whose large arrays lie in a file, from which they are mapped into memory.

The file holds nothing but numbers: what they belong to stays in this process, as a `Head`.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Head", "load_mapped", "save_mapped"]

ALIGNMENT = 64  # bytes


class Head(NamedTuple):
    """An object without its arrays, pickled, and where these are in the file."""

    rest: bytes
    places: list[tuple[int, int]]


def save_mapped(value: Any, path: Path) -> Head:
    """Write the arrays of an object one behind the other."""
    buffers: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    places = []
    with open(path, "wb") as file:
        for buffer in buffers:
            file.write(bytes(-file.tell() % ALIGNMENT))
            begin = file.tell()
            file.write(buffer.raw())
            places.append((begin, file.tell()))
        file.write(bytes(1))  # an empty file cannot be mapped
    return Head(rest, places)


def load_mapped(head: Head, path: Path) -> Any:
    """What `save_mapped` was given. Arrays are read-only, and in memory when they are looked at."""
    memory = np.memmap(path, mode="r").data
    return pickle.loads(head.rest, buffers=[memory[begin:end] for begin, end in head.places])
