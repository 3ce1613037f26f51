"""Names, arguments and outputs that a terminal or a file system cannot take."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from support import every_word, written
from typer.testing import CliRunner

import topoi
from topoi import LDA, Corpus, datasets
from topoi.cli import app


def run(*arguments: str | bytes, folder, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "topoi", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, check=False, env={**os.environ, **environment}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A corpus, and a model, with words that ASCII does not have."""
    folder = tmp_path_factory.mktemp("command")
    counts = datasets.make_lda(20, 4, 2)[0].counts
    corpus = Corpus(
        counts, ["café", "thé", "naïve", "über"], doc_names=[f"ü{i}" for i in range(20)]
    )
    topoi.write(corpus, folder / "c.npz")
    LDA(2, max_iter=2).fit(corpus).save(folder / "m.topoi")
    (folder / "output").mkdir()
    return folder


@pytest.mark.parametrize(
    "command",
    [["topics", "m.topoi"], ["transform", "m.topoi", "c.npz"], ["evaluate", "m.topoi", "c.npz"]],
)
def test_ascii_standard_output(folder, command):
    done = run(*command, folder=folder, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert b"Unexpected" not in done.stderr


def test_json_on_ascii_standard_output_is_json(folder):
    import json

    done = run("topics", "m.topoi", "--json", folder=folder, PYTHONIOENCODING="ascii")
    assert done.stdout.isascii()
    assert "café" in [
        word for topic in json.loads(done.stdout)["topics"] for word in topic["words"]
    ]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names there are text")
def test_undecodable_arguments(folder):
    done = run("topics", b"caf\xe9.topoi", folder=folder, PYTHONIOENCODING="utf-8")
    assert done.returncode == 2
    assert b"does not exist" in done.stderr
    assert b"Traceback" not in done.stderr
    (folder / os.fsdecode(b"c\xe9.npz")).write_bytes((folder / "c.npz").read_bytes())
    done = run(
        "convert", b"c\xe9.npz", b"\xe9.mtx", "--json", folder=folder, PYTHONIOENCODING="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names there are text")
def test_undecodable_names_of_documents_are_shown(tmp_path):
    for name in (b"caf\xe9.txt", b"b.txt"):
        (tmp_path / os.fsdecode(name)).write_text("cats and dogs and cats")
    corpus = topoi.read(tmp_path, vectorizer=every_word())
    assert corpus.doc_names == ["b", "caf\\xe9"]


@pytest.mark.parametrize(
    "command",
    [["fit", "c.npz", "-o"], ["convert", "c.npz", "--to", "mtx"], ["report", "m.topoi", "-o"]],
)
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_an_output_that_is_a_folder(folder, command, force, monkeypatch):
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(app, [*command, "output", *force])
    assert done.exit_code == 2
    assert "Error: output cannot be written: it is a folder." in done.output


def test_the_base_of_svmlight_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "c.svm", b"0 0:1 2:1\n0 1:3\n")
    assert "there is no word 0" in CliRunner().invoke(app, ["convert", "c.svm", "c.npz"]).output
    assert CliRunner().invoke(app, ["convert", "c.svm", "c.npz", "--zero-based"]).exit_code == 0
    assert topoi.read(tmp_path / "c.npz").n_words == 3
