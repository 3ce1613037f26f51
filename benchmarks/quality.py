"""Predictive perplexity of every rule and schedule of the paper, at the paper's fixed
priors (6.1).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import (
    PAPER_SETS,
    PRIOR,
    aim,
    each,
    mean_and_spread,
    note,
    split,
    spread,
    table,
)
from topoi import LDA
from topoi.evaluate import completion
from topoi.rules import BP, VB

METHODS: dict[str, dict[str, Any]] = {
    "s-BP": {"rule": "bp", "schedule": "synchronous"},
    "a-BP": {"rule": "bp", "schedule": "asynchronous"},
    "s-BP-solved": {"rule": BP(messages="solved"), "schedule": "synchronous"},
    "s-siBP": {"rule": "sibp", "schedule": "synchronous"},
    "a-siBP": {"rule": "sibp", "schedule": "asynchronous"},
    "s-CVB0": {"rule": "cvb0", "schedule": "synchronous"},
    "a-CVB0": {"rule": "cvb0", "schedule": "asynchronous"},
    # One pass per sweep, as the authors' toolbox ships it; the paper describes VB-inner10.
    "VB": {"rule": VB(inner=1), "schedule": "synchronous"},
    "VB-inner10": {"rule": VB(inner=10), "schedule": "synchronous"},
    "VB-textbook": {
        "rule": VB(inner=20, textbook=True),
        "schedule": "synchronous",
        "init": "soft",
    },
    "GS": {"rule": "gibbs"},
}
DEFAULT = ("s-BP", "a-BP", "s-siBP", "a-siBP", "VB", "GS")  # on the larger sets
SMALL = ("cora", "medl")
THOROUGH = ("cora",)  # gets all methods
TRAIN, OWN, COMMON, MANY = range(4)  # columns of a result
MANY_PASSES = 100  # sweeps of VB with several passes over the documents in each
SAMPLES = 50  # that the fold-in of GS averages for the last column (A6)

Results = dict[tuple[str, str], np.ndarray]  # (set, method) -> (seeds, 4)


def run(args: argparse.Namespace) -> None:
    sets = args.sets or (SMALL if args.quick else PAPER_SETS)
    seeds = args.seeds or (2 if args.quick else 5)
    n_topics = 10 if args.quick else 50
    jobs = [
        (args.data, name, method, n_topics, n_sweeps(args, name, method), seed)
        for name in sets
        for method in chosen(args.methods, name)
        for seed in range(seeds)
    ]
    runs: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for job, result in zip(jobs, each(measure, jobs), strict=True):
        runs.setdefault((job[1], job[2]), []).append(result)
    results = {key: np.array(values) for key, values in runs.items()}
    sweeps = ", ".join(
        f"{name.upper()} {n_sweeps(args, name, 'a-BP')} (GS {n_sweeps(args, name, 'GS')})"
        for name in sets
    )
    print(
        f"K={n_topics}, alpha=beta={PRIOR}, {seeds} seeds: mean (standard deviation). Sweeps:"
        f" {sweeps}. The costly methods run on CORA only, unless asked for by `--methods`. GS own:"
        " one sample. Common: the BP fold-in for all.\n"
    )
    report(results)
    judge(results)


def chosen(methods: list[str] | None, name: str) -> list[str]:
    """The methods to run on a set, in the order of METHODS."""
    if methods is None:
        wanted: Any = METHODS if name in THOROUGH else DEFAULT
    else:
        wanted = METHODS if methods == ["all"] else methods
    unknown = [method for method in wanted if method not in METHODS]
    if unknown:
        raise SystemExit(f"Unknown method {unknown[0]}; choose from {', '.join(METHODS)}, or all.")
    return [method for method in METHODS if method in wanted]


def n_sweeps(args: argparse.Namespace, name: str, method: str) -> int:
    """As many for every method, unless asked for otherwise; fewer of those with many
    passes each.
    """
    asked = args.gibbs_sweeps if method == "GS" else args.sweeps
    usual = 500 if name in SMALL else 300
    passes = getattr(METHODS[method]["rule"], "inner", 1)
    return asked or (10 if args.quick else usual if passes == 1 else MANY_PASSES)


def measure(
    data: Path, name: str, method: str, n_topics: int, sweeps: int, seed: int
) -> tuple[float, ...]:
    """Training perplexity, and predictive perplexity with the method's own and with the common
    fold-in.
    """
    began = time.perf_counter()
    train, test = split(data, name)
    model = LDA(
        n_topics,
        **METHODS[method],
        doc_topic_prior=PRIOR,
        topic_word_prior=PRIOR,
        max_iter=sweeps,
        tol=0,
        evaluate_every=sweeps,  # once, after the last sweep
        random_state=seed,
    ).fit(train)
    own = completion(model, test, fold_in_rule="gibbs" if method == "GS" else None).perplexity
    common = completion(model, test, fold_in_rule="bp").perplexity
    many = (
        completion(model, test, fold_in_rule="gibbs", fold_in_samples=SAMPLES).perplexity
        if method == "GS"
        else own
    )
    trained = model.history_[-1]["perplexity"]
    note(
        f"{name} {method} seed {seed}: train {trained:.1f} own {own:.1f} common {common:.1f},"
        f" {time.perf_counter() - began:.1f} s"
    )
    return trained, own, common, many


def report(results: Results) -> None:
    rows = []
    for (name, method), runs in results.items():
        base = results.get((name, "a-BP"))
        change = (
            ""
            if base is None
            else f"{100 * (runs[:, COMMON].mean() / base[:, COMMON].mean() - 1):+.1f} %"
        )
        rows.append(
            [
                name.upper(),
                method,
                *(mean_and_spread(runs[:, column]) for column in (TRAIN, OWN, COMMON)),
                change,
            ]
        )
        if method == "GS":
            rows.append(
                [
                    name.upper(),
                    f"GS, mean of {SAMPLES} samples",
                    "",
                    mean_and_spread(runs[:, MANY]),
                    "",
                    "",
                ]
            )
    table(
        [
            "set",
            "method",
            "training",
            "predictive, own fold-in",
            "predictive, common fold-in",
            "common, against a-BP",
        ],
        rows,
    )


def judge(results: Results) -> None:
    """The aims of 6.1, all on the common fold-in."""
    judge_rival(results, "GS", least=3, average=5)
    judge_rival(results, "VB", least=6, average=11)
    both = [name for name in names(results, "a-BP") if (name, "s-BP") in results]
    if both:
        gaps = {
            name: abs(common(results, name, "a-BP").mean() - common(results, name, "s-BP").mean())
            for name in both
        }
        noise = {
            name: max(spread(common(results, name, method)) for method in ("a-BP", "s-BP"))
            for name in both
        }
        said = ", ".join(f"{name.upper()} {gaps[name]:.1f} ({noise[name]:.1f})" for name in both)
        aim(
            "a-BP and s-BP differ by less than a seed does: difference of means (standard"
            f" deviation over seeds) {said}",
            all(gaps[name] <= noise[name] for name in both),
        )
    for prefix in ("s-", "a-"):
        judge_simplified(results, f"{prefix}siBP", f"{prefix}BP")


def judge_rival(results: Results, rival: str, least: float, average: float) -> None:
    """a-BP at least `least` per cent below the rival on each set, and `average` per cent on
    average.
    """
    both = [name for name in names(results, "a-BP") if (name, rival) in results]
    if not both:
        return
    gains = [
        100 * (1 - common(results, name, "a-BP").mean() / common(results, name, rival).mean())
        for name in both
    ]
    said = ", ".join(f"{name.upper()} {gain:.1f} %" for name, gain in zip(both, gains, strict=True))
    aim(f"a-BP at least {least} % below {rival} on each set: {said}", min(gains) >= least)
    aim(
        f"a-BP on average {average} % below {rival}: {np.mean(gains):.1f} %",
        bool(np.mean(gains) >= average),
    )


def judge_simplified(results: Results, simple: str, full: str) -> None:
    """siBP 1 to 4 per cent above BP."""
    both = [name for name in names(results, simple) if (name, full) in results]
    if not both:
        return

    def above(column: int) -> list[float]:
        return [
            100
            * (results[name, simple][:, column].mean() / results[name, full][:, column].mean() - 1)
            for name in both
        ]

    rises = above(COMMON)
    said = ", ".join(
        f"{name.upper()} {c:+.1f} % ({o:+.1f} %)"
        for name, c, o in zip(both, rises, above(OWN), strict=True)
    )
    aim(
        f"{simple} 1 to 4 % above {full}, common fold-in (own fold-in): {said}",
        min(rises) >= 1 and max(rises) <= 4,
    )


def names(results: Results, method: str) -> list[str]:
    return [name for name, done in results if done == method]


def common(results: Results, name: str, method: str) -> np.ndarray:
    return results[name, method][:, COMMON]
