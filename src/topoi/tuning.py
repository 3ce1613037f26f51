"""Thresholds and amounts that "auto" and the layout go by (docs/lab-notes.md).

They are fields of one frozen object, so that a test, a benchmark or an experiment changes them in
one way: `with tuned(warm_up_from=0): ...`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["Tuning", "current", "tuned", "use"]

WARM_UP = (5.0,) * 4 + (4.0,) * 3 + (3.0,) * 4 + (2.0,) * 4


@dataclass(frozen=True)
class Tuning:
    """The values in use; defaults are what was measured to be best."""

    # The grid of cells.
    edges_per_cell: int = 16_000  # enough work to outweigh handing a cell to a thread
    max_blocks: int = 16

    # The overcomplete start.
    overcomplete_factor: int = 2  # times the topics
    overcomplete_sweeps: tuple[float, ...] = WARM_UP + (2.0,) * 5  # their over-relaxation factors
    overcomplete_edges: int = 75_000  # tell topics apart; more would only take longer
    # With fewer, a run ends higher than from a random start; with many documents twice as many, up
    # to a third of all.
    edges_per_topic: int = 500

    # Warm-up sweeps, by their over-relaxation factors.
    warm_up: tuple[float, ...] = WARM_UP
    short_warm_up: tuple[float, ...] = (2.0,) * 4  # after an overcomplete start
    warm_up_from: int = 50_000  # edges: with fewer, warm-up sweeps oscillate
    heavy_prior: float = 0.1  # sum of the topics' prior, as a fraction of a document's mean weight

    # Sweeps with stored messages, and rounds that infer documents afresh.
    relaxation: float = 1.5  # over-relaxation factor of "relaxed",
    relax_after: int = 10  # after so many sweeps without
    late_relaxation: float = 1.9  # of "auto", where topics have taken shape:
    late_after: int = 20  # after so many sweeps
    # Last rounds of "auto" and "incremental": fewer for long documents, and at most a quarter of
    # all.
    fresh_rounds: int = 20
    fresh_tokens: float = 300.0  # all last rounds together, of a document of mean length

    # Topic lists.
    lists_above: int = 256  # topics: below, a dense sweep is as fast as one over lists
    most_messages: int = 2**30  # numbers in dense messages: beyond these 4 GiB lists are stored
    lists_every: int = 10  # sweeps after which lists are made anew
    many_edges: int = 2**21  # from here on lists are kept shorter for the sake of memory
    favoured_topics: int = 64  # on the lists of "incremental", which are made anew in each round

    # The schedule "active" (A19).
    active_documents: float = 0.5
    active_topics: float = 0.2
    # the fraction of active topics starts at 1 and shrinks by this in each sweep
    shrink: float = 0.8
    full_every: int = 10  # sweeps after which all have a turn: residuals grow stale

    # First values of learned priors, in tokens.
    first_prior: float = 0.1
    light_prior: float = 0.02  # before warm-up sweeps, where strong ones wipe out rare topics
    first_prior_sum: float = 5.0  # of all topics: a document of few tokens must still count

    weight_sweeps: int = 60  # on nine tenths of the tokens, in which field weights are learned
    stream_edges: int = 2_000_000  # of the first documents of `partial_fit`, which are kept
    chunk_bytes: int = 2**26  # messages held at a time in prediction, and of blocks


_in_use = [Tuning()]


def current() -> Tuning:
    """The values in use."""
    return _in_use[0]


def use(tuning: Tuning) -> Tuning:
    """Use these values from now on, in all threads of this process. Returns those before."""
    before, _in_use[0] = _in_use[0], tuning
    return before


@contextmanager
def tuned(**values: Any) -> Iterator[Tuning]:
    """Use other values inside a `with` block."""
    before = use(replace(current(), **values))
    try:
        yield current()
    finally:
        use(before)
