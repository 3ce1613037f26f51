"""Topics beside labels that people gave, for topoi and other libraries (`evaluate.clusters`).

Each library fits all documents as its users would: with learned priors where it has them, its own
defaults otherwise, and its own topic proportions of the documents. English stop words are removed
for all of them. Other libraries are slow and run with one seed, unless --thorough. Every cell is
kept in --cells FILE and not measured again, so that a long run can be interrupted.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from benchmarks import race
from benchmarks.common import Cells, aim, load, machine, spread, table
from topoi import LDA, Corpus, evaluate

SETS = ("cora", "nips", "news20", "blog", "poliblog5k")
# Sweeps, passes or iterations: of the slow ones fewer than in the race, more than their defaults.
FULL = {"topoi": 200, "tomotopy": 1000, "gensim": 10, "scikit-learn": 20, "MALLET": 1000}
MEASURES = {
    "purity": "purity",
    "inverse_purity": "inverse purity",
    "harmonic_purity": "harmonic purity",
    "nmi": "NMI = V-measure",
    "ami": "AMI",
    "ari": "ARI",
    "accuracy": "classifier",
    "p@5": "P@5",
    "p@10": "P@10",
}
JUDGED = ("harmonic_purity", "ami", "ari", "accuracy", "p@10")  # no use in a trivial clustering


def run(args: argparse.Namespace) -> None:
    sets = args.sets or (["cora"] if args.quick else SETS)
    sizes = args.topics or ([5] if args.quick else [20, 50])
    libraries = ["topoi", *(args.peers or _peers())]
    cells = Cells(args.cells, measure)
    found: dict[tuple[str, int], dict[str, list[dict[str, Any]]]] = {}
    for name in sets:
        for n_topics in sizes:
            for library in libraries:
                amount = race.RUNNERS[library].quick if args.quick else FULL[library]
                several = not args.quick and (library == "topoi" or args.thorough)
                seeds = (args.seeds or 3) if several else 1
                for seed in range(seeds):
                    cell = cells.get(args.data, name, library, n_topics, amount, seed)
                    for labels, measured in cell.items():
                        runs = found.setdefault((labels, n_topics), {})
                        runs.setdefault(library, []).append(measured)
    print(f"Mean (standard deviation over seeds). {machine()}.\n")
    for n_topics in sizes:
        _show(n_topics, {labels: runs for (labels, k), runs in found.items() if k == n_topics})
    for (labels, n_topics), runs in found.items():
        _judge(labels, n_topics, runs)


def _peers() -> list[str]:
    return [name for name in race.runners([], {}) if name != "topoi"]


def _show(n_topics: int, found: dict[str, dict[str, list[dict[str, float]]]]) -> None:
    print(f"### {n_topics} topics\n")
    rows = [
        [labels, f"{library}, {len(runs)} seed{'s' * (len(runs) > 1)}", *map(_cell(runs), MEASURES)]
        for labels, libraries in found.items()
        for library, runs in libraries.items()
    ]
    table(["labels", "library", *MEASURES.values()], rows)


def _cell(runs: list[dict[str, float]]) -> Any:
    def text(measure: str) -> str:
        values = [run[measure] for run in runs]
        return f"{np.mean(values):.3f}" + (f" ({spread(values):.3f})" if len(values) > 1 else "")

    return text


def _judge(labels: str, n_topics: int, found: dict[str, list[dict[str, float]]]) -> None:
    """The aim: no library is better in a measure that chance does not raise."""
    mean = {
        library: {name: float(np.mean([run[name] for run in runs])) for name in JUDGED}
        for library, runs in found.items()
    }
    lost = []
    for name in JUDGED:
        best = max(mean, key=lambda library: mean[library][name])
        if mean[best][name] > mean["topoi"][name]:
            lost.append(
                f"{MEASURES[name]} {mean['topoi'][name]:.3f} against {mean[best][name]:.3f} of"
                f" {best}"
            )
    text = ", ".join(MEASURES[name] for name in JUDGED)
    said = f"; {'; '.join(lost)}" if lost else ""
    aim(f"{labels}, K={n_topics}: topoi is the best in {text}{said}", not lost)


def measure(
    data: Path, name: str, library: str, n_topics: int, amount: int, seed: int
) -> dict[str, dict[str, float]]:
    """For each kind of labels of a corpus, what `evaluate` says about a library's proportions."""
    corpus = documents(data, name)
    doc_topic = PROPORTIONS[library](corpus, n_topics, amount, seed)
    kinds = {name.upper(): corpus.labels.tolist()}
    if name == "nips":
        with np.load(data / name / f"{name}.npz", allow_pickle=False) as arrays:
            kinds = {
                "NIPS, volumes": corpus.labels.tolist(),
                "NIPS, sections": arrays["section_labels"].tolist(),
            }
    return {
        kind: {**evaluate.retrieval(doc_topic, labels), **evaluate.clusters(doc_topic, labels)}
        for kind, labels in kinds.items()
    }


