"""The command, from files to topics; and the corpus it shows off with."""

from __future__ import annotations

import csv
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import topoi
from topoi import datasets
from topoi.choices import RULES, SCHEDULES, WEIGHTINGS
from topoi.cli import app
from topoi.cli.fit import Interrupt, Rule, Schedule, Weighting
from topoi.cli.shell import Counts
from topoi.io import formats

PETS = ["cats", "dogs", "pets", "fur", "paws", "tails"]
MONEY = ["stocks", "market", "bank", "money", "shares", "trade"]
QUICK = ["--iterations", "5"]


def run(*arguments, code=0):
    """The result of a command that must end with `code`."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def ask(*arguments):
    """What a command says in JSON, and nothing but JSON."""
    return json.loads(run(*arguments, "--json").stdout)


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A folder of texts, a table, counts, and a model of each kind."""
    folder = tmp_path_factory.mktemp("work")
    rng = np.random.default_rng(0)
    (folder / "texts").mkdir()
    with (folder / "t.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "abstract", "who", "topic", "cites"])
        for i in range(40):
            words = " ".join(rng.choice(PETS if i % 2 else MONEY, 12))
            table.writerow(
                [
                    f"d{i}",
                    words,
                    f"{'Ann' if i % 2 else 'Bob'}; Cy",
                    "pets" if i % 2 else "money",
                    f"d{(i + 2) % 40}",
                ]
            )
            (folder / "texts" / f"{i:02}.txt").write_text(words)
    columns = [folder / "t.csv", "--text", "abstract", "--id", "id"]
    run("fit", *columns, "--topics", 2, "-o", folder / "lda.topoi", *QUICK)
    run("fit", *columns, "--topics", 2, "--authors", "who", "-o", folder / "author.topoi", *QUICK)
    run("fit", *columns, "--topics", 2, "--links", "cites", "-o", folder / "links.topoi", *QUICK)
    run("fit", *columns, "--labels", "topic", "-o", folder / "labels.topoi", *QUICK)
    return folder


# --------------------------------------------------------------------------------------------- demo


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
    ):
        assert name in result.output
    assert topoi.__version__ in run("--version").output


def test_demo_corpus_is_real():
    corpus = datasets.load_demo()
    assert corpus.n_docs > 1500
    assert (
        "sklearn.impute.IterativeImputer" not in corpus.doc_names
    )  # whether or not its experimental parts are enabled
    assert corpus.links.nnz > 1000
    assert not corpus.links.diagonal().any()
    names = np.asarray(corpus.doc_names)
    butter = np.flatnonzero(names == "scipy.signal.butter")[0]
    assert "filter" in np.asarray(corpus.vocabulary)[corpus.counts[[butter]].indices]
    assert corpus.labels[butter] == ["scipy.signal"]
    assert any("Breiman" in author for row in corpus.authors for author in row)


def test_demo_shows_four_models():
    result = run("demo", "--topics", 10)
    for title in (
        "LDA:",
        "Author-topic model:",
        "Relational model:",
        "Labeled LDA:",
        "held-out perplexity",
    ):
        assert title in result.output


def test_bad_number_of_topics_is_refused():
    run("demo", "--topics", 0, code=2)


# ---------------------------------------------------------------------------------------------- fit


def test_from_a_folder_to_topics(work, tmp_path):
    result = run("fit", work / "texts", "--topics", 2, "-o", tmp_path / "m.topoi", *QUICK)
    assert "2 topics" in result.stdout
    assert "Saved" in result.stdout
    assert "Corpus(40 documents x 12 words" in result.stderr
    found = {frozenset(words) for words in topoi.load(tmp_path / "m.topoi").top_words(6)}
    assert found == {frozenset(PETS), frozenset(MONEY)}


