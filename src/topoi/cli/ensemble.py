"""`topoi ensemble`: one model from the topics that several runs agree on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topoi.cli.options import N_COMPONENTS, AsJson, Columns, Force, Inputs, Jobs, Seed, Words
from topoi.cli.output import note, plain_table, show, show_json
from topoi.cli.reading import inputs_of, mention_unused, read_corpus
from topoi.cli.show import topic_rows


def ensemble(
    input: Inputs,
    columns: Columns,
    words: Words,
    n_components: Annotated[int, typer.Option(*N_COMPONENTS, min=1, help="Number of topics.")] = 20,
    runs: Annotated[int, typer.Option(min=2, help="Number of runs, each with its own seed.")] = 10,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file.")] = Path(
        "ensemble.topoi"
    ),
    max_iter: Annotated[int, typer.Option(min=1, help="Maximum number of sweeps of a run.")] = 200,
    seed: Seed = 0,
    jobs: Jobs = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Learn LDA several times, and keep the topics that the runs agree on, with their stability."""
    from topoi import LDA
    from topoi.models.ensemble import ensemble as fit_ensemble
    from topoi.report.markup import spelled
    from topoi.storage.files import check_outputs

    check_outputs([output], inputs=inputs_of(input, columns, words), overwrite=force)
    mention_unused(columns, "authors", "links", "labels")
    corpus = read_corpus(input, columns, words)
    model = LDA(n_components, max_iter=max_iter, random_state=seed, n_jobs=jobs or -1)
    found = fit_ensemble(model, corpus, n=runs)
    found.save(output)
    rows = [
        {**row, "stability": float(found.stability_[row["topic"]])} for row in topic_rows(found, 10)
    ]
    if as_json:
        return show_json({"file": str(output), "runs": runs, "topics": rows})
    cells = [
        (
            row["topic"],
            f"{row['proportion']:.1%}",
            f"{row['stability']:.2f}",
            spelled(row["words"]),
        )
        for row in rows
    ]
    title = f"{n_components} topics of {runs} runs"
    show(plain_table(title, "topic", "proportion", "stability", "words", rows=cells))
    return note(f"Wrote {output}: {n_components} topics.")
