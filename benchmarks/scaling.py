"""Seconds per sweep of schedule="auto" after its warm-up phase, over the number of topics and over
the number of edges, and memory on RFC.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import PRIOR, aim, fresh, load, machine, note, score, split, table
from benchmarks.race import warm_up
from topoi import LDA, Corpus

SWEEPS = 50
THINNED = (8, 4, 2, 1)  # one document in so many


def run(args: argparse.Namespace) -> None:
    name, sizes = ("cora", (300, 600)) if args.quick else ("nips", (200, 500, 1000, 2000))
    print(
        f"{machine()}.\n\n### Over topics\n\n{name.upper()}, alpha=beta={PRIOR}, {SWEEPS} sweeps;"
        " median sweep in ms.\n"
    )
    found = {n_topics: fresh(over_topics, args.data, name, n_topics) for n_topics in sizes}
    table(
        [
            "K",
            "warm-up sweep",
            "later sweep",
            "how",
            "topics per document",
            "n_jobs=2",
            "times as fast",
        ],
        [
            [n_topics, *(f"{v:.1f}" if isinstance(v, float) else v for v in values)]
            for n_topics, values in found.items()
        ],
    )
    growth = np.log(found[sizes[-1]][1] / found[sizes[0]][1]) / np.log(sizes[-1] / sizes[0])
    aim(
        f"a later sweep grows no faster than K^0.3 from {sizes[0]} to {sizes[-1]} topics:"
        f" K^{growth:.2f}",
        growth <= 0.3,
    )
    worst = min(values[-1] for values in found.values())
    aim(f"two threads at least 1.5 times as fast as one: {worst:.2f} at worst", worst >= 1.5)
    print()
    name, n_topics = ("cora", 300) if args.quick else ("rfc", 1000)
    rows = [
        [f"1/{every}", *fresh(over_edges, args.data, name, n_topics, every)] for every in THINNED
    ]
    print(f"### Over edges\n\n{name.upper()}, K={n_topics}, {SWEEPS} sweeps.\n")
    table(
        [
            "documents",
            "edges",
            "warm-up sweep, s",
            "later sweep, s",
            "ns per edge",
            "peak memory, MB",
            "predictive perplexity",
        ],
        rows,
    )
    per_edge = [float(row[4]) for row in rows]
    aim(
        "a later sweep costs the same per edge on all of it as on an eighth:"
        f" {per_edge[-1] / per_edge[0]:.2f} times",
        per_edge[-1] <= 1.3 * per_edge[0],
    )
    memory = float(rows[-1][5])
    aim(f"{name.upper()} with {n_topics} topics in less than 4 GB: {memory:.0f} MB", memory < 4096)


def times(train: Corpus, n_topics: int, n_jobs: int) -> tuple[list[float], Any, Any]:
    """Seconds after each sweep, the final state, and the model."""
    clock, last = [], []

    def look(state: Any, record: Any) -> None:
        clock.append(time.perf_counter())
        last[:] = [state]

    options = {
        "doc_topic_prior": PRIOR,
        "topic_word_prior": PRIOR,
        "tol": 0,
        "evaluate_every": 0,
        "max_iter": SWEEPS,
    }
    model = LDA(n_topics, n_jobs=n_jobs, callbacks=[look], **options).fit(train)
    return clock, last[0], model


def medians(clock: list[float], model: Any) -> tuple[float, float]:
    """Seconds of the median warm-up sweep and of the median sweep after these."""
    warm_up = np.array([record["schedule"] == "warm-up" for record in model.history_])[1:]
    seconds = np.diff(clock)
    return float(np.median(seconds[warm_up])), float(np.median(seconds[~warm_up]))


def over_topics(data: Path, name: str, n_topics: int) -> list[Any]:
    train, _ = split(data, name)
    warm_up()
    clock, state, model = times(train, n_topics, 1)
    both, _, _ = times(train, n_topics, 2)
    early, later = (1000 * seconds for seconds in medians(clock, model))
    shared = 1000 * medians(both, model)[1]
    listed = (
        len(state.graph.arrays.topics) / state.graph.n_docs
        if state.graph.listed
        else float(n_topics)
    )
    note(f"{name} K={n_topics}: {early:.1f} {later:.1f} {shared:.1f} ms")
    return [early, later, model.history_[-1]["schedule"], listed, shared, later / shared]


def over_edges(data: Path, name: str, n_topics: int, every: int) -> list[str]:
    corpus = load(data, name)
    train, test = corpus[::every].split(test_size=0.05, random_state=0)
    warm_up()
    clock, state, model = times(train, n_topics, 1)
    early, later = medians(clock, model)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    edges = state.graph.n_edges
    found = score(model.components_, test)
    note(
        f"{name} 1/{every}: {edges} edges, {early:.2f} {later:.2f} s, {peak:.0f} MB, perplexity"
        f" {found:.1f}"
    )
    return [
        f"{edges}",
        f"{early:.2f}",
        f"{later:.2f}",
        f"{1e9 * later / edges:.0f}",
        f"{peak:.0f}",
        f"{found:.1f}",
    ]
