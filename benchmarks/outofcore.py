"""Documents read block by block: quality, memory, and streams of batches.

--parts quality: `fit(Source)` beside a fit of all documents at once, with learned priors. --parts
memory: the peak of a fit with once, twice, four and eight times the documents. --parts stream: one
and three passes of `partial_fit`, beside scikit-learn and gensim. `python -m benchmarks.make_texts`
writes text of any size for `topoi fit --out-of-core`.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import Cells, aim, fresh, score, split, table
from topoi import LDA, Source

SETS = ("cora", "kos", "news20", "rfc")
BLOCK = 1000  # documents
COPIES = (1, 2, 4, 8)
BATCH = 256  # documents of a stream
PASSES = {1: 3, 3: 1}  # and how many per cent above all at once a stream may end


def run(args: argparse.Namespace) -> None:
    parts = args.parts or ["quality", "memory", "stream"]
    sets = args.sets or (["cora"] if args.quick else SETS)
    sizes = [10] if args.quick else args.topics or [50, 200]
    sweeps = 12 if args.quick else args.sweeps or 200
    cells = Cells(args.cells, measure)
    if "quality" in parts:
        _show_quality(args, cells, sets, sizes, sweeps)
    if "memory" in parts:
        _show_memory(args, sets[-1], sizes[0], 3)
    if "stream" in parts:
        _show_streams(args, cells, sets, sizes, sweeps)


def _show_quality(
    args: argparse.Namespace, cells: Cells, sets: Any, sizes: list[int], sweeps: int
) -> None:
    rows, worst, longest, most = [], 0.0, 0.0, 0.0
    for name in sets:
        for n_topics in sizes:
            batch = cells.get(args.data, name, n_topics, "batch", sweeps)
            blocks = cells.get(args.data, name, n_topics, "blocks", sweeps)
            change = 100 * (blocks["score"] / batch["score"] - 1)
            worst = max(worst, change)
            longest = max(longest, blocks["sweeps"] / batch["sweeps"])
            most = blocks["mb"] / batch["mb"]
            rows.append(
                [name.upper(), n_topics, f"{batch['score']:.1f}", batch["sweeps"],
                 f"{blocks['score']:.1f}", blocks["sweeps"], f"{change:+.2f} %",
                 f"{batch['mb']:.0f}", f"{blocks['mb']:.0f}", f"{most:.2f}"]
            )  # fmt: skip
    print(
        f"\nLearned priors, blocks of {BLOCK} documents on disk, common fold-in. Predictive"
        " perplexity; MB above what importing and reading take.\n"
    )
    header = ["set", "K", "all at once", "sweeps", "blocks", "sweeps", "change"]
    table([*header, "MB, all at once", "MB, blocks", "of it"], rows)
    aim(f"within 0.5 % of all at once: {worst:+.2f} % at most", worst <= 0.5)
    aim(f"at most twice its sweeps: {longest:.1f} times", longest <= 2)
    aim(f"a quarter of its memory on {rows[-1][0]}: {most:.2f} of it", most <= 0.25)


def _show_memory(args: argparse.Namespace, name: str, n_topics: int, rounds: int) -> None:
    peaks = [fresh(measure_memory, args.data, name, n_topics, n, rounds) for n in COPIES]
    print(f"\n{name.upper()}, K={n_topics}, blocks of {BLOCK} documents: peak MB of a process.\n")
    rows = [
        [copies, f"{peak['documents']:,}", f"{peak['mb']:.0f}"]
        for copies, peak in zip(COPIES, peaks, strict=True)
    ]
    table(["times the documents", "documents", "MB"], rows)
    growth = peaks[-1]["mb"] / peaks[0]["mb"]
    aim(f"flat: with {COPIES[-1]} times the documents {growth:.2f} times the peak", growth <= 1.1)


def _show_streams(
    args: argparse.Namespace, cells: Cells, sets: Any, sizes: list[int], sweeps: int
) -> None:
    methods = ["learned", "fixed", "scikit-learn", "gensim"]
    for passes, most in PASSES.items():
        rows, worst = [], -np.inf
        for name in sets:
            for n_topics in sizes:
                batch = cells.get(args.data, name, n_topics, "batch", sweeps)["score"]
                found = [
                    cells.get(args.data, name, n_topics, method, passes)["score"]
                    for method in methods
                ]
                rows.append(
                    [name.upper(), n_topics, f"{batch:.1f}", *(f"{value:.1f}" for value in found)]
                )
                worst = max(worst, 100 * (found[0] / batch - 1))
        print(f"\nBatches of {BATCH} documents, passes: {passes}. Predictive perplexity.\n")
        header = ["set", "K", "all at once", "partial_fit, learned priors", "fixed priors"]
        table([*header, "scikit-learn", "gensim"], rows)
        aim(f"learned priors within {most} % of all at once: {worst:+.1f} % at most", worst <= most)


def measure(data: Path, name: str, n_topics: int, method: str, amount: int) -> dict[str, float]:
    """Score, sweeps, and MB of one run."""
    if method == "blocks":
        return _measure_blocks(data, name, n_topics, amount)
    train, test = split(data, name)
    # Counting leaves out words that no training document has; no method is asked for these.
    words = np.array(train.words)[train.counts.sum(axis=0) > 0]
    train, test = train.over(words), test.over(words)
    if method in STREAMS:
        return {"score": score(STREAMS[method](train, n_topics, amount), test)}
    before = _peak()
    model = LDA(n_topics, max_iter=amount, n_jobs=-1).fit(train)
    mb = _peak() - before
    return {"score": score(model.topic_word_, test), "sweeps": model.n_iter_, "mb": mb}


def _measure_blocks(data: Path, name: str, n_topics: int, amount: int) -> dict[str, float]:
    """The same for blocks. Another process writes them: this one never holds all documents while
    its memory is measured.
    """
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "counts"
        fresh(_write_copies, data, name, 1, cache)
        source = Source(cache)
        before = _peak()
        model = LDA(n_topics, max_iter=amount, n_jobs=-1).fit(source)
        mb = _peak() - before
    _, test = split(data, name)
    test = test.over(source.vocabulary)  # in the order of the blocks
    return {"score": score(model.topic_word_, test), "sweeps": model.n_iter_, "mb": mb}


def measure_memory(
    data: Path, name: str, n_topics: int, copies: int, rounds: int
) -> dict[str, float]:
    """The peak of a process that fits `copies` times the documents, which are on disk."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "counts"
        fresh(_write_copies, data, name, copies, cache)
        source = Source(cache)
        LDA(n_topics, max_iter=rounds, n_jobs=-1).fit(source)
        return {"mb": _peak(), "documents": source.n_documents}


