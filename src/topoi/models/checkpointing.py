"""The checkpoint of a fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from topoi.graph.plan import Plan

if TYPE_CHECKING:
    from topoi.infer.checkpoints import Checkpoint, Estimator

__all__ = ["open_checkpoint"]


@contextmanager
def open_checkpoint(
    path: str | Path | None,
    every: int,
    model: Estimator,
    plan: Plan,
    start: object,
) -> Iterator[Checkpoint | None]:
    """The checkpoint of a fit, if one is wanted, locked for the time of the fit. In a folder it is
    called checkpoint.topoi.

    start: what the run begins with, beside the plan.
    """
    if path is None:
        yield None
        return
    if str(path).endswith("/") or Path(path).is_dir():
        Path(path).mkdir(parents=True, exist_ok=True)
        path = Path(path) / "checkpoint.topoi"
    from topoi.infer.checkpoints import Checkpoint

    with Checkpoint(path, every, model, plan, start) as saves:
        yield saves
