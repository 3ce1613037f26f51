"""Rows of documents in files: folders of texts, CSV, JSON lines, Parquet, a document per line."""

from __future__ import annotations

import codecs
import csv
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from topoi.io.lines import Tell, numbered_lines, stem_and_suffix
from topoi.io.registry import TEXT_FORMATS
from topoi.io.rows import LOOK_EVERY, Rows

__all__ = ["FORMS", "open_rows"]

FORMS = {suffix: name for name, suffixes in TEXT_FORMATS.items() for suffix in suffixes}
LONGEST_CELL = 2**27  # characters: a quote that is never closed takes in the rest of the file
SEPARATOR = re.compile('"?sep=(.)"?', re.IGNORECASE)  # a first line that Excel writes
HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")  # as JSON writes it


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
