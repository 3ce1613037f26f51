"""Figures of topics in periods and groups of documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from topoi.plot.style import GRID, INK, axes_for, colours, joined

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["groups", "over_time"]

LINES, ROWS, MOST_GROUPS = 6, 12, 10  # topics over time, topics of groups, groups


def over_time(
    table: pd.DataFrame, *, topics: Sequence[int] | None = None, ax: Axes | None = None
) -> Axes:
    """Prevalence of topics over time, with intervals.

    Parameters
    ----------
    table : pandas.DataFrame
        What `model.topics_over_time` returns.
    topics : sequence of int, default=None
        Topics to show; None is the six whose prevalence changes most.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from topoi import LDA, datasets, plot
    >>> corpus, _ = datasets.make_blocks(n_topics=2)
    >>> years = [2000 + d % 3 for d in range(corpus.n_docs)]
    >>> ax = plot.over_time(LDA(2, max_iter=10).fit(corpus).topics_over_time(years))
    >>> len(ax.lines)
    2
    """
    _check(table, "start", "topics_over_time()")
    shown = _chosen(table, topics, LINES)
    ax = axes_for(ax, 8, 4.5)
    for topic, colour in zip(shown, colours(len(shown)), strict=True):
        rows = table[table["topic"] == topic]
        days = np.array(rows["start"].astype(str).tolist(), dtype="datetime64[D]")
        ax.fill_between(days, rows["low"], rows["high"], color=colour, alpha=0.15, linewidth=0)
        ax.plot(days, rows["prevalence"], "o-", color=colour, markersize=3.5, label=_name(rows))
    ax.set(ylabel="prevalence", ylim=(0, None))
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    ax.grid(axis="y", color=GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    ax.set_title("Topics over time", loc="left", color=INK)
    return ax


def groups(
    table: pd.DataFrame, *, topics: Sequence[int] | None = None, ax: Axes | None = None
) -> Axes:
    """Prevalence of topics in groups of documents, with intervals.

    Parameters
    ----------
    table : pandas.DataFrame
        What `model.topics_by` returns. Of more than ten groups the largest are shown.
    topics : sequence of int, default=None
        Topics to show; None is the twelve that differ most between groups.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from topoi import LDA, datasets, plot
    >>> corpus, _ = datasets.make_blocks(n_topics=2)
    >>> model = LDA(2, max_iter=10).fit(corpus)
    >>> ax = plot.groups(model.topics_by(["web", "press"] * (corpus.n_docs // 2)))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['press', 'web']
    """
    _check(table, "group", 'topics_by("labels")')
    sizes = table.groupby("group", sort=False)["documents"].first()
    largest = set(sizes.nlargest(MOST_GROUPS).index)
    table = table[table["group"].isin(largest)]
    names = table["group"].unique()
    shown = _chosen(table, topics, ROWS)
    ax = axes_for(ax, 8, 1.2 + len(shown) * (0.25 + 0.09 * len(names)))
    offsets = np.linspace(-0.3, 0.3, len(names)) if len(names) > 1 else np.zeros(1)
    for group, offset, colour in zip(names, offsets, colours(len(names)), strict=True):
        rows = table[table["group"] == group].set_index("topic").loc[shown]
        middle = rows["prevalence"].to_numpy()
        spread = np.maximum([middle - rows["low"], rows["high"] - middle], 0)
        ax.errorbar(
            middle, np.arange(len(shown)) + offset, xerr=spread, fmt="o", color=colour,
            markersize=5, elinewidth=1.5, label=joined([str(group)]),
        )  # fmt: skip
    labels = [_name(table[table["topic"] == topic]) for topic in shown]
    ax.set_yticks(range(len(shown)), labels)
    ax.set(ylim=(len(shown) - 0.5, -0.5), xlim=(0, None), xlabel="prevalence")
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    for row in range(1, len(shown)):
        ax.axhline(row - 0.5, color=GRID, linewidth=0.7)
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    left = len(sizes) - len(names)
    title = "Topics by group" + (f", {left} smaller groups not shown" if left else "")
    ax.set_title(title, loc="left", color=INK)
    return ax


def _check(table: object, column: str, made_by: str) -> None:
    """Refuse what is not the table of a method, such as the model itself."""
    if column not in getattr(table, "columns", ()):
        raise TypeError(
            f"Expected a table with a column {column!r}, got {type(table).__name__}; pass what a"
            f" method of the model returns, such as model.{made_by}."
        )


def _chosen(table: pd.DataFrame, topics: Sequence[int] | None, most: int) -> list[int]:
    """The topics asked for, or those whose prevalence differs most, in the order of numbers."""
    known = table["topic"].unique().tolist()
    if topics is not None:
        for topic in topics:
            if topic not in known:
                raise ValueError(
                    f"There is no topic {topic}; topics are {known[0]} to {known[-1]}."
                )
        return list(topics)
    spans = table.groupby("topic")["prevalence"].agg(lambda values: values.max() - values.min())
    return sorted(spans.nlargest(most).index.tolist())


def _name(rows: pd.DataFrame) -> str:
    """The number of a topic, and its name if it has one."""
    topic, name = rows["topic"].iloc[0], str(rows["name"].iloc[0])
    return f"topic {topic}" if name == f"topic{topic}" else f"{topic}  {joined([name])}"
