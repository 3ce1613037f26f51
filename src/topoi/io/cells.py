"""Cells of tables: the text, date or names that a cell holds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, cast

import numpy as np

from topoi.corpus.checks import refuse_masked
from topoi.corpus.dates import EXPECTED_DATES, canonical_date
from topoi.io.lines import composed

__all__ = ["as_date", "as_id", "as_list", "as_names", "as_text", "missing"]


def missing(value: object) -> bool:
    """None, NaN, or pandas' NA."""
    return value is None or (
        not isinstance(value, str | list | tuple | np.ndarray)
        and (str(value) in ("nan", "<NA>", "NaT"))
    )


def as_list(values: Any) -> list[object]:
    refuse_masked(values, "The list")
    return list(values.to_list() if hasattr(values, "to_list") else values)


def as_text(row: Mapping[str, object], column: str, where: str) -> str:
    if column not in row:
        raise ValueError(
            f"{where}: there is no {column!r}; every document needs its text, if only an empty one."
        )
    value = row[column]
    if missing(value):
        return ""
    if not isinstance(value, str):
        cure = (
            " Bags of words are read by topoi.io.formats.from_gensim(bags, dictionary)."
            if isinstance(value, list | tuple)
            else ""
        )
        raise ValueError(
            f"{where}: {column!r} holds a {type(value).__name__}, {str(value)[:40]!r}; expected"
            f" text.{cure}"
        )
    return composed(value)


def as_id(value: object, where: str, first_with: dict[str, str]) -> str:
    """The name of a document as text; no two documents may share one."""
    name = "" if missing(value) else _plain(value, where)
    if not name:
        raise ValueError(f"{where}: its name is missing; every document needs one.")
    if name in first_with:
        raise ValueError(
            f"{where}: the name {name!r} is taken by {first_with[name]}; every document needs"
            " one of its own."
        )
    first_with[name] = where
    return name


def as_date(value: object, where: str) -> str:
    """The date in its one form; refused where it is not one."""
    made = canonical_date(value)
    if made is None:
        raise ValueError(f"{where}: {str(value)[:40]!r} is not a date; {EXPECTED_DATES}")
    return made


def as_names(value: object, separator: str, where: str) -> list[str]:
    """Several names in one cell: a list, a JSON list, or text with separators."""
    if missing(value):
        return []
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("[") and text.endswith("]"):
            with suppress(ValueError, RecursionError):  # text that only looks like a list
                value = json.loads(text)
    if isinstance(value, str):
        parts: Iterable[object] = value.strip().split(separator)
    else:
        single = isinstance(value, bytes | Mapping) or not isinstance(value, Iterable)
        parts = [value] if single else cast("Iterable[object]", value)
    names = [_plain(part, where) for part in parts if not missing(part)]
    return list(dict.fromkeys(name for name in names if name))


def _plain(value: object, where: str) -> str:
    """A cell as text; 3.0 is 3, as frames turn whole numbers with gaps into floats."""
    if isinstance(value, bytes | Mapping | list | tuple | np.ndarray):
        got = f"a {type(value).__name__}, {str(value)[:40]!r}"
        raise ValueError(f"{where}: holds {got}, where a name or a date is due; give text.")
    return (
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
    )
