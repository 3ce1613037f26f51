"""What all benchmarks share: corpora, the one scorer, fresh processes, tables."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from topoi import Corpus
from topoi.datasets import load_npz
from topoi.evaluate import completion

PAPER_SETS = ("cora", "medl", "nips", "blog")
PRIOR = 0.01  # alpha = beta of the paper


def load(data: Path, name: str) -> Corpus:
    return load_npz(data / name / f"{name}.npz")


@lru_cache(maxsize=1)
def split(data: Path, name: str) -> tuple[Corpus, Corpus]:
    """The 80 % and 20 % of documents on which everything is trained and tested: the same for all
    methods and seeds.
    """
    return load(data, name).split(test_size=0.2, random_state=0)


def score(topics: Any, test: Corpus) -> float:
    """Predictive perplexity of topics from anywhere, (K, W): one split of tokens, one fold-in (BP),
    one prior for all.
    """
    options = {"doc_topic_prior": PRIOR, "fold_in_rule": "bp", "n_jobs": -1}
    return completion(topics, test.counts, **options).perplexity


def fresh(function: Callable[..., Any], *args: Any) -> Any:
    """The result of a function in an interpreter of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *args).result()


def each(function: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
    """The results of function(*job) in the order of jobs, a process per core.

    Models give the same bits on one thread as on many.
    """
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        yield from pool.map(function, *zip(*jobs, strict=True))


class Cells:
    """Measured cells, kept in a file of JSON lines if there is one, so that a long run can be
    interrupted.

    measure(data, *key) computes one, in an interpreter of its own.
    """

    def __init__(self, path: Path | None, measure: Callable[..., dict[str, Any]]) -> None:
        self.path, self.measure = path, measure
        lines = path.read_text().splitlines() if path is not None and path.exists() else []
        self.known = {tuple(key): cell for key, cell in map(json.loads, lines)}

    def get(self, data: Path, *key: Any) -> dict[str, Any]:
        if key not in self.known:
            self.known[key] = fresh(self.measure, data, *key)
            note(f"{key}: {self.known[key]}")
            if self.path is not None:
                with self.path.open("a") as file:
                    file.write(json.dumps([key, self.known[key]]) + os.linesep)
        return self.known[key]


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table. Numbers should come as text already."""
    return "".join(
        f"| {' | '.join(map(str, row))} |\n" for row in (header, ["---"] * len(header), *rows)
    )


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a Markdown table."""
    print(markdown(header, rows))


def aim(text: str, met: bool) -> None:
    print(f"- {'met' if met else '**not met**'}: {text}", flush=True)


def spread(values: Sequence[float] | np.ndarray) -> float:
    """Standard deviation over seeds; 0 for one seed."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def mean_and_spread(values: Sequence[float] | np.ndarray) -> str:
    return f"{np.mean(values):.1f} ({spread(values):.1f})"


def machine() -> str:
    return (
        f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy"
        f" {np.__version__}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")),
        platform.machine(),
    )
