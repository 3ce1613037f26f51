"""atomic_write and locks, by themselves."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import numpy as np
import pytest

import topoi
from topoi import LDA, Corpus
from topoi.storage import files
from topoi.storage.files import WriteError, atomic_write, locked

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals, links and permissions")


@posix
def test_permissions_are_those_of_a_new_file_or_of_the_one_that_is_replaced(tmp_path):
    path = tmp_path / "f"
    mask = os.umask(0o027)
    try:
        with atomic_write(path) as file:
            file.write(b"new")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    finally:
        os.umask(mask)
    path.chmod(0o604)
    with atomic_write(path) as file:
        temporary = next(p for p in tmp_path.iterdir() if p != path)
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o604, "nobody else can read it in between"
        file.write(b"newer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert path.read_bytes() == b"newer"


def contents(folder):
    """Every file of a folder with its bytes, links as what they point at."""
    return {
        p.name: str(p.readlink()) if p.is_symlink() else p.read_bytes()
        for p in folder.iterdir()
        if not p.is_dir()
    }


def test_a_temporary_name_that_is_taken_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_temporary_name", lambda name: "taken")
    (tmp_path / "taken").write_text("precious")
    with pytest.raises(WriteError, match="f cannot be written"), atomic_write(tmp_path / "f"):
        pass
    assert contents(tmp_path) == {"taken": b"precious"}


@posix
def test_long_names_and_names_that_are_not_text_can_be_written(tmp_path):
    for name in ("x" * 255, "ü" * 127, os.fsdecode(b"\xff\xfe.topoi")):
        with atomic_write(tmp_path / name) as file:
            file.write(b"new")
        assert contents(tmp_path) == {name: b"new"}
        (tmp_path / name).unlink()


def test_compressed_files_are_the_same_bytes_every_time(tmp_path):
    for name in "ab":
        topoi.write(Corpus(np.eye(3), ["x", "y", "z"]), tmp_path / f"{name}.mtx.gz")
    assert (tmp_path / "a.mtx.gz").read_bytes() == (tmp_path / "b.mtx.gz").read_bytes()


TEXTS = ["cats dogs pets", "dogs cats fur", "stocks market bank", "bank money stocks"] * 5


@pytest.fixture(scope="module")
def model():
    return LDA(2, max_iter=2).fit(topoi.read(TEXTS, vectorizer=topoi.make_vectorizer(min_df=1)))


@posix
def test_what_is_not_a_file_is_refused(tmp_path, model):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, said in (
        ("pipe", "not a regular file"),
        ("loop", "not a regular file"),
        (".", "it is a folder"),
    ):
        with pytest.raises((ValueError, OSError), match=said):
            model.save(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        model.save(tmp_path / "none" / "m.topoi")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@posix
def test_a_lock_refuses_others_and_leaves_nothing_behind(tmp_path):
    path = tmp_path / "run.ckpt"
    with locked(path):
        with (
            pytest.raises(BlockingIOError, match=r"run\.ckpt is in use by another run; wait"),
            locked(path),
        ):
            pass
        assert [p.name for p in tmp_path.iterdir()] == ["run.ckpt.lock"]
    assert not list(tmp_path.iterdir())
    with locked(path):
        pass


@posix
def test_a_lock_of_a_killed_process_blocks_nobody(tmp_path):
    path = tmp_path / "run.ckpt"
    code = (
        f"from topoi.storage.files import locked\nwith locked({str(path)!r}):\n    print('held',"
        " flush=True)\n    input()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    with pytest.raises(BlockingIOError), locked(path):
        pass
    process.kill()
    process.communicate()
    assert [p.name for p in tmp_path.iterdir()] == ["run.ckpt.lock"]
    with locked(path):
        pass
    assert not list(tmp_path.iterdir())


@posix
def test_a_file_that_only_looks_like_a_lock_stays(tmp_path):
    (tmp_path / "run.ckpt.lock").write_text("the user's own")
    with locked(tmp_path / "run.ckpt"):
        pass
    assert contents(tmp_path) == {"run.ckpt.lock": b"the user's own"}


def test_a_system_without_locks_works(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "fcntl", None)
    with locked(tmp_path / "run.ckpt"):
        assert not list(tmp_path.iterdir())
