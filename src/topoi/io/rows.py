"""Rows of documents in files and in memory, one at a time, each with the place it stands at, so
that errors can name it.
"""

from __future__ import annotations

import codecs
import csv
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from topoi.corpus.checks import refuse_masked
from topoi.io.lines import Tell, composed, existing, numbered_lines, stem_and_suffix
from topoi.io.registry import TEXT_FORMATS

__all__ = [
    "FORMS",
    "Rows",
    "as_date",
    "as_id",
    "as_list",
    "as_names",
    "as_text",
    "open_rows",
    "pairs_in_file",
    "rows_in_memory",
]

FORMS = {suffix: name for name, suffixes in TEXT_FORMATS.items() for suffix in suffixes}
LONGEST_CELL = 2**27  # characters: a quote that is never closed takes in the rest of the file
LONGEST_NAME, MOST_NAMES = 40, 15  # of columns, in errors
LOOK_EVERY = 100  # rows between two words to the progress bar
SEPARATOR = re.compile('"?sep=(.)"?', re.IGNORECASE)  # a first line that Excel writes
HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")  # as JSON writes it
MIDNIGHT = re.compile(r"[ T]00:00:00(\.0+)?$")


@dataclass
class Rows:
    """Rows of a table: (where it stands, its cells by column).

    ids_are_certain: the column "id" is our own making.
    """

    name: str
    columns: Sequence[str]
    rows: Iterable[tuple[str, Mapping[str, Any]]]
    ids_are_certain: bool = False

    def __iter__(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
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
                    f"{self.name} has columns {listed}; say which one holds the text with text=...."
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


def open_rows(path: Path, form: str | None, encoding: str, tell: Tell | None) -> Rows:
    """The rows of a folder or file.

    Files are opened when the rows are walked, except for their header.
    """
    try:
        codecs.lookup(encoding)
        "".encode(encoding)  # base64, for instance, is a codec but no encoding of text
    except (LookupError, ValueError):
        raise ValueError(
            f"There is no encoding {encoding!r}; name one that Python knows, such as utf-8,"
            " latin-1, cp1252 or utf-16."
        ) from None
    encoding = (
        "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    )  # with or without a byte order mark
    if path.is_dir():
        return _folder(path, encoding, tell)
    form = form or FORMS.get(stem_and_suffix(path)[1])
    if form in ("csv", "tsv"):
        return _csv(path, encoding, "\t" if form == "tsv" else None, tell)
    if form == "jsonl":
        return _jsonl(path, encoding, tell)
    if form == "parquet":
        return _parquet(path, tell)
    if form == "lines":
        lines = (
            (f"{path}, line {n}", {"text": line})
            for n, line in numbered_lines(path, encoding, tell)
        )
        return Rows(str(path), ["text"], lines)
    raise ValueError(
        f"{path}: the name does not say what it holds; known are folders of .txt, .csv, .tsv,"
        " .jsonl, .parquet, .txt (one document a line), and counts (.npz, .mtx, .ldac, .svm,"
        " .h5ad, docword.*.txt); say which with form=...."
    )


def _folder(path: Path, encoding: str, tell: Tell | None) -> Rows:
    files = sorted(
        file
        for file in path.rglob("*")
        if file.suffix.lower() == ".txt"
        and file.is_file()
        and not _is_hidden(file.relative_to(path))
    )
    if not files:
        raise ValueError(
            f"{path} is a folder without .txt files; put each document into one, or give a table"
            " such as .csv."
        )

    def rows() -> Iterator[tuple[str, Mapping[str, Any]]]:
        for i, file in enumerate(files):
            if tell is not None and i % LOOK_EVERY == 0:
                tell(i, len(files))
            text = "".join(line for _, line in numbered_lines(file, encoding))
            name = file.relative_to(path).with_suffix("").as_posix()
            yield str(file), {"text": text, "id": _shown(name)}
        if tell is not None:
            tell(len(files), len(files))

    return Rows(str(path), ["text", "id"], rows(), ids_are_certain=True)


def _shown(name: str) -> str:
    """The name of a file; bytes that are not text as \\xe9, since an id must be text."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _is_hidden(path: Path) -> bool:
    """Whether it, or a folder it is in, begins with a dot: what systems put there, such as
    ._name.txt of macOS, is no document.
    """
    return any(part.startswith(".") for part in path.parts)


def _csv(path: Path, encoding: str, delimiter: str | None, tell: Tell | None) -> Rows:
    csv.field_size_limit(LONGEST_CELL)  # documents are longer than the 128 KiB that csv allows
    lines = numbered_lines(path, encoding, tell, newline="")
    first, skipped = next(lines, (1, ""))[1], 0
    if not first:
        raise ValueError(f"{path} holds no lines; give a file with documents in it.")
    if announced := SEPARATOR.fullmatch(first.rstrip("\r\n")):
        delimiter, first, skipped = announced[1], next(lines, (2, ""))[1], 1
    delimiter = delimiter or max(",;\t|", key=first.count)
    if delimiter == '"':
        raise ValueError(
            f"{path}, line 1: a quote cannot be the separator; write sep=; for instance."
        )
    reader = csv.reader(_after(first, lines), delimiter=delimiter, strict=True)

    def where() -> str:
        return f"{path}, line {reader.line_num + skipped}"

    def rows() -> Iterator[tuple[str, Mapping[str, Any]]]:
        try:
            for cells in reader:
                if cells and len(cells) != len(columns):
                    raise ValueError(
                        f"{where()}: {len(cells)} cells where the header has {len(columns)}"
                        " columns; correct the line, or quote cells that hold the separator."
                    )
                if cells:
                    yield where(), dict(zip(columns, cells, strict=True))
        except csv.Error as error:
            raise ValueError(f"{where()}: {error}; check the quotes of the line.") from error

    try:
        columns = [name.strip() for name in next(reader)]
    except csv.Error as error:
        raise ValueError(
            f"{path}, line {1 + skipped}: {error}; check the quotes of the header."
        ) from error
    return Rows(str(path), columns, rows())


def _after(first: str, lines: Iterator[tuple[int, str]]) -> Iterator[str]:
    yield first
    for _, line in lines:
        yield line


def _jsonl(path: Path, encoding: str, tell: Tell | None) -> Rows:
    lines = ((n, line) for n, line in numbered_lines(path, encoding, tell) if not line.isspace())

    def parsed(number: int, line: str) -> tuple[str, Mapping[str, Any]]:
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"{path}, line {number}: no JSON ({error.msg}); each line must hold one object."
            ) from error
        except ValueError as error:  # Python does not convert numbers of thousands of digits
            raise ValueError(
                f"{path}, line {number}: a number is too long; put it in quotes."
            ) from error
        except RecursionError as error:
            fault = "brackets are nested too deeply; each line must hold one object"
            raise ValueError(f"{path}, line {number}: {fault}.") from error
        if HALF_CHARACTER.search(line) and not _is_text(row):
            fault = "holds half a character (\\ud800 to \\udfff alone)"
            raise ValueError(f"{path}, line {number}: {fault}; write the file again as UTF-8.")
        if not isinstance(row, dict):
            raise ValueError(
                f'{path}, line {number}: expected an object such as {{"text": ...}}, got'
                f" {line.strip()[:40]!r}."
            )
        return f"{path}, line {number}", row

    try:
        first = parsed(*next(lines))
    except StopIteration:
        raise ValueError(
            f"{path} holds only empty lines; give a file with documents in it."
        ) from None

    def rows() -> Iterator[tuple[str, Mapping[str, Any]]]:
        yield first
        for number, line in lines:
            yield parsed(number, line)

    return Rows(str(path), list(first[1]), rows())


def _is_text(row: Any) -> bool:
    """Whether all text of a row can be written again."""
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _parquet(path: Path, tell: Tell | None) -> Rows:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ModuleNotFoundError(
            "Parquet files need the package pyarrow; install it with: pip install 'topoi[arrow]'"
        ) from error
    with _parquet_errors(path):
        file = pyarrow.parquet.ParquetFile(path, page_checksum_verification=True)
        columns, n_rows = file.schema_arrow.names, file.metadata.num_rows

    def rows() -> Iterator[tuple[str, Mapping[str, Any]]]:
        done = 0
        with _parquet_errors(path):
            batches = file.iter_batches(batch_size=1024)
        while True:
            with _parquet_errors(path, f" after row {done}"):
                batch = next(batches, None)
                found = [] if batch is None else batch.to_pylist()
            if batch is None:
                break
            for row in found:
                yield f"{path}, row {done}", row
                done += 1
            if tell is not None:
                tell(done, n_rows)

    return Rows(str(path), columns, rows())


@contextmanager
def _parquet_errors(path: Path, place: str = "") -> Iterator[None]:
    """What pyarrow finds wrong, as one sentence; a damaged file fails in many ways."""
    try:
        yield
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        fault = f"is not a Parquet file, or it is damaged{place} ({reason.rstrip('.')})"
        raise ValueError(f"{path} {fault}; get a whole copy.") from error


def rows_in_memory(source: Any, tell: Tell | None) -> Rows:
    """Rows of a pandas or polars frame or column, or of an iterable of texts or dictionaries."""
    if hasattr(source, "columns") and hasattr(source, "shape"):
        columns = list(map(str, source.columns))
        values = (
            [column for _, column in source.items()]
            if hasattr(source, "items")
            else [source[name] for name in source.columns]
        )
        records: Iterable[Mapping[str, Any]] = (
            dict(zip(columns, cells, strict=True))
            for cells in zip(*map(as_list, values), strict=True)
        )
        return Rows("The frame", columns, _numbered(records, len(source), tell))
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
    records = (row if isinstance(row, Mapping) else {"text": row} for row in documents)
    return Rows("The list", columns, _numbered(records, len(documents), tell))


def _numbered(
    records: Iterable[Mapping[str, Any]], total: int, tell: Tell | None
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for i, row in enumerate(records):
        if tell is not None and i % LOOK_EVERY == 0:
            tell(i, total)
        yield f"Document {i}", row


def pairs_in_file(path: str | Path) -> Iterator[tuple[str, str]]:
    """Pairs of ids, one a line: separated by commas in .csv, tabs in .tsv, otherwise blanks."""
    path = existing(path)
    suffix = stem_and_suffix(path)[1]
    delimiter = {".csv": ",", ".tsv": "\t"}.get(suffix)
    for number, line in numbered_lines(path):
        try:
            fields = (
                line.split() if delimiter is None else next(csv.reader([line], delimiter=delimiter))
            )
        except csv.Error as error:
            raise ValueError(f"{path}, line {number}: {error}; expected two ids.") from error
        if len(fields) < 2 and line.strip():
            raise ValueError(f"{path}, line {number}: expected two ids, got {line.strip()[:40]!r}.")
        if line.strip():
            yield fields[0].strip(), fields[1].strip()


# -------------------------------------------------------------------------------------------- cells


def missing(value: Any) -> bool:
    """None, NaN, or pandas' NA."""
    return value is None or (
        not isinstance(value, str | list | tuple | np.ndarray)
        and (str(value) in ("nan", "<NA>", "NaT"))
    )


def as_list(values: Any) -> list[Any]:
    refuse_masked(values, "The list")
    return values.to_list() if hasattr(values, "to_list") else list(values)


def as_text(row: Mapping[str, Any], column: str, where: str) -> str:
    if column not in row:
        raise ValueError(
            f"{where}: there is no {column!r}; every document needs its text, if only an empty one."
        )
    value = row[column]
    if missing(value):
        return ""
    if not isinstance(value, str):
        cure = (
            " Join tokens by ' '.join(tokens); bags of words are read by"
            " topoi.io.formats.from_gensim(bags, dictionary)."
            if isinstance(value, list | tuple)
            else ""
        )
        raise ValueError(
            f"{where}: {column!r} holds a {type(value).__name__}, {str(value)[:40]!r}; expected"
            f" text.{cure}"
        )
    return composed(value)


def as_id(value: Any, where: str, first_with: dict[str, str]) -> str:
    """The id as text; no two documents may share one."""
    name = "" if missing(value) else _plain(value, where)
    if not name:
        raise ValueError(f"{where}: the id is missing; every document needs one.")
    if name in first_with:
        raise ValueError(
            f"{where}: the id {name!r} is taken by {first_with[name]}; every document needs one of"
            " its own."
        )
    first_with[name] = where
    return name


def as_date(value: Any, where: str) -> str:
    """The date as text.

    Text stays as it is; a time at midnight is only a date, and 1848.0 is a year.
    """
    if missing(value):
        return ""
    return value if isinstance(value, str) else MIDNIGHT.sub("", _plain(value, where))


def as_names(value: Any, separator: str, where: str) -> list[str]:
    """Several names in one cell: a list, a JSON list, or text with separators."""
    if missing(value):
        return []
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("[") and text.endswith("]"):
            with suppress(ValueError, RecursionError):  # text that only looks like a list
                value = json.loads(text)
    if isinstance(value, str):
        parts: Iterable[Any] = value.strip().split(separator)
    else:
        several = isinstance(value, Iterable) and not isinstance(value, bytes | Mapping)
        parts = value if several else [value]
    names = [_plain(part, where) for part in parts if not missing(part)]
    return list(dict.fromkeys(name for name in names if name))


def _plain(value: Any, where: str) -> str:
    """A cell as text; 3.0 is 3, as frames turn whole numbers with gaps into floats."""
    if isinstance(value, bytes | Mapping | list | tuple | np.ndarray):
        got = f"a {type(value).__name__}, {str(value)[:40]!r}"
        raise ValueError(f"{where}: holds {got}, where a name, an id or a date is due; give text.")
    return (
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
    )
