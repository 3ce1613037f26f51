"""`topoi label`, `topoi graph`: the topic of each word of a text, and what connects words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli.options import AsJson, Columns, Force, Model
from topoi.cli.output import note, show, show_csv, show_json, show_text, shows_colours
from topoi.cli.reading import holds_counts, inputs_of, load_model, mention_unused, read_corpus
from topoi.printable import printable

if TYPE_CHECKING:
    from rich.text import Text

    from topoi.corpus import Corpus
    from topoi.protocols import FittedModel
    from topoi.report.coloured import ColouredText


def label(
    model: Model,
    input: Annotated[
        Path,
        typer.Argument(
            help="A .txt file (one document), a folder of them, .csv, .tsv, .jsonl, .parquet, or"
            " counts.",
            show_default=False,
        ),
    ],
    columns: Columns,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print a row per document and word instead of texts.")
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(help="Write the coloured texts to this HTML file.", show_default=False),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option(
            "--number", "-n", min=1, help="Only the first N documents.", show_default=False
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show which topic each word is about: texts in the colours of topics.

    Where there are no colours, each word is followed by the number of its topic. With --format
    lines, each line of a .txt file is a document. With --labels, labeled LDA chooses among the
    labels of a document.
    """
    from topoi.storage.files import check_outputs

    if html is not None:
        check_outputs([html], inputs=[model, *inputs_of(input, columns)], overwrite=force)
    loaded = load_model(model)
    corpus = _documents(loaded, input, columns)[:number]
    chooses = hasattr(loaded, "classes_") and columns.labels is not None
    metadata: dict[str, object] = {"labels": corpus.labels} if chooses else {}
    if as_csv:
        return show_csv(loaded.label(corpus, **metadata).to_csv(index=False))
    if as_json and html is None:
        return show_json(_as_json(loaded, corpus, metadata))
    if corpus.texts is None:
        raise ValueError(
            f"{input} holds counts, and only texts can be coloured; ask for a table with --csv or"
            " --json."
        )
    texts = _coloured(loaded, corpus, metadata)
    if html is not None:
        _write(html, f"Words of {input.name} and their topics", texts)
        if as_json:
            return show_json({"file": str(html), "documents": len(texts)})
        return note(f"Wrote {html}: {len(texts)} documents.")
    colours = shows_colours()
    for name, coloured in texts:
        heading = [f"{name}"] if len(texts) > 1 else []
        if colours:
            show(*heading, *_in_colours(coloured), "")
        else:
            show_text("\n".join([*heading, repr(coloured), ""]))
    return None


def _documents(model: FittedModel, path: Path, columns: Columns) -> Corpus:
    """The documents, with their texts if there are any."""
    from topoi.explore.labelling import texts_as_corpus
    from topoi.io.tables import FORMS

    knows = {"authors": "author_names_", "links": "link_topic_", "labels": "classes_"}
    mention_unused(columns, *(name for name, known in knows.items() if not hasattr(model, known)))
    counts = holds_counts(path, columns)
    table = path.is_dir() or columns.format or path.suffix.lower() in FORMS.keys() - {".txt"}
    if not counts and not table:
        text = _whole_text(path, columns.encoding)
        return replace(texts_as_corpus(model, [text]), doc_names=[path.name])
    return read_corpus(path, columns, like=model, keep_text=not counts)


def _whole_text(path: Path, encoding: str) -> str:
    from topoi.io.lines import existing, numbered_lines

    encoding = "utf-8-sig" if encoding == "utf-8" else encoding
    return "".join(line for _, line in numbered_lines(existing(path), encoding)).rstrip("\n")


def _coloured(
    model: FittedModel, corpus: Corpus, metadata: dict[str, object]
) -> list[tuple[str, ColouredText]]:
    """Names of documents, and their texts."""
    from topoi.explore.labelling import label_texts
    from topoi.report.coloured import coloured_text

    labeled = label_texts(model, corpus, **metadata)
    names = range(corpus.n_docs) if corpus.doc_names is None else corpus.doc_names
    return [
        (str(name), coloured_text(model, text)) for name, text in zip(names, labeled, strict=True)
    ]


def _write(path: Path, title: str, texts: Sequence[tuple[str, ColouredText]]) -> None:
    from topoi.report.coloured import coloured_page
    from topoi.storage.files import atomic_write

    with atomic_write(path) as file:
        file.write(coloured_page(title, texts).encode("utf-8", "replace"))


def _as_json(model: FittedModel, corpus: Corpus, metadata: dict[str, object]) -> dict[str, object]:
    """Topics, a row for each document and word and, of texts, where the words stand."""
    from topoi.explore.labelling import label_texts

    labels, words = model.label(corpus, **metadata), model.top_words(10)
    topics = [
        {"topic": k, "name": model.topic_names_[k], "words": words[k]}
        for k in sorted(set(labels["topic"].tolist()))
    ]
    answer: dict[str, object] = {"topics": topics, "labels": labels.to_dict("records")}
    if corpus.texts is not None:
        answer["texts"] = [
            {"text": labeled.text, "spans": [span._asdict() for span in labeled.spans]}
            for labeled in label_texts(model, corpus, **metadata)
        ]
    return answer


def _in_colours(coloured: ColouredText) -> list[Text]:
    """The text and its legend for a terminal."""
    from rich.text import Text

    from topoi.report.coloured import OTHER, PALETTE, TEXT_COLOUR, slots

    labeled = coloured.labeled
    places = slots(list(labeled.proportions()))

    def style(topic: int) -> str:
        return f"{TEXT_COLOUR} on {PALETTE[places[topic]] if topic in places else OTHER}"

    text = Text()
    for piece, span in labeled.pieces():
        text.append(printable(piece, keep="\n\t"), None if span is None else style(span.topic))
    keys = [Text().append(f" {topic} ", style(topic)) for topic in labeled.proportions()] or [
        Text()
    ]
    legend = [line.partition(" ")[2] if labeled.spans else line for line in coloured.legend()]
    return [text, Text(), *(key.append(f" {line}") for key, line in zip(keys, legend, strict=True))]


def graph(
    model: Model,
    svg: Annotated[
        Path | None, typer.Option(help="Write the drawing to this SVG file.", show_default=False)
    ] = None,
    dot: Annotated[
        Path | None,
        typer.Option(help="Write its source for Graphviz to this file.", show_default=False),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Describe the factor graph of a model, and draw a fragment of it."""
    from topoi.storage.files import atomic_write, check_outputs

    outputs = [path for path in (svg, dot) if path is not None]
    check_outputs(outputs, inputs=[model], overwrite=force)
    found = load_model(model).graph()
    for path, drawing in ((svg, found.svg), (dot, found.dot)):
        if path is not None:
            with atomic_write(path) as file:
                file.write(drawing().encode())
            note(f"Wrote {path}.")
    if as_json:
        show_json({"description": str(found), "svg": found.svg(), "dot": found.dot()})
    elif not outputs:
        show_text(str(found))
