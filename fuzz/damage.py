"""Damage to archives that leaves a valid zip with valid checksums.

Most kinds change what the file says; some change how it says it: sizes, headers, packing.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from fuzz.archives import Contents, npy

ODD_VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 7, 10**6, 2**31, 2**53, 2**63, 2**70, 10**400, -(2**63),
    0.0, 0.5, -0.5, 1.0, 1e-300, 1e30, 1e308,
    "", "x", "1", "learn", "bp", "gibbs", "auto", "<script>alert(1)</script>", "a" * 10_000,
    "\x1b[31m", "../x", "(a+)+$",
    [], [1], ["x"], [[]], {}, {"a": 1}, {"array": "components_"},
]  # fmt: skip
ODD_NUMBERS = [
    np.nan,
    np.inf,
    -np.inf,
    -1,
    0,
    1,
    2,
    0.5,
    1e-300,
    1e-30,
    1e12,
    1e30,
    1e300,
    2**31 - 1,
    2**62,
    -(2**31),
]
TYPES = [
    "f2",
    "f4",
    "f8",
    "i1",
    "i2",
    "i4",
    "i8",
    "u1",
    "u8",
    "b1",
    "U3",
    "S3",
    "c16",
    ">f8",
    ">i4",
    "M8[s]",
]
Kind = Callable[[Contents, np.random.Generator], str]
BOMB = 2**28  # bytes of an unused member


def damaged(
    whole: Contents,
    rng: np.random.Generator,
    choice: list[Kind] | None = None,
) -> tuple[str, Contents]:
    """A copy with one to three kinds of damage of a choice (default: all), and their names.

    Half have a valid digest.
    """
    choice = choice or KINDS
    contents = Contents(
        deepcopy(whole.manifest), {name: array.copy() for name, array in whole.arrays.items()}
    )
    kinds = [choice[i] for i in rng.integers(len(choice), size=rng.choice([1, 1, 1, 2, 3]))]
    said = [f"{kind.__name__}({kind(contents, rng)})" for kind in kinds]
    contents.seal = bool(rng.integers(2))
    return " ".join([*said, "sealed"] if contents.seal else said), contents


def _one(names: Any, rng: np.random.Generator) -> Any:
    return list(names)[rng.integers(len(names))]


def _values(contents: Contents) -> dict[str, Any]:
    values = contents.manifest.get("values") if isinstance(contents.manifest, dict) else None
    return values if isinstance(values, dict) and values else {"x": 0}


def change_value(contents: Contents, rng: np.random.Generator) -> str:
    values = _values(contents)
    name = _one(values, rng)
    values[name] = deepcopy(_one(ODD_VALUES, rng))
    return f"{name}={str(values[name])[:20]}"


def nudge_value(contents: Contents, rng: np.random.Generator) -> str:
    values = _values(contents)
    numbers = [
        name
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    if not numbers:
        return "nothing"
    name = _one(numbers, rng)
    values[name] = values[name] + _one([-1, 1, 2, 1000, 0.5], rng)
    return f"{name}={values[name]}"


def drop_value(contents: Contents, rng: np.random.Generator) -> str:
    values = _values(contents)
    name = _one(values, rng)
    del values[name]
    return name


def add_value(contents: Contents, rng: np.random.Generator) -> str:
    name = _one(
        [
            "n_features_in_",
            "n_jobs",
            "verbose",
            "callbacks",
            "_dtype",
            "__class__",
            "x",
            "by_words",
            *contents.arrays,
        ],
        rng,
    )
    _values(contents)[name] = _one(ODD_VALUES, rng)
    return name


def swap_values(contents: Contents, rng: np.random.Generator) -> str:
    values = _values(contents)
    one, other = _one(values, rng), _one(values, rng)
    values[one], values[other] = values[other], values[one]
    return f"{one},{other}"


def change_manifest(contents: Contents, rng: np.random.Generator) -> str:
    if not isinstance(contents.manifest, dict):
        return "nothing"
    key = _one([*contents.manifest, "more"], rng)
    if rng.random() < 0.3:
        contents.manifest.pop(key, None)
        return f"-{key}"
    classes = [
        "LDA",
        "LabeledLDA",
        "AuthorTopicModel",
        "RelationalTopicModel",
        "LatentDirichletAllocation",
        "TopicModel",
    ]
    contents.manifest[key] = _one([*ODD_VALUES, *classes], rng)
    return f"{key}={str(contents.manifest[key])[:20]}"


def change_text(contents: Contents, rng: np.random.Generator) -> str:
    changes: dict[str, Callable[[str], str]] = {
        "key twice": lambda text: text.replace(
            '"values": {', '"values": {"n_iter_": 1, "n_iter_": 2, ', 1
        ),
        "manifest twice": lambda text: text[:-1] + ', "values": {}}',
        "NaN": lambda text: text.replace(": 1", ": NaN", 1),
        "infinity": lambda text: text.replace(": 0", ": 1e999", 1),
        "deep": lambda text: text[:-1] + ', "deep": ' + "[" * 50_000 + "]" * 50_000 + "}",
        "many digits": lambda text: text.replace(": 1", ": 1" + "0" * 5_000, 1),
        "no object": lambda text: "[" + text + "]",
        "null": lambda text: "null",
        "empty": lambda text: "",
        "byte order mark": lambda text: "\ufeff" + text,
        "surrogate": lambda text: text.replace('"values"', '"\ud800"', 1),
        "spaces": lambda text: text + " " * 100,
        "long": lambda text: text + " " * 2**25,
    }
    name = _one(changes, rng)
    contents.text = changes[name]
    return name


def change_type(contents: Contents, rng: np.random.Generator) -> str:
    name, kind = _one(contents.arrays, rng), _one(TYPES, rng)
    try:
        contents.arrays[name] = contents.arrays[name].astype(kind)
    except (ValueError, TypeError, SystemError):  # SystemError: bad text
        contents.arrays[name] = np.zeros(contents.arrays[name].shape, kind)
    return f"{name}:{kind}"


def change_shape(contents: Contents, rng: np.random.Generator) -> str:
    name = _one(contents.arrays, rng)
    array = contents.arrays[name]
    axis = int(rng.integers(max(array.ndim, 1)))
    change = _one(
        ["transpose", "shorter", "longer", "flat", "deeper", "empty", "one", "scalar"], rng
    )
    longer = (
        np.concatenate([array, array.take([0], axis)], axis) if array.size and array.ndim else array
    )
    shapes: dict[str, Callable[[], np.ndarray]] = {
        "transpose": lambda: array.T,
        "shorter": lambda: (
            array.take(range(max(array.shape[axis] - 1, 0)), axis) if array.ndim else array
        ),
        "longer": lambda: longer,
        "flat": lambda: array.ravel(),
        "deeper": lambda: array[None],
        "empty": lambda: array[:0] if array.ndim else array,
        "one": lambda: array[:1] if array.ndim else array,
        "scalar": lambda: np.zeros((), array.dtype),
    }
    contents.arrays[name] = np.ascontiguousarray(shapes[change]()).reshape(shapes[change]().shape)
    return f"{name} {change} {axis}"


def change_sizes(contents: Contents, rng: np.random.Generator) -> str:
    """Every axis of one length becomes longer or shorter, in all arrays: a consistent lie."""
    lengths = sorted({n for array in contents.arrays.values() for n in array.shape if n})
    if not lengths:
        return "nothing"
    old, by = _one(lengths, rng), int(_one([-1, 1], rng))
    for name, array in contents.arrays.items():
        for axis, n in enumerate(array.shape):
            if n == old:
                array = array.take(np.minimum(np.arange(n + by), n - 1), axis)
        contents.arrays[name] = array
    return f"{old}{by:+d}"


def change_numbers(contents: Contents, rng: np.random.Generator) -> str:
    name = _one(contents.arrays, rng)
    array = contents.arrays[name]
    if not array.size or array.ndim == 0:
        return "nothing"
    value = _one(ODD_NUMBERS, rng)
    places = rng.integers(array.size, size=_one([1, 1, 3, array.size], rng))
    with np.errstate(all="ignore"):
        if array.dtype.kind in "iub":
            array.reshape(-1)[places] = np.int64(
                0 if not np.isfinite(value) else max(min(value, 2**62), -(2**62))
            ).astype(array.dtype)
        elif array.dtype.kind == "f":
            array.reshape(-1)[places] = value
        elif array.dtype.kind == "U":
            array.reshape(-1)[places] = _one(["", "x", "\x1b]52;c;x", "<b>", "relaxed"], rng)
    return f"{name}={value}"


def nudge_numbers(contents: Contents, rng: np.random.Generator) -> str:
    name = _one(contents.arrays, rng)
    array = contents.arrays[name]
    if not array.size or array.dtype.kind not in "iuf" or array.ndim == 0:
        return "nothing"
    places = rng.integers(array.size, size=_one([1, 2], rng))
    with np.errstate(all="ignore"):
        array.reshape(-1)[places] += (
            array.dtype.type(_one([1, -1, 2, 1000], rng)) if array.dtype.kind != "u" else 1
        )
    return name


def shuffle(contents: Contents, rng: np.random.Generator) -> str:
    name = _one(contents.arrays, rng)
    array = contents.arrays[name]
    if array.ndim:
        contents.arrays[name] = (
            array[rng.permutation(len(array))] if rng.integers(2) else array[::-1].copy()
        )
    return name


def bad_text(contents: Contents, rng: np.random.Generator) -> str:
    """Numbers that are no characters, in an array of text."""
    texts = [
        name
        for name, array in contents.arrays.items()
        if array.dtype.kind == "U" and array.size and array.ndim
    ]
    if not texts:
        return "nothing"
    name = _one(texts, rng)
    array = np.ascontiguousarray(contents.arrays[name])
    array.reshape(-1).view(np.uint32)[0] = _one([0x110000, 0xFFFFFFFF, 0xD800, 0], rng)
    contents.members[name] = npy(array)
    return name


def swap_arrays(contents: Contents, rng: np.random.Generator) -> str:
    one, other = _one(contents.arrays, rng), _one(contents.arrays, rng)
    contents.arrays[one], contents.arrays[other] = contents.arrays[other], contents.arrays[one]
    return f"{one},{other}"


def drop_array(contents: Contents, rng: np.random.Generator) -> str:
    name = _one(contents.arrays, rng)
    if len(contents.arrays) > 1:
        del contents.arrays[name]
    return name


def add_array(contents: Contents, rng: np.random.Generator) -> str:
    name = _one(
        [
            "x",
            "n_features_in_",
            "components_ ",
            "../up",
            "/root/x",
            "links_.data",
            "_online.evidence",
            "lists.indptr",
        ],
        rng,
    )
    contents.arrays[name] = _one(list(contents.arrays.values()), rng).copy()
    return name


def add_member(contents: Contents, rng: np.random.Generator) -> str:
    name = _one(["readme.txt", "code.py", "MANIFEST.JSON", "x.npz"], rng)
    contents.members[name] = b"hello"
    return name


def repeat(contents: Contents, rng: np.random.Generator) -> str:
    name = _one(["manifest", *contents.arrays], rng)
    contents.twice.append(name)
    return name


def lie_in_header(contents: Contents, rng: np.random.Generator) -> str:
    name = _one(contents.arrays, rng)
    array = contents.arrays[name]
    lies: dict[str, Callable[[], bytes]] = {
        "more rows": lambda: npy(
            array, shape=(array.shape[0] + 1 if array.ndim else 1, *array.shape[1:])
        ),
        "huge": lambda: npy(array, shape=(2**40, *array.shape[1:])),
        "wraps around": lambda: npy(array, shape=(2**32, 2**32)),
        "negative": lambda: npy(array, shape=(-1, *array.shape[1:])),
        "by columns": lambda: npy(array, fortran_order=True),
        "cut": lambda: npy(array)[: -max(array.nbytes // 2, 1)],
        "more": lambda: npy(array) + b"\0" * 8,
        "object": lambda: npy(array, descr="|O"),
        "long text": lambda: npy(array, descr="<U1000000000"),
        "record": lambda: npy(array, descr=[("a", "<f8")]),
        "no text": lambda: npy(array, descr="<U0"),
        "version": lambda: b"\x93NUMPY\x03\x00" + npy(array)[8:],
        "magic": lambda: b"\x93NUMPX" + npy(array)[6:],
        "empty": lambda: b"",
        "nested": lambda: b"\x93NUMPY\x01\x00" + struct.pack("<H", 9_000) + b"(" * 9_000,
    }
    lie = _one(lies, rng)
    contents.members[name] = lies[lie]()
    return f"{name} {lie}"


def change_packing(contents: Contents, rng: np.random.Generator) -> str:
    """Claims of the zip itself, in its directory."""
    changes: dict[str, Callable[[bytes], bytes]] = {
        "encrypted": lambda data: _in_directory(data, 8, struct.pack("<H", 1), rng),
        "other method": lambda data: _in_directory(
            data, 10, struct.pack("<H", int(_one([8, 12, 14, 99], rng))), rng
        ),
        "larger": lambda data: _in_directory(data, 24, struct.pack("<I", 2**31 - 5), rng),
        "smaller": lambda data: _in_directory(data, 24, struct.pack("<I", 1), rng),
        "both larger": lambda data: _in_directory(
            data, 20, struct.pack("<II", 2**31 - 5, 2**31 - 5), rng
        ),
        "elsewhere": lambda data: _in_directory(data, 42, struct.pack("<I", 3), rng),
        "checksum": lambda data: _in_directory(data, 16, struct.pack("<I", 12345), rng),
        "cut": lambda data: data[: int(rng.integers(len(data)))],
        "comment": lambda data: data[:-2] + struct.pack("<H", 5) + b"hello",
        "before": lambda data: b"#!/bin/sh\n" + data,
        "bomb": _with_bomb,
    }
    name = _one(changes, rng)
    contents.packing = changes[name]
    return name


def _in_directory(data: bytes, offset: int, new: bytes, rng: np.random.Generator) -> bytes:
    """Replace bytes in the directory entry of one member."""
    entries = []
    at = data.find(b"PK\x01\x02")
    while at >= 0:
        entries.append(at)
        at = data.find(b"PK\x01\x02", at + 4)
    at = _one(entries, rng) + offset
    return data[:at] + new + data[at + len(new) :]


def _with_bomb(data: bytes) -> bytes:
    """The zip with an unused member of many zeros."""
    out = io.BytesIO(data)
    with (
        zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("unused.npy", "w") as file,
    ):
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            header, {"descr": "|u1", "fortran_order": False, "shape": (BOMB,)}
        )
        file.write(header.getvalue())
        for _ in range(BOMB // 2**20):
            file.write(bytes(2**20))
    return out.getvalue()


KINDS: list[Kind] = [
    change_value, change_value, nudge_value, drop_value, add_value, swap_values, change_manifest,
    change_text,
    change_type, change_shape, change_shape, change_sizes, change_numbers, change_numbers,
    change_numbers, nudge_numbers, shuffle,
    bad_text, swap_arrays, drop_array, add_array, add_member, repeat, lie_in_header, lie_in_header,
    change_packing,
]  # fmt: skip

# Of files without a manifest.
ARRAY_KINDS: list[Kind] = [
    change_type, change_shape, change_shape, change_sizes, change_numbers, change_numbers,
    change_numbers, nudge_numbers, shuffle, bad_text, swap_arrays, drop_array, add_array,
    add_member,
    repeat, lie_in_header, lie_in_header, change_packing,
]  # fmt: skip
