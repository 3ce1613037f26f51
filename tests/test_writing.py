"""Files are written whole or not at all, whatever fails, and never over something that
should stay.
"""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import time
import warnings
from collections import Counter
from functools import partial
from io import FileIO
from multiprocessing import get_context

import numpy as np
import pytest
from support import run
from typer.testing import CliRunner

import topoi
from topoi import LDA, Corpus
from topoi.cli import app
from topoi.storage import files
from topoi.storage.files import WriteError, check_outputs


def assert_one_sentence(message):
    assert message.endswith(".")
    assert message.count("cannot be written") == 1
    assert "\n" not in message
    assert "Errno" not in message


def command(*arguments):
    """Run a command in a folder; a failure must be one sentence and exit status 1."""

    def act(folder):
        filled = [str(argument).replace("@", f"{folder}/") for argument in arguments]
        result = CliRunner().invoke(app, filled)
        if result.exit_code:
            assert result.exit_code == 1, result.output
            last = result.stderr.splitlines()[-1]
            assert result.stderr.count("Error: ") == 1
            raise OSError(last.removeprefix("Error: "))

    return act


ACTIONS = {
    "save": (["o.topoi"], lambda folder: topoi.load(folder / "m.topoi").save(folder / "o.topoi")),
    "report": (["o.html"], lambda folder: topoi.load(folder / "m.topoi").report(folder / "o.html")),
    "report command": (["o.html"], command("report", "@m.topoi", "-o", "@o.html", "--force")),
    "name": (["m.topoi"], command("topics", "@m.topoi", "--name", "0=pets")),
    "transform": (
        ["o.csv"],
        command("transform", "@m.topoi", "@in.csv", "-o", "@o.csv", "--force"),
    ),
    "transform json": (
        ["o.jsonl"],
        command("transform", "@m.topoi", "@in.csv", "-o", "@o.jsonl", "--force"),
    ),
}

for name in ("o.npz", "docword.o.txt", "o.ldac.gz", "o.mtx", "o.svm", "o.h5ad"):
    beside = {"docword.o.txt": ["vocab.o.txt"], "o.npz": [], "o.h5ad": []}.get(name, ["o.vocab"])
    ACTIONS[f"convert {name}"] = (
        [name, *beside],
        command("convert", "@in.csv", f"@{name}", "--force"),
    )


