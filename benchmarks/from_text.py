"""From a table of texts to saved topics: `topoi fit` beside gensim and scikit-learn.

The texts are those of a corpus, its words in random order. Every program has one thread and its
usual settings: topoi learns priors until its stop rule holds, gensim makes ten passes with
`alpha="auto"`, scikit-learn ten iterations. Kernels are compiled before the clock starts.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.common import aim, fresh, load, machine, table
from topoi import Corpus

SETS = ("kos", "news20")
COLUMN = "text"
MIN_DF, MAX_DF = 5, 0.5  # documents that a word is in: at least, and at most this part of all

Seconds = dict[str, float]


def run(args: argparse.Namespace) -> None:
    sets = args.sets or (["cora"] if args.quick else SETS)
    n_topics = (args.topics or [10 if args.quick else 50])[0]
    rows, longest = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name in sets:
            path = Path(folder) / f"{name}.csv"
            write_texts(load(args.data, name), path)
            for program, measure in PROGRAMS.items():
                fresh(measure, path, 2)  # compiles, and fills the disk's cache
                took = fresh(measure, path, n_topics)
                if program == "topoi":
                    longest[name.upper()] = took["reading and counting"] < took["fitting"]
                total = sum(took.values())
                rows.append(
                    [name.upper(), program, *(f"{t:.1f} s" for t in (*took.values(), total))]
                )
    print(f"{n_topics} topics. {machine()}.\n")
    table(["texts", "program", "reading and counting", "fitting", "saving", "in all"], rows)
    aim(
        f"reading and counting take less than the fit: {', '.join(longest)}",
        all(longest.values()),
    )


def write_texts(corpus: Corpus, path: Path) -> None:
    """A CSV file with a text for each document, its words in random order."""
    draw, counts = np.random.default_rng(0), corpus.counts
    words = np.array(list(map(str, corpus.words)), dtype=object)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow([COLUMN])
        for d in range(corpus.n_docs):
            part = slice(counts.indptr[d], counts.indptr[d + 1])
            tokens = np.repeat(counts.indices[part], counts.data[part].astype(int))
            rows.writerow([" ".join(words[draw.permutation(tokens)])])


class Watch:
    """Seconds since the last look."""

    def __init__(self) -> None:
        self.at = time.perf_counter()

    def __call__(self) -> float:
        before, self.at = self.at, time.perf_counter()
        return self.at - before


def stages(
    path: Path,
    read: Callable[[], object],
    fit: Callable[[object], object],
    save: Callable[..., None],
) -> Seconds:
    """How long each stage takes; the model goes to a file beside the texts."""
    watch = Watch()
    documents = read()
    reading = watch()
    model = fit(documents)
    fitting = watch()
    save(model, path.with_suffix(".model"))
    return {"reading and counting": reading, "fitting": fitting, "saving": watch()}


def topoi(path: Path, n_topics: int) -> Seconds:
    from topoi import LDA, read

    return stages(
        path,
        lambda: read(path, text=COLUMN, min_df=MIN_DF, max_df=MAX_DF),
        lambda corpus: LDA(n_topics).fit(corpus),
        lambda model, out: model.save(out),
    )


def gensim(path: Path, n_topics: int) -> Seconds:
    from gensim.corpora import Dictionary
    from gensim.models import LdaModel
    from gensim.parsing.preprocessing import STOPWORDS
    from gensim.utils import simple_preprocess

    def read() -> tuple[Dictionary, list[list[tuple[int, int]]]]:
        texts = [[w for w in simple_preprocess(t) if w not in STOPWORDS] for t in _texts(path)]
        words = Dictionary(texts)
        words.filter_extremes(no_below=MIN_DF, no_above=MAX_DF, keep_n=None)
        return words, [words.doc2bow(text) for text in texts]

    def fit(documents: tuple[Dictionary, list[list[tuple[int, int]]]]) -> LdaModel:
        words, bags = documents
        return LdaModel(
            bags, num_topics=n_topics, id2word=words, passes=10, alpha="auto", eta="auto",
            eval_every=None, random_state=0,
        )  # fmt: skip

    return stages(path, read, fit, lambda model, out: model.save(str(out)))


def scikit_learn(path: Path, n_topics: int) -> Seconds:
    import joblib
    from sklearn.decomposition import LatentDirichletAllocation
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(stop_words="english", min_df=MIN_DF, max_df=MAX_DF)
    return stages(
        path,
        lambda: counter.fit_transform(_texts(path)),
        lambda counts: LatentDirichletAllocation(n_topics, random_state=0).fit(counts),
        lambda model, out: joblib.dump((counter, model), out),
    )


def _texts(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8") as file:
        return [row[COLUMN] for row in csv.DictReader(file)]


PROGRAMS = {"topoi": topoi, "gensim": gensim, "scikit-learn": scikit_learn}
