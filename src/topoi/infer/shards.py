"""The same run over shards of the documents, wherever they are: each keeps its own messages, and
all share what the words hold.

In every round each shard sweeps over its documents while the counts of the others stand still
(`State.word_base`); then the counts of all shards are added up in their order. So results depend on
how the documents are cut, never on where the shards are or how many work at a time; and one shard
alone gives the bits of a run that was never cut.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from topoi.graph.plan import Plan, PlanFacts
from topoi.graph.wiring import build_graph
from topoi.infer.engine import REBUILD_EVERY, sweep
from topoi.infer.likelihood import document_log_likelihood
from topoi.infer.monitor import Monitor
from topoi.infer.overcomplete import overcomplete_topics, some_documents
from topoi.infer.priors import PriorLearner, alpha_evidence, alpha_of, learned_beta
from topoi.infer.recipe import Recipe, Settings
from topoi.infer.schedules import Schedule
from topoi.infer.session import Fitted, components, first_state, prior_learners
from topoi.infer.state import TINY, State
from topoi.infer.threads import ThreadPool

__all__ = ["Facts", "Shard", "everywhere", "facts_of_all", "fit_shards", "waited"]


class Facts(NamedTuple):
    """What a shard is."""

    n_docs: int  # with words
    n_edges: int
    weight: float
    n_rows: int  # documents, with words or without
    word_weight: np.ndarray  # (W,) sum of x of each word


class Shard:
    """Some of the documents, and all that changes with them.

    counts: (documents, W); number: its place among the shards.
    """

    state: State

    def __init__(
        self, counts: sparse.csr_array, n_topics: int, number: int, seed: int, n_jobs: int | None
    ) -> None:
        self.plan, self.seed, self.n_jobs = Plan(n_topics, counts), seed + number, n_jobs

    def facts(self) -> Facts:
        counts = self.plan.counts
        word_weight = np.bincount(
            counts.indices, counts.data.astype(np.float32), counts.shape[1]
        )  # as edges have it
        return Facts(
            int((counts.sum(axis=1) > 0).sum()),
            counts.nnz,
            float(counts.data.sum()),
            counts.shape[0],
            word_weight,
        )

    def some_documents(self, enough: int, n_edges: int) -> sparse.csr_array:
        """Documents for the overcomplete start: this shard's part of `enough` edges.

        n_edges: of all shards.
        """
        part = int(enough * self.plan.counts.nnz / n_edges)
        return some_documents(self.plan.counts, part, self.seed)

    def begin(
        self,
        settings: Settings,
        recipe: Recipe,
        token: float,
        word_weight: np.ndarray,
        alone: bool,
    ) -> np.ndarray:
        """First messages.

        token, word_weight: of the documents of all shards; alone: there are no others.
        """
        self.rule, self.schedule, self.alone = settings.rule, recipe.schedule, alone
        graph = build_graph(self.plan, seed=self.seed, tokens=self.rule.tokens)
        graph = replace(graph, token=token)
        with ThreadPool(self.n_jobs) as pool:
            self.state = first_state(graph, replace(settings, seed=self.seed), recipe, pool)
        self.state.word_weight = np.maximum(word_weight, TINY).astype(np.float32)
        self.others, self.others_totals = (
            np.zeros_like(self.state.tables.phi),
            np.zeros(graph.width),
        )
        return self._counted()

    def hear(self, phi: np.ndarray) -> None:
        """From now on words hold what all shards have counted: phi (W, width)."""
        self.others = phi - self.own
        self.others_totals = self.others.sum(axis=0, dtype=np.float64)
        self.state.word_base = self.others[:, : self.plan.n_topics]
        self.state.tables = self.state.tables._replace(
            phi=phi.copy(), totals=self.others_totals + self.own_totals
        )

    def _counted(self) -> np.ndarray:
        """(W, width) what the messages of this shard give to words."""
        tables = self.state.tables
        self.own, self.own_totals = tables.phi - self.others, tables.totals - self.others_totals
        return self.own

    def arrange(self) -> np.ndarray | None:
        """Prepare a sweep.

        What this shard counts, if that is new, because its messages are stored from now on.
        """
        stored = self.state.stored
        if self.schedule.arrange is not None:
            with ThreadPool(self.n_jobs) as pool:
                self.schedule.arrange(self.state, self.rule, pool)
        return self._counted() if self.state.stored != stored else None

    def sweep(self, end: int | None) -> np.ndarray:
        """A sweep; `end`: the last of all, if documents are inferred afresh until then."""
        self.state.end = end
        with ThreadPool(self.n_jobs) as pool:
            sweep(self.state, self.rule, replace(self.schedule, arrange=None), pool)
        # On top of many counts of others, differences lose what this shard counts: it counts anew
        # in every round.
        return (
            self.rebuild()
            if self.state.sweep % REBUILD_EVERY == 0 or not self.alone
            else self._counted()
        )

    def moved(self) -> tuple[float, str]:
        """The residual of the last sweep, and how it was made."""
        return float(self.state.messages.residual.sum()), self.state.mode

    def evidence(self) -> np.ndarray:
        return alpha_evidence(self.state, self.rule.expected_counts)

    def learned_beta(self) -> float:
        return learned_beta(self.state, self.rule.expected_counts)

    def set_priors(self, alpha: np.ndarray, beta: float) -> None:
        self.state.alpha[: len(alpha)], self.state.beta = alpha, beta

    def log_likelihood(self) -> float:
        """Of the shard's documents."""
        with ThreadPool(self.n_jobs) as pool:
            return float(
                document_log_likelihood(
                    self.plan.counts, self.state.doc_topic(), self.state.topic_word(), pool
                ).sum()
            )

    def rebuild(self) -> np.ndarray:
        """Count all messages anew."""
        with ThreadPool(self.n_jobs) as pool:
            if not self.state.stored:
                if (
                    self.alone
                ):  # several shards that put the sum of all right would each do it in full
                    self.state.rebuild(self.rule, pool)
                return self._counted()
            self.state.word_base = None  # own messages alone
            self.state.rebuild(self.rule, pool)
        self.own, self.own_totals = self.state.tables.phi.copy(), self.state.tables.totals.copy()
        self.hear(self.others + self.own)
        return self.own

    def doc_topic(self) -> np.ndarray:
        return self.state.doc_topic()