class Disk:
    """Counts the calls to the system that `atomic_write` makes, and lets one of them fail."""

    def __init__(self, monkeypatch, fail_at=None, code=errno.EIO):
        self.calls, self.fail_at, self.code = [], fail_at, code
        disk = self

        class File(FileIO):
            def write(self, data):
                disk.call("write")
                return super().write(data)

            def close(self):
                was_open = not self.closed
                super().close()
                if was_open:
                    disk.call("close")

        class System:
            def __getattr__(self, name):
                return getattr(os, name)

            def open(self, path, flags, *mode):
                disk.call("open folder" if os.path.isdir(path) else "open")
                return os.open(path, flags, *mode)

            def fsync(self, handle):
                disk.call("fsync folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "fsync")
                os.fsync(handle)

            def replace(self, old, new):
                disk.call("replace")
                os.replace(old, new)

        monkeypatch.setattr(files, "FileIO", File)
        monkeypatch.setattr(files, "os", System())

    def call(self, name):
        self.calls.append(name)
        if len(self.calls) - 1 == self.fail_at:
            raise OSError(self.code, os.strerror(self.code))


def contents(folder):
    """Every file of a folder with its bytes, links as what they point at."""
    return {
        p.name: str(p.readlink()) if p.is_symlink() else p.read_bytes()
        for p in folder.iterdir()
        if not p.is_dir()
    }


TEXTS = ["cats dogs pets", "dogs cats fur", "stocks market bank", "bank money stocks"] * 5


@pytest.fixture(scope="module")
def model():
    return LDA(2, max_iter=2).fit(topoi.read(TEXTS, vectorizer=topoi.make_vectorizer(min_df=1)))


@pytest.fixture
def work(tmp_path, model):
    """A folder with documents and a model of them."""
    (tmp_path / "in.csv").write_text("text\n" + "\n".join(TEXTS))
    model.save(tmp_path / "m.topoi")
    return tmp_path


posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals, links and permissions")


CALLS = ["open", "write", "fsync", "close", "replace", "open folder", "fsync folder"]


CURE = {errno.ENOSPC: "free some space, or ", errno.EIO: ""}


CODES = list(CURE)


@posix
@pytest.mark.parametrize("action", ACTIONS)
def test_whatever_call_fails_a_file_is_the_old_or_the_new_one(work, monkeypatch, action):
    names, act = ACTIONS[action]
    if action == "convert o.h5ad":
        pytest.importorskip("anndata")
    old = {name: (work / name).read_bytes() if (work / name).exists() else b"old" for name in names}

    def prepare():
        for name, content in old.items():
            (work / name).write_bytes(content)

    prepare()
    before = contents(work)
    with monkeypatch.context() as patched:
        disk = Disk(patched)
        act(work)
    new, calls = contents(work), disk.calls
    assert Counter(calls).keys() == set(CALLS), "everything is written by atomic_write"
    assert new.keys() == before.keys()
    for fail_at in range(len(calls)):
        for code in CODES:
            prepare()
            with monkeypatch.context() as patched:
                Disk(patched, fail_at, code)
                with pytest.raises(
                    OSError, match=rf"cannot be written \({os.strerror(code)}\)"
                ) as caught:
                    act(work)
            assert_one_sentence(str(caught.value))
            after = contents(work)
            assert after.keys() == before.keys(), f"{calls[fail_at]} leaves a file behind"
            if "replace" not in calls[:fail_at]:
                assert after == before, "also of two files that belong together"
            for name in before:
                assert after[name] in (before[name], new[name]), f"{name} after {calls[fail_at]}"


@posix
def test_a_run_whose_checkpoint_cannot_be_written_continues_and_can_resume(tmp_path, monkeypatch):
    """Whatever call fails: the checkpoint is whole, and the run ends in the same bits."""
    counts, path = np.eye(6) + 1, tmp_path / "run.ckpt"
    whole = LDA(2, max_iter=3, tol=0).fit(counts)

    def fit():
        return LDA(2, max_iter=3, tol=0).fit(counts, checkpoint=path, checkpoint_every=1)

    with monkeypatch.context() as patched:
        disk = Disk(patched)
        fit()
    calls = disk.calls
    assert calls.count("replace") == 3
    for fail_at in range(len(calls)):
        for code in CODES:
            path.unlink(missing_ok=True)
            with monkeypatch.context() as patched, warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("default")
                Disk(patched, fail_at, code)
                if fail_at == 0:
                    with pytest.raises(WriteError, match=r"run\.ckpt cannot be written"):
                        fit()  # there is no lock, so nothing has begun
                else:
                    np.testing.assert_array_equal(fit().components_, whole.components_)
                    assert [str(w.message) for w in told] == [
                        f"{path} cannot be written ({os.strerror(code)}); {CURE[code]}choose"
                        " another place. The run continues, with its last checkpoint as it was."
                    ]
            assert {p.name for p in tmp_path.iterdir()} <= {"run.ckpt"}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it may be finished
                np.testing.assert_array_equal(fit().components_, whole.components_)


SLOW = """
import sys, time
from io import FileIO
from topoi.storage import files
class Slow(FileIO):
    slept = False
    def write(self, data):
        if not Slow.slept:
            Slow.slept = True
            print("writing", flush=True)
            time.sleep(60)
        return super().write(data)
files.FileIO = Slow
from topoi.cli import main
sys.argv = ["topoi", "topics", sys.argv[1], "--name", "0=x"]
main()
"""


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_in_the_middle_of_a_save_leaves_nothing_behind(work, number):
    before = contents(work)
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(work / "m.topoi")],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=partial(
            signal.signal, number, signal.SIG_DFL
        ),  # a background job ignores Ctrl-C
    )
    assert process.stdout.readline() == "writing\n"
    assert len(contents(work)) == len(before) + 1, "a temporary file is there"
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == (1 if number == signal.SIGINT else 128 + number)
    assert contents(work) == before