@pytest.mark.parametrize("name", ["docword.c.txt", "c.mtx", "c.ldac.gz", "c.npz"])
def test_from_counts_to_topics(work, tmp_path, name):
    assert ask("convert", work / "texts", tmp_path / name)["documents"] == 40
    answer = ask("fit", tmp_path / name, "--topics", 2, "-o", tmp_path / "m.topoi", *QUICK)
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
    assert "holds fractions" in run(*fit, "--topics", 2).stderr
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
    result = run("fit", *columns, "-o", work / "x.topoi", code=2)
    assert (
        "authors and labels are given; choose the model that uses them: --model author or --model"
        " labeled" in result.stderr
    )
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
        "--topics",
        3,
        "-o",
        tmp_path / "m.topoi",
        *QUICK,
    )
    assert "Because labels are given, the model is labeled LDA" in result.stderr
    assert "--topics is not used" in result.stderr
    result = run(
        "fit",
        work / "t.csv",
        "--text",
        "abstract",
        "--authors",
        "who",
        "--topics",
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
    run("fit", work / "texts", "--topics", 2, "-o", tmp_path / "m.topoi", *QUICK, *options)
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
    run("fit", work / "texts", "--start", work / "lda.topoi", "-o", tmp_path / "m.topoi", *QUICK)
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
        "--iterations",
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
    assert f"--text abstract --model lda --start {tmp_path / 'm.topoi'}" in command
    assert f"--iterations {100000000 - model.n_iter_}" in command
    run(*shlex.split(command)[1:], *QUICK)
    assert (tmp_path / "m-2.topoi").is_file()


@pytest.mark.parametrize("checkpoint", [True, False])
def test_a_finished_run_survives_a_save_that_fails(work, tmp_path, monkeypatch, checkpoint):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fit = [
        "fit",
        work / "texts",
        "--topics",
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


# ---------------------------------------------------------------------------------------- questions


def test_topics_with_their_documents(work):
    """The odd documents are about pets, the even ones about money."""
    for row in ask("topics", work / "lda.topoi", "--documents", 3)["topics"]:
        odd = {int(document["name"][1:]) % 2 for document in row["documents"]}
        assert len(row["documents"]) == 3
        assert odd == {int(row["words"][0] in PETS)}
    assert (
        "(9" in run("topics", work / "lda.topoi", "--documents", 1).output
    )  # proportions in per cent
    assert "documents" not in ask("topics", work / "lda.topoi")["topics"][0]


def test_topics_and_their_names(work, tmp_path):
    path = tmp_path / "m.topoi"
    path.write_bytes((work / "lda.topoi").read_bytes())
    assert len(run("topics", path, "--words", 3).stdout.split("\n")) > 4
    answer = ask("topics", path, "--words", 3, "--name", "1=house [pets]")
    assert {topic["name"] for topic in answer["topics"]} == {"topic0", "house [pets]"}
    assert sum(topic["share"] for topic in answer["topics"]) == pytest.approx(1, rel=1e-6)
    assert "house [pets]" in run("topics", path).stdout
    assert "house [pets]" in run("transform", path, work / "texts").stdout.splitlines()[0]
    assert {topic["name"] for topic in ask("topics", work / "labels.topoi")["topics"]} == {
        "pets",
        "money",
    }


def test_transform_takes_raw_text(work, tmp_path):
    table = [work / "t.csv", "--text", "abstract", "--id", "id"]
    run("transform", work / "lda.topoi", *table, "-o", tmp_path / "o.csv")
    with (tmp_path / "o.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [f"d{i}" for i in range(40)]
    proportions = np.array([[float(row["topic0"]), float(row["topic1"])] for row in rows])
    np.testing.assert_allclose(proportions.sum(axis=1), 1, rtol=1e-5)
    model = topoi.load(work / "lda.topoi")
    np.testing.assert_allclose(
        proportions,
        model.transform(topoi.read(work / "t.csv", text="abstract", vectorizer=model.vectorizer_)),
        rtol=1e-5,
    )
    run("transform", work / "lda.topoi", *table, "-o", tmp_path / "o.jsonl", "--json")
    assert [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()] == ask(
        "transform", work / "lda.topoi", *table
    )
    run("transform", work / "author.topoi", *table, "--authors", "who", "-o", tmp_path / "a.tsv")
    assert "\t" in (tmp_path / "a.tsv").read_text()


def test_models_of_counts_read_texts_and_other_orders_of_words(work, tmp_path):
    corpus = replace(topoi.read(work / "texts"), doc_names=None)
    topoi.write(corpus, tmp_path / "c.mtx")
    run("fit", tmp_path / "c.mtx", "--topics", 2, "-o", tmp_path / "m.topoi", *QUICK)
    answer = ask("transform", tmp_path / "m.topoi", tmp_path / "c.mtx")
    result = run("transform", tmp_path / "m.topoi", work / "texts", "--json")
    assert "fitted on counts" in result.stderr
    topoi.write(corpus.over(corpus.vocabulary[::-1]), tmp_path / "r.mtx")
    for other in (
        json.loads(result.stdout),
        ask("transform", tmp_path / "m.topoi", tmp_path / "r.mtx"),
    ):
        assert [row["topic0"] for row in other] == [row["topic0"] for row in answer]


def test_evaluate(work):
    table = [work / "t.csv", "--text", "abstract"]
    answer = ask("evaluate", work / "lda.topoi", *table)
    assert 1 < answer["perplexity_low"] < answer["perplexity"] < answer["perplexity_high"] < 12
    assert "label_found" not in answer
    assert ask("evaluate", work / "labels.topoi", *table, "--labels", "topic")["label_found"] > 0.9
    result = run("evaluate", work / "lda.topoi", *table, "--id", "id")
    assert "held-out perplexity" in result.stdout
    assert "trained on 40 of these documents" in result.stderr
    assert (
        "nobody can tell if the model was trained on these documents"
        in run("evaluate", work / "lda.topoi", *table).stderr
    )


def test_report(work, tmp_path):
    out = tmp_path / "r.html"
    assert ask("report", work / "lda.topoi", "-o", out, "--words", 3, "--documents", 2) == {
        "file": str(out),
        "topics": 2,
    }
    model = topoi.load(work / "lda.topoi")
    assert all(word in out.read_text() for words in model.top_words(3) for word in words)
    run("report", work / "lda.topoi", "-o", out, code=2)  # not written over
    assert (
        "would destroy the input"
        in run("report", work / "lda.topoi", "-o", work / "lda.topoi", "--force", code=2).stderr
    )
    columns = ["--test", work / "t.csv", "--text", "abstract", "--id", "id"]
    result = run("report", work / "lda.topoi", "-o", out, "--force", *columns)
    assert "trained on 40 of these documents" in result.stderr
    measured = ask("evaluate", work / "lda.topoi", work / "t.csv", *columns[2:])
    assert f"{measured['perplexity']:.1f}" in out.read_text()
    assert (
        "no use here"
        in run(
            "report", work / "lda.topoi", "-o", tmp_path / "s.html", *columns, "--authors", "who"
        ).stderr
    )


def test_choose(work):
    options = ["--topics", "1,2", "--seeds", 2, *QUICK]
    answer = ask("choose", work / "texts", *options)
    assert answer["best"] == 2
    assert [row["n_components"] for row in answer["rows"]] == [1, 2]
    assert "Recommended: 2 topics" in run("choose", work / "texts", *options).stdout


def test_authors(work):
    answer = ask("authors", work / "author.topoi", "Ann", "--about", "dogs", "-n", 2)
    assert set(answer["topics"][0]["words"][:6]) == set(PETS)
    assert {author["name"] for author in answer["similar"]} == {"Bob", "Cy"}
    assert answer["writers"][0]["name"] == "Ann"
    assert "Ann" in run("authors", work / "author.topoi", "Ann").stdout
    assert len(ask("authors", work / "author.topoi")["topics"]) == 2
    assert "; Cy" in run("authors", work / "author.topoi").stdout
    assert "did you mean Ann?" in run("authors", work / "author.topoi", "ann", code=2).stderr
    assert (
        "it knows 3, for instance Ann, Bob, Cy"
        in run("authors", work / "author.topoi", "Zoroaster", code=2).stderr
    )
    assert "knows no authors" in run("authors", work / "lda.topoi", "Ann", code=2).stderr


def test_documents_without_authors_or_labels_are_mentioned(tmp_path):
    rows = [
        f"{' '.join(PETS)},{'Ann' if i < 7 else ''},{'pets' if i % 2 else ''}" for i in range(10)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["text,who,topic", *rows]))
    options = [tmp_path / "t.csv", "-o", tmp_path / "m.topoi", "--force", "--max-df", 1.0, *QUICK]
    assert (
        "3 of 10 documents have no authors: each of these counts"
        in run("fit", *options, "--authors", "who", "--topics", 2).stderr
    )
    assert (
        "5 of 10 documents have no labels: these may use all"
        in run("fit", *options, "--labels", "topic").stderr
    )


def test_links(work, tmp_path):
    for document in ("d3", "3"):
        found = ask("links", work / "links.topoi", document, "-n", 39)["links"]
        assert {row["document"] for row in found if row["linked"]} == {"d1", "d5"}
        assert all(int(row["document"][1:]) % 2 for row in found[:10])
        assert "d3" not in {row["document"] for row in found}
    (tmp_path / "new.txt").write_text("Ca\u00adts, do\u00adgs and tai\u00adls", encoding="utf-8")
    assert all(
        int(row["document"][1:]) % 2
        for row in ask("links", work / "links.topoi", tmp_path / "new.txt", "-n", 5)["links"]
    )
    assert "linked already" in run("links", work / "links.topoi", "d3").stdout
    assert (
        "is not the id of a training document"
        in run("links", work / "links.topoi", "d99", code=2).stderr
    )
    assert "knows no links" in run("links", work / "lda.topoi", "d3", code=2).stderr
    (tmp_path / "new.csv").write_text("text\nCats")
    assert "is a table" in run("links", work / "links.topoi", tmp_path / "new.csv", code=2).stderr
    (tmp_path / "new.txt").write_text("nothing in common")
    assert (
        "none of the words"
        in run("links", work / "links.topoi", tmp_path / "new.txt", code=2).stderr
    )


def test_convert_says_what_is_lost(work, tmp_path):
    result = run("convert", work / "texts", tmp_path / "c.mtx")
    assert "does not keep doc_names" in result.stderr
    assert result.stdout == ""
    assert "exists already" in run("convert", work / "texts", tmp_path / "c.mtx", code=2).stderr
    run("convert", work / "texts", tmp_path / "c.mtx", "--force")
    assert (
        "'csv' is not one of"
        in run("convert", work / "texts", tmp_path / "c.dat", "--to", "csv", code=2).stderr
    )
    assert "end the name in" in run("convert", work / "texts", tmp_path / "c.doc", code=2).stderr
    assert (
        "options that choose words are of no use"
        in run("convert", tmp_path / "c.mtx", tmp_path / "d.npz", "--min-df", 5, code=2).stderr
    )


# ---------------------------------------------------------------------------------------- bad input

BAD_FILES = {
    "missing.csv": (None, "does not exist"),
    "binary.csv": (b"text\n\x7fELF\x00\x01", "is a binary file"),
    "latin.csv": (b"text\nplain\ncaf\xe9\n", "line 3: not UTF-8 text"),
    "empty.csv": (b"", "is empty"),
    "column.csv": (b"body,id\nx,y\nx,z\n", "has columns body, id; say which one holds the text"),
    "one.csv": (b"text\none single document\n", "holds one document"),
    "one.ldac": (b"2 0:1 1:2\n", "holds one document"),
    "stop.csv": (b"text\nthe and of\nto be or not\n", "No word of the 2 documents"),
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
    inside = (
        100  # the compressed manifest: nothing depends on some bits of the headers between entries
    )
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
        ["fit", work / "texts", "--start", bad, "-o", tmp_path / "o"]
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
        (["--text", "abstract", "--stop-words", "french"], "french is not a file"),
        (["--text", "abstract", "--id", "topic"], "the id 'money' is taken by"),
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
        (["--topics", "7"], "has 2 topics, so --topics 7 does not fit"),
        (["--min-df", "3"], "the options that choose words are of no use"),
    ],
)
def test_going_on_with_other_words_or_topics_is_refused(work, tmp_path, arguments, error):
    start = ["--start", work / "lda.topoi", *arguments, "-o", tmp_path / "m.topoi"]
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
        "--topics",
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


def test_options_offer_what_the_library_has():
    """The command offers the names of the library, and every format of counts."""
    offered = [[member.value for member in kind] for kind in (Rule, Schedule, Weighting, Counts)]
    assert offered == [list(RULES), list(SCHEDULES), list(WEIGHTINGS), list(formats.FORMATS)]
