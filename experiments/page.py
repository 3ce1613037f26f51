"""From rows of results to docs/paper.md: tables, verdicts on the paper's claims, figures.

Everything between a mark such as <!-- table: NAME --> and <!-- end --> is written here, from the
CSV files in docs/paper and nothing else; a test does it again and compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchmarks.common import PAPER_SETS, markdown
from experiments.harness import NAMES, Cell, Part, Run, key_of, of_this_code, read_cells

MISSING = "not computed"
YES, NO = "yes", "no"
FIGURES = {  # of experiments that draw one, with what they show
    "shift": "Text similarity of linked papers when the cited one is moved",
    "perplexity": "Predictive perplexity over topics",
    "convergence": "Training perplexity over sweeps",
    "variants": "Relative perplexity of the variants",
    "rtm": "Predictive perplexity of relational models, eq. 12",
    "links": "F1 of link prediction",
    "atm": "Predictive perplexity of author-topic models",
    "time": "Time of a sweep",
}
ENOUGH = 0.75  # a size holds if at least this part of it was found


class Claim(NamedTuple):
    """A claim of the paper, whether it holds ("yes", "no", "only ..."), the number that says so,
    and the verdict: one sentence.
    """

    claim: str
    holds: str
    number: str
    verdict: str


@dataclass(frozen=True)
class Report:
    """What an experiment puts into the page. figure: draws it, when it is wanted."""

    tables: dict[str, str]
    claims: list[Claim] = field(default_factory=list)
    figure: Callable[[], Any] | None = None


# ------------------------------------------------------------------------------------- publishing


def publish(run: Run, name: str) -> None:
    """Compute what an experiment lacks, and write its CSV files, tables, verdicts and figure."""
    module = import_module(f"experiments.{name}")
    frames = {part.name: run.results(part) for part in module.PARTS}
    if any(frame.empty for frame in frames.values()):
        print(f"{name}: no cell is computed yet, so there is nothing to write.\n", flush=True)
        return
    folder = run.docs / "paper"
    folder.mkdir(parents=True, exist_ok=True)
    for part in module.PARTS:
        rows = frames[part.name].drop(columns="seconds", errors="ignore")
        rows.to_csv(folder / f"{part.name}.csv", index=False)
        _note_coverage(run, part, folder / "cells.csv")
    blocks = _blocks(run.docs, run.quick)
    report = module.report(frames, run.quick)
    for heading, text in report.tables.items():
        print(f"{heading}\n\n{text}", flush=True)
    for claim in report.claims:
        print(f"- {claim.claim}: {claim.holds}. {claim.verdict}", flush=True)
    page = run.docs / "paper.md"
    if page.exists():
        page.write_text(filled(page.read_text(encoding="utf8"), blocks), encoding="utf8")
    if report.figure is not None:
        (run.docs / "img").mkdir(parents=True, exist_ok=True)
        report.figure().savefig(run.docs / "img" / f"{name}.svg", metadata={"Date": None})


def _note_coverage(run: Run, part: Part, path: Path) -> None:
    """One line of cells.csv: how many cells there are, how many are done, how many of these with
    today's code, and the hours that those took which this run or one that it resumes computed.
    """
    grid = part.grid(run.quick)
    done = read_cells(run.docs / "paper" / f"{part.name}.csv", grid)
    kept = read_cells(run.out / part.file, grid)
    fresh = of_this_code(done)
    seconds = [kept[key_of(cell)][0]["seconds"] for cell in grid if key_of(cell) in kept]
    line = {
        "part": part.name,
        "cells": len(grid),
        "done": sum(key_of(cell) in done for cell in grid),
        "of this code": sum(key_of(cell) in fresh for cell in grid),
        "hours": round(sum(seconds) / 3600, 2),
    }
    old = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=list(line))
    lines = [*old[old["part"] != part.name].to_dict("records"), line]
    order = [part.name for part in all_parts()]
    lines.sort(key=lambda row: order.index(row["part"]))
    pd.DataFrame(lines).to_csv(path, index=False)


def all_parts() -> list[Part]:
    """Every part once, in the order of the page."""
    parts = (part for name in NAMES for part in import_module(f"experiments.{name}").PARTS)
    return list({part.name: part for part in parts}.values())


def _blocks(docs: Path, quick: bool = False) -> dict[str, str]:
    """Everything that goes between marks, from the CSV files: "table: NAME", "verdict: NAME" or
    "figure: NAME" to text.
    """
    folder = docs / "paper"
    coverage = pd.read_csv(folder / "cells.csv").set_index("part")
    blocks, summary = {}, []
    for name in NAMES:
        module = import_module(f"experiments.{name}")
        paths = {part.name: folder / f"{part.name}.csv" for part in module.PARTS}
        if not set(paths) <= set(coverage.index):
            blocks[f"verdict: {name}"] = "No cell of this experiment is computed yet.\n"
            blocks[f"figure: {name}"] = ""
            continue
        report = module.report({part: pd.read_csv(path) for part, path in paths.items()}, quick)
        blocks |= {f"table: {heading}": text for heading, text in report.tables.items()}
        blocks[f"verdict: {name}"] = verdicts(report.claims, coverage.loc[list(paths)])
        if name in FIGURES:
            blocks[f"figure: {name}"] = f"![{FIGURES[name]}](img/{name}.svg)\n"
        done, cells = coverage.loc[list(paths), ["done", "cells"]].sum()
        where = [f"{done:,.0f} of {cells:,.0f}", f"[{name}](#{name})"]
        summary += [[c.claim, c.holds, c.number, *where] for c in report.claims]
    header = ["the paper says", "does it hold?", "our number", "cells computed", "section"]
    blocks["table: summary"] = markdown(header, summary)
    blocks["table: cells"] = coverage_table(coverage)
    return blocks


def written(docs: Path) -> str:
    """The page as the CSV files say it should be."""
    return filled((docs / "paper.md").read_text(encoding="utf8"), _blocks(docs))


def verdicts(claims: Sequence[Claim], coverage: pd.DataFrame) -> str:
    """The verdicts of an experiment as a list, and what is not computed."""
    lines = [f"- *{c.claim}* **{c.holds[0].upper()}{c.holds[1:]}.** {c.verdict}\n" for c in claims]
    for part, row in coverage.iterrows():
        if row["done"] < row["cells"]:
            lines.append(
                f"- `{part}`: {row['done']:,.0f} of {row['cells']:,.0f} cells are computed; the"
                " verdict is of these.\n"
            )
    return "".join(lines) or "The paper measures nothing here.\n"


def coverage_table(coverage: pd.DataFrame) -> str:
    rows = [
        [part, *(f"{row[key]:,.0f}" for key in ("cells", "done", "of this code")), hours(row)]
        for part, row in coverage.iterrows()
    ]
    total = coverage[["cells", "done", "of this code", "hours"]].sum()
    rows.append(
        ["all", *(f"{total[key]:,.0f}" for key in ("cells", "done", "of this code")), hours(total)]
    )
    head = ["results", "cells of the grid", "computed", "of these with today's code", "hours"]
    return markdown(head, rows)


def hours(row: pd.Series) -> str:
    return f"{row['hours']:.2f}" if row["of this code"] else ""


def filled(page: str, blocks: dict[str, str]) -> str:
    """The page with each block between its marks: <!-- table: NAME --> and <!-- end -->."""
    for name, text in blocks.items():
        pattern = rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)"
        page = re.sub(
            pattern,
            lambda found, text=text: f"{found[1]}\n{text}\n{found[2]}",
            page,
            flags=re.DOTALL,
        )
    return page


# ------------------------------------------------------------------------------------------ tables


def chosen(results: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Rows with these values; a list or tuple allows several."""
    for column, value in values.items():
        wanted = value if isinstance(value, list | tuple) else [value]
        results = results[results[column].isin(wanted)]
    return results


