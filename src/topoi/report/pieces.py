"""What sections of a report are made of: tables, bars, drawings, references to topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from topoi.report.markup import Html, element, join

BAR_WIDTHS = "".join(f".v{percent}{{--v:{percent}%}}\n" for percent in range(101))
LINE_BREAK = element("br")


def table(rows: Iterable[Iterable[Html]]) -> Html:
    return element("table", *(element("tr", *row) for row in rows))


def header(*names: str) -> tuple[Html, ...]:
    return tuple(element("th", name) for name in names)


def number_cell(text: str, *classes: str) -> Html:
    return element("td", text, class_=" ".join(["n", *classes]))


def small(text: str) -> Html:
    return element("small", text)


def bar_cell(text: object, part: float) -> Html:
    """A cell with a bar behind its text, `part` of the width.

    The width is a class, because a style attribute would need a weaker policy.
    """
    width = round(100 * min(max(0.0, part), 1.0))  # NaN is 0
    return element("td", text, class_=f"bar v{width}")


def bars(scored: Iterable[tuple[Any, float]]) -> Html:
    return table([(bar_cell(name, share), number_cell(f"{share:.0%}")) for name, share in scored])


def drawing(label: str, width: int, height: int, *shapes: Html) -> Html:
    """An SVG image, `label` for those who cannot see it."""
    box = f"0 0 {width} {height}"
    return element(
        "svg", *shapes, role="img", aria_label=label, width=width, height=height, viewBox=box
    )


def topic_link(topic: int) -> Html:
    return element("a", topic, href=f"#topic-{topic}")


def references(
    topics: Iterable[int], labels: Sequence[str], proportions: np.ndarray | None = None
) -> Html:
    """Topics, a line each, with their labels and, if given, their proportions."""
    lines = []
    for k in topics:
        part = " " if proportions is None else f" {proportions[k]:.0%} "
        lines.append(join([topic_link(k), part, small(labels[k])]))
    return join(lines, LINE_BREAK)
