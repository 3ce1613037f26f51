"""Ctrl-C during a fit: the run ends after its sweep, and its model is kept."""

from __future__ import annotations

import signal
from typing import Any

from topoi.cli.output import note

__all__ = ["Interrupt"]


class Interrupt:
    """A callback that Ctrl-C turns on: the run stops after the sweep it is in.

    A second Ctrl-C aborts at once.
    """

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, state: Any, record: Any) -> bool:
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
