"""What all commands share: options of reading, one-sentence errors, progress bars, tables or JSON.
Heavy imports wait until a command runs.
"""

from __future__ import annotations

import functools
import inspect
import io
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperGroup

from topoi.io import registry
from topoi.io.registry import TEXT_FORMATS
from topoi.printable import printable, printable_json

if TYPE_CHECKING:
    from rich.table import Table

    from topoi.corpus import Corpus

DEBUG = "TOPOI_DEBUG"
FEW_WORDS = 3  # per document: less is hardly text
BAD_INPUT = (ValueError, FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError)

# Parameters that errors of the library name, and what they are called here.
OPTIONS = {
    "authors": "--authors",
    "background_topics": "--background",
    "batch_size": "--batch-size",
    "form": "--format",
    "id": "--id",
    "init": "--start",
    "labels": "--labels",
    "layer": "--layer",
    "links": "--links",
    "max_iter": "--iterations",
    "n_components": "--topics",
    "n_jobs": "--jobs",
    "overwrite": "--force",
    "random_state": "--seed",
    "rule": "--rule",
    "schedule": "--schedule",
    "text": "--text",
    "tol": "--tol",
    "weighting": "--weighting",
    "zero_based": "--zero-based",
}

Input = Annotated[
    Path,
    typer.Argument(
        help=(
            "A folder of .txt files, .csv, .tsv, .jsonl, .parquet, .txt (a document a line), or"
            " counts."
        ),
        show_default=False,
    ),
]
Model = Annotated[Path, typer.Argument(help="A model that `topoi fit` wrote.", show_default=False)]
Force = Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same topics.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1, help="Threads (default: all cores). Results do not depend on it.", show_default=False
    ),
]


def choice(name: str, values: Iterable[str]) -> Any:
    """An Enum of `values`, which is how Typer offers choices."""
    return Enum(name, {value.replace("-", "_"): value for value in values})


if TYPE_CHECKING:
    Format = Enum
    Counts = Enum
else:
    Format = choice("Format", [*TEXT_FORMATS, *registry.names()])  # where a name does not say it
    Counts = choice("Counts", registry.names())


def _option(panel: str, text: str, *names: str, **more: Any) -> Any:
    return typer.Option(
        *names,
        help=text,
        rich_help_panel=panel,
        show_default=more.pop("show_default", False),
        **more,
    )


COLUMNS, WORDS = "Where things are in the input", "Which words count (for texts)"


@dataclass
class Columns:
    """Where the texts, ids, authors … of the input stand."""

    text: Annotated[
        str | None, _option(COLUMNS, "Column of the text (default: 'text', or the only one).")
    ] = None
    id: Annotated[str | None, _option(COLUMNS, "Column of document ids.")] = None
    authors: Annotated[
        str | None,
        _option(COLUMNS, "Column of authors; several are separated by ';' or are a JSON list."),
    ] = None
    labels: Annotated[
        str | None, _option(COLUMNS, "Column of labels; several as with authors.")
    ] = None
    links: Annotated[
        str | None,
        _option(COLUMNS, "Column of ids of linked documents, or a file of pairs of ids."),
    ] = None
    date: Annotated[str | None, _option(COLUMNS, "Column of dates, kept as they are.")] = None
    separator: Annotated[
        str,
        _option(
            COLUMNS, "What separates several authors, labels or links in a cell.", show_default=True
        ),
    ] = ";"
    encoding: Annotated[str, _option(COLUMNS, "Encoding of texts.", show_default=True)] = "utf-8"
    format: Annotated[
        Format | None, _option(COLUMNS, "What the input is, if its name does not say so.")
    ] = None
    layer: Annotated[
        str | None, _option(COLUMNS, "Of .h5ad, the layer that holds the counts (default: X).")
    ] = None
    zero_based: Annotated[
        bool,
        _option(
            COLUMNS, "Columns of an SVMlight file are numbered from 0, not from 1.", "--zero-based"
        ),
    ] = False


