"""Seconds until topoi's topics are as good as those of scikit-learn, gensim and tomotopy after their full runs (6.6)."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import LatentDirichletAllocation
from threadpoolctl import threadpool_limits

from benchmarks.common import PRIOR, aim, machine, note, score, split, table
from topoi import LDA, Corpus
from topoi.datasets import make_blocks

SWEEPS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 200)  # after which topoi is measured
AIM = 100.0  # times as fast as tomotopy at K=50
SEED = 0

Trained = tuple[float, np.ndarray]  # seconds, topics (K, W)


class Point(NamedTuple):
    """Where topoi stood after some sweeps. Seconds are those since the call of `fit`, without the measuring."""

    sweep: int
    seconds: float
    perplexity: float


def scikit_learn(train: Corpus, n_topics: int, iterations: int) -> Trained:
    model = LatentDirichletAllocation(
        n_topics, doc_topic_prior=PRIOR, topic_word_prior=PRIOR, learning_method="batch", max_iter=iterations, n_jobs=1, random_state=SEED
    )
    seconds = timed(lambda: model.fit(train.counts))
    return seconds, model.components_


def gensim(train: Corpus, n_topics: int, passes: int) -> Trained:
    from gensim.models import LdaModel

    counts = train.counts
    rows = zip(np.split(counts.indices, counts.indptr[1:-1]), np.split(counts.data.astype(int), counts.indptr[1:-1]), strict=True)
    bags = [list(zip(words.tolist(), repeats.tolist(), strict=True)) for words, repeats in rows]
    names = {w: str(w) for w in range(train.n_words)}
    models: list[LdaModel] = []
    options = {"num_topics": n_topics, "alpha": PRIOR, "eta": PRIOR, "passes": passes, "eval_every": None, "random_state": SEED}
    seconds = timed(lambda: models.append(LdaModel(bags, id2word=names, **options)))
    return seconds, models[0].get_topics()


def tomotopy(train: Corpus, n_topics: int, sweeps: int) -> Trained:
    import tomotopy as tp

    counts = train.counts
    model = tp.LDAModel(k=n_topics, alpha=PRIOR, eta=PRIOR, min_cf=0, rm_top=0, seed=SEED)
    model.optim_interval = 0  # priors stay fixed
    for words in np.split(np.repeat(counts.indices, counts.data.astype(int)), np.cumsum(counts.sum(axis=1).astype(int))[:-1]):
        if len(words):
            model.add_doc([str(w) for w in words])
    seconds = timed(lambda: model.train(sweeps, workers=1))
    topics = np.full((n_topics, train.n_words), PRIOR)  # words without a token have the prior only
    known = np.array([int(word) for word in model.used_vocabs])
    for k in range(n_topics):
        topics[k, known] = model.get_topic_word_dist(k, normalize=False)  # counts + prior
    return seconds, topics


PEERS: dict[str, tuple[Callable[[Corpus, int, int], Trained], int, int, str]] = {  # train, full run, quick run, unit
    "tomotopy": (tomotopy, 1000, 20, "sweeps"),
    "gensim": (gensim, 20, 1, "passes"),
    "scikit-learn": (scikit_learn, 50, 2, "iterations"),
}


def run(args: argparse.Namespace) -> None:
    name, sizes = ("cora", (10,)) if args.quick else ("kos", (50, 200))
    train, test = split(args.data, name)
    warm_up()
    rows, ratios = [], {}
    with threadpool_limits(1):
        for n_topics in sizes:
            last = topoi_curve(train, test, n_topics)[-1]
            for peer, (fit, full, quick, unit) in PEERS.items():
                amount = quick if args.quick else full
                note(f"{peer}, K={n_topics}, {amount} {unit} ...")
                seconds, topics = fit(train, n_topics, amount)
                target = score(topics, test)
                note(f"{peer}, K={n_topics}: {seconds:.1f} s, perplexity {target:.1f}")
                point = topoi_curve(train, test, n_topics, target)[-1]
                ratios[peer, n_topics] = seconds / point.seconds if point.perplexity <= target else 0.0
                rows.append([n_topics, f"{peer}, {amount} {unit}", *row(seconds, target, point, last)])
    print(f"{name.upper()}, alpha=beta={PRIOR}, one thread each, predictive perplexity by one scorer. {machine()}.\n")
    header = [
        "K",
        "peer",
        "its seconds",
        "its perplexity",
        "topoi as good after",
        "ratio",
        f"topoi after {SWEEPS[-1]} sweeps",
        "difference",
    ]
    table(header, rows)
    ratio = ratios["tomotopy", sizes[0]]
    aim(f"{AIM:g} times as fast as tomotopy at K={sizes[0]} (a sketch: 50): {ratio:.0f}", ratio >= AIM)
    aim("topoi reaches the perplexity of every peer, and sooner", min(ratios.values()) > 1)


def row(seconds: float, target: float, point: Point, last: Point) -> list[str]:
    reached = point.perplexity <= target
    return [
        f"{seconds:.1f}",
        f"{target:.1f}",
        f"{point.seconds:.2f} s, {point.sweep} sweeps" if reached else "not reached",
        f"{seconds / point.seconds:.0f}" if reached else "",
        f"{last.perplexity:.1f} in {last.seconds:.1f} s",
        f"{100 * (last.perplexity / target - 1):+.1f} %",
    ]


def topoi_curve(train: Corpus, test: Corpus, n_topics: int, target: float = 0.0) -> list[Point]:
    """Fit a-BP until its topics score `target` or better, or to the last of SWEEPS. One thread; the clock includes graph and start."""
    points: list[Point] = []
    measuring = 0.0

    def watch(state: Any, record: Any) -> bool:
        nonlocal measuring
        if record.sweep not in SWEEPS:
            return False
        now = time.perf_counter()
        points.append(Point(record.sweep, now - began - measuring, score(state.topic_word(), test)))
        measuring += time.perf_counter() - now
        return points[-1].perplexity <= target

    model = LDA(
        n_topics,
        doc_topic_prior=PRIOR,
        topic_word_prior=PRIOR,
        max_iter=SWEEPS[-1],
        tol=0,
        evaluate_every=0,
        n_jobs=1,
        random_state=SEED,
        callbacks=[watch],
    )
    began = time.perf_counter()
    model.fit(train)
    note(f"topoi, K={n_topics}: {points[-1]}")
    return points


def warm_up() -> None:
    """Compile (or load) every kernel that the clock would otherwise see."""
    tiny, _ = make_blocks()
    topoi_curve(tiny, tiny, 4)


def timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
