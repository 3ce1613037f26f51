"""The race: seconds until topoi's topics are as good as a peer's after its full run, final quality
and peak memory.

Every run is a process of its own, one after the other, and one scorer measures all topics. topoi's
clock begins with the call of `fit` on a sparse matrix (checks, graph and start are in it); a peer's
when the documents are in its own format. Measuring stops both clocks.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.common import PRIOR, aim, fresh, machine, note, score, split, table
from topoi import LDA, Corpus
from topoi.datasets import make_blocks
from topoi.io import formats
from topoi.tuning import tuned

LOOKS = (
    *range(1, 13),
    14,
    16,
    18,
    20,
    23,
    26,
    30,
    35,
    40,
    50,
    60,
    75,
    100,
    150,
    200,
)  # sweeps after which topoi is measured
FEW_LOOKS = (5, 10, 15, 20, 30, 50, 100, 200)  # where measuring takes longer than training
MANY_MESSAGES = 10**9  # edges x topics
TEST_EDGES = 250_000  # of more test documents every second, third, ... is measured
SEED = 0
AIMS = {50: 50.0, 200: 50.0, 1000: 30.0}  # times as fast as tomotopy, by number of topics


class Point(NamedTuple):
    sweep: int
    seconds: float
    perplexity: float


class Race(NamedTuple):
    """One run: where it stood when, and the most memory that its process held."""

    points: list[Point]
    megabytes: float

    @property
    def last(self) -> Point:
        return self.points[-1]

    def reaches(self, perplexity: float) -> Point | None:
        """The first point that is at least as good."""
        return next((point for point in self.points if point.perplexity <= perplexity), None)


class Watch:
    """Seconds since the start, without those spent on measuring."""

    def __init__(self) -> None:
        self.began, self.measuring = time.perf_counter(), 0.0

    def point(self, sweep: int, topics: Callable[[], Any], test: Corpus) -> Point:
        now = time.perf_counter()
        seconds = now - self.began - self.measuring
        found = Point(sweep, seconds, score(topics(), test))
        self.measuring += time.perf_counter() - now
        return found


def tokens(corpus: Corpus) -> list[np.ndarray]:
    """For each document the numbers of its words, each as often as it stands there."""
    counts = corpus.counts
    return np.split(
        np.repeat(counts.indices, counts.data.astype(int)),
        np.cumsum(counts.sum(axis=1).astype(int))[:-1],
    )


def bags(corpus: Corpus) -> list[list[tuple[int, int]]]:
    """Documents in gensim's format: pairs of word and count."""
    counts = corpus.counts
    rows = zip(
        np.split(counts.indices, counts.indptr[1:-1]),
        np.split(counts.data.astype(int), counts.indptr[1:-1]),
        strict=True,
    )
    return [list(zip(words.tolist(), repeats.tolist(), strict=True)) for words, repeats in rows]


def import_to_mallet(corpus: Corpus, folder: Path) -> tuple[Path, Path]:
    """MALLET's program under $MALLET_HOME, and the documents in its format; word w is "w<w>"."""
    program, texts = Path(os.environ["MALLET_HOME"], "bin", "mallet"), folder / "texts"
    lines = (f"{d} - {' '.join(f'w{w}' for w in row)}\n" for d, row in enumerate(tokens(corpus)))
    texts.write_text("".join(lines))
    documents = folder / "documents"
    quietly(
        ["bash", program, "import-file", "--input", texts, "--output", documents,
         "--keep-sequence", "--token-regex", r"\S+"]
    )  # fmt: skip
    return program, documents


# A runner trains on `train` and yields a point now and then, the last one at its end.


