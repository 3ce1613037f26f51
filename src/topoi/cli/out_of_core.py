"""`topoi fit` and `topoi transform` of more than memory holds: documents block by block."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from topoi.cli.kinds import Kind
from topoi.cli.options import STOP, Columns, Words
from topoi.cli.output import note, progress_bar
from topoi.cli.reading import make_vectorizer, vectorizer_of
from topoi.free_memory import free_memory

if TYPE_CHECKING:
    from topoi.io.source import Source
    from topoi.protocols import FittedModel

__all__ = ["is_out_of_core", "kind_of_source", "make_source", "read_source"]

PART_OF_MEMORY = 0.5  # of what is free, that the files may have
COMPRESSED = {".gz", ".bz2", ".xz", ".zst", ".zip", ".parquet", ".pq"}
EXPANSION = 4  # of compressed texts, roughly


def is_out_of_core(input: list[Path], columns: Columns, asked: bool | None) -> bool:
    """Whether documents are read block by block: as asked, or if the files are larger than memory
    allows and can be read so.
    """
    from topoi.io.sources import STDIN, files_named

    if asked is not None:
        return asked
    if input == [Path(STDIN)] or _refusal(columns) is not None:
        return False
    files = [
        file
        for path in files_named(input)
        for file in ([path] if path.is_file() else path.rglob("*"))
        if file.is_file()
    ]
    need = sum(
        file.stat().st_size * (EXPANSION if file.suffix.lower() in COMPRESSED else 1)
        for file in files
    )
    free = free_memory()
    if need <= PART_OF_MEMORY * free:
        return False
    note(
        f"The input has about {need / 2**30:.1f} GiB of text and {free / 2**30:.1f} GiB of memory"
        " are free, so documents are read block by block (--in-memory to read them at once)."
    )
    return True


def _refusal(columns: Columns) -> str | None:
    """An option that needs all documents at once."""
    given = {
        "--authors": columns.authors is not None,
        "--links": columns.links is not None,
        "--split-long": columns.split_long is not None,
        "--on-error skip": columns.on_error is not STOP,
        "--layer": columns.layer is not None,
        "--zero-based": columns.zero_based,
    }
    return next((option for option, is_given in given.items() if is_given), None)


def make_source(input: Path | list[Path], columns: Columns) -> Source:
    """The input as a Source, counted only if it is counts."""
    from topoi.io.source import Source

    refused = _refusal(columns)
    if refused is not None:
        raise ValueError(
            f"{refused} needs all documents at once; leave it out, or leave --out-of-core (or"
            " --cluster) out."
        )
    given = input if isinstance(input, list) else [input]
    return Source(
        given if len(given) > 1 else given[0],
        text=columns.text,
        doc_names=columns.doc_names,
        labels=columns.labels,
        dates=columns.dates,
        groups=columns.group or (),
        form=columns.format.value if columns.format else None,
        encoding=columns.encoding,
        separator=columns.separator,
    )


def read_source(
    input: list[Path],
    columns: Columns,
    words: Words,
    like: FittedModel | None,
    cache: Path | None,
    *,
    shared: bool = False,
) -> Source:
    """Counted blocks of the input.

    like: a model whose words are counted. cache: a folder to keep counts in. shared: other machines
    read the blocks.
    """
    source = make_source(input, columns)
    if source.is_counted:
        return source
    if shared and cache is None:
        raise ValueError(
            "--cluster needs a folder for counts that all workers can read; give one with --cache."
        )
    vectorizer = make_vectorizer(words) if like is None else vectorizer_of(like)
    with progress_bar("Reading and counting words") as progress:
        return source.count(cache=cache, vectorizer=vectorizer, progress=progress)


def kind_of_source(wanted: Kind | None, columns: Columns) -> Kind:
    """LDA, or labeled LDA if there are labels."""
    kind = wanted or (Kind.lda if columns.labels is None else Kind.labeled)
    if kind not in (Kind.lda, Kind.labeled):
        raise ValueError(
            f"--model {kind.value} connects documents, which are read block by block here; leave"
            " --out-of-core out, or pass --model lda."
        )
    if kind is Kind.labeled and columns.labels is None:
        raise ValueError("--model labeled needs labels; name their column with --labels.")
    return kind
