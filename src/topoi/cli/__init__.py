"""The `topoi` command, a thin shell over the public API.

Heavy imports wait until a command runs, so that --help answers at once.
"""

from __future__ import annotations

import os
import signal
from typing import Annotated

import typer

from topoi.cli.apply import convert, report, transform
from topoi.cli.demo import demo
from topoi.cli.edit import edit, tree, update
from topoi.cli.ensemble import ensemble
from topoi.cli.find import documents, find, similar
from topoi.cli.fit import fit
from topoi.cli.label import graph, label
from topoi.cli.measure import choose, evaluate, intrusion
from topoi.cli.output import make_encodable
from topoi.cli.shell import DEBUG, Commands, command
from topoi.cli.show import authors, links, topics
from topoi.cli.trends import effects, groups, time
from topoi.cli.warmup import warmup
from topoi.version import __version__

__all__ = ["app", "main"]

app = typer.Typer(
    help="Learn topics from a pile of documents, by belief propagation.",
    cls=Commands,
    no_args_is_help=True,
    add_completion=True,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"topoi {__version__}")
        raise typer.Exit


@app.callback()
def _topoi(
    debug: Annotated[
        bool, typer.Option("--debug", help=f"Show where an error comes from (also with {DEBUG}=1).")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    if debug:
        os.environ[DEBUG] = "1"


for function in (
    *(demo, fit, ensemble, topics, find, documents, similar, time, groups, effects, authors),
    *(links, edit, tree, update, transform, label, graph),
    *(evaluate, intrusion, report, choose, convert, warmup),
):
    command(app)(function)


def main() -> None:
    _end_cleanly()
    make_encodable()
    app()


def _end_cleanly() -> None:
    """Turn signals that end the process into an exit: temporary files are removed on the way."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _exit)  # what nohup ignores stays ignored


def _exit(number: int, frame: object) -> None:
    signal.signal(number, signal.SIG_IGN)  # once is enough: cleaning up must not be interrupted
    raise SystemExit(128 + number)
