"""`topoi find`, `topoi documents`, `topoi similar`: search a model and read its documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli.frames import TableFile, check_table_file, give_table
from topoi.cli.options import AsJson, Force, Many, Model
from topoi.cli.reading import load_model

if TYPE_CHECKING:
    import pandas as pd

    from topoi.protocols import FittedModel

MOST_ROWS = 20  # documents on the screen


def find(
    model: Model,
    text: Annotated[
        list[str], typer.Argument(help="Words or a text, in quotes or not.", show_default=False)
    ],
    number: Many = 10,
    as_json: AsJson = False,
) -> None:
    """Find the topics of a word, of words, or of a text."""
    asked = " ".join(text)
    found = load_model(model).find_topics(asked, number)
    give_table(found[found["score"] >= 0.001], f"Topics of {asked}", as_json=as_json)


def documents(
    model: Model,
    topic: Annotated[
        str | None,
        typer.Option(
            help="Number or name of a topic: the documents most about it.", show_default=False
        ),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option(
            "--number",
            "-n",
            min=1,
            help="How many (default: all; 10 of a topic).",
            show_default=False,
        ),
    ] = None,
    topics: Annotated[int, typer.Option(min=1, help="Main topics of each document.")] = 2,
    output: TableFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show the training documents: their main topics and what is known about them, or the documents
    that are most about a topic. Texts are shown if the model was fitted with --keep-text.
    """
    check_table_file(output, [model], force)
    loaded = load_model(model)
    if topic is not None:
        table = loaded.representative_documents(given_topic(topic), number or 10)
        title = f"Documents most about {topic}"
    else:
        table = loaded.document_info(n_topics=topics)
        table = table if number is None else table.iloc[:number]
        title = "Documents"
    give_table(table, title, output=output, as_json=as_json, most=number or MOST_ROWS)


def given_topic(topic: str) -> int | str:
    """A topic as it was typed: a number, or a name."""
    return int(topic) if topic.isdecimal() else topic


def similar(
    model: Model,
    document: Annotated[
        str,
        typer.Argument(
            help="Name or number of a training document, a text file, or a text.",
            show_default=False,
        ),
    ],
    number: Many = 10,
    output: TableFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Find the training documents whose topics are most like those of a document or a text."""
    check_table_file(output, [model], force)
    loaded = load_model(model)
    table = loaded.similar_documents(_asked(loaded.doc_names_, document), number)
    give_table(table, f"Documents like {document[:60]}", output=output, as_json=as_json)


def _asked(names: object, document: str) -> int | str:
    """What was typed: a name, a number, the contents of a file, or a text."""
    from topoi.io.lines import composed, numbered_lines

    if names is not None and document in names:  # type: ignore[operator]
        return document
    if document.isdecimal():
        return int(document)
    path = Path(document)
    is_file = len(document) < 1000 and path.is_file()
    return composed("".join(line for _, line in numbered_lines(path))) if is_file else document


def words_of_all(model: FittedModel, n_words: int, relevance: float) -> pd.DataFrame:
    """The top words of each topic with their numbers, one row each."""
    import pandas as pd

    tables = []
    for k, name in enumerate(model.topic_names_):
        table = model.show_topic(k, n_words, relevance=relevance)
        table.insert(0, "topic", k)
        table.insert(1, "name", name)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)