@dataclass
class Words:
    """Which words of texts are counted."""

    stop_words: Annotated[
        str,
        _option(
            WORDS,
            "'english', 'none', a file with a word on each line, or 'english,FILE'.",
            show_default=True,
        ),
    ] = "english"
    min_df: Annotated[
        str,
        _option(
            WORDS, "Least number (2) or share (0.01) of documents a word is in.", show_default=True
        ),
    ] = "2"
    max_df: Annotated[
        str,
        _option(
            WORDS,
            "Greatest number (500) or share (0.5) of documents a word is in.",
            show_default=True,
        ),
    ] = "0.5"
    ngrams: Annotated[
        str, _option(WORDS, "Length of phrases: 1, or 1-2 for words and pairs.", show_default=True)
    ] = "1"
    max_words: Annotated[
        int | None, _option(WORDS, "Keep only so many words, the most frequent.", min=1)
    ] = None
    token_pattern: Annotated[str | None, _option(WORDS, "Regular expression of a word.")] = None
    keep_case: Annotated[bool, _option(WORDS, "Do not turn text to lower case.", "--keep-case")] = (
        False
    )
    vocabulary: Annotated[
        Path | None,
        _option(
            WORDS, "File of the words to count, one a line; for counts, the words of their columns."
        ),
    ] = None


# ----------------------------------------------------------------------------------------- commands


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
    def spread(**given: Any) -> None:
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
    def guarded(**given: Any) -> None:
        try:
            with warnings.catch_warnings():
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
        rf"(?<![\w./'\"-])({'|'.join(OPTIONS)})=(True\b|\.\.\.|'[^']*'|\w+(?!\w|\(|\.\w))",
        lambda found: " ".join(
            [OPTIONS[found[1]], *([found[2].strip("'")] * (found[2] not in ("True", "...")))]
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


# ----------------------------------------------------------------------------------------- printing
# Everything that commands print passes here: words, ids, names and errors come from data, and a
# terminal obeys some characters.


def note(message: str) -> None:
    """A word to the person at the terminal, never to a script that reads stdout."""
    typer.echo(printable(message, keep="\n"), err=True)


def show_json(value: Any) -> None:
    unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    typer.echo(printable_json(value, ascii_only=not unicode))


def show_csv(text: str) -> None:
    """Rows for a script or a person; what a terminal would obey is spelled out."""
    sys.stdout.write(printable(text, keep="\n\t"))


def show(*things: Table | str) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console()
    for thing in things:
        console.print(Text(printable(thing, keep="\n")) if isinstance(thing, str) else thing)


def plain_table(title: str, *columns: str, rows: Any) -> Table:
    """A table whose title and cells are shown as they are: brackets in words are no markup."""
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, title=Text(printable(title), style="table.title"))
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


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
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


# ------------------------------------------------------------------------------------------ reading


def read_corpus(
    path: Path, columns: Columns, words: Words | None = None, like: Any = None
) -> Corpus:
    """The corpus in `path`.

    like: a fitted model whose words are counted, instead of new ones by the options `words`.
    """
    from topoi.io import formats
    from topoi.io.read import read

    given = {f.name: getattr(columns, f.name) for f in fields(Columns) if f.name != "format"}
    form = columns.format.value if columns.format else None
    counts = form in formats.FORMATS or (
        form is None and path.is_file() and formats.detect(path) is not None
    )
    vocabulary = words.vocabulary if words else None
    if (
        counts
        and words
        and any(
            getattr(words, f.name) != f.default for f in fields(Words) if f.name != "vocabulary"
        )
    ):
        raise ValueError(
            f"{path} holds counts, so the options that choose words are of no use; leave them out,"
            " or give texts."
        )
    if (
        like is not None
        and words
        and any(getattr(words, f.name) != f.default for f in fields(Words))
    ):
        raise ValueError(
            "The words are those of the model to start with, so the options that choose words are"
            " of no use; leave them out."
        )
    vectorizer = (
        None
        if counts
        else vectorizer_of(like)
        if like is not None
        else _vectorizer(words or Words())
    )
    with progress_bar("Reading counts" if counts else "Reading and counting words") as tell:
        corpus = read(
            path,
            **given,
            vectorizer=vectorizer,
            vocabulary=vocabulary if counts else None,
            form=form,
            tell=tell,
        )
    if like is not None:
        corpus = _matched(corpus, like, path)
    if not counts and like is None and corpus.n_tokens < FEW_WORDS * corpus.n_docs:
        note(
            f"Documents have {corpus.n_tokens / corpus.n_docs:.1f} words that count on average. See"
            " --token-pattern, --min-df and --stop-words."
        )
    empty = int((corpus.counts.sum(axis=1) == 0).sum())
    if empty:
        note(f"{empty} of {corpus.n_docs} documents have none of the words that count.")
    return corpus


