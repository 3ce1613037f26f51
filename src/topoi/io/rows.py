"""Rows of documents, one at a time, each with the place it stands at, so that errors can name it.

Here: rows in memory. Those of files are in tables.py, what a cell holds is in cells.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from topoi.io.cells import as_list
from topoi.io.lines import Progress

__all__ = ["LOOK_EVERY", "TOKEN_END", "Rows", "rows_in_memory"]

LONGEST_NAME, MOST_NAMES = 40, 15  # of columns, in errors
TOKEN_END = "\x1f"  # the character that separates units; it is in no token
LOOK_EVERY = 100  # rows between two calls of the progress bar


@dataclass
class Rows:
    """Rows of a table: (where it stands, its cells by column).

    ids_are_certain: the column "id" is our own making; tokens: texts are lists of tokens, joined
    by `TOKEN_END`.
    """

    name: str
    columns: Sequence[str]
    rows: Iterable[tuple[str, Mapping[str, object]]]
    ids_are_certain: bool = False
    tokens: bool = False

    def __iter__(self) -> Iterator[tuple[str, Mapping[str, object]]]:
        return iter(self.rows)

    def column(self, what: str, wanted: str | None) -> str:
        """The column that holds `what`. Texts may do without a name if it is obvious."""
        listed = _listed(self.columns)
        if wanted is None:
            likely = [name for name in self.columns if name.lower() == what] or (
                list(self.columns) if len(self.columns) == 1 else []
            )
            if not likely:
                raise ValueError(
                    f"{self.name} has columns {listed}; name the one that holds the text with"
                    " text=..."
                )
            wanted = likely[0]
        if wanted not in self.columns:
            raise ValueError(
                f"{self.name} has no column {wanted!r} for {what}; its columns are {listed}."
            )
        if list(self.columns).count(wanted) > 1:
            raise ValueError(
                f"{self.name} has several columns called {wanted!r}; give each a name of its own."
            )
        return wanted


def _listed(columns: Sequence[str]) -> str:
    """Names of columns for an error, no longer than can be read."""
    names = list(map(str, columns))
    names = [f"{name[:LONGEST_NAME]}…" if len(name) > LONGEST_NAME else name for name in names]
    return ", ".join([*names[:MOST_NAMES], *(["…"] if len(names) > MOST_NAMES else [])]) or "none"


def rows_in_memory(source: Any, progress: Progress | None) -> Rows:
    """Rows of a pandas or polars frame or column, or of an iterable of texts or dictionaries."""
    if hasattr(source, "columns") and hasattr(source, "shape"):
        columns = list(map(str, source.columns))
        values = (
            [column for _, column in source.items()]
            if hasattr(source, "items")
            else [source[name] for name in source.columns]
        )
        records: Iterable[Mapping[str, object]] = (
            dict(zip(columns, cells, strict=True))
            for cells in zip(*map(as_list, values), strict=True)
        )
        return Rows("The frame", columns, _numbered(records, len(source), progress))
    documents = (
        as_list(source) if hasattr(source, "to_list") or isinstance(source, np.ndarray) else source
    )
    if not isinstance(documents, Iterable):
        raise TypeError(
            f"Cannot read documents from a {type(source).__name__}; give a path, a list of texts,"
            " or a frame."
        )
    documents = documents if isinstance(documents, Sequence) else list(documents)
    if not documents:
        raise ValueError("The list of documents is empty; give some.")
    columns = list(documents[0]) if isinstance(documents[0], Mapping) else ["text"]
    tokens = _is_tokens(documents[0])
    if tokens:
        documents = [_joined(tokens, i) for i, tokens in enumerate(documents)]
    records = (row if isinstance(row, Mapping) else {"text": row} for row in documents)
    return Rows("The list", columns, _numbered(records, len(documents), progress), tokens=tokens)


def _is_tokens(document: Any) -> bool:
    return isinstance(document, list | tuple) and all(isinstance(token, str) for token in document)


def _joined(tokens: Any, number: int) -> str:
    """Tokens as one text, which the vectoriser for tokens takes apart again."""
    if not _is_tokens(tokens):
        raise ValueError(
            f"Document {number} is a {type(tokens).__name__}, {str(tokens)[:40]!r}; expected a list"
            " of tokens, as the first document is."
        )
    return TOKEN_END.join(token.replace(TOKEN_END, " ") for token in tokens)


def _numbered(
    records: Iterable[Mapping[str, object]], total: int, progress: Progress | None
) -> Iterator[tuple[str, Mapping[str, object]]]:
    for i, row in enumerate(records):
        if progress is not None and i % LOOK_EVERY == 0:
            progress(i, total)
        yield f"Document {i}", row
