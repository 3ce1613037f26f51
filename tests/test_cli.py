"""The command's help, its choices, and the corpus it shows off with."""

from __future__ import annotations

import numpy as np
import pytest
from support import run
from typer.testing import CliRunner

import topoi
from topoi import datasets
from topoi.choices import RULES, SCHEDULES, WEIGHTINGS
from topoi.cli import app
from topoi.cli.fit import Rule, Schedule, Weighting
from topoi.cli.options import Counts
from topoi.cli.shell import OPTIONS, in_options
from topoi.io import formats


def test_help_lists_the_commands():
    result = run("--help")
    for name in (
        "demo",
        "fit",
        "topics",
        "transform",
        "evaluate",
        "report",
        "choose",
        "authors",
        "links",
        "convert",
        "warmup",
    ):
        assert name in result.output
    assert topoi.__version__ in run("--version").output


def test_demo_corpus_is_real():
    corpus = datasets.load_demo()
    assert corpus.n_docs > 1500
    # Whether or not its experimental parts are enabled.
    assert "sklearn.impute.IterativeImputer" not in corpus.doc_names
    assert corpus.links.nnz > 1000
    assert not corpus.links.diagonal().any()
    names = np.asarray(corpus.doc_names)
    butter = np.flatnonzero(names == "scipy.signal.butter")[0]
    assert "filter" in np.asarray(corpus.vocabulary)[corpus.counts[[butter]].indices]
    assert corpus.labels[butter] == ["scipy.signal"]
    assert any("Breiman" in author for row in corpus.authors for author in row)
    assert {"I Stegun", "A Stegun"} & set(corpus.authors.names) == {"I Stegun"}  # Irene A. Stegun


def test_demo_shows_four_models():
    result = run("demo", "--n-components", 10)
    for title in (
        "LDA:",
        "Author-topic model:",
        "Relational model:",
        "Labeled LDA:",
        "held-out perplexity",
    ):
        assert title in result.output


def test_bad_number_of_topics_is_refused():
    run("demo", "--n-components", 0, code=2)


def test_options_offer_what_the_library_has():
    """The command offers the names of the library, and every format of counts."""
    offered = [[member.value for member in kind] for kind in (Rule, Schedule, Weighting, Counts)]
    assert offered == [list(RULES), list(SCHEDULES), list(WEIGHTINGS), list(formats.FORMATS)]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("replaced with overwrite=True.", "replaced with --force."),
        ("Read documents with groups=['field'], or", "Read documents with --group field, or"),
        ("holds the text with text=....", "holds the text with --text."),
        ("Use rule='bp', or n_components.", "Use --rule bp, or --n-components."),
        (
            "try min_df 1, max_df 1.0, or stop_words='none'.",
            "try --min-df 1, --max-df 1.0, or --stop-words none.",
        ),
        ("more than max_iter=20. The model", "more than --max-iter 20. The model"),
        ("fewer topics (n_components)", "fewer topics (--n-components)"),
        (
            "or rule=topoi.rules.BP(messages='none').",
            "or in Python rule=topoi.rules.BP(messages='none').",
        ),
        ("/tmp/rule=bp.csv and 'max_iter'", "/tmp/rule=bp.csv and 'max_iter'"),
    ],
)
def test_errors_of_the_library_name_options_of_the_command(message, shown):
    assert in_options(message) == shown


def test_every_option_that_errors_name_exists():
    helped = "".join(
        CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200"}).output
        for command in (["fit"], ["convert"], ["time"])
    )
    for option in OPTIONS.values():
        assert option in helped


@pytest.mark.parametrize(
    ("typed", "place", "found"),
    [
        ("topoi rep", 1, ["report"]),
        ("topoi fit --split", 2, ["--split-long"]),
        ("topoi fit --rule s", 3, ["sibp"]),
    ],
)
def test_the_shell_completes_commands_options_and_choices(typed, place, found):
    asked = {"_TOPOI_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(place)}
    result = CliRunner().invoke(app, [], prog_name="topoi", env=asked)
    assert result.output.split() == found
    assert "--install-completion" in run("--help").output
