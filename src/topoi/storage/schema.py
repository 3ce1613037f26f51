"""Schemas of files: what each array and value must be, as data.

A `Schema` names `Array` and `Value` entries. The same schema decides what is written and what is
read, so that nothing else gets into a file, or out of one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from topoi.storage.archive import Archive, Header

__all__ = [
    "BELOW_ONE",
    "LARGEST",
    "SMALLEST",
    "Array",
    "Contents",
    "Schema",
    "Value",
    "checked_csr",
    "choice",
    "decoded",
    "demand",
    "encoded",
    "flag",
    "number",
    "parted",
    "plain_text",
    "real",
    "whole",
]

BIG = 2**53  # whole numbers up to here are exact everywhere
SMALLEST, LARGEST = 1e-30, 1e30  # positive numbers that single precision can work with
BELOW_ONE = 1 - 1e-9  # the most that a link weight may be
ROW_TOLERANCE = 1e-3  # of rows that sum to 1; single precision and many topics
MOST_CODE = 0x10FFFF  # of a character

# Values and arrays of a file by name; its schema says what each of them is.
Contents: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Array:
    """An array: `types` as NumPy writes them ("f4 f8"; "U" is text), `shape` in named sizes.

    A size "D+1" is one more than D. low, high: bounds of its numbers, which are finite. to_one: its
    rows ("all": all its numbers) sum to 1. different: no two items are equal. A shape of None is
    any.
    """

    types: str
    shape: tuple[str | int, ...] | None
    low: float = -math.inf
    high: float = math.inf
    to_one: str = ""
    different: bool = False
    optional: bool = False

    def check_header(self, name: str, header: Header, sizes: dict[str, int]) -> None:
        """Type and shape. A size that is not known yet is learned."""
        kind = "U" if header.dtype.kind == "U" else f"{header.dtype.kind}{header.dtype.itemsize}"
        if kind not in self.types.split():
            raise ValueError(
                f"{name} holds {header.dtype}; expected {' or '.join(self.types.split())}"
            )
        if self.shape is None:
            return
        expected = tuple(
            _size(part, at, sizes) for part, at in zip(self.shape, header.shape, strict=False)
        )
        if len(header.shape) != len(self.shape) or header.shape != expected:
            raise ValueError(
                f"{name} has the shape {header.shape}; expected ({', '.join(map(str, self.shape))})"
                f" with {_told(sizes)}"
            )

    def check_content(self, name: str, array: np.ndarray) -> None:
        if array.dtype.kind == "U":
            if (
                array.size
                and np.ascontiguousarray(array).reshape(-1).view(np.uint32).max() > MOST_CODE
            ):
                raise ValueError(f"{name} holds what is not text")
        elif array.dtype.kind != "b" and array.size:
            with np.errstate(invalid="ignore"):
                low, high = array.min(), array.max()  # NaN, if one is in it
            if not (
                math.isfinite(low) and math.isfinite(high) and self.low <= low and high <= self.high
            ):
                raise ValueError(
                    f"{name} holds numbers from {low:g} to {high:g}; expected"
                    f" {_range(self.low, self.high)}"
                )
        if self.to_one:
            total = array.sum(axis=None if self.to_one == "all" else 1, dtype=np.float64)
            if not np.all(np.abs(total - 1) <= ROW_TOLERANCE):
                raise ValueError(
                    f"{name} does not sum to 1 in {'all' if self.to_one == 'all' else 'each row'}"
                )
        if self.different and len(set(array.tolist())) < len(array):
            raise ValueError(f"{name} holds an item twice")


@dataclass(frozen=True)
class Value:
    """A plain value: kind is "whole", "number", "float", "flag" or "text". choices: all it may be.

    A float is never written as a whole number: kernels are compiled for one type. Text without
    choices has at most `high` characters.
    """

    kind: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False  # may be None

    def check(self, name: str, value: object) -> None:
        if value is None and self.optional:
            return
        if not self._is_right(value):
            shown = repr(value) if len(repr(value)) < 80 else f"{repr(value)[:60]}…"
            raise ValueError(f"{name} is {shown}; expected {self._expected()}")

    def _is_right(self, value: object) -> bool:
        if self.kind == "flag":
            return isinstance(value, bool)
        if self.kind == "text":
            if not isinstance(value, str) or (self.choices and value not in self.choices):
                return False
            return self.high is None or len(value) <= self.high
        if isinstance(value, str):
            return value in self.choices
        kinds = {"whole": int, "float": float, "number": int | float}
        if isinstance(value, bool) or not isinstance(value, kinds[self.kind]):
            return False
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        return low <= value <= high and (isinstance(value, int) or math.isfinite(value))

    def _expected(self) -> str:
        if self.kind == "flag":
            return "true or false"
        if self.choices:
            number = (
                f", or a number in {_range(self.low, self.high)}" if self.kind == "number" else ""
            )
            return f"one of {', '.join(map(repr, self.choices))}{number}"
        if self.kind == "text":
            return "text" if self.high is None else f"text of at most {self.high} characters"
        return (
            f"a {'whole ' if self.kind == 'whole' else ''}number in {_range(self.low, self.high)}"
        )


Entry = Array | Value


@dataclass(frozen=True)
class Schema:
    """Entries by name. Names that begin alike, up to a dot, are a group, which is there or is not.

    may_lack: the groups that may be left out. An array that is optional may be left out by itself.
    """

    entries: Mapping[str, Entry]
    may_lack: frozenset[str] = frozenset()

    def check_names(self, values: Iterable[str], arrays: Iterable[str]) -> None:
        """Refuse contents that lack an entry, or have one that does not belong there."""
        here = {**dict.fromkeys(values, Value), **dict.fromkeys(arrays, Array)}
        for name, kind in here.items():
            if not isinstance(self.entries.get(name), kind):
                raise ValueError(f"it holds {name[:60]!r}, which does not belong there")
        groups = {name.partition(".")[0] for name in here if "." in name}
        for name, entry in self.entries.items():
            group, dot, _ = name.partition(".")
            left_out = bool(dot) and group in self.may_lack and group not in groups
            if (
                name not in here
                and not left_out
                and not (isinstance(entry, Array) and entry.optional)
            ):
                raise ValueError(f"{name} is missing")


def parted(schema: Schema, contents: Contents) -> tuple[Contents, dict[str, np.ndarray]]:
    """Values and arrays to write, as a schema names them. An array that is None is left out."""
    values: Contents = {}
    arrays: dict[str, np.ndarray] = {}
    for name, content in contents.items():
        if isinstance(schema.entries.get(name), Array):
            if content is not None:
                arrays[name] = _writable(content)
        else:
            values[name] = _plain(content, schema.entries.get(name))
    schema.check_names(values, arrays)
    return values, arrays


def encoded(schema: Schema, contents: Contents) -> tuple[Contents, dict[str, np.ndarray]]:
    """Values and arrays to write, each of them checked."""
    values, arrays = parted(schema, contents)
    sizes: dict[str, int] = {}
    for name, entry in schema.entries.items():
        if isinstance(entry, Value) and name in values:
            entry.check(name, values[name])
        elif isinstance(entry, Array) and name in arrays:
            entry.check_header(name, Header(arrays[name].dtype, arrays[name].shape), sizes)
            entry.check_content(name, arrays[name])
    return values, arrays


def decoded(schema: Schema, archive: Archive, sizes: Mapping[str, int] | None = None) -> Contents:
    """All values and arrays of a file, each of them checked.

    Every header is looked at before the first array is read. sizes: those that are known already.
    """
    values = archive.manifest.get("values")
    if not isinstance(values, dict):
        raise ValueError("its manifest holds no values")
    schema.check_names(values, archive.headers)
    known = dict(sizes or {})
    for name, entry in schema.entries.items():
        if isinstance(entry, Value) and name in values:
            entry.check(name, values[name])
        elif isinstance(entry, Array) and name in archive.headers:
            entry.check_header(name, archive.headers[name], known)
    arrays = archive.read_all()
    for name, entry in schema.entries.items():
        if isinstance(entry, Array) and name in arrays:
            entry.check_content(name, arrays[name])
    return {**values, **arrays}


def plain_text(content: Iterable[object]) -> np.ndarray:
    """Names, words or ids as an array; refused if they would not come back the same."""
    given = content.tolist() if isinstance(content, np.ndarray) else list(content)
    array = (
        content
        if isinstance(content, np.ndarray) and content.dtype.kind != "O"
        else np.array(given, dtype=None if given else str)
    )
    if array.ndim != 1 or array.dtype.kind not in "biufU" or array.tolist() != given:
        raise TypeError("names and ids must be all text or all numbers; make them so")
    return array


def checked_csr(
    name: str, indptr: np.ndarray, indices: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    """A sparse matrix of ones, if its places are in order and inside of `shape`."""
    ascending = indptr[0] == 0 and indptr[-1] == len(indices) and bool((np.diff(indptr) >= 0).all())
    demand(ascending, f"{name}.indptr is out of order")
    inside = not len(indices) or (indices.min() >= 0 and indices.max() < shape[1])
    demand(inside, f"{name}.indices has places outside of {shape}")
    table = sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=shape)
    demand(table.has_canonical_format, f"{name}.indices is out of order")
    return table


def demand(condition: object, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)


def _plain(content: object, entry: Entry | None) -> object:
    content = content.item() if isinstance(content, np.generic) else content
    return (
        float(content)
        if isinstance(entry, Value) and entry.kind == "float" and isinstance(content, int)
        else content
    )


def _writable(content: object) -> np.ndarray:
    array = np.ascontiguousarray(content)
    array = array.astype(array.dtype.newbyteorder("=")) if not array.dtype.isnative else array
    return array if array.dtype.itemsize else array.astype("U1")


def _size(part: str | int, at: int, sizes: dict[str, int]) -> int:
    """The number that a size stands for; `at` is what a header says, which a new size becomes."""
    if isinstance(part, int):
        return part
    name, _, more = part.partition("+")
    return sizes.setdefault(name, at - int(more or 0)) + int(more or 0)


def _told(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={n}" for name, n in sizes.items()) or "no size known"


def _range(low: float | None, high: float | None) -> str:
    return f"{-math.inf if low is None else low:g} to {math.inf if high is None else high:g}"


def whole(low: int = 0, high: int = BIG, *, optional: bool = False) -> Value:
    return Value("whole", low, high, optional=optional)


def number(
    low: float, high: float, *, choices: tuple[str, ...] = (), optional: bool = False
) -> Value:
    return Value("number", low, high, choices, optional)


def real(low: float, high: float, *, optional: bool = False) -> Value:
    return Value("float", low, high, optional=optional)


def choice(*choices: str, optional: bool = False) -> Value:
    return Value("text", choices=choices, optional=optional)


def flag(*, optional: bool = False) -> Value:
    return Value("flag", optional=optional)
