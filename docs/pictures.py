"""The pictures of docs/how_it_works.md: `python docs/pictures.py` writes them to docs/img."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from topoi import LDA, datasets, evaluate
from topoi.plot.style import ACCENT, COLOUR, FAINT, GRID, INK

FOLDER = Path(__file__).parent / "img"
LIGHT = "#a9b4c0"
PRIORS = {"doc_topic_prior": 0.1, "topic_word_prior": 0.01}  # the same for all schedules


def graph() -> None:
    """The factor graph around one word of a document."""
    corpus, _ = datasets.make_lda()
    (FOLDER / "how-graph.svg").write_text(LDA(5, max_iter=5).fit(corpus).graph().svg())


def message() -> None:
    """What a word hears from its two factors, and the message that follows."""
    corpus, _ = datasets.make_lda()
    model = LDA(5).fit(corpus)
    graph = model.graph(corpus)
    words = [(d, corpus.words[w]) for d in range(20) for w in corpus.counts[[d]].indices]
    told = [graph.edge(*word).messages for word in words]
    unsure = max(range(len(words)), key=lambda i: disagreement(told[i]))
    document, word = words[unsure]
    figure, axes = plt.subplots(1, 3, figsize=(9, 2.6), sharey=True)
    for ax, column, colour in zip(
        axes, ("from word", "from document", "message"), (FAINT, FAINT, COLOUR), strict=True
    ):
        ax.bar(told[unsure]["topic"], told[unsure][column], color=colour)
        ax.set_title(column, loc="left", color=INK)
        ax.set(xlabel="topic", ylim=(0, 1))
    figure.suptitle(f"Word {word} in document {document}", x=0.01, ha="left", color=INK)
    save(figure, "how-message.svg")


def disagreement(told) -> float:
    """Large where the word favours one topic, the document another, and both matter."""
    word, document = told["from word"].to_numpy(), told["from document"].to_numpy()
    return float(np.abs(word - document).sum() - told["message"].max())


def schedules() -> None:
    """Training perplexity by sweep, by three schedules, and the kinds of sweeps of "auto"."""
    corpus, _ = datasets.make_lda(2000, 1000, 20, doc_length=80)
    figure, ax = plt.subplots(figsize=(8, 4))
    for schedule, colour in (
        ("synchronous", LIGHT), ("asynchronous", FAINT), ("auto", COLOUR)
    ):  # fmt: skip
        model = LDA(20, schedule=schedule, evaluate_every=1, max_iter=60, tol=0, **PRIORS)
        history = model.fit(corpus).history_
        ax.plot(
            [record["sweep"] for record in history],
            [record["perplexity"] for record in history],
            color=colour, linewidth=2, label=schedule,
        )  # fmt: skip
    kinds = [record["schedule"] for record in history]
    for i, kind in enumerate(kinds):
        if i == 0 or kind != kinds[i - 1]:
            ax.axvline(i + 1, color=ACCENT, linewidth=0.8)
            ax.annotate(
                kind, (i + 1, 1), (3, -2), xycoords=("data", "axes fraction"),
                textcoords="offset points", rotation=90, va="top", size=8, color=ACCENT,
            )  # fmt: skip
    ax.set(xlabel="sweep", ylabel="training perplexity")
    ax.legend(frameon=False)
    save(figure, "how-schedules.svg")


def overcomplete() -> None:
    """Planted topics that ten seeds find, from a random and from an overcomplete start."""
    corpus, truth = datasets.make_lda(2000, 1000, 20, doc_length=80)
    figure, ax = plt.subplots(figsize=(8, 2.6))
    for offset, (schedule, start, colour) in enumerate(
        (("relaxed", "random start", FAINT), ("auto", "overcomplete start", COLOUR))
    ):
        found = [
            int(np.sum(similarities(model, truth) > 0.9))
            for seed in range(10)
            for model in [LDA(20, schedule=schedule, random_state=seed, **PRIORS).fit(corpus)]
        ]
        ax.bar(np.arange(10) + 0.4 * offset, found, 0.36, color=colour, label=start)
        print(start, found)
    ax.axhline(20, color=GRID, zorder=0)
    ax.set(xlabel="seed", ylabel="planted topics found", xticks=range(10), ylim=(0, 24))
    ax.legend(frameon=False, ncols=2, loc="upper left")
    save(figure, "how-overcomplete.svg")


def similarities(model: LDA, truth) -> np.ndarray:
    """The cosine of each planted topic with the topic that matches it."""
    return evaluate.match_topics(truth.topic_word, model.topic_word_)[1]


def save(figure, name: str) -> None:
    for ax in figure.axes:
        ax.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(FOLDER / name, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "topoi"  # the same picture gives the same file
    for picture in (graph, message, schedules, overcomplete):
        picture()
