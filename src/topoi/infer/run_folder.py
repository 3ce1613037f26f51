"""The checkpoint of a run on a cluster: a folder that this process and all workers can reach.

Workers write the slices of the word table; then this process writes where the run stands, which
names them. A run that was killed at any moment finds the last standing with its slices.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np

from topoi.infer.checkpoints import checked_every
from topoi.infer.first_topics import Workers
from topoi.infer.history import HISTORY, Record, columns, records
from topoi.infer.monitor import Monitor
from topoi.infer.pieces import Piece, unpacked
from topoi.infer.priors import MOST_PRIOR
from topoi.infer.rounds import Standing
from topoi.storage.archive import Refused, open_archive, sealed, write_archive
from topoi.storage.files import locked, remove_temporaries
from topoi.storage.schema import (
    LARGEST,
    SMALLEST,
    Array,
    Schema,
    decoded,
    demand,
    flag,
    parted,
    real,
    whole,
)

__all__ = ["RunFolder"]

FORMAT = 1
WHAT = "a checkpoint of a run of topoi on a cluster"
STANDING = Schema(
    {
        "done": whole(1),
        "end": whole(1, optional=True),
        "beta": real(SMALLEST, MOST_PRIOR),
        "prior_change": real(0, LARGEST),
        "converged": flag(),
        "alpha": Array("f8", ("K",), SMALLEST, MOST_PRIOR),
        **{f"history_.{name}": kind for name, kind in HISTORY.items()},
    }
)
SLICE = Schema({"table": Array("f4", ("rows", "K"), 0, LARGEST)})


class RunFolder:
    """A folder for one run, saved every `every` rounds. Entering it locks and reads it.

    fingerprint: of model and documents; bounds: of the slices of the table, of n_topics topics.
    """

    def __init__(
        self,
        path: str | Path,
        every: int,
        fingerprint: str,
        bounds: np.ndarray,
        n_topics: int,
        max_iter: int,
    ) -> None:
        self.path, self.every, self.fingerprint = Path(path), checked_every(every), fingerprint
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(
                f"{self.path} is a file; on a cluster a checkpoint is a folder that all workers"
                " can reach. Give another name."
            )
        self.bounds, self.n_topics, self.max_iter = bounds, n_topics, max_iter
        self._lock = ExitStack()

    @property
    def file(self) -> Path:
        """Where the run stands."""
        return self.path / "standing.zip"

    def __enter__(self) -> RunFolder:
        self.path.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            stack.enter_context(locked(self.file))
            remove_temporaries(self.file)
            self._lock = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def restore(self, workers: Workers) -> tuple[Standing, list[object], list[Record], bool] | None:
        """Where a saved run stands, futures of its table, its history, whether it converged; None
        if nothing was saved.
        """
        if not self.file.exists():
            return None
        with open_archive(self.file, WHAT) as archive:
            manifest = archive.manifest
            if manifest.get("format") != FORMAT:
                raise Refused("is not a checkpoint of this version of topoi; give another folder.")
            if manifest.get("fingerprint") != self.fingerprint:
                raise Refused(
                    "is the checkpoint of another run: its model, documents, partitions, parameters"
                    " or version of topoi differ. Delete it to start afresh, or give another"
                    " folder."
                )
            found = decoded(STANDING, archive, {"K": self.n_topics})
            demand(
                np.array_equal(found["history_.sweep"], np.arange(1, found["done"] + 1)),
                "history_ does not have one record per round",
            )
            if found["done"] >= self.max_iter:
                raise Refused(
                    f"holds a run of {found['done']} rounds, and max_iter={self.max_iter} leaves"
                    " none to do. Raise max_iter, or delete the folder to start afresh."
                )
        # With a larger max_iter a run that did not converge continues.
        end = found["end"] if found["converged"] else None
        at = Standing(found["done"], end, found["alpha"], found["beta"], found["prior_change"])
        history = [Record(**record) for record in records(found)]
        return at, self._loaded(workers, at.done), history, found["converged"]

    def save(
        self, workers: Workers, at: Standing, table: list[object], monitor: Monitor
    ) -> list[object]:
        """Write the run as it stands, if it is time or one round is left: a finished run does its
        last round again, and has the topics of its documents.

        From then on the table is what was written: what is computed from it goes back no further.
        """
        left = (at.end or self.max_iter) - at.done
        if left == 0 or (at.done % self.every and left != 1):
            return table
        saved = [
            workers.submit(
                f"save-{at.done}-{n}", _save, piece, str(self._slice(at.done, n)), self.n_topics
            )
            for n, piece in enumerate(table)
        ]
        workers.gather(saved)
        history = {f"history_.{name}": col for name, col in columns(monitor.table()).items()}
        contents = {**at._asdict(), "converged": monitor.converged, **history}
        values, arrays = parted(STANDING, contents)
        head = {"format": FORMAT, "fingerprint": self.fingerprint, "values": values}
        write_archive(self.file, sealed(head, arrays), arrays, compress=False)
        kept = {self._slice(at.done, n).name for n in range(len(table))}
        for old in self.path.glob("table-*-*.zip"):
            if old.name not in kept:
                with suppress(OSError):
                    old.unlink()
        return self._loaded(workers, at.done)

    def _slice(self, done: int, number: int) -> Path:
        return self.path.absolute() / f"table-{done}-{number}.zip"

    def _loaded(self, workers: Workers, done: int) -> list[object]:
        """Futures of the slices of a table that was saved."""
        return [
            workers.submit(
                f"load-{done}-{n}", _load, str(self._slice(done, n)), int(rows), self.n_topics
            )
            for n, rows in enumerate(np.diff(self.bounds))
        ]


def _save(piece: Piece, path: str, n_topics: int) -> None:
    """Write a slice of the table, on the worker that has it."""
    values, arrays = parted(SLICE, {"table": unpacked(piece)[:, :n_topics]})
    head = {"format": FORMAT, "values": values}
    write_archive(Path(path), sealed(head, arrays), arrays, compress=False)


def _load(path: str, rows: int, n_topics: int) -> Piece:
    """A slice of the table, on the worker that needs it."""
    with open_archive(Path(path), WHAT) as archive:
        return np.asarray(decoded(SLICE, archive, {"rows": rows, "K": n_topics})["table"])
