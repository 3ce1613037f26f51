"""The forms in which people give documents.

Types for signatures, imported by type checkers only. `topoi.read` and `topoi.Source` turn these
forms into counts, and refuse others with the cure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Protocol, TypeAlias

from topoi.corpus import Corpus
from topoi.corpus.given import CountsLike, DaskCollection, Frame

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData

__all__ = ["BlockSource", "Cells", "CorpusLike", "DocumentsLike", "Readable"]


class BlockSource(Protocol):
    """Documents that are read block by block, as those of `topoi.Source` are."""

    @property
    def is_counted(self) -> bool: ...
    def block(self, number: int) -> Corpus: ...


Cells: TypeAlias = Mapping[str, object]  # what stands in a row of a table, by column
CorpusLike: TypeAlias = "Corpus | CountsLike"  # what measures take
# What `topoi.read` takes: counts, names of files, texts, lists of tokens, rows.
Readable: TypeAlias = (
    "Corpus | CountsLike | AnnData | str | PathLike[str] | Sequence[PathLike[str]] | Frame"
    " | Iterable[str] | Iterable[Sequence[str]] | Iterable[Cells] | pd.Series"
)
# What models and measures take. Partitions, on a cluster, may also be functions that return such.
DocumentsLike: TypeAlias = "Readable | BlockSource | DaskCollection | Iterable[object]"