def topoi(
    train: Corpus, test: Corpus, n_topics: int, full: int, threads: int, learn: bool
) -> Iterator[Point]:
    points: list[Point] = []
    looks = LOOKS if train.counts.nnz * n_topics < MANY_MESSAGES else FEW_LOOKS

    def look(state: Any, record: Any) -> None:
        if record.sweep in looks:
            points.append(watch.point(record.sweep, state.topic_word, test))

    prior: Any = "learn" if learn else PRIOR
    model = LDA(
        n_topics, doc_topic_prior=prior, topic_word_prior=prior, max_iter=full, tol=0,
        evaluate_every=0, n_jobs=threads, random_state=SEED,
        callbacks=[look],
    )  # fmt: skip
    watch = Watch()
    model.fit(train)
    yield from points


def tomotopy(
    train: Corpus, test: Corpus, n_topics: int, full: int, threads: int, learn: bool
) -> Iterator[Point]:
    import tomotopy as tp

    model = tp.LDAModel(k=n_topics, alpha=PRIOR, eta=PRIOR, min_cf=0, rm_top=0, seed=SEED)
    model.optim_interval = 10 if learn else 0
    for words in tokens(train):
        if len(words):
            model.add_doc([str(w) for w in words])

    def topics() -> np.ndarray:
        out = np.full((n_topics, train.n_words), PRIOR)  # words without a token have the prior only
        known = np.array([int(word) for word in model.used_vocabs])
        for k in range(n_topics):
            out[k, known] = model.get_topic_word_dist(k, normalize=False)  # counts + prior
        return out

    watch, done = Watch(), 0
    for sweep in sorted({*(s for s in (10, 20, 50, 100, 200, 500, 1000) if s < full), full}):
        model.train(sweep - done, workers=threads)
        done = sweep
        yield watch.point(sweep, topics, test)


def gensim(
    train: Corpus, test: Corpus, n_topics: int, full: int, threads: int, learn: bool
) -> Iterator[Point]:
    from gensim.models import LdaModel, LdaMulticore

    documents, names = bags(train), {w: str(w) for w in range(train.n_words)}
    options = {
        "num_topics": n_topics,
        "alpha": PRIOR,
        "eta": PRIOR,
        "passes": full,
        "eval_every": None,
        "random_state": SEED,
    }
    watch = Watch()
    model = (
        LdaModel(documents, id2word=names, **options)
        if threads == 1
        else LdaMulticore(documents, id2word=names, workers=threads, **options)
    )
    yield watch.point(full, model.get_topics, test)


def scikit_learn(
    train: Corpus, test: Corpus, n_topics: int, full: int, threads: int, learn: bool
) -> Iterator[Point]:
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(
        n_topics,
        doc_topic_prior=PRIOR,
        topic_word_prior=PRIOR,
        learning_method="batch",
        max_iter=full,
        n_jobs=threads,
        random_state=SEED,
    )
    watch = Watch()
    model.fit(train.counts)
    yield watch.point(full, lambda: model.components_, test)


def mallet(
    train: Corpus, test: Corpus, n_topics: int, full: int, threads: int, learn: bool
) -> Iterator[Point]:
    """MALLET, started by its own script; the start of Java is in its clock."""
    out = np.full((n_topics, train.n_words), PRIOR)
    with tempfile.TemporaryDirectory() as folder:
        program, documents = import_to_mallet(train, Path(folder))
        weights = Path(folder, "weights")
        watch = Watch()
        quietly(
            ["bash", program, "train-topics", "--input", documents, "--topic-word-weights-file",
            weights, "--num-topics", n_topics,
             "--num-iterations", full, "--alpha", PRIOR * n_topics, "--beta", PRIOR,
             "--optimize-interval", 10 if learn else 0,
             "--num-threads", threads, "--random-seed", SEED + 1]
        )  # fmt: skip

        def topics() -> np.ndarray:
            with weights.open() as lines:
                for line in lines:
                    topic, word, weight = line.split("\t")
                    out[int(topic), int(word[1:])] = float(weight)
            return out

        yield watch.point(full, topics, test)


