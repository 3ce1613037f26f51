"""Digests of values: different where a type, a length or an item differs."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

__all__ = ["digest"]


class HashLike(Protocol):
    """What hashlib makes."""

    def update(self, data: bytes, /) -> None: ...


def digest(value: object) -> str:
    """SHA-256 of a value made of numbers, text, arrays, sparse matrices, lists and dictionaries.

    A tuple is a list here, a NumPy number is a number, and the order of a dictionary or set does
    not count. Anything else counts by its type and by what it prints as.
    """
    hashed = hashlib.sha256()
    _add(value, hashed)
    return hashed.hexdigest()


def _add(value: object, hashed: HashLike) -> None:
    """Add a tag of the type, a length, and the bytes or items: no value runs into the next."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        _bytes("constant", repr(value).encode(), hashed)
    elif isinstance(value, int):
        _bytes("int", value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True), hashed)
    elif isinstance(value, float):
        _bytes("float", value.hex().encode(), hashed)
    elif isinstance(value, str):
        _bytes("str", value.encode("utf-8", "surrogatepass"), hashed)
    elif isinstance(value, bytes):
        _bytes("bytes", value, hashed)
    elif sparse.issparse(value):
        table = sparse.csr_array(value)
        _items("sparse", [table.shape, table.data, table.indices, table.indptr], hashed)
    elif isinstance(value, np.ndarray) and value.dtype.kind != "O":
        _items("array", [value.dtype.str, value.shape], hashed)
        flat = np.ascontiguousarray(value).reshape(-1)
        hashed.update(flat.view(np.uint8) if value.nbytes else b"")  # type: ignore[arg-type]
    elif isinstance(value, list | tuple | np.ndarray):
        _items("list", value, hashed)
    elif isinstance(value, Mapping):
        _items("dict", sorted((digest(key), digest(item)) for key, item in value.items()), hashed)
    elif isinstance(value, set | frozenset):
        _items("set", sorted(digest(item) for item in value), hashed)
    elif is_dataclass(value) and not isinstance(value, type):
        of = {field.name: getattr(value, field.name) for field in fields(value)}
        _items("dataclass", [type(value).__name__, of], hashed)
    else:
        text = repr(value)
        said = "" if " at 0x" in text else text  # an address says nothing
        _items("object", [type(value).__name__, said], hashed)


def _bytes(tag: str, content: bytes, hashed: HashLike) -> None:
    hashed.update(f"{tag} {len(content)}:".encode())
    hashed.update(content)


def _items(tag: str, items: Collection[object] | np.ndarray, hashed: HashLike) -> None:
    hashed.update(f"{tag} {len(items)}:".encode())
    for item in items:
        _add(item, hashed)
