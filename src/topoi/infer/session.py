"""Session: from a plan and settings to what was learned. Every run goes this way.

A fit is `fit`. Blocks on disk (session_of_blocks.py), shards (shards.py) and prediction
(predict.py) take its steps: decide (`make_recipe`), start (`first_state`), pass messages
(`pass_messages`, `engine.run`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from topoi.corpus.splits import hold_out
from topoi.graph.fields import LearnedField
from topoi.graph.plan import Plan
from topoi.graph.wiring import Graph, build_graph
from topoi.infer.edge_messages import entries_within, start_from_messages
from topoi.infer.engine import run
from topoi.infer.guided import guided_counts, guided_topics
from topoi.infer.history import Measured
from topoi.infer.monitor import Monitor
from topoi.infer.overcomplete import overcomplete_topics, some_documents
from topoi.infer.priors import FieldWeightLearner, Learner, PriorLearner
from topoi.infer.recipe import Prior, Recipe, Settings, make_recipe
from topoi.infer.state import State
from topoi.infer.threads import ThreadPool
from topoi.tuning import current

if TYPE_CHECKING:
    from topoi.infer.checkpoints import Checkpoint

__all__ = [
    "Fitted",
    "components",
    "first_state",
    "fit",
    "fitted_of",
    "pass_messages",
    "prior_learners",
]


@dataclass(frozen=True)
class Fitted:
    """What a run has learned."""

    components: np.ndarray  # (K, W) expected counts + prior
    doc_topic: np.ndarray  # (D, K) rows sum to 1
    alpha: np.ndarray  # (K,)
    beta: float
    word_prior: np.ndarray | None  # (W, K) of topics that have one, beyond beta
    n_docs: int  # with words
    n_iter: int
    history: list[Measured]
    converged: bool
    finished: bool  # at its end, and saved in its checkpoint


def fit(
    plan: Plan,
    settings: Settings,
    new_monitor: Callable[[], Monitor],
    checkpoint: Checkpoint | None = None,
) -> tuple[Fitted, State]:
    """Pass messages on a plan until the stop rule holds.

    Parameters
    ----------
    plan : Plan
    settings : Settings
    new_monitor : callable
        Makes the monitor of the run, with its progress bar.
    checkpoint : Checkpoint, optional
        Where the run is saved, and resumed from.

    Returns
    -------
    Fitted, State
        What was learned, and the last state, which models read.
    """
    began = time.perf_counter()
    resumes = checkpoint is not None and checkpoint.saved is not None
    if checkpoint is not None and checkpoint.seed is not None:
        settings = replace(settings, seed=checkpoint.seed)
    learned, saves, last = None, checkpoint, settings.max_iter
    with ThreadPool(settings.n_jobs) as pool:
        if any(field.learn for field in plan.fields) and not resumes:
            learned, stopped = _learn_field_weights(plan, settings, pool)
            if stopped:  # one sweep makes a model, but not one that could be resumed
                last, saves = 1, None
        asked = replace(settings, max_iter=last)
        recipe = make_recipe(plan.facts, asked)
        graph = build_graph(plan, seed=settings.seed, tokens=settings.rule.tokens)
        with new_monitor() as monitor:
            monitor.began = began
            state = pass_messages(
                graph, asked, recipe, monitor, pool, prior_learners(settings), saves, learned
            )
    finished = saves is not None and state.sweep >= (state.end or settings.max_iter)
    return fitted_of(state, monitor, finished), state


def fitted_of(state: State, monitor: Monitor, finished: bool) -> Fitted:
    K = state.graph.n_topics
    return Fitted(
        components=components(state.tables.phi[:, :K], state.beta),
        doc_topic=state.doc_topic(),
        alpha=state.alpha[:K].copy(),
        beta=state.beta,
        word_prior=state.graph.word_prior,
        n_docs=int((state.graph.doc_weight > 0).sum()),
        n_iter=state.sweep,
        history=monitor.table(),
        converged=monitor.converged,
        finished=finished,
    )


def components(
    word_topic: np.ndarray, beta: float, word_prior: np.ndarray | None = None
) -> np.ndarray:
    """(K, W) expected counts + prior, from counts (W, K).

    word_prior: (W, K) beyond beta, if it is not among the counts, as it is in tables.
    """
    found = np.ascontiguousarray(word_topic.T.astype(np.float64) + beta)
    return found if word_prior is None else found + word_prior.T


def prior_learners(settings: Settings) -> list[PriorLearner]:
    """What learns the priors that are to be learned."""
    alpha, beta = settings.doc_topic_prior.learn, settings.topic_word_prior.learn
    expected = settings.rule.expected_counts
    return [PriorLearner(alpha, beta, expected=expected)] if alpha or beta else []


def _learn_field_weights(
    plan: Plan, settings: Settings, pool: ThreadPool
) -> tuple[list[LearnedField], bool]:
    """What a short run on nine tenths of the tokens learns of fields, and whether a callback has
    stopped it.
    """
    recipe = make_recipe(plan.facts, settings)
    asked = replace(
        settings,
        max_iter=current().weight_sweeps,
        doc_topic_prior=Prior(recipe.alpha, settings.doc_topic_prior.learn),
        topic_word_prior=Prior(np.array([recipe.beta]), settings.topic_word_prior.learn),
    )
    observed, held = hold_out(plan.counts, settings.seed)
    if settings.messages is not None:
        asked = replace(asked, messages=settings.messages[entries_within(plan.counts, observed)])
    plan = replace(plan, counts=observed)
    graph = build_graph(plan, seed=settings.seed, tokens=settings.rule.tokens)
    learners: list[Learner] = [*prior_learners(settings), FieldWeightLearner(held)]
    with Monitor(
        max_iter=asked.max_iter,
        callbacks=settings.callbacks,
        progress=settings.verbose,
        phase="link weight",
    ) as monitor:
        recipe = make_recipe(plan.facts, asked)
        state = pass_messages(graph, asked, recipe, monitor, pool, learners)
    return state.learned, monitor.stopped


def pass_messages(
    graph: Graph,
    settings: Settings,
    recipe: Recipe,
    monitor: Monitor,
    pool: ThreadPool,
    learners: Sequence[Learner] = (),
    checkpoint: Checkpoint | None = None,
    learned: Sequence[LearnedField] | None = None,
) -> State:
    """Resume the run of a checkpoint, or start one, and run it to its end."""
    state = None
    if checkpoint is not None:
        state = checkpoint.resumed(graph, settings, recipe.schedule, monitor)
    if state is None:
        state = first_state(graph, settings, recipe, pool, learned=learned)
    return run(
        state,
        settings.rule,
        recipe.schedule,
        max_iter=settings.max_iter,
        monitor=monitor,
        pool=pool,
        learners=learners,
        checkpoint=checkpoint,
    )


def first_state(
    graph: Graph,
    settings: Settings,
    recipe: Recipe,
    pool: ThreadPool,
    *,
    learned: Sequence[LearnedField] | None = None,
) -> State:
    """First messages: those that are given, or from merged topics or documents of seeds where the
    recipe says so.
    """
    rule, init, word_topic = settings.rule, settings.init, settings.word_topic
    if recipe.overcomplete:
        some = some_documents(graph.counts, recipe.overcomplete_edges, settings.seed)
        init = "warm"
        word_topic = overcomplete_topics(some, recipe, rule, seed=settings.seed, pool=pool)
    elif recipe.guided:
        assert graph.word_prior is not None
        init = "warm"
        counted = guided_counts(graph.counts, graph.word_prior, settings.seed)
        word_topic = guided_topics(counted, graph.counts.sum(axis=0))
    state = State.start(
        graph,
        rule,
        recipe.alpha,
        recipe.beta,
        seed=settings.seed,
        pool=pool,
        init="hard" if settings.messages is not None else init,
        word_topic=word_topic,
        stored=rule.stored and recipe.schedule.stores,
        learned=learned,
    )
    if settings.messages is not None:
        start_from_messages(state, settings.messages, rule, pool)
    return state
