"""`topoi time`, `topoi groups`, `topoi effects`: where and when topics are frequent."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli.find import given_topic
from topoi.cli.frames import TableFile, check_table_file, give_table
from topoi.cli.options import AsJson, Force, Model, choice
from topoi.cli.reading import load_model

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import pandas as pd

    from topoi.protocols import FittedModel

    Period = Enum
else:
    Period = choice("Period", ("decade", "year", "quarter", "month", "week", "day"))

YEAR = Period("year")
BARS = "▁▂▃▄▅▆▇█"
MOST_GROUPS = 6  # side by side on the screen
IN = "in "  # before the names of groups
OF_TOPIC = ("topic", "name")  # columns that are in the title where a table is about one topic

Topic = Annotated[
    str | None,
    typer.Option(help="Number or name of one topic, with intervals.", show_default=False),
]
Words = Annotated[
    int,
    typer.Option(min=0, help="With --topic: the N words of the topic in each (kept texts only)."),
]


def time(
    model: Model,
    by: Annotated[Period, typer.Option(help="The length of a period.")] = YEAR,
    topic: Topic = None,
    words: Words = 0,
    output: TableFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show how frequent topics are over time: mean proportions of the training documents, with 95 %
    intervals. Dates are those of --dates at the fit.
    """
    check_table_file(output, [model], force)
    loaded = load_model(model)
    if words and topic is not None:
        table = loaded.words_over_time(given_topic(topic), by=by.value, n=words)
        return give_table(table, f"Words of {topic}", output=output, as_json=as_json)
    table = loaded.topics_over_time(by=by.value)
    _give(loaded, table, "period", topic, output, as_json, _trends)
    return None


def groups(
    model: Model,
    column: Annotated[
        str,
        typer.Argument(
            help="labels, authors, or a column that was kept with --group.", show_default=False
        ),
    ],
    topic: Topic = None,
    words: Words = 0,
    output: TableFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show how frequent topics are in groups: mean proportions of the training documents, with 95 %
    intervals.
    """
    check_table_file(output, [model], force)
    loaded = load_model(model)
    if words and topic is not None:
        table = loaded.words_by(given_topic(topic), column, n=words)
        return give_table(table, f"Words of {topic}", output=output, as_json=as_json)
    _give(loaded, loaded.topics_by(column), "group", topic, output, as_json, _side_by_side)
    return None


def effects(
    model: Model,
    columns: Annotated[
        list[str],
        typer.Argument(
            help="date, labels, or columns that were kept with --group.", show_default=False
        ),
    ],
    topic: Topic = None,
    output: TableFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show how topic proportions depend on columns together: a regression for each topic, with 95 %
    intervals. Categories are compared with the most frequent one.
    """
    check_table_file(output, [model], force)
    loaded = load_model(model)
    table, title = loaded.topic_effects(columns), "Effects on topic proportions"
    if topic is not None:
        table = table[table["topic"] == _number(loaded, topic)]
        title = f"Effects on the proportion of {table['name'].iloc[0]}"
    if output is None and not as_json:
        title = f"{title}, {table['documents'].max()} documents"
        table = table.drop(columns=["documents", *(OF_TOPIC if topic is not None else ())])
    give_table(table, title, output=output, as_json=as_json)


def _number(model: FittedModel, topic: str) -> int:
    from topoi.explore.reading import topic_number

    return topic_number(model.topic_names_, given_topic(topic))


def _give(
    model: FittedModel,
    table: pd.DataFrame,
    what: str,
    topic: str | None,
    output: Path | None,
    as_json: bool,
    overview: Callable[[pd.DataFrame, str], pd.DataFrame],
) -> None:
    """All rows of a topic, or of all topics; on the screen an overview of all topics."""
    if topic is not None:
        table = table[table["topic"] == _number(model, topic)]
        title = f"{table['name'].iloc[0]} by {what}"
        if output is None and not as_json:
            table = table.drop(columns=list(OF_TOPIC))
    elif output is None and not as_json:
        n_all, table = table[what].nunique(), overview(table, what)
        n_shown = sum(name.startswith(IN) for name in table)
        some = f" ({n_shown} of {n_all}, all with -o FILE or --json)" if 0 < n_shown < n_all else ""
        title = f"Prevalence of topics by {what}{some}"
    else:
        title = ""
    give_table(table, title, output=output, as_json=as_json)


def _wide(table: pd.DataFrame, what: str) -> pd.DataFrame:
    wide = table.pivot(index=["topic", "name"], columns=what, values="prevalence")
    return wide[list(dict.fromkeys(table[what]))]


def _trends(table: pd.DataFrame, what: str) -> pd.DataFrame:
    """A line of bars for each topic, and its first and last prevalence."""
    wide = _wide(table, what)
    shown = wide.iloc[:, [0, -1]].copy() if wide.shape[1] > 1 else wide.copy()
    shown.columns = [f"prevalence in {name}" for name in shown.columns]
    shown.insert(0, "trend", [_bars(row) for row in wide.to_numpy()])
    return shown.reset_index()


def _bars(values: np.ndarray) -> str:
    most = max(values)
    return "".join(BARS[min(int(len(BARS) * value / (most or 1)), 7)] for value in values)


def _side_by_side(table: pd.DataFrame, what: str) -> pd.DataFrame:
    """The largest groups side by side."""
    sizes = table.drop_duplicates(what).set_index(what)["documents"]
    largest = set(sizes.sort_values(ascending=False, kind="stable").index[:MOST_GROUPS])
    wide = _wide(table[table[what].isin(largest)], what)
    shown = wide.map("{:.1%}".format)
    shown.columns = [f"{IN}{name}" for name in wide.columns]
    return shown.reset_index()
