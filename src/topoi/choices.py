"""The names that people choose from.

Light to import: the command offers them before anything else is loaded.
"""

from __future__ import annotations

from typing import Literal, get_args

__all__ = [
    "AUTHOR_PRIORS",
    "FIRST_MESSAGES",
    "LEARNING_METHODS",
    "LINK_FACTORS",
    "LINK_SCORES",
    "ON_ERROR",
    "RULES",
    "SCHEDULES",
    "WEIGHTINGS",
    "AuthorPrior",
    "FirstMessages",
    "LearningMethod",
    "LinkFactor",
    "LinkScore",
    "OnError",
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
LinkScore = Literal["blend", "topics"]
FirstMessages = Literal["hard", "soft"]
LearningMethod = Literal["batch", "online"]  # scikit-learn's names
OnError = Literal["raise", "skip"]

RULES: tuple[str, ...] = get_args(RuleName)
SCHEDULES: tuple[str, ...] = get_args(ScheduleName)
WEIGHTINGS: tuple[str, ...] = get_args(WeightingName)
AUTHOR_PRIORS: tuple[str, ...] = get_args(AuthorPrior)
LINK_FACTORS: tuple[str, ...] = get_args(LinkFactor)
LINK_SCORES: tuple[str, ...] = get_args(LinkScore)
FIRST_MESSAGES: tuple[str, ...] = get_args(FirstMessages)
LEARNING_METHODS: tuple[str, ...] = get_args(LearningMethod)
ON_ERROR: tuple[str, ...] = get_args(OnError)