def chosen_cells(grid: Sequence[Cell], **values: Any) -> list[Cell]:
    return chosen(pd.DataFrame(grid), **values).to_dict("records")


def mean_table(
    results: pd.DataFrame,
    grid: Sequence[Cell],
    by: list[str],
    columns: str,
    value: str,
    digits: int = 1,
) -> pd.DataFrame:
    """One row per `by`, one column per value of `columns`: mean (deviation) over folds, as text."""
    return as_columns(summary(results, grid, [*by, columns], {value: digits})[value], columns)


def summary(
    results: pd.DataFrame, grid: Sequence[Cell], by: list[str], values: dict[str, int]
) -> pd.DataFrame:
    """One row per `by` of the grid, one column per value, given with its digits: mean (deviation)
    over folds, as text; with the number of cells where some are missing.
    """
    frame = pd.DataFrame(grid)
    in_grid = [column for column in by if column in frame]
    planned = frame.groupby(in_grid, sort=False).size()
    others = [column for column in by if column not in frame]  # of rows within a cell
    more = results[others].drop_duplicates().itertuples(index=False) if others else [()]
    keys = []
    for key, rest in product(planned.index, [tuple(row) for row in more]):
        known = dict(zip(in_grid, key if isinstance(key, tuple) else (key,), strict=True))
        known |= dict(zip(others, rest, strict=True))
        keys.append(tuple(known[column] for column in by))
    sizes = dict.fromkeys(keys)
    for key in keys:
        place = tuple(key[by.index(column)] for column in in_grid)
        sizes[key] = planned[place if len(place) > 1 else place[0]]
    found = {
        key if isinstance(key, tuple) else (key,): rows
        for key, rows in results.groupby(by, sort=False)
    }
    index = pd.MultiIndex.from_tuples(keys, names=by)
    if len(by) == 1:
        index = pd.Index([key[0] for key in keys], name=by[0])
    return pd.DataFrame(
        {
            value: [
                number_text(found[key][value].dropna() if key in found else [], sizes[key], digits)
                for key in keys
            ]
            for value, digits in values.items()
        },
        index=index,
    )


