"""What all experiments share: the paper's grid, folds, and cells that are computed once.

An experiment is a module with PARTS and `report`. A part is one table of results: a list of cells,
and a function `measure(data, **cell)` that turns a cell into one or more rows. A cell is a
dictionary that says everything its numbers depend on: set, method, topics, sweeps, fold. `report`
makes tables, verdicts and a figure from whatever rows there are (experiments/page.py).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from benchmarks.common import PAPER_SETS, PRIOR, load
from topoi import Corpus
from topoi.infer.likelihood import document_log_likelihood

__all__ = ["PAPER_SETS", "PRIOR"]

NAMES: tuple[str, ...] = (
    "table2",
    "shift",
    "perplexity",
    "convergence",
    "variants",
    "rtm",
    "links",
    "atm",
    "labeled",
    "topics",
    "weighted",
    "parity",
    "baselines",
    "time",
)
# Rows say of which code they are. Change it whenever the numbers of any experiment may change.
CODE = "2026-11-19"
PROCESSES = 2
FIXED = {"doc_topic_prior": PRIOR, "topic_word_prior": PRIOR}
# The paper's grid.
FOLDS = 5
TOPICS = (10, 20, 30, 40, 50)
LDA_SWEEPS, SWEEPS_OF_OTHERS = 1000, 500
# Most cells stop when |P(t) - P(t-10)| < 1, or here. The others make all of the paper's sweeps.
SWEEPS = 300
RULE, NEVER = "by the rule", "never"
LONG_TOPICS = (50,)  # the column of the grid that is also run with all of the paper's sweeps

Cell = dict[str, Any]
Rows = list[dict[str, Any]]
Measure = Callable[..., Rows]


@dataclass(frozen=True)
class Part:
    """One table of results, docs/paper/NAME.csv.

    grid(quick) lists all cells. Parts with the same store share the cells that both have.
    """

    name: str
    measure: Measure
    grid: Callable[[bool], list[Cell]]
    store: str = ""
    processes: int | None = None

    @property
    def file(self) -> str:
        return f"{self.store or self.name}.csv"


@dataclass(frozen=True)
class Run:
    """Where the corpora are, where finished cells and documents go, and what may be computed.

    only: sets to compute, or all; hours: no cell starts later; published: cells of docs/paper are
    not computed again, whatever state of the library they are of.
    """

    data: Path
    out: Path
    docs: Path
    quick: bool
    only: tuple[str, ...] = ()
    until: float = np.inf
    published: bool = False
    processes: int = PROCESSES

    def results(self, part: Part) -> pd.DataFrame:
        """The rows of all cells that are known, in the order of the grid; what is missing is
        computed first, as far as the run may.
        """
        cells = part.grid(self.quick)
        path = self.out / part.file
        path.parent.mkdir(parents=True, exist_ok=True)
        known = of_this_code(read_cells(path, cells))
        if self.published:
            known = {**read_cells(self.docs / "paper" / f"{part.name}.csv", cells), **known}
        # The last cells are the largest ones: they go first, so that no process waits long for
        # another at the end.
        todo = [
            cell
            for cell in reversed(cells)
            if key_of(cell) not in known and (not self.only or cell.get("set") in self.only)
        ]
        processes = part.processes or self.processes
        for cell, rows in _compute(part.measure, self.data, todo, processes, part.name, self.until):
            known[key_of(cell)] = rows
            append_rows(path, pd.DataFrame([{**cell, **row} for row in rows]))
        return pd.DataFrame(
            [{**cell, **row} for cell in cells for row in known.get(key_of(cell), [])]
        )


def cells(**choices: Iterable[Any]) -> list[Cell]:
    """All combinations: cells(set=["cora"], fold=range(5)) is five cells."""
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def planned(
    quick: bool,
    sets: Sequence[str] = PAPER_SETS,
    *,
    topics: Sequence[int] = TOPICS,
    sweeps: int = SWEEPS,
    stop: str = RULE,
    repeat: str = "fold",
    repeats: int = FOLDS,
    **choices: Iterable[Any],
) -> list[Cell]:
    """Cells of the paper's grid, for all combinations of `choices`; in a rehearsal CORA with ten
    topics, twice, and few sweeps.
    """
    if quick:
        sets = [name for name in sets if name.startswith("cora")]
        topics, sweeps, repeats = topics[:1], 20 if stop == RULE else 30, 2
    return cells(
        set=sets,
        **choices,
        topics=topics,
        sweeps=[sweeps],
        stop=[stop],
        **{repeat: range(repeats)},
    )


def stopping(sweeps: int, stop: str) -> dict[str, Any]:
    """Options of a model: until the rule holds, or for all sweeps."""
    if stop == RULE:
        return {"tol": "paper", "max_iter": sweeps}
    return {"tol": 0, "max_iter": sweeps, "evaluate_every": sweeps}


def key_of(cell: Cell) -> tuple[str, ...]:
    return tuple(str(value) for value in cell.values())


def read_cells(path: Path, wanted: Sequence[Cell]) -> dict[tuple[str, ...], Rows]:
    """The rows of each cell on file."""
    if not path.exists() or not wanted:
        return {}
    frame, keys = pd.read_csv(path), list(wanted[0])
    groups = frame.groupby([frame[key].astype(str) for key in keys], sort=False)
    return {
        key if isinstance(key, tuple) else (key,): rows.drop(columns=keys).to_dict("records")
        for key, rows in groups
    }


def of_this_code(known: dict[tuple[str, ...], Rows]) -> dict[tuple[str, ...], Rows]:
    return {key: rows for key, rows in known.items() if rows[0].get("code") == CODE}


def append_rows(path: Path, rows: pd.DataFrame) -> None:
    """Add rows to a CSV file; columns that it lacks make it be written anew."""
    if not path.exists():
        rows.to_csv(path, index=False)
        return
    head = list(pd.read_csv(path, nrows=0).columns)
    if set(rows.columns) <= set(head):
        rows.reindex(columns=head).to_csv(path, mode="a", header=False, index=False)
        return
    whole, beside = pd.concat([pd.read_csv(path), rows]), path.with_suffix(".new")
    whole.to_csv(beside, index=False)
    beside.replace(path)  # whole or not at all


def _compute(
    measure: Measure, data: Path, todo: Sequence[Cell], processes: int, name: str, until: float
) -> Iterator[tuple[Cell, Rows]]:
    """The rows of each cell as they come, with a progress bar; none starts after `until`."""
    from rich.console import Console
    from rich.progress import Progress

    if not todo or time.time() >= until:
        return
    # Each with its own interpreter, as the kernels' cache wants it.
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    left, running = iter(todo), {}
    with Progress(console=Console(stderr=True)) as bar, pool:
        task = bar.add_task(name, total=len(todo))
        while True:
            while len(running) < processes and time.time() < until:
                cell = next(left, None)
                if cell is None:
                    break
                running[pool.submit(_timed, measure, data, cell)] = cell
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                cell, rows = running.pop(future), future.result()
                bar.update(task, advance=1)
                bar.console.print(
                    f"{name} {' '.join(key_of(cell))}: {rows[0]['seconds']:.0f} s",
                    highlight=False,
                    soft_wrap=True,
                )
                yield cell, rows


def _timed(measure: Measure, data: Path, cell: Cell) -> Rows:
    """The rows of a cell, numbers with six digits: as many as a CSV file gives back unchanged."""
    began = time.perf_counter()
    rows = measure(data, **cell)
    seconds = time.perf_counter() - began
    return [
        {
            **{key: _short(value) for key, value in row.items()},
            "seconds": round(seconds, 1),
            "code": CODE,
        }
        for row in rows
    ]


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float | np.floating) else value


# ------------------------------------------------------------------------------------------ corpora


@lru_cache(maxsize=1)
def corpus(data: Path, name: str) -> Corpus:
    return load(data, name)


def fold_rows(n_docs: int, fold: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the training and the test documents of a fold: the same for every method, model
    and number of topics.
    """
    order = np.random.default_rng(0).permutation(n_docs)
    test = np.array_split(order, FOLDS)[fold]
    return np.setdiff1d(order, test), np.sort(test)


def fold_of(data: Path, name: str, fold: int) -> tuple[Corpus, Corpus]:
    whole = corpus(data, name)
    train, test = fold_rows(whole.n_docs, fold)
    return whole[train], whole[test]


def held_out_perplexity(
    held: sparse.csr_array,
    proportions: np.ndarray,
    topic_word: np.ndarray,
    docs: np.ndarray | slice = slice(None),
) -> float:
    """Perplexity of held-out tokens, of all documents or of some."""
    gains = document_log_likelihood(held, np.asarray(proportions, dtype=np.float64), topic_word)
    return float(np.exp(-gains[docs].sum() / held[docs].sum()))


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
