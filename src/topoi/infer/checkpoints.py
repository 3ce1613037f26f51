"""Checkpoints: a run that was killed resumes from its last saved sweep, and ends in the same bits.

A checkpoint holds what changes while messages move (checkpoint_schema.py). The graph is built again
from the same data, which a fingerprint makes sure of. While a run uses a checkpoint it is locked.

The checkpoint of a finished run stays until its model is saved. Until then the same fit returns the
same model from it at once, and another one is refused it, unless it follows in the same process:
there the caller has had the model.
"""

from __future__ import annotations

import os
import warnings
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from topoi.graph.plan import Plan
from topoi.graph.wiring import Graph
from topoi.infer import checkpoint_schema
from topoi.infer.kept_files import KeptFiles
from topoi.infer.monitor import Monitor
from topoi.infer.recipe import Settings
from topoi.infer.rules import Rule
from topoi.infer.schedules import Schedule
from topoi.infer.state import State
from topoi.storage.archive import Archive, Manifest, Refused, open_archive, sealed, write_archive
from topoi.storage.digests import digest
from topoi.storage.files import WriteError, locked, remove_temporaries
from topoi.storage.schema import Contents, Schema, parted
from topoi.tuning import current

__all__ = [
    "Checkpoint",
    "FinishedRun",
    "checked_every",
    "fingerprint",
    "fixed_parameters",
]

FORMAT = 4
KEYS = {"format", "fingerprint", "values", "sha256"}  # of the manifest
WHAT = "a checkpoint of topoi"
FREE = (
    "callbacks",
    "init",
    "max_iter",
    "n_jobs",
    "random_state",
    "verbose",
)  # parameters that may differ
IN_PLAN = ("factors", "seeds")  # parameters that the plan contains in full
RETURNED: dict[str, str] = {}  # checkpoints of runs that finished in this process: path and digest


class FinishedRun(NamedTuple):
    """The checkpoint of a finished run, by the digest of its contents."""

    path: Path
    sha256: str

    def discard(self) -> None:
        """Remove the checkpoint, unless another run has replaced it or is using it."""
        with suppress(OSError, ValueError), locked(self.path):
            with open_archive(self.path, WHAT) as archive:
                found = archive.manifest.get("sha256")
            if found == self.sha256:
                self.path.unlink()
                KeptFiles(self.path).remove()


def checked_every(every: int) -> int:
    """What `checkpoint_every` is."""
    if not isinstance(every, int | np.integer) or isinstance(every, bool) or every < 1:
        raise ValueError(f"checkpoint_every is {every!r}; expected a whole number of at least 1.")
    return int(every)


class Estimator(Protocol):
    """The model of a run: its parameters."""

    max_iter: int
    random_state: object
    init: object

    def get_params(self, deep: bool = True) -> dict[str, object]: ...


