"""`LDA(K).fit(X)` as it is, beside 1,000 sweeps of every schedule that could be better.

Priors are learned. The aims: a default fit ends within 0.5 % of the best of these, and none of our
other rules ends below it. Every cell is kept in --cells FILE and not measured again.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from benchmarks.common import Cells, aim, score, split, table
from topoi import LDA

SETS = ("cora", "kos", "nips", "medl", "ap", "poliblog5k", "blog", "news20")
LONG: dict[str, dict[str, Any]] = {  # what a default fit is compared with
    "auto": {},
    "asynchronous": {"schedule": "asynchronous"},
    "incremental": {"schedule": "incremental"},
    "VB": {"rule": "vb"},
}
SWEEPS = {"auto": 1000, "asynchronous": 1000, "incremental": 200, "VB": 200}


def run(args: argparse.Namespace) -> None:
    sets = args.sets or (["cora"] if args.quick else SETS)
    sizes = args.topics or ([10] if args.quick else [20, 50, 200])
    sweeps = dict.fromkeys(SWEEPS, 12) if args.quick else SWEEPS
    cells = Cells(args.cells, measure)
    rows, above, better = [], {}, []
    for name in sets:
        for n_topics in sizes:
            default = cells.get(args.data, name, n_topics, "default", None)
            long = {
                method: cells.get(args.data, name, n_topics, method, sweeps[method])
                for method in LONG
            }
            best = min(long, key=lambda method: long[method]["score"])
            if long["VB"]["score"] < default["score"]:
                better.append(f"{name.upper()}, K={n_topics}")
            gap = above[name, n_topics] = 100 * (default["score"] / long[best]["score"] - 1)
            rows.append(
                [name.upper(), n_topics, f"{default['score']:.1f}", default["sweeps"],
                 *(f"{cell['score']:.1f}" for cell in long.values()), best, f"{gap:+.2f} %"]
            )  # fmt: skip
    print("Learned priors, one seed, common fold-in. Predictive perplexity.\n")
    header = [f"{method}, {sweeps[method]:,} sweeps" for method in LONG]
    table(["set", "K", "default", "its sweeps", *header, "best", "default above it"], rows)
    worst = max(above, key=lambda key: above[key])
    aim(
        f"default fits within 0.5 % of the best: {sum(gap <= 0.5 for gap in above.values())} of"
        f" {len(above)}; worst {above[worst]:+.2f} % on {worst[0].upper()}, K={worst[1]}",
        above[worst] <= 0.5,
    )
    said = f", but below {'; '.join(better)}" if better else ""
    aim(f"VB ends below no default fit{said}", not better)


def measure(
    data: Path, name: str, n_topics: int, method: str, sweeps: int | None
) -> dict[str, Any]:
    """A cell: score, seconds and sweeps of one fit."""
    train, test = split(data, name)
    options = {} if sweeps is None else {**LONG[method], "max_iter": sweeps, "tol": 0}
    began = time.perf_counter()
    model = LDA(n_topics, **options).fit(train)
    seconds = time.perf_counter() - began
    return {
        "score": score(model.components_, test),
        "seconds": seconds,
        "sweeps": model.n_iter_,
    }
