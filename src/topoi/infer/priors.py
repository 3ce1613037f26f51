"""Learning the priors from expected counts, between sweeps (algorithms 4.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import psi

from topoi.infer import kernels
from topoi.infer.state import State

__all__ = ["PRIOR_RANGE", "PriorLearner"]

PRIOR_RANGE = (1e-4, 10.0)


@dataclass
class PriorLearner:
    """Minka's fixed point, corrected for expected counts: asymmetric alpha, symmetric beta.

    A plain update takes an expected count of 0.01 for a hundredth of a token that is certainly there, and runs away. `expected` treats it as
    a token that is there with probability 0.01. Learning starts `after` some sweeps, when topics have taken shape, and then
    comes every `every` sweeps with `steps` steps each.
    """

    alpha: bool = True
    beta: bool = True
    expected: bool = True
    after: int = 10
    every: int = 5
    steps: int = 3

    def update(self, state: State) -> None:
        """Change state.alpha and state.beta, if it is time."""
        if state.sweep < self.after or state.sweep % self.every or not (self.alpha or self.beta):
            return
        for _ in range(self.steps):
            if self.alpha:
                state.alpha[: state.graph.n_topics] = learned_alpha(state, self.expected)
            if self.beta:
                state.beta = learned_beta(state, self.expected)


def learned_alpha(state: State, expected: bool) -> np.ndarray:
    """One fixed-point step for alpha (K,), over owners that hold anything."""
    K = state.graph.n_topics
    counts = state.tables.theta[state.graph.owner_slot]
    held = counts.sum(axis=1, dtype=np.float64)
    gain = np.zeros(state.graph.width)
    kernels.expected_digamma_gain(counts, state.alpha, expected, gain)
    total = state.alpha.sum()
    spent = (psi(held + total) - psi(total)).sum()
    return np.clip(state.alpha[:K] * gain[:K] / max(spent, 1e-300), *PRIOR_RANGE)


def learned_beta(state: State, expected: bool) -> float:
    """One fixed-point step for beta, over all words and topics."""
    K, W = state.graph.n_topics, state.graph.n_words
    prior = np.where(state.alpha > 0, state.beta, 0.0)
    gain = np.zeros(state.graph.width)
    kernels.expected_digamma_gain(state.tables.phi, prior, expected, gain)
    total = W * state.beta
    spent = W * (psi(state.tables.totals[:K] + total) - psi(total)).sum()
    return float(np.clip(state.beta * gain[:K].sum() / max(spent, 1e-300), *PRIOR_RANGE))
