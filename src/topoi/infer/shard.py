"""A shard of a corpus, and what all tasks of a run over shards know.

What words hold of topics is the first part of the table that shards exchange. Where documents share
owners (authors), what these hold is the other part, with a row for each owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from topoi.graph.arrays import frozen
from topoi.graph.plan import Plan
from topoi.graph.wiring import Graph, build_graph, padded_width
from topoi.infer.arrays import Tables
from topoi.infer.blocks import Blocks, make_blocks
from topoi.infer.memory import allocate, pad_topics
from topoi.infer.pieces import Piece, packed, unpacked
from topoi.infer.rules import Rule
from topoi.infer.state import TINY, State
from topoi.tuning import current

__all__ = ["TURNS", "Run", "Shard", "memory_need"]

TURNS = 2  # of a round; one ends higher, four are no better (docs/lab-notes.md)


@dataclass(frozen=True, eq=False)
class Run:
    """What all tasks of a run know."""

    rule: Rule
    n_topics: int
    token: float  # of all documents, as `Plan.token`
    word_weight: np.ndarray  # (W,) sum of x of each word in all documents
    word_prior: np.ndarray | None  # (W, K) beyond beta
    bounds: np.ndarray  # (slices + 1,) of the rows of each slice of the table
    n_shards: int
    n_jobs: int | None
    # (owners,) as `State.owner_weight`, of all documents; None where documents own themselves
    owner_weight: np.ndarray | None = None

    @cached_property
    def prior(self) -> np.ndarray | None:
        """(W, width) the word prior as kernels read it."""
        width = padded_width(self.n_topics)
        return None if self.word_prior is None else pad_topics(self.word_prior, width)

    def weight_of(self, number: int) -> np.ndarray:
        """(words,) weight of the words of a slice, never 0."""
        weight = self.word_weight[self.bounds[number] : self.bounds[number + 1]]
        return np.maximum(weight, TINY).astype(np.float32)

    def sliced(self, table: np.ndarray, least: float) -> list[Piece]:
        """Rows of each slice, packed."""
        pairs = zip(self.bounds[:-1], self.bounds[1:], strict=True)
        return [packed(table[a:b], self.n_topics, least) for a, b in pairs]

    def parted(self, table: Sequence[Piece]) -> tuple[np.ndarray, np.ndarray]:
        """What words hold (W, width), and what owners hold (owners, width): slices, unpacked."""
        rows = np.concatenate([unpacked(piece) for piece in table])
        return rows[: len(self.word_weight)], rows[len(self.word_weight) :]

    def with_prior(self, words: np.ndarray) -> np.ndarray:
        """(W, width) what words hold, priors included."""
        return words if self.prior is None else words + self.prior


class Shard:
    """Some of the documents, compiled where they are: another process compiles them again.

    plan: of these documents; seed: of this shard; token: of all documents; owners: the number of
    each owner of the plan among those of all documents, or None where documents own themselves.
    """

    def __init__(
        self, plan: Plan, seed: int, token: float, owners: np.ndarray | None = None
    ) -> None:
        self.plan, self.seed, self.token, self.owners = plan, seed, token, owners

    @cached_property
    def graph(self) -> Graph:
        graph = replace(build_graph(self.plan, seed=self.seed), token=self.token)
        if self.owners is None:
            return graph
        # Owners may have other documents elsewhere. Tables are counted without the prior of words,
        # which is added where they are read.
        return replace(graph, private=False, word_prior=None)

    @cached_property
    def blocks(self) -> Blocks:
        """Blocks of the documents, without memory for messages: that is of one task alone."""
        blocks = make_blocks(self.graph)
        return blocks._replace(mu=np.broadcast_to(np.float32(0), blocks.mu.shape))

    @cached_property
    def turns(self) -> list[list[np.ndarray]]:
        """The documents of each turn, block by block."""
        docs, turns = self.blocks.docs, range(TURNS)
        return [[frozen(some[turn::TURNS], np.int64) for some in docs] for turn in turns]

    def __getstate__(self) -> dict[str, object]:
        return {name: vars(self)[name] for name in ("plan", "seed", "token", "owners")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __sizeof__(self) -> int:
        """For schedulers, which do not move what is large."""
        counts = self.plan.counts
        arrays = [counts.data, counts.indices, counts.indptr, *self.graph.arrays]
        return int(sum(array.nbytes for array in arrays))

    def state(
        self,
        alpha: np.ndarray,
        beta: float,
        phi: np.ndarray | None = None,
        theta: np.ndarray | None = None,
        owner_mass: np.ndarray | None = None,
    ) -> State:
        """A state without messages.

        phi: (W, width) what words hold, priors included; theta: (rows, width) what documents or
        their owners hold; owner_mass: (pairs,) what each document gives its owners.
        """
        graph = self.graph
        if theta is None:
            theta = allocate(graph.n_slots * graph.width).reshape(-1, graph.width)
        if phi is None:
            phi = np.zeros((1, graph.width), np.float32)
        if owner_mass is None:
            owner_mass = np.zeros(len(graph.arrays.slots), np.float32)
        tables = Tables(theta, phi, phi.sum(axis=0, dtype=np.float64), owner_mass)
        return State.blank(graph, alpha, beta, self.seed, tables)

    def after(
        self,
        run: Run,
        alpha: np.ndarray,
        beta: float,
        table: Sequence[Piece],
        held: np.ndarray | None,
    ) -> State:
        """The state after a round, by the slices of the table and what documents hold: their rows
        of theta, or the mass of their owners where they share these.
        """
        words, owners = run.parted(table)
        phi = run.with_prior(words)
        if self.owners is None:
            return self.state(alpha, beta, phi, held)
        theta = owners[self.owners[self.graph.slot_owner]]
        return self.state(alpha, beta, phi, theta, held)


def memory_need(n_held: int, n_edges: int, n_rows: int, n_topics: int, n_messages: int = 0) -> int:
    """Bytes that a shard needs for a round: its documents and their graph, what they or their
    owners hold, a few tables, and messages where these are not those of a block.

    n_held: documents, or pairs of a document and an owner; n_rows: of the table.
    """
    tables = 4 * padded_width(n_topics) * (2 * n_held + 5 * n_rows + n_messages)
    return 64 * n_edges + tables + current().chunk_bytes
