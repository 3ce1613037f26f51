"""Watching a run: history, stopping, callbacks, the progress bar."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse

from topoi.infer.convergence import PARAMETER_TOLERANCE, ParameterChange, largest_violation
from topoi.infer.history import Callback, Measured, Record
from topoi.infer.likelihood import document_log_likelihood
from topoi.infer.progress import Progress
from topoi.infer.threads import ThreadPool

if TYPE_CHECKING:
    from topoi.infer.state import State

__all__ = ["PRIOR_TOLERANCE", "Monitor"]

# learned priors that move less than this proportion of themselves are converged
PRIOR_TOLERANCE = 0.01


class Monitor:
    """Records each sweep and decides when to stop.

    counts: raw training counts for the perplexity, or None to measure none. tol: stop when
    perplexity changes by less than this proportion per sweep, between two measurements `every`
    sweeps apart (0 or less: never measured). paper_rule: stop when |P(t) - P(t-10)| < 1 instead.
    parameter_rule: stop when no parameter changes by PARAMETER_TOLERANCE in a sweep instead.
    callbacks: called with (state or model, record); a true answer stops the run, and the answer of
    one that `records` a field of the record is put there. phase: what records give as their
    schedule, if not how the sweep was made.
    """

    def __init__(
        self,
        counts: sparse.csr_array | None = None,
        *,
        tol: float = 0.0,
        every: int = 5,
        paper_rule: bool = False,
        parameter_rule: bool = False,
        max_iter: int = 0,
        callbacks: Sequence[Callback] = (),
        progress: bool = False,
        phase: str = "",
    ) -> None:
        self.counts, self.tol = counts, 0.0 if paper_rule else tol
        self.every = 10 if paper_rule else every
        self.least_change = 1.0 if paper_rule and tol > 0 else 0.0  # of perplexity, not relative
        self.parameter_rule = parameter_rule
        self.parameters: ParameterChange | None = None
        self.full_every = 1
        self.max_iter = max_iter
        self.callbacks = tuple(callbacks)
        self.phase = phase
        self.not_before = 0  # sweeps whose perplexity does not count for convergence
        self.in_a_row = 1  # small changes of perplexity that are convergence
        self.history: list[Record] = []
        self.converged = self.stopped = False  # by the rule, by a callback
        self.bar = Progress(max_iter, phase.capitalize() or "Sweeps") if progress else None
        self.began = time.perf_counter()

    def follow(self, full_every: int, not_before: int, in_a_row: int = 1) -> None:
        """Look only after full sweeps, every `full_every` of them, and believe no perplexity of the
        first `not_before` sweeps. Perplexity has converged after so many small changes `in_a_row`.
        """
        self.in_a_row = in_a_row
        self.every, self.not_before = -(-self.every // full_every) * full_every, not_before
        self.full_every = full_every

    def begin(self, state: State) -> None:
        """Take notice of a state that has not moved yet, or is about to move on."""
        if self.parameter_rule:
            self.parameters = ParameterChange(state)

    def resume(self, history: list[Record]) -> None:
        """Continue after the sweeps of `history`; the clock continues, too."""
        self.history = history
        self.began -= history[-1].seconds if history else 0.0

    def look(self, state: State, pool: ThreadPool) -> bool:
        """Record the sweep that has just ended. True: stop."""
        residual, violation = 0.0, largest_violation(state)
        if state.elsewhere is not None:
            sums = state.elsewhere.sums
            residual, violation = sums.moved / state.graph.weight, sums.most_moved
        elif state.graph.n_edges:
            residual = float(state.messages.residual.sum()) / state.graph.weight
        measure, mode = lambda: self._perplexity(state, pool), self.phase or state.mode
        return self.note(
            state.sweep,
            residual,
            measure,
            state,
            mode,
            end=state.end,
            prior_change=state.prior_change,
            violation=violation,
            parameters_converged=self.parameters is not None
            and self.parameters(state) < PARAMETER_TOLERANCE,
        )

    def is_due(self, sweep: int, end: int | None = None) -> bool:
        """Whether perplexity is measured after `sweep`. end: as for `note`."""
        if self.counts is None or self.every <= 0:
            return False
        return sweep % self.every == 0 or sweep == (end or self.max_iter)

    def note(
        self,
        sweep: int,
        residual: float,
        measure: Callable[[], float],
        subject: object,
        schedule: str,
        *,
        end: int | None = None,
        prior_change: float = 0.0,
        violation: float = 0.0,
        parameters_converged: bool = False,
    ) -> bool:
        """Record a sweep; `measure` gives the perplexity if it is time for one. True: stop.

        end: the last sweep of a run that infers its documents afresh at its end, once it has begun
        to: until then it cannot converge again. Nor can it while priors still move by more than a
        small `prior_change`. parameters_converged: parameters do not move any more, if that is the
        rule.
        """
        on_beat = self.every > 0 and sweep % self.every == 0
        perplexity = measure() if self.is_due(sweep, end) else None
        before = [
            r.perplexity
            for r in self.history
            if r.perplexity is not None and self._is_comparable(r)
        ][-self.in_a_row :]
        seconds = time.perf_counter() - self.began
        record = Record(sweep, seconds, residual, perplexity, schedule, violation)
        measured: dict[str, Any] = {
            callback.records: callback(subject, record)
            for callback in self.callbacks
            if hasattr(callback, "records")
        }
        record = replace(record, **measured)
        self.history.append(record)
        if self.bar is not None:
            self.bar.show(record)
        found = self.converged
        still = end is None and prior_change <= PRIOR_TOLERANCE
        if (
            parameters_converged
            and still
            and sweep > self.not_before
            and sweep % self.full_every == 0
        ):
            self.converged = True
        elif (
            perplexity is not None
            and len(before) == self.in_a_row
            and on_beat
            and still
            and not self.parameter_rule
        ):
            self.converged = all(
                abs(old - new) < max(self.tol * self.every * new, self.least_change)
                for old, new in pairwise([*before, perplexity])
            )
        wishes = [
            callback(subject, record)
            for callback in self.callbacks
            if not hasattr(callback, "records")
        ]
        self.stopped = any(wishes)
        return (self.converged and not found) or self.stopped

    def within(self, sweeps: float) -> None:
        """Show how far a long sweep is: `sweeps` are done, with fractions."""
        if self.bar is not None:
            self.bar.move(sweeps)

    def _is_comparable(self, record: Record) -> bool:
        """Whether a record has a perplexity that a later one can be compared with.

        The last sweep of a run that is continued with a larger max_iter may be off the beat.
        """
        if record.perplexity is None or record.sweep <= self.not_before:
            return False
        return record.sweep % self.every == 0

    def _perplexity(self, state: State, pool: ThreadPool) -> float:
        assert self.counts is not None
        if state.elsewhere is not None:
            return state.elsewhere.perplexity
        gain = document_log_likelihood(
            self.counts, state.doc_topic(), state.topic_word(), pool
        ).sum()
        return float(np.exp(-gain / self.counts.sum()))

    def table(self) -> list[Measured]:
        """The history as plain dictionaries."""
        return [cast("Measured", asdict(record)) for record in self.history]

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()
