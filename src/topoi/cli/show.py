"""`topoi topics`, `topoi authors`, `topoi links`: questions to a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli.find import given_topic, words_of_all
from topoi.cli.frames import TableFile, check_table_file, give_table
from topoi.cli.options import AsJson, Force, Many, Model
from topoi.cli.output import plain_table, show, show_json
from topoi.cli.reading import load_model

if TYPE_CHECKING:
    from rich.table import Table

    from topoi.cli.frames import Row
    from topoi.corpus.membership import Name
    from topoi.protocols import AuthorModel, FittedModel, LinkModel

EMPTY = 0.01  # a topic with less than this part of an average one holds nothing


def topic_rows(
    model: FittedModel, n_words: int, relevance: float = 1.0, n_documents: int = 0
) -> list[Row]:
    """Topics as plain values, the largest first; with their documents, if asked for."""
    proportions = model.topic_proportions_
    words, names = model.top_words(n_words, relevance=relevance), model.topic_names_
    rows = [
        {"topic": int(k), "name": names[k], "proportion": float(proportions[k]), "words": words[k]}
        for k in (-proportions).argsort(kind="stable")
    ]
    if n_documents:
        documents = model.top_documents(n_documents)
        rows = [{**row, "documents": _pairs(documents[row["topic"]])} for row in rows]
    return rows


def _line(words: list[str]) -> str:
    from topoi.report.markup import spelled

    return spelled(words)


def topics_table(
    model: FittedModel,
    n_words: int,
    relevance: float = 1.0,
    n_documents: int = 0,
    n_topics: int | None = None,
) -> Table:
    """Topics as a table, the n_topics largest."""
    rows = topic_rows(model, n_words, relevance, n_documents)
    named = any(row["name"] != f"topic{row['topic']}" for row in rows)
    used = [row for row in rows if row["proportion"] > EMPTY / len(rows)]
    columns = ["topic", *["name"] * named, "proportion", "words"]
    columns += ["documents"] * bool(n_documents)
    shown = [
        {
            **row,
            "proportion": f"{row['proportion']:.1%}",
            "words": _line(row["words"]),
            "documents": _documents(row),
        }
        for row in used[:n_topics]
    ]
    empty = (
        f", {len(rows) - len(used)} of them empty and not shown: fit with fewer, or with another"
        " --seed"
        if len(used) < len(rows)
        else ""
    )
    return plain_table(
        f"{len(rows)} topics{empty}",
        *columns,
        rows=[[row[column] for column in columns] for row in shown],
    )


def _documents(row: Row) -> str:
    return ", ".join(
        f"{document['name']} ({document['score']:.0%})" for document in row.get("documents", [])
    )


def topics(
    model: Model,
    words: Annotated[int, typer.Option(min=1, help="Words per topic.")] = 10,
    name: Annotated[
        list[str] | None,
        typer.Option(help="Name a topic and keep it in the model file: --name 3='markov chains'."),
    ] = None,
    relevance: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help=(
                "1: the most probable words; less (0.3 to 0.6): words that are typical of the"
                " topic."
            ),
        ),
    ] = 1.0,
    documents: Annotated[
        int, typer.Option(min=0, help="Also show the N documents that are most about each topic.")
    ] = 0,
    topic: Annotated[
        str | None,
        typer.Option(
            help="Number or name of one topic: its words, with numbers.", show_default=False
        ),
    ] = None,
    auto_names: Annotated[
        bool,
        typer.Option(
            "--auto-names",
            help="Name topics that have no name by distinctive words, and keep that in the file.",
        ),
    ] = False,
    output: TableFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show the topics of a model, the largest first, or the words of one; name topics.

    The table of -o has one row per topic and word, with probabilities.
    """
    check_table_file(output, [model], force)
    loaded = load_model(model)
    if name or auto_names:
        loaded.name_topics(dict(_named(text) for text in name or ()))
        loaded.name_topics("auto" if auto_names else {})
        loaded.save(model)
    if topic is not None:
        table = loaded.show_topic(given_topic(topic), words, relevance=relevance)
        return give_table(table, f"Words of {topic}", output=output, as_json=as_json)
    if output is not None:
        table = words_of_all(loaded, words, relevance)
        return give_table(table, "Words of topics", output=output, as_json=as_json)
    if as_json:
        show_json(
            {
                "model": type(loaded).__name__,
                "topics": topic_rows(loaded, words, relevance, documents),
            }
        )
    else:
        show(topics_table(loaded, words, relevance, documents))
    return None


def _named(text: str) -> tuple[int, str]:
    number, equals, name = text.partition("=")
    if not equals or not number.strip().isdecimal():
        raise ValueError(
            f"--name is {text!r}; expected the topic's number, '=' and the name, for instance"
            " --name 3='markov chains'."
        )
    return int(number), name.strip().strip("'\"")


