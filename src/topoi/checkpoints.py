"""Checkpoints: a run that was killed goes on from its last saved sweep, and ends in the same bits as if nothing had happened.

A checkpoint holds what changes while messages move. The graph is built again from the same data, which a fingerprint makes sure of.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from topoi import storage
from topoi.graph.wiring import Graph, Plan
from topoi.infer.bundles import Fields, Flow, Focus, Tables
from topoi.infer.monitor import Monitor, Record
from topoi.infer.schedules import BRISK
from topoi.infer.state import State

__all__ = ["Checkpoint"]

FORMAT = 1
FREE = ("callbacks", "init", "max_iter", "n_jobs", "random_state", "verbose")  # parameters that may differ when a run goes on


class Checkpoint:
    """The file of one run, saved every `every` sweeps (batches, if it learns in batches). If it exists already, it must be of the same model, data and version of topoi."""

    def __init__(self, path: str | Path, every: int, model: Any, plan: Plan, start: np.ndarray | None) -> None:
        if not isinstance(every, int | np.integer) or every < 1:
            raise ValueError(f"checkpoint_every is {every!r}; expected a whole number of at least 1.")
        self.path, self.every = Path(path), int(every)
        if not self.path.parent.is_dir():
            raise ValueError(f"{self.path} cannot be written: there is no folder {self.path.parent}.")
        self.fingerprint = _fingerprint(model, plan, start)
        self.saved: dict[str, Any] | None = self._read() if self.path.exists() else None

    def _read(self) -> dict[str, Any]:
        manifest, arrays = storage.read_archive(self.path, "a checkpoint of topoi")
        if "fingerprint" not in manifest or manifest.get("format") != FORMAT:
            raise ValueError(f"{self.path} is no checkpoint of this version of topoi; give another file.")
        if manifest["fingerprint"] != self.fingerprint:
            raise ValueError(
                f"{self.path} is the checkpoint of another run: its model, documents, parameters or version of topoi differ. "
                "Delete it to start afresh, or give another file."
            )
        return {key: storage.decode(value, arrays) for key, value in manifest["values"].items()}

    @property
    def seed(self) -> int | None:
        """The seed of the saved run, if there is one that waits to go on."""
        return None if self.saved is None else self.saved["seed"]

    def restore(self, graph: Graph, monitor: Monitor) -> State | None:
        """The state and history of the saved run on `graph`, or None if nothing was saved yet."""
        saved, self.saved = self.saved, None  # its arrays live on in the state only
        if saved is None:
            return None
        if saved["lists"] is not None:
            graph = graph.with_lists(saved["lists"])
        if saved["by_words"]:
            graph, _ = graph.by_words()
        for field, values in zip(graph.plan.fields, saved["fields"], strict=True):
            vars(field).update(values)
        monitor.resume([Record(**record) for record in saved["history"]])
        return State(
            graph, saved["alpha"], saved["beta"], saved["seed"], Tables(**saved["tables"]), Flow(**saved["flow"]), saved["known"],
            Fields(**saved["heard"]), stored=saved["stored"], sweep=saved["sweep"],
            focus=None if saved["focus"] is None else Focus(**saved["focus"]),
        )  # fmt: skip

    def save(self, state: State, monitor: Monitor) -> None:
        """Write the run as it stands, if it is time."""
        if state.sweep % self.every:
            return
        wires, shape = state.graph.wires, (state.graph.n_docs, state.graph.n_topics)
        lists = sparse.csr_array((np.ones(len(wires.topics), np.int8), wires.topics, wires.topic_ptr), shape=shape)
        values = {
            "sweep": state.sweep,
            "seed": state.seed,
            "stored": state.stored,
            "alpha": state.alpha,
            "beta": state.beta,
            "known": state.known,
            "tables": state.tables._asdict(),
            "flow": state.flow._asdict(),
            "focus": None if state.focus is None else state.focus._asdict(),
            "by_words": state.graph.turned is not None,
            "lists": lists if state.graph.listed else None,
            "heard": state.fields._asdict(),
            "fields": [_values(field) for field in state.graph.plan.fields],
            "history": monitor.table(),
        }
        self.write(values)

    def write(self, values: dict[str, Any]) -> None:
        """Replace the file by these values."""
        arrays: dict[str, np.ndarray] = {}
        encoded = {key: storage.encode(value, key, arrays) for key, value in values.items()}
        storage.write_archive(self.path, {"format": FORMAT, "fingerprint": self.fingerprint, "values": encoded}, arrays, compress=False)

    def finish(self) -> None:
        """The run is at its end: nothing is left to go on with."""
        self.path.unlink(missing_ok=True)


def _values(field: Any) -> dict[str, Any]:
    """What a field has learned, as numbers and arrays. Its links are data, which the fingerprint covers."""
    return {key: value for key, value in vars(field).items() if isinstance(value, int | float | np.ndarray | np.generic)}


def _fingerprint(model: Any, plan: Plan, start: np.ndarray | None) -> str:
    """A digest of everything that decides the bits of a run."""
    from topoi import __version__

    fixed = {key: value for key, value in model.get_params(deep=False).items() if key not in FREE and key != "factors"}
    seed = model.random_state if isinstance(model.random_state, int | np.integer) else None
    init = model.init if isinstance(model.init, str) else None
    parts: list[Any] = [__version__, type(model).__name__, sorted(fixed.items()), seed, init, start]
    parts += [min(model.max_iter, 2 * len(BRISK))]  # fewer sweeps have fewer brisk ones
    parts += [plan.n_topics, plan.owner_prior, plan.frozen_words, plan.counts, plan.owners, plan.topics, plan.word_base, plan.owner_base]
    parts += [[type(field).__name__, sorted(vars(field).items())] for field in plan.fields]
    digest = hashlib.sha256()
    for part in parts:
        _digest(part, digest)
    return digest.hexdigest()


def _digest(value: Any, digest: Any) -> None:
    """Add a value to a digest: arrays by their bytes, lists item by item, the rest by what it prints as."""
    if sparse.issparse(value):
        _digest([value.shape, value.data, value.indices, value.indptr], digest)
    elif isinstance(value, np.ndarray) and value.dtype.kind != "O":
        digest.update(repr((value.shape, value.dtype)).encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, list | tuple | np.ndarray):
        for item in value:
            _digest(item, digest)
    else:
        text = repr(value.item() if isinstance(value, np.generic) else value)
        digest.update((type(value).__name__ if " at 0x" in text else text).encode())  # an address says nothing
