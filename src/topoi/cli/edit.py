"""`topoi edit`, `topoi tree`, `topoi update`: topics edited, or updated by new documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli.options import AsJson, Columns, Force, Inputs, Model, option
from topoi.cli.output import note, plain_table, show, show_json
from topoi.cli.reading import holds_counts, inputs_of, load_model, read_linked
from topoi.cli.show import topic_rows, topics_table

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

EDITS = "What becomes of topics, by their numbers in MODEL"


@dataclass
class Edits:
    """What becomes of topics."""

    merge: Annotated[
        list[str] | None, option(EDITS, "Topics that become one: --merge 3,7. May be repeated.")
    ] = None
    delete: Annotated[list[str] | None, option(EDITS, "Topics that go: --delete 5,6.")] = None
    rename: Annotated[
        list[str] | None, option(EDITS, "A topic and its name: --rename 2='tax policy'.")
    ] = None
    reduce: Annotated[
        int | None,
        option(EDITS, "Merge the closest topics until this many are left.", min=1),
    ] = None
    split: Annotated[
        str | None,
        option(
            EDITS, "A topic and the number of its parts: --split 4=3. For models that kept texts."
        ),
    ] = None
    from_file: Annotated[
        Path | None,
        option(EDITS, "Edits as the report exports them, JSON.", "--from"),
    ] = None

    def given(self) -> dict[str, object]:
        """All edits but `split` in the form of a file."""
        from topoi.io.json_files import read_object

        found: dict[str, object] = {}
        if self.from_file is not None:
            found = read_object(self.from_file, "edits of topics, as the report exports them,")
        merge = [_numbers("--merge", text) for text in self.merge or ()]
        delete = [topic for text in self.delete or () for topic in _numbers("--delete", text)]
        names = dict(_named(text) for text in self.rename or ())
        both = [key for key, value in (("merge", merge), ("delete", delete)) if value]
        if self.from_file is not None and any(found.get(key) for key in both):
            raise ValueError("--from has topics to merge or delete already; leave one of them out.")
        given_names = found.get("names", {})
        if isinstance(given_names, dict):
            found["names"] = {**given_names, **names}
        found |= {"merge": merge} if merge else {}
        found |= {"delete": delete} if delete else {}
        found |= {"reduce": self.reduce} if self.reduce is not None else {}
        return found


def edit(
    model: Model,
    edits: Edits,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The new model file (default: MODEL with '-edited' in its name).",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Merge, delete, split, reduce or rename the topics of a model, into a new model file.

    A merged topic takes the place of its first. Topics that stay keep their order.
    """
    from topoi.storage.files import check_outputs

    output = output or model.with_stem(f"{model.stem}-edited")
    others = [] if edits.from_file is None else [edits.from_file]
    check_outputs([output], inputs=[model, *others], overwrite=force)
    asked = edits.given()
    part = _part(edits.split) if edits.split is not None else None
    if part is None and not any(asked.values()):
        raise ValueError("Nothing to edit; pass --merge, --delete, --rename, --split or --reduce.")
    loaded = load_model(model)
    if part is not None:
        loaded = loaded.split_topic(part[0], into=part[1])
    edited = loaded.edit_topics(asked)
    edited.save(output)
    lineage = edited.topic_lineage()
    if as_json:
        return show_json(
            {
                "file": str(output),
                "lineage": lineage.to_dict("records"),
                "topics": topic_rows(edited, 10),
            }
        )
    moved = lineage[lineage["old"] != lineage["new"]]
    if len(moved):
        show(_lineage_table(moved))
    show(topics_table(edited, 10))
    return note(f"Wrote {output}: {len(edited.topic_names_)} topics.")


def tree(model: Model, as_json: AsJson = False) -> None:
    """Show which topics are close: the order in which they would be merged."""
    found = load_model(model).topic_tree()
    if as_json:
        return show_json({"mergers": found.to_dict("records")})
    rows = [
        (row.node, row.left, row.right, f"{row.distance:.2f}", ", ".join(row.names))
        for row in found.itertuples()
    ]
    columns = ("node", "left", "right", "distance", "topics")
    return show(plain_table("Topics, merged from the closest on", *columns, rows=rows))


def update(
    model: Model,
    input: Inputs,
    columns: Columns,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The new model file.", show_default=False)
    ],
    new_topics: Annotated[
        int, typer.Option(min=0, help="Topics to add for themes that the model does not know.")
    ] = 0,
    known_words: Annotated[
        bool, typer.Option("--known-words", help="Count only words that the model knows.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Let a model learn from new documents, too, into a new model file.

    Topics keep their numbers and names. Texts are cut into words as those of the model were; new
    words enter, and so do authors, labels and links, if the model has such. Shows how topics drift.
    """
    from topoi.storage.files import check_outputs

    check_outputs([output], inputs=[model, *inputs_of(input, columns)], overwrite=force)
    before = load_model(model)
    texts = before.documents_ is not None and before.documents_.texts is not None
    corpus, metadata = read_linked(
        input,
        columns,
        before,
        keep_text=texts and not holds_counts(input[0], columns),
        new_words=not known_words,
    )
    updated = before.update(corpus, new_topics=new_topics, **metadata)
    updated.save(output)
    drift = updated.topic_drift(before)
    if as_json:
        rows = drift.astype(object).where(drift.notna(), None).to_dict("records")
        return show_json({"file": str(output), "drift": rows})
    cells = [
        (
            row.topic,
            row.name_now,
            f"{row.before:.1%}",
            f"{row.now:.1%}",
            "new" if row.drift != row.drift and not row.before else f"{row.drift:.2f}",
            row.rising,
        )
        for row in drift.rename(columns={"name": "name_now"}).itertuples()
    ]
    columns_shown = ("topic", "name", "before", "now", "drift", "rising words")
    show(plain_table("Topics in the new documents", *columns_shown, rows=cells))
    return note(f"Wrote {output}: {len(updated.topic_names_)} topics.")


def _lineage_table(moved: pd.DataFrame) -> Table:
    rows = [
        (row.step, row.old, row.name_before, "gone" if row.new < 0 else row.new)
        for row in moved.rename(columns={"name": "name_before"}).itertuples()
    ]
    columns = ("step", "topic", "name", "is now topic")
    return plain_table("Topics with another number", *columns, rows=rows)


def _numbers(option: str, text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        raise ValueError(f"{option} is {text!r}; expected numbers of topics, such as 3,7.")
    return [int(part) for part in parts]


def _named(text: str) -> tuple[str, str]:
    number, equals, name = text.partition("=")
    if not equals or not number.strip().isdecimal():
        raise ValueError(
            f"--rename is {text!r}; expected a topic's number, '=' and its name, such as"
            " --rename 2='tax policy'."
        )
    return number.strip(), name.strip().strip("'\"")


def _part(text: str) -> tuple[int, int]:
    topic, _, parts = text.partition("=")
    if not topic.strip().isdecimal() or not parts.strip().isdecimal():
        raise ValueError(f"--split is {text!r}; expected a topic and its parts, such as 4=3.")
    return int(topic), int(parts)
