"""Mini-batches: constant memory, and a model that keeps learning.

Behind `partial_fit`, and the online learning of `LatentDirichletAllocation`.

Each batch runs BP against the words' counts so far (`base`), its own mass excluded as always; then
base <- (1 - rho) base + rho (all documents / documents of the batch) (what the batch counted), rho
= (offset + batches seen)^-decay  (algorithms A20). Documents without words count nowhere, or topics
would hold tokens of documents that have none. The prior of topics is learned from what the batches
so far have together: one document alone would drive it to an extreme.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from topoi.graph.plan import Plan
from topoi.graph.wiring import build_graph
from topoi.infer.monitor import Monitor
from topoi.infer.priors import PriorLearner, alpha_evidence, alpha_of
from topoi.infer.recipe import Prior, Settings, make_recipe
from topoi.infer.rules import Rule
from topoi.infer.session import pass_messages
from topoi.infer.state import State
from topoi.infer.threads import ThreadPool

__all__ = ["Online", "with_words"]

FIRST_SWEEPS = 30  # the first batch starts from random messages and needs longer
SWEEPS = 10
ALPHA_STEPS = 3  # per batch
# documents: before, topics have no shape yet, and even proportions would teach a large prior that
# keeps them even
LEARN_FROM = 50


def with_words(weights: sparse.csr_array) -> np.ndarray:
    """Numbers of the documents that hold any weight."""
    return np.flatnonzero(weights.sum(axis=1))


@dataclass
class Online:
    """Word counts that batches refine.

    total_docs: how many documents with words a full pass has.
    """

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
    init: str = "hard"  # of the first batch
    # (W, K) word proportions of topics to begin with, if it is warm
    first: np.ndarray | None = None
    base: np.ndarray | None = None  # (W, K)
    word_prior: np.ndarray | None = None  # (W, K) of topics that have one, beyond beta
    batches: int = 0
    documents: float = 0  # with words, seen so far
    evidence: np.ndarray | None = None  # (2, K) of alpha, per document

    def step(self, weights: sparse.csr_array, pool: ThreadPool) -> None:
        """Learn from those documents of a batch (documents x words) that have words."""
        weights = weights[with_words(weights)]
        if not weights.nnz:
            return
        seed, word_topic = self.seed + self.batches, self.first
        if self.base is not None:
            held = self.base if self.word_prior is None else self.base + self.word_prior
            word_topic = (held + self.beta) / (held + self.beta).sum(axis=0)
        init, sweeps = (self.init, FIRST_SWEEPS) if self.base is None else ("warm", SWEEPS)
        self.documents += weights.shape[0]
        learns = self.documents >= LEARN_FROM
        settings = Settings(
            self.rule,
            "asynchronous",
            Prior(self.alpha, False),
            Prior(np.array([self.beta]), False),
            init=init,
            word_topic=word_topic,
            max_iter=sweeps,
            seed=seed,
        )
        learner = PriorLearner(
            False, self.learn_beta and learns, expected=self.rule.expected_counts, every=sweeps
        )
        plan = Plan(self.n_topics, weights, word_base=self.base, word_prior=self.word_prior)
        state = pass_messages(
            build_graph(plan, seed=seed, tokens=self.rule.tokens),
            settings,
            make_recipe(plan.facts, settings),
            Monitor(),
            pool,
            [learner],
        )
        self.beta, rho = state.beta, (self.offset + self.batches) ** -self.decay
        if self.learn_alpha and learns:
            self._learn_alpha(state, rho)
        counted = self.total_docs / weights.shape[0] * state.word_counts(self.rule, pool)
        self.base = counted if self.base is None else (1 - rho) * self.base + rho * counted
        self.batches += 1

    def _learn_alpha(self, state: State, rho: float) -> None:
        """A few fixed-point steps on the evidence so far, moved towards that of this batch."""
        alpha, before = state.alpha[: self.n_topics], self.evidence
        for _ in range(ALPHA_STEPS):
            now = alpha_evidence(state, self.rule.expected_counts) / max(
                (state.graph.doc_weight > 0).sum(), 1
            )
            if (
                before is None
                # until more is known, what came before is right (or there was nothing: the first
                # batch)
            ):
                before = np.stack([self.alpha * now[1], now[1]])
            self.evidence = now if self.base is None else (1 - rho) * before + rho * now
            alpha[:] = alpha_of(self.evidence, state.graph.token)
        self.alpha = alpha.copy()
