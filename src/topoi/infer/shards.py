"""What the shards of a corpus do in a round, as functions without memory.

In each round every shard infers its documents afresh from their words and the word table, first one
half of them, then the other. A shard returns its contribution to the word counts, and the new
table is made from the sum over shards, in their order. What all documents of a turn gave a word
before is taken to be their part of what the word holds, as it is of a block of documents on one
machine (afresh.py): shards only share the work on a block. So nothing is kept between rounds but
the table: a result that is lost can be computed again anywhere, to the same bits, and one shard
alone gives the bits of schedule="incremental".

Documents that share owners (authors) are inferred all at once, as they are on one machine. The
table has rows for owners beside those of words, and both are the sum over shards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from topoi.infer.afresh import contribution, infer_afresh, infer_blocks
from topoi.infer.arrays import Tables
from topoi.infer.likelihood import document_log_likelihood
from topoi.infer.memory import allocate
from topoi.infer.pieces import Piece, packed, unpacked
from topoi.infer.priors import alpha_evidence, alpha_of, beta_of, evidence_of
from topoi.infer.shard import TURNS, Run, Shard, memory_need
from topoi.infer.state import TINY, State
from topoi.infer.tables import scale_rows
from topoi.infer.threads import ThreadPool
from topoi.infer.workers import admitted

__all__ = [
    "TURNS",
    "Merging",
    "Round",
    "Run",
    "Shard",
    "added",
    "alpha_steps",
    "begin",
    "beta_steps",
    "change",
    "evidence",
    "given",
    "infer",
    "log_likelihood",
    "merge",
    "owner_weights",
    "piece_of",
    "proportions",
    "theta_of",
    "turn_weights",
]

Given = TypeVar("Given")
Sum = TypeVar("Sum", float, np.ndarray)  # what shards find, to be added


class Inferred(NamedTuple):
    """What a shard returns of a turn."""

    # what documents hold, if it is asked for: (documents, width), 0 if it was not their turn; or
    # (pairs,) what each gives its owners, where they share these
    theta: np.ndarray | None
    pieces: list[Piece]  # their contribution to the table, slice by slice


class Round(NamedTuple):
    """How a round is done, or one turn of it."""

    alpha: np.ndarray
    beta: float
    relaxation: float | None  # of the blocks of one shard; None: words wait for the end
    least: float  # part of a word's counts in a shard that is worth sending
    theta: bool  # whether documents are asked for
    exact: bool = False  # whether rows are to hold exactly what their document or word weighs
    turn: int | None = None  # the part of the documents of each shard; None: all


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
            stored=shard.owners is not None,
        )
    if shard.owners is not None:
        return Inferred(None, run.sliced(_contribution(shard, run, state), 0.0))
    phi = state.tables.phi
    counted = phi if run.prior is None else np.maximum(phi - run.prior, 0)
    return Inferred(None, run.sliced(counted, 0.0))


def infer(shard: Shard, run: Run, how: Round, *table: Piece) -> Inferred:
    """A round of a shard, as soon as the worker has memory for it. table: its slices."""
    counts, n_rows = shard.plan.counts, int(run.bounds[-1])
    if shard.owners is None:
        with admitted(memory_need(counts.shape[0], counts.nnz, n_rows, run.n_topics)):
            return _infer(shard, run, how, table)
    n_owners = np.diff(shard.graph.arrays.slot_ptr)
    n_messages = int(n_owners @ np.diff(counts.indptr))
    with admitted(memory_need(int(n_owners.sum()), counts.nnz, n_rows, run.n_topics, n_messages)):
        return _infer_shared(shard, run, how, table)


def _infer(shard: Shard, run: Run, how: Round, table: Sequence[Piece]) -> Inferred:
    phi, _ = run.parted(table)
    state = shard.state(how.alpha, how.beta, run.with_prior(phi))
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


def _infer_shared(shard: Shard, run: Run, how: Round, table: Sequence[Piece]) -> Inferred:
    """A round of documents that share owners: all at once, by messages of this task alone."""
    assert shard.owners is not None
    assert run.owner_weight is not None
    state = shard.after(run, how.alpha, how.beta, table, None)
    state.messages = state.messages._replace(mu=allocate(shard.graph.message_size))
    state.stored, state.owner_weight = True, run.owner_weight[shard.owners]
    with ThreadPool(run.n_jobs) as pool:
        infer_afresh(state, run.rule, pool)
    mass = state.tables.owner_mass if how.theta else None
    return Inferred(mass, run.sliced(_contribution(shard, run, state), how.least))


def _contribution(shard: Shard, run: Run, state: State) -> np.ndarray:
    """(rows, width) what documents give to words and to their owners."""
    assert shard.owners is not None
    table = np.zeros((int(run.bounds[-1]), state.graph.width), np.float32)
    table[: len(run.word_weight)] = state.tables.phi
    table[len(run.word_weight) + shard.owners] = state.tables.theta[state.graph.owner_slot]
    return table


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


def owner_weights(shard: Shard, n_owners: int) -> np.ndarray:
    """(n_owners,) what the documents of a shard add to `State.owner_weight`."""
    weight = np.zeros(n_owners)
    weight[shard.owners] = shard.graph.owner_weight()
    return weight


def change(old: Piece, new: Piece) -> float:
    """How much of what words hold has moved, in one slice."""
    return float(np.abs(unpacked(new).astype(np.float64) - unpacked(old)).sum())


def evidence(shard: Shard, run: Run, theta: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """(2, K) what the documents of a shard say of alpha."""
    return alpha_evidence(shard.state(alpha, 1.0, theta=theta), run.rule.expected_counts)


def alpha_steps(run: Run, alpha: np.ndarray, steps: int, *table: Piece) -> np.ndarray:
    """Alpha (K,) after some fixed-point steps, by what shared owners hold."""
    _, owners = run.parted(table)
    owners /= np.float32(run.token)
    expected = run.rule.expected_counts
    for _ in range(steps):
        prior = np.pad(alpha, (0, owners.shape[1] - run.n_topics))
        found = evidence_of(owners, prior, run.n_topics, run.token, expected)
        alpha = alpha_of(found, run.token)
    return alpha


def beta_steps(run: Run, beta: float, steps: int, *table: Piece) -> float:
    """Beta after some fixed-point steps."""
    phi = run.with_prior(run.parted(table)[0])
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
    state = shard.after(run, alpha, beta, table, theta)
    with ThreadPool(run.n_jobs) as pool:
        found = document_log_likelihood(
            shard.plan.counts, state.doc_topic(), state.topic_word(), pool
        )
    return float(found.sum())


def proportions(
    shard: Shard, run: Run, theta: np.ndarray, alpha: np.ndarray, *table: Piece
) -> np.ndarray:
    """(documents, K) topic proportions of a shard after its last round. table: where documents
    share owners.
    """
    if shard.owners is not None:
        return shard.after(run, alpha, 1.0, table, theta).doc_topic()
    state = shard.state(alpha, 1.0, theta=theta.copy())
    _scale_documents(state)
    return state.doc_topic()


# ------------------------------------------------------------------------------------ small tasks


def given(value: Given) -> Given:
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
