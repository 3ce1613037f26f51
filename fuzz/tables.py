"""Damage to Parquet and .h5ad files: other types, values and shapes, or changed bytes."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.text_damage import add_tail, cut, flip_bytes, one, replace_all

Rng = np.random.Generator
BIG = 2**40


def parquet_bytes(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def odd_columns(n: int) -> dict[str, pa.Array]:
    """Columns of other types."""
    texts = ["é", "x", None, "a;b"]
    return {
        "numbers": pa.array(range(n)),
        "fractions": pa.array([0.5, float("nan"), float("inf"), 1e300][:n]),
        "nulls": pa.nulls(n),
        "bytes": pa.array([b"\xff\xfe", b"a", None, b""][:n]),
        "bad text": pa.array([b"\xff\xfe", b"a", b"b", b"c"][:n]).view(pa.string()),
        "lists": pa.array([["a", "b"], [], None, [None]][:n]),
        "nested lists": pa.array([[["a"]], [], None, [[]]][:n]),
        "records": pa.array([{"a": 1}] * n),
        "maps": pa.array([[("a", 1)]] * n, pa.map_(pa.string(), pa.int64())),
        "dictionary": pa.array(texts[:n]).dictionary_encode(),
        "late dates": pa.array([2**40] * n, pa.timestamp("s")),
        "nanoseconds": pa.array([1] * n, pa.timestamp("ns")),
        "zone": pa.array([1] * n, pa.timestamp("s", tz="Nowhere/Land")),
        "durations": pa.array([2**60] * n, pa.duration("s")),
        "days": pa.array([2**31 - 1] * n, pa.date32()),
        "decimals": pa.array([10**30] * n, pa.decimal128(38, 0)),
        "flags": pa.array([True, False, None, True][:n]),
        "same": pa.array(["x"] * n),
        "large text": pa.array(texts[:n], pa.large_string()),
    }


def damage_parquet(whole: bytes, rng: Rng) -> tuple[str, bytes]:
    """Other columns, or changed bytes."""
    if rng.random() < 0.4:
        kind = one([flip_bytes, flip_bytes, flip_bytes, cut, add_tail, replace_all], rng)
        return kind.__name__, kind(whole, rng)
    table = pq.read_table(io.BytesIO(whole))
    column = int(rng.integers(table.num_columns))
    name = table.column_names[column]
    kind = one(["type", "type", "type", "drop", "twice", "rename", "rows", "empty"], rng)
    if kind == "type":
        odd = odd_columns(table.num_rows)
        kind = one(list(odd), rng)
        table = table.set_column(column, name, odd[kind])
    elif kind == "drop":
        table = table.drop_columns([name])
    elif kind == "twice":
        table = table.append_column(one(table.column_names, rng), table.column(column))
    elif kind == "rename":
        names = table.column_names
        names[column] = one(["", "TEXT", "x", "\x1b[31m"], rng)
        table = table.rename_columns(names)
    elif kind == "rows":
        table = (
            pa.concat_tables([table, table])
            if rng.random() < 0.5
            else table.take(rng.integers(table.num_rows, size=3))
        )
    else:
        table = table.slice(0, int(rng.integers(2)))
    return f"{name} {kind}", parquet_bytes(table)


def damage_h5ad(whole: bytes, rng: Rng) -> tuple[str, bytes]:
    """Other datasets and attributes, or a file that is cut or not HDF5.

    No random bytes: the HDF5 library itself crashes on some of them.
    """
    if rng.random() < 0.2:
        kind = one([cut, add_tail, replace_all], rng)
        return kind.__name__, kind(whole, rng)
    out = io.BytesIO(whole)
    with h5py.File(out, "r+") as file:
        names: list[str] = []
        file.visit(names.append)
        name = one(names, rng)
        kinds = [_drop, _replace, _replace, _replace, _attribute, _attribute, _number]
        change: Callable[[h5py.File, str, Rng], str] = one(kinds, rng)
        said = change(file, name, rng)
    return f"{name} {said}", out.getvalue()


def _drop(file: h5py.File, name: str, rng: Rng) -> str:
    del file[name]
    return "dropped"


def _replace(file: h5py.File, name: str, rng: Rng) -> str:
    attributes = dict(file[name].attrs)
    del file[name]
    kind = one(
        ["claims", "scalar", "text", "negative", "long", "short", "float", "group", "nan", "two"],
        rng,
    )
    content: dict[str, Any] = {
        "scalar": 3, "text": "x", "negative": np.full(5, -1), "long": np.arange(100),
        "short": np.zeros(1, int), "float": np.ones(5) / 3, "nan": np.full(5, np.nan),
        "two": np.ones((4, 4)),
    }  # fmt: skip
    if kind == "claims":
        file.create_dataset(name, (BIG,), "i8", chunks=(1024,))
    elif kind == "group":
        file.create_group(name)
    else:
        file[name] = content[kind]
    for key, value in attributes.items():
        file[name].attrs[key] = value
    return kind


def _attribute(file: h5py.File, name: str, rng: Rng) -> str:
    with_attributes = [item for item in (name, *file) if len(file[item].attrs)]
    attributes = file[one(with_attributes, rng)].attrs if with_attributes else file.attrs
    if not len(attributes):
        return "no attributes"
    key = one(list(attributes), rng)
    if rng.random() < 0.3:
        del attributes[key]
        return f"-{key}"
    attributes[key] = one(
        [
            "",
            "x",
            "array",
            "csc_matrix",
            5,
            -1,
            [BIG, BIG],
            [4, BIG],
            [BIG, 4],
            [-1, 4],
            [4, 3],
            [1.5, 2],
            "9.9.9",
        ],
        rng,
    )
    return key


def _number(file: h5py.File, name: str, rng: Rng) -> str:
    arrays = [item for item in ("X/data", "X/indices", "X/indptr") if item in file]
    if not arrays:
        return "no numbers"
    item = one(arrays, rng)
    array = file[item][...]
    array.reshape(-1)[rng.integers(array.size)] = one([-1, 0, 1, 2, 3, 7, 2**31 - 1], rng)
    file[item][...] = array
    return f"{item} number"
