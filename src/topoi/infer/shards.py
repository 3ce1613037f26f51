"""What the shards of a corpus do in a round, as functions without memory.

In each round every shard infers its documents afresh from their words and the word table, first one
half of them, then the other. A shard returns its contribution to the word counts, and the new
table is made from the sum over shards, in their order. What all documents of a turn gave a word
before is taken to be their part of what the word holds, as it is of a block of documents on one
machine (afresh.py): shards only share the work on a block. So nothing is kept between rounds but
the table: a result that is lost can be computed again anywhere, to the same bits, and one shard
alone gives the bits of schedule="incremental".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from topoi.graph.arrays import frozen
from topoi.graph.plan import Plan
from topoi.graph.wiring import Graph, build_graph, padded_width
from topoi.infer.afresh import contribution, infer_blocks
from topoi.infer.arrays import Tables
from topoi.infer.blocks import Blocks, make_blocks
from topoi.infer.likelihood import document_log_likelihood
from topoi.infer.memory import allocate, pad_topics
from topoi.infer.pieces import Piece, packed, unpacked
from topoi.infer.priors import alpha_evidence, beta_of
from topoi.infer.rules import Rule
from topoi.infer.state import TINY, State
from topoi.infer.tables import scale_rows
from topoi.infer.threads import ThreadPool
from topoi.infer.workers import admitted
from topoi.tuning import current

__all__ = [
    "TURNS",
    "Merging",
    "Round",
    "Run",
    "Shard",
    "added",
    "begin",
    "beta_steps",
    "change",
    "evidence",
    "given",
    "infer",
    "log_likelihood",
    "memory_need",
    "merge",
    "piece_of",
    "proportions",
    "theta_of",
    "turn_weights",
]

TURNS = 2  # of a round; one ends higher, four are no better (docs/lab-notes.md)

Sum = TypeVar("Sum", float, np.ndarray)  # what shards find, to be added


@dataclass(frozen=True, eq=False)
class Run:
    """What all tasks of a run know."""

    rule: Rule
    n_topics: int
    token: float  # of all documents, as `Plan.token`
    word_weight: np.ndarray  # (W,) sum of x of each word in all documents
    word_prior: np.ndarray | None  # (W, K) beyond beta
    bounds: np.ndarray  # (slices + 1,) of the words of each slice of the table
    n_shards: int
    n_jobs: int | None

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


class Shard:
    """Some of the documents, compiled where they are: another process compiles them again.

    plan: of these documents; seed: of this shard; token: of all documents.
    """

    def __init__(self, plan: Plan, seed: int, token: float) -> None:
        self.plan, self.seed, self.token = plan, seed, token

    @cached_property
    def graph(self) -> Graph:
        return replace(build_graph(self.plan, seed=self.seed), token=self.token)

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
        return {"plan": self.plan, "seed": self.seed, "token": self.token}

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
    ) -> State:
        """A state without messages. phi: (W, width) what words hold, priors included; theta:
        (documents, width) what documents hold.
        """
        graph = self.graph
        if theta is None:
            theta = allocate(graph.n_slots * graph.width).reshape(-1, graph.width)
        if phi is None:
            phi = np.zeros((1, graph.width), np.float32)
        mass = np.zeros(len(graph.arrays.slots), np.float32)
        tables = Tables(theta, phi, phi.sum(axis=0, dtype=np.float64), mass)
        return State.blank(graph, alpha, beta, self.seed, tables)


class Inferred(NamedTuple):
    """What a shard returns of a turn."""

    # (documents, width) what documents hold, 0 if it was not their turn; if it is asked for
    theta: np.ndarray | None
    pieces: list[Piece]  # their contribution to the word table, slice by slice


class Round(NamedTuple):
    """How a round is done, or one turn of it."""

    alpha: np.ndarray
    beta: float
    relaxation: float | None  # of the blocks of one shard; None: words wait for the end
    least: float  # part of a word's counts in a shard that is worth sending
    theta: bool  # whether documents are asked for
    exact: bool = False  # whether rows are to hold exactly what their document or word weighs
    turn: int | None = None  # the part of the documents of each shard; None: all


def memory_need(n_docs: int, n_edges: int, n_words: int, n_topics: int) -> int:
    """Bytes that a shard needs for a round: its documents and their graph, their topics, and a few
    tables of words.
    """
    tables = 4 * padded_width(n_topics) * (2 * n_docs + 5 * n_words)
    return 64 * n_edges + tables + current().chunk_bytes


def begin(shard: Shard, run: Run, how: Round, init: str, word_topic: np.ndarray | None) -> Inferred:
    """The contribution of the first messages of a shard. init, word_topic: as for `State.start`."""
    with ThreadPool(run.n_jobs) as pool:
        state = State.start(
            shard.graph,
            run.rule,
            how.alpha,
            how.beta,
            seed=shard.seed,
            pool=pool,
            init=init,
            word_topic=word_topic,
            stored=False,
        )
    phi = state.tables.phi
    counted = phi if run.prior is None else np.maximum(phi - run.prior, 0)
    return Inferred(None, run.sliced(counted, 0.0))


def infer(shard: Shard, run: Run, how: Round, *table: Piece) -> Inferred:
    """A round of a shard, as soon as the worker has memory for it. table: the slices of the word
    table.
    """
    counts = shard.plan.counts
    with admitted(memory_need(counts.shape[0], counts.nnz, counts.shape[1], run.n_topics)):
        return _infer(shard, run, how, table)


def _infer(shard: Shard, run: Run, how: Round, table: Sequence[Piece]) -> Inferred:
    phi = np.concatenate([unpacked(piece) for piece in table])
    state = shard.state(how.alpha, how.beta, phi if run.prior is None else phi + run.prior)
    state.blocks = shard.blocks._replace(mu=allocate(len(shard.blocks.mu)))
    with ThreadPool(run.n_jobs) as pool:
        if run.n_shards == 1:
            counted = infer_blocks(state, run.rule, pool, how.relaxation, phi)
        else:
            state.word_weight = run.word_weight.astype(np.float32)
            docs = shard.blocks.docs if how.turn is None else shard.turns[how.turn]
            counted = contribution(state, run.rule, pool, docs, by_part=how.turn is None)
    if how.exact:
        _scale_documents(state)
    return Inferred(state.tables.theta if how.theta else None, run.sliced(counted, how.least))


def _scale_documents(state: State) -> None:
    """Let each document that holds anything hold exactly its weight."""
    order = np.argsort(state.graph.arrays.slots)  # of rows
    scale_rows(state.tables.theta, state.doc_weight[order])


class Merging(NamedTuple):
    """How a slice of the new word table is made."""

    number: int  # of the slice
    least: float  # part of a row that is worth sending
    exact: bool = False  # whether rows are to hold exactly what their word weighs
    turn: int | None = None  # whose turn it was; None: all documents
    relaxation: float = 1.0  # over-relaxation factor of what they exchange


def merge(
    run: Run,
    how: Merging,
    pieces: list[Piece],
    old: Piece | None = None,
    in_turn: np.ndarray | None = None,
) -> Piece:
    """A slice of the new word table: the contributions of all shards, in their order.

    old: the slice before, of which the documents whose turn it was exchange their part, as a block
    does on one machine (`exchange_stage`). in_turn: (TURNS, W) weight of words in each turn.
    """
    total = unpacked(pieces[0]).astype(np.float64)
    for piece in pieces[1:]:
        total += unpacked(piece)
    weight = run.weight_of(how.number)
    if old is not None and in_turn is not None:
        part = in_turn[how.turn, run.bounds[how.number] : run.bounds[how.number + 1]]
        moved = np.minimum(how.relaxation * part, weight)
        total *= (moved / np.maximum(part, TINY))[:, None]
        total += unpacked(old) * (1 - moved / weight)[:, None]
    table = total.astype(np.float32)
    if how.exact:
        scale_rows(table, weight)
    return packed(table, run.n_topics, how.least)


def turn_weights(shard: Shard) -> np.ndarray:
    """(TURNS, W) sum of x of each word in the documents of each turn."""
    counts, found = shard.plan.counts, np.zeros((TURNS, shard.plan.counts.shape[1]))
    for weight, turn in zip(found, shard.turns, strict=True):
        for docs in turn:
            some = counts[docs]
            weight += np.bincount(some.indices, some.data.astype(np.float32), len(weight))
    return found


def change(old: Piece, new: Piece) -> float:
    """How much of what words hold has moved, in one slice."""
    return float(np.abs(unpacked(new).astype(np.float64) - unpacked(old)).sum())


def evidence(shard: Shard, run: Run, theta: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """(2, K) what the documents of a shard say of alpha."""
    return alpha_evidence(shard.state(alpha, 1.0, theta=theta), run.rule.expected_counts)


def beta_steps(run: Run, beta: float, steps: int, *table: Piece) -> float:
    """Beta after some fixed-point steps."""
    phi = np.concatenate([unpacked(piece) for piece in table])
    phi = phi if run.prior is None else phi + run.prior
    none = np.zeros((0, 0), np.float32)
    tables = Tables(none, phi, phi.sum(axis=0, dtype=np.float64), none)
    for _ in range(steps):
        beta = beta_of(
            tables,
            beta,
            run.token,
            run.n_topics,
            run.word_prior,
            expected=run.rule.expected_counts,
        )
    return beta


def log_likelihood(
    shard: Shard, run: Run, theta: np.ndarray, alpha: np.ndarray, beta: float, *table: Piece
) -> float:
    """Of the documents of a shard."""
    phi = np.concatenate([unpacked(piece) for piece in table])
    phi = phi if run.prior is None else phi + run.prior
    state = shard.state(alpha, beta, phi, theta)
    with ThreadPool(run.n_jobs) as pool:
        found = document_log_likelihood(
            shard.plan.counts, state.doc_topic(), state.topic_word(), pool
        )
    return float(found.sum())


def proportions(shard: Shard, theta: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """(documents, K) topic proportions of a shard after its last round."""
    state = shard.state(alpha, 1.0, theta=theta.copy())
    _scale_documents(state)
    return state.doc_topic()


# ------------------------------------------------------------------------------------ small tasks


def given(value: Run) -> Run:
    """What all tasks of a run are given, once."""
    return value


def theta_of(turns: Sequence[Inferred]) -> np.ndarray:
    """(documents, width) what documents hold, each from its turn."""
    return added([one.theta for one in turns if one.theta is not None])


def piece_of(inferred: Inferred, number: int) -> Piece:
    return inferred.pieces[number]


def added(values: Sequence[Sum]) -> Sum:
    """The sum, in the order of shards."""
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total
