"""Ctrl-C during a fit: the run ends after its sweep, and its model is kept."""

from __future__ import annotations

import shlex
import signal
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from topoi.cli.kinds import Kind
from topoi.cli.options import Columns, Guide
from topoi.cli.output import note

if TYPE_CHECKING:
    from enum import Enum

    from topoi.infer.history import Record
    from topoi.protocols import FittedModel

__all__ = ["Interrupt", "command_to_resume"]


class Interrupt:
    """A callback that Ctrl-C turns on: the run stops after the sweep it is in.

    A second Ctrl-C aborts at once.

    checkpoint: the file of a run that resumes, if there is one; the first sweep says from where.
    """

    def __init__(self, checkpoint: Path | None = None) -> None:
        self.asked, self.checkpoint = False, checkpoint

    def __call__(self, state: object, record: Record) -> bool:
        if self.checkpoint is not None:
            note(f"Resumed from {self.checkpoint} after sweep {record.sweep - 1}.")
            self.checkpoint = None
        return self.asked

    def __enter__(self) -> Interrupt:
        self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _hear(self, *_: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        note("\nStopping after this sweep; Ctrl-C again aborts and writes nothing.")


def command_to_resume(
    input: list[Path],
    columns: Columns,
    guide: Guide,
    preset: Enum | None,
    kind: Kind,
    output: Path,
    estimator: FittedModel,
) -> str:
    """The command that begins with the saved topics and the same settings; which words count is
    known to the model.
    """
    given = {
        f.name: getattr(group, f.name)
        for group in (columns, guide)
        for f in fields(group)
        if getattr(group, f.name) != f.default
    }
    options: list[str] = [
        part
        for name, value in given.items()
        for each in (value if isinstance(value, list) else [value])
        for part in (
            f"--{name.replace('_', '-')}",
            *([] if each is True else [str(getattr(each, "value", each))]),
        )
    ]
    settings = {
        "rule": "rule",
        "schedule": "schedule",
        "weighting": "weighting",
        "tol": "tol",
        "seed": "random_state",
    }
    options += ["--preset", preset.value] if preset is not None else []
    known = estimator.documents_
    options += ["--keep-text"] * (known is not None and known.texts is not None)
    options += ["--out-of-core"] * (known is None)
    same = [
        part
        for flag, name in settings.items()
        for part in (f"--{flag}", str(getattr(estimator, name)))
    ]
    same += ["--max-iter", str(max(estimator.max_iter - estimator.n_iter_, 1))]
    for flag, name in {
        "batch-size": "batch_size",
        "background": "background_topics",
        "jobs": "n_jobs",
    }.items():
        value = getattr(estimator, name, None)
        if value is not None and value > 0:
            same += [f"--{flag}", str(value)]
    after = output.with_stem(f"{output.stem}-2")
    return shlex.join(
        [
            "topoi",
            "fit",
            *map(str, input),
            *options,
            "--model",
            kind.value,
            "--init",
            str(output),
            *same,
            "-o",
            str(after),
        ]
    )
