"""One asynchronous sweep against one in-place pass over the same messages, one thread (6.3)."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import PRIOR, aim, fresh, load, machine, note, table
from topoi.graph.factors import Documents, Words, compile_factors
from topoi.infer import engine
from topoi.infer.recipe import named_schedule
from topoi.infer.rules import make_rule
from topoi.infer.state import State
from topoi.infer.threads import ThreadPool

WARM_UP = 3  # sweeps before the clock starts
AIM, HOPE = 5.0, 3.0


def run(args: argparse.Namespace) -> None:
    name, widths, repeats, processes = (
        ("cora", (16,), 3, 1) if args.quick else ("kos", (208, 50), 15, 3)
    )
    print(
        f"{name.upper()}, one thread, medians of {repeats} interleaved measurements in each"
        f" process. {machine()}.\n"
    )
    rows, ratios = [], {}
    for n_topics in widths:
        for process in range(1, processes + 1):
            in_pass, in_sweep, edges = fresh(measure, args.data, name, n_topics, repeats)
            ratios.setdefault(n_topics, []).append(in_sweep / in_pass)
            per_number = 1e9 * in_sweep / edges / n_topics
            rows.append(
                [
                    n_topics,
                    process,
                    *(f"{1e3 * t:.1f} ms" for t in (in_pass, in_sweep)),
                    f"{in_sweep / in_pass:.2f}",
                    f"{per_number:.2f} ns",
                ]
            )
            note(f"K={n_topics} process {process}: {in_sweep / in_pass:.2f}")
    table(["K", "process", "pass over messages", "sweep", "ratio", "per edge and topic"], rows)
    judged = ratios[widths[0]]
    said = ", ".join(f"{ratio:.2f}" for ratio in judged)
    aim(
        f"a sweep takes at most {AIM:g} passes at K={widths[0]}, in each process (hoped for:"
        f" {HOPE:g}): {said}",
        max(judged) <= AIM,
    )


def measure(data: Path, name: str, n_topics: int, repeats: int) -> tuple[float, float, int]:
    """Median seconds of a pass over the messages and of a sweep, and the number of edges."""
    with ThreadPool(1) as pool:
        state, sweep = ready_state(data, name, n_topics, pool)
        messages = state.messages.mu
        passes, sweeps = [], []
        for _ in range(repeats):
            passes.append(seconds(lambda: np.multiply(messages, 1, out=messages)))
            sweeps.append(seconds(sweep))
    return float(np.median(passes)), float(np.median(sweeps)), state.graph.n_edges


def ready_state(
    data: Path, name: str, n_topics: int, pool: ThreadPool
) -> tuple[State, Callable[[], None]]:
    """An LDA state of a whole corpus after a few sweeps of a-BP, and a function that does
    one more.
    """
    rule = make_rule("bp")
    schedule = named_schedule("asynchronous", rule)
    graph = compile_factors([Words(load(data, name).counts), Documents()], n_topics)
    state = State.start(graph, rule, np.full(n_topics, PRIOR), PRIOR, seed=0, pool=pool)

    def sweep() -> None:
        engine.sweep(state, rule, schedule, pool)

    for _ in range(WARM_UP):
        sweep()
    return state, sweep


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
