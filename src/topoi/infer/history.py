"""The history of a run: a record for each sweep; as the columns of a file, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, cast

import numpy as np

from topoi.storage.schema import LARGEST, Array, Contents

__all__ = ["HISTORY", "Callback", "Measured", "Record", "columns", "records"]


@dataclass(frozen=True)
class Record:
    """One sweep. perplexity and log_joint are None in sweeps that were not measured."""

    sweep: int
    seconds: float
    # mean change of a message, weighted by tokens: 0 (converged) to 2; of topic proportions while
    # messages are not stored; of what words hold, where documents are read block by block
    residual: float
    perplexity: float | None
    schedule: str = ""  # how the sweep was made: what "auto" chose
    # the largest violation of the fixed-point equations: how far the messages of one document (of
    # one word, where words are visited, or documents are read block by block) are from their
    # updates, per token; 0 (converged) to 2
    violation: float = 0.0
    log_joint: float | None = None  # log P(x, z), eq. 1, if evaluate.LogJoint measures it


class Measured(TypedDict):
    """A Record as an entry of `history_`."""

    sweep: int
    seconds: float
    residual: float
    perplexity: float | None
    schedule: str
    violation: float
    log_joint: float | None


# of the state (of the model, where documents are in mini-batches or on a cluster); a true answer
# stops the run
Callback = Callable[[Any, Record], object]

HISTORY = {  # of a run, one column per field of Record
    "sweep": Array("i8", ("H",), 1, 2**53),
    "seconds": Array("f8", ("H",), 0, LARGEST),
    "residual": Array("f8", ("H",), 0, LARGEST),
    "perplexity": Array("f8", ("H",), -1, LARGEST),
    "schedule": Array("U", ("H",)),
    "violation": Array("f8", ("H",), 0, LARGEST),
    "log_joint": Array("f8", ("H",), -LARGEST, 1),
}
UNMEASURED = {"perplexity": -1.0, "log_joint": 1.0}  # in files; a measurement has the other sign


def columns(history: Sequence[Mapping[str, object]]) -> dict[str, np.ndarray]:
    """A history as one array per field of its records."""
    kinds = {"U": np.str_, "i8": np.int64, "f8": np.float64}
    return {
        name: np.array(
            [_written(name, record[name]) for record in history], dtype=kinds[kind.types]
        )
        for name, kind in HISTORY.items()
    }


def _written(name: str, value: object) -> object:
    unknown = value is None or (isinstance(value, float) and not np.isfinite(value))
    return UNMEASURED.get(name, -1.0) if unknown else value


def records(found: Contents) -> list[Measured]:
    """The history that `columns` took apart."""
    rows = zip(*(found[f"history_.{name}"].tolist() for name in HISTORY), strict=True)
    return [
        cast(
            "Measured",
            {
                name: None if name in UNMEASURED and value * UNMEASURED[name] > 0 else value
                for name, value in zip(HISTORY, row, strict=True)
            },
        )
        for row in rows
    ]
