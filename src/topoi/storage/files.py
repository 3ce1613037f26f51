"""Writing files: whole or not at all, and never over something that should stay.

Everything that topoi writes goes through `atomic_write`, every question whether a file may be
written through `check_outputs`, and a file that one process at a time may use has a `locked` block.
"""

from __future__ import annotations

import errno
import gzip
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from io import BufferedWriter, FileIO
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows: there are no locks, and everything else works
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "WriteError",
    "atomic_write",
    "check_outputs",
    "locked",
    "remove_temporaries",
    "same_file",
]

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL  # a name that is taken is never opened
NEW |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
LONGEST_NAME = 200  # bytes of a file name that a temporary name repeats; systems allow 255 in all
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EINVAL)  # file systems without locks
NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)  # of one that cannot synchronise a folder


class WriteError(OSError):
    """A file could not be written. The message is one sentence that names it; `errno` says why."""

    def __str__(self) -> str:
        return str(self.strerror)


@contextmanager
def atomic_write(path: str | Path, *, compress: bool = False) -> Iterator[IO[bytes]]:
    """Open a temporary file for writing that takes the place of `path` when the block ends.

    A reader, or a crash at any moment, sees the old file or the whole new one. The temporary file
    lies in the same folder under a name of its own, and is removed if anything fails. Links are
    followed: a link stays, and the file it leads to is replaced.

    Parameters
    ----------
    path : str or Path
        The file to write. A file that is replaced passes its permissions on.
    compress : bool, default=False
        Compress with gzip.

    Yields
    ------
    file : binary file

    Raises
    ------
    WriteError
        If the system cannot write, for instance because the disk is full.
    """
    target = _target(path)
    temporary = target.with_name(_temporary_name(target.name))
    try:
        with BufferedWriter(FileIO(os.open(temporary, NEW, 0o666), "w")) as file:
            _take_permissions(temporary, target)
            if compress:
                with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
        _sync_folder(target.parent)
    except BaseException as error:  # also Ctrl-C, and SIGTERM in the command
        if not isinstance(error, FileExistsError):  # then the name is taken: the file is not ours
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, WriteError):
            raise _write_error(path, error) from error
        raise


def _write_error(path: str | Path, error: OSError) -> WriteError:
    cure = "choose another place"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        cure = f"free some space, or {cure}"
    reason = error.strerror or type(error).__name__
    return WriteError(error.errno, f"{path} cannot be written ({reason}); {cure}.")


def _target(path: str | Path) -> Path:
    """The file that `path` leads to, if it can be a file."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} cannot be written: it is a folder. Name a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {target.parent}.")
    if os.path.lexists(target) and not target.is_file():  # replacing a device would harm the system
        raise ValueError(f"{path} cannot be written: it is not a regular file. Give another name.")
    return target


def _temporary_name(name: str) -> str:
    """A hidden name that nobody else has."""
    return f"{_temporary_prefix(name)}{secrets.token_hex(8)}.part"


def _temporary_prefix(name: str) -> str:
    encoded = os.fsencode(name)
    return f".{name if len(encoded) <= LONGEST_NAME else sha256(encoded).hexdigest()}."


def _take_permissions(temporary: Path, target: Path) -> None:
    """Give a new file the owner and permissions of the one that it will replace."""
    if not target.exists():
        return
    old, new = target.stat(), temporary.stat()
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with suppress(PermissionError):  # only root may give files away
            os.chown(temporary, old.st_uid, old.st_gid)
    if stat.S_IMODE(old.st_mode) != stat.S_IMODE(new.st_mode):
        os.chmod(temporary, old.st_mode & 0o777)


def _sync_folder(folder: Path) -> None:
    """Write the names of a folder to the disk, so that a rename survives a power failure."""
    if os.name == "nt":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # a folder that may be written and not read
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in NO_SYNC:
            raise
    finally:
        os.close(handle)


# ------------------------------------------------------------ what may be written


def check_outputs(
    outputs: Sequence[str | Path],
    *,
    inputs: Sequence[str | Path] = (),
    overwrite: bool = False,
) -> None:
    """Refuse to write `outputs` if something that should stay would be lost.

    Parameters
    ----------
    outputs : sequence of paths
        Files to write. No two of them may be the same file.
    inputs : sequence of paths
        What is read: files, or folders of .txt files. None of it may be written, whatever
        `overwrite` says.
    overwrite : bool, default=False
        Allow outputs to exist. A link exists, wherever it leads.
    """
    for i, output in enumerate(outputs):
        _target(output)
        source = next((source for source in inputs if _holds(source, output)), None)
        if source is not None:
            reason = f"it would destroy the input {source}"
            raise ValueError(f"{output} cannot be written: {reason}. Choose another name.")
        if any(same_file(output, other) for other in outputs[:i]):
            reason = "two files would get this name"
            raise ValueError(f"{output} cannot be written: {reason}. Choose another name.")
        if os.path.lexists(output) and not overwrite:
            cure = "choose another name, or allow it to be replaced with overwrite=True"
            raise FileExistsError(f"{output} exists already; {cure}.")


def _holds(source: str | Path, output: str | Path) -> bool:
    """Whether `output` is the file `source`, or a document in the folder `source`."""
    if os.path.isdir(source) and os.path.exists(output):
        documents = (file for file in Path(source).rglob("*") if file.suffix.lower() == ".txt")
        return any(same_file(file, output) for file in documents)
    return same_file(source, output)


def same_file(one: str | Path, other: str | Path) -> bool:
    """Whether two paths lead to one file, through links of any kind; it need not exist yet."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


# ------------------------------------------------------------ one process at a time


@contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Keep other processes that ask for it from using `path` while the block runs.

    The lock is the system's own on the file `path`.lock. It ends with the process, however that
    ends; a file that a killed process left behind locks nothing.

    Raises
    ------
    BlockingIOError
        If the file is in use.
    """
    target = _target(path)
    beside = target.with_name(f"{target.name}.lock")
    try:
        handle = _take_lock(beside)
    except BlockingIOError:
        cure = "wait for its end, or give each run a checkpoint of its own"
        raise BlockingIOError(f"{path} is in use by another run; {cure}.") from None
    except OSError as error:
        raise _write_error(path, error) from error
    try:
        yield
    finally:
        _release_lock(beside, handle)


def _take_lock(path: Path) -> int | None:
    """A locked handle of the file; None where the system has no locks."""
    if fcntl is None:
        return None
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(handle, path):  # else its last user has just removed it
                return handle
        except BaseException as error:
            os.close(handle)
            if isinstance(error, OSError) and error.errno in NO_LOCKS:
                return None
            raise
        os.close(handle)


def _release_lock(path: Path, handle: int | None) -> None:
    if handle is None:
        return
    with suppress(OSError):
        if _is_at(handle, path) and not os.fstat(handle).st_size:  # a user's own file stays
            path.unlink()
    os.close(handle)


def _is_at(handle: int, path: Path) -> bool:
    """Whether an open file is the one that has this name now."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


def remove_temporaries(path: str | Path) -> None:
    """Remove what killed writers of `path` left. Only for files that are `locked`."""
    target = _target(path)
    ours = re.compile(re.escape(_temporary_prefix(target.name)) + r"[0-9a-f]{16}\.part")
    for file in target.parent.iterdir():
        if ours.fullmatch(file.name):
            file.unlink(missing_ok=True)
