"""Damaged model files. What is accepted must predict as the undamaged model does."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import topoi
from fuzz.archives import Contents, contents_of, packed
from fuzz.damage import damaged
from fuzz.harness import Case, outcome_of, scratch_folder
from topoi import (
    LDA,
    AuthorTopicModel,
    LabeledLDA,
    LatentDirichletAllocation,
    RelationalTopicModel,
    datasets,
)

TEXTS = ["cats and dogs", "dogs chase cats", "stocks fell today", "stocks and bonds rose"] * 3
HARD_TEXT = "cats " + "a" * 3_000 + "! dogs " + "a-" * 1_500 + " stocks"


def fitted() -> list[Any]:
    """Small models that together use everything a file can hold."""
    few: dict[str, Any] = {"max_iter": 3}
    authors, links, labels = (
        datasets.make_authors(12, 4, 15, 3)[0],
        datasets.make_links(12, 15, 3)[0],
        datasets.make_labels(12, 15, 3)[0],
    )
    corpus = topoi.read(
        TEXTS,
        doc_names=[f"d{i}" for i in range(12)],
        vectorizer=topoi.make_vectorizer(ngram_range=(1, 2)),
        authors=["Ann", "Bob;Cy", None] * 4,
        labels=["pets", "money"] * 6,
        dates=[2020, 2021, "2021-05", None] * 3,
        groups={"source": ["web", "press"] * 6, "kind": ["p;q", None, "q"] * 4},
        keep_text=True,
    )
    ids = [f"p{i}" for i in range(12)]
    neighbours = [[ids[j] for j in links.links[[i]].indices] for i in range(12)]
    related = RelationalTopicModel(3, **few)
    return [
        LDA(2, doc_topic_prior=[0.1, 0.2], **few).fit(corpus).name_topics({1: "pets"}),
        LDA(3, seeds={"first": corpus.words[:2]}, **few).fit(corpus),
        LDA(3, topic_word_prior=np.eye(3, 15) + 0.1, **few).fit(authors).delete_topics([2]),
        LDA(3, weighting="tfidf", **few).fit(authors.counts.astype(np.float32)),
        LDA(3, rule="gibbs", tol="paper", **few).fit(authors),
        LDA(3, rule=topoi.rules.VB(inner=2), **few).fit(authors),
        LDA(3, batch_size=5, **few).fit(authors),
        LDA(3, rule=topoi.rules.CVB0(relaxation=0.8)).partial_fit(authors),
        LatentDirichletAllocation(3, random_state=0, **few).fit(authors),
        AuthorTopicModel(3, author_prior="learned", **few).fit(authors),
        related.fit(links.counts, links=neighbours, doc_names=ids),
        LabeledLDA(1, **few).fit(labels),
    ]


def signature(model: Any) -> list[Any]:
    """What a model says: predictions, words, names and parameters. Raises what its use raises."""
    counts = datasets.make_lda(4, model.n_features_in_, 3, random_state=5)[0].counts
    proportions = np.asarray(model.transform(counts), dtype=np.float64)
    said: list[Any] = [
        type(model).__name__,
        model.n_features_in_,
        proportions.tolist(),
        model.top_words(3),
        model.top_words(3, relevance=0.4),
    ]
    said += [
        model.topic_names_,
        model.components_.tolist(),
        model.topic_proportions_.tolist(),
        model.n_iter_,
        repr(getattr(model, "history_", 0)),
    ]
    said += [repr(sorted(model.get_params().items())), model.perplexity(counts)]
    if hasattr(model, "doc_topic_"):
        said += [model.top_documents(2), *_known(model.documents_)]
    if model.vectorizer_ is not None:
        said.append(model.vectorizer_.transform([*TEXTS, HARD_TEXT]).toarray().tolist())
    if hasattr(model, "author_names_") and len(model.author_names_) > 1:
        name = model.author_names_[0]
        said += [
            model.predict_authors(counts, 2),
            model.similar_authors(name, 2),
            model.topics_of_author(name),
        ]
        said.append(model.transform(counts, [[name]] * 4).tolist())
    if hasattr(model, "links_"):
        said += [
            model.recommend_links(counts, 3),
            model.transform(counts, [[0]] * 4).tolist(),
            model.links_.nnz,
            repr(model.doc_names_),
        ]
    if hasattr(model, "classes_"):
        said += [repr(model.predict(counts)), model.predict_proba(counts).tolist()]
    if hasattr(model, "partial_fit"):
        more = model.partial_fit(counts)
        said += [more.components_.tolist(), more.doc_topic_prior_.tolist()]
    return said


def _known(documents: Any) -> list[Any]:
    """All that a model knows about its training documents."""
    arrays = (documents.tokens, documents.names, documents.dates, documents.fit)
    columns = {name: column.tolist() for name, column in documents.columns.items()}
    return [*(repr(array) for array in arrays), documents.texts, columns]


def is_sound(model: Any) -> bool:
    """Whether a model predicts proper topic proportions."""
    counts = datasets.make_lda(4, model.n_features_in_, 3, random_state=5)[0].counts
    proportions = np.asarray(model.transform(counts), dtype=np.float64)
    return bool(
        np.isfinite(proportions).all()
        and (proportions >= 0).all()
        and np.allclose(proportions.sum(axis=1), 1, atol=1e-3)
    )


def cases(n: int, seed: int) -> Iterator[Case]:
    """n damaged files, of the models in turn."""
    path = scratch_folder() / "m.topoi"
    wholes: list[tuple[Contents, list[Any]]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in fitted():
            model.save(path)
            wholes.append((contents_of(path), signature(topoi.load(path))))
    for i in range(n):
        whole, expected = wholes[i % len(wholes)]
        damage, contents = damaged(whole, np.random.default_rng([seed, i]))
        yield Case(f"{i} {damage}", partial(_run, path, contents, expected))


def _run(path: Path, contents: Contents, expected: list[Any]) -> str:
    path.write_bytes(packed(contents))
    loaded: list[Any] = []

    def load() -> str:
        loaded.append(topoi.load(path))
        return "accepted"

    outcome = outcome_of(load, path)
    return (
        outcome
        if outcome == "refused"
        else judged(partial(signature, loaded[0]), expected, contents.seal and is_sound(loaded[0]))
    )


def judged(say: Callable[[], Any], expected: Any, may_differ: bool) -> str:
    """How what was accepted compares with what was expected."""
    if repr(say()) == repr(expected):
        return "harmless"
    return "another" if may_differ else "different"
