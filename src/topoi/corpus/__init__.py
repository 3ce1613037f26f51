"""Corpora: what is observed."""

from topoi.corpus.corpus import Corpus
from topoi.corpus.membership import Membership

__all__ = ["Corpus", "Membership"]


def __dir__() -> list[str]:
    return sorted(__all__)
