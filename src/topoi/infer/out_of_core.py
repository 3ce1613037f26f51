"""Sweeps over documents that are read block by block.

The state holds what words hold, and no document. In its turn a block becomes a small state on a
graph of its own with these words, which is swept as any other. With "auto" it recalls its messages
first, and keeps them in brief until its next turn (kept.py); with "incremental", and in the last
rounds, it infers its documents afresh and is forgotten. What is asked of all documents after a
sweep is added up meanwhile: the evidence of alpha, and the likelihood, each document's by the words
of its turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse

from topoi.graph.plan import Plan
from topoi.graph.wiring import Graph, build_graph
from topoi.infer.arrays import Fields, Kept, Messages, Tables
from topoi.infer.elsewhere import Elsewhere, PlanBlocks, RoundSums
from topoi.infer.kept import keep, recall
from topoi.infer.likelihood import document_log_likelihood
from topoi.infer.memory import allocate, pad_topics
from topoi.infer.priors import alpha_evidence
from topoi.infer.rules import Rule
from topoi.infer.state import TINY, State
from topoi.infer.threads import ThreadPool

__all__ = ["empty_graph", "place_elsewhere", "sweep_blocks"]


def empty_graph(blocks: PlanBlocks) -> Graph:
    """The graph of a state that holds no documents, with what all blocks weigh."""
    counts = sparse.csr_array((0, len(blocks.word_weight)))
    plan = Plan(blocks.facts.n_topics, counts, word_prior=blocks.word_prior)
    return replace(build_graph(plan), weight=blocks.facts.weight, token=blocks.facts.token)


def place_elsewhere(state: State, elsewhere: Elsewhere) -> State:
    """Tell a state on the empty graph where its documents are."""
    state.elsewhere = elsewhere
    state.word_weight = np.maximum(elsewhere.blocks.word_weight, TINY).astype(np.float32)
    return state


def sweep_blocks(
    state: State,
    rule: Rule,
    pool: ThreadPool,
    sweep: Callable[[State], None],
    *,
    at_once: bool,
    recalls: bool,
) -> None:
    """A sweep over documents elsewhere: each block starts from the newest counts of words.

    sweep: makes it on the state of a block. at_once: all blocks are inferred afresh from the counts
    before the round. recalls: blocks store the messages of their last turn again.
    """
    elsewhere, graph = state.elsewhere, state.graph
    assert elsewhere is not None
    graphs, keeps = elsewhere.graphs, elsewhere.keeps(state.end)
    measures = elsewhere.measures(state.sweep + 1, state.end)
    sums = RoundSums(np.zeros((2, graph.n_topics)))
    before = state.tables.phi.copy()
    prior: np.ndarray | float = 0.0
    if graph.word_prior is not None:
        prior = pad_topics(graph.word_prior, graph.width)
    counted = np.zeros(before.shape, np.float32)  # memory that is not used costs nothing
    for number in range(elsewhere.blocks.n_blocks):
        kept = graphs.kept(number) if keeps else None
        block = _block_state(state, number, kept)
        if kept is not None and recalls:
            recall(block, kept, rule, pool, graphs.memory(block.graph.message_size))
        sweep(block)
        if at_once:
            counted += block.tables.phi - prior
            block.tables = block.tables._replace(phi=before, totals=state.tables.totals)
        else:
            state.tables = state.tables._replace(phi=block.tables.phi, totals=block.tables.totals)
        if recalls:
            block.count_words(counted, rule, pool)
        if keeps:
            graphs.keep(number, keep(block, rule, pool))
        if elsewhere.expected is not None:
            sums.evidence += alpha_evidence(block, elsewhere.expected)
        if measures:
            raw = elsewhere.blocks.raw
            counts = block.graph.counts if raw is None else raw(number)
            sums.tokens += float(counts.data.sum())
            sums.log_likelihood += document_log_likelihood(
                counts, block.doc_topic(), block.topic_word(), pool
            ).sum()
        elsewhere.progress(state.sweep + (number + 1) / elsewhere.blocks.n_blocks)
    state.mode, state.relaxation = block.mode, block.relaxation
    if at_once or recalls:
        phi = counted + prior
        state.tables = state.tables._replace(phi=phi, totals=phi.sum(axis=0, dtype=np.float64))
    moved = np.abs(np.subtract(state.tables.phi, before, out=before), out=before).sum(axis=1)
    sums.moved = float(moved.sum(dtype=np.float64))
    sums.most_moved = float((moved / state.word_weight)[elsewhere.blocks.word_weight > 0].max())
    elsewhere.sums = sums


def _block_state(state: State, number: int, kept: Kept | None) -> State:
    """The documents of a block, with what was kept of them and the words of `state`."""
    assert state.elsewhere is not None
    graph, blocks = state.elsewhere.graphs.open(number)
    n_visits = len(graph.arrays.visit_doc)
    block = State(
        graph,
        state.alpha,
        state.beta,
        state.seed,
        Tables(
            np.zeros((graph.n_slots, graph.width), np.float32) if kept is None else kept.theta,
            state.tables.phi,
            state.tables.totals,
            np.zeros(len(graph.arrays.slots), np.float32),
        ),
        Messages(
            mu=allocate(0),
            z=np.zeros(0, np.int32),
            order=np.arange(n_visits),
            residual=np.zeros(n_visits),
            change=np.zeros((graph.n_doc_blocks, graph.width)),
        ),
        np.zeros((0, graph.width), np.float32),
        Fields(np.zeros((1, 1), np.float32), np.zeros(graph.n_docs, np.float32)),
        [],
        None,
        stored=False,
        sweep=state.sweep,
        end=state.end,
    )
    block.word_weight, block.blocks = state.word_weight, blocks
    return block
