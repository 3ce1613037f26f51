"""Texts with their words in the colours of topics, as HTML for notebooks and pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topoi.explore.labelling import LabeledText, Span
from topoi.printable import printable
from topoi.report.markup import Html, content_policy, element, inline, join, spelled

if TYPE_CHECKING:
    from topoi.protocols import FittedModel

__all__ = [
    "PALETTE",
    "STYLE",
    "TEXT_COLOUR",
    "ColouredText",
    "coloured_page",
    "coloured_text",
    "slots",
]

# Backgrounds for dark words, so that words are readable on light and on dark pages. Each is at
# least 0.11 away from the others in OKLab, and has a contrast of 7 to the words on it.
PALETTE = (
    "#a5ccf4", "#fd8537", "#4cb332", "#eb78e3", "#ebd229", "#1dc5ae",
    "#efa6bb", "#9095fd", "#20f6a5", "#a6a28d", "#56f4fd", "#c1ac15",
)  # fmt: skip
OTHER = "#dddddd"  # topics beyond these
TEXT_COLOUR = "#111111"
LEGEND_WORDS = 6
UNKNOWN = "None of the words is in the vocabulary of the model."
STYLE = (
    ".topoi-text{white-space:pre-wrap;line-height:1.7;max-width:50em}"
    ".topoi-legend{list-style:none;margin:.7em 0;padding:0;max-width:50em}"
    f".topoi-word{{background:{OTHER};color:{TEXT_COLOUR};border-radius:3px;padding:0 .15em}}"
    ".topoi-text .topoi-word::after{content:attr(data-topic);font-size:.65em;"
    "vertical-align:super;padding-left:.1em}"
    + "".join(f".topoi-c{i}{{background:{colour}}}" for i, colour in enumerate(PALETTE))
)
PAGE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2em auto;padding:0 1em;max-width:52em;"
    "background:#fff;color:#111}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#eee}}"
)


def slots(topics: Sequence[int]) -> dict[int, int]:
    """A colour for each topic, as far as there are enough.

    The first topics come first. A topic has the colour of its number, so that it looks the same in
    most texts, unless another one has that already.

    Parameters
    ----------
    topics : sequence of int
        Topics of a text, the most important first.

    Returns
    -------
    dict of int to int
        Places in `PALETTE`, all different. Topics without one are not in it.

    Examples
    --------
    >>> slots([3, 15, 4])
    {3: 3, 15: 4, 4: 5}
    """
    taken: dict[int, int] = {}
    free = list(range(len(PALETTE)))
    for topic in topics[: len(PALETTE)]:
        wanted = topic % len(PALETTE)
        taken[topic] = min(free, key=lambda slot: (slot - wanted) % len(PALETTE))
        free.remove(taken[topic])
    return taken


@dataclass(frozen=True)
class ColouredText:
    """A text that shows the topics of its words: in colours in a notebook, by numbers elsewhere.

    Attributes
    ----------
    labeled : LabeledText
        The text and the topics of its words.
    words : mapping of int to list of str
        Top words of the topics.

    Examples
    --------
    >>> from topoi.explore.labelling import Span
    >>> labeled = LabeledText("Cats bite.", (Span(0, 4, "cats", 1, 0.9),), {1: "pets"})
    >>> ColouredText(labeled, {1: ["cats", "dogs"]})
    Cats[1] bite.
    <BLANKLINE>
    1 pets: 100% of the words (cats dogs)
    """

    labeled: LabeledText
    words: Mapping[int, Sequence[str]]

    def __repr__(self) -> str:
        return "\n".join([printable(self.labeled, keep="\n\t"), "", *self.legend()])

    def legend(self) -> list[str]:
        """The topics of the text, a line for each."""
        about = [
            f"{topic} {self.labeled.names[topic]}: {proportion:.0%} of the words"
            f" ({spelled(self.words[topic])})"
            for topic, proportion in self.labeled.proportions().items()
        ]
        return [printable(line) for line in about or [UNKNOWN]]

    def _repr_html_(self) -> str:
        return element("div", inline("style", STYLE), self.markup())

    def markup(self) -> Html:
        """The text and its legend, for a page with `STYLE`."""
        proportions = self.labeled.proportions()
        colours = slots(list(proportions))
        pieces = [
            piece if span is None else _word(piece, span, self.labeled.names[span.topic], colours)
            for piece, span in self.labeled.pieces()
        ]
        topics = [
            element(
                "li",
                element("span", topic, class_=_class(topic, colours)),
                f" {self.labeled.names[topic]}: {proportion:.0%} of the words ",
                element("small", spelled(self.words[topic])),
            )
            for topic, proportion in proportions.items()
        ]
        return join(
            [
                element("div", *pieces, class_="topoi-text"),
                element("ul", *(topics or [element("li", UNKNOWN)]), class_="topoi-legend"),
            ]
        )


def coloured_text(model: FittedModel, labeled: LabeledText) -> ColouredText:
    """A labeled text with the top words of its topics, for the legend.

    Parameters
    ----------
    model : fitted model
        Whose topics the labels are.
    labeled : LabeledText
        The text.

    Returns
    -------
    ColouredText
    """
    words = model.top_words(LEGEND_WORDS)
    return ColouredText(labeled, {topic: words[topic] for topic in labeled.names})


def _word(piece: str, span: Span, name: str, colours: Mapping[int, int]) -> Html:
    title = f"topic {span.topic}, {name}: {span.probability:.0%}"
    return element(
        "span", piece, class_=_class(span.topic, colours), title=title, data_topic=span.topic
    )


def _class(topic: int, colours: Mapping[int, int]) -> str:
    return f"topoi-word topoi-c{colours[topic]}" if topic in colours else "topoi-word"


def coloured_page(title: str, texts: Sequence[tuple[str, ColouredText]]) -> Html:
    """A page of coloured texts under their names, which loads and runs nothing.

    Parameters
    ----------
    title : str
        Title of the page.
    texts : sequence of (str, ColouredText)
        Names of documents, and their texts.

    Returns
    -------
    Html
        The page.

    Examples
    --------
    >>> coloured_page("Texts", [])[:15]
    '<!doctype html>'
    """
    style = STYLE + PAGE
    head = element(
        "head",
        element("meta", charset="utf-8"),
        content_policy(styles=[style]),
        element("meta", name="viewport", content="width=device-width"),
        element("title", title),
        inline("style", style),
    )
    sections = [
        element("section", element("h2", name), coloured.markup()) for name, coloured in texts
    ]
    body = element("body", element("h1", title), *sections)
    return join([Html("<!doctype html>\n"), element("html", head, body, lang="en"), Html("\n")])
