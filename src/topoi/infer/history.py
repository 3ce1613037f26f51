"""The history of a run: a record for each sweep; as the columns of a file, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from topoi.storage.schema import LARGEST, Array

__all__ = ["HISTORY", "Callback", "Record", "columns", "records"]


@dataclass(frozen=True)
class Record:
    """One sweep. perplexity is None in sweeps that were not measured."""

    sweep: int
    seconds: float
    # mean change of a message, weighted by tokens: 0 (converged) to 2; of topic proportions while
    # messages are not stored
    residual: float
    perplexity: float | None
    schedule: str = ""  # how the sweep was made: what "auto" chose


# of the state, or of the model in mini-batches; a true answer stops the run
Callback = Callable[[Any, Record], object]

HISTORY = {  # of a run, one column per field of Record; a perplexity of -1 was not measured
    "int": Array("i8", ("H",), 1, 2**53),
    "float": Array("f8", ("H",), 0, LARGEST),
    "float | None": Array("f8", ("H",), -1, LARGEST),
    "str": Array("U", ("H",)),
}


def columns(history: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """A history as one array per field of its records."""
    kinds = {"int": np.int64, "float": np.float64, "float | None": np.float64, "str": np.str_}
    return {
        field.name: np.array(
            [_measured(record[field.name]) for record in history], dtype=kinds[str(field.type)]
        )
        for field in fields(Record)
    }


def _measured(value: Any) -> Any:
    return -1.0 if value is None or (isinstance(value, float) and not np.isfinite(value)) else value


def records(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The history that `columns` took apart."""
    may_be_none = {field.name for field in fields(Record) if str(field.type) == "float | None"}
    names = [field.name for field in fields(Record)]
    rows = zip(*(found[f"history_.{name}"].tolist() for name in names), strict=True)
    history = [dict(zip(names, row, strict=True)) for row in rows]
    return [
        {key: None if key in may_be_none and value < 0 else value for key, value in record.items()}
        for record in history
    ]
