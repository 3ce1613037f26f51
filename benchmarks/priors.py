"""Learned priors against the paper's fixed ones (6.2)."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks.common import PAPER_SETS, PRIOR, aim, each, mean_and_spread, note, split, table
from topoi import LDA
from topoi.evaluate import completion


def run(args: argparse.Namespace) -> None:
    sets = args.sets or (("cora",) if args.quick else PAPER_SETS)
    seeds = args.seeds or (2 if args.quick else 5)
    n_topics, sweeps = (10, args.sweeps or 20) if args.quick else (50, args.sweeps or 200)
    print(
        f"a-BP, K={n_topics}, {sweeps} sweeps, {seeds} seeds: mean (standard deviation) of"
        " predictive perplexity.\n"
    )
    jobs = [
        (args.data, name, prior, n_topics, sweeps, seed)
        for name in sets
        for prior in (PRIOR, "learn")
        for seed in range(seeds)
    ]
    results = np.array(list(each(measure, jobs))).reshape(len(sets), 2, seeds, 3)
    rows, changes = [], {}
    for name, (fixed, learned) in zip(sets, results, strict=True):
        before, after = fixed[:, 0], learned[:, 0]
        changes[name] = 100 * (after.mean() / before.mean() - 1)
        found = (f"{value:.4f}" for value in learned[:, 1:].mean(axis=0))
        rows.append(
            [
                name.upper(),
                mean_and_spread(before),
                mean_and_spread(after),
                f"{changes[name]:+.1f} %",
                *found,
            ]
        )
    table(
        ["set", f"alpha=beta={PRIOR}", "learned", "change", "mean alpha learned", "beta learned"],
        rows,
    )
    judge(changes)


def measure(
    data: Path, name: str, prior: float | str, n_topics: int, sweeps: int, seed: int
) -> tuple[float, float, float]:
    """Predictive perplexity with the model's own prior; its mean alpha and its beta."""
    began = time.perf_counter()
    train, test = split(data, name)
    options = {
        "schedule": "asynchronous",
        "max_iter": sweeps,
        "tol": 0,
        "evaluate_every": 0,
        "random_state": seed,
    }
    model = LDA(n_topics, doc_topic_prior=prior, topic_word_prior=prior, **options)
    perplexity = completion(model.fit(train), test).perplexity
    note(f"{name} prior {prior} seed {seed}: {perplexity:.1f}, {time.perf_counter() - began:.1f} s")
    return perplexity, float(model.doc_topic_prior_.mean()), model.topic_word_prior_


def judge(changes: dict[str, float]) -> None:
    if "cora" in changes:
        aim(f"at least 5 % lower on CORA: {changes['cora']:+.1f} %", changes["cora"] <= -5)
    others = {name: change for name, change in changes.items() if name != "cora"}
    if others:
        said = ", ".join(f"{name.upper()} {change:+.1f} %" for name, change in others.items())
        aim(f"no worse on the others: {said}", max(others.values()) <= 0)
