"""Documents in files of a folder: .txt, .md and .html, at any depth."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path

from topoi.io.lines import Progress, numbered_lines
from topoi.io.rows import LOOK_EVERY, Rows

__all__ = ["SUFFIXES", "files_rows", "folder_rows", "text_of_html"]

SUFFIXES = (".txt", ".md", ".html", ".htm")
UNSEEN = ("script", "style", "template", "noscript")  # what a browser does not show
MOST_NAMED = 5  # suffixes of files that are not read, in the warning


def folder_rows(path: Path, encoding: str, progress: Progress | None) -> Rows:
    """A row for each document of a folder: its text, its name as id, and the folder it is in,
    which can serve as a label.
    """
    files = sorted(
        file
        for file in path.rglob("*")
        if file.is_file() and not _is_hidden(file.relative_to(path))
    )
    documents = [file for file in files if file.suffix.lower() in SUFFIXES]
    if not documents:
        raise ValueError(
            f"{path} is a folder without .txt, .md or .html files; put each document into one, or"
            " give a table such as .csv."
        )
    _mention_others(path, files)
    return files_rows(documents, path, encoding, progress)


def files_rows(
    documents: list[Path], inside: Path, encoding: str, progress: Progress | None
) -> Rows:
    """A row for each of these files, named as they lie inside of a folder."""
    stems = Counter(_name(file, inside) for file in documents)

    def rows() -> Iterator[tuple[str, Mapping[str, object]]]:
        for i, file in enumerate(documents):
            if progress is not None and i % LOOK_EVERY == 0:
                progress(i, len(documents))
            text = "".join(line for _, line in numbered_lines(file, encoding))
            if file.suffix.lower() in (".html", ".htm"):
                text = text_of_html(text)
            name = _name(file, inside)
            if stems[name] > 1:  # report.txt beside report.md
                name = _shown(file.relative_to(inside).as_posix())
            folder = _shown(file.relative_to(inside).parent.as_posix())
            yield str(file), {"text": text, "id": name, "folder": "" if folder == "." else folder}
        if progress is not None:
            progress(len(documents), len(documents))

    return Rows(str(inside), ["text", "id", "folder"], rows(), ids_are_certain=True)


def _mention_others(path: Path, files: list[Path]) -> None:
    others = Counter(
        file.suffix.lower() or "no suffix" for file in files if file.suffix.lower() not in SUFFIXES
    )
    if others:
        named = ", ".join(f"{n} {suffix}" for suffix, n in others.most_common(MOST_NAMED))
        more = ", …" if len(others) > MOST_NAMED else ""
        warnings.warn(
            f"{path}: {others.total()} files are not read ({named}{more}); only .txt, .md and"
            " .html are.",
            stacklevel=2,
        )


def _name(file: Path, folder: Path) -> str:
    return _shown(file.relative_to(folder).with_suffix("").as_posix())


def _shown(name: str) -> str:
    """The name of a file; bytes that are not text as \\xe9, since an id must be text."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _is_hidden(path: Path) -> bool:
    """Whether it, or a folder it is in, begins with a dot: what systems put there, such as
    ._name.txt of macOS, is not a document.
    """
    return any(part.startswith(".") for part in path.parts)


def text_of_html(page: str) -> str:
    """What a reader sees of a page, with spaces between its elements."""
    parser = _Seen()
    parser.feed(page)
    parser.close()
    return " ".join(" ".join(parser.parts).split())


class _Seen(HTMLParser):
    """Gathers text that is not inside of scripts and styles."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.depth = 0  # of elements that are not shown

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.depth += tag in UNSEEN

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag in UNSEEN and self.depth > 0

    def handle_data(self, data: str) -> None:
        if not self.depth:
            self.parts.append(data)
