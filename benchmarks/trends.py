"""Do intervals of prevalence and of effects cover the truth as often as they say?

On synthetic corpora the truth is the mean that documents of a period are drawn from. On real ones
it is the mean of all documents of a group, and intervals come from a fifth of them.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.special import ndtr, ndtri

from benchmarks.common import aim, each, load, note, table
from topoi import LDA, Corpus
from topoi.corpus.metadata import label_membership
from topoi.explore.trends import observed_proportions, prevalence_table

TOPICS, WORDS, PERIODS, LEVEL = 6, 400, 8, 0.95
FOUND = 0.1  # squared Hellinger distance of a topic that was found
SETTINGS = ((8, 60), (40, 60), (40, 200), (200, 30))  # documents of a period, tokens of a document
PART = 0.2  # of the documents of a real corpus


def run(args: argparse.Namespace) -> None:
    seeds = args.seeds or (2 if args.quick else 50)
    settings = SETTINGS[1:2] if args.quick else SETTINGS
    print(
        f"{seeds} synthetic corpora of {TOPICS} topics and {PERIODS} periods: how often 95 %"
        " intervals cover the mean from which proportions were drawn, for topics that were found,"
        " and what they cover with the true proportions.\n"
    )
    jobs = [(docs, length, seed) for docs, length in settings for seed in range(seeds)]
    results = np.array(list(each(measure, jobs))).reshape(len(settings), seeds, -1)
    rows = [
        [docs, length, *(f"{value:.1%}" for value in np.nanmean(found, axis=0))]
        for (docs, length), found in zip(settings, results, strict=True)
    ]
    table(
        [
            *("documents of a period", "tokens", "topics found", "score", "bootstrap", "effect"),
            *("score, all topics", "score, true proportions", "bootstrap, true proportions"),
        ],
        rows,
    )
    score = np.nanmean(results, axis=1)[:, 1]
    met = bool(((score >= 0.93) & (score <= 0.97)).all())
    aim("score intervals of topics that were found cover the truth in 93 to 97 %", met)
    real(args)


def made(docs: int, length: int, seed: int) -> tuple[np.ndarray, ...]:
    """Counts, periods, means of periods (T, K), topics, and proportions of documents."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(WORDS, 0.05), TOPICS)
    time = np.linspace(-1, 1, PERIODS)[:, None]
    mean = np.exp(rng.normal(0, 0.7, TOPICS) + time * rng.normal(0, 1, TOPICS))
    mean /= mean.sum(axis=1, keepdims=True)
    period = np.repeat(np.arange(PERIODS), docs)
    proportions = np.array([rng.dirichlet(mean[t]) for t in period])
    tokens = np.maximum(rng.poisson(length, len(period)), 5)
    pairs = zip(tokens, proportions @ topics, strict=True)
    return np.array([rng.multinomial(n, p) for n, p in pairs]), period, mean, topics, proportions


def measure(docs: int, length: int, seed: int) -> list[float]:
    """Topics found, and coverage: score, bootstrap, effect; of all topics; of true proportions."""
    counts, period, mean, topics, proportions = made(docs, length, seed)
    model = LDA(TOPICS, random_state=seed).fit(Corpus(counts, dates=2000 + period))
    roots = np.sqrt(topics), np.sqrt(model.topic_word_)
    apart = ((roots[0][:, None] - roots[1][None]) ** 2).sum(axis=-1)
    place = linear_sum_assignment(apart)[1]  # of each true topic among those of the model
    found = apart[np.arange(TOPICS), place] < FOUND
    members = label_membership(period.tolist(), len(period))

    def covered(proportions: np.ndarray, interval: str) -> np.ndarray:
        names = [""] * TOPICS
        got = prevalence_table(proportions, members, names, interval=interval, random_state=seed)
        low, high = (got[bound].to_numpy().reshape(mean.shape) for bound in ("low", "high"))
        return (low <= mean) & (mean <= high)

    observed = observed_proportions(model)[:, place]
    score, bootstrap = covered(observed, "score"), covered(observed, "bootstrap")
    late = period >= PERIODS // 2
    effects = model.topic_effects(pd.DataFrame({"late": late.astype(float)}))
    effects = effects[effects["term"] == "late"].set_index("topic").loc[place]
    truth = mean[PERIODS // 2 :].mean(axis=0) - mean[: PERIODS // 2].mean(axis=0)
    effect = (effects["low"].to_numpy() <= truth) & (truth <= effects["high"].to_numpy())
    note(f"{docs} documents, {length} tokens, seed {seed}: {score.mean():.3f}")
    return [
        found.mean(),
        *(
            values[..., found].mean() if found.any() else np.nan
            for values in (score, bootstrap, effect)
        ),
        score.mean(),
        *(covered(proportions, interval).mean() for interval in ("score", "bootstrap")),
    ]


def real(args: argparse.Namespace) -> None:
    """Intervals from a part of the documents, and the mean of all of them."""
    draws, n_topics = (3, 5) if args.quick else (50, 20)
    expected = 2 * ndtr(ndtri((1 + LEVEL) / 2) / np.sqrt(1 - PART)) - 1
    print(
        f"\nReal corpora, K={n_topics}: a fifth of the documents is drawn {draws} times. Intervals"
        f" for an infinite population cover the mean of all documents in {expected:.1%} then.\n"
    )
    rows = []
    for name in args.sets or (("cora",) if args.quick else ("nips", "poliblog5k")):
        corpus = load(args.data, name)
        rows.append([name.upper(), *real_coverage(corpus, n_topics, draws)])
    table(["set", "groups", "documents of a group in a part", "score", "bootstrap"], rows)


def real_coverage(corpus: Corpus, n_topics: int, draws: int) -> list[str]:
    model = LDA(n_topics, random_state=0).fit(corpus)
    proportions, members, names = observed_proportions(model), corpus.labels, [""] * n_topics
    whole = prevalence_table(proportions, members, names)["prevalence"].to_numpy()
    rng, covered = np.random.default_rng(0), {"score": [], "bootstrap": []}
    for draw in range(draws):
        part = np.sort(rng.permutation(corpus.n_docs)[: round(PART * corpus.n_docs)])
        kept = type(members)(members.matrix[part], members.names)
        for interval, found in covered.items():
            got = prevalence_table(
                proportions[part], kept, names, interval=interval, random_state=draw
            )
            inside = (got["low"] <= whole) & (whole <= got["high"])
            found.append(inside[got["low"].notna()].mean())
    size = PART * members.matrix.sum(axis=0).mean()
    return [
        str(len(members.names)),
        f"{size:.0f}",
        *(f"{np.mean(found):.1%}" for found in covered.values()),
    ]
