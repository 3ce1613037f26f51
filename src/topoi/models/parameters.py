"""Types of the parameters that all models share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from topoi.choices import RuleName
from topoi.infer.monitor import Record
from topoi.rules import UpdateRule

__all__ = ["Callback", "Init", "Prior", "RuleLike", "Seed", "Tolerance", "TopicPrior"]

Prior = float | Literal["learn"] | None
TopicPrior = float | Sequence[float] | np.ndarray | Literal["learn"] | None  # one value per topic
Tolerance = float | Literal["paper"]
Seed = int | np.random.RandomState | np.random.Generator | None
RuleLike = RuleName | UpdateRule
Init = Literal["hard", "soft"] | BaseEstimator | np.ndarray
Callback = Callable[[Any, Record], object]  # of the state, or of the model in mini-batches
