"""Tables of the library as commands give them: on the screen, as JSON, or in a file."""

from __future__ import annotations

import csv
import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from topoi.cli.output import note, plain_table, screen_width, show, show_json

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "SUFFIXES",
    "Row",
    "TableFile",
    "as_csv",
    "check_table_file",
    "give_table",
    "rows_of",
    "write_parts",
    "write_rows",
]

SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")
PERCENT = ("proportion", "score", "prevalence", "similarity")  # columns in per cent
BOUNDS = ("low", "high")  # of a prevalence, in per cent as well
LONGEST_TEXT = 100  # characters of a cell on the screen
LEAST_TEXT = 20  # characters in a line of a text in a table
WIDE_WORD = 12  # characters: longer words may be broken
BROKEN_WORD = 5  # characters: what is left of a word beside numbers

Row: TypeAlias = dict[str, Any]  # of a table, by column: text, numbers, lists of them

TableFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="A .csv, .tsv, .jsonl or .parquet file for the table (default: show it).",
        show_default=False,
    ),
]


def check_table_file(
    output: Path | None, inputs: Sequence[Path], force: bool, suffixes: Sequence[str] = SUFFIXES
) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    from topoi.storage.files import check_outputs

    if output is None:
        return
    check_outputs([output], inputs=inputs, overwrite=force)
    if output.suffix.lower() not in suffixes:
        raise ValueError(
            f"{output}: cannot write {output.suffix or 'a file without suffix'}; end the name in"
            f" {', '.join(suffixes[:-1])} or {suffixes[-1]}."
        )
    if output.suffix.lower() == ".parquet":
        _pyarrow()


def write_rows(rows: list[Row], output: Path) -> None:
    """Write rows of one form to a file whose name `check_table_file` let pass."""
    write_parts([rows], output)


def write_parts(parts: Iterable[list[Row]], output: Path) -> int:
    """`write_rows` of one part after the other, without holding all of them. Returns how many rows
    there are.
    """
    from topoi.storage.files import atomic_write

    kind, n_rows = output.suffix.lower(), 0
    with atomic_write(output) as file, ExitStack() as stack:
        table: Any = None
        for rows in parts:
            if kind == ".parquet":
                arrow = _pyarrow()
                found = arrow.Table.from_pylist(rows, None if table is None else table.schema)
                if table is None:
                    writer = arrow.parquet.ParquetWriter(file, found.schema)
                    table = stack.enter_context(writer)
                table.write_table(found)
            elif kind == ".jsonl":
                lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
                file.write("".join(lines).encode())
            else:
                comma = "\t" if kind == ".tsv" else ","
                file.write(as_csv(rows, comma, header=not n_rows).encode())
            n_rows += len(rows)
    return n_rows


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ModuleNotFoundError(
            "Parquet files need the package pyarrow; install it with: pip install 'topoi[arrow]'"
        ) from error
    return pyarrow


def as_csv(rows: list[Row], delimiter: str = ",", *, header: bool = True) -> str:
    """Rows of one form as lines, the names of columns first, if there is a header."""
    text = StringIO()
    columns = list(rows[0]) if rows else []
    writer = csv.DictWriter(text, columns, delimiter=delimiter, lineterminator="\n")
    if header:
        writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def rows_of(table: pd.DataFrame) -> list[Row]:
    """A table as plain values; numbers to six digits, None where there is none."""
    return [
        {str(name): _plain(value) for name, value in row.items()}
        for row in table.to_dict("records")
    ]


def _plain(value: object) -> object:
    value = value.item() if hasattr(value, "item") else value
    if not isinstance(value, float):
        return value
    return None if value != value else float(f"{value:.6g}")


def give_table(
    table: pd.DataFrame,
    title: str,
    *,
    output: Path | None = None,
    as_json: bool = False,
    most: int | None = None,
) -> None:
    """Give a table to whoever asked: in a file, as JSON, or on the screen.

    most: rows on the screen; files and JSON have all.
    """
    rows = rows_of(table)
    if output is not None:
        write_rows(rows, output)
        if as_json:
            show_json({"file": str(output), "rows": len(rows)})
        else:
            note(f"Wrote {output}: {len(rows)} rows.")
        return None
    if as_json:
        show_json(rows)
        return None
    shown = rows if most is None else rows[:most]
    if len(shown) < len(rows):
        title = f"{title}: {len(shown)} of {len(rows):,} (all with -o FILE or --json)"
    columns = [str(name) for name in table.columns]
    columns = [name for name in columns if any(row[name] not in ("", None) for row in rows)]
    in_percent = PERCENT + (BOUNDS if "prevalence" in columns else ())
    cells = [[_cell(row[name], _first(name) in in_percent) for name in columns] for row in shown]
    numbers = [all(_is_number(row[name]) for row in shown) for name in columns]
    width = screen_width()
    if columns[:1] == ["document"] and _least_width(columns, cells, numbers) > width:
        return show(f"{title}\n", *_written_out(columns, cells, width))
    can = _least_width(columns, cells, numbers, BROKEN_WORD) <= width
    whole = [name for name, is_number in zip(columns, numbers, strict=True) if is_number and can]
    return show(plain_table(title, *columns, rows=cells, whole=whole))


def _is_number(value: object) -> bool:
    return value is None or isinstance(value, int | float)


def _least_width(
    columns: Sequence[str],
    cells: Sequence[Sequence[str]],
    numbers: Sequence[bool],
    widest: int = WIDE_WORD,
) -> int:
    """Characters in a line of a table in which numbers and words, up to `widest`, are whole."""
    least = 1 + (LEAST_TEXT if "text" in columns else 0)
    for place, (name, is_number) in enumerate(zip(columns, numbers, strict=True)):
        texts = [name, *(row[place] for row in cells)]
        words = texts if is_number else [word for text in texts for word in text.split()]
        longest = max(map(len, words), default=0)
        least += 3 + (longest if is_number else min(longest, widest))
    return least


def _written_out(
    columns: Sequence[str], cells: Sequence[Sequence[str]], width: int
) -> Iterator[str]:
    """Documents of which too much is known for a table, as lines: that, and the text."""
    for first, *others in cells:
        known = dict(zip(columns[1:], others, strict=True))
        text = known.pop("text", "")
        rest = ", ".join(f"{name} {value}" for name, value in known.items() if value)
        lines = [
            textwrap.fill(part, width, initial_indent="  ", subsequent_indent="  ")
            for part in (rest, text)
            if part
        ]
        yield "\n".join([f"{columns[0]} {first}", *lines])


def _first(name: str) -> str:
    """The kind of a column: "proportion" of "proportion_2" and "prevalence" of "prevalence in
    2020".
    """
    return name.partition("_")[0].partition(" ")[0]


def _cell(value: object, in_percent: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.1%}" if in_percent else f"{value:.4g}"
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
