"""Do seed words bring topics to the classes that they name, and what do they cost?

Two seed words for each class, from its name, against the same model without seeds: agreement of the
documents' main topics with the classes, held-out perplexity, and the proportion of seed words among
the top words of their topics after the last sweep.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from benchmarks.common import aim, load, mean_and_spread, note, table
from topoi import LDA, Corpus
from topoi.evaluate import clusters, completion

SEEDS = {
    "news20": {
        "alt.atheism": ["atheism", "atheists"],
        "comp.graphics": ["graphics", "graphic"],
        "comp.os.ms-windows.misc": ["windows", "ms"],
        "comp.sys.ibm.pc.hardware": ["ibm", "pc"],
        "comp.sys.mac.hardware": ["mac", "macintosh"],
        "comp.windows.x": ["window", "motif"],
        "misc.forsale": ["forsale", "sale"],
        "rec.autos": ["autos", "cars"],
        "rec.motorcycles": ["motorcycle", "motorcycles"],
        "rec.sport.baseball": ["baseball", "sport"],
        "rec.sport.hockey": ["hockey", "sport"],
        "sci.crypt": ["crypt", "cryptography"],
        "sci.electronics": ["electronics", "electronic"],
        "sci.med": ["medical", "medicine"],
        "sci.space": ["space", "spacecraft"],
        "soc.religion.christian": ["christian", "christians"],
        "talk.politics.guns": ["gun", "guns"],
        "talk.politics.mideast": ["mideast", "israel"],
        "talk.politics.misc": ["politics", "political"],
        "talk.religion.misc": ["religion", "religious"],
    },
    "cora": {
        "Neural_Networks": ["neural", "networks"],
        "Reinforcement_Learning": ["reinforcement", "reward"],
        "Probabilistic_Methods": ["probabilistic", "bayesian"],
        "Theory": ["theory", "bounds"],
        "Genetic_Algorithms": ["genetic", "evolutionary"],
        "Case_Based": ["case", "cases"],
        "Rule_Learning": ["rule", "rules"],
    },
}
RARE = 5  # words in fewer documents are left out
TOP = 20  # words among which seeds are looked for


def read(data: Path, name: str) -> Corpus:
    """Documents with a class, without stop words and rare words."""
    corpus = load(data, name)
    corpus = corpus[corpus.labels.counts() > 0]
    in_docs = np.bincount(corpus.counts.indices, minlength=corpus.n_words)
    words = np.array(corpus.words)
    kept = (in_docs >= RARE) & ~np.isin(words, list(ENGLISH_STOP_WORDS))
    return corpus.over(words[kept].tolist())


def measure(model: LDA, train: Corpus, test: Corpus, seeds: dict[str, list[str]]) -> dict[str, Any]:
    """All that is compared of one fitted model."""
    found = clusters(model, train.labels)
    top = model.top_words(TOP)
    held = [
        word in top[topic]
        for topic, words in enumerate(seeds.values())
        for word in words
        if word in set(train.words)
    ]
    return {
        "NMI": found["nmi"],
        "purity": found["purity"],
        "perplexity": completion(model, test, n_jobs=-1).perplexity,
        "held": float(np.mean(held)),
    }


def run(args: argparse.Namespace) -> None:
    n_seeds = args.seeds or (1 if args.quick else 3)
    sweeps = 5 if args.quick else args.sweeps or 200
    for name in args.sets or ["cora", "news20"]:
        seeds = SEEDS[name]
        train, test = read(args.data, name).split(test_size=0.2, random_state=0)
        print(f"{name}: {train}, {sweeps} sweeps, {n_seeds} seeds\n", flush=True)
        for n_topics in args.topics or [len(seeds)]:
            found: dict[str, list[dict[str, Any]]] = {"without seeds": [], "with seeds": []}
            for number in range(n_seeds):
                for kind, measured in found.items():
                    model = LDA(
                        n_topics,
                        seeds=seeds if kind == "with seeds" else None,
                        max_iter=sweeps,
                        tol=0,
                        random_state=number,
                        n_jobs=-1,
                    ).fit(train)
                    measured.append(measure(model, train, test, seeds))
                    note(f"{name}, {n_topics} topics, {kind}, seed {number}: {measured[-1]}")
            show(n_topics, found)


def show(n_topics: int, found: dict[str, list[dict[str, Any]]]) -> None:
    rows = [
        [
            kind,
            *(f"{np.mean([m[name] for m in measured]):.3f}" for name in ("NMI", "purity")),
            mean_and_spread([m["perplexity"] for m in measured]),
            "-" if kind == "without seeds" else f"{np.mean([m['held'] for m in measured]):.0%}",
        ]
        for kind, measured in found.items()
    ]
    header = ["", "NMI", "purity", "held-out perplexity", f"seeds among {TOP} top words"]
    print(f"{n_topics} topics:\n")
    table(header, rows)
    mean = {
        kind: {name: np.mean([m[name] for m in measured]) for name in measured[0]}
        for kind, measured in found.items()
    }
    plain, seeded = mean["without seeds"], mean["with seeds"]
    better = seeded["NMI"] > plain["NMI"] and seeded["purity"] > plain["purity"]
    aim("seeded topics agree better with the classes (NMI, purity)", bool(better))
    cost = seeded["perplexity"] / plain["perplexity"] - 1
    aim(f"perplexity at most 1 % higher: {cost:+.2%}", bool(cost <= 0.01))