def _write_copies(data: Path, name: str, copies: int, cache: Path) -> None:
    train, _ = split(data, name)
    cuts = range(0, train.n_docs, BLOCK)
    Source([train[at : at + BLOCK] for _ in range(copies) for at in cuts]).count(cache=cache)


def _peak() -> float:
    """MB that this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _batches(counts: Any, passes: int) -> Any:
    order = np.random.default_rng(0).permutation(counts.shape[0])
    for _ in range(passes):
        for at in range(0, len(order), BATCH):
            yield counts[np.sort(order[at : at + BATCH])]


def _topoi(train: Any, n_topics: int, passes: int, **priors: Any) -> Any:
    model = LDA(n_topics, total_samples=train.n_docs, n_jobs=-1, **priors)
    for batch in _batches(train.counts, passes):
        model.partial_fit(batch)
    return model.topic_word_


def _fixed(train: Any, n_topics: int, passes: int) -> Any:
    return _topoi(train, n_topics, passes, doc_topic_prior=0.1, topic_word_prior=0.01)


def _scikit_learn(train: Any, n_topics: int, passes: int) -> Any:
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(
        n_topics, total_samples=train.n_docs, random_state=0, doc_topic_prior=0.1,
        topic_word_prior=0.01,
    )  # fmt: skip
    for batch in _batches(train.counts, passes):
        model.partial_fit(batch)
    return model.components_ / model.components_.sum(axis=1, keepdims=True)


def _gensim(train: Any, n_topics: int, passes: int) -> Any:
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel

    documents = Sparse2Corpus(train.counts, documents_columns=False)
    model = LdaModel(
        documents, n_topics, id2word=dict(enumerate(train.words)), passes=passes, chunksize=BATCH,
        alpha=0.1, eta=0.01, random_state=0,
    )  # fmt: skip
    return model.get_topics()


STREAMS = {
    "learned": _topoi,
    "fixed": _fixed,
    "scikit-learn": _scikit_learn,
    "gensim": _gensim,
}
