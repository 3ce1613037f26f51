"""What stands beside the texts in rows of a table: names, dates, authors, labels, links, groups."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from topoi.choices import ON_ERROR, OnError
from topoi.corpus.dates import refuse_no_dates
from topoi.io import cells
from topoi.io.rows import TOKEN_END, Rows

__all__ = ["GROUP", "Gathering", "cell_value", "corpus_fields"]

FIELDS = ("doc_names", "dates", "authors", "labels")  # of a Corpus
WORD, TOKEN = re.compile(r"\S+"), re.compile(f"[^{TOKEN_END}]+")  # of what is cut into parts
GROUP = "group "  # before the name of a further column


def corpus_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """What was found, as the fields of a Corpus."""
    if "dates" in values:
        refuse_no_dates(values["dates"], "The dates")
    groups = {
        what.removeprefix(GROUP): found for what, found in values.items() if what.startswith(GROUP)
    }
    found = {what: found for what, found in values.items() if what in FIELDS}
    return {**found, "groups": groups} if groups else found


def cell_value(
    what: str, value: object, where: str, separator: str, first_with: dict[str, str]
) -> str | list[str]:
    """A cell as the name of a document, the date, or the list of names that it holds.

    first_with: where each name stands.
    """
    if what == "doc_names":
        return cells.as_id(value, where, first_with)
    return (
        cells.as_date(value, where) if what == "dates" else cells.as_names(value, separator, where)
    )


class Gathering:
    """Walks the rows once: hands out texts, keeps the rest."""

    def __init__(
        self,
        rows: Rows,
        wanted: dict[str, Any],
        separator: str,
        keep_text: bool,
        on_error: OnError = "raise",
        split_long: int | None = None,
    ) -> None:
        if on_error not in ON_ERROR:
            raise ValueError(f"on_error is {on_error!r}; choose 'raise' or 'skip'.")
        self.split_long = _checked_length(split_long, wanted["links"])
        self.rows, self.separator, self.skips = rows, separator, on_error == "skip"
        self.kept_texts: list[str] | None = [] if keep_text else None
        if "id" in rows.columns and rows.ids_are_certain and wanted["doc_names"] is None:
            wanted["doc_names"] = "id"
        self.links: object = None
        if _is_file_of_links(wanted["links"], rows.columns):
            self.links = Path(wanted.pop("links"))
        self.text = rows.column("text", wanted.pop("text"))
        self.beside: dict[str, list[object]] = {}
        self.take = {
            what: self._taker(what, given) for what, given in wanted.items() if given is not None
        }
        if split_long is not None and "doc_names" not in self.take:
            self.take["doc_names"] = lambda i, row: i  # parts need names
        self.kept: dict[str, list[object]] = {what: [] for what in self.take}
        if "links" in self.kept:
            self.links = self.kept["links"]

    def _taker(self, what: str, given: object) -> Callable[[int, Mapping[str, object]], object]:
        """How to get a value of a row: from a column, or from a list beside the rows."""
        if isinstance(given, str):
            column = self.rows.column(what, given)
            return lambda i, row: row.get(column)
        values = self.beside[what] = cells.as_list(given)
        return lambda i, row: values[i] if i < len(values) else None

    def texts(self) -> Iterator[str]:
        first_with: dict[str, str] = {}
        faults: list[str] = []
        i = -1
        for i, (where, row) in enumerate(self.rows):
            try:
                text = cells.as_text(row, self.text, where)
                found = {
                    what: cell_value(what, take(i, row), where, self.separator, first_with)
                    for what, take in self.take.items()
                }
                parts = self._parts(text)
                ids = [found.get("doc_names")]
                if len(parts) > 1:
                    names = (f"{ids[0]} [{n}]" for n in range(1, len(parts) + 1))
                    ids = [cells.as_id(name, where, first_with) for name in names]
            except ValueError as fault:
                if not self.skips:
                    raise
                faults.append(str(fault))
                continue
            for name, part in zip(ids, parts, strict=True):
                for what, value in found.items():
                    self.kept[what].append(name if what == "doc_names" else value)
                if self.kept_texts is not None:
                    self.kept_texts.append(part)
                yield part
        if faults:
            warnings.warn(
                f"{len(faults)} of {i + 1} documents are left out. The first: {faults[0]}",
                stacklevel=2,
            )
        for what, values in self.beside.items():
            if len(values) != i + 1:
                raise ValueError(
                    f"{what} has {len(values)} values for {i + 1} documents; give one per document."
                )

    def _parts(self, text: str) -> list[str]:
        """A text in equal parts of about so many words, each as it stands in the text."""
        if self.split_long is None:
            return [text]
        word = TOKEN if self.rows.tokens else WORD
        starts = [found.start() for found in word.finditer(text)]
        n = max(round(len(starts) / self.split_long), 1)
        cuts = [starts[len(starts) * i // n] for i in range(1, n)]
        return [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]

    def columns(self) -> dict[str, Any]:
        return {**corpus_fields(self.kept), "texts": self.kept_texts}


def _checked_length(split_long: int | None, links: object) -> int | None:
    if split_long is None:
        return None
    if not isinstance(split_long, int) or split_long < 1:
        raise ValueError(
            f"split_long is {split_long!r}; expected a number of words such as 500, or None."
        )
    if links is not None:
        raise ValueError(
            "Links join whole documents, and split_long cuts them into parts; leave one of the two"
            " out."
        )
    return split_long


def _is_file_of_links(links: object, columns: Sequence[str]) -> bool:
    return isinstance(links, Path) or (
        isinstance(links, str) and links not in columns and Path(links).is_file()
    )
