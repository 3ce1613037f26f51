"""Options that several commands share, and the choices they offer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.choices import ON_ERROR
from topoi.io import registry
from topoi.io.registry import TEXT_FORMATS

Input = Annotated[
    Path,
    typer.Argument(
        help=(
            "A folder of .txt, .md or .html files, .csv, .tsv, .json, .jsonl, .parquet, .txt (a"
            " document a line), or counts; - with --format for standard input."
        ),
        show_default=False,
    ),
]
Inputs = Annotated[
    list[Path],
    typer.Argument(
        help=(
            "A folder of .txt, .md or .html files, .csv, .tsv, .json, .jsonl, .parquet, .txt (a"
            " document a line), or counts. Several files, 'news/*.csv', or - with --format for"
            " standard input."
        ),
        show_default=False,
    ),
]
Model = Annotated[Path, typer.Argument(help="A model that `topoi fit` wrote.", show_default=False)]
N_COMPONENTS = ("--n-components", "-k")  # the parameter of models, and its short form
Force = Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Many = Annotated[int, typer.Option("--number", "-n", min=1, help="How many to show.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")]
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
    from topoi.graph.seeds import Seeds

    Format = Enum
    Counts = Enum
    OnError = Enum
else:
    OnError = choice("OnError", ON_ERROR)
    Format = choice("Format", [*TEXT_FORMATS, *registry.names()])  # where a name does not say it
    Counts = choice("Counts", registry.names())


def option(panel: str, text: str, *names: str, **more: Any) -> Any:
    """An option of a group; `panel` is the heading under which help shows the group."""
    return typer.Option(
        *names,
        help=text,
        rich_help_panel=panel,
        show_default=more.pop("show_default", False),
        **more,
    )


STOP = OnError("raise")
COLUMNS, WORDS = "Where things are in the input", "Which words count (for texts)"
GUIDE = "What topics should be about"


@dataclass
class Columns:
    """Where the texts, names, authors … of the input stand."""

    text: Annotated[
        str | None, option(COLUMNS, "Column of the text (default: 'text', or the only one).")
    ] = None
    doc_names: Annotated[str | None, option(COLUMNS, "Column of names of documents.")] = None
    authors: Annotated[
        str | None,
        option(COLUMNS, "Column of authors; several are separated by ';' or are a JSON list."),
    ] = None
    labels: Annotated[
        str | None,
        option(COLUMNS, "Column of labels, several as with authors; 'folder' takes subfolders."),
    ] = None
    links: Annotated[
        str | None,
        option(COLUMNS, "Column of names of linked documents, or a file of pairs of names."),
    ] = None
    dates: Annotated[
        str | None, option(COLUMNS, "Column of dates, such as 2020-03-05, 2020-03 or 2020.")
    ] = None
    group: Annotated[
        list[str] | None,
        option(COLUMNS, "A further column to keep, such as the source. May be repeated."),
    ] = None
    separator: Annotated[
        str,
        option(
            COLUMNS, "What separates several authors, labels or links in a cell.", show_default=True
        ),
    ] = ";"
    encoding: Annotated[str, option(COLUMNS, "Encoding of texts.", show_default=True)] = "utf-8"
    format: Annotated[
        Format | None, option(COLUMNS, "What the input is, if its name does not say so.")
    ] = None
    split_long: Annotated[
        int | None,
        option(
            COLUMNS, "Cut longer texts into parts of about this many words: 'name [1]', …", min=1
        ),
    ] = None
    on_error: Annotated[
        OnError,
        option(
            COLUMNS,
            "What to do with a document whose name is missing or taken: stop, or leave it out.",
            "--on-error",
            show_default=True,
        ),
    ] = STOP
    layer: Annotated[
        str | None, option(COLUMNS, "Of .h5ad, the layer that holds the counts (default: X).")
    ] = None
    zero_based: Annotated[
        bool,
        option(
            COLUMNS, "Columns of an SVMlight file are numbered from 0, not from 1.", "--zero-based"
        ),
    ] = False


@dataclass
class Words:
    """Which words of texts are counted."""

    stop_words: Annotated[
        str,
        option(
            WORDS,
            "A language such as 'german', 'none', a file with a word on each line, or a"
            " comma-separated list of these.",
            "--stop-words",
            "--language",
            show_default=True,
        ),
    ] = "english"
    min_df: Annotated[
        str,
        option(
            WORDS,
            "Least number (2) or proportion (0.01) of documents a word is in.",
            show_default=True,
        ),
    ] = "2"
    max_df: Annotated[
        str,
        option(
            WORDS,
            "Greatest number (500) or proportion (0.5) of documents a word is in.",
            show_default=True,
        ),
    ] = "0.5"
    ngrams: Annotated[
        str,
        option(WORDS, "Length of n-grams: 1, or 1-2 for words and all pairs.", show_default=True),
    ] = "1"
    phrases: Annotated[
        bool,
        option(
            WORDS,
            "Count words that stand together far more often than by chance as one: new_york.",
            "--phrases",
        ),
    ] = False
    max_words: Annotated[
        int | None, option(WORDS, "Keep only this many words, the most frequent ones.", min=1)
    ] = None
    token_pattern: Annotated[str | None, option(WORDS, "Regular expression of a word.")] = None
    keep_case: Annotated[bool, option(WORDS, "Do not turn text to lower case.", "--keep-case")] = (
        False
    )
    vocabulary: Annotated[
        Path | None,
        option(
            WORDS, "File of the words to count, one a line; for counts, the words of their columns."
        ),
    ] = None


@dataclass
class Guide:
    """Words that topics should be about."""

    seeds: Annotated[
        Path | None,
        option(GUIDE, 'JSON file of words by topic name: {"economy": ["tax", "budget"]}.'),
    ] = None
    seed_strength: Annotated[
        float | None,
        option(
            GUIDE,
            "Tokens by which a seed word is stronger in its topic (default: as many as the word"
            " has, at most 0.5 % of an average topic).",
            min=0,
        ),
    ] = None

    def given(self) -> Seeds | None:
        """The seeds, or None."""
        if self.seeds is None:
            if self.seed_strength is not None:
                raise ValueError("--seed-strength says how strong --seeds are; give these, too.")
            return None
        from topoi.graph.seeds import Seeds, seed_strengths
        from topoi.io.json_files import read_object

        words = read_object(self.seeds, "lists of words by topic name")
        seeds = Seeds(words, self.seed_strength)
        seed_strengths(seeds)  # refuses what makes no sense
        return seeds


def tolerance(value: str) -> float | str:
    """A stop rule of the paper by its name, or a number."""
    if value in ("paper", "parameters"):
        return value
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ValueError(
            f"--tol is {value!r}; expected a number >= 0, such as 1e-4, or 'paper' or 'parameters'."
        )
    return number
