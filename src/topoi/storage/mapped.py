"""Objects with large arrays in files of this process: the arrays are mapped into memory.

They are pickled, so only for folders that nobody else can write to.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["load_mapped", "save_mapped"]

ALIGNMENT = 64  # bytes


def save_mapped(value: Any, path: Path) -> None:
    """Write arrays one behind the other, and the rest beside them (`path` with ".head"): the arrays
    come first, so a file that has a head is whole.
    """
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    places = []
    with open(path, "wb") as file:
        for buffer in buffers:
            file.write(bytes(-file.tell() % ALIGNMENT))
            begin = file.tell()
            file.write(buffer.raw())
            places.append((begin, file.tell()))
        file.write(bytes(1))  # an empty file cannot be mapped
    path.with_suffix(".head").write_bytes(pickle.dumps((places, head)))


def load_mapped(path: Path) -> Any:
    """What `save_mapped` wrote. Arrays are read-only, and in memory when they are looked at."""
    places, head = pickle.loads(path.with_suffix(".head").read_bytes())
    memory = np.memmap(path, mode="r").data
    return pickle.loads(head, buffers=[memory[begin:end] for begin, end in places])
