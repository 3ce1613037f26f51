"""Words, ids, names, headers and file names that would drive a terminal, a page or Rich: shown, and
never obeyed.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from typer.testing import CliRunner

import topoi
from topoi import datasets
from topoi.cli import app
from topoi.printable import printable, printable_json

# Sets the clipboard, rings, is markup of Rich that does not close, a script, an emoji of Rich,
# reversed, C1, DEL, a line separator.
EVIL = "\x1b]52;c;aGk=\x07[/][red]<script>x</script>:smile:\u202eabc\u2066\x9b31m\x7f\u2028\x08\x1c"
ACTIVE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)  # all but the line feed
STYLE = re.compile(r"\x1b\[[0-9;]*m")
QUICK = ["--max-iter", "2", "--n-components", "2"]
WORDS = ["--token-pattern", r"\S+", "--keep-case", "--max-df", "1.0"]


def evil(name: str) -> str:
    return f"{name}{EVIL}{name}"


def word(i: int) -> str:
    return re.sub(r"\s", "", evil(f"w{i}"))


def run(*arguments, code=0, **environment):
    """The result of a command, none of whose output a terminal would obey."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], env=environment)
    assert result.exit_code == code, result.output
    styled = "FORCE_COLOR" in environment
    for stream in (result.stdout, result.stderr):
        assert not ACTIVE.search(STYLE.sub("", stream) if styled else stream), ascii(stream)
    return result


