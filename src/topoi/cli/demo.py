"""`topoi demo`: four models on a corpus that every machine with topoi has."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from topoi.cli.options import N_COMPONENTS
from topoi.cli.output import announce_compilation, plain_table, show

if TYPE_CHECKING:
    from topoi.corpus import Corpus


def demo(
    n_components: Annotated[int, typer.Option(*N_COMPONENTS, min=1, help="Number of topics.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed: the same seed gives the same topics.")] = 0,
) -> None:
    """Four topic models on a corpus you already have: the docstrings of NumPy, SciPy and
    scikit-learn.
    """
    from topoi import datasets

    show("Reading the docstrings of NumPy, SciPy and scikit-learn …")
    corpus = datasets.load_demo()
    show(f"{corpus}\nTraining …")
    announce_compilation()
    _demo_topics(corpus, n_components, seed)
    _demo_authors(corpus, n_components, seed)
    _demo_links(corpus, n_components, seed)
    _demo_labels(corpus, seed)


def _demo_topics(corpus: Corpus, n_components: int, seed: int) -> None:
    from topoi import LDA, evaluate

    train, test = corpus.split(random_state=seed)
    model = LDA(n_components, random_state=seed, verbose=int(sys.stderr.isatty())).fit(train)
    size, words = model.topic_proportions_, model.top_words(9)
    rows = [(k, f"{size[k]:.1%}", " ".join(words[k])) for k in size.argsort()[::-1]]
    show(
        plain_table("LDA: what the docstrings are about", "topic", "proportion", "words", rows=rows)
    )
    found = evaluate.completion(model, test)
    show(
        f"{model.n_iter_} sweeps in {model.history_[-1]['seconds']:.1f} s; held-out perplexity"
        f" {found.perplexity:.0f} ({found.low:.0f} to {found.high:.0f})\n"
    )


def _demo_authors(corpus: Corpus, n_components: int, seed: int) -> None:
    from topoi import AuthorTopicModel

    model = AuthorTopicModel(n_components, random_state=seed, max_iter=50).fit(corpus)
    written, words = model.author_counts_.sum(axis=0), model.top_words(6)
    rows = [
        (" ".join(words[k]), ", ".join(str(name) for name, _ in model.authors_of_topic(int(k), 4)))
        for k in written.argsort()[::-1][:8]
    ]
    show(
        plain_table(
            "Author-topic model: who is cited for what", "words", "cited authors", rows=rows
        )
    )


def _demo_links(corpus: Corpus, n_components: int, seed: int) -> None:
    from topoi import RelationalTopicModel

    model = RelationalTopicModel(n_components, random_state=seed, max_iter=50).fit(corpus)
    names = [str(name) for name in corpus.doc_names or ()]
    known = (
        "numpy.linalg.svd",
        "scipy.signal.butter",
        "scipy.stats.ttest_ind",
        "sklearn.cluster.KMeans",
    )
    asked = [i for i, name in enumerate(names) if name in known]
    rows = [
        (names[i], ", ".join(str(name) for name, _ in recommended if name != names[i]))
        for i, recommended in zip(
            asked, model.recommend_links(corpus.counts[asked], n=6), strict=True
        )
    ]
    show(
        plain_table(
            "Relational model: links from topics", "function", "see also, says the model", rows=rows
        )
    )
    show(f"Linked docstrings decide {model.link_weight_:.0%} of each other's topics (learned).\n")


def _demo_labels(corpus: Corpus, seed: int) -> None:
    from topoi import LabeledLDA

    train, test = corpus.split(random_state=seed)
    model = LabeledLDA(background_topics=3, random_state=seed, max_iter=50).fit(train)
    assert corpus.labels is not None
    assert test.labels is not None
    right = sum(
        guess[0] in truth
        for guess, truth in zip(model.most_likely(test.counts), test.labels, strict=True)
    )
    sizes = {label: sum(label in row for row in corpus.labels) for label in model.classes_.tolist()}
    words = model.top_words_by_label(8)
    rows = [
        (label, " ".join(words[label]))
        for label in sorted(sizes, key=lambda name: -sizes[name])[:10]
    ]
    show(
        plain_table(
            "Labeled LDA: what is special about a subpackage", "subpackage", "words", rows=rows
        )
    )
    show(
        f"The subpackage of an unseen docstring is guessed right in {right / test.n_docs:.0%} of"
        f" cases, out of {len(sizes)}."
    )
