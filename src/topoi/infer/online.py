"""Mini-batches: constant memory, and a model that goes on learning. Behind `partial_fit` and `batch_size`.

Each batch runs BP against the words' counts so far (`base`), its own mass excluded as always; then
base <- (1 - rho) base + rho (all tokens / batch tokens) (what the batch counted), rho = (offset + batches seen)^-decay  (algorithms A20).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from topoi.graph.factors import Documents, Words, compile_factors
from topoi.infer.crew import Crew
from topoi.infer.engine import run
from topoi.infer.monitor import Monitor
from topoi.infer.priors import PriorLearner
from topoi.infer.rules import Rule
from topoi.infer.schedules import make_schedule
from topoi.infer.state import State

__all__ = ["Online"]

FIRST_SWEEPS = 30  # the first batch starts from random messages and needs longer
SWEEPS = 10


@dataclass
class Online:
    """Word counts that batches refine. total_docs: how many documents a full pass has."""

    n_topics: int
    alpha: np.ndarray
    beta: float
    rule: Rule
    total_docs: float
    seed: int
    learn_alpha: bool
    learn_beta: bool
    decay: float = 0.7
    offset: float = 10.0
    base: np.ndarray | None = None  # (W, K)
    batches: int = 0

    def step(self, weights: sparse.csr_array, crew: Crew) -> None:
        """Learn from one batch (documents x words)."""
        if not weights.nnz:
            return
        graph = compile_factors(
            [Words(weights, base=self.base), Documents()], self.n_topics, seed=self.seed + self.batches, tokens=self.rule.tokens
        )
        seed, warm = self.seed + self.batches, None
        if self.base is not None:
            warm = (self.base + self.beta) / (self.base + self.beta).sum(axis=0)
        start, sweeps = ("hard", FIRST_SWEEPS) if warm is None else ("warm", SWEEPS)
        state = State.start(graph, self.rule, self.alpha, self.beta, seed=seed, crew=crew, start=start, word_topic=warm)
        learner = PriorLearner(self.learn_alpha, self.learn_beta, expected=self.rule.expected_counts, every=sweeps)
        run(state, self.rule, make_schedule("asynchronous", self.rule), max_iter=sweeps, monitor=Monitor(), crew=crew, learners=[learner])
        self.alpha, self.beta = state.alpha[: self.n_topics].copy(), state.beta
        self._merge(state.tables.phi[:, : self.n_topics].astype(np.float64), self.total_docs / weights.shape[0])

    def _merge(self, counts: np.ndarray, scale: float) -> None:
        """Move the base towards what the batch counted, as if all documents were like it."""
        if self.base is None:
            self.base = scale * counts
        else:
            rho = (self.offset + self.batches) ** -self.decay
            self.base = (1 - rho) * self.base + rho * scale * np.maximum(counts - self.base, 0)
        self.batches += 1