def number_text(numbers: Any, planned: int, digits: int) -> str:
    """Mean (deviation), and how many of the planned numbers there are if some are missing."""
    if len(numbers) == 0:
        return MISSING
    deviation = f" ({numbers.std(ddof=1):.{digits}f})" if len(numbers) > 1 else ""
    count = f", {len(numbers)} of {planned}" if len(numbers) < planned else ""
    return f"{numbers.mean():.{digits}f}{deviation}{count}"


def as_columns(values: pd.Series, level: str) -> pd.DataFrame:
    """One level of the index as columns; rows and columns keep the order in which they come.

    (pandas 2's unstack(sort=False) mixes values up.)
    """
    names = values.index.get_level_values(level).unique()
    return values.unstack(level).reindex(
        index=values.index.droplevel(level).unique(), columns=names
    )


def paired(
    results: pd.DataFrame, by: list[str], columns: str, value: str, of: str, to: str
) -> pd.DataFrame:
    """`of` and `to` side by side, for each `by` and fold that both have."""
    repeat = "fold" if "fold" in results else "seed"
    rows = chosen(results, **{columns: [of, to]})
    wide = rows.pivot_table(index=[*by, repeat], columns=columns, values=value, sort=False)
    return wide.reindex(columns=[of, to]).dropna()


def change(
    results: pd.DataFrame, by: list[str], columns: str, value: str, of: str, to: str
) -> pd.Series:
    """Per cent by which the mean of `of` lies above (+) or below (-) that of `to`, for each `by`,
    over the folds that both have.
    """
    wide = paired(results, by, columns, value, of, to)
    means = wide.groupby(by, sort=False).mean()
    return 100 * (means[of] / means[to] - 1)


def lower(
    results: pd.DataFrame, by: list[str], columns: str, value: str, of: str, to: str
) -> tuple[int, int]:
    """In how many folds `of` lies below `to`, and of how many."""
    wide = paired(results, by, columns, value, of, to)
    return int((wide[of] < wide[to]).sum()), len(wide)


def by_set(gaps: pd.Series) -> pd.Series:
    """Mean over the numbers of topics."""
    return gaps.groupby("set", sort=False).mean()


