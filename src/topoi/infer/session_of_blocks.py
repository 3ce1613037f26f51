"""A fit of documents that are read block by block, as session.py is one of documents in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from topoi.graph.wiring import Graph, padded_width
from topoi.infer.elsewhere import BlockGraphs, Elsewhere, PlanBlocks, compiled
from topoi.infer.engine import run
from topoi.infer.guided import guided_counts, guided_topics
from topoi.infer.kept import keep
from topoi.infer.memory import pad_topics
from topoi.infer.monitor import Monitor
from topoi.infer.out_of_core import empty_graph, place_elsewhere
from topoi.infer.overcomplete import overcomplete_topics, some_documents
from topoi.infer.recipe import Recipe, Settings, keeps_messages, make_recipe
from topoi.infer.session import Fitted, fit, fitted_of, prior_learners
from topoi.infer.state import State
from topoi.infer.threads import ThreadPool
from topoi.tuning import current

if TYPE_CHECKING:
    from topoi.infer.checkpoints import Checkpoint

__all__ = ["fit_blocks"]


def fit_blocks(
    blocks: PlanBlocks,
    settings: Settings,
    new_monitor: Callable[[sparse.csr_array], Monitor],
    checkpoint: Checkpoint | None = None,
) -> Fitted:
    """`fit` for documents that are read block by block, with the schedule "auto" where blocks can
    keep their messages in brief (kept.py), and "incremental" everywhere else.

    Blocks with more messages than are held at a time are cut. One block alone is held in memory,
    and gives the bits of `fit`. Priors of several are learned after every sweep, one step each:
    there is nothing to take a second step on.

    new_monitor: makes a monitor that measures the perplexity of these counts, or is told it if
    there are none.
    """
    if keeps_messages(blocks.facts, settings):
        most = current().chunk_bytes // 4 // padded_width(blocks.facts.n_topics)
        blocks = blocks.cut(most)
    else:
        settings = replace(settings, schedule="incremental")
    if blocks.n_blocks == 1:
        plan = blocks.plan(0)
        fitted, _ = fit(plan, settings, lambda: new_monitor(plan.counts), checkpoint)
        return replace(fitted, doc_topic=fitted.doc_topic[:0])
    if checkpoint is not None and checkpoint.seed is not None:
        settings = replace(settings, seed=checkpoint.seed)
    recipe, graph = make_recipe(blocks.facts, settings), empty_graph(blocks)
    schedule = replace(recipe.schedule, arrange=None, stores=False)
    if schedule.afresh:  # warm-up sweeps are taken on a sample
        schedule = replace(schedule, warm_up=())
    learners = [replace(learner, every=1, steps=1) for learner in prior_learners(settings)]
    learns = settings.doc_topic_prior.learn
    expected = settings.rule.expected_counts if learns else None
    none = sparse.csr_array((0, graph.n_words))
    with (
        ThreadPool(settings.n_jobs) as pool,
        compiled(blocks, settings.seed) as graphs,
        new_monitor(none) as monitor,
    ):
        elsewhere = Elsewhere(blocks, graphs, expected, monitor.is_due, monitor.within)
        state = None
        if checkpoint is not None:
            state = checkpoint.resumed(graph, settings, schedule, monitor)
            if state is not None and state.end is None and not schedule.afresh:
                checkpoint.kept.read(state.sweep, graphs)
        if state is None:
            state = _first_state_of_blocks(graph, blocks, graphs, settings, recipe, pool)
        state = run(
            place_elsewhere(state, elsewhere),
            settings.rule,
            schedule,
            max_iter=settings.max_iter,
            monitor=monitor,
            pool=pool,
            learners=learners,
            checkpoint=checkpoint,
        )
    finished = checkpoint is not None and state.sweep >= (state.end or settings.max_iter)
    return replace(fitted_of(state, monitor, finished), n_docs=blocks.n_docs)


def _first_state_of_blocks(
    graph: Graph,
    blocks: PlanBlocks,
    graphs: BlockGraphs,
    settings: Settings,
    recipe: Recipe,
    pool: ThreadPool,
) -> State:
    """What words hold of the first messages of all blocks, which start from topics of a sample of
    documents of all blocks, or from those of seeds, where the recipe says so.
    """
    rule = settings.rule
    seed = settings.seed
    init = settings.init
    word_topic = settings.word_topic
    warm_up = recipe.overcomplete or (recipe.schedule.afresh and recipe.schedule.warm_up)
    if warm_up:
        part = recipe.overcomplete_edges / blocks.facts.n_edges
        some = [
            some_documents(block.counts, int(part * block.counts.nnz), seed + number)
            for number, block in enumerate(graphs)
        ]
        n_topics = recipe.overcomplete_topics if recipe.overcomplete else graph.n_topics
        asked = replace(recipe, overcomplete=warm_up, overcomplete_topics=n_topics)
        sample = sparse.csr_array(sparse.vstack(some))
        init = "warm"
        word_topic = overcomplete_topics(sample, asked, rule, seed=seed, pool=pool)
    elif recipe.guided:
        assert blocks.word_prior is not None
        init = "warm"
        counted = sum(
            guided_counts(block.counts, blocks.word_prior, seed + number)
            for number, block in enumerate(graphs)
        )
        word_topic = guided_topics(np.asarray(counted), blocks.word_weight)

    def started(on: Graph, number: int) -> State:
        return State.start(
            on,
            rule,
            recipe.alpha,
            recipe.beta,
            seed=seed + number,
            pool=pool,
            init=init,
            word_topic=word_topic,
            stored=False,
        )

    state = started(graph, 0)
    phi = state.tables.phi
    prior = 0.0 if graph.word_prior is None else pad_topics(graph.word_prior, graph.width)
    for number, block in enumerate(graphs):
        first = started(block, number)
        phi += first.tables.phi - prior
        if not recipe.schedule.afresh:
            graphs.keep(number, keep(first, rule, pool))
    state.tables = state.tables._replace(totals=phi.sum(axis=0, dtype=np.float64))
    return state
