"""The `topoi` command, a thin shell over the public API. Heavy imports wait until a command runs, so that --help answers at once."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from topoi import __version__
from topoi.cli.apply import choose, convert, evaluate, report, transform
from topoi.cli.demo import demo
from topoi.cli.fit import fit
from topoi.cli.shell import DEBUG, command, show_any_character
from topoi.cli.show import authors, links, topics

__all__ = ["app", "main"]

app = typer.Typer(help="Learn topics from a pile of documents, by belief propagation.", no_args_is_help=True, add_completion=False)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"topoi {__version__}")
        raise typer.Exit


@app.callback()
def _topoi(
    debug: Annotated[bool, typer.Option("--debug", help=f"Show where an error comes from (also with {DEBUG}=1).")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    if debug:
        os.environ[DEBUG] = "1"


for function in (demo, fit, topics, transform, evaluate, report, choose, authors, links, convert):
    command(app)(function)


def main() -> None:
    show_any_character()
    app()
