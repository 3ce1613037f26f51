"""Prediction: topic proportions of documents under fixed topics (fold-in).

Documents do not influence each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from topoi.graph.factors import Documents, Factor, Words, make_plan
from topoi.graph.plan import Plan
from topoi.graph.wiring import build_graph, padded_width
from topoi.infer import afresh
from topoi.infer.edge_messages import edge_messages
from topoi.infer.history import Record
from topoi.infer.monitor import Monitor
from topoi.infer.recipe import Prior, Settings, make_recipe
from topoi.infer.rules import Rule
from topoi.infer.session import first_state, pass_messages
from topoi.infer.state import State
from topoi.infer.threads import ThreadPool
from topoi.tuning import current

__all__ = [
    "MAX_SWEEPS",
    "fold_in",
    "fold_in_messages",
    "fold_in_state",
    "prediction_plan",
    "takes_chunks",
]

MAX_SWEEPS = 200
TINY = 1e-30  # prior of words under fixed topics: only keeps 0 / 0 away
CONVERGED = 1e-4  # a document whose messages move less than this per token has converged


def fold_in(
    weights: sparse.csr_array,
    topic_word: np.ndarray,
    alpha: np.ndarray,
    rule: Rule,
    *,
    pool: ThreadPool,
    seed: int = 0,
    max_iter: int = MAX_SWEEPS,
    samples: int = 1,
) -> np.ndarray:
    """(D, K) topic proportions of new documents; an empty document gets the prior.

    weights: (D, W) counts or weights; topic_word: (K, W), rows sum to 1; alpha: (K,). The start is
    the topics of each word under the prior, so the result is a function of the document alone (a
    Gibbs rule draws, keyed by `seed` and place, and averages the last `samples` sweeps).
    """
    plan = prediction_plan(weights, topic_word, [Documents()])
    out = np.empty((weights.shape[0], len(alpha)))
    for rows in chunks(plan, rule):
        drawn = Average(max_iter - samples)
        state = fold_in_state(
            documents_of(plan, rows),
            alpha,
            rule,
            pool=pool,
            seed=seed + rows.start,
            max_iter=max_iter,
            callbacks=[drawn],
        )
        out[rows] = drawn.mean() if rule.draws else state.doc_topic()
    return out


def fold_in_messages(
    plan: Plan, alpha: np.ndarray, rule: Rule, *, pool: ThreadPool
) -> Iterator[tuple[slice, np.ndarray]]:
    """Messages of new documents under fixed topics, some documents at a time.

    Yields rows of `plan.counts`, and (edges, K) the messages of their entries in document order,
    summed over owners.
    """
    for rows in chunks(plan, rule):
        state = fold_in_state(documents_of(plan, rows), alpha, rule, pool=pool)
        yield rows, edge_messages(state)


def takes_chunks(plan: Plan) -> bool:
    """Whether there are no fields between documents, so that each can be inferred alone."""
    return plan.is_private and not plan.fields


def chunks(plan: Plan, rule: Rule) -> Iterator[slice]:
    """Documents whose messages are held at a time: all, if there are fields between them."""
    counts = plan.counts
    if not takes_chunks(plan):
        yield slice(0, counts.shape[0])
        return
    n_edges = counts.sum(axis=1) if rule.tokens else np.diff(counts.indptr)
    size = np.cumsum(n_edges) * 4 * padded_width(plan.n_topics)
    first = 0
    while first < counts.shape[0]:
        done = size[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(size, done + current().chunk_bytes)))
        yield slice(first, last)
        first = last


def documents_of(plan: Plan, rows: slice) -> Plan:
    """The plan of some documents, which `chunks` named."""
    if rows == slice(0, plan.counts.shape[0]):
        return plan
    topics = None if plan.topics is None else plan.topics[rows]
    return replace(plan, counts=plan.counts[rows], owners=None, topics=topics)


def prediction_plan(
    weights: sparse.csr_array, topic_word: np.ndarray, factors: Sequence[Factor]
) -> Plan:
    """New documents under fixed topics (K, W); `factors` are the model's factors beside
    the words.
    """
    return make_plan([Words(weights, base=topic_word.T, frozen=True), *factors], len(topic_word))


def fold_in_state(
    plan: Plan,
    alpha: np.ndarray,
    rule: Rule,
    *,
    pool: ThreadPool,
    seed: int = 0,
    max_iter: int = MAX_SWEEPS,
    callbacks: Sequence[Callable[[State, Record], object]] = (),
) -> State:
    """Pass messages in the new documents of a plan."""
    settings = Settings(
        rule,
        "synchronous" if rule.digamma_owners else "asynchronous",
        Prior(alpha, False),
        Prior(np.array([TINY]), False),
        init="hard" if rule.draws else "warm",
        word_topic=plan.word_base,
        max_iter=max_iter,
        seed=seed,
    )
    recipe = make_recipe(plan.facts, settings)
    graph = build_graph(plan, tokens=rule.tokens)  # the same for all documents, whatever the seed
    if graph.private and not graph.fields and not rule.draws:  # nobody talks to anybody
        state = first_state(graph, settings, recipe, pool)
        afresh.fold_in(state, rule, pool, max_passes=max_iter, tolerance=CONVERGED)
        return state
    monitor = Monitor(callbacks=callbacks if rule.draws else [_converged])
    return pass_messages(graph, settings, recipe, monitor, pool)


class Average:
    """A callback: the mean topic proportions of documents over the sweeps after `after`."""

    def __init__(self, after: int) -> None:
        self.after, self.n = after, 0
        self.total: np.ndarray | float = 0.0

    def __call__(self, state: State, record: Record) -> None:
        if record.sweep > self.after:
            self.total, self.n = self.total + state.doc_topic(), self.n + 1

    def mean(self) -> np.ndarray | float:
        return self.total / self.n


def _converged(state: State, _record: object) -> bool:
    """No document moves any more."""
    weight = (
        np.add.reduceat(
            state.graph.arrays.edge_x, state.graph.arrays.visit_edge[:-1], dtype=np.float64
        )
        if state.graph.n_edges
        else np.zeros(0)
    )
    return bool((state.messages.residual <= CONVERGED * weight).all())
