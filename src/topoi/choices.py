"""The names that people choose from.

Light to import: the command offers them before anything else is loaded.
"""

from __future__ import annotations

from typing import Literal, get_args

__all__ = [
    "MESSAGES",
    "RULES",
    "SCHEDULES",
    "WEIGHTINGS",
    "MessagesName",
    "RuleName",
    "ScheduleName",
    "WeightingName",
]

RuleName = Literal["bp", "sibp", "cvb0", "vb", "gibbs"]
ScheduleName = Literal[
    "auto",
    "incremental",
    "relaxed",
    "asynchronous",
    "synchronous",
    "residual",
    "residual-words",
    "active",
]
MessagesName = Literal["auto", "edge", "token", "none", "solved"]
WeightingName = Literal["count", "tf", "tfidf", "log"]

RULES: tuple[str, ...] = get_args(RuleName)
SCHEDULES: tuple[str, ...] = get_args(ScheduleName)
MESSAGES: tuple[str, ...] = get_args(MessagesName)
WEIGHTINGS: tuple[str, ...] = get_args(WeightingName)
