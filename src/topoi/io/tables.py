"""Rows of documents in files: folders of texts, CSV, JSON, Parquet, a document per line."""

from __future__ import annotations

import codecs
import csv
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from topoi.io.folders import SUFFIXES, files_rows, folder_rows
from topoi.io.lines import Progress, numbered_lines, stem_and_suffix
from topoi.io.registry import TEXT_FORMATS, suffixes
from topoi.io.rows import Rows

__all__ = ["FORMS", "open_files", "open_rows"]

FORMS = {suffix: name for name, ends in TEXT_FORMATS.items() for suffix in ends}
WITH_PANDOC = "turn it into text first, for instance with pandoc"
SAVE_AS_CSV = "save the sheet as .csv"
OTHER_PROGRAMS = {  # that make something of these which topoi reads
    ".pdf": "turn it into text first, for instance with pdftotext",
    **dict.fromkeys((".doc", ".docx", ".odt", ".rtf", ".epub", ".tex"), WITH_PANDOC),
    **dict.fromkeys((".xls", ".xlsx", ".ods"), SAVE_AS_CSV),
}
LONGEST_CELL = 2**27  # characters: a quote that is never closed takes in the rest of the file
SEPARATOR = re.compile('"?sep=(.)"?', re.IGNORECASE)  # a first line that Excel writes
HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")  # as JSON writes it


def open_rows(path: Path, form: str | None, encoding: str, progress: Progress | None) -> Rows:
    """The rows of a folder or file.

    Files are opened when the rows are walked, except for their header.
    """
    encoding = _encoding(encoding)
    if path.is_dir():
        return folder_rows(path, encoding, progress)
    suffix = stem_and_suffix(path)[1]
    form = form or FORMS.get(suffix)
    if form in ("csv", "tsv"):
        return _csv(path, encoding, "\t" if form == "tsv" else None, progress)
    if form == "jsonl":
        return _jsonl(path, encoding, progress)
    if form == "json":
        return _json(path, encoding, progress)
    if form == "document":
        return files_rows([path], path.parent, encoding, progress)
    if form == "parquet":
        return _parquet(path, progress)
    if form == "lines":
        lines = (
            (f"{path}, line {n}", {"text": line})
            for n, line in numbered_lines(path, encoding, progress)
        )
        return Rows(str(path), ["text"], lines)
    if suffix in OTHER_PROGRAMS:
        raise ValueError(
            f"{path}: topoi does not read {suffix} files; {OTHER_PROGRAMS[suffix]}, and read that."
        )
    raise ValueError(
        f"{path}: the name does not say what it holds; known are folders of .txt, .md and .html,"
        " .csv, .tsv, .json, .jsonl, .parquet, .txt (one document a line), and counts"
        f" ({', '.join(suffixes())}, docword.*.txt); name the format with form=..."
    )


def _encoding(encoding: str) -> str:
    """An encoding that Python knows; refused if it does not."""
    try:
        codecs.lookup(encoding)
        "".encode(encoding)  # base64, for instance, is a codec but no encoding of text
    except (LookupError, ValueError):
        raise ValueError(
            f"There is no encoding {encoding!r}; name one that Python knows, such as utf-8,"
            " latin-1, cp1252 or utf-16."
        ) from None
    # With or without a byte order mark.
    return "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding


def open_files(
    paths: Sequence[Path], form: str | None, encoding: str, progress: Progress | None
) -> Rows:
    """The rows of several files, one after the other.

    Files of text are one document each, unless `form` says that each line is one.
    """
    if form is None and all(path.suffix.lower() in SUFFIXES for path in paths):
        form = "document"
    if form == "document":
        inside = Path(os.path.commonpath([path.parent for path in paths]))
        return files_rows(list(paths), inside, _encoding(encoding), progress)
    parts = [open_rows(path, form, encoding, progress) for path in paths]
    columns = [name for name in parts[0].columns if all(name in part.columns for part in parts[1:])]
    name = f"{paths[0]} and {len(paths) - 1} more"
    certain = all(part.ids_are_certain for part in parts)
    return Rows(name, columns, chain.from_iterable(parts), ids_are_certain=certain)


def _csv(path: Path, encoding: str, delimiter: str | None, progress: Progress | None) -> Rows:
    csv.field_size_limit(LONGEST_CELL)  # documents are longer than the 128 KiB that csv allows
    lines = numbered_lines(path, encoding, progress, newline="")
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

    def rows() -> Iterator[tuple[str, Mapping[str, object]]]:
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


def _jsonl(path: Path, encoding: str, progress: Progress | None) -> Rows:
    lines = (
        (n, line) for n, line in numbered_lines(path, encoding, progress) if not line.isspace()
    )

    def parsed(number: int, line: str) -> tuple[str, Mapping[str, object]]:
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

    def rows() -> Iterator[tuple[str, Mapping[str, object]]]:
        yield first
        for number, line in lines:
            yield parsed(number, line)

    return Rows(str(path), list(first[1]), rows())


def _json(path: Path, encoding: str, progress: Progress | None) -> Rows:
    """A list of objects or of texts, read whole."""
    try:
        found = json.loads("".join(line for _, line in numbered_lines(path, encoding, progress)))
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path}, line {error.lineno}: not JSON ({error.msg}); one object per line is"
            " form='jsonl'."
        ) from error
    except (ValueError, RecursionError) as error:
        fault = "a number is too long, or brackets are nested too deeply"
        raise ValueError(f"{path}: {fault}; write a list of objects.") from error
    if not isinstance(found, list) or not found:
        raise ValueError(
            f"{path} holds a {type(found).__name__}; expected a list of documents, such as"
            ' [{"text": ...}, ...] or ["...", ...].'
        )
    if not _is_text(found):
        raise ValueError(f"{path} holds half a character; write the file again as UTF-8.")
    rows = [row if isinstance(row, dict) else {"text": row} for row in found]
    where = ((f"{path}, entry {i}", row) for i, row in enumerate(rows))
    return Rows(str(path), list(rows[0]), where)


def _is_text(row: object) -> bool:
    """Whether all text of a row can be written again."""
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _parquet(path: Path, progress: Progress | None) -> Rows:
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

    def rows() -> Iterator[tuple[str, Mapping[str, object]]]:
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
            if progress is not None:
                progress(done, n_rows)

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
