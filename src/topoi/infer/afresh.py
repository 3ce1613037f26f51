"""Documents inferred afresh: nothing of a document is carried from one round to the next
(docs/afresh.md).

In each round a document starts from its words alone, takes a few passes of BP over its own edges
and adds its messages to the words' counts, from which those of its last round are gone. Messages
that are carried over get stuck; these do not. Where messages are stored, all documents are inferred
at once (the last rounds of "auto"; VB with inner passes). Where they are not, blocks of documents
take turns, and each exchanges its old counts of words for its new ones (incremental EM).
"""

from __future__ import annotations

import numpy as np

from topoi.infer import kernels
from topoi.infer.arrays import FreshParams
from topoi.infer.memory import allocate
from topoi.infer.rules import Rule
from topoi.infer.state import State
from topoi.infer.threads import ThreadPool

__all__ = ["fold_in", "infer_afresh", "settings"]

PASSES = 3  # more are no better (docs/lab-notes.md)
DISCOUNT = 0.5  # of a token


def infer_afresh(state: State, rule: Rule, pool: ThreadPool, relaxation: float = 1.0) -> None:
    """One round over all documents. Fields are as of its beginning.

    step: over-relaxation factor of what a block of documents exchanges, where blocks take turns.
    """
    if state.stored:
        _infer(state, rule, pool, np.arange(state.graph.n_docs), settings(state, rule))
        state.rebuild(rule, pool)
    else:
        _take_turns(state, rule, pool, relaxation)


def fold_in(
    state: State, rule: Rule, pool: ThreadPool, *, max_passes: int, tolerance: float
) -> None:
    """Infer documents under fixed words until each has converged: prediction."""
    how = FreshParams(max_passes - 1, 0.0, tolerance, rule.digamma_owners)
    _infer(state, rule, pool, np.arange(state.graph.n_docs), how)


def settings(state: State, rule: Rule) -> FreshParams:
    """How `rule` infers the documents of a run."""
    passes = rule.inner - 1 if rule.inner > 1 else PASSES
    return FreshParams(
        passes,
        0.0 if rule.digamma_owners else DISCOUNT * state.graph.token,
        0.0,
        rule.digamma_owners,
    )


def _infer(state: State, rule: Rule, pool: ThreadPool, docs: np.ndarray, how: FreshParams) -> None:
    """Messages of `docs` in state.messages.mu, and, where documents own themselves, their rows of
    theta.
    """
    graph = state.graph
    tables, params = rule.seen_words(state.tables, state.params(rule, in_place=False))
    if not graph.private:
        tables, params = rule.seen_owners(tables, params)
    kernel = kernels.infer_stage if graph.private else kernels.infer_joint_stage
    pool.each(
        kernel,
        graph.arrays,
        *graph.visits_of_docs,
        docs,
        tables,
        state.messages,
        state.fields,
        params,
        how,
    )


def _take_turns(state: State, rule: Rule, pool: ThreadPool, relaxation: float) -> None:
    """Blocks one after the other, each with the newest counts of words; in the first round all with
    those of the start.
    """
    graph, first = state.graph, state.contributions is None
    if first:
        state.graph = graph = graph.one_block_at_a_time()
        state.messages = state.messages._replace(mu=allocate(graph.message_size))
        size = (graph.n_doc_blocks, graph.n_words, graph.width)
        state.contributions = allocate(int(np.prod(size))).reshape(size)
    assert state.contributions is not None
    params, new = state.params(rule, in_place=False), np.zeros_like(state.tables.phi)
    for block, docs in enumerate(graph.docs_of_blocks):
        _infer(state, rule, pool, docs, settings(state, rule))
        told = state.contributions[block] if first else new
        pool.each(kernels.count_words_stage, graph.arrays, state.messages, params, block, told)
        if not first:
            pool.each(
                kernels.exchange_stage,
                state.tables.phi,
                state.contributions[block],
                new,
                relaxation,
            )
            state.tables = state.tables._replace(
                totals=state.tables.phi.sum(axis=0, dtype=np.float64)
            )
    if first:
        state.rebuild(rule, pool)
