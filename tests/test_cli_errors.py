"""The command answers bad input with one sentence and changes nothing."""

from __future__ import annotations

import pytest
from support import QUICK, run

BAD_FILES = {
    "missing.csv": (None, "does not exist"),
    "binary.csv": (b"text\n\x7fELF\x00\x01", "is a binary file"),
    "latin.csv": (b"text\nplain\ncaf\xe9\n", "line 3: not UTF-8 text"),
    "empty.csv": (b"", "is empty"),
    "column.csv": (
        b"body,id\nx,y\nx,z\n",
        "has columns body, id; name the one that holds the text",
    ),
    "one.csv": (b"text\none single document\n", "holds one document"),
    "one.ldac": (b"2 0:1 1:2\n", "holds one document"),
    "stop.csv": (b"text\nthe and of\nto be or not\n", "no words of its 2 documents"),
    "docword.ragged.txt": (b"2\n3\n2\n1 1 1\n2 3\n", "line 5: expected three whole numbers"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_input_gets_one_sentence_and_leaves_everything_as_it_was(tmp_path, name):
    content, error = BAD_FILES[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    (tmp_path / "old.topoi").write_text("precious")
    before = sorted(tmp_path.iterdir())
    result = run("fit", tmp_path / name, "-o", tmp_path / "old.topoi", "--force", code=2)
    assert error in result.stderr
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert (tmp_path / "old.topoi").read_text() == "precious"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", ["topics", "transform", "evaluate", "authors", "links", "fit"])
@pytest.mark.parametrize("damage", ["half", "flipped", "foreign", "missing"])
def test_damaged_models_get_one_sentence(work, tmp_path, command, damage):
    good = (work / "lda.topoi").read_bytes()
    # the compressed manifest: nothing depends on some bits of the headers between entries
    inside = 100
    bad = tmp_path / "bad.topoi"
    contents = {
        "half": good[: len(good) // 2],
        "flipped": good[:inside] + bytes([good[inside] ^ 1]) + good[inside + 1 :],
        "foreign": b"a letter to you",
    }
    if damage in contents:
        bad.write_bytes(contents[damage])
    others = {
        "transform": [work / "texts"],
        "evaluate": [work / "texts"],
        "authors": ["Ann"],
        "links": ["0"],
        "topics": ["--name", "0=x"],
    }
    arguments = (
        ["fit", work / "texts", "--init", bad, "-o", tmp_path / "o"]
        if command == "fit"
        else [command, bad, *others[command]]
    )
    result = run(*arguments, code=2)
    assert (
        "does not exist" in result.stderr
        if damage == "missing"
        else "is not a topoi model, or it is damaged" in result.stderr
    )
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == (
        [] if damage == "missing" else ["bad.topoi"]
    )
    if damage in contents:
        assert bad.read_bytes() == contents[damage]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--text", "title"], "has no column 'title'"),
        (
            ["--text", "abstract", "--min-df", "x"],
            "--min-df is 'x'; expected a number of documents",
        ),
        (["--text", "abstract", "--max-df", "1.5"], "--max-df is '1.5'"),
        (["--text", "abstract", "--ngrams", "2-1"], "--ngrams is '2-1'"),
        (["--text", "abstract", "--token-pattern", "("], "is not a regular expression"),
        (["--text", "abstract", "--token-pattern", r"(\w+)+x"], "could take forever"),
        (["--text", "abstract", "--ngrams", "1-21"], "up to 20"),
        (["--text", "abstract", "--encoding", "klingon"], "There is no encoding 'klingon'"),
        (["--text", "abstract", "--stop-words", "latin"], "latin is not a file"),
        (["--text", "abstract", "--doc-names", "topic"], "the name 'money' is taken by"),
        (["--text", "abstract", "--links", "nowhere"], "has no column 'nowhere' for links"),
        (["--text", "abstract", "--rule", "vb", "--schedule", "residual"], "vb"),
        (["--format", "uci"], "line 1: expected a whole number"),
        (
            ["--text", "abstract", "--authors", "who", "--batch-size", "5"],
            "--batch-size is for plain LDA, and this is an author-topic model",
        ),
        (["--text", "abstract", "--background", "2"], "--background is for labeled LDA"),
    ],
)
def test_bad_options_get_one_sentence(work, tmp_path, arguments, error):
    result = run("fit", work / "t.csv", *arguments, "-o", tmp_path / "m.topoi", code=2)
    assert error in result.stderr
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--n-components", "7"], "has 2 topics, so --n-components 7 does not fit"),
        (["--min-df", "3"], "the options that choose words are of no use"),
    ],
)
def test_going_on_with_other_words_or_topics_is_refused(work, tmp_path, arguments, error):
    start = ["--init", work / "lda.topoi", *arguments, "-o", tmp_path / "m.topoi"]
    assert error in run("fit", work / "t.csv", "--text", "abstract", *start, code=2).stderr


def test_options_of_no_use_are_mentioned(work):
    said = run(
        "transform",
        work / "lda.topoi",
        work / "t.csv",
        "--text",
        "abstract",
        "--authors",
        "who",
        "--labels",
        "topic",
    ).stderr
    assert "--labels and --authors have no use here" in said
    said = run(
        "choose",
        work / "t.csv",
        "--text",
        "abstract",
        "--authors",
        "who",
        "--n-components",
        "2",
        "--seeds",
        "2",
        *QUICK,
    ).stderr
    assert "--authors has no use here" in said


def test_outputs_are_not_written_over(work, tmp_path):
    (tmp_path / "m.topoi").write_text("precious")
    for arguments in (["fit", work / "texts"], ["transform", work / "lda.topoi", work / "texts"]):
        assert "exists already" in run(*arguments, "-o", tmp_path / "m.topoi", code=2).stderr
    assert (tmp_path / "m.topoi").read_text() == "precious"
    assert (
        "there is no folder"
        in run("fit", work / "texts", "-o", tmp_path / "none" / "m.topoi", code=2).stderr
    )
    assert (
        "cannot write .doc"
        in run(
            "transform", work / "lda.topoi", work / "texts", "-o", tmp_path / "o.doc", code=2
        ).stderr
    )


def test_other_failures_end_with_one(work, tmp_path, monkeypatch):
    monkeypatch.setattr("topoi.models.files.load", lambda path: 1 / 0)
    result = run("topics", work / "lda.topoi", code=1)
    assert "Unexpected ZeroDivisionError" in result.stderr
    assert "--debug" in result.stderr
    monkeypatch.setenv("TOPOI_DEBUG", "1")
    said = run("topics", work / "lda.topoi", code=1).stderr
    assert said.startswith("Traceback")
    assert said.endswith("ZeroDivisionError: division by zero\n")
