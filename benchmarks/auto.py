"""Is schedule="auto" as good as plain asynchronous BP? Predictive perplexity over seeds."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks.common import PRIOR, aim, each, mean_and_spread, note, score, split, table
from topoi import LDA

SETS = ("cora", "medl", "nips", "blog", "kos")
SCHEDULES = ("asynchronous", "auto")


def run(args: argparse.Namespace) -> None:
    sets = args.sets or (["cora"] if args.quick else SETS)
    sizes, seeds, sweeps = (
        ([10], 1, 15)
        if args.quick
        else (args.topics or [50, 200], args.seeds or 5, args.sweeps or 200)
    )
    jobs = [
        (args.data, s, k, schedule, sweeps, seed)
        for s in sets
        for k in sizes
        for schedule in SCHEDULES
        for seed in range(seeds)
    ]
    results = np.array(list(each(measure, jobs))).reshape(
        len(sets), len(sizes), len(SCHEDULES), seeds
    )
    print(
        f"alpha=beta={PRIOR}, {sweeps} sweeps, {seeds} seeds. Predictive perplexity, common"
        " fold-in.\n"
    )
    rows, changes = [], {}
    for i, name in enumerate(sets):
        for j, n_topics in enumerate(sizes):
            plain, auto = results[i, j]
            changes[name, n_topics] = 100 * (auto.mean() / plain.mean() - 1)
            rows.append(
                [
                    name.upper(),
                    n_topics,
                    mean_and_spread(plain),
                    mean_and_spread(auto),
                    f"{changes[name, n_topics]:+.2f} %",
                ]
            )
    table(["set", "K", *SCHEDULES, "difference"], rows)
    worst = max(changes, key=lambda key: changes[key])
    aim(
        f"auto at most 0.5 % above asynchronous: worst {changes[worst]:+.2f} % on"
        f" {worst[0].upper()}, K={worst[1]}",
        changes[worst] <= 0.5,
    )


def measure(data: Path, name: str, n_topics: int, schedule: str, sweeps: int, seed: int) -> float:
    began = time.perf_counter()
    train, test = split(data, name)
    options = {
        "doc_topic_prior": PRIOR,
        "topic_word_prior": PRIOR,
        "tol": 0,
        "evaluate_every": 0,
        "max_iter": sweeps,
    }
    found = score(
        LDA(n_topics, schedule=schedule, random_state=seed, **options).fit(train).components_, test
    )
    note(
        f"{name} K={n_topics} {schedule} seed {seed}: {found:.1f},"
        f" {time.perf_counter() - began:.0f} s"
    )
    return found