def command(
    template: str, train: Corpus, test: Corpus, n_topics: int, full: int, threads: int, learn: bool
) -> Iterator[Point]:  # fmt: skip
    """Any other program: a command with the places {counts} (a UCI file), {topics}, {prior},
    {threads} and {out} (topics x words, as text or .npy).
    """
    with tempfile.TemporaryDirectory() as folder:
        counts, out = Path(folder, "docword.race.txt"), Path(folder, "topics.npy")
        formats.write(Corpus(train.counts), counts, "uci")
        watch = Watch()
        quietly(
            [
                "bash",
                "-c",
                template.format(
                    counts=counts, topics=n_topics, prior=PRIOR, threads=threads, out=out
                ),
            ]
        )

        def topics() -> np.ndarray:
            try:
                return np.load(out)
            except ValueError:
                return np.loadtxt(out)

        yield watch.point(full, topics, test)


def quietly(words: list[Any]) -> None:
    """Run a program; what it says is shown only if it fails."""
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))} failed: {done.stderr[-2000:]}")


class Runner(NamedTuple):
    """A library in the race: how long its full and its quick run are, in which unit, and whether it
    can learn its priors.
    """

    train: Callable[..., Iterator[Point]]
    full: int
    quick: int
    unit: str
    learns: bool = False


RUNNERS = {
    "topoi": Runner(topoi, 200, 12, "sweeps", learns=True),
    "tomotopy": Runner(tomotopy, 1000, 20, "sweeps", learns=True),
    "gensim": Runner(gensim, 20, 1, "passes"),
    "scikit-learn": Runner(scikit_learn, 50, 2, "iterations"),
    "MALLET": Runner(mallet, 1000, 20, "sweeps", learns=True),
}


def runners(commands: list[str], sweeps: dict[str, int | None]) -> dict[str, Runner]:
    """Those that are here: MALLET if $MALLET_HOME is set, and what `commands` (NAME=COMMAND) add.
    `sweeps` changes the length of full runs.
    """
    found = {
        name: runner._replace(full=sweeps.get(name) or runner.full)
        for name, runner in RUNNERS.items()
        if name != "MALLET" or "MALLET_HOME" in os.environ
    }
    for text in commands:
        name, _, template = text.partition("=")
        found[name] = Runner(partial(command, template), 1, 1, "run")
    return found


