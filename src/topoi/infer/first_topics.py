"""Topics that a run over shards starts from, learned by tasks on the workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from topoi.infer.guided import guided_counts, guided_topics
from topoi.infer.overcomplete import overcomplete_topics, some_documents
from topoi.infer.recipe import Recipe, Settings
from topoi.infer.rules import Rule
from topoi.infer.shards import Run, Shard, added, given
from topoi.infer.threads import ThreadPool

__all__ = ["Workers", "first_topics", "with_sample"]


class Workers(Protocol):
    """Where tasks are computed."""

    def submit(self, name: str, function: Callable[..., object], *args: object) -> object:
        """A future of function(*args), in which arguments may be futures, or lists of them.

        name: of the task, different from all others of the run.
        """
        ...

    def gather(self, futures: Sequence[object]) -> list[Any]:
        """Results, when they are there."""
        ...


def first_topics(
    workers: Workers,
    shards: Sequence[object],
    run: object,
    settings: Settings,
    recipe: Recipe,
    n_edges: int,
) -> tuple[str, object]:
    """How messages start (`State.start`), and the topics (W, K) that they start from: a future, or
    None.

    shards, run: futures; n_edges: of all shards.
    """
    numbered = list(enumerate(shards))
    if recipe.overcomplete:
        enough = recipe.overcomplete_edges / n_edges
        some = [workers.submit(f"sample-{s}", _sample, shard, enough) for s, shard in numbered]
        how = (recipe, settings.rule, settings.seed, settings.n_jobs)
        return "warm", workers.submit("topics", _overcomplete, some, *how)
    if recipe.guided:
        counted = [workers.submit(f"guided-{s}", _guided, shard) for s, shard in numbered]
        return "warm", workers.submit("topics", _guided_topics, counted, run)
    if settings.word_topic is None:
        return settings.init, None
    return settings.init, workers.submit("topics", given, settings.word_topic)


def with_sample(recipe: Recipe) -> Recipe:
    """Warm-up sweeps carry proportions of documents along, so only a sample takes them: topics to
    start from.
    """
    if not recipe.schedule.warm_up:
        return recipe
    return replace(
        recipe,
        overcomplete=recipe.schedule.warm_up,
        overcomplete_topics=len(recipe.alpha),
        schedule=replace(recipe.schedule, warm_up=()),
    )


def _sample(shard: Shard, enough: float) -> sparse.csr_array:
    """Some documents of a shard. enough: the part of its edges that are enough."""
    counts = shard.plan.counts
    return some_documents(counts, int(enough * counts.nnz), shard.seed)


def _overcomplete(
    some: list[sparse.csr_array], recipe: Recipe, rule: Rule, seed: int, n_jobs: int | None
) -> np.ndarray:
    documents = sparse.csr_array(sparse.vstack(some, format="csr"))
    with ThreadPool(n_jobs) as pool:
        return overcomplete_topics(documents, recipe, rule, seed=seed, pool=pool)


def _guided(shard: Shard) -> np.ndarray:
    prior = shard.plan.word_prior
    assert prior is not None
    return guided_counts(shard.plan.counts, prior, shard.seed)


def _guided_topics(counted: list[np.ndarray], run: Run) -> np.ndarray:
    return guided_topics(added(counted), run.word_weight)