class Checkpoint:
    """The file of one run, saved every `every` sweeps.

    If it exists already, it must be of the same model, data and version of topoi. Entering a
    Checkpoint locks the file and looks at it.
    """

    def __init__(
        self, path: str | Path, every: int, model: Estimator, plan: Plan, start: object
    ) -> None:
        self.path, self.every = Path(path), checked_every(every)
        self.fingerprint = fingerprint(model, plan, start)
        self.kept = KeptFiles(self.path, self.fingerprint)  # of blocks, if there are any
        self.saved: Manifest | None = None  # the manifest of a run that waits to be resumed
        self.sha256 = ""  # of what is in the file, if that is of this run
        self.in_file: set[int] = set()  # the sweep after which blocks kept what the file needs
        self._lock = ExitStack()

    def __enter__(self) -> Checkpoint:
        with ExitStack() as stack:
            stack.enter_context(locked(self.path))
            remove_temporaries(self.path)
            if self.path.exists():
                self.saved = self._manifest()
                self.sha256 = "" if self.saved is None else self.saved["sha256"]
            self._lock = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def _manifest(self) -> Manifest | None:
        """The manifest of a saved run. Its arrays are read when the graph is known."""
        with open_archive(self.path, WHAT) as archive:
            manifest = archive.manifest
            if (
                manifest.keys() != KEYS
                or manifest["format"] != FORMAT
                or not isinstance(manifest["values"], dict)
            ):
                raise Refused("is not a checkpoint of this version of topoi; give another file.")
            if manifest["fingerprint"] != self.fingerprint:
                if RETURNED.get(os.path.realpath(self.path)) == manifest["sha256"]:
                    return None
                raise Refused(
                    "is the checkpoint of another run: its model, documents, parameters or version"
                    " of topoi differ. Delete it to start afresh, or give another file."
                )
            checkpoint_schema.SEED.check("seed", manifest["values"].get("seed"))
        return manifest

    @property
    def seed(self) -> int | None:
        """The seed of the saved run, if there is one that waits to be resumed."""
        return None if self.saved is None else self.saved["values"]["seed"]

    def _still_same(self, archive: Archive) -> None:
        if archive.manifest != self.saved:
            raise Refused(
                "has changed while it was read; is another run using it? Give each run a checkpoint"
                " of its own."
            )
        self.saved = None

    def restore(
        self, graph: Graph, rule: Rule, schedule: Schedule, monitor: Monitor
    ) -> State | None:
        """The state and history of the saved run on `graph`, or None if nothing was saved yet."""
        if self.saved is None:
            return None
        with open_archive(self.path, WHAT) as archive:
            self._still_same(archive)
            state = checkpoint_schema.read_state(archive, graph, rule, schedule, monitor)
        self.in_file = {state.sweep}
        return state

    def resumed(
        self, graph: Graph, settings: Settings, schedule: Schedule, monitor: Monitor
    ) -> State | None:
        """`restore`, with a warning if no sweep is left to do."""
        state = self.restore(graph, settings.rule, schedule, monitor)
        if state is not None:
            done = f"{state.sweep} sweeps"
            if state.sweep > settings.max_iter:
                _warn_of_more(self.path, done, settings.max_iter)
            elif state.sweep == (state.end or settings.max_iter):
                _warn_of_finished(self.path, done)
        return state

    def save(
        self,
        state: State,
        rule: Rule,
        schedule: Schedule,
        monitor: Monitor,
        *,
        last: bool,
    ) -> None:
        """Write the run as it stands, if it is time or its last sweep."""
        if last or state.sweep % self.every == 0:
            schema = checkpoint_schema.state_schema(state.graph, rule, schedule)
            self._write(schema, checkpoint_schema.state_contents(state, monitor), state)

    def _write(self, schema: Schema, contents: Contents, state: State) -> None:
        """Replace the file by these contents. If that fails the run continues: it may finish."""
        blocks = state.elsewhere
        keeps = blocks is not None and blocks.keeps(state.end)
        values, arrays = parted(schema, contents)
        head = {"format": FORMAT, "fingerprint": self.fingerprint, "values": values}
        manifest, written = sealed(head, arrays), set[int]()
        try:
            if blocks is not None and keeps:
                self.kept.write(state.sweep, blocks.graphs)
                written = {state.sweep}
            write_archive(self.path, manifest, arrays, compress=False)
        except WriteError as error:
            written |= self.in_file
            message = f"{error} The run continues, with its last checkpoint as it was."
            warnings.warn(message, stacklevel=6)
        else:
            self.sha256, self.in_file = manifest["sha256"], written
        self.kept.remove(but=written)

    def finish(self) -> FinishedRun:
        """The run is at its end. Its checkpoint stays until the model is saved."""
        RETURNED[os.path.realpath(self.path)] = self.sha256
        return FinishedRun(self.path.absolute(), self.sha256)


def _warn_of_more(path: object, done: str, max_iter: int) -> None:
    """Warn that a resumed run was already beyond max_iter."""
    warnings.warn(
        f"{path} holds a run of {done}, more than max_iter={max_iter}. The model is that of the"
        " checkpoint; n_iter_ and history_ say what was done. For fewer sweeps delete the"
        " checkpoint and fit again.",
        stacklevel=8,
    )


def _warn_of_finished(path: object, done: str) -> None:
    """Warn that a run was at its end already, and nothing was left to do."""
    warnings.warn(
        f"{path} holds this run, finished after {done}; its model is returned. To fit again, delete"
        " the checkpoint.",
        stacklevel=8,
    )


def fixed_parameters(model: Estimator, start: object) -> list[object]:
    """What of a model decides the bits of a run, beside its documents."""
    from topoi.version import __version__

    fixed = {
        key: value
        for key, value in model.get_params(deep=False).items()
        if key not in FREE and key not in IN_PLAN
    }
    seed = model.random_state if isinstance(model.random_state, int | np.integer) else None
    init = model.init if isinstance(model.init, str) else None
    parts: list[object] = [__version__, type(model).__name__, fixed, seed, init, start]
    parts += [
        min(model.max_iter, 2 * len(current().warm_up))
    ]  # fewer sweeps have fewer warm-up sweeps
    return parts


def fingerprint(model: Estimator, plan: Plan, start: object) -> str:
    """A digest of everything that decides the bits of a run."""
    parts = fixed_parameters(model, start)
    parts += [
        plan.n_topics,
        plan.owner_prior,
        plan.frozen_words,
        plan.counts,
        plan.owners,
        plan.topics,
        plan.word_base,
        plan.word_prior,
        plan.owner_base,
    ]
    parts += [[type(field).__name__, vars(field)] for field in plan.fields]
    return digest(parts)
