"""`topoi evaluate`, `topoi intrusion`, `topoi choose`: how good topics are, and how many there
should be.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli.options import N_COMPONENTS, AsJson, Columns, Force, Input, Jobs, Model, Seed, Words
from topoi.cli.output import note, plain_table, progress_bar, show, show_json
from topoi.cli.reading import (
    holds_counts,
    inputs_of,
    load_model,
    mention_seen,
    mention_unused,
    read_corpus,
    without_use,
)

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from topoi.evaluate.selection import Choice

FIGURES = (".png", ".svg", ".pdf")


def evaluate(
    model: Model, input: Input, columns: Columns, seed: Seed = 0, as_json: AsJson = False
) -> None:
    """How good are the topics? Held-out perplexity of documents that the model has not seen,
    agreement of topics with --labels, diversity and coherence.
    """
    from topoi.evaluate.summary import MEASURES, quality

    loaded = load_model(model)
    mention_unused(columns, *without_use(loaded))
    corpus = read_corpus(input, columns, like=loaded)
    mention_seen(loaded, corpus)
    if corpus.labels is not None and (several := int((corpus.labels.counts() > 1).sum())):
        note(f"{several} documents have several labels, so topics are not compared with labels.")
    answer = quality(loaded, corpus, random_state=seed)
    if as_json:
        return show_json(answer)
    rows = [
        (measure.title, measure.shown.format_map(answer), measure.meaning.format_map(answer))
        for name, measure in MEASURES.items()
        if name in answer
    ]
    title = (
        f"{model.name} on {corpus.n_docs} documents, {answer['held_out_tokens']} tokens held out"
    )
    return show(plain_table(title, "measure", "value", "meaning", rows=rows))


def intrusion(
    model: Model,
    input: Input,
    columns: Columns,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write a sheet (.csv) for people; its answers go to NAME.answers.csv.",
            show_default=False,
        ),
    ] = None,
    filled: Annotated[
        Path | None,
        typer.Option(
            help="A sheet that somebody filled in: how often the intruder was found.",
            show_default=False,
        ),
    ] = None,
    words: Annotated[int, typer.Option(min=2, help="Words of a topic that are shown.")] = 5,
    documents: Annotated[int, typer.Option(min=0, help="Documents to ask about.")] = 20,
    seed: Seed = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Which word does not belong to a topic, which topic not to a document? Tasks for people, with
    an automatic score.
    """
    from topoi.evaluate.intruders import intrusion as make_tasks
    from topoi.evaluate.intruders import sheet_paths
    from topoi.storage.files import check_outputs

    if output is not None:
        if output.suffix.lower() != ".csv":
            raise ValueError(f"{output}: a sheet is a .csv file; end the name in .csv.")
        inputs = [model, *inputs_of(input, columns), *([filled] if filled else [])]
        check_outputs(sheet_paths(output), inputs=inputs, overwrite=force)
    loaded = load_model(model)
    mention_unused(columns, *without_use(loaded), "labels")
    has_texts = not holds_counts(input, columns)
    corpus = read_corpus(input, columns, like=loaded, keep_text=has_texts)
    tasks = make_tasks(loaded, corpus, n_words=words, n_documents=documents, random_state=seed)
    scores = tasks.scores if filled is None else tasks.score(filled)
    if output is not None:
        sheet, answers = tasks.write(output)
        note(f"Wrote {sheet}: {len(tasks.table)} questions; the answers are in {answers}.")
    if as_json:
        return show_json(
            {
                "scores": scores.reset_index().to_dict("records"),
                "questions": tasks.table.reset_index().to_dict("records"),
            }
        )
    return show(_scores_table(scores, "automatic" if filled is None else filled.name))


def _scores_table(scores: pd.DataFrame, who: str) -> Table:
    asks = {"word": "which word does not belong to a topic?",
            "topic": "which topic does not belong to a document?"}  # fmt: skip
    rows = [
        (asks[str(task)], row["questions"], f"{row['found']:.0%}", f"{row['by_chance']:.0%}")
        for task, row in scores.astype(object).iterrows()
    ]
    return plain_table(f"Intruders ({who})", "task", "questions", "found", "by chance", rows=rows)


def _draw(choice: Choice, path: Path) -> None:
    from topoi import plot
    from topoi.plot.style import figure_of
    from topoi.storage.files import atomic_write

    drawn = figure_of(plot.choice(choice))
    with atomic_write(path) as file:
        drawn.savefig(file, format=path.suffix.lower().lstrip("."))
    note(f"Wrote {path}.")


def choose(
    input: Input,
    columns: Columns,
    words: Words,
    n_components: Annotated[
        str, typer.Option(*N_COMPONENTS, help="Numbers of topics to try, separated by commas.")
    ] = "10,20,50,100",
    seeds: Annotated[int, typer.Option(min=2, help="Fits of each number.")] = 3,
    max_iter: Annotated[int, typer.Option(min=1, help="Maximum number of sweeps of a fit.")] = 200,
    figure: Annotated[
        Path | None,
        typer.Option(help="Draw perplexity and stability: .png, .svg or .pdf.", show_default=False),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """How many topics? Tries several numbers: held-out perplexity, stability, diversity, coherence,
    and one recommendation with its reason.
    """
    from topoi import LDA
    from topoi.evaluate import choose_n_components
    from topoi.storage.files import check_outputs

    try:
        candidates = sorted({int(number) for number in n_components.split(",")})
    except ValueError:
        raise ValueError(
            f"--n-components is {n_components!r}; expected whole numbers separated by commas, such"
            " as 10,20,50."
        ) from None
    if figure is not None:
        if figure.suffix.lower() not in FIGURES:
            raise ValueError(f"{figure}: cannot draw that; end the name in {', '.join(FIGURES)}.")
        check_outputs([figure], inputs=inputs_of(input, columns, words), overwrite=force)
    mention_unused(columns, "authors", "links", "labels")
    corpus = read_corpus(input, columns, words)
    with progress_bar("Fitting") as progress:
        choice = choose_n_components(
            LDA(max_iter=max_iter, n_jobs=jobs or -1),
            corpus,
            candidates,
            n_seeds=seeds,
            random_state=seed,
            progress=progress,
        )
    if figure is not None:
        _draw(choice, figure)
    if as_json:
        return show_json({"rows": choice.rows, "best": choice.best, "reason": choice.reason})
    cells = [
        (
            f"{row['n_components']:.0f}{' *' if row['n_components'] == choice.best else ''}",
            f"{row['perplexity']:.1f} ± {row['perplexity_se']:.1f}",
            f"{row['stability']:.2f}",
            f"{row['diversity']:.2f}",
            f"{row['npmi']:.3f}",
        )
        for row in choice.rows
    ]
    columns_shown = (
        "topics", "held-out perplexity", "stability", "diversity", "coherence (NPMI)"
    )  # fmt: skip
    show(plain_table("How many topics?", *columns_shown, rows=cells))
    return show(choice.reason if choice.best is None else f"Recommended: {choice.reason}")
