"""Runs that are killed again and again. What they end in must be what an undisturbed run ends in.

A run is a child process that saves a checkpoint in every sweep. It dies by SIGKILL: at a random
moment, or by its own hand inside a write, around one of the calls to the system.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.checkpoints import small_grid
from fuzz.harness import Case, scratch_folder
from topoi import LDA, AuthorTopicModel, LabeledLDA, RelationalTopicModel, TopicModel, datasets
from topoi.choices import RULES, SCHEDULES
from topoi.graph.factors import Authors, Links, Words
from topoi.infer.recipe import named_schedule
from topoi.infer.rules import make_rule
from topoi.rules import BP
from topoi.storage import files
from topoi.storage.digests import digest

MOST_KILLS = 4  # of one run
MOST_STARTS = 60  # of a run that ends, again and again, before it is killed


@dataclass(frozen=True)
class Run:
    """A fit, and how it goes when nobody disturbs it."""

    name: str
    make: Callable[[], Any]
    data: Any
    expected: str  # digest of its result
    seconds: float
    calls: int  # to the system, while it writes


def _fits() -> Iterator[tuple[str, Callable[[], Any], Any]]:
    """Name, model to make and data: all rules and schedules, models, and ways to end."""
    authors, links = datasets.make_authors(24, 4, 20, 3)[0], datasets.make_links(24, 20, 3)[0]
    labels = datasets.make_labels(24, 20, 3)[0]
    options: dict[str, Any] = {"max_iter": 12, "tol": 0}
    plain: dict[str, dict[str, Any]] = {
        "without messages": {"rule": BP(messages="none")},
        "with solved messages": {"rule": BP(messages="solved"), "schedule": "synchronous"},
        "converging": {"tol": 0.02, "evaluate_every": 2, "max_iter": 40},
        "converging in blocks": {
            "tol": 0.05,
            "evaluate_every": 2,
            "batch_size": 7,
            "max_iter": 20,
        },
    }
    for rule in ("bp", "sibp", "vb"):
        plain[f"{rule} in blocks"] = {"rule": rule, "batch_size": 7, "max_iter": 3}
    for rule, schedule in _combinations():
        plain[f"{rule} {schedule}"] = {"rule": rule, "schedule": schedule}
    for name, more in plain.items():
        yield f"LDA {name}", partial(LDA, 4, **(options | more)), authors.counts
    many = options | {"schedule": "incremental"}
    yield "LDA bp incremental, many topics", partial(LDA, 300, **many), authors.counts
    for rule, schedule in _combinations():
        if schedule in ("auto", "incremental", "synchronous"):
            more = options | {"rule": rule, "schedule": schedule}
            name, make = f"{rule} {schedule}", partial(AuthorTopicModel, 4, author_prior="learned")
            yield f"authors {name}", partial(make, **more), authors
            yield f"links {name}", partial(RelationalTopicModel, 4, **more), links
            yield f"labels {name}", partial(LabeledLDA, 1, **more), labels
    names = [["a", "b"], ["b"], ["c"]] * 8
    mixture = [Words(links.counts), Authors(names), Links(links.links, "learn")]
    yield "mixture of authors and links", partial(TopicModel, mixture, 4, **options), None


def _combinations() -> Iterator[tuple[str, str]]:
    """Rules and schedules that go together."""
    for rule in RULES:
        for schedule in SCHEDULES:
            try:
                named_schedule(schedule, make_rule(rule))
            except ValueError:
                continue
            yield rule, schedule


def _fitted(make: Callable[[], Any], data: Any, **checkpoint: Any) -> str:
    """A digest of everything that a fit ends in, but for the time it took."""
    with small_grid(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make().fit(data, **checkpoint)
    apart = ("history_", "factors_")
    learned = {key: value for key, value in vars(model).items() if key.endswith("_")}
    learned = {key: value for key, value in learned.items() if key not in apart}
    return digest([learned, [{**record, "seconds": 0} for record in model.history_]])


def _undisturbed(name: str, make: Callable[[], Any], data: Any, path: Path) -> Run:
    expected, disk, began = _fitted(make, data), _Disk(), time.perf_counter()
    with disk:
        saved = _fitted(make, data, checkpoint=path, checkpoint_every=1)
    assert saved == expected, f"{name}: a checkpoint changes the result"
    path.unlink()
    return Run(name, make, data, expected, time.perf_counter() - began, disk.calls)


class _Disk:
    """Counts the calls to the system with which files are written, and dies around one of them."""

    def __init__(self, die_at: int = -1) -> None:
        self.calls, self.die_at = 0, die_at
        disk = self

        class File(FileIO):
            def write(self, data: Any) -> int:
                if disk.is_time():
                    super().write(memoryview(data)[: len(data) // 2])
                    _die()
                return super().write(data)

        class System:
            def __getattr__(self, name: str) -> Any:
                call = getattr(os, name)
                return partial(disk.around, call) if name in ("open", "fsync", "replace") else call

        self._patches: dict[str, Any] = {"FileIO": File, "os": System()}

    def is_time(self) -> bool:
        self.calls += 1
        return self.calls - 1 == self.die_at

    def around(self, call: Callable[..., Any], *arguments: Any) -> Any:
        dies = self.is_time()
        if dies and self.die_at % 2:
            _die()
        answer = call(*arguments)
        if dies:
            _die()
        return answer

    def __enter__(self) -> None:
        self._before = {name: getattr(files, name) for name in self._patches}
        for name, value in self._patches.items():
            setattr(files, name, value)

    def __exit__(self, *_: object) -> None:
        for name, value in self._before.items():
            setattr(files, name, value)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def cases(n: int, seed: int) -> Iterator[Case]:
    """Runs that are killed n times in all."""
    folder = scratch_folder()
    rng = np.random.default_rng(seed)
    fits = list(_fits())
    runs: dict[int, Run] = {}
    for i, place in enumerate(np.resize(rng.permutation(len(fits)), n)):
        if place not in runs:
            runs[place] = _undisturbed(*fits[place], folder / "run.ckpt")
        kills = min(n, int(rng.integers(1, MOST_KILLS + 1)))
        run = partial(_killed, runs[place], kills, folder, [seed, i])
        yield Case(f"{i} {runs[place].name}, {kills} kills", run)
        n -= kills
        if not n:
            return


def _killed(run: Run, kills: int, folder: Path, seed: list[int]) -> str:
    """Kill a run `kills` times, let it end, and compare."""
    rng, path = np.random.default_rng(seed), folder / "run.ckpt"
    path.unlink(missing_ok=True)
    for _ in range(MOST_STARTS):
        if not kills:
            found = _in_child(run, path)
            left = sorted(os.listdir(folder))
            if left != ["run.ckpt"]:
                raise RuntimeError(f"a finished run leaves {', '.join(left)}")
            return "harmless" if found == run.expected else "different"
        inside = rng.random() < 0.5
        found = (
            _in_child(run, path, die_at=int(rng.integers(run.calls)))
            if inside
            else _in_child(run, path, seconds=rng.uniform(0, run.seconds))
        )
        if found is None:
            kills -= 1
        elif found != run.expected:
            return "different"
        else:  # it ended before it could be killed: once more from the beginning
            path.unlink()
    raise RuntimeError("the run always ends before it is killed")


def _in_child(
    run: Run,
    path: Path,
    *,
    die_at: int = -1,
    seconds: float | None = None,
) -> str | None:
    """The result of a run in a child, or None if it was killed: by itself, or after `seconds`."""
    sys.stdout.flush()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            with _Disk(die_at):
                answer = _fitted(run.make, run.data, checkpoint=path, checkpoint_every=1)
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(write, answer.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        ready, _, _ = select.select([pipe], [], [], seconds)
        if not ready:
            os.kill(child, signal.SIGKILL)
        answer = pipe.read().decode()
    os.waitpid(child, 0)
    if ": " in answer:
        raise RuntimeError(answer)
    return answer or None
