"""Author-topic, relational and labeled models against their baselines."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.naive_bayes import MultinomialNB

from benchmarks.common import PRIOR, aim, each, load, mean_and_spread, note, table
from topoi import LDA, AuthorTopicModel, LabeledLDA, RelationalTopicModel
from topoi.corpus.links import symmetric
from topoi.evaluate import (
    LinkKFold,
    completion_perplexity,
    cosine_scores,
    hadamard,
    link_metrics,
    link_pairs,
    random_non_links,
    ranking_metrics,
    svm_scores,
)

FIXED = {"doc_topic_prior": PRIOR, "topic_word_prior": PRIOR}
LEARNED = {"doc_topic_prior": "learn", "topic_word_prior": "learn"}


def run(args: argparse.Namespace) -> None:
    parts = {"authors": authors, "relations": relations, "links": link_prediction, "labels": labels}
    for name in args.parts or parts:
        parts[name](args)


def document_split(n_docs: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """80 % and 20 % of document numbers."""
    order = np.random.default_rng(seed).permutation(n_docs)
    n_test = round(0.2 * n_docs)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


# ------------------------------------------------------------------------------------------ authors


def authors(args: argparse.Namespace) -> None:
    """Author-topic model: BP against Gibbs, one scorer."""
    sets = ("cora",) if args.quick else args.sets or ("cora", "medl", "nips")
    seeds, n_topics = args.seeds or 3, 10 if args.quick else 50
    sweeps = {"bp": 10, "gibbs": 10} if args.quick else {"bp": 100, "gibbs": 300}
    jobs = [
        (args.data, name, rule, n_topics, sweeps[rule], seed)
        for name in sets
        for rule in ("bp", "gibbs")
        for seed in range(seeds)
    ]
    results = np.array(list(each(measure_authors, jobs))).reshape(len(sets), 2, seeds, 3)
    print(
        f"### Author-topic model\n\nK={n_topics}, alpha=beta={PRIOR}, {seeds} seeds, sweeps"
        f" {sweeps}. Predictive perplexity, BP fold-in for both. Authors of test documents from"
        " scratch with equal or learned proportions (the paper's protocol), or with what they"
        " wrote in training.\n"
    )
    rows, gains = [], []
    for name, (bp, gibbs) in zip(sets, results, strict=True):
        for form, title in enumerate(
            (
                "from scratch, equal proportions",
                "from scratch, learned proportions",
                "known authors",
            )
        ):
            gain = 100 * (bp[:, form].mean() / gibbs[:, form].mean() - 1)
            rows.append(
                [
                    name.upper(),
                    title,
                    mean_and_spread(bp[:, form]),
                    mean_and_spread(gibbs[:, form]),
                    f"{gain:+.1f} %",
                ]
            )
            gains += [gain] if form == 0 else []
    table(["set", "authors of test documents", "BP", "Gibbs", "difference"], rows)
    aim(
        "BP at least 5 % below Gibbs on each set (first form):"
        f" {', '.join(f'{gain:+.1f} %' for gain in gains)}",
        max(gains) <= -5,
    )
    print()


def measure_authors(
    data: Path, name: str, rule: str, n_topics: int, sweeps: int, seed: int
) -> list[float]:
    began = time.perf_counter()
    corpus = load(data, name)
    train, test = (corpus[part] for part in document_split(corpus.n_docs))
    model = AuthorTopicModel(
        n_topics, rule=rule, max_iter=sweeps, tol=0, evaluate_every=0, random_state=seed, **FIXED
    ).fit(train)
    forms = [("uniform", False), ("learned", False), ("uniform", True)]
    scores = [
        completion_perplexity(
            model, test.counts, authors=test.authors, author_prior=s, known_authors=k
        )
        for s, k in forms
    ]
    note(
        f"authors {name} {rule} seed {seed}: {np.round(scores, 1)},"
        f" {time.perf_counter() - began:.0f} s"
    )
    return scores


# -------------------------------------------------------------------------------------------- links

CONTROLS: list[tuple[str, str, Any]] = [  # links, factor, weight
    ("right", "learned", 0.05),
    ("right", "learned", 0.15),
    ("right", "learned", 0.3),
    ("right", "learned", "learn"),
    ("right", "paper", 0.15),
    ("right", "identity", 0.3),
    ("right", "identity", "learn"),
    ("shuffled", "learned", 0.15),
    ("shuffled", "learned", "learn"),
    ("shuffled", "paper", 0.15),
]


def relations(args: argparse.Namespace) -> None:
    """Relational model: held-out documents arrive with their links; LDA and shuffled links are the
    controls.
    """
    sets = ("cora",) if args.quick else args.sets or ("cora", "medl", "blog")
    seeds, n_topics, sweeps = (1, 10, 10) if args.quick else (args.seeds or 3, 20, 100)
    variants = [("none", "", 0.0), *CONTROLS]
    for name in sets:
        jobs = [
            (args.data, name, v, priors, n_topics, sweeps, seed)
            for priors in ("fixed", "learned")
            for v in variants
            for seed in range(seeds)
        ]
        by_priors = np.array(list(each(measure_relations, jobs))).reshape(
            2, len(variants), seeds, 3
        )
        print(
            f"### Relational model, {name.upper()}\n\nK={n_topics}, {seeds}"
            f" seed{'s' * (seeds > 1)}, {sweeps} sweeps. Predictive perplexity of linked test"
            " documents.\n"
        )
        for priors, scores in zip(
            (f"alpha=beta={PRIOR}", "learned priors"), by_priors, strict=True
        ):
            base = scores[0].mean(axis=0)
            rows = []
            for (links, factor, weight), score in zip(variants, scores, strict=True):
                change = [f"{100 * (score[:, i].mean() / base[i] - 1):+.1f} %" for i in (0, 1)]
                model = "LDA" if links == "none" else f"{links} links, {factor} factor"
                xi = (
                    ""
                    if links == "none"
                    else f"{weight} → {score[:, 2].mean():.3f}"
                    if weight == "learn"
                    else weight
                )
                rows.append(
                    [
                        priors,
                        model,
                        xi,
                        mean_and_spread(score[:, 0]),
                        change[0],
                        mean_and_spread(score[:, 1]),
                        change[1],
                    ]
                )
            table(["priors", "model", "xi", "90 % observed", "", "20 % observed", ""], rows)
        judge_relations(name, by_priors)


def judge_relations(name: str, by_priors: np.ndarray) -> None:
    fixed = by_priors[0].mean(axis=1)[:, :2]  # (variants, 2)
    paper, learned = fixed[2] / fixed[0] - 1, fixed[4] / fixed[0] - 1
    least = -4 if name == "cora" else 0
    aim(
        f"{name.upper()}, xi=0.15: at least {-least} % below LDA: {100 * paper[0]:+.1f} %",
        100 * paper[0] <= least,
    )
    aim(
        f"{name.upper()}, xi=0.15, 20 % observed: at least 10 % below LDA: {100 * paper[1]:+.1f} %",
        100 * paper[1] <= -10,
    )
    best = fixed[1:4, 0].min()
    aim(
        f"{name.upper()}: learned xi ({100 * learned[0]:+.1f} %) no worse than the best fixed one"
        f" ({100 * (best / fixed[0, 0] - 1):+.1f} %)",
        fixed[4, 0] <= best,
    )
    placebo = by_priors[1, 9, :, 2].mean()  # shuffled, learned, learn
    aim(
        f"{name.upper()}: learned xi near 0 for shuffled links with learned priors: {placebo:.3f}",
        placebo < 0.02,
    )
    print()


def measure_relations(
    data: Path,
    name: str,
    variant: tuple[str, str, Any],
    priors: str,
    n_topics: int,
    sweeps: int,
    seed: int,
) -> list[float]:
    """Predictive perplexity with 10 % and with 80 % of the tokens held out, and xi."""
    began = time.perf_counter()
    corpus = load(data, name)
    links, factor, weight = variant
    right = symmetric(corpus.links)
    order = np.random.default_rng(1).permutation(corpus.n_docs)
    used = right[order][:, order] if links == "shuffled" else right
    train, test = document_split(corpus.n_docs)
    test = test[np.diff(right.indptr)[test] > 0]
    options: dict[str, Any] = {
        "max_iter": sweeps,
        "tol": 0,
        "evaluate_every": 0,
        "random_state": seed,
        **(FIXED if priors == "fixed" else LEARNED),
    }
    if links == "none":
        model: Any = LDA(n_topics, **options).fit(corpus.counts[train])
        metadata = {}
    else:
        model = RelationalTopicModel(
            n_topics, link_weight=weight, link_factor=factor, **options
        ).fit(corpus.counts[train], links=used[train][:, train])
        metadata = {
            "links": sparse.csr_array(sparse.hstack([used[test][:, train], used[test][:, test]]))
        }
    scores = [
        completion_perplexity(model, corpus.counts[test], held_out=held, **metadata)
        for held in (0.1, 0.8)
    ]
    note(
        f"links {name} {priors} {variant} seed {seed}: {np.round(scores, 1)},"
        f" {time.perf_counter() - began:.0f} s"
    )
    return [*scores, getattr(model, "link_weight_", 0.0)]


# ---------------------------------------------------------------------------------- link prediction


def link_prediction(args: argparse.Namespace) -> None:
    """Tasks L and N on CORA: RTM and LDA with the same SVM, the link factor itself, cosines."""
    n_topics, sweeps, folds = (10, 10, 2) if args.quick else (20, 100, 5)
    for task, measure in (
        ("L (hidden links)", measure_completion),
        ("N (new documents)", measure_new),
    ):
        results = list(
            each(
                measure,
                [(args.data, "cora", n_topics, sweeps, folds, fold) for fold in range(folds)],
            )
        )
        columns = list(next(iter(results[0].values())))
        rows = [
            [
                name,
                *(
                    f"{np.mean([r[name][c] for r in results]):.3f}"
                    f" ({np.std([r[name][c] for r in results]):.3f})"
                    for c in columns
                ),
            ]
            for name in results[0]
        ]
        print(
            f"### Link prediction, task {task}\n\nCORA, K={n_topics}, learned priors, mean"
            f" (deviation) over {folds} folds.\n"
        )
        table(["scorer", *columns], rows)
        precision = {
            name: np.mean([r[name]["average_precision"] for r in results]) for name in results[0]
        }
        best = max(precision["RTM, SVM on sqrt product"], precision["RTM, SVM on product"])
        lda = max(precision["LDA, SVM on sqrt product"], precision["LDA, SVM on product"])
        aim(
            f"task {task}: average precision of RTM + SVM ({best:.3f}) above LDA + the same SVM"
            f" ({lda:.3f})",
            best > lda,
        )
        print()


def _models(counts: Any, links: Any, n_topics: int, sweeps: int, seed: int) -> dict[str, Any]:
    options = {"max_iter": sweeps, "tol": 0, "evaluate_every": 0, "random_state": seed}
    return {
        "LDA": LDA(n_topics, **options).fit(counts),
        "RTM": RelationalTopicModel(n_topics, link_weight=0.15, **options).fit(counts, links=links),
    }


def pair_scorers(
    counts: Any,
    models: dict[str, Any],
    pairs: np.ndarray,
    other: np.ndarray,
    ask: np.ndarray,
    proportions: dict[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """Scores of the pairs `ask` by every scorer. pairs, other: training links and non-links."""
    train, y = np.vstack([pairs, other]), np.r_[np.ones(len(pairs)), np.zeros(len(other))]
    out = {}
    for name, theta in proportions.items():
        for root, title in ((True, "sqrt product"), (False, "product")):
            out[f"{name}, SVM on {title}"] = svm_scores(
                hadamard(theta, train, root), y, hadamard(theta, ask, root)
            )
        out[f"{name}, cosine"] = cosine_scores(theta, ask)
        if isinstance(models[name], RelationalTopicModel):
            out[f"{name}, link factor"] = models[name].score_proportions(
                theta[ask[:, 0]], theta[ask[:, 1]]
            )
    out["TF-IDF cosine"] = cosine_scores(
        sparse.csr_array(TfidfTransformer().fit_transform(counts)), ask
    )
    return out


def measure_completion(
    data: Path, name: str, n_topics: int, sweeps: int, folds: int, fold: int
) -> dict[str, dict[str, float]]:
    """Task L: some pairs are hidden, all texts are known."""
    corpus = load(data, name)
    train, test = list(LinkKFold(folds).split(corpus.links, corpus.n_docs))[fold]
    non_links = random_non_links(corpus.links, corpus.n_docs, len(train) + len(test), fold)
    models = _models(corpus.counts, train, n_topics, sweeps, fold)
    proportions = {key: model.doc_topic_ for key, model in models.items()}
    ask = np.vstack([test, non_links[len(train) :]])
    linked = np.r_[np.ones(len(test)), np.zeros(len(test))]
    scores = pair_scorers(corpus.counts, models, train, non_links[: len(train)], ask, proportions)
    note(f"task L fold {fold} done")
    return {
        key: link_metrics(score, linked, 0.0 if "SVM" in key else None)
        for key, score in scores.items()
    }


def measure_new(
    data: Path, name: str, n_topics: int, sweeps: int, folds: int, fold: int
) -> dict[str, dict[str, float]]:
    """Task N: new documents come by their words alone; all training documents are ranked
    for each.
    """
    corpus = load(data, name)
    order = np.random.default_rng(0).permutation(corpus.n_docs)
    test = np.sort(np.array_split(order, folds)[fold])
    train = np.setdiff1d(order, test)
    table = symmetric(corpus.links)
    inside = link_pairs(table[train][:, train], len(train))
    models = _models(corpus.counts[train], inside, n_topics, sweeps, fold)
    counts = corpus.counts[np.r_[train, test]]
    proportions = {
        key: np.vstack([model.doc_topic_, model.transform(corpus.counts[test])])
        for key, model in models.items()
    }
    non_links = random_non_links(inside, len(train), len(inside), fold)
    truth_table = table[test][:, train]
    truth = [
        truth_table.indices[truth_table.indptr[i] : truth_table.indptr[i + 1]]
        for i in range(len(test))
    ]
    asked = [i for i in range(len(test)) if len(truth[i])]
    ask = np.array([(len(train) + i, d) for i in asked for d in range(len(train))])
    scores = pair_scorers(counts, models, inside, non_links, ask, proportions)
    place = {i: j for j, i in enumerate(asked)}
    note(f"task N fold {fold} done")
    return {
        key: ranking_metrics(
            lambda i, s=score: s[place[i] * len(train) : (place[i] + 1) * len(train)], truth
        )
        for key, score in scores.items()
    }


# ------------------------------------------------------------------------------------------- labels


def labels(args: argparse.Namespace) -> None:
    """Labeled LDA on 20 Newsgroups, its own training and test documents, against naive Bayes."""
    corpus = load(args.data, "news20")
    is_test = np.char.startswith(np.asarray(corpus.doc_names, dtype=str), "test-")
    train, test = corpus[~is_test], corpus[is_test]
    if args.quick:
        train, test = train[::20], test[::20]
    y_train, y_test = ([row[0] for row in part.labels] for part in (train, test))
    bayes = MultinomialNB(alpha=0.01).fit(train.counts, y_train).score(test.counts, y_test)
    rows = [["MultinomialNB(alpha=0.01)", f"{100 * bayes:.1f} %"]]
    for background in (0, 5):
        model = LabeledLDA(
            background, max_iter=50, topic_word_prior=PRIOR, doc_topic_prior=0.1, n_jobs=-1
        ).fit(train.counts, y_train)
        rows.append(
            [
                f"LabeledLDA(background_topics={background})",
                f"{100 * np.mean(model.predict(test.counts) == np.array(y_test)):.1f} %",
            ]
        )
        note(f"labels: background {background} done")
    print("### Labeled LDA\n\n20 Newsgroups, its own split; accuracy of predict.\n")
    table(["model", "accuracy"], rows)
    print(
        "Top words of each label beside 5 background topics (relevance 0.4, since stop words are"
        " still in):\n"
    )
    words = model.top_words_by_label(8, vocabulary=corpus.vocabulary, relevance=0.4)
    table(["label", "words"], [[label, " ".join(top)] for label, top in words.items()])