@posix
def test_a_terminated_fit_leaves_its_checkpoint_and_nothing_else(work):
    arguments = ["fit", "in.csv", "-o", "o.topoi", "--max-iter", "100000000", "--tol", "0"]
    arguments += [
        "--checkpoint",
        "run.ckpt",
        "--checkpoint-every",
        "1",
        "--min-df",
        "1",
        "--max-df",
        "1.0",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "topoi", *arguments], cwd=work, stderr=subprocess.DEVNULL
    )
    while not (work / "run.ckpt").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 143
    assert {p.name for p in work.iterdir()} == {"in.csv", "m.topoi", "run.ckpt"}


def keep_saving(models, path, until):
    while time.monotonic() < until:
        for model in models:
            model.save(path)


@posix
def test_readers_see_whole_files_while_several_processes_write(tmp_path, model):
    path, elsewhere = tmp_path / "m.topoi", tmp_path / "elsewhere"
    other = LDA(3, max_iter=2).fit(np.eye(30) + 1)
    model.save(path)
    (tmp_path / "m.topoi.part").write_text("the user's own")
    elsewhere.write_text("untouched")
    until = time.monotonic() + 2
    context = get_context("fork")
    writers = [
        context.Process(target=keep_saving, args=([model, other], path, until)) for _ in range(4)
    ]
    for writer in writers:
        writer.start()
    reads = 0
    while any(writer.is_alive() for writer in writers):
        assert topoi.load(path).n_components in (2, 3)
        reads += 1
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert reads > 10
    assert (tmp_path / "m.topoi.part").read_text() == "the user's own"
    (tmp_path / "m.topoi.part").unlink()
    (tmp_path / "m.topoi.part").symlink_to(elsewhere)
    model.save(path)
    assert (tmp_path / "m.topoi.part").readlink() == elsewhere
    assert elsewhere.read_text() == "untouched"
    assert {p.name for p in tmp_path.iterdir()} == {"m.topoi", "m.topoi.part", "elsewhere"}


FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from topoi.cli import main
sys.argv[0] = "topoi"
main()
"""


@posix
@pytest.mark.parametrize("name", ["o.h5ad", "o.npz", "o.mtx"])
def test_convert_on_a_full_disk_ends_with_one_sentence(work, name):
    """The process may write no file of more than 1,000 bytes."""
    if name == "o.h5ad":
        pytest.importorskip("anndata")
    words = " ".join(f"w{i}" for i in range(200))
    (work / "in.csv").write_text("text\n" + f"{words} odd\n" * 5 + f"{words} even\n" * 5)
    before = contents(work)
    arguments = ["convert", work / "in.csv", work / name, "--max-df", "1.0"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        [sys.executable, "-c", FULL, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert result.returncode == 1, result.stderr
    assert result.stderr.startswith(f"Error: {work / name} cannot be written (File too large)")
    assert result.stderr.count("\n") == 1
    assert contents(work) == before


def test_two_files_never_get_one_name(work):
    before = contents(work)
    said = run("convert", work / "in.csv", work / "out.vocab", "--to", "mtx", code=2).stderr
    assert "its words would go to a file of the same name" in said
    with pytest.raises(ValueError, match="a file of the same name"):
        topoi.write(Corpus(np.eye(3), ["x", "y", "z"]), work / "out.vocab", "ldac")
    said = run("fit", work / "in.csv", "-o", work / "x", "--checkpoint", work / "x", code=2).stderr
    assert "two files would get this name" in said
    assert contents(work) == before


def linked(folder, name, kind):
    """Another name of a file."""
    other = folder / f"other-{name}"
    if kind == "same":
        return folder / name
    other.symlink_to(folder / name) if kind == "symlink" else other.hardlink_to(folder / name)
    return other


@posix
@pytest.mark.parametrize("kind", ["same", "symlink", "hard link"])
@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["transform", "@m.topoi", "@in.csv", "-o"], "in.csv"),
        (["fit", "@in.csv", "-o"], "in.csv"),
        (["fit", "@in.csv", "-o", "@new.topoi", "--checkpoint"], "in.csv"),
        (["fit", "@in.csv", "--init", "@m.topoi", "-o"], "m.topoi"),
        (["fit", "@in.csv", "--stop-words", "english,@stop", "-o"], "stop"),
        (["fit", "@in.csv", "--vocabulary", "@words", "-o"], "words"),
        (["fit", "@in.csv", "--links", "@pairs.csv", "-o"], "pairs.csv"),
        (["convert", "@in.csv", "--to", "npz"], "in.csv"),
        (["convert", "@counts.mtx", "--to", "npz"], "counts.vocab"),
        (["convert", "@texts", "--to", "npz"], "texts/a.txt"),
        (["report", "@m.topoi", "-o"], "m.topoi"),
        (["report", "@m.topoi", "--test", "@in.csv", "-o"], "in.csv"),
    ],
)
def test_no_command_destroys_its_input(work, arguments, name, kind):
    for file in ("stop", "words", "pairs.csv"):
        (work / file).write_text("cats")
    topoi.write(
        topoi.read(work / "in.csv", vectorizer=topoi.make_vectorizer(min_df=1)), work / "counts.mtx"
    )
    (work / "texts").mkdir()
    (work / "texts" / "a.txt").write_text("cats and dogs")
    folder = (work / name).parent
    output = linked(folder, (work / name).name, kind)
    before = contents(work) | contents(folder)
    filled = [argument.replace("@", f"{work}/") for argument in arguments]
    if arguments[0] == "convert":
        filled.insert(2, str(output))
    else:
        filled.append(str(output))
    said = run(*filled, "--force", code=2).stderr
    assert f"{output} cannot be written: it would destroy the input" in said
    assert said.count("\n") == 1
    assert contents(work) | contents(folder) == before


def test_words_of_the_input_are_not_replaced_by_others(work):
    """The side file of an output may be a file of the input."""
    (work / "o.vocab").write_text("\n".join(TEXTS))
    said = run(
        "convert", work / "o.vocab", work / "o.mtx", "--format", "lines", "--force", code=2
    ).stderr
    assert "would destroy the input" in said
    corpus = topoi.read(work / "in.csv", vectorizer=topoi.make_vectorizer(min_df=1))
    topoi.write(corpus, work / "c.mtx")
    run("convert", work / "c.mtx", work / "c.ldac")  # the same words: shared
    (work / "others").write_text("".join(f"{word}s\n" for word in corpus.words))
    said = run(
        "convert",
        work / "c.mtx",
        work / "c.svm",
        "--vocabulary",
        work / "others",
        "--force",
        code=2,
    ).stderr
    assert "would destroy the input" in said


def test_a_folder_of_texts_may_hold_the_outputs(work):
    (work / "a.txt").write_text("cats dogs cats dogs")
    (work / "b.txt").write_text("dogs cats dogs cats")
    for _ in range(2):
        run("convert", work, work / "c.npz", "--max-df", "1.0", "--force")


@posix
def test_a_link_stays_a_link(work):
    (work / "far").mkdir()
    (work / "m.topoi").rename(work / "far" / "real.topoi")
    link = work / "link.topoi"
    link.symlink_to("far/real.topoi")
    run("topics", link, "--name", "0=pets")
    assert str(link.readlink()) == "far/real.topoi"
    assert "pets" in topoi.load(work / "far" / "real.topoi").topic_names_
    assert {p.name for p in (work / "far").iterdir()} == {"real.topoi"}


@posix
def test_a_dangling_link_exists(work):
    link = work / "o.csv"
    link.symlink_to(work / "nothing.csv")
    arguments = ["transform", work / "m.topoi", work / "in.csv", "-o", link]
    assert "exists already" in run(*arguments, code=2).stderr
    assert "exists already" in run("fit", work / "in.csv", "-o", link, code=2).stderr
    assert not (work / "nothing.csv").exists()
    run(*arguments, "--force")
    assert link.readlink() == work / "nothing.csv"
    assert (work / "nothing.csv").read_text().startswith("document,")


def test_outputs_are_checked_in_one_place(tmp_path):
    (tmp_path / "f").write_text("old")
    with pytest.raises(FileExistsError, match="exists already"):
        check_outputs([tmp_path / "f"])
    check_outputs([tmp_path / "f"], overwrite=True)
    with pytest.raises(ValueError, match="two files would get this name"):
        check_outputs([tmp_path / "g", tmp_path / "." / "g"], overwrite=True)
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        check_outputs([tmp_path], overwrite=True)
