"""The same run over shards of the documents, wherever they are: each keeps its own messages, and
all share what the words hold.

In every round each shard sweeps over its documents while the counts of the others stand still
(`State.word_base`); then the counts of all shards are added up in their order. So results depend on
how the documents are cut, never on where the shards are or how many work at a time; and one shard
alone gives the bits of a run that was never cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from topoi.graph.plan import Plan
from topoi.graph.wiring import build_graph
from topoi.infer.convergence import largest_violation
from topoi.infer.engine import REBUILD_EVERY, sweep
from topoi.infer.guided import guided_counts
from topoi.infer.likelihood import document_log_likelihood
from topoi.infer.memory import pad_topics
from topoi.infer.overcomplete import some_documents
from topoi.infer.priors import alpha_evidence, learned_beta
from topoi.infer.recipe import Recipe, Settings
from topoi.infer.session import first_state
from topoi.infer.state import TINY, State
from topoi.infer.threads import ThreadPool

__all__ = ["Facts", "Shard", "everywhere", "waited"]


class Facts(NamedTuple):
    """What a shard is."""

    n_docs: int  # with words
    n_edges: int
    weight: float
    n_rows: int  # documents, with words or without
    word_weight: np.ndarray  # (W,) sum of x of each word


class Shard:
    """Some of the documents, and all that changes with them.

    counts: (documents, W); number: its place among the shards.
    """

    state: State

    def __init__(
        self, counts: sparse.csr_array, n_topics: int, number: int, seed: int, n_jobs: int | None
    ) -> None:
        self.plan, self.seed, self.n_jobs = Plan(n_topics, counts), seed + number, n_jobs

    def facts(self) -> Facts:
        counts = self.plan.counts
        word_weight = np.bincount(
            counts.indices, counts.data.astype(np.float32), counts.shape[1]
        )  # as edges have it
        return Facts(
            int((counts.sum(axis=1) > 0).sum()),
            counts.nnz,
            float(counts.data.sum()),
            counts.shape[0],
            word_weight,
        )

    def some_documents(self, enough: int, n_edges: int) -> sparse.csr_array:
        """Documents for the overcomplete start: this shard's part of `enough` edges.

        n_edges: of all shards.
        """
        part = int(enough * self.plan.counts.nnz / n_edges)
        return some_documents(self.plan.counts, part, self.seed)

    def guided_counts(self, word_prior: np.ndarray) -> np.ndarray:
        """(W, K) what the documents of this shard say of topics with word priors."""
        return guided_counts(self.plan.counts, word_prior, self.seed)

    def begin(
        self,
        settings: Settings,
        recipe: Recipe,
        token: float,
        word_weight: np.ndarray,
        alone: bool,
        word_prior: np.ndarray | None = None,
    ) -> np.ndarray:
        """First messages.

        token, word_weight: of the documents of all shards; alone: there are no others; word_prior:
        (W, K) of topics that have one, beyond beta.
        """
        self.rule, self.schedule, self.alone = settings.rule, recipe.schedule, alone
        plan = replace(self.plan, word_prior=word_prior)
        graph = replace(build_graph(plan, seed=self.seed, tokens=self.rule.tokens), token=token)
        self.prior = (
            np.zeros((1, graph.width), np.float32)
            if word_prior is None
            else pad_topics(word_prior, graph.width)
        )
        self.prior_totals = self.prior.sum(axis=0, dtype=np.float64)
        with ThreadPool(self.n_jobs) as pool:
            self.state = first_state(graph, replace(settings, seed=self.seed), recipe, pool)
        self.state.word_weight = np.maximum(word_weight, TINY).astype(np.float32)
        self.others, self.others_totals = (
            np.zeros_like(self.state.tables.phi),
            np.zeros(graph.width),
        )
        return self._counted()

    def hear(self, phi: np.ndarray) -> None:
        """From now on words hold what all shards have counted: phi (W, width)."""
        self.others = phi - self.own
        self.others_totals = self.others.sum(axis=0, dtype=np.float64)
        self.state.word_base = self.others[:, : self.plan.n_topics]
        self.state.tables = self.state.tables._replace(
            phi=phi + self.prior, totals=self.others_totals + self.own_totals + self.prior_totals
        )

    def _counted(self) -> np.ndarray:
        """(W, width) what the messages of this shard give to words."""
        tables = self.state.tables
        self.own = tables.phi - self.others - self.prior
        self.own_totals = tables.totals - self.others_totals - self.prior_totals
        return self.own

    def arrange(self) -> np.ndarray | None:
        """Prepare a sweep.

        What this shard counts, if that is new, because its messages are stored from now on.
        """
        stored = self.state.stored
        if self.schedule.arrange is not None:
            with ThreadPool(self.n_jobs) as pool:
                self.schedule.arrange(self.state, self.rule, pool)
        return self._counted() if self.state.stored != stored else None

    def sweep(self, end: int | None) -> np.ndarray:
        """A sweep; `end`: the last of all, if documents are inferred afresh until then."""
        self.state.end = end
        with ThreadPool(self.n_jobs) as pool:
            sweep(self.state, self.rule, replace(self.schedule, arrange=None), pool)
        # On top of many counts of others, differences lose what this shard counts: it counts anew
        # in every round.
        return (
            self.rebuild()
            if self.state.sweep % REBUILD_EVERY == 0 or not self.alone
            else self._counted()
        )

    def moved(self) -> tuple[float, float, str]:
        """The residual of the last sweep, its largest violation, and how it was made."""
        residual = float(self.state.messages.residual.sum())
        return residual, largest_violation(self.state), self.state.mode

    def evidence(self) -> np.ndarray:
        return alpha_evidence(self.state, self.rule.expected_counts)

    def learned_beta(self) -> float:
        return learned_beta(self.state, self.rule.expected_counts)

    def set_priors(self, alpha: np.ndarray, beta: float) -> None:
        self.state.alpha[: len(alpha)], self.state.beta = alpha, beta

    def log_likelihood(self) -> float:
        """Of the shard's documents."""
        with ThreadPool(self.n_jobs) as pool:
            return float(
                document_log_likelihood(
                    self.plan.counts, self.state.doc_topic(), self.state.topic_word(), pool
                ).sum()
            )

    def rebuild(self) -> np.ndarray:
        """Count all messages anew."""
        with ThreadPool(self.n_jobs) as pool:
            if not self.state.stored:
                if (
                    self.alone
                ):  # several shards that put the sum of all right would each do it in full
                    self.state.rebuild(self.rule, pool)
                return self._counted()
            self.state.word_base = None  # own messages alone
            self.state.rebuild(self.rule, pool)
        self.own = self.state.tables.phi - self.prior
        self.own_totals = self.state.tables.totals - self.prior_totals
        self.hear(self.others + self.own)
        return self.own

    def doc_topic(self) -> np.ndarray:
        return self.state.doc_topic()


def everywhere(shards: Sequence[Any], method: str, *args: Any) -> list[Any]:
    """Call a method of all shards, and wait for what they answer."""
    return waited([getattr(shard, method)(*args) for shard in shards])


def waited(answers: Sequence[Any]) -> list[Any]:
    """Answers, those from elsewhere when they are there: until then they are promises, with a
    `result`.
    """
    return [answer.result() if hasattr(answer, "result") else answer for answer in answers]
