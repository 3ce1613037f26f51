"""The page of a model: complete without scripts; a script of topoi makes an explorer of it.

`topoi.report.markup` escapes whatever is put into it.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.evaluate import quality
from topoi.report.about import about
from topoi.report.data import given_names, page_data
from topoi.report.documents import sample
from topoi.report.layout import LABEL_SIZE, TopicMap, distances, topic_map
from topoi.report.markup import Html, content_policy, element, inline, join, json_block, spelled
from topoi.report.pieces import BAR_WIDTHS, bar_class, drawing, number_cell, percent, topic_link
from topoi.report.script import explorer_script
from topoi.report.sheets import authors_sheet, topic_sheets
from topoi.report.tree import tree_section
from topoi.version import __version__

if TYPE_CHECKING:
    from topoi.io.given import DocumentsLike
    from topoi.protocols import FittedModel

__all__ = ["page_of", "write"]

LONGEST_LABEL = 24  # letters on the map
NEW_LINE = Html("\n")


def write(
    model: FittedModel,
    path: str | Path,
    *,
    test: DocumentsLike | None = None,
    n_words: int = 12,
    n_documents: int = 6,
) -> None:
    """Write the page of a fitted model to an HTML file; see `page_of`."""
    from topoi.storage.files import atomic_write

    page = page_of(model, test=test, n_words=n_words, n_documents=n_documents)
    with atomic_write(path) as file:
        file.write(page.encode("utf-8", "replace"))


def page_of(
    model: FittedModel,
    *,
    test: DocumentsLike | None = None,
    n_words: int = 12,
    n_documents: int = 6,
) -> Html:
    """The page of a fitted model.

    test: documents to measure it on, best ones it has not seen. n_words, n_documents: of a topic,
    where scripts do not run and in print.
    """
    check_is_fitted(model)
    for name, value in (("n_words", n_words), ("n_documents", n_documents)):
        if not isinstance(value, numbers.Integral) or value < 1:
            raise ValueError(f"{name} is {value!r}; expected a whole number of at least 1.")
    measured = None if test is None else quality(model, test)
    apart, chosen, labels = distances(model.topic_word_), sample(model, n_documents), _labels(model)
    chart = topic_map(apart, model.topic_proportions_, [_cut(label) for label in labels])
    order = [int(k) for k in np.argsort(-model.topic_proportions_, kind="stable")]
    data = page_data(model, apart, chosen)
    title = f"{len(order)} topics" + (f" of {chosen.total:,} documents" if chosen else "")
    named = f"{type(model).__name__}, by topoi {__version__}"
    masthead = element("header", element("h1", title), element("p", named, class_="faint"))
    atlas = element(
        "section",
        _map(chart, model, labels),
        _topics_table(model, order),
        tree_section(model, data["tree"], labels),
        class_="atlas",
        aria_label="All topics",
    )
    sheets = topic_sheets(model, order, labels, data, n_words, n_documents)
    main = element("main", atlas, about(model, measured), sheets, authors_sheet(model, labels))
    script = explorer_script()
    body = element("body", masthead, main, json_block("data", data), inline("script", script))
    pieces = [Html("<!doctype html>"), element("html", _head(title, script), body, lang="en"), ""]
    return join(pieces, NEW_LINE)


def _head(title: str, script: str) -> Html:
    """The head of the page.

    Its policy lets a browser use the style sheet and the script in it and nothing else.
    """
    sheets = files("topoi.report")
    style = "".join(
        sheets.joinpath(name).read_text("utf-8") for name in ("style.css", "explorer.css")
    )
    return element(
        "head",
        element("meta", charset="utf-8"),
        content_policy(styles=[style + BAR_WIDTHS], scripts=[script]),
        element("meta", name="viewport", content="width=device-width"),
        element("title", title),
        inline("style", style + BAR_WIDTHS),
    )


def _map(chart: TopicMap, model: FittedModel, labels: Sequence[str]) -> Html:
    """Topics as circles: area for size, closeness for words in common; each leads to its topic."""
    words = model.top_words(6)
    circles = []
    for k in np.argsort(-chart.radius, kind="stable").tolist():
        x, y, r = f"{chart.at[k, 0]:.1f}", f"{chart.at[k, 1]:.1f}", f"{chart.radius[k]:.1f}"
        below = f"{chart.at[k, 1] + chart.radius[k]:.1f}"
        shapes = [
            element("title", f"{k} {labels[k]}: {spelled(words[k])}"),
            element("circle", cx=x, cy=y, r=r),
            element("text", k, class_="id" + " tiny" * bool(chart.radius[k] < 8), x=x, y=y),
            element(
                "text",
                _cut(labels[k]),
                class_="label" + " more" * (not chart.labelled[k]),
                x=x,
                y=below,
                dy="1em",
            ),
        ]
        circles.append(element("a", *shapes, href=f"#topic-{k}", id=f"circle-{k}"))
    drawn = drawing(
        "Map of the topics: close ones share words. The table below lists the same topics.",
        chart.width,
        chart.height,
        *circles,
        font_size=f"{LABEL_SIZE:g}",
    )
    said = "Area: proportion of all words. Closeness: words in common, as far as a plane can show."
    return element("figure", drawn, element("figcaption", said), class_="map")


def _topics_table(model: FittedModel, order: Sequence[int]) -> Html:
    """A line for each topic."""
    proportions, names, words = model.topic_proportions_, given_names(model), model.top_words(10)
    most = max(proportions.max(), 1e-300)
    heads = [element("th", name, scope="col") for name in ("Topic", "Proportion", "Words")]
    rows = []
    for k in order:
        name = join([element("b", names[k]), " "]) if names[k] else ""
        part = proportions[k]
        bar = element("td", percent(part, 1), class_=f"bar {bar_class(part / most)}")
        cells = (number_cell(topic_link(k)), bar, element("td", name, spelled(words[k])))
        rows.append(element("tr", *cells))
    caption = element("caption", "Topics by size; their numbers are those of the model.")
    body = (element("thead", element("tr", *heads)), element("tbody", *rows))
    return element("table", caption, *body, class_="topics")


def _labels(model: FittedModel) -> list[str]:
    """(K,) the name of each topic, or words that are typical of it."""
    return [
        name or spelled(words)
        for name, words in zip(given_names(model), model.top_words(3, relevance=0.6), strict=True)
    ]


def _cut(label: str) -> str:
    """What fits on the map: whole words if possible."""
    if len(label) <= LONGEST_LABEL:
        return label
    whole = label[: LONGEST_LABEL - 1].rsplit(" ", 1)[0]
    return f"{whole.rstrip(',')}…" if len(whole) > LONGEST_LABEL / 2 else whole + "…"
