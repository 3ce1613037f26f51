"""Files: opened whatever their compression, read line by line with the line's number in errors."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

from topoi.storage.files import atomic_write

__all__ = [
    "Progress",
    "composed",
    "existing",
    "numbered_lines",
    "read_words",
    "stem_and_suffix",
    "write_text",
    "writing_words",
]

Progress = Callable[[int, int], None]  # (done, of how many), for progress bars

UNDECODED = re.compile(
    "[\udc80-\udcff]"
)  # what Python makes of bytes that are not text in the encoding
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")  # suffixes of files that are unpacked
LONGEST_LINE = 2**27  # characters: a small .gz file can hold a line that fills the memory
LOOK_EVERY = 1000  # lines between two words to the progress bar


def existing(path: str | Path) -> Path:
    """`path` if there is a file with something in it."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist; check the path.")
    if path.is_file() and not path.stat().st_size:
        raise ValueError(f"{path} is empty; give a file with documents in it.")
    return path


def stem_and_suffix(path: str | Path) -> tuple[str, str]:
    """File name without suffix, and the suffix in lower case without that of a compression:
    docword.kos.txt.gz -> docword.kos, .txt.
    """
    path = Path(path)
    path = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return path.stem, path.suffix.lower()


def numbered_lines(
    path: Path,
    encoding: str = "utf-8-sig",
    progress: Progress | None = None,
    newline: str | None = None,
) -> Iterator[tuple[int, str]]:
    """(number from 1, line) of a text file, plain or compressed, one at a time."""
    size = path.stat().st_size
    with path.open("rb") as raw:
        _refuse_binary(path, raw, encoding)
        opened = _unpacked(path, raw)
        file = TextIOWrapper(opened, encoding, errors="surrogateescape", newline=newline)
        number = 0
        try:
            for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE), ""), 1):
                if not line.isascii() and UNDECODED.search(line):
                    raise _not_text(path, encoding, number)
                if "\0" in line:
                    raise _binary(path)
                if len(line) == LONGEST_LINE:
                    fault = f"longer than {LONGEST_LINE:,} characters"
                    raise ValueError(f"{path}, line {number}: {fault}; break the line.")
                if progress is not None and number % LOOK_EVERY == 0:
                    progress(raw.tell(), size)
                yield number, line
        except UnicodeError:
            raise _not_text(path, encoding, number + 1) from None
        except (EOFError, OSError, lzma.LZMAError, zipfile.BadZipFile, zlib.error) as error:
            if path.suffix.lower() not in COMPRESSED:
                raise
            raise ValueError(
                f"{path} is a damaged {path.suffix} file after line {number}; get a whole copy."
            ) from error
        if progress is not None:
            progress(size, size)


def _unpacked(path: Path, raw: IO[bytes]) -> Any:
    """The bytes of a file that may be compressed."""
    suffix = path.suffix.lower()
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=raw)
    if suffix == ".bz2":
        return bz2.BZ2File(raw)
    if suffix == ".xz":
        return lzma.LZMAFile(raw)
    if suffix == ".zst":
        try:
            import pyarrow
        except ImportError as error:
            raise ModuleNotFoundError(
                f"{path}: .zst files need the package pyarrow; install it with: pip install"
                " 'topoi[arrow]'"
            ) from error
        return pyarrow.CompressedInputStream(raw, "zstd")
    return _only_member(path, raw) if suffix == ".zip" else raw


def _only_member(path: Path, raw: IO[bytes]) -> Any:
    """The one file in a .zip archive."""
    try:
        archive = zipfile.ZipFile(raw)
        members = [name for name in archive.namelist() if not name.endswith("/")]
        if len(members) != 1:
            raise ValueError(
                f"{path} holds {len(members)} files; unpack it and give the folder, or an archive"
                " of one file."
            )
        return archive.open(members[0])
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"{path} is damaged, encrypted or not a .zip file; unpack it.") from error


def _refuse_binary(path: Path, raw: IO[bytes], encoding: str) -> None:
    compressed = path.suffix.lower() in COMPRESSED
    if (
        not compressed
        and not re.match("utf.?(16|32)", encoding, re.IGNORECASE)
        and b"\0" in raw.read(8192)
    ):
        raise _binary(path)
    raw.seek(0)


def _binary(path: Path) -> ValueError:
    return ValueError(
        f"{path} is a binary file, not text; give a text file, or its encoding if it is UTF-16"
        " (encoding utf-16)."
    )


def _not_text(path: Path, encoding: str, line: int) -> ValueError:
    name = encoding.removesuffix("-sig").upper()
    return ValueError(
        f"{path}, line {line}: not {name} text; say what it is (encoding), for instance cp1252 for"
        " a file from Windows, or convert the file to UTF-8."
    )


def composed(text: str) -> str:
    """Text as words are cut from it: an umlaut is one character (NFC), and soft hyphens are gone;
    both would tear words apart.
    """
    return unicodedata.normalize("NFC", text).replace("\u00ad", "")


def read_words(path: Path, encoding: str = "utf-8-sig") -> list[str]:
    """One word per line, spelled as words of texts are; each only once."""
    words: dict[str, int] = {}
    for number, line in numbered_lines(existing(path), encoding):
        word = composed(line.strip())
        if word in words:
            raise ValueError(
                f"{path}, line {number}: {word!r} stands in line {words[word]} already; every word"
                " needs a line of its own."
            )
        words[word] = number
    if "" in words and words[""] == len(words):  # an empty last line
        del words[""]
    return list(words)


@contextmanager
def writing_words(path: Path, words: Sequence[str]) -> Iterator[None]:
    """Write one word per line. The file takes its place when the block ends.

    In the block the counts are written that the words belong to. If they cannot be, words stay too.
    """
    bad = next((word for word in words if "\n" in word or "\r" in word), None)
    if bad is not None:
        raise ValueError(
            f"The word {bad!r} holds a line break, so it cannot stand on a line of {path}; write"
            " .npz instead."
        )
    with write_text(path) as file:
        file.write("".join(f"{word}\n" for word in words).encode())
        file.flush()
        yield


def write_text(path: str | Path) -> AbstractContextManager[IO[bytes]]:
    """A text file to write, as `atomic_write` makes it; compressed if its name ends in .gz."""
    return atomic_write(path, compress=Path(path).suffix.lower() == ".gz")
