"""Runs cases in child processes, so that a crash or a hang is a result like any other.

A child may use a bounded amount of memory and a bounded time for each case. It needs `os.fork`.
"""

from __future__ import annotations

import atexit
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import psutil

GOOD = ("refused", "harmless", "another")
BAD = ("different", "raw", "crash", "hang")
BATCH = 500  # cases in one child
SECONDS = 20.0  # for one case
MEMORY = 2**30  # bytes that a child may take beside what it has from its parent
LONGEST_MESSAGE = 1_000  # characters


@dataclass(frozen=True)
class Case:
    """One case. `run` returns an outcome:

    refused    with a ValueError or OSError that names the file
    harmless   accepted, with the result of the undamaged file
    another    accepted, another valid file with another result: its digest was made anew
    different  accepted without a word, with another result
    raw        any other exception (as is whatever `run` raises)
    """

    name: str
    run: Callable[[], str]


@dataclass(frozen=True)
class Failure:
    name: str
    outcome: str
    detail: str


def scratch_folder() -> Path:
    """A folder in memory, where there is such a thing, until this process ends."""
    folder = Path(
        tempfile.mkdtemp(
            prefix="topoi-fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None
        )
    )
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def outcome_of(read: Callable[[], str], path: Path) -> str:
    """What `read` returns, or "refused" if it raises one sentence that names the file."""
    try:
        return read()
    except (ValueError, OSError) as error:
        said = str(error)
        if str(path) in said and "\n" not in said and len(said) < LONGEST_MESSAGE:
            return "refused"
        raise


def run_cases(
    cases: Iterable[Case], *, seconds: float = SECONDS
) -> tuple[Counter[str], list[Failure]]:
    """Carry out all cases, each batch in a child. Returns counts of outcomes, and failures."""
    counts: Counter[str] = Counter()
    failures: list[Failure] = []
    waiting: Iterator[Case] = iter(cases)
    while batch := list(islice(waiting, BATCH)):
        while batch:
            done = _in_child(batch, seconds)
            for case, (outcome, detail) in zip(batch, done, strict=False):
                counts[outcome] += 1
                if outcome in BAD:
                    failures.append(Failure(case.name, outcome, detail))
            batch = batch[len(done) :]
    return counts, failures


def _in_child(batch: list[Case], seconds: float) -> list[tuple[str, str]]:
    """Outcomes of the first cases of a batch, up to and with one that kills or stops the child."""
    sys.stdout.flush()
    sys.stderr.flush()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        _work(batch, write)
    os.close(write)
    done: list[tuple[str, str]] = []
    with os.fdopen(read, "rb", buffering=0) as pipe:
        rest = b""
        while len(done) < len(batch):
            ready, _, _ = select.select([pipe], [], [], seconds)
            news = pipe.read(2**16) if ready else b""
            if not news:
                os.kill(child, signal.SIGKILL)  # it may be dead already, but it is still our child
                _, status = os.waitpid(child, 0)
                died = (
                    f"signal {os.WTERMSIG(status)}"
                    if os.WIFSIGNALED(status)
                    else f"exit status {os.WEXITSTATUS(status)}"
                )
                return [*done, ("crash", died) if ready else ("hang", f"more than {seconds:g} s")]
            *lines, rest = (rest + news).split(b"\n")
            for line in lines:
                outcome, _, detail = line.decode(errors="replace").partition("\t")
                done.append((outcome, detail))
    os.waitpid(child, 0)
    return done


def _work(batch: list[Case], write: int) -> None:
    """The child: a line for each case, and out without any cleaning up."""
    try:
        warnings.simplefilter("ignore")
        limit = psutil.Process().memory_info().vms + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for case in batch:
            try:
                outcome, detail = case.run(), ""
            except Exception as error:
                outcome, detail = "raw", f"{type(error).__name__}: {error}"
            line = f"{outcome}\t{' '.join(detail.split())[:300]}\n"
            os.write(write, line.encode(errors="replace"))
        os._exit(0)
    finally:
        os._exit(1)


def table(results: dict[str, Counter[str]]) -> str:
    """One row per target, one column per outcome."""
    rows = [["target", "cases", *GOOD, *BAD]]
    rows += [
        [name, str(sum(counts.values())), *(str(counts[outcome]) for outcome in (*GOOD, *BAD))]
        for name, counts in results.items()
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
