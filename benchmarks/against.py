"""Is a change slower? `python -m benchmarks.against --base REV --data DIR`.

Times the working tree and revision REV in turn, in one run: a first fit on an empty cache, a
second process, a dense sweep, and a fit of KOS. Prints seconds and their ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common import machine, table
from benchmarks.same_bits import checked_out

ROOT = Path(__file__).parent.parent

# Runs in either tree, so it uses only what both have.
CHILD = """
import json, sys, time
began = time.perf_counter()
import numpy as np
from scipy import sparse
import topoi
model, path, n_topics, max_iter, schedule = json.loads(sys.argv[1])
file = np.load(path)
counts = sparse.csr_array((file["counts"], file["indices"], file["indptr"]),
                          (len(file["indptr"]) - 1, len(file["vocab"])))
extra = {}
if model == "AuthorTopicModel":
    rows = np.split(file["authors_indices"], file["authors_indptr"][1:-1])
    extra = {"authors": [[str(a) for a in row] for row in rows]}
if model == "RelationalTopicModel":
    extra = {"links": file["links"]}
if model == "LabeledLDA":
    extra = {"y": [[str(label)] for label in file["labels"]]}
times, ready = [], time.perf_counter()
first = () if model == "LabeledLDA" else (n_topics,)
for _ in range(2):
    start = time.perf_counter()
    options = {"max_iter": max_iter, "schedule": schedule}
    fitted = getattr(topoi, model)(*first, **options).fit(counts, **extra)
    times.append(time.perf_counter() - start)
print(json.dumps({"total": ready + times[0] - began, "first": times[0],
                  "second": times[1],
                  "sweeps": np.diff([record["seconds"] for record in fitted.history_]).tolist()}))
"""


def timed(tree: Path, cache: str, *job: object) -> dict:
    """What the child measures in a process of its own, with the sources of `tree`."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(job)],
        env={**os.environ, "PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": cache},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return json.loads(done.stdout)


def measure(trees: dict[str, Path], data: Path, repeats: int) -> list[tuple[str, list, list]]:
    """(what, seconds of the base, seconds of the working tree), measured in turn."""
    rows: dict[str, dict[str, list[float]]] = {}

    def add(what: str, tree: str, seconds: float) -> None:
        rows.setdefault(what, {name: [] for name in trees})[tree].append(seconds)

    cora, kos = (str(data / name / f"{name}.npz") for name in ("cora", "kos"))
    others = ("AuthorTopicModel", "RelationalTopicModel", "LabeledLDA")
    with tempfile.TemporaryDirectory() as folder:
        for i in range(repeats):
            for name, tree in trees.items():
                cache = f"{folder}/{name}{i}"
                first, second = (timed(tree, cache, "LDA", cora, 20, 200, "auto") for _ in "12")
                add("first LDA fit, empty cache (CORA, K=20)", name, first["first"])
                add("import to topics, second process", name, second["total"])
                models = [timed(tree, cache, model, cora, 20, 20, "auto") for model in others]
                add("first ATM, RTM and L-LDA fits", name, sum(run["first"] for run in models))
                run = timed(tree, cache, "LDA", kos, 200, 12, "asynchronous")
                add("a dense sweep (KOS, K=200)", name, statistics.median(run["sweeps"]))
                run = timed(tree, cache, "LDA", kos, 50, 200, "auto")
                add("default fit (KOS, K=50)", name, run["second"])
    return [(what, *(found[name] for name in trees)) for what, found in rows.items()]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=__doc__)
    parser.add_argument("--base", default="HEAD", metavar="REV")
    parser.add_argument("--data", type=Path, default=os.environ.get("TOPOI_DATA"))
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    with checked_out(args.base) as base:
        found = measure({"base": base, "now": ROOT}, args.data, args.repeats)
    print(f"One thread, medians of {args.repeats}, in turn with {args.base}. {machine()}.\n")
    rows = []
    for what, before, now in found:
        old, new = statistics.median(before), statistics.median(now)
        rows.append([what, f"{old:.3g} s", f"{new:.3g} s", f"{new / old:.2f}"])
    table(["", args.base, "now", "ratio"], rows)


if __name__ == "__main__":
    main()
