"""Mini-batches: constant memory, and a model that keeps learning.

Behind `partial_fit`, and the online learning of `LatentDirichletAllocation`.

The first batches are kept, as far as memory stays small. Each time that they have doubled, and when
a first pass is complete, the run starts anew from all of them: overcomplete, then the schedule
"incremental", the last time "auto", with the messages of a block at a time.
Later batches are inferred afresh (afresh.py) beside what words hold so far, and added to it
(algorithms A20). A word keeps as many tokens as it had in the documents so far, so words that a
batch lacks lose nothing. Documents without words count nowhere, or topics would hold tokens of
documents that have none. The prior of topics is learned from what the batches so far have together:
one document alone would drive it to an extreme.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from topoi.graph.plan import Plan
from topoi.graph.wiring import Graph, build_graph
from topoi.infer.afresh import contribution
from topoi.infer.arrays import Tables
from topoi.infer.blocks import make_blocks
from topoi.infer.elsewhere import survey
from topoi.infer.memory import pad_topics
from topoi.infer.monitor import Monitor
from topoi.infer.priors import alpha_evidence, alpha_of, learned_beta
from topoi.infer.recipe import Prior, Settings, enough_edges
from topoi.infer.rules import Rule
from topoi.infer.session_of_blocks import fit_blocks
from topoi.infer.state import State
from topoi.infer.tables import scale_rows
from topoi.infer.threads import ThreadPool
from topoi.tuning import current

__all__ = ["Online", "with_words"]

FIRST_TIMES = 4  # the last start has at least so many times the edges of an overcomplete start
FIRST_ROUNDS = 40  # of a start
LAST_SWEEPS = 80  # of the last one
ROUNDS = 3  # of a later batch
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
    init: str = "hard"  # of a start
    # (W, K) word proportions of topics to begin with, if it is warm
    first: np.ndarray | None = None
    base: np.ndarray | None = None  # (W, K) as all documents would have it
    word_prior: np.ndarray | None = None  # (W, K) of topics that have one, beyond beta
    batches: int = 0
    documents: float = 0  # with words, seen so far
    evidence: np.ndarray | None = None  # (2, K) of alpha, per document

    kept: sparse.csr_array | None = None  # first documents, while they are too few
    started: int = 0  # edges of the last start

    def step(self, weights: sparse.csr_array, pool: ThreadPool) -> None:
        """Learn from those documents of a batch (documents x words) that have words."""
        weights = weights[with_words(weights)]
        if not weights.nnz:
            return
        if self.base is None or self.kept is not None:
            both = [weights] if self.kept is None else [self.kept, weights]
            self.kept = sparse.csr_array(sparse.vstack(both, format="csr"))
        if self.kept is not None and self._are_enough(self.kept):
            self._start(self.kept, pool, last=True)
            self.kept = None
        elif self.kept is not None and self.kept.nnz >= 2 * self.started:
            self._start(self.kept, pool, last=False)
        else:
            self._add(weights, pool)
        if self.first is not None:  # topics to begin with: one start has learned from them
            self.kept = None
        self.batches += 1

    def _are_enough(self, kept: sparse.csr_array) -> bool:
        """Whether the documents so far are all there are, or as many as are kept."""
        tuning = current()
        enough = max(tuning.stream_edges, FIRST_TIMES * enough_edges(self.n_topics, 0, tuning))
        return bool(kept.shape[0] >= self.total_docs or kept.nnz >= enough)

    def _start(self, documents: sparse.csr_array, pool: ThreadPool, *, last: bool) -> None:
        """Learn everything from the first documents; the last time as well as `fit` does."""
        self.documents, self.started = documents.shape[0], documents.nnz
        learns = self.documents >= LEARN_FROM
        alpha, beta = learns and self.learn_alpha, learns and self.learn_beta
        settings = Settings(
            self._rule,
            "auto" if last else "incremental",
            Prior(None if alpha else self.alpha, alpha),
            Prior(None if beta else np.array([self.beta]), beta),
            init=self.init,
            word_topic=self.first,
            max_iter=LAST_SWEEPS if last else FIRST_ROUNDS,
            seed=self.seed,
            n_jobs=pool.size,
        )
        plan = Plan(self.n_topics, documents)
        blocks = survey(1, lambda _: plan, "").with_word_prior(self.word_prior)
        fitted = fit_blocks(blocks, settings, lambda _: Monitor())
        self.alpha, self.beta, self.evidence = fitted.alpha, fitted.beta, None
        self._keep((fitted.components - fitted.beta).T, self.documents)

    def _add(self, weights: sparse.csr_array, pool: ThreadPool) -> None:
        """Learn from one more batch, beside what words hold."""
        assert self.base is not None
        seed, n_docs = self.seed + self.batches, weights.shape[0]
        plan = Plan(self.n_topics, weights, word_prior=self.word_prior)
        graph = build_graph(plan, seed=seed)
        prior = 0.0 if plan.word_prior is None else pad_topics(plan.word_prior, graph.width)
        before = min(self.documents, self.total_docs)
        self.documents += n_docs
        now = min(self.documents, self.total_docs)
        held = pad_topics(self.base * (before / self.total_docs), graph.width)
        weight = (held.sum(axis=1) + weights.sum(axis=0)) * (now / (before + n_docs))
        rho = (self.offset + self.batches) ** -self.decay
        phi, blocks = held + prior, make_blocks(graph)
        for _ in range(ROUNDS):
            state = self._state(graph, phi, seed)
            state.blocks = blocks
            counted = contribution(state, self._rule, pool, blocks.docs, by_part=False)
            counted += (1 - rho) * held
            scale_rows(counted, weight)
            phi = counted + prior
        learns = self.documents >= LEARN_FROM
        if self.learn_alpha and learns:
            self._learn_alpha(state, rho)
        if self.learn_beta and learns:
            state.tables = state.tables._replace(phi=phi, totals=phi.sum(axis=0, dtype=np.float64))
            self.beta = learned_beta(state, self._rule.expected_counts)
        self._keep(phi, now)

    @property
    def _rule(self) -> Rule:
        """The rule with one message for all tokens of a word in a document."""
        return replace(self.rule, tokens=False)

    def _state(self, graph: Graph, phi: np.ndarray, seed: int) -> State:
        """A batch without messages, beside what words hold."""
        theta = np.zeros((graph.n_slots, graph.width), np.float32)
        mass = np.zeros(len(graph.arrays.slots), np.float32)
        tables = Tables(theta, phi, phi.sum(axis=0, dtype=np.float64), mass)
        return State.blank(graph, self.alpha, self.beta, seed, tables)

    def _keep(self, phi: np.ndarray, n_docs: float) -> None:
        """Keep what words hold of so many documents, priors included, as all would have it."""
        base = phi[:, : self.n_topics].astype(np.float64)
        if self.word_prior is not None:
            base = np.maximum(base - self.word_prior, 0)
        self.base = base * (self.total_docs / n_docs)

    def _evidence(self, state: State) -> np.ndarray:
        """(2, K) of alpha, per document."""
        n_docs = max((state.graph.doc_weight > 0).sum(), 1)
        return alpha_evidence(state, self._rule.expected_counts) / n_docs

    def _learn_alpha(self, state: State, rho: float) -> None:
        """A few fixed-point steps on the evidence so far, moved towards that of this batch."""
        alpha, before = state.alpha[: self.n_topics], self.evidence
        for _ in range(ALPHA_STEPS):
            now = self._evidence(state)
            if before is None:  # until more is known, what came before is right
                before = np.stack([self.alpha * now[1], now[1]])
            self.evidence = (1 - rho) * before + rho * now
            alpha[:] = alpha_of(self.evidence, state.graph.token)
        self.alpha = alpha.copy()