def documents(data: Path, name: str) -> Corpus:
    """A corpus without English stop words, which some sets still have."""
    corpus = load(data, name)
    return corpus.over([word for word in corpus.words if word not in ENGLISH_STOP_WORDS])


# Topic proportions of all documents (D, K), from a library on one thread.


def topoi(corpus: Corpus, n_topics: int, amount: int, seed: int) -> np.ndarray:
    return LDA(n_topics, max_iter=amount, random_state=seed).fit(corpus).doc_topic_


def scikit_learn(corpus: Corpus, n_topics: int, amount: int, seed: int) -> np.ndarray:
    """It learns no priors; its default is 1 / K for both."""
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(n_topics, max_iter=amount, random_state=seed)
    return model.fit(corpus.counts).transform(corpus.counts)


def gensim(corpus: Corpus, n_topics: int, amount: int, seed: int) -> np.ndarray:
    from gensim.models import LdaModel

    bags = race.bags(corpus)
    model = LdaModel(
        bags, num_topics=n_topics, id2word={w: str(w) for w in range(corpus.n_words)},
        alpha="auto", eta="auto", passes=amount, eval_every=None, random_state=seed,
    )  # fmt: skip
    gamma, _ = model.inference(bags)
    return gamma / gamma.sum(axis=1, keepdims=True)


def tomotopy(corpus: Corpus, n_topics: int, amount: int, seed: int) -> np.ndarray:
    """It learns the prior of topics every ten sweeps; documents without words cannot be added."""
    import tomotopy as tp

    model = tp.LDAModel(k=n_topics, seed=seed)
    added = []
    for d, words in enumerate(race.tokens(corpus)):
        if len(words):
            model.add_doc([str(w) for w in words])
            added.append(d)
    model.train(amount, workers=1)
    out = np.full((corpus.n_docs, n_topics), 1 / n_topics)
    out[added] = [document.get_topic_dist() for document in model.docs]
    return out


def mallet(corpus: Corpus, n_topics: int, amount: int, seed: int) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        program, documents = race.import_to_mallet(corpus, Path(folder))
        out = Path(folder, "doc-topics")
        race.quietly(
            ["bash", program, "train-topics", "--input", documents, "--output-doc-topics", out,
             "--num-topics", n_topics, "--num-iterations", amount, "--optimize-interval", 10,
             "--random-seed", seed + 1]
        )  # fmt: skip
        lines = [line.split("\t") for line in out.read_text().splitlines() if line[0] != "#"]
    return np.array([row[2 : 2 + n_topics] for row in lines], dtype=np.float64)


PROPORTIONS = {
    "topoi": topoi,
    "tomotopy": tomotopy,
    "gensim": gensim,
    "scikit-learn": scikit_learn,
    "MALLET": mallet,
}
