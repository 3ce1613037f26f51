"""The progress bar of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topoi.infer.history import Record

__all__ = ["Progress"]


class Progress:
    """A progress bar in the terminal: sweeps, perplexity, time left."""

    def __init__(self, max_iter: int, label: str = "Sweeps") -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("perplexity {task.fields[perplexity]}"),
            TimeElapsedColumn(),
            TextColumn("elapsed, at most"),
            TimeRemainingColumn(),
            TextColumn("left"),
        )
        self._bar = Progress(*columns, console=Console(stderr=True))
        self._task = self._bar.add_task(label, total=max_iter, perplexity="…")
        self._bar.start()

    def show(self, record: Record) -> None:
        self._bar.update(self._task, completed=record.sweep)
        if record.perplexity is not None:
            self._bar.update(self._task, perplexity=f"{record.perplexity:.1f}")

    def move(self, sweeps: float) -> None:
        self._bar.update(self._task, completed=sweeps)

    def close(self) -> None:
        self._bar.stop()
