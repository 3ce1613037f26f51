"""The documents of a page: all of them, or a sample that is said to be one."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, cast

import numpy as np

from topoi.printable import printable
from topoi.report.packing import pack

if TYPE_CHECKING:
    from topoi.corpus.documents import TrainingDocuments
    from topoi.protocols import FittedModel

__all__ = ["Sample", "page_documents", "sample"]

MOST_DOCUMENTS = 4000  # on a page
PER_TOPIC = 20  # documents that are most about a topic, if there is room
LEAST = 0.01  # a smaller proportion of a topic is not kept
MOST_LETTERS = 1_000_000  # of all texts on a page
LONGEST_TEXT = 3000  # letters of one
TEXTS_PER_TOPIC = 8  # of the documents that are most about it


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
        others = np.setdiff1d(np.arange(self.total), chosen, assume_unique=True)
        room = max(MOST_DOCUMENTS - len(chosen), 0)
        if len(others) > room:  # evenly, in the order of the documents
            others = others[np.linspace(0, len(others) - 1, room).astype(np.int64)]
        self.chosen = np.union1d(chosen, others)
        self.first = [np.searchsorted(self.chosen, docs) for docs in first]
        self.per_topic = n

    def __len__(self) -> int:
        return len(self.chosen)


def sample(model: FittedModel, least_per_topic: int) -> Sample | None:
    """The documents of a model's page, if the model keeps its training documents."""
    if not hasattr(model, "doc_topic_"):
        return None
    return Sample(np.asarray(model.doc_topic_, dtype=np.float64), least_per_topic)


def page_documents(model: FittedModel, chosen: Sample) -> dict[str, object]:
    """What the page shows of its documents."""
    known = cast("TrainingDocuments", model.documents_)  # `sample` found some
    numbers, dates = chosen.chosen, known.dates
    return {
        "total": chosen.total,
        "per_topic": chosen.per_topic,
        "names": [printable(d if known.names is None else known.names[d]) for d in numbers],
        "named": known.names is not None,
        "topics": pack(np.asarray(model.doc_topic_)[numbers], LEAST),
        "first": [docs.tolist() for docs in chosen.first],
        "dates": None if dates is None else [printable(dates[d]) for d in numbers],
        "columns": _columns(known, numbers),
        "texts": _texts(known, chosen),
        "links": _links(model, chosen),
    }


def _columns(known: TrainingDocuments, numbers: np.ndarray) -> dict[str, object]:
    """Authors, labels and groups: names, and for each document the places of its own."""
    found: dict[str, object] = {}
    for name, column in known.columns.items():
        part = column[numbers]
        places = np.split(part.matrix.indices, part.matrix.indptr[1:-1])
        found[printable(name)] = {
            "names": [printable(value) for value in part.names],
            "of": [place.tolist() for place in places],
        }
    return found


def _texts(known: TrainingDocuments, chosen: Sample) -> dict[int, str] | None:
    """Texts by places in the sample: those of documents most about each topic, while there is
    room.
    """
    if known.texts is None:
        return None
    texts: dict[int, str] = {}
    letters = 0
    for rank in zip_longest(*(docs[:TEXTS_PER_TOPIC] for docs in chosen.first)):
        for place in rank:
            if place is None or int(place) in texts:
                continue
            text = known.texts[chosen.chosen[place]]
            cut = text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT].rsplit(" ", 1)[0] + "…"
            letters += len(cut)
            if letters > MOST_LETTERS:
                return texts
            texts[int(place)] = printable(cut, keep="\n\t")
    return texts


def _links(model: FittedModel, chosen: Sample) -> list[list[int]] | None:
    """For each document those on the page that it is linked with, either way."""
    links = getattr(model, "links_", None)
    if links is None:
        return None
    either = (links + links.T).tocsr()[chosen.chosen][:, chosen.chosen]
    either.setdiag(0)
    either.eliminate_zeros()
    either.sort_indices()
    return [row.tolist() for row in np.split(either.indices, either.indptr[1:-1])]
