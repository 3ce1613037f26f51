"""What sections of a page are made of: tables, bars, drawings, references to topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from topoi.report.markup import Html, element, join

__all__ = [
    "BAR_WIDTHS",
    "COMMA",
    "bar_class",
    "drawing",
    "facts",
    "number_cell",
    "percent",
    "references",
    "small",
    "topic_link",
]

BAR_WIDTHS = "".join(f".v{percent}{{--v:{percent}%}}\n" for percent in range(101))
COMMA = Html(", ")


def percent(part: float, digits: int = 0) -> str:
    """A part of 1 in percent; what rounds to 0 but is not is "<1%"."""
    shown = f"{part:.{digits}%}"
    if part > 0 and float(shown[:-1]) == 0:
        return f"<{10.0**-digits:.{digits}f}%"
    return shown


def small(text: object) -> Html:
    return element("small", text)


def number_cell(text: str) -> Html:
    return element("td", text, class_="n")


def bar_class(part: float) -> str:
    """The class of an element with a bar, `part` of its width.

    The width is a class, because a style attribute would need a weaker policy.
    """
    return f"v{round(100 * min(max(0.0, part), 1.0))}"  # NaN is 0


def facts(named: Iterable[tuple[str, Sequence[object]]]) -> Html:
    """A list of names and what is said of each."""
    pairs = [(element("dt", name), element("dd", *said)) for name, said in named]
    return element("dl", *(piece for pair in pairs for piece in pair))


def drawing(label: str, width: float, height: float, *shapes: Html, **attributes: object) -> Html:
    """An SVG image, `label` for those who cannot see it."""
    box = f"0 0 {width:.0f} {height:.0f}"
    size = {"width": f"{width:.0f}", "height": f"{height:.0f}"}
    return element("svg", *shapes, role="img", aria_label=label, viewBox=box, **size, **attributes)


def topic_link(topic: int, *content: object) -> Html:
    return element("a", *(content or [topic]), href=f"#topic-{topic}")


def references(scored: Iterable[tuple[int, str]], labels: Sequence[str]) -> Html:
    """Topics in a line, each with its label and a number."""
    return join(
        (join([topic_link(k), " ", labels[k], " ", small(number)]) for k, number in scored), COMMA
    )
