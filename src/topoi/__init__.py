"""topoi learns topic models by belief propagation: fast, deterministic, and at home in
scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from topoi.version import __version__ as __version__

if TYPE_CHECKING:
    from topoi import datasets, distributed, evaluate, plot, rules
    from topoi.corpus import Corpus
    from topoi.graph.dates import Dates
    from topoi.graph.factors import Authors, Documents, Labels, Words
    from topoi.graph.links import Links
    from topoi.graph.seeds import Seeds
    from topoi.io import formats
    from topoi.io.formats import write
    from topoi.io.phrases import Phrases
    from topoi.io.read import read
    from topoi.io.source import Source
    from topoi.io.vectorize import make_vectorizer
    from topoi.models import paper
    from topoi.models.author import AuthorTopicModel
    from topoi.models.composite import TopicModel
    from topoi.models.ensemble import ensemble
    from topoi.models.files import load
    from topoi.models.labeled import LabeledLDA
    from topoi.models.lda import LDA
    from topoi.models.relational import RelationalTopicModel
    from topoi.models.sklearn_lda import LatentDirichletAllocation
    from topoi.models.warmup import warmup

# Imported on first use, so that `topoi --help` need not wait for Numba.
_HOMES = {
    "AuthorTopicModel": "topoi.models.author",
    "Authors": "topoi.graph.factors",
    "Dates": "topoi.graph.dates",
    "Corpus": "topoi.corpus",
    "Documents": "topoi.graph.factors",
    "LDA": "topoi.models.lda",
    "LabeledLDA": "topoi.models.labeled",
    "Labels": "topoi.graph.factors",
    "LatentDirichletAllocation": "topoi.models.sklearn_lda",
    "Links": "topoi.graph.links",
    "RelationalTopicModel": "topoi.models.relational",
    "Phrases": "topoi.io.phrases",
    "Seeds": "topoi.graph.seeds",
    "Source": "topoi.io.source",
    "TopicModel": "topoi.models.composite",
    "Words": "topoi.graph.factors",
    "datasets": "topoi.datasets",
    "distributed": "topoi.distributed",
    "ensemble": "topoi.models.ensemble",
    "evaluate": "topoi.evaluate",
    "formats": "topoi.io.formats",
    "load": "topoi.models.files",
    "make_vectorizer": "topoi.io.vectorize",
    "paper": "topoi.models.paper",
    "plot": "topoi.plot",
    "read": "topoi.io.read",
    "rules": "topoi.rules",
    "warmup": "topoi.models.warmup",
    "write": "topoi.io.formats",
}

MODULES = ("datasets", "distributed", "evaluate", "formats", "paper", "plot", "rules")

__all__ = [
    "LDA",
    "AuthorTopicModel",
    "Authors",
    "Corpus",
    "Dates",
    "Documents",
    "LabeledLDA",
    "Labels",
    "LatentDirichletAllocation",
    "Links",
    "Phrases",
    "RelationalTopicModel",
    "Seeds",
    "Source",
    "TopicModel",
    "Words",
    "datasets",
    "distributed",
    "ensemble",
    "evaluate",
    "formats",
    "load",
    "make_vectorizer",
    "paper",
    "plot",
    "read",
    "rules",
    "warmup",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'topoi' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    return home if _HOMES[name].endswith(f".{name}") and name in MODULES else getattr(home, name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