def inputs_of(input: Path, columns: Columns, words: Words | None = None) -> list[Path]:
    """Everything that `read_corpus` may read: files that no output may replace."""
    from topoi.io import formats

    found = [input]
    form = columns.format.value if columns.format else formats.detect(input)
    if form is not None and form in formats.FORMATS:
        beside = formats.vocabulary_path(input, form)
        found += [beside, beside.with_name(f"{beside.name}.gz"), beside.with_suffix(".tokens")]
    named = [columns.links, *(words.stop_words.split(",") if words else ())]
    found += [Path(name) for name in named if name and Path(name).is_file()]
    return found + ([words.vocabulary] if words and words.vocabulary else [])


def mention_unused(columns: Columns, *names: str) -> None:
    """Say which of the options `names` are given and have no use here."""
    given = [f"--{name}" for name in names if getattr(columns, name) is not None]
    if given:
        note(
            f"{' and '.join(given)} {'have' if len(given) > 1 else 'has'} no use here: this goes by"
            " the words alone."
        )


def _vectorizer(words: Words) -> Any:
    from topoi.io.patterns import is_safe_pattern
    from topoi.io.vectorize import TOKEN, make_vectorizer

    low, _, high = words.ngrams.partition("-")
    if (
        not low.isdecimal()
        or not (high or low).isdecimal()
        or not 1 <= int(low) <= int(high or low) <= 20
    ):
        raise ValueError(
            f"--ngrams is {words.ngrams!r}; expected a length such as 2, or a range such as 1-2, up"
            " to 20."
        )
    try:
        re.compile(words.token_pattern or TOKEN)
    except re.error as error:
        raise ValueError(
            f"--token-pattern {words.token_pattern!r} is not a regular expression ({error})."
        ) from error
    if not is_safe_pattern(words.token_pattern or TOKEN):
        raise ValueError(
            f"--token-pattern {words.token_pattern!r} is not one that a model file can keep: on"
            " some texts it could take forever. Use one "
            r"repeat of a set of characters, and parts behind a separator, such as"
            r" '\b[a-z]\w+(?:-\w+)*\b'."
        )
    return make_vectorizer(
        stop_words=words.stop_words,
        min_df=_number_or_share("--min-df", words.min_df),
        max_df=_number_or_share("--max-df", words.max_df),
        ngram_range=(int(low), int(high or low)),
        token_pattern=words.token_pattern or TOKEN,
        lowercase=not words.keep_case,
        max_features=words.max_words,
        vocabulary=words.vocabulary,
    )


def _number_or_share(option: str, value: str) -> float:
    """2 is a number of documents, 0.5 a share of them; so 1 is one document and 1.0 all of them."""
    try:
        number = float(value) if "." in value else int(value)
    except ValueError:
        number = -1
    if number < 0 or (isinstance(number, float) and number > 1):
        raise ValueError(
            f"{option} is {value!r}; expected a number of documents such as 5, or a share such as"
            " 0.05."
        )
    return number


def vectorizer_of(model: Any) -> Any:
    """What turns texts into the counts a model was fitted on."""
    from topoi.io.vectorize import make_vectorizer

    if model.vectorizer_ is not None:
        return model.vectorizer_
    if model.vocabulary_ is None:
        raise ValueError(
            "The model was fitted on counts without words, so it cannot read texts; give counts"
            " with the same columns."
        )
    note("The model was fitted on counts; texts are cut into words with the usual settings.")
    return make_vectorizer(stop_words=None, vocabulary=[str(word) for word in model.vocabulary_])


def _matched(corpus: Corpus, model: Any, path: Path) -> Corpus:
    """The corpus over the words of the model, in their order."""
    corpus = corpus.like(model.vocabulary_)
    if corpus.n_words != model.n_features_in_:
        raise ValueError(
            f"{path} has {corpus.n_words} words but the model was fitted with"
            f" {model.n_features_in_}; give the words of its columns."
        )
    return corpus


def load_model(path: Path) -> Any:
    """The model in a file, to be used on all cores: how many is never taken from a file."""
    from topoi.models.files import load

    model = load(path)
    model.n_jobs = -1
    return model
