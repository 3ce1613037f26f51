"""What commands print: notes, tables, JSON, progress.

Everything that commands print passes here: words, ids, names and errors come from data, and a
terminal obeys some characters.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from topoi.printable import printable, printable_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.table import Table
    from rich.text import Text


def note(message: str) -> None:
    """A word to the person at the terminal, never to a script that reads stdout."""
    typer.echo(printable(message, keep="\n"), err=True)


def announce_compilation() -> None:
    """Say that kernels are compiled, if that happens."""
    from topoi.infer.kernels.cache import on_first_compilation

    on_first_compilation(
        lambda: note("Compiling kernels (first run on this machine, up to half a minute) ...")
    )


def show_json(value: object) -> None:
    unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    typer.echo(printable_json(value, ascii_only=not unicode))


def show_csv(text: str) -> None:
    """Rows for a script or a person; what a terminal would obey is spelled out."""
    sys.stdout.write(printable(text, keep="\n\t"))


def show_text(text: str) -> None:
    """Text in lines of its own, however long; what a terminal would obey is spelled out."""
    typer.echo(printable(text, keep="\n\t"))


def show(*things: Table | Text | str) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console()
    for thing in things:
        console.print(Text(printable(thing, keep="\n")) if isinstance(thing, str) else thing)


def screen_width() -> int:
    """Characters in a line of the terminal, or of what a script reads."""
    from rich.console import Console

    return Console().width


def plain_table(
    title: str, *columns: str, rows: Iterable[Sequence[object]], whole: Sequence[str] = ()
) -> Table:
    """A table whose title, columns and cells are shown as they are: brackets are no markup.

    whole: columns whose cells are never broken.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(printable(title), style="table.title"))
    for column in columns:
        table.add_column(Text(printable(column)), no_wrap=column in whole)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def shows_colours() -> bool:
    """Whether stdout is a terminal with colours that are not turned off."""
    from rich.console import Console

    console = Console()
    return console.is_terminal and console.color_system is not None and not console.no_color


def make_encodable() -> None:
    """Let standard output spell out what its encoding lacks, as standard error does."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr if that is a terminal, otherwise nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("elapsed,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
