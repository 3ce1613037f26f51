"""From `import` to topics in a second process, without compiling anything (6.5)."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.common import aim, machine, note, table

AIM = 3.0  # seconds
N_TOPICS = 20
COLUMNS = ("import", "load", "fit", "total", "process")
EXTRAS = (
    "pandas",
    "pyarrow",
    "polars",
)  # not needed by topoi; scikit-learn imports pandas if it is there, and pandas pyarrow


def run(args: argparse.Namespace) -> None:
    path = args.data / "cora" / "cora.npz"
    later = 1 if args.quick else 3
    with tempfile.TemporaryDirectory() as cache:  # so that the first process really is the first
        runs = [fit_in_process(path, cache) for _ in range(1 + later)]
        bare = [fit_in_process(path, cache, *EXTRAS) for _ in range(later)]
    print(
        f"CORA, K={N_TOPICS}, default settings ({runs[0]['sweeps']} sweeps until they stop), each"
        f" line a new process. {machine()}.\n"
    )
    rows = [
        [
            i,
            "yes" if i <= len(runs) else "no",
            *(f"{result[column]:.2f} s" for column in COLUMNS),
            result["compiled"],
            result["from_cache"],
        ]
        for i, result in enumerate(runs + bare, 1)
    ]
    table(
        [
            "process",
            "pandas there",
            "import",
            "load corpus",
            "fit and topics",
            "import to topics",
            "whole process",
            "compiled",
            "from cache",
        ],
        rows,
    )
    for title, later_runs in (("with pandas", runs[1:]), ("with what topoi needs only", bare)):
        slowest = max(result["total"] for result in later_runs)
        aim(
            f"later processes, {title}: import to topics in under {AIM:g} s: slowest"
            f" {slowest:.2f} s",
            slowest < AIM,
        )
    compiled = sum(result["compiled"] for result in runs[1:] + bare)
    aim(f"later processes compile nothing: {compiled} compilations", compiled == 0)


def fit_in_process(path: Path, cache: str, *hidden: str) -> dict[str, Any]:
    """Seconds and compilations of one process that fits the corpus; `hidden` packages look as if
    they were not installed.
    """
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }  # a user's Python keeps bytecode
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.first_fit", str(path), str(N_TOPICS), *hidden],
        env={**environment, "NUMBA_CACHE_DIR": cache},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds = time.perf_counter() - began
    result = json.loads(done.stdout.splitlines()[-1])
    note(f"import to topics {result['total']:.2f} s, {result['compiled']} compilations")
    return {**result, "process": seconds}
