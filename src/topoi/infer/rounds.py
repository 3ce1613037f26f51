"""A run over shards: the loop of `engine.run`, with all that is large on the workers of a cluster.

The steps of a round are tasks without memory (shards.py). This process sees futures, sums and
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from topoi.graph.plan import PlanFacts
from topoi.infer import shards as tasks
from topoi.infer.engine import REBUILD_EVERY
from topoi.infer.first_topics import Workers, first_topics, with_sample
from topoi.infer.history import Record
from topoi.infer.monitor import Monitor
from topoi.infer.priors import PriorLearner, alpha_of
from topoi.infer.recipe import Recipe, Settings
from topoi.infer.session import prior_learners
from topoi.infer.shards import Merging, Round, Run

__all__ = ["Rounds", "Saves", "Standing", "table_slices"]

SMALL_CHANGES = 2  # of perplexity in a row, at which several shards have converged
SLICE_BYTES = 2**24  # of the table
MOST_SLICES = 32
# Part of a word's counts in a shard that is worth sending; everything is sent in the first rounds,
# and every so many rounds.
LEAST_SENT, ALL_SENT, ALL_SENT_EVERY = 1e-3, 10, 10


class Standing(NamedTuple):
    """How far a run is."""

    done: int
    end: int | None  # last round, from when the last ones have begun
    alpha: np.ndarray
    beta: float
    prior_change: float


class Saves(Protocol):
    """Keeps a run, so that it can resume after a crash."""

    def restore(self, workers: Workers) -> tuple[Standing, list[object], list[Record], bool] | None:
        """Where a saved run stands, futures of its table, its history, whether it converged."""
        ...

    def save(
        self, workers: Workers, at: Standing, table: list[object], monitor: Monitor
    ) -> list[object]:
        """Save the run, if it is time. Returns futures of the same table."""
        ...


def table_slices(n_rows: int, width: int) -> np.ndarray:
    """(slices + 1,) bounds of slices of a table. They depend on its size alone."""
    n = int(np.clip(-(-4 * n_rows * width // SLICE_BYTES), 1, min(MOST_SLICES, n_rows)))
    return np.linspace(0, n_rows, n + 1).astype(np.int64)


class Rounds:
    """A run over shards.

    shards: a future of each; run: what their tasks know, and a future of it.
    """

    def __init__(
        self,
        workers: Workers,
        shards: Sequence[object],
        run: Run,
        whole: PlanFacts,
        settings: Settings,
        recipe: Recipe,
    ) -> None:
        self.workers, self.shards, self.facts, self.whole = workers, list(shards), run, whole
        self.settings, self.recipe = settings, with_sample(recipe)
        self.schedule = self.recipe.schedule
        self.learner: PriorLearner | None = next(iter(prior_learners(settings)), None)
        self.run = workers.submit("run", tasks.given, run)
        self.table: list[object] = []
        self.theta: list[object] = []
        # Documents that share owners are inferred all at once, and each table is a sum anew.
        self.at_once = run.owner_weight is not None
        if not self.at_once:
            weights = [
                workers.submit(f"turns-{s}", tasks.turn_weights, shard)
                for s, shard in enumerate(self.shards)
            ]
            self.in_turn = workers.submit("turns", tasks.added, weights)

    # ------------------------------------------------------------------------------------ the start

    def start(self) -> Standing:
        """First tables."""
        settings, recipe = self.settings, self.recipe
        init, word_topic = first_topics(
            self.workers, self.shards, self.run, settings, recipe, self.whole.n_edges
        )
        how = Round(recipe.alpha, recipe.beta, None, 0.0, False)
        first = [
            self.workers.submit(f"begin-{s}", tasks.begin, shard, self.run, how, init, word_topic)
            for s, shard in enumerate(self.shards)
        ]
        self.table = self._merged("begin", first, how)
        return Standing(0, None, recipe.alpha, recipe.beta, 0.0)

    # ----------------------------------------------------------------------------------- the rounds

    def pass_messages(self, monitor: Monitor, subject: object, saves: Saves | None) -> Standing:
        """Resume a saved run, or start one, and run it to its end. subject: what callbacks see."""
        max_iter, schedule = self.settings.max_iter, self.schedule
        # Training perplexity may turn where priors are learned: still once is not converged.
        in_a_row = 1 if len(self.shards) == 1 else SMALL_CHANGES
        monitor.follow(1, 0 if self.learner is None else self.learner.after, in_a_row)
        saved = None if saves is None else saves.restore(self.workers)
        if saved is None:
            at = self.start()
        else:
            at, self.table, history, monitor.converged = saved
            monitor.resume(history)
        while at.done < (at.end or max_iter):
            if at.end is None and at.done >= max_iter - schedule.fresh_rounds:
                at = at._replace(end=max_iter)
            before, at = self.table, self._round(at, monitor)
            if self._look(at, before, monitor, subject):
                if monitor.stopped:
                    break
                at = at._replace(end=min(at.done + schedule.fresh_rounds, max_iter))
            if saves is not None:
                self.table = saves.save(self.workers, at, self.table, monitor)
        return at

    def _round(self, at: Standing, monitor: Monitor) -> Standing:
        """One round of every shard, and what it teaches of the priors."""
        done, last = at.done + 1, at.end is not None
        steps = 0 if self.learner is None else self.learner.steps_after(done, last)
        asked = bool(
            steps
            or monitor.is_due(done, at.end)
            or monitor.callbacks
            or done == (at.end or self.settings.max_iter)
        )
        least, exact = self._least(at), done % REBUILD_EVERY == 0 and not self.at_once
        how = Round(at.alpha, at.beta, None, least, asked, exact)
        inferred = [
            self._turn(f"{done}-{number}", turn) for number, turn in enumerate(self._turns(at, how))
        ]
        self.theta = [
            self.workers.submit(f"theta-{done}-{s}", tasks.theta_of, list(turns))
            for s, turns in enumerate(zip(*inferred, strict=True))
            if asked
        ]
        return self._learned(at._replace(done=done), steps)

    def _turns(self, at: Standing, how: Round) -> list[Round]:
        """The turns of the next round: one where all documents are inferred at once, as
        `engine.sweep` decides, or where there is one shard, whose blocks take turns in its task.
        """
        if self.at_once or at.end is not None or at.done == 0:
            return [how]
        how = how._replace(relaxation=self.schedule.relaxation_at(at.done))
        if len(self.shards) == 1:
            return [how]
        return [how._replace(turn=turn) for turn in range(tasks.TURNS)]

    def _turn(self, name: str, how: Round) -> list[object]:
        """Infer the documents of a turn and merge what they contribute. Returns all results."""
        inferred = [
            self.workers.submit(f"infer-{name}-{s}", tasks.infer, shard, self.run, how, *self.table)
            for s, shard in enumerate(self.shards)
        ]
        self.table = self._merged(name, inferred, how)
        return inferred

    def _least(self, at: Standing) -> float:
        """What is not worth sending in the next round."""
        whole = len(self.shards) == 1 or at.end is not None or at.done < ALL_SENT
        return 0.0 if whole or at.done % ALL_SENT_EVERY == 0 else LEAST_SENT

    def _merged(self, name: str, inferred: list[object], how: Round) -> list[object]:
        """Futures of the slices of the table that all shards make together."""
        table, turns = [], how.turn is not None
        for number in range(len(self.facts.bounds) - 1):
            pieces = [
                self.workers.submit(f"piece-{name}-{s}-{number}", tasks.piece_of, one, number)
                for s, one in enumerate(inferred)
            ]
            merging = Merging(number, how.least, how.exact, how.turn, how.relaxation or 1.0)
            before = (self.table[number], self.in_turn) if turns else ()
            table.append(
                self.workers.submit(
                    f"table-{name}-{number}", tasks.merge, self.run, merging, pieces, *before
                )
            )
        return table

    def _learned(self, at: Standing, steps: int) -> Standing:
        """The same standing with learned priors."""
        learner, n_words = self.learner, len(self.facts.word_weight)
        if learner is None:
            return at
        before = _prior_sums(at, n_words, self.whole.token)
        beta, alpha = at.beta, self._learned_alpha(at, steps if learner.alpha else 0)
        if steps and learner.beta:
            learned = self.workers.submit(
                f"beta-{at.done}", tasks.beta_steps, self.run, beta, steps, *self.table
            )
            (beta,) = self.workers.gather([learned])
        at = at._replace(alpha=alpha, beta=beta)
        after = _prior_sums(at, n_words, self.whole.token)
        moved = learner.change(at.done, steps, before, after, at.prior_change)
        return at._replace(prior_change=moved)

    def _learned_alpha(self, at: Standing, steps: int) -> np.ndarray:
        """Alpha after so many steps: by what the documents of each shard hold, or by the table,
        where they share owners.
        """
        alpha, name = at.alpha, f"evidence-{at.done}"
        if steps and self.at_once:
            learned = self.workers.submit(
                name, tasks.alpha_steps, self.run, alpha, steps, *self.table
            )
            return np.asarray(self.workers.gather([learned])[0])
        for step in range(steps):
            found = [
                self.workers.submit(
                    f"{name}-{step}-{s}", tasks.evidence, shard, self.run, theta, alpha
                )
                for s, (shard, theta) in enumerate(zip(self.shards, self.theta, strict=True))
            ]
            total = self.workers.submit(f"{name}-{step}", tasks.added, found)
            alpha = alpha_of(self.workers.gather([total])[0], self.whole.token)
        return alpha

    def _look(self, at: Standing, before: list[object], monitor: Monitor, subject: object) -> bool:
        """Record the round. True: stop."""
        changes = [
            self.workers.submit(f"change-{at.done}-{number}", tasks.change, old, new)
            for number, (old, new) in enumerate(zip(before, self.table, strict=True))
        ]
        return monitor.note(
            at.done,
            sum(self.workers.gather(changes)) / self.whole.weight,
            lambda: self.perplexity(at),
            subject,
            "incremental" if at.end is None else "afresh",
            end=at.end,
            prior_change=at.prior_change,
        )

    def perplexity(self, at: Standing) -> float:
        """Of the documents of all shards."""
        found = [
            self.workers.submit(
                f"likelihood-{at.done}-{s}",
                tasks.log_likelihood,
                shard,
                self.run,
                theta,
                at.alpha,
                at.beta,
                *self.table,
            )
            for s, (shard, theta) in enumerate(zip(self.shards, self.theta, strict=True))
        ]
        total = self.workers.submit(f"likelihood-{at.done}", tasks.added, found)
        return float(np.exp(-self.workers.gather([total])[0] / self.whole.weight))

    # -------------------------------------------------------------------------------------- the end

    def last_table(self) -> list[object]:
        """Futures of the slices of the last table. Rows of words hold exactly their weight."""
        found = []
        for number, piece in enumerate(self.table):
            how = Merging(number, 0.0, exact=not self.at_once)
            found.append(self.workers.submit(f"last-{number}", tasks.merge, self.run, how, [piece]))
        return found

    def proportions(self, at: Standing) -> list[object]:
        """A future of the topic proportions of the documents of each shard."""
        table = self.table if self.at_once else ()
        return [
            self.workers.submit(
                f"proportions-{s}", tasks.proportions, shard, self.run, theta, at.alpha, *table
            )
            for s, (shard, theta) in enumerate(zip(self.shards, self.theta, strict=True))
        ]


def _prior_sums(at: Standing, n_words: int, token: float) -> np.ndarray:
    return np.array([at.alpha.sum(), n_words * at.beta]) / token
