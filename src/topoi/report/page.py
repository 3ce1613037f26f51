"""The page of a report, piece by piece. `topoi.report.markup` escapes whatever is put into it."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.evaluate import quality, topic_diversity
from topoi.report.layout import closest, distances, places
from topoi.report.markup import Html, content_policy, element, inline, join, spelled
from topoi.report.pieces import (
    BAR_WIDTHS,
    LINE_BREAK,
    bar_cell,
    bars,
    drawing,
    header,
    number_cell,
    references,
    small,
    table,
    topic_link,
)
from topoi.storage.files import atomic_write
from topoi.version import __version__

__all__ = ["write"]

TYPICAL = 0.4  # relevance of the words that are typical of a topic
MAP_SIZE, COVERED = 460, 0.1  # pixels; part of the map that all circles take
NEIGHBOURS = 3  # topics that a topic is close to, or linked with
MOST_AUTHORS = 300  # in the table of authors
NEW_LINE = Html("\n")


def write(
    model: Any, path: str | Path, *, test: Any = None, n_words: int = 12, n_documents: int = 6
) -> None:
    """Write the report of a fitted model to an HTML file.

    test: documents the model has not seen, to measure it on.
    """
    check_is_fitted(model)
    for name, value in (("n_words", n_words), ("n_documents", n_documents)):
        if not isinstance(value, numbers.Integral) or value < 1:
            raise ValueError(f"{name} is {value!r}; expected a whole number of at least 1.")
    page = _page(model, None if test is None else quality(model, test), n_words, n_documents)
    with atomic_write(path) as file:
        file.write(page.encode("utf-8", "replace"))


def _page(model: Any, measured: dict[str, float] | None, n_words: int, n_documents: int) -> Html:
    apart = distances(model.topic_word_)
    order = [int(k) for k in np.argsort(-model.topic_proportions_, kind="stable")]
    title = f"{len(order)} topics" + (
        f" of {len(model.doc_topic_):,} documents" if hasattr(model, "doc_topic_") else ""
    )
    about = (
        f"{type(model).__name__}, by topoi {__version__}. The largest topics come first; their"
        " numbers are those of the model."
    )
    facts = element("div", _facts(model, measured), _curve(getattr(model, "history_", [])))
    sections = [
        element("h1", title),
        element("p", about, class_="faint"),
        element("div", _map(model, apart), facts, class_="top"),
        _overview(model, order),
        *_topics(model, order, closest(apart, NEIGHBOURS), n_words, n_documents),
        _authors(model),
    ]
    body = element("body", join(sections, NEW_LINE))
    return join(
        [Html("<!doctype html>"), element("html", _head(title), body, lang="en"), ""], NEW_LINE
    )


def _head(title: str) -> Html:
    """The head of the page.

    Its policy lets a browser use the style sheet in it and nothing else.
    """
    style = files("topoi.report").joinpath("style.css").read_text("utf-8") + BAR_WIDTHS
    return element(
        "head",
        element("meta", charset="utf-8"),
        content_policy(styles=[style]),
        element("meta", name="viewport", content="width=device-width"),
        element("title", title),
        inline("style", style),
    )


# ---------------------------------------------------------------------------------- the whole model


def _facts(model: Any, measured: dict[str, float] | None) -> Html:
    """A table of what was fitted, how, and how good it is."""
    alpha = model.doc_topic_prior_
    facts: list[tuple[object, ...]] = [
        ("words", f"{model.components_.shape[1]:,}"),
        _length(model),
        ("prior of topics", f"{alpha.sum():.3g} in all, {alpha.min():.3g} to {alpha.max():.3g}"),
        ("prior of words", f"{model.topic_word_prior_:.3g}"),
        (
            "diversity",
            f"{topic_diversity(model):.2f} ",
            small("of the topics' top 25 words are different"),
        ),
    ]
    if hasattr(model, "link_weight_"):
        facts.append(("weight of links", f"{model.link_weight_:.3f}"))
    if measured is not None:
        interval = f"{measured['perplexity_low']:.1f} to {measured['perplexity_high']:.1f}"
        facts += [
            (
                "held-out perplexity",
                f"{measured['perplexity']:.1f} ",
                small(f"{interval}, on {measured['documents']:,} other documents"),
            ),
            (
                "coherence (NPMI)",
                f"{measured['npmi']:.3f} ",
                small("of top words in the same documents"),
            ),
        ]
    return table([(element("th", name), element("td", *value)) for name, *value in facts])


def _length(model: Any) -> tuple[str, str]:
    """How long it learned, and in what."""
    history = getattr(model, "history_", None)
    unit = (
        "batches" if not history else "passes" if history[-1]["schedule"] == "batches" else "sweeps"
    )
    asked = model.tol != 0 and not getattr(model, "converged_", True)
    return unit, f"{model.n_iter_}{', stopped before it converged' if asked else ''}"


def _map(model: Any, apart: np.ndarray) -> Html:
    """Topics as circles: area for size, closeness for words in common; a click leads to
    the topic.
    """
    radius = np.maximum(MAP_SIZE * np.sqrt(COVERED * model.topic_proportions_ / np.pi), 4)
    at = 40 + (MAP_SIZE - 80) * places(apart)
    names, words = _given_names(model), model.top_words(6)
    circles = []
    for k in np.argsort(-radius, kind="stable").tolist():
        x, y = f"{at[k, 0]:.1f}", f"{at[k, 1]:.1f}"
        hover = element("title", f"{k} {names[k]} {spelled(words[k])}")
        circle = element("circle", cx=x, cy=y, r=f"{radius[k]:.1f}")
        circles.append(
            element(
                "a",
                hover,
                circle,
                element("text", k, class_="centred", x=x, y=y),
                href=f"#topic-{k}",
            )
        )
    label = "Map of the topics: close ones share words, large ones hold more of the documents"
    return drawing(label, MAP_SIZE, MAP_SIZE, *circles)


def _overview(model: Any, order: Sequence[int]) -> Html:
    """A line for each topic."""
    proportions, names, words = model.topic_proportions_, _given_names(model), model.top_words(10)
    most = max(proportions.max(), 1e-300)
    rows = [header("topic", "share", "words")]
    for k in order:
        name = join([element("b", names[k]), " "]) if names[k] else ""
        bar = bar_cell(f"{proportions[k]:.1%}", proportions[k] / most)
        rows.append((element("td", topic_link(k)), bar, element("td", name, spelled(words[k]))))
    return table(rows)


def _curve(history: Sequence[dict[str, Any]]) -> Html:
    """Training perplexity over sweeps, if it was measured."""
    seen = [
        (record["sweep"], record["perplexity"])
        for record in history
        if record.get("perplexity") is not None
    ]
    if len(seen) < 2:
        return Html()
    x, y = np.array(seen, dtype=float).T
    across, down = (
        45 + 240 * (x - x[0]) / (x[-1] - x[0]),
        10 + 100 * (y.max() - y) / max(np.ptp(y), 1e-12),
    )
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))
    ticks = [(0, 14, y.max()), (0, 114, y.min()), (45, 128, x[0]), (265, 128, x[-1])]
    curve = drawing(
        "Training perplexity over sweeps",
        300,
        135,
        element("line", x1=45, y1=110, x2=285, y2=110),
        element("polyline", points=points),
        *(element("text", f"{value:.0f}", x=left, y=top) for left, top, value in ticks),
    )
    return join([element("h3", "training perplexity over sweeps"), curve])


# ------------------------------------------------------------------------------------------- topics


def _topics(
    model: Any, order: Iterable[int], near: list[list[int]], n_words: int, n_documents: int
) -> list[Html]:
    """A section for each topic: words, documents, authors, other topics."""
    proportions, names, labels = model.topic_proportions_, _given_names(model), _labels(model)
    typical = model.top_words(n_words, relevance=TYPICAL)
    documents = model.top_documents(n_documents) if hasattr(model, "doc_topic_") else None
    frequent = _frequent_words(model, n_words)
    relevance = join(["typical words ", small(f"(relevance {TYPICAL})")])
    out = []
    for k in order:
        parts = [("most frequent words", frequent[k]), (relevance, join(typical[k], LINE_BREAK))]
        if documents is not None:
            parts.append(("documents most about it", bars(documents[k])))
        if len(getattr(model, "author_names_", ())):
            parts.append(("who writes most of it", bars(model.authors_of_topic(k, n_documents))))
        parts.append(("closest topics", references(near[k], labels)))
        if hasattr(model, "link_topic_"):
            linked = np.argsort(-model.link_topic_[k], kind="stable")[:NEIGHBOURS].tolist()
            parts.append(
                ("linked documents are about", references(linked, labels, model.link_topic_[k]))
            )
        blocks = [element("div", element("h3", title), content) for title, content in parts]
        heading = element(
            "h2", f"Topic {k}{': ' * bool(names[k])}{names[k]} ", small(f"{proportions[k]:.1%}")
        )
        out.append(
            element(
                "section",
                heading,
                element("div", *blocks, class_="parts"),
                class_="topic",
                id=f"topic-{k}",
            )
        )
    return out


def _frequent_words(model: Any, n: int) -> list[Html]:
    """For each topic a table of its top words: bars for their proportions of the topic, and how
    much of each word is in this topic.
    """
    words, topic_word = model.top_words(n), model.topic_word_
    held = np.maximum(model.components_.astype(np.float64) - model.topic_word_prior_, 0)
    here = held / np.maximum(held.sum(axis=0), 1e-300)
    tables = []
    for k, row in enumerate(topic_word):
        top = np.argsort(-model.components_[k], kind="stable")[:n]  # as in top_words
        cells = [
            (
                bar_cell(word, row[w] / row[top[0]]),
                number_cell(f"{row[w]:.1%}"),
                number_cell(f"{here[k, w]:.0%}", "faint"),
            )
            for w, word in zip(top, words[k], strict=True)
        ]
        tables.append(table([header("word", "of topic", "of word"), *cells]))
    return tables


def _authors(model: Any) -> Html:
    """What each author writes about: those who wrote most, in a table that opens."""
    if not len(getattr(model, "author_names_", ())):
        return Html()
    labels, written = _labels(model), model.author_counts_.sum(axis=1)
    most = np.argsort(-written, kind="stable")[:MOST_AUTHORS]
    rows = [header("author", "tokens", "topics")]
    for a in most:
        top = np.argsort(-model.author_topic_[a], kind="stable")[:NEIGHBOURS].tolist()
        topics = references(top, labels, model.author_topic_[a])
        rows.append(
            (
                element("td", model.author_names_[a]),
                number_cell(f"{written[a]:,.0f}"),
                element("td", topics),
            )
        )
    count = f"{len(model.author_names_):,} authors" + (
        f", the first {MOST_AUTHORS} by tokens" if len(model.author_names_) > MOST_AUTHORS else ""
    )
    return element(
        "section",
        element("h2", "Authors"),
        element("details", element("summary", count), table(rows)),
        class_="topic",
    )


# ------------------------------------------------------------------------------ names of topics


def _given_names(model: Any) -> list[str]:
    """(K,) names of topics that have one: given, or a label; otherwise nothing."""
    return ["" if name == f"topic{k}" else name for k, name in enumerate(model.topic_names_)]


def _labels(model: Any) -> list[str]:
    """(K,) the name of each topic, or its first words."""
    return [
        name or spelled(words)
        for name, words in zip(_given_names(model), model.top_words(3), strict=True)
    ]
