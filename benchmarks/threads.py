"""Two threads against one: how much faster, and the same bits (6.4)."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.common import aim, fresh, machine, note, table
from benchmarks.sweep import ready_state, seconds
from topoi.infer.state import State
from topoi.infer.threads import ThreadPool

AIM, HOPE = 1.5, 1.8


def run(args: argparse.Namespace) -> None:
    name, n_topics, repeats, processes = ("cora", 16, 3, 1) if args.quick else ("nips", 208, 11, 3)
    print(
        f"{name.upper()}, K={n_topics}, a-BP, medians of {repeats} interleaved sweeps in each"
        f" process. {machine()}.\n"
    )
    rows, ratios, same = [], [], []
    for process in range(1, processes + 1):
        one, two, equal, blocks = fresh(measure, args.data, name, n_topics, repeats)
        ratios.append(one / two)
        same.append(equal)
        rows.append(
            [
                process,
                f"{blocks} x {blocks}",
                f"{1e3 * one:.0f} ms",
                f"{1e3 * two:.0f} ms",
                f"{one / two:.2f}",
                "yes" if equal else "NO",
            ]
        )
        note(f"process {process}: {one / two:.2f}, same bits: {equal}")
    table(["process", "grid", "n_jobs=1", "n_jobs=2", "ratio", "same bits"], rows)
    said = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    aim(
        f"n_jobs=2 at least {AIM:g} times as fast, in each process (hoped for: {HOPE:g}): {said}",
        min(ratios) >= AIM,
    )
    aim("the same bits", all(same))


def measure(data: Path, name: str, n_topics: int, repeats: int) -> tuple[float, float, bool, int]:
    """Median seconds of a sweep by one thread and by two, whether both end in the same bits, and
    the side of the grid.
    """
    with ThreadPool(1) as alone, ThreadPool(2) as pair:
        (first, sweep_alone), (second, sweep_pair) = (
            ready_state(data, name, n_topics, pool) for pool in (alone, pair)
        )
        times = [(seconds(sweep_alone), seconds(sweep_pair)) for _ in range(repeats)]
    one, two = np.median(times, axis=0)
    return float(one), float(two), same_bits(first, second), first.graph.n_doc_blocks


def same_bits(first: State, second: State) -> bool:
    pairs = zip(
        (first.messages.mu, *first.tables), (second.messages.mu, *second.tables), strict=True
    )
    return all(np.array_equal(a, b) for a, b in pairs)
