"""The data of a page, once, as JSON for its script."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from topoi.printable import printable
from topoi.report.documents import Sample, page_documents
from topoi.report.layout import closest
from topoi.report.packing import pack, short
from topoi.report.prevalence import page_prevalence
from topoi.report.tree import page_tree
from topoi.report.words import page_words

if TYPE_CHECKING:
    from topoi.protocols import AuthorModel, FittedModel
    from topoi.report.packing import PageData

__all__ = ["given_names", "page_data"]

NEIGHBOURS = 5  # topics that a topic is close to
MOST_AUTHORS = 2000  # on a page
AUTHORS_SHOWN = 10  # of a topic
LEAST = 0.01  # a smaller proportion of a topic, of an author or a linked topic is not kept


def page_data(model: FittedModel, apart: np.ndarray, chosen: Sample | None) -> PageData:
    """Everything that the page's script shows.

    apart: (K, K) distances of topics; chosen: the documents of the page.
    """
    words = page_words(model)
    proportions, names = model.topic_proportions_, given_names(model)
    near = closest(apart, NEIGHBOURS)
    topics = [
        {
            "name": printable(names[k]),
            "proportion": short(proportions[k]),
            "near": [[j, short(1 - apart[k, j], 3)] for j in near[k]],
            **shown,
            **_linked(model, k),
        }
        for k, shown in enumerate(words.pop("topics"))
    ]
    return {
        "topics": topics,
        "words": words,
        "documents": None if chosen is None else page_documents(model, chosen),
        "authors": _authors(model),
        "prevalence": page_prevalence(model),
        "tree": page_tree(model),
    }


def given_names(model: FittedModel) -> list[str]:
    """(K,) names of topics that have one: given, or a label; otherwise nothing."""
    return ["" if name == f"topic{k}" else name for k, name in enumerate(model.topic_names_)]


def _linked(model: FittedModel, topic: int) -> dict[str, object]:
    """What linked documents are about, if that is something else, too."""
    if not hasattr(model, "link_topic_"):
        return {}
    row = model.link_topic_[topic]
    others = [int(j) for j in np.argsort(-row, kind="stable") if j != topic and row[j] >= LEAST]
    if not others:
        return {}
    return {
        "linked": [[j, short(row[j], 3)] for j in others[:NEIGHBOURS]],
        "linked_self": short(row[topic], 3),
    }


def _authors(model: FittedModel) -> dict[str, object] | None:
    """Those who wrote most, with their topics, and the first authors of each topic."""
    if not len(getattr(model, "author_names_", ())):
        return None
    model = cast("AuthorModel", model)
    written = model.author_counts_.sum(axis=1)
    most = np.argsort(-written, kind="stable")[:MOST_AUTHORS]
    place = {model.author_names_[author]: i for i, author in enumerate(most)}
    first = [model.authors_of_topic(k, AUTHORS_SHOWN) for k in range(len(model.components_))]
    return {
        "total": len(written),
        "names": [printable(name) for name in place],
        "tokens": [short(n) for n in written[most]],
        "topics": pack(model.author_topic_[most], LEAST),
        "first": [
            [[place[name], short(part, 3)] for name, part in authors if name in place]
            for authors in first
        ],
    }
