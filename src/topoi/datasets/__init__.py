"""Corpora to try things on."""

from topoi.datasets.load import load_demo, load_npz
from topoi.datasets.synthetic import (
    Truth,
    make_authors,
    make_blocks,
    make_labels,
    make_lda,
    make_links,
)

__all__ = [
    "Truth",
    "load_demo",
    "load_npz",
    "make_authors",
    "make_blocks",
    "make_labels",
    "make_lda",
    "make_links",
]


def __dir__() -> list[str]:
    return sorted(__all__)