def everywhere(shards: Sequence[Any], method: str, *args: Any) -> list[Any]:
    """Call a method of all shards, and wait for what they answer."""
    return waited([getattr(shard, method)(*args) for shard in shards])


def waited(answers: Sequence[Any]) -> list[Any]:
    """Answers, those from elsewhere when they are there: until then they are promises, with a
    `result`.
    """
    return [answer.result() if hasattr(answer, "result") else answer for answer in answers]


def shared_pace(schedule: Schedule, n_shards: int) -> Schedule:
    """The schedule of several shards: without haste.

    Over-relaxed shards that do not hear each other answer to the same fault together, and swing for
    ever; and without stored messages they would together take more out of a word's row than it
    holds.
    """
    if n_shards == 1:
        return schedule
    return replace(
        schedule, relaxation=1.0, warm_up=tuple(min(warm_up, 1.0) for warm_up in schedule.warm_up)
    )


def facts_of_all(facts: Sequence[Facts], n_topics: int) -> PlanFacts:
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
    )


def fit_shards(
    shards: Sequence[Any],
    facts: Sequence[Facts],
    settings: Settings,
    recipe: Recipe,
    new_monitor: Callable[[], Monitor],
    subject: Any,
) -> Fitted:
    """`session.fit` over shards.

    facts: of each of them; subject: what callbacks see.
    """
    began, whole = time.perf_counter(), facts_of_all(facts, len(recipe.alpha))
    if recipe.overcomplete:
        settings = replace(
            settings, init="warm", word_topic=_merged_topics(shards, whole, settings, recipe)
        )
    recipe = replace(recipe, overcomplete=(), schedule=shared_pace(recipe.schedule, len(shards)))
    word_weight = np.sum([fact.word_weight for fact in facts], axis=0)
    counted = everywhere(
        shards, "begin", settings, recipe, whole.token, word_weight, len(shards) == 1
    )
    with new_monitor() as monitor:
        monitor.began = began
        found = Rounds(shards, settings, recipe, whole, monitor, subject).run(counted)
    return replace(
        found,
        doc_topic=np.vstack(everywhere(shards, "doc_topic")),
        n_docs=sum(fact.n_docs for fact in facts),
    )


def _merged_topics(
    shards: Sequence[Any], whole: PlanFacts, settings: Settings, recipe: Recipe
) -> np.ndarray:
    """(W, K) topics to start from, learned here from some documents of all shards."""
    some = everywhere(shards, "some_documents", recipe.overcomplete_edges, whole.n_edges)
    documents = sparse.csr_array(sparse.vstack(some, format="csr"))
    with ThreadPool(settings.n_jobs) as pool:
        return overcomplete_topics(documents, recipe, settings.rule, seed=settings.seed, pool=pool)


class Rounds:
    """`engine.run` over shards that have begun."""

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
        rounds = self.schedule.fresh_rounds
        while self.done < (self.end or self.max_iter):
            if self.end is None and self.done >= self.max_iter - rounds:
                self.end = self.max_iter
            self._sweep()
            if self._look():
                if self.monitor.stopped or not rounds:
                    break
                self.end = min(self.done + rounds, self.max_iter)
        phi = self._merge(everywhere(self.shards, "rebuild"))
        return Fitted(
            components=components(phi[:, : len(self.alpha)], self.beta),
            doc_topic=np.zeros((0, len(self.alpha))),
            alpha=self.alpha.copy(),
            beta=self.beta,
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
        if self.learner is None or self.end is not None:
            return
        before = self._prior_sums(len(phi))
        for _ in range(self.learner.steps_after(self.done)):
            self._learn_priors(self.learner)
        after = self._prior_sums(len(phi))
        self.change = self.learner.change(self.done, before, after, self.change)

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
        residuals, modes = zip(*everywhere(self.shards, "moved"), strict=True)
        return self.monitor.note(
            self.done,
            sum(residuals) / self.whole.weight,
            self._perplexity,
            self.subject,
            modes[0],
            end=self.end,
            prior_change=self.change,
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
