"""`topoi demo`: four models on a corpus that every machine with topoi has."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from topoi.corpus import Corpus


def demo(
    topics: Annotated[int, typer.Option(min=1, help="Number of topics.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed: the same seed gives the same topics.")] = 0,
) -> None:
    """Four topic models on a corpus you already have: the docstrings of NumPy, SciPy and scikit-learn."""
    from rich.console import Console

    from topoi import datasets

    console = Console()
    console.print("Reading the docstrings of NumPy, SciPy and scikit-learn …")
    corpus = datasets.load_demo()
    console.print(f"{corpus}\nTraining (the first run on a machine compiles for half a minute; later runs do not) …")
    _demo_topics(console, corpus, topics, seed)
    _demo_authors(console, corpus, topics, seed)
    _demo_links(console, corpus, topics, seed)
    _demo_labels(console, corpus, seed)


def _demo_topics(console: Console, corpus: Corpus, topics: int, seed: int) -> None:
    from rich.table import Table

    from topoi import LDA, evaluate

    train, test = corpus.split(random_state=seed)
    model = LDA(topics, random_state=seed, verbose=int(sys.stderr.isatty())).fit(train)
    share, words = model.topic_shares_, model.top_words(9)
    table = Table("topic", "share", "words", title="LDA: what the docstrings are about")
    for k in share.argsort()[::-1]:
        table.add_row(str(k), f"{share[k]:.1%}", " ".join(words[k]))
    console.print(table)
    found = evaluate.completion(model, test)
    console.print(
        f"{model.n_iter_} sweeps in {model.history_[-1]['seconds']:.1f} s; held-out perplexity {found.perplexity:.0f} ({found.low:.0f} to {found.high:.0f})\n"
    )


def _demo_authors(console: Console, corpus: Corpus, topics: int, seed: int) -> None:
    from rich.table import Table

    from topoi import AuthorTopicModel

    model = AuthorTopicModel(topics, random_state=seed, max_iter=50).fit(corpus)
    table = Table("words", "cited authors", title="Author-topic model: who is cited for what")
    written, words = model.author_counts_.sum(axis=0), model.top_words(6)
    for k in written.argsort()[::-1][:8]:
        table.add_row(" ".join(words[k]), ", ".join(name for name, _ in model.authors_of_topic(int(k), 4)))
    console.print(table)


def _demo_links(console: Console, corpus: Corpus, topics: int, seed: int) -> None:
    from rich.table import Table

    from topoi import RelationalTopicModel

    model = RelationalTopicModel(topics, random_state=seed, max_iter=50).fit(corpus)
    names = [str(name) for name in corpus.doc_names or ()]
    known = ("numpy.linalg.svd", "scipy.signal.butter", "scipy.stats.ttest_ind", "sklearn.cluster.KMeans")
    asked = [i for i, name in enumerate(names) if name in known]
    table = Table("function", "see also, says the model", title="Relational model: links from topics")
    for i, recommended in zip(asked, model.predict_links(corpus.counts[asked], n=6), strict=True):
        table.add_row(names[i], ", ".join(name for name, _ in recommended if name != names[i]))
    console.print(table)
    console.print(f"Linked docstrings decide {model.link_weight_:.0%} of each other's topics (learned).\n")


def _demo_labels(console: Console, corpus: Corpus, seed: int) -> None:
    from rich.table import Table

    from topoi import LabeledLDA

    train, test = corpus.split(random_state=seed)
    model = LabeledLDA(background_topics=3, random_state=seed, max_iter=50).fit(train)
    right = sum(guess[0] in truth for guess, truth in zip(model.most_likely(test.counts), test.labels, strict=True))
    table = Table("subpackage", "words", title="Labeled LDA: what is special about a subpackage")
    sizes = {label: sum(label in row for row in corpus.labels) for label in model.classes_.tolist()}
    words = model.top_words_by_label(8)
    for label in sorted(sizes, key=lambda name: -sizes[name])[:10]:
        table.add_row(label, " ".join(words[label]))
    console.print(table)
    console.print(f"The subpackage of an unseen docstring is guessed right in {right / test.n_docs:.0%} of cases, out of {len(sizes)}.")
