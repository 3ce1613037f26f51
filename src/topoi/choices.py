"""The names that people choose from.

Light to import: the command offers them before anything else is loaded.
"""

from __future__ import annotations

from typing import Literal, get_args

__all__ = [
    "RULES",
    "SCHEDULES",
    "WEIGHTINGS",
    "AuthorPrior",
    "LinkFactor",
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
WeightingName = Literal["count", "tf", "tfidf", "log"]
AuthorPrior = Literal["uniform", "learned"]
LinkFactor = Literal["learned", "paper", "identity"]

RULES: tuple[str, ...] = get_args(RuleName)
SCHEDULES: tuple[str, ...] = get_args(ScheduleName)
WEIGHTINGS: tuple[str, ...] = get_args(WeightingName)
