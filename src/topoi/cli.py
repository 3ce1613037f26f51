"""The `topoi` command, a thin shell over the public API."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(help="Learn topics from a pile of documents, by belief propagation.", no_args_is_help=True, add_completion=False)


@app.callback()
def _commands() -> None:
    """Keep sub-commands even while there is only one."""


@app.command()
def demo(
    topics: Annotated[int, typer.Option(help="Number of topics.")] = 8,
    seed: Annotated[int, typer.Option(help="Seed of the corpus and of the model.")] = 0,
) -> None:
    """Train LDA on a corpus drawn from known topics, and show what it finds."""
    import sys

    from rich.console import Console
    from rich.table import Table

    from topoi import LDA, datasets, evaluate

    console = Console()
    corpus, truth = datasets.make_lda(2000, 1000, topics, doc_length=120, random_state=seed)
    console.print(f"A corpus drawn from {topics} known topics: {corpus}")
    console.print("Training (the first run on a machine compiles for a minute, later runs do not) …")
    train, test = corpus.split(random_state=seed)
    model = LDA(topics, random_state=seed, verbose=int(sys.stderr.isatty())).fit(train)
    partner, similarity = evaluate.match_topics(model, truth.topic_word)
    table = Table("topic", "share", "true topic", "cosine", "top words")
    share = model.components_.sum(axis=1) / model.components_.sum()
    for k, words in enumerate(model.top_words(8)):
        table.add_row(str(k), f"{share[k]:.1%}", str(partner[k]), f"{similarity[k]:.3f}", " ".join(words))
    console.print(table)
    result = evaluate.completion(model, test)
    best = evaluate.completion(truth.topic_word, test, doc_topic_prior=0.1)
    console.print(f"{model.n_iter_} sweeps in {model.history_[-1]['seconds']:.1f} s")
    console.print(
        f"Held-out perplexity {result.perplexity:.1f} ({result.low:.1f} to {result.high:.1f}); with the true topics {best.perplexity:.1f}"
    )


def main() -> None:
    app()
