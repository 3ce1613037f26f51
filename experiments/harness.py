"""What all experiments share: folds, cells that are computed once, CSV files, tables in the
documentation, figures.

An experiment is a list of cells. A cell is a dictionary that says everything its numbers depend on:
set, method, topics, fold, sweeps. A function `measure(data, **cell)` turns it into one or more rows
of results.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from benchmarks.common import PAPER_SETS, PRIOR, load, markdown
from topoi import Corpus
from topoi.infer.likelihood import document_log_likelihood

NAMES = (
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
    "time",
)
FOLDS = 5
PROCESSES = 2
FIXED = {"doc_topic_prior": PRIOR, "topic_word_prior": PRIOR}
SWEEPS, SWEEPS_QUICK = 300, 20  # at most; the rule |P(t) - P(t-10)| < 1 mostly stops before
TOPICS = (10, 20, 30, 40, 50)
FEW_TOPICS = (10, 30, 50)

Cell = dict[str, Any]
Plan = dict[str, tuple[Sequence[int], int]]  # of each set the numbers of topics and of folds
Measure = Callable[..., list[dict[str, Any]]]


@dataclass(frozen=True)
class Run:
    """Where the corpora are, where finished cells and documents go, and whether this is only a
    rehearsal.
    """

    data: Path
    out: Path
    docs: Path
    quick: bool

    def sets(self, *names: str) -> list[str]:
        """The sets of an experiment: CORA alone in a rehearsal."""
        return [name for name in names if name.startswith("cora") or not self.quick]

    def measure(
        self, name: str, measure: Measure, cells: Sequence[Cell], processes: int = PROCESSES
    ) -> pd.DataFrame:
        """One row or more per cell, in the order of the cells.

        Cells found in OUT/name.csv are not computed again.
        """
        path = self.out / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        done = _read(path, cells)
        # The last cells are the largest ones: they go first, so that no process waits long for
        # another at the end.
        todo = [cell for cell in reversed(cells) if _key(cell) not in done]
        for cell, rows in _compute(measure, self.data, todo, processes, name):
            done[_key(cell)] = rows
            pd.DataFrame([{**cell, **row} for row in rows]).to_csv(
                path, mode="a", header=not path.exists(), index=False
            )
        return pd.DataFrame([{**cell, **row} for cell in cells for row in done[_key(cell)]])

    def publish(
        self, name: str, results: pd.DataFrame, tables: dict[str, str], figure: Any = None
    ) -> None:
        """Print the tables, put them between their marks in paper.md, and write the results and the
        figure beside it.
        """
        folder = self.docs / "paper"
        folder.mkdir(parents=True, exist_ok=True)
        results.drop(columns="seconds", errors="ignore").to_csv(folder / f"{name}.csv", index=False)
        for heading, text in tables.items():
            print(f"{heading}\n\n{text}", flush=True)
        page = self.docs / "paper.md"
        if page.exists():
            page.write_text(filled(page.read_text(encoding="utf8"), tables), encoding="utf8")
        if figure is not None:
            (self.docs / "img").mkdir(parents=True, exist_ok=True)
            figure.savefig(self.docs / "img" / f"{name}.svg", metadata={"Date": None})


def cells(**choices: Iterable[Any]) -> list[Cell]:
    """All combinations: cells(set=["cora"], fold=range(5)) is five cells."""
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def planned(
    run: Run, plan: Plan, *, sweeps: int = SWEEPS, repeat: str = "fold", **choices: Iterable[Any]
) -> list[Cell]:
    """The cells of a plan, for all combinations of `choices`; in a rehearsal CORA with ten topics,
    twice, and few sweeps.
    """
    wanted = []
    for name in run.sets(*plan):
        topics, folds = ([10], 2) if run.quick else plan[name]
        limit = [SWEEPS_QUICK if run.quick else sweeps]
        wanted += cells(
            set=[name], **choices, topics=topics, sweeps=limit, **{repeat: range(folds)}
        )
    return wanted


def _key(cell: Cell) -> tuple[str, ...]:
    return tuple(str(value) for value in cell.values())


def _read(path: Path, wanted: Sequence[Cell]) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """The rows of each cell on file."""
    if not path.exists() or not wanted:
        return {}
    frame, keys = pd.read_csv(path), list(wanted[0])
    groups = frame.groupby([frame[key].astype(str) for key in keys], sort=False)
    return {
        key if isinstance(key, tuple) else (key,): rows.drop(columns=keys).to_dict("records")
        for key, rows in groups
    }


def _compute(
    measure: Measure, data: Path, todo: Sequence[Cell], processes: int, name: str
) -> Iterable[tuple[Cell, list[dict[str, Any]]]]:
    """The rows of each cell as they come, with a progress bar."""
    from rich.console import Console
    from rich.progress import Progress

    if not todo:
        return
    pool = ProcessPoolExecutor(
        processes, mp_context=get_context("spawn")
    )  # each with its own interpreter, as the kernels' cache wants it
    with Progress(console=Console(stderr=True)) as bar, pool:
        task = bar.add_task(name, total=len(todo))
        futures = {pool.submit(_timed, measure, data, cell): cell for cell in todo}
        for future in as_completed(futures):
            cell, rows = futures[future], future.result()
            bar.update(task, advance=1)
            bar.console.print(
                f"{name} {' '.join(_key(cell))}: {rows[0]['seconds']:.0f} s",
                highlight=False,
                soft_wrap=True,
            )
            yield cell, rows


def _timed(measure: Measure, data: Path, cell: Cell) -> list[dict[str, Any]]:
    """The rows of a cell, numbers with six digits: as many as a CSV file gives back unchanged."""
    began = time.perf_counter()
    rows = measure(data, **cell)
    seconds = time.perf_counter() - began
    return [
        {**{key: _short(value) for key, value in row.items()}, "seconds": round(seconds, 1)}
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


# ------------------------------------------------------------------------------- tables and figures


def filled(page: str, tables: dict[str, str]) -> str:
    """The page with each table between its marks: <!-- table: NAME --> and <!-- end -->."""
    for name, text in tables.items():
        pattern = rf"(<!-- table: {re.escape(name)} -->\n).*?(<!-- end -->)"
        page = re.sub(
            pattern,
            lambda found, text=text: f"{found[1]}\n{text}\n{found[2]}",
            page,
            flags=re.DOTALL,
        )
    return page


def mean_table(
    results: pd.DataFrame, by: list[str], columns: str, value: str, digits: int = 1
) -> pd.DataFrame:
    """One row per `by`, one column per value of `columns`: mean (deviation) over folds, as text."""
    return overcomplete(summary(results, [*by, columns], {value: digits})[value], columns)


def overcomplete(values: pd.Series, level: str) -> pd.DataFrame:
    """One level of the index as columns; rows and columns keep the order in which they come.

    (pandas 2's unstack(sort=False) mixes values up.)
    """
    names = values.index.get_level_values(level).unique()
    return values.unstack(level).reindex(
        index=values.index.droplevel(level).unique(), columns=names
    )


def summary(results: pd.DataFrame, by: list[str], values: dict[str, int]) -> pd.DataFrame:
    """One row per `by`, one column per value, given with its digits: mean (deviation) over folds,
    as text.
    """

    def text(numbers: pd.Series, digits: int) -> str:
        deviation = f" ({numbers.std(ddof=1):.{digits}f})" if len(numbers) > 1 else ""
        return f"{numbers.mean():.{digits}f}{deviation}"

    groups = results.groupby(by, sort=False)
    return pd.DataFrame(
        {value: groups[value].agg(text, digits=digits) for value, digits in values.items()}
    )


def change(
    results: pd.DataFrame, by: list[str], columns: str, value: str, of: str, to: str
) -> pd.Series:
    """Per cent by which the mean of `of` lies above (+) or below (-) that of `to`, for
    each `by`.
    """
    means = overcomplete(results.groupby([*by, columns], sort=False)[value].mean(), columns)
    return 100 * (means[of] / means[to] - 1)


def per_cent(values: pd.Series) -> pd.Series:
    return values.map(lambda number: "" if pd.isna(number) else f"{number:+.1f} %")


def title(name: str) -> str:
    """The name of a set, in capitals: "CORA, shifted"."""
    return name[:4].upper() + name[4:] if name[:4] in PAPER_SETS else name


def as_markdown(frame: pd.DataFrame) -> str:
    """A table of text, the index as first columns, sets in capitals."""
    frame = frame.reset_index()
    if "set" in frame:
        frame["set"] = frame["set"].map(title)
    return markdown(list(frame.columns), frame.fillna("").to_numpy().tolist())


def panels(names: Sequence[str], y_label: str, x_label: str) -> tuple[Any, dict[str, Any]]:
    """A figure with one panel per set, and the axes by set."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update(
        {"svg.hashsalt": "topoi", "font.size": 8, "svg.fonttype": "none"}
    )  # the same bytes in every run
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        1, len(names), figsize=(2.6 * len(names) + 1, 2.6), squeeze=False, layout="constrained"
    )
    for name, axis in zip(names, axes[0], strict=True):
        axis.set(title=title(name), xlabel=x_label)
    axes[0][0].set_ylabel(y_label)
    return figure, dict(zip(names, axes[0], strict=True))


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
