"""Checkpoints: a run that was killed resumes from its last saved sweep, and ends in the same bits.

A checkpoint holds what changes while messages move (checkpoint_schema.py). The graph is built again
from the same data, which a fingerprint makes sure of.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from topoi import checkpoint_schema, storage
from topoi.archive import Archive, Refused, open_archive, sealed
from topoi.digests import digest
from topoi.graph.wiring import Graph, Plan
from topoi.infer.monitor import Monitor
from topoi.infer.rules import Rule
from topoi.infer.schedules import BRISK, Schedule
from topoi.infer.state import State
from topoi.schema import Schema, parted

__all__ = ["Checkpoint", "fingerprint"]

FORMAT = 2
KEYS = {"format", "fingerprint", "values", "sha256"}  # of the manifest
WHAT = "a checkpoint of topoi"
FREE = ("callbacks", "init", "max_iter", "n_jobs", "random_state", "verbose")  # parameters that may differ


class Checkpoint:
    """The file of one run, saved every `every` sweeps (batches, if it learns in batches). If it exists already, it must be of the same model, data and version of topoi."""

    def __init__(self, path: str | Path, every: int, model: Any, plan: Plan, start: np.ndarray | None) -> None:
        if not isinstance(every, int | np.integer) or every < 1:
            raise ValueError(f"checkpoint_every is {every!r}; expected a whole number of at least 1.")
        self.path, self.every = Path(path), int(every)
        if not self.path.parent.is_dir():
            raise ValueError(f"{self.path} cannot be written: there is no folder {self.path.parent}.")
        self.fingerprint = fingerprint(model, plan, start)
        self.saved: dict[str, Any] | None = self._manifest() if self.path.exists() else None

    def _manifest(self) -> dict[str, Any]:
        """The manifest of a saved run. Its arrays are read when the graph is known."""
        with open_archive(self.path, WHAT) as archive:
            manifest = archive.manifest
            if manifest.keys() != KEYS or manifest["format"] != FORMAT or not isinstance(manifest["values"], dict):
                raise Refused("is not a checkpoint of this version of topoi; give another file.")
            if manifest["fingerprint"] != self.fingerprint:
                raise Refused(
                    "is the checkpoint of another run: its model, documents, parameters or version of topoi differ. "
                    "Delete it to start afresh, or give another file."
                )
            checkpoint_schema.SEED.check("seed", manifest["values"].get("seed"))
        return manifest

    @property
    def seed(self) -> int | None:
        """The seed of the saved run, if there is one that waits to be resumed."""
        return None if self.saved is None else self.saved["values"]["seed"]

    def _still_same(self, archive: Archive) -> None:
        if archive.manifest != self.saved:
            raise Refused("has changed while it was read; is another run using it? Give each run a checkpoint of its own.")
        self.saved = None

    def restore(self, graph: Graph, rule: Rule, schedule: Schedule, monitor: Monitor) -> State | None:
        """The state and history of the saved run on `graph`, or None if nothing was saved yet."""
        if self.saved is None:
            return None
        with open_archive(self.path, WHAT) as archive:
            self._still_same(archive)
            return checkpoint_schema.read_state(archive, graph, rule, schedule, monitor)

    def restore_batches(self, n_topics: int, n_words: int, n_batches: int) -> dict[str, Any] | None:
        """What a run in batches had learned, or None if nothing was saved yet."""
        if self.saved is None:
            return None
        with open_archive(self.path, WHAT) as archive:
            self._still_same(archive)
            return checkpoint_schema.read_batches(archive, n_topics, n_words, n_batches)

    def save(self, state: State, rule: Rule, schedule: Schedule, monitor: Monitor) -> None:
        """Write the run as it stands, if it is time."""
        if state.sweep % self.every == 0:
            schema = checkpoint_schema.state_schema(state.graph, rule, schedule)
            self._write(schema, checkpoint_schema.state_contents(state, monitor))

    def save_batches(self, online: Any, done: int, before: np.ndarray | None, monitor: Monitor) -> None:
        """Write a run in batches as it stands, if it is time."""
        if done % self.every == 0:
            self._write(checkpoint_schema.BATCHES, checkpoint_schema.batches_contents(online, done, before, monitor))

    def _write(self, schema: Schema, contents: dict[str, Any]) -> None:
        """Replace the file by these contents."""
        values, arrays = parted(schema, contents)
        manifest = {"format": FORMAT, "fingerprint": self.fingerprint, "values": values}
        storage.write_archive(self.path, sealed(manifest, arrays), arrays, compress=False)

    def finish(self) -> None:
        """The run is at its end: nothing is left to go on with."""
        self.path.unlink(missing_ok=True)


def fingerprint(model: Any, plan: Plan, start: np.ndarray | None) -> str:
    """A digest of everything that decides the bits of a run."""
    from topoi import __version__

    fixed = {key: value for key, value in model.get_params(deep=False).items() if key not in FREE and key != "factors"}
    seed = model.random_state if isinstance(model.random_state, int | np.integer) else None
    init = model.init if isinstance(model.init, str) else None
    parts: list[Any] = [__version__, type(model).__name__, fixed, seed, init, start]
    parts += [min(model.max_iter, 2 * len(BRISK))]  # fewer sweeps have fewer brisk ones
    parts += [plan.n_topics, plan.owner_prior, plan.frozen_words, plan.counts, plan.owners, plan.topics, plan.word_base, plan.owner_base]
    parts += [[type(field).__name__, vars(field)] for field in plan.fields]
    return digest(parts)
