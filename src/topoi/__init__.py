"""topoi learns topic models by belief propagation: fast, deterministic, and at home in scikit-learn."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topoi import datasets, evaluate
    from topoi.corpus import Corpus
    from topoi.models.lda import LDA, LatentDirichletAllocation

__version__ = "0.1.0"

# Imported on first use, so that `topoi --help` need not wait for Numba.
_HOMES = {
    "Corpus": "topoi.corpus",
    "LDA": "topoi.models.lda",
    "LatentDirichletAllocation": "topoi.models.lda",
    "datasets": "topoi.datasets",
    "evaluate": "topoi.evaluate",
}

__all__ = ["LDA", "Corpus", "LatentDirichletAllocation", "datasets", "evaluate"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'topoi' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    return home if _HOMES[name] == f"topoi.{name}" else getattr(home, name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
