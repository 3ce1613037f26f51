"""`topoi fit`: from files to a model."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from support import MONEY, PETS, QUICK, ask, run

import topoi
from topoi.cli.interrupt import Interrupt


def test_from_a_folder_to_topics(work, tmp_path):
    result = run("fit", work / "texts", "--n-components", 2, "-o", tmp_path / "m.topoi", *QUICK)
    assert "2 topics" in result.stdout
    assert "Saved" in result.stdout
    assert "Corpus(40 documents x 12 words" in result.stderr
    found = {frozenset(words) for words in topoi.load(tmp_path / "m.topoi").top_words(6)}
    assert found == {frozenset(PETS), frozenset(MONEY)}


@pytest.mark.parametrize("name", ["docword.c.txt", "c.mtx", "c.ldac.gz", "c.npz"])
def test_from_counts_to_topics(work, tmp_path, name):
    assert ask("convert", work / "texts", tmp_path / name)["documents"] == 40
    answer = ask("fit", tmp_path / name, "--n-components", 2, "-o", tmp_path / "m.topoi", *QUICK)
    assert answer["model"] == "LDA"
    assert {frozenset(topic["words"][:6]) for topic in answer["topics"]} == {
        frozenset(PETS),
        frozenset(MONEY),
    }


def test_columns_and_layers_of_anndata(tmp_path):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    counts = np.random.default_rng(0).poisson(2, (10, 4))
    obs = pandas.DataFrame({"type": ["B", "T"] * 5}, index=[f"c{i}" for i in range(10)])
    anndata.AnnData(np.log1p(counts), obs=obs, layers={"counts": counts}).write_h5ad(
        tmp_path / "c.h5ad"
    )
    fit = ["fit", tmp_path / "c.h5ad", "-o", tmp_path / "m.topoi", "--force", *QUICK]
    assert "holds fractions" in run(*fit, "--n-components", 2).stderr
    result = run(*fit, "--layer", "counts", "--labels", "type")
    assert "fractions" not in result.stderr
    assert topoi.load(tmp_path / "m.topoi").classes_.tolist() == ["B", "T"]
    assert (
        "its columns are type" in run(*fit, "--layer", "counts", "--labels", "kind", code=2).stderr
    )
    assert "has no layer 'raw'; it has counts" in run(*fit, "--layer", "raw", code=2).stderr


def test_empty_topics_are_no_reason_for_fewer_alone(tmp_path):
    model = topoi.LDA(2, max_iter=2).fit(np.eye(4) + 1)
    model.components_[0] = model.topic_word_prior_
    model.save(tmp_path / "m.topoi")
    shown = " ".join(run("topics", tmp_path / "m.topoi").stdout.split())
    assert "1 of them empty and not shown: fit with fewer, or with another --seed" in shown


def test_the_model_is_chosen_by_what_is_given(work):
    kinds = {
        "lda": "LDA",
        "author": "AuthorTopicModel",
        "links": "RelationalTopicModel",
        "labels": "LabeledLDA",
    }
    for name, kind in kinds.items():
        assert ask("topics", work / f"{name}.topoi")["model"] == kind
    columns = [work / "t.csv", "--text", "abstract", "--authors", "who", "--labels", "topic"]
    result = run("fit", *columns, "--max-iter", "3", "-o", work / "both.topoi")
    assert "Because authors and labels are given, the model combines them" in result.stderr
    assert ask("topics", work / "both.topoi")["model"] == "TopicModel"
    assert ask("authors", work / "both.topoi")["topics"][0]["authors"]
    assert (
        "needs links"
        in run("fit", *columns, "--model", "relational", "-o", work / "x.topoi", code=2).stderr
    )


def test_fit_says_which_model_it_takes(work, tmp_path):
    result = run(
        "fit",
        work / "t.csv",
        "--text",
        "abstract",
        "--labels",
        "topic",
        "--n-components",
        3,
        "-o",
        tmp_path / "m.topoi",
        *QUICK,
    )
    assert "Because labels are given, the model is labeled LDA" in result.stderr
    assert "--n-components is not used" in result.stderr
    result = run(
        "fit",
        work / "t.csv",
        "--text",
        "abstract",
        "--authors",
        "who",
        "--n-components",
        2,
        "-o",
        tmp_path / "a.topoi",
        *QUICK,
    )
    assert "Because authors are given, the model is an author-topic model" in result.stderr
    topoi.write(topoi.read(work / "t.csv", text="abstract", authors="who"), tmp_path / "c.npz")
    result = run("fit", tmp_path / "c.npz", "-o", tmp_path / "n.topoi", *QUICK)
    assert "The input also has authors: --model author would use them" in result.stderr


def test_options_reach_the_model(work, tmp_path):
    options = [
        "--rule",
        "sibp",
        "--schedule",
        "synchronous",
        "--tol",
        0,
        "--seed",
        3,
        "--jobs",
        1,
        "--weighting",
        "log",
        "--ngrams",
        "1-2",
        "--min-df",
        1,
        "--max-df",
        1.0,
        "--stop-words",
        "none",
        "--keep-case",
        "--max-words",
        9,
    ]
    run("fit", work / "texts", "--n-components", 2, "-o", tmp_path / "m.topoi", *QUICK, *options)
    model = topoi.load(tmp_path / "m.topoi")
    assert (model.rule, model.schedule, model.tol, model.random_state, model.weighting) == (
        "sibp",
        "synchronous",
        0,
        3,
        "log",
    )
    assert model.n_jobs is None, "a file does not decide how many threads are used"
    assert len(model.vocabulary_) == 9
    assert model.vectorizer_.ngram_range == (1, 2)
    assert not model.vectorizer_.lowercase
    assert model.vectorizer_.stop_words is None
    assert model.verbose == 0
    assert model.callbacks is None


def test_going_on_from_a_model(work, tmp_path):
    run("fit", work / "texts", "--init", work / "lda.topoi", "-o", tmp_path / "m.topoi", *QUICK)
    first, second = topoi.load(work / "lda.topoi"), topoi.load(tmp_path / "m.topoi")
    assert [set(words) for words in first.top_words(6)] == [
        set(words) for words in second.top_words(6)
    ], "the same topics in the same places"


def test_ctrl_c_asks_once_and_aborts_the_second_time():
    with Interrupt() as interrupt:
        assert not interrupt(None, None)
        signal.raise_signal(signal.SIGINT)
        assert interrupt(None, None)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is not interrupt._hear


@pytest.mark.skipif(os.name == "nt", reason="signals of Windows are others")
def test_ctrl_c_keeps_the_last_sweep(work, tmp_path):
    """A real process, really interrupted while it would sweep for hours."""
    arguments = [
        "fit",
        work / "t.csv",
        "--text",
        "abstract",
        "-o",
        tmp_path / "m.topoi",
        "--max-iter",
        "100000000",
        "--tol",
        "0",
    ]
    code = "import sys; from topoi.cli import main; sys.argv[0] = 'topoi'; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stderr:
        if "Fitting" in line:
            break
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "Stopped by Ctrl-C after sweep" in said
    model = topoi.load(tmp_path / "m.topoi")
    assert model.n_iter_ == len(model.history_) >= 1
    command = next(line.strip() for line in said.splitlines() if line.startswith("  topoi fit"))
    assert f"--text abstract --model lda --init {tmp_path / 'm.topoi'}" in command
    assert f"--max-iter {100000000 - model.n_iter_}" in command
    run(*shlex.split(command)[1:], *QUICK)
    assert (tmp_path / "m-2.topoi").is_file()


@pytest.mark.parametrize("checkpoint", [True, False])
def test_a_finished_run_survives_a_save_that_fails(work, tmp_path, monkeypatch, checkpoint):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fit = [
        "fit",
        work / "texts",
        "--n-components",
        2,
        *QUICK,
        *(["--checkpoint", tmp_path / "run.ckpt"] if checkpoint else []),
    ]

    def full(path, *_, **__):
        if path.name == "m.topoi" and path.parent == tmp_path:
            raise OSError(f"{path} cannot be written (No space left on device).")
        return write(path, *_, **__)

    write = topoi.models.files.write_archive
    monkeypatch.setattr("topoi.models.files.write_archive", full)
    said = run(*fit, "-o", tmp_path / "m.topoi", code=1).stderr
    assert (
        said.splitlines()[-1]
        == f"Error: {tmp_path}/m.topoi cannot be written (No space left on device)."
    )
    run(*fit, "-o", tmp_path / "plain.topoi")
    if checkpoint:
        assert (
            f"The run is kept in {tmp_path}/run.ckpt: run the same command with another --output."
            in said
        )
        assert [file.name for file in tmp_path.iterdir()] == ["plain.topoi"], (
            "the checkpoint goes when the model is on disk"
        )
    else:
        (rescued,) = tmp_path.glob("topoi-*/m.topoi")
        assert f"The model was saved to {rescued} instead" in said
        np.testing.assert_array_equal(
            topoi.load(rescued).components_, topoi.load(tmp_path / "plain.topoi").components_
        )


def test_a_run_that_resumes_says_after_which_sweep(work, tmp_path, monkeypatch):
    command = ["fit", work / "texts", "--n-components", 2, "--max-iter", 8, "--tol", 0]
    command += ["--checkpoint", tmp_path / "run.ckpt", "--checkpoint-every", 3]
    command += ["-o", tmp_path / "m.topoi"]

    def crash(self, state, record):
        if record.sweep == 5:
            raise RuntimeError("the power is off")
        return False

    with monkeypatch.context() as patch:
        patch.setattr(Interrupt, "__call__", crash)
        run(*command, code=1)
    said = run(*command).output
    assert f"Resumed from {tmp_path / 'run.ckpt'} after sweep 3." in " ".join(said.split())
    assert "Resumed" not in run(*command, "--force").output
