"""`topoi transform`, `topoi report`, `topoi convert`: documents and models together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoi.cli.frames import SUFFIXES, as_csv, check_table_file, write_parts
from topoi.cli.options import AsJson, Columns, Counts, Force, Input, Model, Words
from topoi.cli.out_of_core import is_out_of_core, make_source
from topoi.cli.output import note, show_csv, show_json
from topoi.cli.reading import (
    inputs_of,
    load_model,
    mention_seen,
    mention_unused,
    read_corpus,
    read_linked,
    without_use,
)

if TYPE_CHECKING:
    import numpy as np

    from topoi.cli.frames import Row
    from topoi.corpus import Corpus


def transform(
    model: Model,
    input: Input,
    columns: Columns,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A .csv, .tsv, .jsonl, .parquet or .npz (NumPy) file (default: show the table).",
            show_default=False,
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Only the N largest topics of each document, with their proportions.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    out_of_core: Annotated[
        bool | None,
        typer.Option(
            "--out-of-core/--in-memory",
            help="Read documents block by block (default: if the input is larger than memory"
            " allows).",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Topic proportions of documents, old or new: one row per document, one column per topic.

    A mark stands beside documents of which the model knows few words, or none.
    """
    check_table_file(output, [model, *inputs_of(input, columns)], force, (*SUFFIXES, ".npz"))
    loaded = load_model(model)
    mention_unused(columns, "labels", *without_use(loaded))
    names = loaded.topic_names_
    if is_out_of_core([input], columns, out_of_core):
        blocks = iter(loaded.transform(make_source(input, columns)).blocks())
    else:
        takes_links = "links" in signature(loaded.transform).parameters
        corpus, links = (
            read_linked(input, columns, loaded)
            if takes_links
            else (read_corpus(input, columns, like=loaded), {})
        )
        blocks = iter([(corpus, loaded.transform(corpus, **links))])
    parts = _parts(blocks, names, top)
    if output is None:
        if as_json:
            show_json([row for rows in parts for row in rows])
            return
        for number, rows in enumerate(parts):
            show_csv(as_csv(rows, header=not number))
        return
    if output.suffix.lower() == ".npz":
        n_docs = _write_arrays(parts, names, top, output)
    else:
        n_docs = write_parts(parts, output)
    if as_json:
        show_json({"file": str(output), "documents": n_docs, "topics": len(names)})
    else:
        note(f"Wrote {output}: {n_docs} documents x {len(names)} topics.")


def _parts(
    blocks: Iterable[tuple[Corpus, np.ndarray]], names: list[str], top: int | None
) -> Iterator[list[Row]]:
    """The rows of one block of documents after the other."""
    done = 0
    for corpus, proportions in blocks:
        yield list(_proportion_rows(corpus, proportions, names, top, done))
        done += corpus.n_docs


def _proportion_rows(
    corpus: Corpus,
    proportions: np.ndarray,
    names: list[str],
    top: int | None = None,
    first: int = 0,
) -> Iterator[Row]:
    """One dictionary per document: its name, date if there is one, a mark if the model knows few of
    its words or none, and the proportion of each topic, to six digits; or the `top` largest topics.
    """
    from topoi.corpus.coverage import marks_of

    marks = marks_of(corpus)
    for d in range(corpus.n_docs):
        name = str(first + d) if corpus.doc_names is None else str(corpus.doc_names[d])
        row: Row = {"document": name}
        if corpus.dates is not None:
            row["date"] = corpus.dates[d]
        row["mark"] = str(marks[d])
        rounded = [float(f"{value:.6g}") for value in proportions[d]]
        if top is None:
            yield row | dict(zip(names, rounded, strict=True))
            continue
        for rank, k in enumerate(sorted(range(len(names)), key=lambda k: -proportions[d][k])[:top]):
            row |= {f"topic {rank + 1}": names[k], f"proportion {rank + 1}": rounded[k]}
        yield row


