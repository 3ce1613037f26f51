"""Fields: topic proportions that a document receives from others, refreshed once per sweep.

A field never changes while messages are updated. What a run learns of a field, its weight
and its tables, is in `LearnedField`, which belongs to the state of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

__all__ = ["Field", "LearnedField", "LearningField", "first_weight"]

FIRST_WEIGHT = 0.15  # where a learned weight starts: the paper's value for links


def first_weight(weight: float | str, what: str) -> tuple[float, bool]:
    """The weight of a field, or its first value, and whether it is learned.

    Parameters
    ----------
    weight : float or "learn"
        As it was given.
    what : str
        What it is called, for the error.
    """
    if isinstance(weight, str) and weight == "learn":
        return FIRST_WEIGHT, True
    if not isinstance(weight, float | int | np.number) or not 0 <= weight < 1:
        raise ValueError(
            f"{what} is {weight!r}; expected a number from 0 up to (not including) 1, or 'learn'."
        )
    return float(weight), False


class Field(Protocol):
    """A field with nothing to learn but its weight.

    Attributes
    ----------
    weight : float
        Its weight against the owner in a message (xi of eq. 30), or the first value of it.
    learn : bool
        Whether the weight is learned from held-out tokens.
    """

    weight: float
    learn: bool

    def message(self, doc_topic: np.ndarray, doc_weight: np.ndarray) -> np.ndarray:
        """The topic proportions that documents receive from others.

        Parameters
        ----------
        doc_topic : ndarray of shape (n_docs, n_topics)
            Topic proportions of the documents.
        doc_weight : ndarray of shape (n_docs,)
            Tokens of the documents.

        Returns
        -------
        ndarray of shape (n_docs, n_topics)
            Rows that sum to 1, or to 0 for documents that receive nothing.
        """
        ...


@runtime_checkable
class LearningField(Protocol):
    """A field that learns tables, too. They are given to it and returned, never kept."""

    weight: float
    learn: bool

    def table_shapes(self, n_topics: int) -> Mapping[str, tuple[int, ...]]:
        """Names and shapes of the tables (nonnegative, float64) that it learns."""
        ...

    def learned_message(
        self, doc_topic: np.ndarray, doc_weight: np.ndarray, tables: Mapping[str, np.ndarray]
    ) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        """What `Field.message` returns, and the tables after one step of learning.

        tables: those of the step before, empty at first.
        """
        ...


@dataclass(frozen=True)
class LearnedField:
    """What a run has learned of a field so far."""

    weight: float
    tables: Mapping[str, np.ndarray] = field(default_factory=dict)