def gap_rows(
    results: pd.DataFrame,
    sets: Sequence[str],
    asked: Sequence[tuple[str, str, str, str]],
    columns: str = "method",
) -> str:
    """A table of differences: one row for (title, value, of, to), one column per set; the mean of
    the paper's sets, and in how many folds of these `of` is lower.
    """
    rows = []
    for heading, value, of, to in asked:
        gaps = by_set(change(results, ["set", "topics"], columns, value, of, to))
        right = chosen(results, set=PAPER_SETS)  # without the shifted links of CORA
        less, folds = lower(right, ["set", "topics"], columns, value, of, to)
        mean = gaps[gaps.index.isin(PAPER_SETS)].mean()
        rows.append(
            [
                heading,
                *(per_cent_text(gaps.get(name)) for name in sets),
                per_cent_text(mean),
                f"{less} of {folds}" if folds else "",
            ]
        )
    return markdown(["difference", *map(title, sets), "mean of the sets", "lower in"], rows)


def per_cent_text(number: float | None) -> str:
    return MISSING if number is None or pd.isna(number) else f"{number:+.1f} %"


def per_cent(values: pd.Series) -> pd.Series:
    return values.map(per_cent_text)


def size_holds(found: float, claimed: float) -> str:
    """Whether a difference of `found` per cent supports one of `claimed` per cent."""
    if pd.isna(found):
        return MISSING
    if found / claimed >= ENOUGH:
        return YES
    return "only in direction" if found / claimed > 0 else NO


def holds_on(good: Sequence[str], all_sets: Sequence[str]) -> str:
    """Whether something holds that holds on the sets `good` of all that are computed."""
    if not len(all_sets):
        return MISSING
    if len(good) == len(all_sets):
        return YES
    return f"only on {listed(good)}" if len(good) else NO


def told(gaps: pd.Series) -> str:
    """ "CORA -5.0 %, MEDL not computed"."""
    return ", ".join(f"{title(name)} {per_cent_text(gap)}" for name, gap in gaps.items()) or MISSING


def title(name: str) -> str:
    """The name of a set, in capitals: "CORA, shifted"."""
    return name[:4].upper() + name[4:] if name[:4] in PAPER_SETS else name


def listed(names: Sequence[Any]) -> str:
    """ "CORA, MEDL and NIPS"."""
    words = [title(str(name)) for name in names]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words) or "none"


def as_markdown(frame: pd.DataFrame) -> str:
    """A table of text, the index as first columns, sets in capitals."""
    frame = frame.reset_index()
    if "set" in frame:
        frame["set"] = frame["set"].map(title)
    return markdown(list(frame.columns), frame.fillna(MISSING).to_numpy().tolist())


def stops_table(
    results: pd.DataFrame, grid: Sequence[Cell], value: str, topics: int, digits: int = 1
) -> str:
    """What stopping early changes: the same cells with the rule and with all sweeps."""
    rows = chosen(results, topics=topics)
    cells = chosen_cells(grid, topics=topics)
    return as_markdown(mean_table(rows, cells, ["set", "stop"], "method", value, digits))


# ----------------------------------------------------------------------------------------- figures


def panels(names: Sequence[str], y_label: str, x_label: str) -> tuple[Any, dict[str, Any]]:
    """A figure with one panel per set, and the axes by set."""
    import matplotlib

    matplotlib.use("Agg")
    # The same bytes in every run.
    matplotlib.rcParams.update({"svg.hashsalt": "topoi", "font.size": 8, "svg.fonttype": "none"})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        1, len(names), figsize=(2.6 * len(names) + 1, 2.6), squeeze=False, layout="constrained"
    )
    for name, axis in zip(names, axes[0], strict=True):
        axis.set(title=title(name), xlabel=x_label)
    axes[0][0].set_ylabel(y_label)
    return figure, dict(zip(names, axes[0], strict=True))


def draw_means(
    results: pd.DataFrame, y_label: str, lines: Sequence[tuple[str, str, str, str, str]]
) -> Any:
    """Means and deviations over the number of topics, a panel per set. lines: method, column of
    the value, label, style, colour.
    """
    figure, axes = panels(results["set"].unique(), y_label, "topics")
    for name, axis in axes.items():
        for method, value, label, style, colour in lines:
            rows = chosen(results, set=name, method=method)
            values = rows.dropna(subset=[value]).groupby("topics")[value]
            if not len(rows):
                continue
            axis.errorbar(
                values.mean().index,
                values.mean(),
                values.std().fillna(0),
                fmt=style,
                color=colour,
                label=label,
                capsize=2,
                linewidth=1,
            )
    axes[results["set"].iloc[0]].legend(fontsize=6)
    return figure