def _write_arrays(
    parts: Iterable[list[Row]], names: list[str], top: int | None, output: Path
) -> int:
    """Write rows as arrays without Python objects; the number of documents.

    They are documents, marks, dates, names of topics and proportions; with `top` also the numbers
    of the largest topics of each document, whose proportions these are.
    """
    import numpy as np

    from topoi.storage.files import atomic_write

    rows = [row for part in parts for row in part]
    arrays: dict[str, Any] = {
        f"{name}s": np.array([str(row[name]) for row in rows])
        for name in ("document", "mark", "date")
        if name in rows[0]
    }
    columns = names
    if top is not None:
        ranks = range(1, min(top, len(names)) + 1)
        number = {name: k for k, name in enumerate(names)}
        columns = [f"proportion {rank}" for rank in ranks]
        arrays["topics"] = np.array(
            [[number[row[f"topic {rank}"]] for rank in ranks] for row in rows]
        )
    arrays["proportions"] = np.array([[row[name] for name in columns] for row in rows])
    with atomic_write(output) as file:
        np.savez_compressed(file, names=np.array(names), **arrays)
    return len(rows)


def report(
    model: Model,
    columns: Columns,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The HTML file to write.", show_default=False)
    ],
    test: Annotated[
        Path | None,
        typer.Option(
            help="Documents the model has not seen (as the input of fit), to measure it on.",
            show_default=False,
        ),
    ] = None,
    words: Annotated[int, typer.Option(min=1, help="Words per topic, in print.")] = 12,
    documents: Annotated[
        int, typer.Option(min=1, help="Documents, and authors, per topic, in print.")
    ] = 6,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a page to explore a model: a map of topics, their words, documents and authors, a
    search, topics of texts that are typed into it.

    It is one HTML file that opens anywhere, without a network, and prints.
    """
    from topoi.storage.files import check_outputs

    inputs = [model, *(inputs_of(test, columns) if test is not None else [])]
    check_outputs([output], inputs=inputs, overwrite=force)
    if output.suffix.lower() not in (".html", ".htm"):
        raise ValueError(
            f"{output}: the report is an HTML page; end the name in .html (print it from a browser"
            " for a PDF)."
        )
    loaded, corpus = load_model(model), None
    if test is not None:
        mention_unused(columns, *without_use(loaded))
        corpus = read_corpus(test, columns, like=loaded)
        mention_seen(loaded, corpus)
    loaded.report(output, test=corpus, n_words=words, n_documents=documents)
    if as_json:
        show_json({"file": str(output), "topics": len(loaded.topic_names_)})
    else:
        note(f"Wrote {output}: {len(loaded.topic_names_)} topics.")


def convert(
    input: Input,
    output: Annotated[
        Path,
        typer.Argument(
            help=(
                ".npz, .mtx, .ldac, .svm, .h5ad, or docword.NAME.txt (UCI); text formats also .gz."
            ),
            show_default=False,
        ),
    ],
    columns: Columns,
    words: Words,
    to: Annotated[
        Counts | None,
        typer.Option(help="Format of the output, if its name does not say so.", show_default=False),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Turn texts into counts, or counts from one format into another."""
    from topoi.io import formats, registry
    from topoi.storage.files import check_outputs

    form = to.value if to else formats.detect(output)
    if form is None or form not in formats.FORMATS:
        raise ValueError(
            f"{output}: cannot write that; end the name in {', '.join(registry.suffixes())}, or say"
            " the format with --to."
        )
    inputs = inputs_of(input, columns, words)
    check_outputs([output], inputs=inputs, overwrite=force)  # before any work is done
    formats.vocabulary_beside(output, form)
    corpus = read_corpus(input, columns, words)
    check_outputs(formats.outputs(corpus, output, form), inputs=inputs, overwrite=force)
    files = formats.write(corpus, output, form, overwrite=force)
    if as_json:
        show_json(
            {
                "files": [str(file) for file in files],
                "documents": corpus.n_docs,
                "words": corpus.n_words,
                "entries": int(corpus.counts.nnz),
            }
        )
    else:
        note(f"Wrote {' and '.join(map(str, files))}: {corpus}.")
