"""How a function becomes a command: groups of options spread out, errors in one sentence."""

from __future__ import annotations

import functools
import inspect
import os
import re
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

import typer
from typer.core import TyperGroup

from topoi.cli.output import note
from topoi.printable import printable

DEBUG = "TOPOI_DEBUG"
BAD_INPUT = (ValueError, FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError)

# Parameters that errors of the library name, and what they are called here.
OPTIONS = {
    "authors": "--authors",
    "background_topics": "--background",
    "batch_size": "--batch-size",
    "by": "--by",
    "dates": "--dates",
    "doc_names": "--doc-names",
    "form": "--format",
    "groups": "--group",
    "init": "--init",
    "labels": "--labels",
    "keep_text": "--keep-text",
    "layer": "--layer",
    "links": "--links",
    "max_df": "--max-df",
    "max_iter": "--max-iter",
    "min_df": "--min-df",
    "n_components": "--n-components",
    "n_jobs": "--jobs",
    "overwrite": "--force",
    "random_state": "--seed",
    "rule": "--rule",
    "schedule": "--schedule",
    "seeds": "--seeds",
    "stop_words": "--stop-words",
    "split_long": "--split-long",
    "text": "--text",
    "tol": "--tol",
    "weighting": "--weighting",
    "zero_based": "--zero-based",
}


def command(app: typer.Typer) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as a command of `app`: groups of options spread out, errors in one
    sentence.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        app.command()(_guarded(_spread(function)))
        return function

    return register


def _spread(function: Callable[..., None]) -> Callable[..., None]:
    """`function` with the fields of each data class among its parameters as parameters of their
    own.
    """
    signature = inspect.signature(function, eval_str=True)
    groups: dict[str, Any] = {
        p.name: p.annotation for p in signature.parameters.values() if is_dataclass(p.annotation)
    }
    parameters = [
        p.replace(kind=p.KEYWORD_ONLY)
        for p in signature.parameters.values()
        if p.name not in groups
    ]
    for kind in groups.values():
        hints = get_type_hints(kind, include_extras=True)
        parameters += [
            inspect.Parameter(
                f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=hints[f.name]
            )
            for f in fields(kind)
        ]

    @functools.wraps(function)
    def spread(**given: object) -> None:
        made = {
            name: kind(**{f.name: given.pop(f.name) for f in fields(kind)})
            for name, kind in groups.items()
        }
        function(**given, **made)

    spread.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    spread.__annotations__ = {p.name: p.annotation for p in parameters}
    return spread


def _guarded(function: Callable[..., None]) -> Callable[..., None]:
    """Errors as one sentence on stderr: exit code 2 for bad input, 1 for anything else.

    Warnings become notes.
    """

    @functools.wraps(function)
    def guarded(**given: object) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default", UserWarning)
                warnings.showwarning = lambda message, *_: note(in_options(str(message)))
                function(**given)
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt:
            _leave("Stopped by Ctrl-C; nothing was written.", 1)
        except BAD_INPUT as error:
            _leave(in_options(str(error)), 2, error)
        except (OSError, MemoryError, ImportError) as error:
            _leave(in_options(str(error)) or type(error).__name__, 1, error)
        except Exception as error:
            _leave(
                f"Unexpected {type(error).__name__}: {error}; run `topoi --debug …` to see where.",
                1,
                error,
            )

    return guarded


def in_options(message: str) -> str:
    """A message of the library with the options of the command in place of its parameters.

    `overwrite=True` becomes `--force`, `rule='bp'` becomes `--rule bp`. Rules with options exist in
    Python only.
    """
    alone = "|".join(name for name in OPTIONS if "_" in name)
    message = re.sub(
        r"(?:\brule=)?\btopoi\.rules\.(?=\w+\()", "in Python rule=topoi.rules.", message
    )
    message = re.sub(
        rf"(?<![\w./'\"-])({'|'.join(OPTIONS)})="
        r"(True\b|\.\.\.|'[^']*'|\['[^']*'\]|\w+(?!\w|\(|\.\w))",
        lambda found: " ".join(
            [OPTIONS[found[1]], *([found[2].strip("'[]")] * (found[2] not in ("True", "...")))]
        ),
        message,
    )
    return re.sub(
        rf"(?<![\w./'\"-])({alone})(?![\w=/'\"-]|\.\w)", lambda found: OPTIONS[found[1]], message
    )


def _leave(message: str, code: int, error: Exception | None = None) -> None:
    if error is not None and os.environ.get(DEBUG):
        note("".join(traceback.format_exception(error)).rstrip())
    else:
        note(f"Error: {' '.join(message.split())}")
    raise typer.Exit(code)


class Commands(TyperGroup):
    """The commands of an app.

    Errors in options repeat what was typed, such as a hostile file name.
    """

    def make_context(self, *given: Any, **more: Any) -> Any:
        with _printable_errors():
            return super().make_context(*given, **more)

    def invoke(self, context: Any) -> Any:
        with _printable_errors():
            return super().invoke(context)


@contextmanager
def _printable_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if isinstance(
            message := getattr(error, "message", None), str
        ):  # Click's, or Typer's copy of it
            error.message = printable(message, keep="\n")  # type: ignore[attr-defined]
        raise