def authors(
    model: Model,
    name: Annotated[
        str | None,
        typer.Argument(help="An author: topics, and who is similar.", show_default=False),
    ] = None,
    about: Annotated[
        str | None, typer.Option(help="Words: who writes about them?", show_default=False)
    ] = None,
    number: Many = 10,
    min_documents: Annotated[
        int, typer.Option(min=0, help="Leave out authors of fewer training documents.")
    ] = 1,
    as_json: AsJson = False,
) -> None:
    """Ask an author-topic model: what an author writes about, who is similar, who writes about some
    words; or who writes each topic.
    """
    loaded = load_model(model)
    if not hasattr(loaded, "author_names_") or not len(loaded.author_names_):
        raise ValueError(
            f"{model} knows no authors; fit one that does with: topoi fit INPUT --authors COLUMN."
        )
    if name is None and about is None:
        return _authors_of_topics(loaded, number, min_documents, as_json)
    answer: Row = {}
    if name is not None:
        answer |= {
            "author": name,
            "topics": _topics_of_author(loaded, name),
            "similar": _pairs(loaded.similar_authors(name, number, min_documents=min_documents)),
        }
    if about is not None:
        answer |= {
            "about": about,
            "writers": _pairs(loaded.who_writes_about(about, number, min_documents=min_documents)),
        }
    if as_json:
        return show_json(answer)
    if name is not None:
        columns = ("topic", "name", "proportion", "words")
        cells = [
            (t["topic"], t["name"], f"{t['proportion']:.0%}", _line(t["words"]))
            for t in answer["topics"]
        ]
        show(plain_table(f"What {name} writes about", *columns, rows=cells))
        show(
            plain_table(
                f"Authors like {name}",
                "author",
                "similarity",
                rows=[(a["name"], f"{a['score']:.2f}") for a in answer["similar"]],
            )
        )
    if about is not None:
        show(
            plain_table(
                f"Who writes about {about}",
                "author",
                "probability",
                rows=[(a["name"], f"{a['score']:.1%}") for a in answer["writers"]],
            )
        )
    return None


def _authors_of_topics(model: AuthorModel, number: int, min_documents: int, as_json: bool) -> None:
    rows = [
        {
            **row,
            "authors": _pairs(
                model.authors_of_topic(row["topic"], number, min_documents=min_documents)
            ),
        }
        for row in topic_rows(model, 6)
    ]
    if as_json:
        return show_json({"topics": rows})
    cells = [
        (row["topic"], _line(row["words"]), "; ".join(a["name"] for a in row["authors"][:5]))
        for row in rows
    ]
    return show(plain_table("Who writes about what", "topic", "words", "authors", rows=cells))


def _topics_of_author(model: AuthorModel, name: str) -> list[Row]:
    """An author's five largest topics."""
    words, names = model.top_words(8), model.topic_names_
    return [
        {"topic": k, "name": names[k], "proportion": proportion, "words": words[k]}
        for k, proportion in model.topics_of_author(name, 5)
    ]


def _pairs(scored: list[tuple[Name, float]]) -> list[Row]:
    return [{"name": str(name), "score": float(score)} for name, score in scored]


def links(
    model: Model,
    document: Annotated[
        str,
        typer.Argument(
            help="Name or number of a training document, or a text file.", show_default=False
        ),
    ],
    number: Many = 10,
    as_json: AsJson = False,
) -> None:
    """Ask a relational model which documents a document should be linked to: probabilities for a
    text, log odds up to a constant for a training document.
    """
    loaded = load_model(model)
    if not hasattr(loaded, "link_joint_"):
        cure = "fit one that does with: topoi fit INPUT --links COLUMN_OR_FILE."
        raise ValueError(f"{model} knows no links; {cure}")
    place = _training_document(loaded, document)
    if place is not None:
        found = _links_of_known(loaded, place, number)
    elif Path(document).is_file():
        found = _links_of_text(loaded, Path(document), number)
    else:
        raise ValueError(
            f"{document!r} is not the name of a training document, a number below"
            f" {len(loaded.doc_topic_)}, or a file."
        )
    if as_json:
        return show_json({"document": document, "links": found})
    cells = [
        (row["document"], f"{row['score']:.3f}", "yes" if row["linked"] else "") for row in found
    ]
    scale = "probability" if place is None else "log odds"
    columns = ("document", "score" if loaded.link_blend_ is None else scale, "linked already")
    return show(plain_table(f"Links for {document}", *columns, rows=cells))


def _training_document(model: FittedModel, document: str) -> int | None:
    """The number of a document given by its name or number."""
    if model.doc_names_ is not None and document in model.doc_names_:
        return int((model.doc_names_ == document).argmax())
    return int(document) if document.isdecimal() and int(document) < len(model.doc_topic_) else None


def _links_of_known(model: LinkModel, place: int, number: int) -> list[Row]:
    import numpy as np

    others = np.delete(np.arange(len(model.doc_topic_)), place)
    scores = model.link_scores(np.column_stack([np.full(len(others), place), others]))
    linked = set(model.links_[[place]].indices.tolist()) | set(
        model.links_[:, [place]].tocoo().coords[0].tolist()
    )
    best = (-scores).argsort(kind="stable")[:number]
    return [
        {
            "document": _name(model, others[i]),
            "score": float(scores[i]),
            "linked": int(others[i]) in linked,
        }
        for i in best
    ]


def _links_of_text(model: LinkModel, path: Path, number: int) -> list[Row]:
    from topoi.cli.reading import vectorizer_of
    from topoi.io.lines import composed, existing, numbered_lines
    from topoi.io.tables import FORMS

    if path.suffix.lower() in FORMS.keys() - {".txt"}:
        raise ValueError(
            f"{path} is a table; give one document as a .txt file, or ask recommend_links in Python"
            " for many."
        )
    text = composed("".join(line for _, line in numbered_lines(existing(path))))
    counts = vectorizer_of(model).transform([text])
    if not counts.nnz:
        raise ValueError(
            f"{path} has none of the words of the model; give a text about something it knows."
        )
    (found,) = model.recommend_links(counts.astype(float), number)
    return [{"document": str(name), "score": score, "linked": False} for name, score in found]


def _name(model: FittedModel, number: int) -> str:
    return str(number) if model.doc_names_ is None else str(model.doc_names_[number])
