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


def run(args: argparse.Namespace) -> None:
    path = args.data / "cora" / "cora.npz"
    later = 1 if args.quick else 3
    with tempfile.TemporaryDirectory() as cache:  # so that the first process really is the first
        runs = [fit_in_process(path, cache) for _ in range(1 + later)]
    print(f"CORA, K={N_TOPICS}, default settings ({runs[0]['sweeps']} sweeps until they stop), each line a new process. {machine()}.\n")
    rows = [
        [i, *(f"{result[column]:.2f} s" for column in COLUMNS), result["compiled"], result["from_cache"]]
        for i, result in enumerate(runs, 1)
    ]
    table(["process", "import", "load corpus", "fit and topics", "import to topics", "whole process", "compiled", "from cache"], rows)
    slowest, compiled = max(result["total"] for result in runs[1:]), sum(result["compiled"] for result in runs[1:])
    aim(f"later processes: import to topics in under {AIM:g} s: slowest {slowest:.2f} s", slowest < AIM)
    aim(f"later processes compile nothing: {compiled} compilations", compiled == 0)


def fit_in_process(path: Path, cache: str) -> dict[str, Any]:
    """Seconds and compilations of one process that fits the corpus."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.first_fit", str(path), str(N_TOPICS)],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds = time.perf_counter() - began
    result = json.loads(done.stdout.splitlines()[-1])
    note(f"import to topics {result['total']:.2f} s, {result['compiled']} compilations")
    return {**result, "process": seconds}