def race(
    data: Path, name: str, runner: Runner, n_topics: int, amount: int, threads: int, learn: bool
) -> Race:
    """One runner on one corpus."""
    train, test = split(data, name)
    test = test[:: max(1, round(test.counts.nnz / TEST_EDGES))]
    if runner.train is topoi:
        warm_up()
    with threadpool_limits(threads):
        points = list(runner.train(train, test, n_topics, amount, threads, learn))
    used = max(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return Race(points, used / 1024)


def warm_up() -> None:
    """Compile (or load) every kernel that the clock would otherwise see."""
    stateless, _ = make_blocks()
    with tuned(warm_up_from=0):  # small as it is
        for n_topics in (4, 300):
            LDA(n_topics, max_iter=21, doc_topic_prior=PRIOR, topic_word_prior=PRIOR).fit(stateless)
    score(np.ones((4, stateless.n_words)), stateless)


def run(args: argparse.Namespace) -> None:
    sets = args.sets or (["cora"] if args.quick else ["kos", "nips"])
    sizes = args.topics or ([10] if args.quick else [50, 200, 1000])
    here = runners(
        args.command or [],
        {"topoi": args.sweeps, "tomotopy": args.gibbs_sweeps, "MALLET": args.gibbs_sweeps},
    )
    peers = args.peers or [name for name in here if name != "topoi"]
    print(f"One scorer, alpha=beta={PRIOR} unless learned. {machine()}.\n")
    for name in sets:
        curves: dict[tuple[str, int], Race] = {}
        for threads, learn in (
            [(1, False), (2, False), (1, True)] if args.thorough else [(1, False)]
        ):
            rows, ratios, gains = [], {}, {}
            for n_topics in sizes:
                runs = {}
                for who in ["topoi", *(peer for peer in peers if not learn or here[peer].learns)]:
                    amount = here[who].quick if args.quick else here[who].full
                    runs[who] = fresh(
                        race, args.data, name, here[who], n_topics, amount, threads, learn
                    )
                    note(
                        f"{name} {who} K={n_topics} threads={threads} learn={learn}:"
                        f" {runs[who].last} {runs[who].megabytes:.0f} MB"
                    )
                ours = runs.pop("topoi")
                for who, theirs in runs.items():
                    met = ours.reaches(theirs.last.perplexity)
                    ratios[who, n_topics] = theirs.last.seconds / met.seconds if met else 0.0
                    gains[who, n_topics] = 100 * (ours.last.perplexity / theirs.last.perplexity - 1)
                    rows.append(
                        row(
                            n_topics,
                            f"{who}, {theirs.last.sweep} {here[who].unit}",
                            theirs,
                            met,
                            ours,
                        )
                    )
                if threads == 1 and not learn:
                    curves |= {(who, n_topics): r for who, r in {"topoi": ours, **runs}.items()}
            print(
                f"### {name.upper()}, {threads}"
                f" thread{'s' * (threads > 1)}{', learned priors' * learn}\n"
            )
            table(
                [
                    "K",
                    "peer",
                    "its seconds",
                    "its perplexity",
                    "its MB",
                    "topoi as good after",
                    "times as fast",
                    f"topoi, {here['topoi'].full} sweeps",
                    "MB",
                    "difference",
                ],
                rows,
            )
            if threads == 1 and not learn:
                judge(name, ratios, gains)
        if args.pictures:
            draw(name, curves, args.pictures)


def row(n_topics: int, title: str, theirs: Race, met: Point | None, ours: Race) -> list[Any]:
    peer, last = theirs.last, ours.last
    return [
        n_topics,
        title,
        f"{peer.seconds:.1f}",
        f"{peer.perplexity:.1f}",
        f"{theirs.megabytes:.0f}",
        f"{met.seconds:.2f} s, {met.sweep} sweeps" if met else "not reached",
        f"{peer.seconds / met.seconds:.0f}" if met else "",
        f"{last.perplexity:.1f} in {last.seconds:.1f} s",
        f"{ours.megabytes:.0f}",
        f"{100 * (last.perplexity / peer.perplexity - 1):+.1f} %",
    ]


def judge(
    name: str, ratios: dict[tuple[str, int], float], gains: dict[tuple[str, int], float]
) -> None:
    for (who, n_topics), ratio in ratios.items():
        if who == "tomotopy" and n_topics in AIMS:
            aim(
                f"{name.upper()}, K={n_topics}: {AIMS[n_topics]:g} times as fast as tomotopy:"
                f" {ratio:.0f}",
                ratio >= AIMS[n_topics],
            )
    if gains:
        worst = max(gains, key=lambda key: gains[key])
        aim(
            f"{name.upper()}: final perplexity at least 5 % below every peer's: {gains[worst]:+.1f}"
            f" % against {worst[0]}, K={worst[1]}",
            gains[worst] <= -5,
        )
    print()


def draw(name: str, curves: dict[tuple[str, int], Race], folder: Path) -> None:
    """Perplexity over seconds, a panel for each number of topics."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "topoi"
    import matplotlib.pyplot as plt

    sizes = sorted({n_topics for _, n_topics in curves})
    figure, axes = plt.subplots(
        1, len(sizes), figsize=(3.2 * len(sizes), 2.8), squeeze=False, layout="constrained"
    )
    for axis, n_topics in zip(axes[0], sizes, strict=True):
        for i, (who, r) in enumerate((who, r) for (who, n), r in curves.items() if n == n_topics):
            axis.plot(
                [p.seconds for p in r.points],
                [p.perplexity for p in r.points],
                "o-",
                color=f"C{i}",
                markersize=2,
                linewidth=1,
                label=who,
            )
        axis.set(xscale="log", xlabel="seconds", title=f"{name.upper()}, K={n_topics}")
    axes[0][0].set_ylabel("held-out perplexity")
    axes[0][0].legend(fontsize=7)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"race-{name}.svg", metadata={"Date": None})
    plt.close(figure)
