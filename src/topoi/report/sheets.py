"""Topics one after the other, for print and for browsers that run no scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from topoi.report.data import given_names
from topoi.report.markup import Html, element, join
from topoi.report.pieces import (
    COMMA,
    bar_class,
    number_cell,
    percent,
    references,
    small,
)

if TYPE_CHECKING:
    from topoi.corpus.membership import Name
    from topoi.protocols import AuthorModel, FittedModel
    from topoi.report.packing import PageData

__all__ = ["authors_sheet", "topic_sheets"]

TYPICAL = 0.4  # relevance of the words that are typical of a topic
AUTHORS_IN_PRINT = 100
TOPICS_OF_AUTHOR = 3


def topic_sheets(
    model: FittedModel,
    order: Iterable[int],
    labels: Sequence[str],
    data: PageData,
    n_words: int,
    n_documents: int,
) -> Html:
    """A section for each topic: words, documents, authors, other topics."""
    proportions, names = model.topic_proportions_, given_names(model)
    typical = model.top_words(n_words, relevance=TYPICAL)
    frequent = _frequent_words(model, n_words)
    documents = model.top_documents(n_documents) if hasattr(model, "doc_topic_") else None
    sheets = []
    for k in order:
        near = [(j, f"{likeness:.2f}") for j, likeness in data["topics"][k]["near"]]
        parts: list[tuple[str, object]] = [
            ("Frequent", frequent[k]),
            ("Typical", join(typical[k], COMMA)),
        ]
        if documents is not None:
            parts.append(("Documents", _scored(documents[k])))
        if len(getattr(model, "author_names_", ())):
            authors = cast("AuthorModel", model).authors_of_topic(k, n_documents)
            parts.append(("Authors", _scored(authors)))
        if near:
            parts.append(("Close to", references(near, labels)))
        if "linked" in data["topics"][k]:
            linked = [(j, percent(part)) for j, part in data["topics"][k]["linked"]]
            parts.append(("Linked with", references(linked, labels)))
        heading = element("h2", f"{k} {names[k]} ", small(percent(proportions[k], 1)))
        lines = [element("div", element("b", name), " ", said) for name, said in parts]
        sheets.append(element("section", heading, *lines, class_="sheet", id=f"topic-{k}"))
    return element("div", *sheets, class_="sheets")


def _frequent_words(model: FittedModel, n: int) -> list[Html]:
    """For each topic its top words, a bar behind each for its proportion of the topic."""
    words, rows = model.top_words(n), []
    for k, row in enumerate(model.topic_word_):
        top = np.argsort(-model.components_[k], kind="stable")[: len(words[k])]  # as in top_words
        chips = [
            element(
                "span",
                join([word, " ", small(percent(row[w], 1))]),
                class_=f"chip bar {bar_class(row[w] / row[top[0]])}",
            )
            for w, word in zip(top, words[k], strict=True)
        ]
        rows.append(join(chips, Html(" ")))
    return rows


def _scored(scored: Iterable[tuple[Name, float]]) -> Html:
    items = [element("li", name, " ", small(percent(part))) for name, part in scored]
    return element("ul", *items)


def authors_sheet(model: FittedModel, labels: Sequence[str]) -> Html:
    """What authors write about: those who wrote most, in a table that opens."""
    if not len(getattr(model, "author_names_", ())):
        return Html()
    model = cast("AuthorModel", model)
    written = model.author_counts_.sum(axis=1)
    most = np.argsort(-written, kind="stable")[:AUTHORS_IN_PRINT]
    heads = [element("th", name, scope="col") for name in ("Author", "Words", "Topics")]
    rows = [element("tr", *heads)]
    for a in most:
        part = model.author_topic_[a]
        top = np.argsort(-part, kind="stable")[:TOPICS_OF_AUTHOR].tolist()
        topics = references([(k, percent(part[k])) for k in top], labels)
        rows.append(
            element(
                "tr",
                element("td", model.author_names_[a]),
                number_cell(f"{written[a]:,.0f}"),
                element("td", topics),
            )
        )
    count = f"{len(written):,} authors"
    if len(written) > len(most):
        count += f", the {len(most)} who wrote most"
    table = element("table", *rows)
    return element("details", element("summary", count), table, class_="authors")
