"""Does an update keep what was learned, and find a theme that is new?

A class of a labelled corpus is kept from the first documents and comes with the new ones. Printed:
how well the proportions of documents seen before agree before and after, and how much of the class
the new topic holds.
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.common import aim, note, table
from benchmarks.seeds import read
from topoi import LDA, Corpus

SETS = {"cora": "Genetic_Algorithms", "news20": "rec.sport.hockey"}


def run(args: argparse.Namespace) -> None:
    sweeps, n_seeds = (5, 1) if args.quick else (args.sweeps or 100, args.seeds or 3)
    rows, agree, found = [], [], []
    for name in args.sets or ["cora", "news20"]:
        corpus = read(args.data, name)
        labels = np.array([label for (label,) in corpus.labels.tolist()])
        for n_topics in args.topics or [20]:
            for seed in range(n_seeds):
                measured = measure(corpus, labels == SETS[name], n_topics, sweeps, seed)
                note(f"{name}, {n_topics} topics, seed {seed}: {measured}")
                rows.append([name, n_topics, seed, *(f"{value:.3f}" for value in measured)])
                agree.append(measured[0])
                found.append(measured[1:])
    print(f"{sweeps} sweeps; half of the other documents come first.\n")
    header = ["corpus", "topics", "seed", "correlation of old documents"]
    table([*header, "new topic in the new class", "in other new documents"], rows)
    aim("proportions of documents seen before correlate by more than 0.95", min(agree) > 0.95)
    aim("the new class gets the new topic", all(own > 5 * others for own, others in found))


def measure(
    corpus: Corpus, planted: np.ndarray, n_topics: int, sweeps: int, seed: int
) -> tuple[float, float, float]:
    """Correlation of the proportions of old documents, and the mean proportion of the new topic in
    documents of the planted class and in the other new ones.
    """
    others = np.random.default_rng(seed).permutation(np.flatnonzero(~planted))
    first, later = np.sort(others[: len(others) // 2]), np.sort(others[len(others) // 2 :])
    old, new_rows = corpus[first], np.r_[later, np.flatnonzero(planted)]
    used = np.asarray(old.counts.sum(axis=0)).ravel() > 0
    old = old.over(np.array(corpus.words)[used].tolist())
    model = LDA(n_topics, max_iter=sweeps, random_state=seed, n_jobs=-1).fit(old)
    updated = model.update(corpus[new_rows], new_topics=1)
    before, after = model.transform(old), updated.transform(old)[:, :n_topics]
    proportion = updated.doc_topic_[len(first) :, n_topics]
    correlation = np.corrcoef(before.ravel(), after.ravel())[0, 1]
    is_new = planted[new_rows]
    return float(correlation), float(proportion[is_new].mean()), float(proportion[~is_new].mean())
