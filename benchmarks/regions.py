"""A wide matrix whose entries are all 1, such as cells x regions or users x items.

Rows are drawn from synthetic topics. How long a sweep takes for an entry and a topic, beside a
corpus of text, how much memory a whole fit takes, and how tomotopy does on a tenth of the rows.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.common import aim, fresh, load, machine, table
from benchmarks.race import tokens, warm_up
from topoi import LDA, Corpus

ROWS, COLUMNS, ENTRIES = 20_000, 100_000, 2_500  # entries: of a row, on average
N_TOPICS = 50
PEER_ROWS, PEER_SWEEPS = 2_000, 100
MOST_MB = 6 * 1024


def run(args: argparse.Namespace) -> None:
    n_rows = 200 if args.quick else ROWS
    n_topics = (args.topics or [N_TOPICS])[0]
    found = {
        f"{n_rows:,} x {COLUMNS:,}": fresh(measure, make_ones(n_rows), n_topics),
        "KOS": fresh(measure, load(args.data, "kos"), n_topics),
    }
    print(f"{n_topics} topics, default fits, one thread. {machine()}.\n")
    rows = [
        [name, f"{one['entries']:,}", one["sweeps"], one["schedule"], f"{one['fit']:.0f} s",
         f"{one['nanoseconds']:.2f} ns", f"{one['mb']:,.0f}"]
        for name, one in found.items()
    ]  # fmt: skip
    head = [
        "matrix",
        "entries",
        "sweeps",
        "schedule",
        "fit",
        "sweep, per entry and topic",
        "peak MB",
    ]
    table(head, rows)
    ones, text = found.values()
    ratio = ones["nanoseconds"] / text["nanoseconds"]
    aim(f"in 6 GB: {ones['mb']:,.0f} MB", ones["mb"] < MOST_MB)
    aim(f"a sweep takes no longer for an entry than on text: {ratio:.2f} times", ratio <= 1)
    if not args.peers or "tomotopy" in args.peers:
        part = make_ones(min(PEER_ROWS, n_rows))
        ours, theirs = fresh(measure, part, n_topics), fresh(tomotopy, part, n_topics)
        print(
            f"{part.n_docs:,} of the rows: topoi {ours['fit']:.0f} s for {ours['sweeps']} sweeps,"
            f" tomotopy {theirs:.0f} s for {PEER_SWEEPS}."
        )


def make_ones(n_rows: int) -> Corpus:
    """Each row mixes a few topics; an entry is there, or not."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(COLUMNS, 0.05), N_TOPICS).astype(np.float32)
    columns = []
    for _ in range(n_rows):
        chance = rng.dirichlet(np.full(N_TOPICS, 0.05)).astype(np.float32) @ topics
        chance = 1 - np.exp(-1.3 * ENTRIES * chance)  # 1.3: many columns would be drawn twice
        columns.append(np.flatnonzero(rng.random(COLUMNS, np.float32) < chance).astype(np.int32))
    indptr = np.cumsum([0, *map(len, columns)])
    ones = np.ones(indptr[-1], np.float32)
    return Corpus(sparse.csr_array((ones, np.concatenate(columns), indptr), (n_rows, COLUMNS)))


def measure(corpus: Corpus, n_topics: int) -> dict[str, Any]:
    """A default fit: seconds, sweeps, and peak memory of its process."""
    warm_up()
    began = time.perf_counter()
    model = LDA(n_topics, n_jobs=1).fit(corpus)
    seconds = time.perf_counter() - began
    last = [record for record in model.history_ if record["schedule"] not in ("warm-up", "afresh")]
    each = np.diff([record["seconds"] for record in last])
    sweep = float(np.median(each)) if len(each) else np.nan
    return {
        "entries": corpus.counts.nnz,
        "sweeps": model.n_iter_,
        "schedule": last[-1]["schedule"],
        "fit": seconds,
        "nanoseconds": 1e9 * sweep / corpus.counts.nnz / n_topics,
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def tomotopy(corpus: Corpus, n_topics: int) -> float:
    """Seconds of some sweeps."""
    import tomotopy as tp

    model = tp.LDAModel(k=n_topics, seed=1)
    for words in tokens(corpus):
        model.add_doc([str(word) for word in words])
    began = time.perf_counter()
    model.train(PEER_SWEEPS, workers=1)
    return time.perf_counter() - began
