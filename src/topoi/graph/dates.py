"""The factor of dates: documents of neighbouring periods have similar topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from topoi.corpus.dates import By, period_numbers
from topoi.graph.fields import first_weight
from topoi.graph.plan import Plan

__all__ = ["Dates"]

TINY = 1e-300  # keeps 0 / 0 away


@dataclass
class Dates:
    """Documents receive the topic proportions of the other documents of their period and of
    neighbouring ones, so that topics drift slowly.

    Parameters
    ----------
    dates : sequence of str
        The date of each document; those with "" receive nothing (`TopicModel` takes all forms
        that a Corpus does).
    by : {"decade", "year", "quarter", "month", "week", "day"}, default="year"
        The length of a period.
    reach : int, default=1
        How many periods before and after its own a document receives topics from.
    weight : float or "learn", default="learn"
        The part of a document's topics that comes from its time, from 0 up to (not including) 1.
        "learn" estimates it from held-out tokens.

    Examples
    --------
    >>> import numpy as np
    >>> from topoi import Dates, TopicModel, Words, datasets
    >>> corpus, truth = datasets.make_lda(200, 60, 4, doc_length=8)
    >>> years = 2000 + np.argsort(np.argsort(truth.doc_topic @ [0, 1, 2, 3])) // 25
    >>> model = TopicModel([Words(corpus), Dates(years)], 4, max_iter=30).fit()
    >>> bool(0 < model.factors_[-1].weight < 1)
    True
    """

    dates: Sequence[str]
    by: By = "year"
    reach: int = 1
    weight: Any = "learn"  # a number from add_to on
    learn: bool = field(default=False, init=False)  # whether the weight is learned

    def add_to(self, plan: Plan) -> None:
        n_docs = plan.counts.shape[0]
        if len(self.dates) != n_docs:
            raise ValueError(
                f"dates has {len(self.dates)} values for {n_docs} documents; give one per document."
            )
        if isinstance(self.reach, bool) or not isinstance(self.reach, int) or self.reach < 0:
            raise ValueError(f"reach is {self.reach!r}; expected a whole number of periods >= 0.")
        self.weight, self.learn = first_weight(self.weight, "weight of dates")
        number = period_numbers(self.dates, self.by)
        dated = np.flatnonzero(number >= 0)
        periods, places = np.unique(number[dated], return_inverse=True)
        shape = (n_docs, len(periods))
        self.members = sparse.csr_array((np.ones(len(dated)), (dated, places)), shape=shape)
        near = np.abs(periods[:, None] - periods[None]) <= self.reach
        self.near = sparse.csr_array(near.astype(np.float64))
        if self.weight > 0 or self.learn:
            plan.fields.append(self)

    def message(self, doc_topic: np.ndarray, doc_weight: np.ndarray) -> np.ndarray:
        """Mean proportions of the other documents of this time, by their tokens.

        Parameters
        ----------
        doc_topic : ndarray of shape (n_docs, n_topics)
            Topic proportions of the documents.
        doc_weight : ndarray of shape (n_docs,)
            Tokens of the documents.

        Returns
        -------
        ndarray of shape (n_docs, n_topics)
            Rows sum to 1, or to 0 without others.
        """
        own = doc_topic * doc_weight[:, None]
        dated = np.diff(self.members.indptr)[:, None]
        around = self.members @ (self.near @ (self.members.T @ own))
        total: np.ndarray = self.members @ (self.near @ (self.members.T @ doc_weight))
        others = total - doc_weight * dated[:, 0]
        alone = others <= 1e-6 * np.maximum(total, TINY)  # rounding error
        others_held = np.where(alone[:, None], 0, np.maximum(around - dated * own, 0))
        message: np.ndarray = others_held / np.maximum(others_held.sum(axis=1, keepdims=True), TINY)
        return message
