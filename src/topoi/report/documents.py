"""The documents of a page: all of them, or a sample that is said to be one."""

from __future__ import annotations

from typing import Any

import numpy as np

from topoi.printable import printable
from topoi.report.packing import pack

__all__ = ["MOST_DOCUMENTS", "Sample", "page_documents", "sample"]

MOST_DOCUMENTS = 4000  # on a page
PER_TOPIC = 20  # documents that are most about a topic, if there is room
LEAST = 0.01  # a smaller proportion of a topic is not kept


class Sample:
    """Documents of a page.

    chosen: (S,) numbers of documents, ascending; first: for each topic places in `chosen`, the
    document that is most about it first; total: documents of the model.
    """

    def __init__(self, doc_topic: np.ndarray, least_per_topic: int) -> None:
        self.total, n_topics = doc_topic.shape
        n = max(least_per_topic, min(PER_TOPIC, MOST_DOCUMENTS // (2 * n_topics)))
        first = [np.argsort(-column, kind="stable")[:n] for column in doc_topic.T]
        chosen = np.unique(np.concatenate(first))
        room = MOST_DOCUMENTS - len(chosen)
        others = np.setdiff1d(np.arange(self.total), chosen, assume_unique=True)
        if len(others) > room:  # evenly, in the order of the documents
            others = others[np.linspace(0, len(others) - 1, max(room, 0)).astype(np.int64)]
        self.chosen = np.union1d(chosen, others)
        self.first = [np.searchsorted(self.chosen, docs) for docs in first]
        self.per_topic = n

    @property
    def whole(self) -> bool:
        """Whether it is all documents."""
        return len(self.chosen) == self.total


def sample(model: Any, least_per_topic: int) -> Sample | None:
    """The documents of a model's page, if the model keeps its training documents."""
    if not hasattr(model, "doc_topic_"):
        return None
    return Sample(np.asarray(model.doc_topic_, dtype=np.float64), least_per_topic)


def page_documents(model: Any, chosen: Sample) -> dict[str, Any]:
    """Names and topics of the documents of a page."""
    names = model.doc_names_
    return {
        "total": chosen.total,
        "per_topic": chosen.per_topic,
        "names": [printable(d if names is None else names[d]) for d in chosen.chosen],
        "named": names is not None,
        "topics": pack(np.asarray(model.doc_topic_)[chosen.chosen], LEAST),
        "first": [docs.tolist() for docs in chosen.first],
        **_linked(model, chosen),
    }


def _linked(model: Any, chosen: Sample) -> dict[str, Any]:
    """For each document those on the page that it is linked with, either way."""
    links = getattr(model, "links_", None)
    if links is None:
        return {}
    either = (links + links.T).tocsr()[chosen.chosen][:, chosen.chosen]
    either.setdiag(0)
    either.eliminate_zeros()
    either.sort_indices()
    return {"links": [row.tolist() for row in np.split(either.indices, either.indptr[1:-1])]}
