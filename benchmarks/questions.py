"""Questions to authors, links and labels beside TF-IDF and naive Bayes.

The first of the corpora of each part chose the settings; the others show them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import normalize

from benchmarks.common import aim, each, load, note, table
from topoi import AuthorTopicModel, LabeledLDA, RelationalTopicModel
from topoi.corpus.links import symmetric
from topoi.evaluate import ranking_metrics

TOPICS, SWEEPS, SEEDS = 20, 30, 3


def run(args: argparse.Namespace) -> None:
    parts = {"authors": authors, "links": links, "labels": labels}
    for name in args.parts or parts:
        parts[name](args)


def _split(n_docs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """80 % and 20 % of document numbers, another split for each seed."""
    order = np.random.default_rng(seed).permutation(n_docs)
    n_test = round(0.2 * n_docs)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def _shown(values: np.ndarray) -> list[str]:
    return [f"{value:.3f} ({spread:.3f})" for value, spread in zip(*values, strict=True)]


def _compare(
    args: argparse.Namespace,
    sets: tuple[str, ...],
    measure: Callable[[Path, str, int], dict[str, list[float]]],
    columns: list[str],
    title: str,
) -> dict[str, dict[str, np.ndarray]]:
    """Measure every corpus with every seed, print the means and deviations, and return the
    means.
    """
    chosen = sets[:1] if args.quick else args.sets or sets
    seeds = 1 if args.quick else args.seeds or SEEDS
    jobs = [(args.data, name, seed) for name in chosen for seed in range(seeds)]
    results = list(each(measure, jobs))
    rows, means = [], {}
    for i, name in enumerate(chosen):
        found = results[i * seeds : (i + 1) * seeds]
        means[name] = {key: np.mean([r[key] for r in found], axis=0) for key in found[0]}
        rows += [
            [name.upper(), key, *_shown(np.array([mean, np.std([r[key] for r in found], axis=0)]))]
            for key, mean in means[name].items()
        ]
    print(f"### {title}\n\nMean (deviation) over {seeds} splits of 80 % and 20 % of documents.\n")
    table(["set", "ranked by", *columns], rows)
    return means


# ------------------------------------------------------------------------------------------ authors


def authors(args: argparse.Namespace) -> None:
    """Who wrote this? One of the authors first, or among the first ten."""
    means = _compare(
        args,
        ("nips", "cora", "medl"),
        measure_authors,
        ["hit@1", "hit@10"],
        f"Who wrote this?, K={TOPICS}",
    )
    for name, by in means.items():
        best = np.maximum(by["TF-IDF centroid"], by["TF-IDF centroid, log counts"])
        mine = by["predict_authors"]
        aim(
            f"{name.upper()}: hit@1 {mine[0]:.3f} and hit@10 {mine[1]:.3f}, at least those of the"
            f" better TF-IDF centroid ({best[0]:.3f}, {best[1]:.3f})",
            bool((mine >= best).all()),
        )
    print()


def measure_authors(data: Path, name: str, seed: int) -> dict[str, list[float]]:
    corpus = load(data, name)
    train, test = (corpus[part] for part in _split(corpus.n_docs, seed))
    options = {"max_iter": SWEEPS, "random_state": seed}
    model = AuthorTopicModel(TOPICS, **options).fit(train)
    names = model.author_names_
    truth = sparse.csr_array(test.authors.aligned(names).matrix[:, : len(names)])
    asked = np.flatnonzero(np.diff(truth.indptr))  # documents with an author that is known
    counts, right = test.counts[asked], truth[asked].toarray() > 0
    number = {author: i for i, author in enumerate(names.tolist())}
    model.author_blend_, blend = None, model.author_blend_
    by_topics = model.predict_authors(counts, 10)
    model.author_blend_ = blend
    ranked = {"topics alone": by_topics, "predict_authors": model.predict_authors(counts, 10)}
    first = {
        key: np.array([[number[author] for author, _ in row] for row in rows])
        for key, rows in ranked.items()
    }
    for sublinear, key in ((False, "TF-IDF centroid"), (True, "TF-IDF centroid, log counts")):
        tfidf = TfidfTransformer(sublinear_tf=sublinear).fit(train.counts)
        centroid = normalize(train.authors.matrix.T @ tfidf.transform(train.counts))
        scores = (tfidf.transform(counts) @ centroid.T).toarray()
        first[key] = np.argsort(-scores, axis=1, kind="stable")[:, :10]
    note(f"authors {name} seed {seed} done")
    return {
        key: [
            float(np.mean([right[i, row[:k]].any() for i, row in enumerate(found)]))
            for k in (1, 10)
        ]
        for key, found in first.items()
    }


# -------------------------------------------------------------------------------------------- links


def links(args: argparse.Namespace) -> None:
    """What should this cite? New documents by their words alone."""
    means = _compare(
        args,
        ("cora", "nips", "medl"),
        measure_links,
        ["recall@10", "AUC"],
        f"What should this cite?, K={TOPICS}",
    )
    for name, by in means.items():
        recall, auc = by["recommend_links"]
        best = max(by["TF-IDF cosine"][0], by["TF-IDF cosine, log counts"][0])
        aim(
            f"{name.upper()}: recall@10 {recall:.3f}, at least that of the better TF-IDF cosine"
            f" ({best:.3f})",
            recall >= best,
        )
        aim(
            f"{name.upper()}: AUC {auc:.3f}, at least that of the link table"
            f" ({by['link table (topics)'][1]:.3f})",
            auc >= by["link table (topics)"][1],
        )
    print()


def measure_links(data: Path, name: str, seed: int) -> dict[str, list[float]]:
    corpus = load(data, name)
    train, test = _split(corpus.n_docs, seed)
    both = symmetric(corpus.links)
    truth = sparse.csr_array(both[test][:, train])
    asked = np.flatnonzero(np.diff(truth.indptr))
    old, new, right = corpus.counts[train], corpus.counts[test][asked], truth[asked].toarray() > 0
    model = RelationalTopicModel(TOPICS, link_weight=0.15, max_iter=SWEEPS, random_state=seed).fit(
        old, links=both[train][:, train]
    )
    scores = {}
    for by, key in (("topics", "link table (topics)"), ("blend", "recommend_links")):
        scores[key] = np.empty(right.shape)
        for i, row in enumerate(model.recommend_links(new, len(train), by=by)):
            scores[key][i, [d for d, _ in row]] = [score for _, score in row]
    for sublinear, key in ((False, "TF-IDF cosine"), (True, "TF-IDF cosine, log counts")):
        tfidf = TfidfTransformer(sublinear_tf=sublinear).fit(old)
        scores[key] = (tfidf.transform(new) @ tfidf.transform(old).T).toarray()
    found = [np.flatnonzero(row) for row in right]
    note(f"links {name} seed {seed} done")
    return {
        key: [
            ranking_metrics(lambda i, s=score: s[i], found, at=(10,))["recall@10"],
            float(np.mean([roc_auc_score(right[i], score[i]) for i in range(len(right))])),
        ]
        for key, score in scores.items()
    }


# ------------------------------------------------------------------------------------------- labels


def labels(args: argparse.Namespace) -> None:
    """Accuracy of labels, with labels passed in four ways."""
    means = _compare(
        args, ("cora", "poliblog5k", "blog"), measure_labels, ["accuracy"], "Labels of documents"
    )
    for name, by in means.items():
        bayes = by["MultinomialNB()"][0]
        forms = {key: by[key][0] for key in by if key.startswith("LabeledLDA, ")}
        worst = min(forms.values())
        aim(
            f"{name.upper()}: accuracy {worst:.3f} in the worst of {len(forms)} forms, at most"
            f" 0.005 below naive Bayes ({bayes:.3f})",
            worst >= bayes - 0.005,
        )
    print()


def measure_labels(data: Path, name: str, seed: int) -> dict[str, list[float]]:
    corpus = load(data, name)
    corpus = corpus[np.flatnonzero(corpus.labels.counts())]
    train, test = (corpus[part] for part in _split(corpus.n_docs, seed))
    y, truth = (np.array([row[0] for row in part.labels]) for part in (train, test))
    classes = np.unique(y)
    forms = {
        "a Corpus": (train, None),
        "one each": (train.counts, y),
        "lists": (train.counts, [[label] for label in y]),
        "a matrix": (train.counts, (y[:, None] == classes).astype(int)),
    }
    results = {
        f"MultinomialNB({given})": [
            float(MultinomialNB(**options).fit(train.counts, y).score(test.counts, truth))
        ]
        for given, options in (("", {}), ("alpha=0.01", {"alpha": 0.01}))
    }
    for key, (X, given) in forms.items():
        model = LabeledLDA(max_iter=SWEEPS, random_state=seed).fit(X, given)
        known = classes if key == "a matrix" else model.classes_
        found = known[model.predict_proba(test.counts).argmax(axis=1)]
        results[f"LabeledLDA, {key}"] = [float(np.mean(found == truth))]
    model = LabeledLDA(5, max_iter=SWEEPS, random_state=seed).fit(train.counts, y)
    results["LabeledLDA(background_topics=5)"] = [float(model.score(test.counts, truth))]
    note(f"labels {name} seed {seed} done")
    return results
