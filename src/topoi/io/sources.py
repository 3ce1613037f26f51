"""What a source names: a file, a folder, several files, a pattern, or standard input."""

from __future__ import annotations

import glob
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoi.io import formats
from topoi.io.lines import Progress, existing
from topoi.io.tables import open_files, open_rows

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = ["STDIN", "files_named", "name_of", "on_disk", "open_source"]

STDIN = "-"


def _is_files(source: Any) -> bool:
    """Whether a source is one or several names of files; a list of str is texts."""
    several = isinstance(source, list | tuple) and len(source) > 0
    return isinstance(source, str | Path) or (
        several and all(isinstance(item, Path) for item in source)
    )


def files_named(source: str | Path | list[Path]) -> list[Path]:
    """The files and folders that a source names, in order; a pattern such as 'news/*.csv' names
    what it matches.
    """
    named = source if isinstance(source, list | tuple) else [source]
    found: list[Path] = []
    for name in named:
        if not Path(name).exists() and glob.has_magic(str(name)):
            matches = sorted(map(Path, glob.glob(str(name), recursive=True)))
            if not matches:
                raise FileNotFoundError(f"{name} matches no file; check the pattern.")
            found += matches
        else:
            found.append(Path(name))
    twice = next((path for path in found if found.count(path) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice} is given twice; give each file once.")
    return [existing(path) for path in found]


@contextmanager
def on_disk(source: Any, form: str | None) -> Iterator[object]:
    """The source, with what comes through a pipe as a file that may be read twice."""
    piped = isinstance(source, str | Path) and (
        str(source) == STDIN or (Path(source).exists() and _is_pipe(Path(source)))
    )
    if not piped:
        yield source
        return
    if form is None:
        raise ValueError(
            "Standard input has no name that tells its format; pass form=..., such as form='csv'."
        )
    with tempfile.TemporaryDirectory(prefix="topoi-") as folder:
        path = Path(folder) / "standard input"
        with path.open("wb") as file:
            if str(source) == STDIN:
                shutil.copyfileobj(sys.stdin.buffer, file)
            else:
                with Path(source).open("rb") as pipe:
                    shutil.copyfileobj(pipe, file)
        yield path


def _is_pipe(path: Path) -> bool:
    return path.is_fifo() or path.is_char_device() or path.is_socket()


def name_of(source: Any) -> str:
    """How errors call the source."""
    if not _is_files(source):
        return "This"
    return str(source if isinstance(source, str | Path) else source[0])


def open_source(
    source: Any,
    form: str | None,
    encoding: str,
    vocabulary: Sequence[str] | str | Path | None,
    zero_based: bool,
    progress: Progress | None,
) -> object:
    """Rows or counts of files; anything in memory as it is."""
    if not _is_files(source):
        return source
    paths = files_named(source)
    path = paths[0]
    if len(paths) > 1:
        counts = next((p for p in paths if p.is_file() and formats.detect(p) is not None), None)
        if form in formats.FORMATS or (form is None and counts is not None):
            raise ValueError(
                f"{counts or path} holds counts; several files must be texts or tables. Read each"
                " and put them together, or give one file."
            )
        return open_files(paths, form, encoding, progress)
    form = form or (None if path.is_dir() else formats.detect(path))
    if zero_based and form != "svmlight":
        raise ValueError(f"{path} is not SVMlight; leave zero_based out.")
    if form == "h5ad":
        return formats.open_h5ad(path)
    if form in formats.FORMATS:
        return formats.read(
            path, form, vocabulary=vocabulary, zero_based=zero_based, progress=progress
        )
    return open_rows(path, form, encoding, progress)
