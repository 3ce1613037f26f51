"""Corpora: what is observed."""

from topoi.corpus.corpus import Corpus

__all__ = ["Corpus"]
