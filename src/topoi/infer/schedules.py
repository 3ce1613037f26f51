"""Schedules: which edges come next, and when the tables are refreshed.

synchronous   every message from the tables of the previous sweep; then the tables anew
asynchronous  tables change with every message; documents in one shuffled order, words ascending
residual      asynchronous, documents whose messages moved most in the last sweep first
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topoi.infer.rules import Rule

if TYPE_CHECKING:
    from topoi.infer.state import State

__all__ = ["SCHEDULES", "Schedule", "make_schedule"]

SCHEDULES = ("asynchronous", "synchronous", "residual")


@dataclass(frozen=True)
class Schedule:
    name: str
    in_place: bool = True
    arrange: Callable[[State], None] | None = None  # sets the order of visits for the next sweep


def _largest_residual_first(state: State) -> None:
    cell = np.repeat(np.arange(len(state.graph.wires.cell_visit) - 1), np.diff(state.graph.wires.cell_visit))
    state.flow.order[:] = np.lexsort((-state.flow.residual, cell))


def make_schedule(name: str, rule: Rule) -> Schedule:
    """The schedule called `name`, refused where it makes no sense with `rule`."""
    if name not in SCHEDULES:
        raise ValueError(f"schedule is {name!r}; choose one of {', '.join(map(repr, SCHEDULES))}.")
    if rule.draws and name == "synchronous":
        raise ValueError("rule='gibbs' must see each draw at once, or it samples from another distribution; use schedule='asynchronous'.")
    if rule.draws and name == "residual":
        raise ValueError("rule='gibbs' never comes to rest, so there are no residuals to follow; use schedule='asynchronous'.")
    if rule.digamma_owners and name != "synchronous":
        raise ValueError(
            "rule='vb' computes digamma once per document and topic, which needs schedule='synchronous'; "
            "for tables that change with every message use rule='sibp' or 'bp'."
        )
    return {
        "synchronous": Schedule(name, in_place=False),
        "asynchronous": Schedule(name),
        "residual": Schedule(name, arrange=_largest_residual_first),
    }[name]
