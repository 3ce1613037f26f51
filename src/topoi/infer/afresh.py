"""Documents inferred afresh: nothing of a document is carried from one round to the next
(docs/afresh.md).

In each round a document starts from its words alone, takes a few passes of BP over its own edges
and adds its messages to the words' counts, from which those of its last round are gone. Messages
that are carried over get stuck; these do not. Where messages are stored, all documents are inferred
at once (the last rounds of "auto"; VB with inner passes). Where they are not, blocks of documents
take turns, and the counts of words are all that is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topoi.graph.arrays import GraphArrays, frozen
from topoi.infer import kernels
from topoi.infer.arrays import FreshParams, Messages
from topoi.infer.blocks import make_blocks
from topoi.infer.memory import pad_topics
from topoi.infer.rules import Rule
from topoi.infer.state import TINY, State
from topoi.infer.threads import ThreadPool

__all__ = [
    "contribution",
    "favoured_topics",
    "fold_in",
    "held_by_words",
    "infer_afresh",
    "infer_blocks",
    "owner_parts",
    "settings",
]

PASSES = 3  # more are no better (docs/lab-notes.md)
DISCOUNT = 0.5  # of a token
LEAST_OF_WORD = 1 / 200  # a word favours topics with at least this proportion of its counts


def infer_afresh(
    state: State, rule: Rule, pool: ThreadPool, relaxation: float | None = None
) -> None:
    """One round over all documents. Fields are as of its beginning.

    relaxation: over-relaxation factor of what a block of documents exchanges. None: words wait
    for the end of the round, as they do where messages are stored.
    """
    if state.stored:
        docs = _all_docs(state)
        how = settings(state, rule, by_part=True)
        _infer(state, rule, pool, state.graph.arrays, state.messages, docs, how)
        state.rebuild(rule, pool)
    else:
        infer_blocks(state, rule, pool, relaxation)


def fold_in(
    state: State, rule: Rule, pool: ThreadPool, *, max_passes: int, tolerance: float
) -> None:
    """Infer documents under fixed words until each has converged: prediction."""
    docs = _all_docs(state)
    how = FreshParams(max_passes - 1, 0.0, tolerance, rule.digamma_owners, True)
    _infer(state, rule, pool, state.graph.arrays, state.messages, docs, how)


def settings(state: State, rule: Rule, *, by_part: bool) -> FreshParams:
    """How `rule` infers the documents of a run. by_part: what edges remove from words."""
    passes = rule.inner - 1 if rule.inner > 1 else PASSES
    return FreshParams(
        passes,
        0.0 if rule.digamma_owners else DISCOUNT * state.graph.token,
        0.0,
        rule.digamma_owners,
        by_part,
    )


def _infer(
    state: State,
    rule: Rule,
    pool: ThreadPool,
    arrays: GraphArrays,
    messages: Messages,
    docs: np.ndarray,
    how: FreshParams,
) -> None:
    """Messages of `docs` in messages.mu, and, where documents own themselves, their rows of
    theta.
    """
    graph = state.graph
    tables, params = rule.seen_words(state.tables, state.params(rule, in_place=False))
    if not graph.private:
        tables, params = rule.seen_owners(tables, params)
    kernel, variant = (
        (kernels.infer_stage, (arrays.lists, how.digamma or None))
        if graph.private
        else (kernels.infer_joint_stage, (owner_parts(state),))
    )
    phi_held = held_by_words(state.tables.phi, fixed=graph.frozen_words or not how.by_part)
    pool.each(
        kernel,
        arrays,
        *variant,
        *graph.visits_of_docs,
        docs,
        tables,
        phi_held,
        messages,
        state.fields,
        params,
        how,
        state.scratch(pool),
    )


def owner_parts(state: State) -> np.ndarray:
    """(pairs,) the part of each document in what each of its owners holds, by weight."""
    graph = state.graph
    held = state.owner_weight[graph.slot_owner[graph.arrays.slots]]
    return (graph.pair_weight / np.maximum(held, TINY)).astype(np.float32)


def _all_docs(state: State) -> np.ndarray:
    """(D,) all documents; read-only as those of blocks are: one type for the compiler."""
    return frozen(np.arange(state.graph.n_docs), np.int64)


def held_by_words(phi: np.ndarray, *, fixed: bool) -> np.ndarray:
    """(W,) what words hold of all topics, of which an edge removes its part; without limit where
    words are fixed or edges remove no part.
    """
    if fixed:
        return np.full(len(phi), np.finfo(np.float32).max, np.float32)
    return np.maximum(phi.sum(axis=1), TINY)


def infer_blocks(
    state: State,
    rule: Rule,
    pool: ThreadPool,
    relaxation: float | None,
    counted: np.ndarray | None = None,
) -> np.ndarray:
    """Blocks one after the other, each with the newest counts of words, or all with those of the
    beginning.

    counted: (W, width) what words hold of these documents, where they hold more besides
    (`state.word_base`). Returns the same after the round.
    """
    if state.blocks is None:
        state.blocks = make_blocks(state.graph)
    besides = _held_besides(state)
    if relaxation is None:
        counted = contribution(state, rule, pool, state.blocks.docs, by_part=True)
        _hold(state, counted, besides)
        return counted
    if counted is None:
        phi = state.tables.phi
        counted = phi if besides is None else np.maximum(phi - besides, 0)
    arrays, how = _listed(state, pool), settings(state, rule, by_part=False)
    for docs in state.blocks.docs:  # words hold `counted` when it is whole
        _infer_block(state, rule, pool, arrays, docs, how, relaxation, counted)
        _hold(state, counted, besides)
    return counted


def contribution(
    state: State, rule: Rule, pool: ThreadPool, blocks: Sequence[np.ndarray], *, by_part: bool
) -> np.ndarray:
    """(W, width) the messages of the documents of some blocks, added up. Words do not change
    meanwhile. by_part: as for `settings`.
    """
    arrays, how = _listed(state, pool), settings(state, rule, by_part=by_part)
    counted = np.zeros_like(state.tables.phi)
    for docs in blocks:
        _infer_block(state, rule, pool, arrays, docs, how, 0.0, counted)
    return counted


def _listed(state: State, pool: ThreadPool) -> GraphArrays:
    """The edges in blocks, with the topics that documents favour now, where topics are many."""
    assert state.blocks is not None
    arrays = state.blocks.arrays
    if arrays.topic_ptr is state.graph.arrays.topic_ptr:
        return arrays
    return arrays._replace(topics=favoured_topics(state, pool, arrays.topic_ptr))


def _infer_block(
    state: State,
    rule: Rule,
    pool: ThreadPool,
    arrays: GraphArrays,
    docs: np.ndarray,
    how: FreshParams,
    relaxation: float,
    counted: np.ndarray,
) -> None:
    """Infer `docs`, and exchange their part of `counted`. With a relaxation of 0 they add to it."""
    assert state.blocks is not None
    mu = state.blocks.mu
    _infer(state, rule, pool, arrays, state.messages._replace(mu=mu), docs, how)
    visits, weight = state.graph.visits_of_docs, state.word_weight
    pool.each(
        kernels.exchange_stage, arrays, *visits, docs, mu, weight, relaxation, counted
    )  # fmt: skip


def _hold(state: State, counted: np.ndarray, besides: np.ndarray | None) -> None:
    """Let words hold `counted`, and what they hold besides."""
    phi = counted if besides is None else counted + besides
    state.tables = state.tables._replace(phi=phi, totals=kernels.topic_totals(phi))


def _held_besides(state: State) -> np.ndarray | None:
    """(W, width) what words hold besides the messages of these documents: priors, and the
    contributions of other documents.
    """
    held = [
        pad_topics(table, state.graph.width)
        for table in (state.graph.word_prior, state.word_base)
        if table is not None
    ]
    return None if not held else held[0] if len(held) == 1 else held[0] + held[1]


def favoured_topics(state: State, pool: ThreadPool, list_ptr: np.ndarray) -> np.ndarray:
    """The topics that each document favours most, as many as its list has room for: document after
    document, ascending.
    """
    graph, word_weight = state.graph, state.word_weight
    if state.word_base is not None:
        word_weight = word_weight + state.word_base.sum(axis=1)
    word_ptr, word_topics = kernels.topics_of_words(state.tables.phi, word_weight, LEAST_OF_WORD)
    lists = np.empty(list_ptr[-1], np.int32)
    pool.each(
        kernels.favour_stage,
        graph.arrays,
        *graph.visits_of_docs,
        state.tables.phi,
        word_weight,
        word_ptr,
        word_topics,
        state.fields,
        graph.n_topics,
        list_ptr,
        lists,
        state.scratch(pool),
    )
    lists.setflags(write=False)
    return lists
