"""A run over shards: rounds in which every shard sweeps, and all hear what all have counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from topoi.graph.plan import PlanFacts
from topoi.infer.guided import guided_topics
from topoi.infer.monitor import Monitor
from topoi.infer.overcomplete import overcomplete_topics
from topoi.infer.priors import PriorLearner, alpha_of
from topoi.infer.recipe import Recipe, Settings
from topoi.infer.schedules import Schedule
from topoi.infer.session import Fitted, components, prior_learners
from topoi.infer.shards import Facts, everywhere
from topoi.infer.threads import ThreadPool

__all__ = ["facts_of_all", "fit_shards", "shared_pace"]


def shared_pace(schedule: Schedule, n_shards: int) -> Schedule:
    """The schedule of several shards: without over-relaxation.

    Shards that correct the same error between synchronisations overshoot together and oscillate;
    and without stored messages they would together take more out of a word's row than it holds.
    """
    if n_shards == 1:
        return schedule
    return replace(
        schedule,
        relaxation=min(schedule.relaxation, 1.0),
        warm_up=tuple(min(warm_up, 1.0) for warm_up in schedule.warm_up),
    )


def facts_of_all(facts: Sequence[Facts], n_topics: int, word_prior: bool = False) -> PlanFacts:
    """What decides how a run over shards goes."""
    n_edges, weight = sum(fact.n_edges for fact in facts), sum(fact.weight for fact in facts)
    return PlanFacts(
        n_topics=n_topics,
        n_docs=sum(fact.n_rows for fact in facts),
        n_edges=n_edges,
        most_edges=max(fact.n_edges for fact in facts),
        weight=weight,
        token=min(1.0, weight / n_edges) if n_edges else 1.0,
        private=True,
        plain=True,
        fields=False,
        word_prior=word_prior,
    )


def fit_shards(
    shards: Sequence[Any],
    facts: Sequence[Facts],
    settings: Settings,
    recipe: Recipe,
    new_monitor: Callable[[], Monitor],
    subject: Any,
    word_prior: np.ndarray | None = None,
) -> Fitted:
    """`session.fit` over shards.

    facts: of each of them; subject: what callbacks see; word_prior: (W, K) of topics that have one,
    beyond beta.
    """
    began = time.perf_counter()
    whole = facts_of_all(facts, len(recipe.alpha), word_prior is not None)
    if recipe.overcomplete:
        merged = _merged_topics(shards, whole, settings, recipe)
        settings = replace(settings, init="warm", word_topic=merged)
    word_weight = np.sum([fact.word_weight for fact in facts], axis=0)
    if recipe.guided:
        counted = np.sum(everywhere(shards, "guided_counts", word_prior), axis=0)
        settings = replace(settings, init="warm", word_topic=guided_topics(counted, word_weight))
    recipe = replace(
        recipe, overcomplete=(), guided=False, schedule=shared_pace(recipe.schedule, len(shards))
    )
    first = everywhere(
        shards, "begin", settings, recipe, whole.token, word_weight, len(shards) == 1, word_prior
    )
    with new_monitor() as monitor:
        monitor.began = began
        found = Rounds(shards, settings, recipe, whole, monitor, subject).run(first)
    return replace(
        found,
        components=(found.components if word_prior is None else found.components + word_prior.T),
        word_prior=word_prior,
        doc_topic=np.vstack(everywhere(shards, "doc_topic")),
        n_docs=sum(fact.n_docs for fact in facts),
    )


def _merged_topics(
    shards: Sequence[Any],
    whole: PlanFacts,
    settings: Settings,
    recipe: Recipe,
) -> np.ndarray:
    """(W, K) topics to start from, learned here from some documents of all shards."""
    some = everywhere(shards, "some_documents", recipe.overcomplete_edges, whole.n_edges)
    documents = sparse.csr_array(sparse.vstack(some, format="csr"))
    with ThreadPool(settings.n_jobs) as pool:
        return overcomplete_topics(documents, recipe, settings.rule, seed=settings.seed, pool=pool)


class Rounds:
    """`engine.run` over shards that have begun: the same loop, with what it changes elsewhere."""

    def __init__(
        self,
        shards: Sequence[Any],
        settings: Settings,
        recipe: Recipe,
        whole: PlanFacts,
        monitor: Monitor,
        subject: Any,
    ) -> None:
        self.shards, self.monitor, self.subject = shards, monitor, subject
        self.schedule, self.max_iter, self.whole = recipe.schedule, settings.max_iter, whole
        self.alpha, self.beta = recipe.alpha, recipe.beta
        self.learner = next(iter(prior_learners(settings)), None)
        self.done, self.change = 0, 0.0
        self.end: int | None = None

    def run(self, counted: Sequence[np.ndarray]) -> Fitted:
        """Sweep until the monitor says stop. counted: what the shards count at first.

        Proportions of documents and their number stay with the shards.
        """
        self._merge(counted)
        after = 0 if self.learner is None else self.learner.after
        self.monitor.follow(self.schedule.full_every, max(len(self.schedule.warm_up), after))
        while self.done < (self.end or self.max_iter):
            if self.end is None and self.done >= self.max_iter - self.schedule.fresh_rounds:
                self.end = self.max_iter
            self._sweep()
            if self._look():
                if self.monitor.stopped:
                    break
                self.end = min(self.done + self.schedule.fresh_rounds, self.max_iter)
        phi = self._merge(everywhere(self.shards, "rebuild"))
        return Fitted(
            components=components(phi[:, : len(self.alpha)], self.beta),
            doc_topic=np.zeros((0, len(self.alpha))),
            alpha=self.alpha.copy(),
            beta=self.beta,
            word_prior=None,
            n_docs=0,
            n_iter=self.done,
            history=self.monitor.table(),
            converged=self.monitor.converged,
            finished=False,
        )

    def _sweep(self) -> None:
        """One sweep of every shard, and what it teaches of the priors."""
        news = everywhere(self.shards, "arrange")
        if any(part is not None for part in news):
            self._merge(news)
        phi = self._merge(everywhere(self.shards, "sweep", self.end))
        self.done += 1
        if self.learner is None:
            return
        before = self._prior_sums(len(phi))
        steps = self.learner.steps_after(self.done, self.end is not None)
        for _ in range(steps):
            self._learn_priors(self.learner)
        after = self._prior_sums(len(phi))
        self.change = self.learner.change(self.done, steps, before, after, self.change)

    def _learn_priors(self, learner: PriorLearner) -> None:
        if learner.alpha:
            evidence = np.sum(everywhere(self.shards, "evidence"), axis=0)
            self.alpha = alpha_of(evidence, self.whole.token)
            everywhere(self.shards, "set_priors", self.alpha, self.beta)
        if learner.beta:
            (self.beta,) = everywhere(self.shards[:1], "learned_beta")
            everywhere(self.shards, "set_priors", self.alpha, self.beta)

    def _prior_sums(self, n_words: int) -> np.ndarray:
        return np.array([self.alpha.sum(), n_words * self.beta]) / self.whole.token

    def _look(self) -> bool:
        """Record the sweep. True: stop."""
        residuals, violations, modes = zip(*everywhere(self.shards, "moved"), strict=True)
        return self.monitor.note(
            self.done,
            sum(residuals) / self.whole.weight,
            self._perplexity,
            self.subject,
            modes[0],
            end=self.end,
            prior_change=self.change,
            violation=max(violations),
        )

    def _perplexity(self) -> float:
        gain = sum(everywhere(self.shards, "log_likelihood"))
        return float(np.exp(-gain / self.whole.weight))

    def _merge(self, counted: Sequence[np.ndarray]) -> np.ndarray:
        """(W, width) what all shards count, which all of them hear."""
        total = np.zeros(counted[0].shape)
        for part in counted:
            total += part
        phi = np.maximum(total, 0).astype(np.float32)  # differences may round to less than nothing
        everywhere(self.shards, "hear", phi)
        return phi