COLUMNS = {
    name: evil(name) for name in ("text", "doc-names", "authors", "labels", "links", "dates")
}
OPTIONS = [part for name, column in COLUMNS.items() for part in (f"--{name}", column)]
TEXT_AND_ID = [
    "--text",
    COLUMNS["text"],
    "--doc-names",
    COLUMNS["doc-names"],
    "--dates",
    COLUMNS["dates"],
]


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A table that is hostile in every field, under a hostile name, and a model of each kind."""
    folder = tmp_path_factory.mktemp("work") / "\x1b]52;c;eA==\x07\u202efolder"
    folder.mkdir()
    words = [word(i) for i in range(12)]
    rng = np.random.default_rng(0)
    with (folder / "t.jsonl").open("w") as file:
        for i in range(20):
            text = " ".join(rng.choice(words[:6] if i % 2 else words[6:], 12))
            cells = [
                text,
                evil(f"d{i}"),
                [evil(f"a{i % 3}")],
                [evil(f"l{i % 2}")],
                [evil(f"d{(i + 2) % 20}")],
                "2020",
            ]
            file.write(json.dumps(dict(zip(COLUMNS.values(), cells, strict=True))) + "\n")
    for kind in ("lda", "author", "relational", "labeled"):
        run(
            "fit",
            folder / "t.jsonl",
            *OPTIONS,
            *WORDS,
            *QUICK,
            "--model",
            kind,
            "-o",
            folder / f"{kind}.topoi",
        )
    run("topics", folder / "lda.topoi", "--name", f"0={evil('name')}")
    return folder


# Arguments of every command, with "{}" for the folder. Some are errors, which quote what they were
# given.
COMMANDS = {
    "fit": [
        (
            [
                "{}/t.jsonl",
                *OPTIONS,
                *WORDS,
                *QUICK,
                "--model",
                "lda",
                "-o",
                "{}/again.topoi",
                "--force",
            ],
            0,
        ),
        (["{}/t.jsonl", "--text", evil("missing")], 2),
        (["{}/t.jsonl", *TEXT_AND_ID[:2], "--doc-names", COLUMNS["labels"], "-o", "{}/x.topoi"], 2),
        (["{}/t.jsonl", *TEXT_AND_ID[:2], "--dates", COLUMNS["text"], "-o", "{}/x.topoi"], 2),
        (["{}/none.csv"], 2),
        (["{}/t.jsonl", "--rule", evil("rule")], 2),
        (["{}/t.jsonl", "--n-components", EVIL], 2),
        (["{}/t.jsonl", f"--{EVIL}"], 2),
        (["{}/t.jsonl", "--min-df", EVIL], 2),
        (["{}/t.jsonl", "--encoding", "\x1b]52;c;"], 2),
        (["{}/t.jsonl", *TEXT_AND_ID[:2], "--stop-words", EVIL], 2),
    ],
    "time": [
        (["{}/lda.topoi"], 0),
        (["{}/lda.topoi", "--topic", EVIL], 2),
    ],
    "groups": [
        (["{}/lda.topoi", "labels"], 0),
        (["{}/lda.topoi", EVIL], 2),
    ],
    "effects": [
        (["{}/lda.topoi", "labels"], 0),
        (["{}/lda.topoi", EVIL], 2),
    ],
    "find": [
        (["{}/lda.topoi", word(1)], 0),
        (["{}/lda.topoi", EVIL], 2),
    ],
    "documents": [
        (["{}/lda.topoi"], 0),
        (["{}/lda.topoi", "--topic", evil("name")], 0),
        (["{}/lda.topoi", "--topic", EVIL], 2),
        (["{}/lda.topoi", "-o", EVIL], 2),
    ],
    "similar": [
        (["{}/lda.topoi", evil("d1")], 0),
        (["{}/lda.topoi", EVIL], 2),
    ],
    "topics": [
        (["{}/lda.topoi", "--topic", "0"], 0),
        (["{}/lda.topoi", "--documents", "3"], 0),
        (["{}/labeled.topoi"], 0),
        (["{}/lda.topoi", "--name", EVIL], 2),
        (["{}/t.jsonl"], 2),
    ],
    "transform": [
        (["{}/lda.topoi", "{}/t.jsonl", *TEXT_AND_ID], 0),
        (["{}/lda.topoi", "{}/t.jsonl", *TEXT_AND_ID, "-o", EVIL], 2),
    ],
    "label": [
        (["{}/lda.topoi", "{}/t.jsonl", *TEXT_AND_ID], 0),
        (["{}/labeled.topoi", "{}/t.jsonl", *TEXT_AND_ID, "--labels", COLUMNS["labels"]], 0),
        (["{}/lda.topoi", "{}/t.jsonl", *TEXT_AND_ID, "--html", "{}/l.html", "--force"], 0),
        (["{}/lda.topoi", EVIL], 2),
    ],
    "graph": [
        (["{}/relational.topoi"], 0),
        (["{}/labeled.topoi", "--svg", "{}/g.svg", "--dot", "{}/g.dot", "--force"], 0),
        ([EVIL], 2),
    ],
    "evaluate": [
        (["{}/lda.topoi", "{}/t.jsonl", *TEXT_AND_ID], 0),
        (["{}/labeled.topoi", "{}/t.jsonl", *TEXT_AND_ID, "--labels", COLUMNS["labels"]], 0),
    ],
    "report": [
        (["{}/author.topoi", "-o", "{}/r.html", "--force"], 0),
        (["{}/lda.topoi", "-o", "{}/no/r.html"], 2),
    ],
    "intrusion": [
        (["{}/lda.topoi", "{}/t.jsonl", *TEXT_AND_ID], 0),
        (["{}/lda.topoi", "{}/t.jsonl", *TEXT_AND_ID, "-o", evil("s")], 2),
    ],
    "edit": [
        (["{}/lda.topoi", "--rename", f"1={evil('two')}", "-o", "{}/e.topoi", "--force"], 0),
        (["{}/lda.topoi", "--merge", evil("0")], 2),
    ],
    "tree": [(["{}/lda.topoi"], 0), (["{}/none.topoi"], 2)],
    "update": [
        (["{}/lda.topoi", "{}/t.jsonl", *TEXT_AND_ID[:2], "-o", "{}/u.topoi", "--force"], 0),
        (["{}/lda.topoi", "{}/t.jsonl", *TEXT_AND_ID, "-o", "{}/u.topoi", "--force"], 2),
        (["{}/labeled.topoi", "{}/t.jsonl", *TEXT_AND_ID, "-o", "{}/u2.topoi"], 2),
    ],
    "ensemble": [
        (
            [
                "{}/t.jsonl",
                *TEXT_AND_ID,
                *WORDS,
                "--n-components",
                "2",
                "--runs",
                "2",
                "--max-iter",
                "2",
                "-o",
                "{}/n.topoi",
                "--force",
            ],
            0,
        ),
    ],
    "choose": [
        (
            [
                "{}/t.jsonl",
                *TEXT_AND_ID,
                *WORDS,
                "--n-components",
                "2,3",
                "--seeds",
                "2",
                "--max-iter",
                "2",
            ],
            0,
        ),
        (["{}/t.jsonl", "--n-components", EVIL], 2),
    ],
    "authors": [
        (["{}/author.topoi"], 0),
        (["{}/author.topoi", evil("a1")], 0),
        (["{}/author.topoi", "--about", word(1)], 0),
        (["{}/author.topoi", evil("A1")], 2),
        (["{}/author.topoi", "[/]"], 2),
        (["{}/lda.topoi"], 2),
    ],
    "links": [(["{}/relational.topoi", evil("d1")], 0), (["{}/relational.topoi", EVIL], 2)],
    "convert": [
        (["{}/t.jsonl", "{}/c.npz", *OPTIONS, *WORDS, "--force"], 0),
        (["{}/t.jsonl", "{}/c.mtx", *OPTIONS, *WORDS, "--force"], 0),
        (["{}/t.jsonl", evil("c")], 2),
    ],
}
CASES = [
    (command, arguments, code) for command, cases in COMMANDS.items() for arguments, code in cases
]


@pytest.mark.parametrize(
    "where", [{}, {"FORCE_COLOR": "1"}, {"TOPOI_DEBUG": "1"}], ids=["pipe", "terminal", "debug"]
)
@pytest.mark.parametrize(
    ("command", "arguments", "code"), CASES, ids=[f"{c}-{i}" for i, (c, *_) in enumerate(CASES)]
)
def test_no_command_prints_what_a_terminal_obeys(work, command, arguments, code, where):
    result = run(
        command, *(argument.replace("{}", str(work)) for argument in arguments), code=code, **where
    )
    assert "MarkupError" not in result.output
    assert "\U0001f604" not in result.output


@pytest.mark.parametrize(("command", "arguments"), [(c, a) for c, a, code in CASES if code == 0])
def test_json_is_printable_and_says_the_same(work, command, arguments):
    text = run(
        command, *(argument.replace("{}", str(work)) for argument in arguments), "--json"
    ).stdout
    assert ("\\u001b]52" in text) == (r"\x1b]52" in ascii(json.loads(text)))


def test_every_command_with_input_is_walked():
    """The demo has no input but the docstrings of other libraries, and prints by the same
    functions; the warm-up has none.
    """
    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert known - {"demo", "warmup"} == set(COMMANDS)


def test_names_are_shown_as_they_are_spelled(work):
    shown = run("topics", work / "lda.topoi", COLUMNS="5000").stdout
    assert printable(evil("name")) in shown
    assert r"\x1b]52;c;aGk=\x07[/][red]<script>x</script>:smile:\u202eabc" in shown
    header, first, *_ = run(
        "transform", work / "lda.topoi", work / "t.jsonl", *TEXT_AND_ID
    ).stdout.splitlines()
    assert printable(evil("name")) in header
    assert first.startswith(printable(evil("d0")))


def test_brackets_in_a_name_are_no_markup(tmp_path):
    corpus, _ = datasets.make_authors()
    names = [["[/]", "[bold]b"] if i % 2 else ["c"] for i in range(corpus.n_docs)]
    corpus = replace(corpus, authors=names)
    topoi.AuthorTopicModel(2, max_iter=2).fit(corpus).save(tmp_path / "m.topoi")
    assert (
        "What [/] writes about" in run("authors", tmp_path / "m.topoi", "[/]", COLUMNS="200").stdout
    )
    assert (
        "What [bold]b writes about"
        in run("authors", tmp_path / "m.topoi", "[bold]b", COLUMNS="200").stdout
    )


def test_files_hold_names_as_they_are(work, tmp_path):
    """What is spelled out on the screen is whole in a file, also where a spreadsheet would see a
    formula.
    """
    run("transform", work / "lda.topoi", work / "t.jsonl", *TEXT_AND_ID, "-o", tmp_path / "o.csv")
    with (tmp_path / "o.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["document"] for row in rows] == [evil(f"d{i}") for i in range(20)]
    assert evil("name") in rows[0]
    (tmp_path / "f.csv").write_text("id,text\n=1+2,cats dogs\n@x,cats dogs\n", encoding="utf-8")
    run("fit", tmp_path / "f.csv", "--doc-names", "id", *WORDS, *QUICK, "-o", tmp_path / "f.topoi")
    run(
        "transform",
        tmp_path / "f.topoi",
        tmp_path / "f.csv",
        "--doc-names",
        "id",
        "-o",
        tmp_path / "p.csv",
    )
    assert [line.split(",")[0] for line in (tmp_path / "p.csv").read_text().splitlines()] == [
        "document",
        "=1+2",
        "@x",
    ]


def test_the_report_shows_hostile_names_as_text(work, tmp_path):
    for kind in ("lda", "author", "relational", "labeled"):
        run("report", work / f"{kind}.topoi", "-o", tmp_path / f"{kind}.html")
        source = (tmp_path / f"{kind}.html").read_bytes().decode()
        assert not ACTIVE.search(source)
        page, tags = HTMLParser(), []
        page.handle_starttag = lambda tag, _, tags=tags: tags.append(tag)
        page.feed(source)
        assert tags.count("script") == 2  # the data, and the script
        assert r"\x1b]52;c;aGk=\x07[/][red]&lt;script&gt;" in source


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")
def test_a_real_terminal_is_told_nothing(work, tmp_path):
    """With progress bars, which do use escapes of their own: but none that sets a clipboard or a
    title.
    """
    import pty

    code = "import sys; from topoi.cli import main; sys.argv[0] = 'topoi'; main()"
    fit = [
        "fit",
        work / "t.jsonl",
        *OPTIONS,
        *WORDS,
        *QUICK,
        "--model",
        "author",
        "-o",
        tmp_path / "m.topoi",
    ]
    said = b""
    for arguments in (
        fit,
        ["authors", tmp_path / "m.topoi", evil("a1")],
        ["authors", tmp_path / "m.topoi", evil("?")],
    ):
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            stdout=theirs,
            stderr=theirs,
            stdin=theirs,
        )
        os.close(theirs)
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            said += part
            if not part:
                break
        process.wait(60)
        os.close(ours)
    assert b"\x1b[" in said, "this was a terminal"
    assert rb"\x1b]52" in said
    for sequence in ("\x1b]", "\x07", "\x9b", "\u202e", "\u2066", "\u2028"):
        assert sequence.encode() not in said


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_output_in_ascii(work, tmp_path, as_json):
    (tmp_path / "t.csv").write_text(
        "id,text\né…日,cats dogs\n\U0001f604,cats dogs\n", encoding="utf-8"
    )
    run("fit", tmp_path / "t.csv", "--doc-names", "id", *WORDS, *QUICK, "-o", tmp_path / "m.topoi")
    code = "import sys; from topoi.cli import main; sys.argv[0] = 'topoi'; main()"
    for arguments in (
        ["topics", "m.topoi", "--documents", "1"],
        ["transform", "m.topoi", "t.csv", "--doc-names", "id"],
    ):
        result = subprocess.run(
            [sys.executable, "-c", code, *arguments, *as_json],
            cwd=tmp_path,
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"},
        )
        assert result.returncode == 0, result.stderr
        text = result.stdout.decode("ascii")
        if as_json:
            assert "\U0001f604" in str(json.loads(text))
        else:
            assert r"\U0001f604" in text


@pytest.mark.skipif(os.name == "nt", reason="file names of Windows are text")
def test_a_file_name_that_is_not_text(tmp_path):
    assert r"\udcff.csv does not exist" in run("fit", str(tmp_path / "a\udcff.csv"), code=2).stderr


def test_what_is_spelled_out():
    assert (
        printable("plain é 日本 \u200d\U0001f604 \u00ad\u200f")
        == "plain é 日本 \u200d\U0001f604 \u00ad\u200f"
    )
    assert (
        printable("\x1b\n\t\x00\x7f\x85\u2029\u202a\u2069\udc80")
        == r"\x1b\n\t\x00\x7f\x85\u2029\u202a\u2069\udc80"
    )
    assert printable("a\nb\t\r", keep="\n\t") == "a\nb\t\\r"
    assert printable(12) == "12"


@pytest.mark.parametrize("ascii_only", [False, True])
def test_printable_json_reads_as_it_was(ascii_only):
    value = {EVIL: ["é\U0001f604", "\udc80", 1.5, None, 'a "quoted" \\ word']}
    text = printable_json(value, ascii_only=ascii_only)
    assert json.loads(text) == value
    assert not ACTIVE.search(text)
    assert text.isascii() == ascii_only
