"""Compiled kernels on disk: damaged, stale and unwritable ones cost time and never a fit."""

from __future__ import annotations

import errno
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numba
import numpy as np
import pytest

import topoi
from topoi.infer.kernels import cache, primitives


def triple(x):
    return 3 * x


def kept(folder: Path, suffix: str) -> Path:
    """The one file of a kernel in `folder` that ends in `suffix`."""
    (path,) = folder.rglob(f"*{suffix}")
    return path


def use() -> tuple[int, int]:
    """Call a kernel as a new process would; hits and misses."""
    kernel = primitives.compiled(triple)
    assert kernel(14) == 42
    return sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    cache._warn_uncached.cache_clear()
    yield tmp_path
    cache._warn_uncached.cache_clear()


def middle_flipped(content: bytes) -> bytes:
    at = len(content) // 2
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


DAMAGE = {
    "empty": lambda content: b"",
    "a byte": lambda content: content[:1],
    "half": lambda content: content[: len(content) // 2],
    "last byte missing": lambda content: content[:-1],
    "one bit": middle_flipped,
    "zeros": lambda content: bytes(len(content)),
    "garbage": lambda content: np.random.default_rng(0).bytes(len(content)),
    "text": lambda content: b"no space left on device",
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_damaged_file_is_compiled_again_and_replaced(folder, suffix, damage):
    assert use() == (0, 1)
    assert use() == (1, 0)
    path = kept(folder, suffix)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert use() == (0, 1)
    assert use() == (1, 0)


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_file_of_someone_else_is_not_unpickled(folder, suffix):
    """A pickle can run anything; without the right digest it is not opened."""
    use()

    class Payload:
        def __reduce__(self):
            return os.mkdir, (str(folder / "was here"),)

    path = kept(folder, suffix)
    path.write_bytes(pickle.dumps(Payload()))
    assert use() == (0, 1)
    path.write_bytes(bytes(32) + pickle.dumps(Payload()))
    assert use() == (0, 1)
    assert not (folder / "was here").exists()


def test_a_missing_file_is_compiled_again(folder):
    use()
    kept(folder, ".nbc").unlink()
    assert use() == (0, 1)
    kept(folder, ".nbi").unlink()
    assert use() == (0, 1)
    assert use() == (1, 0)


def test_kernels_of_other_sources_or_modes_are_compiled_again(folder, monkeypatch):
    """Numba watches the file of a kernel, not the files that it takes functions from."""
    use()
    monkeypatch.setattr(cache, "_shared_sources", lambda: "changed")
    assert use() == (0, 1)
    assert use() == (1, 0)
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", int(not numba.config.BOUNDSCHECK))
    assert use() == (0, 1)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_kernel_that_cannot_be_kept_works_with_one_warning(folder, monkeypatch, code):
    def fail(self, path):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(cache.CheckedFiles, "_open_for_write", fail)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        use()
        use()
    assert len(said) == 1
    assert os.strerror(code) in str(said[0].message)
    assert "NUMBA_CACHE_DIR" in str(said[0].message)


# --------------------------------------------------------------------------- read-only installation


@pytest.fixture(scope="module")
def read_only():
    """A copy of the package that nobody can write to."""
    with tempfile.TemporaryDirectory() as folder:  # not tmp_path, which other users cannot enter
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(topoi.__file__).parent, Path(folder) / "topoi", ignore=ignored)
        for path in [Path(folder), *Path(folder).rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        yield Path(folder)
        for path in [Path(folder), *Path(folder).rglob("*")]:
            path.chmod(0o755)


# Root may write anywhere, so it becomes another user, who may read everything (this interpreter,
# wherever it is) and write nothing.
READS_ALONE = "-all,+dac_read_search"
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
AS_NOBODY += [f"--{kind}={READS_ALONE}" for kind in ("inh-caps", "ambient-caps", "bounding-set")]
IS_ROOT = os.name == "posix" and os.getuid() == 0


def run_as_nobody(
    folder: Path, code: str, **environment: str | None
) -> subprocess.CompletedProcess[str]:
    """Run Python with the package in `folder`, as a user who cannot write to it."""
    given = {**os.environ, "PYTHONPATH": str(folder), "HOME": str(folder), **environment}
    given = {
        name: value
        for name, value in given.items()
        if value is not None and name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    }
    arguments = [*(AS_NOBODY if IS_ROOT else []), sys.executable, "-c", code]
    return subprocess.run(
        arguments, capture_output=True, text=True, env=given, cwd="/", timeout=300
    )


@pytest.fixture(scope="module")
def as_nobody(read_only):
    if os.name != "posix":
        pytest.skip("permissions of Windows are others")
    if IS_ROOT and (shutil.which("setpriv") is None or run_as_nobody(read_only, "").returncode):
        pytest.skip("root cannot become another user here")
    return lambda code, **environment: run_as_nobody(read_only, code, **environment)


HOMES = [
    pytest.param({}, id="read-only"),
    pytest.param({"HOME": "/nonexistent"}, id="missing"),
    pytest.param(
        {"HOME": None},
        id="unset",
        marks=pytest.mark.skipif(not IS_ROOT, reason="this user has a home"),
    ),
]


@pytest.mark.parametrize("home", HOMES)
def test_kernels_run_without_any_writable_folder(as_nobody, read_only, home):
    code = (
        "import topoi.infer.kernels as k, topoi, numpy; print(topoi.__file__, k.uniforms(1,"
        " numpy.arange(3)).sum())"
    )
    result = as_nobody(code, **home)
    assert result.returncode == 0, result.stderr
    assert str(read_only) in result.stdout
    assert result.stderr.count("Warning: ") == 1
    assert "set NUMBA_CACHE_DIR to a folder of your own" in result.stderr


def test_the_command_says_it_in_one_line(as_nobody):
    code = """
import sys, warnings
from topoi.cli.shell import _guarded
def kernel():
    import topoi.infer.kernels as k, numpy
    print(k.uniforms(1, numpy.arange(3)).sum())
_guarded(kernel)()
"""
    result = as_nobody(code)
    assert result.returncode == 0, result.stderr
    (line,) = result.stderr.splitlines()
    assert line.startswith("Compiled kernels are not kept: no cache folder is writable.")
    assert "NUMBA_CACHE_DIR" in line


def test_a_first_fit_on_a_read_only_installation(as_nobody):
    code = (
        "from topoi import LDA, datasets; print(LDA(2,"
        " max_iter=2).fit(datasets.make_blocks(random_state=0)[0]).n_iter_)"
    )
    result = as_nobody(code)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "2"
