"""State: everything that changes while messages move.

Messages, the tables counted from them, and the priors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from topoi.graph.arrays import GraphArrays
from topoi.graph.fields import LearnedField
from topoi.graph.wiring import Graph
from topoi.infer import kernels
from topoi.infer.arrays import ActiveSet, Fields, Messages, Scratch, SweepParams, Tables
from topoi.infer.blocks import Blocks
from topoi.infer.elsewhere import Elsewhere
from topoi.infer.memory import allocate, pad_topics, release
from topoi.infer.proportions import Proportions
from topoi.infer.rules import Rule
from topoi.infer.tables import blank_tables, owner_base, scale_rows
from topoi.infer.threads import ThreadPool

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["INITS", "State", "sweep_seed"]

TINY = 1e-30
NEVER = 1e30  # residual of a visit that has not been made; kernels are compiled for finite numbers
INITS = {"hard": 0, "soft": 1, "warm": 2}


@dataclass(eq=False)
class State(Proportions):
    """Build with `State.start`.

    Arrays are padded to `graph.width` topics; padding topics hold nothing and have prior 0.
    """

    graph: Graph
    alpha: np.ndarray  # (width,) float64
    beta: float
    seed: int
    tables: Tables
    messages: Messages
    shared_counts: np.ndarray  # (shared owners, width) what all rows of a shared owner agree on
    fields: Fields  # their messages in this sweep
    learned: list[LearnedField]  # what the run has learned of each field
    word_base: np.ndarray | None  # (W, K) counts that words hold besides the messages
    # False while messages are only implied by the tables (kernels/stateless.py)
    stored: bool = True
    mode: str = ""  # how the last sweep was made
    relaxation: float = 1.0  # over-relaxation factor of the last sweep
    sweep: int = 0
    # the last sweep, from when a run that infers its documents afresh at its end has begun to
    end: int | None = None
    prior_change: float = 0.0  # of learned priors, relative, when they were last learned
    active_set: ActiveSet | None = None  # of an active schedule
    # Second set of tables of synchronous schedules.
    spare: Tables | None = field(default=None, repr=False)
    blocks: Blocks | None = field(default=None, repr=False)  # where they take turns (afresh.py)
    elsewhere: Elsewhere | None = field(default=None, repr=False)  # where the documents are, if so

    @classmethod
    def start(cls, graph: Graph, rule: Rule, alpha: np.ndarray, beta: float, *, seed: int,
    pool: ThreadPool, init: str = "hard",
              word_topic: np.ndarray | None = None, stored: bool = True,
              learned: Sequence[LearnedField] | None = None) -> State:  # fmt: skip
        """First messages and their tables.

        init: "hard" one topic per edge, "soft" a random message, "warm" the topics of the word:
        proportional to `word_topic` (W, K) and the prior. stored: False keeps the tables of these
        messages only. learned: of each field, from an earlier run.
        """
        state = cls.blank(
            graph, alpha, beta, seed, blank_tables(graph, graph.word_base), learned=learned
        )
        state.stored = stored
        messages = state.messages = state.messages._replace(
            mu=allocate(0 if rule.draws or not stored else graph.message_size),
            z=np.zeros(graph.n_edges if rule.draws else 0, np.int32),
        )
        source = (
            np.ones((1, graph.width), np.float32)
            if word_topic is None
            else pad_topics(word_topic, graph.width)
        )
        params = state.params(rule, in_place=False)._replace(seed=sweep_seed(seed, 0))
        scratch = state.scratch(pool)
        for stage in range(graph.n_word_blocks):
            if stored:
                pool.each(
                    kernels.start_stage,
                    graph.arrays,
                    messages,
                    params,
                    source,
                    INITS[init],
                    scratch,
                    stage,
                )
            else:
                pool.each(
                    kernels.stateless_start_stage,
                    graph.arrays,
                    graph.arrays.lists,
                    state.tables,
                    params,
                    source,
                    INITS[init],
                    scratch,
                    stage,
                )
        state.rebuild(rule, pool)
        return state

    @classmethod
    def blank(
        cls,
        graph: Graph,
        alpha: np.ndarray,
        beta: float,
        seed: int,
        tables: Tables,
        *,
        learned: Sequence[LearnedField] | None = None,
    ) -> State:
        """A state with these tables and without messages. alpha: (K,)."""
        n_visits, padded_alpha = len(graph.arrays.visit_doc), np.zeros(graph.width)
        padded_alpha[: graph.n_topics] = alpha
        messages = Messages(
            mu=np.zeros(0, np.float32),
            z=np.zeros(0, np.int32),
            order=np.arange(n_visits),
            residual=np.full(n_visits, NEVER),
            change=np.zeros((graph.n_doc_blocks, graph.width)),
        )
        return cls(
            graph,
            padded_alpha,
            float(beta),
            seed,
            tables,
            messages,
            np.zeros((len(graph.shared_ptr) - 1, graph.width), np.float32),
            Fields(np.zeros((1, 1), np.float32), np.zeros(graph.n_docs, np.float32)),
            [LearnedField(field.weight) for field in graph.fields]
            if learned is None
            else list(learned),
            graph.word_base,
            stored=False,
        )

    @cached_property
    def word_weight(self) -> np.ndarray:
        """(W,) sum of x of each word, never 0: an edge may weigh nothing."""
        return np.maximum(
            np.bincount(self.graph.arrays.edge_word, self.graph.arrays.edge_x, self.graph.n_words),
            TINY,
        ).astype(np.float32)

    @cached_property
    def doc_weight(self) -> np.ndarray:
        """(D,) sum of x of each document, never 0."""
        return np.maximum(self.graph.doc_weight, TINY).astype(np.float32)

    @cached_property
    def owner_weight(self) -> np.ndarray:
        """(O,) as `Graph.owner_weight`; of all documents, where these are some of them."""
        return self.graph.owner_weight()

    def store(self, rule: Rule, pool: ThreadPool, topics: sparse.csr_array | None = None) -> None:
        """Store the messages that the tables imply, on the lists `topics` (D, K) or of all
        topics.
        """
        if topics is not None:
            self.graph = self.graph.with_lists(topics)
        self.recall(rule, pool, allocate(self.graph.message_size))
        self.rebuild(rule, pool)

    def recall(self, rule: Rule, pool: ThreadPool, mu: np.ndarray) -> None:
        """Store the messages that the tables imply in `mu`. Tables stay as they are."""
        self.messages = self.messages._replace(mu=mu)
        params, scratch = self.params(rule, in_place=True), self.scratch(pool)
        for stage in range(self.graph.n_word_blocks):
            pool.each(
                kernels.recall_stage,
                self.graph.arrays,
                self.graph.arrays.lists,
                self.tables,
                self.messages,
                params,
                self.doc_weight,
                self.word_weight,
                scratch,
                stage,
            )
        self.stored = True

    def relist(self, rule: Rule, pool: ThreadPool, topics: sparse.csr_array) -> None:
        """Move the messages from the lists they are on to others, and free the memory of the old
        ones on the way.
        """
        old, mu, n = self.graph.arrays, self.messages.mu, self.graph.n_word_blocks
        begin = np.append(old.visit_message, len(mu))[old.cell_visit]  # of each cell's messages
        self.graph = self.graph.with_lists(topics)
        self.messages = self.messages._replace(mu=allocate(self.graph.message_size, at_once=False))
        params = self.params(rule, in_place=True)
        for stage in range(n):
            pool.each(
                kernels.copy_stage,
                self.graph.arrays,
                old.topic_ptr,
                old.topics,
                old.visit_message,
                mu,
                self.messages,
                params,
                stage,
            )
            for p in range(self.graph.n_doc_blocks):
                cell = p * n + (p + stage) % n
                release(mu, begin[cell], begin[cell + 1])
        self.rebuild(rule, pool)

    def params(self, rule: Rule, *, in_place: bool, relaxation: float = 1.0) -> SweepParams:
        return SweepParams(
            alpha=self.alpha.astype(np.float32),
            beta=self.beta,
            word_prior=np.full(self.graph.width, self.beta, np.float32),
            beta_sum=self.graph.n_words * self.beta,
            owner_prior=self.graph.owner_prior,
            own_cap=rule.own_cap,
            in_place=in_place,
            frozen_words=self.graph.frozen_words,
            plain_side=False,
            relaxation=relaxation,
            seed=sweep_seed(self.seed, self.sweep + 1),  # 0 is the start's
            n_doc_blocks=self.graph.n_doc_blocks,
            n_word_blocks=self.graph.n_word_blocks,
            max_owners=self.graph.max_owners,
        )

    def scratch(self, pool: ThreadPool) -> Scratch:
        return Scratch.blank(pool.size, self.graph.width, self.graph.max_owners)

    def visit_words(self) -> None:
        """From now on sweeps visit words instead of documents."""
        self.graph, order = self.graph.by_words()
        assert self.graph.transposed is not None
        n_visits = len(self.graph.transposed.visit_doc)
        mu = self.messages.mu.reshape(-1, self.graph.width)[order].ravel()
        self.messages = self.messages._replace(
            mu=mu, order=np.arange(n_visits), residual=np.full(n_visits, NEVER)
        )

    def oriented(
        self, tables: Tables, params: SweepParams
    ) -> tuple[GraphArrays, Tables, SweepParams]:
        """Graph, tables and priors as the kernels see them: where sweeps visit words, documents
        and words have changed places.
        """
        if self.graph.transposed is None:
            return self.graph.arrays, tables, params
        swapped = tables._replace(
            theta=tables.phi, phi=tables.theta, owner_mass=np.zeros(self.graph.n_words, np.float32)
        )
        side = np.where(params.alpha > 0, params.word_prior, np.float32(0))
        return self.graph.transposed, swapped, params._replace(alpha=side, word_prior=params.alpha)

    def merge_stage(self) -> None:
        """Add what the cells of a stage changed, in a fixed order."""
        self.tables.totals[:] += self.messages.change.sum(axis=0)
        self.messages.change[:] = 0
        if len(self.shared_counts):
            kernels.merge_shared(
                self.tables.theta,
                self.shared_counts,
                self.graph.shared_ptr,
                self.graph.shared_slots,
            )

    def finished(self, tables: Tables) -> Tables:
        """Tables that were counted from nothing: let shared owners agree, add up the totals."""
        if len(self.shared_counts):
            self.shared_counts[:] = owner_base(self.graph)[
                self.graph.slot_owner[self.graph.shared_slots[self.graph.shared_ptr[:-1]]]
            ]
            kernels.merge_shared(
                tables.theta, self.shared_counts, self.graph.shared_ptr, self.graph.shared_slots
            )
        return tables._replace(totals=tables.phi.sum(axis=0, dtype=np.float64))

    def _count(
        self, arrays: GraphArrays, tables: Tables, params: SweepParams, pool: ThreadPool
    ) -> None:
        """Add all messages to the tables."""
        alone = self.graph.max_owners == 1 and not len(self.messages.z)
        kernel = kernels.count_stage if alone else kernels.count_joint_stage
        scratch = self.scratch(pool)
        for stage in range(self.graph.n_word_blocks):
            pool.each(kernel, arrays, arrays.lists, tables, self.messages, params, scratch, stage)

    def rebuild(self, rule: Rule, pool: ThreadPool) -> None:
        """Count all messages anew: removes the rounding of many small differences."""
        if not self.stored:
            self._even_out()
            return
        tables = blank_tables(self.graph, self.word_base, self.tables)
        arrays, faced, params = self.oriented(tables, self.params(rule, in_place=False))
        self._count(arrays, faced, params, pool)
        self.tables = self.finished(tables)

    def count_words(self, phi: np.ndarray, rule: Rule, pool: ThreadPool) -> None:
        """Add what the messages give to words to `phi` (W, width)."""
        tables = self.tables._replace(
            theta=np.zeros_like(self.tables.theta),
            phi=phi,
            owner_mass=np.zeros_like(self.tables.owner_mass),
        )
        self._count(self.graph.arrays, tables, self.params(rule, in_place=False), pool)

    def _even_out(self) -> None:
        """What `rebuild` is without stored messages: rows hold exactly the weight of their document
        or word.
        """
        theta, phi, prior = self.tables.theta, self.tables.phi, self.graph.word_prior
        if prior is not None:
            phi[:, : self.graph.n_topics] -= prior
        doc_weight = self.doc_weight[
            np.argsort(self.graph.arrays.slots)
        ]  # in the order of the rows
        for table, weight in ((theta, doc_weight), (phi, self.word_weight)):
            scale_rows(table, weight)
        if prior is not None:
            phi[:, : self.graph.n_topics] += prior
        self.tables = self.tables._replace(
            totals=phi.sum(axis=0, dtype=np.float64), owner_mass=self.doc_weight.copy()
        )


def sweep_seed(seed: int, sweep: int) -> int:
    """A seed of its own for each sweep."""
    return int(np.random.SeedSequence([seed, sweep]).generate_state(1, np.uint64)[0]) >> 1
