"""Does a change keep the bits? `python -m benchmarks.same_bits --base REV`.

Fits the working tree and revision REV side by side, each with its own copy of this file: every
rule with every schedule, every model, weights, batches, shards and prediction. Prints the cases
that differ, and exits with 1 if there are any.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent


def cases() -> Iterator[tuple[str, Callable[[], list[np.ndarray]]]]:
    """Names, and what computes the arrays of a case. Names stay; calls follow the API."""
    from topoi import (
        LDA,
        AuthorTopicModel,
        LabeledLDA,
        RelationalTopicModel,
        TopicModel,
        datasets,
        rules,
    )
    from topoi.graph.factors import Authors, Links, Words

    small = datasets.make_lda(120, 80, 5, random_state=0)[0]
    large = datasets.make_lda(2500, 800, 10, random_state=1)[0]
    authors = datasets.make_authors(120, random_state=2)[0]
    labels = datasets.make_labels(120, random_state=3)[0]
    links = datasets.make_links(120, random_state=4)[0]
    fixed: dict[str, Any] = {"doc_topic_prior": 0.1, "topic_word_prior": 0.05}

    def fitted(
        make: Callable[..., Any], corpus: Any, **options: Any
    ) -> Callable[[], list[np.ndarray]]:
        def run() -> list[np.ndarray]:
            model = make(**{"max_iter": 24, "random_state": 3, **options}).fit(corpus)
            perplexity = [record["perplexity"] or 0.0 for record in model.history_]
            return [
                model.components_,
                model.doc_topic_,
                model.doc_topic_prior_,
                model.transform(corpus.counts[:30]),
                np.array(perplexity),
            ]

        return run

    for rule, schedules in {
        "bp": (
            "auto",
            "incremental",
            "relaxed",
            "asynchronous",
            "synchronous",
            "residual",
            "residual-words",
            "active",
        ),
        "sibp": ("auto", "incremental", "asynchronous", "synchronous", "residual"),
        "cvb0": ("auto", "asynchronous", "synchronous", "residual"),
        "vb": ("synchronous", "incremental"),
        "gibbs": ("asynchronous",),
    }.items():
        for schedule in schedules:
            yield (
                f"LDA {rule} {schedule}",
                fitted(lambda **kw: LDA(5, **kw), small, rule=rule, schedule=schedule),
            )
        yield (
            f"LDA {rule} fixed priors",
            fitted(lambda **kw: LDA(5, **kw), small, rule=rule, **fixed),
        )
    yield "LDA large", fitted(lambda **kw: LDA(10, **kw), large)
    yield "LDA large, two threads", fitted(lambda **kw: LDA(10, n_jobs=2, **kw), large)
    yield (
        "LDA large, incremental",
        fitted(lambda **kw: LDA(10, schedule="incremental", **kw), large),
    )
    yield "LDA large, many topics", fitted(lambda **kw: LDA(300, **kw), large, max_iter=22)
    for inner in (1, 5):
        yield (
            f"LDA vb inner {inner}",
            fitted(
                lambda n=inner, **kw: LDA(5, rule=rules.VB(inner=n), schedule="synchronous", **kw),
                small,
            ),
        )
    yield (
        "LDA vb textbook",
        fitted(
            lambda **kw: LDA(5, rule=rules.VB(textbook=True), schedule="synchronous", **kw), small
        ),
    )
    for messages in ("token", "none", "solved"):
        yield (
            f"LDA messages {messages}",
            fitted(lambda m=messages, **kw: LDA(5, rule=rules.BP(messages=m), **kw), small),
        )
    for weighting in ("tf", "tfidf", "log"):
        yield f"LDA {weighting}", fitted(lambda w=weighting, **kw: LDA(5, weighting=w, **kw), small)
    yield "LDA soft start", fitted(lambda **kw: LDA(5, init="soft", **kw), small)
    yield (
        "LDA paper's stop rule",
        fitted(lambda **kw: LDA(5, tol="paper", **kw), small, max_iter=200),
    )
    yield "LDA to convergence", fitted(lambda **kw: LDA(5, **kw), small, max_iter=500)
    yield "LDA batches", fitted(lambda **kw: LDA(5, batch_size=30, **kw), small, max_iter=3)
    for rule in ("bp", "sibp", "cvb0", "gibbs"):
        yield (
            f"authors {rule}",
            fitted(lambda r=rule, **kw: AuthorTopicModel(4, rule=r, **kw), authors),
        )
        yield (
            f"links {rule}",
            fitted(lambda r=rule, **kw: RelationalTopicModel(4, rule=r, **kw), links),
        )
        yield f"labels {rule}", fitted(lambda r=rule, **kw: LabeledLDA(1, rule=r, **kw), labels)
    yield (
        "authors, learned prior",
        fitted(lambda **kw: AuthorTopicModel(4, author_prior="learned", **kw), authors),
    )
    yield (
        "links, fixed weight",
        fitted(lambda **kw: RelationalTopicModel(4, link_weight=0.15, **kw), links),
    )
    yield (
        "links, incremental",
        fitted(lambda **kw: RelationalTopicModel(4, schedule="incremental", **kw), links),
    )
    yield (
        "authors, incremental",
        fitted(lambda **kw: AuthorTopicModel(4, schedule="incremental", **kw), authors),
    )
    yield (
        "predicted authors",
        lambda: [np.asarray(AuthorTopicModel(4, max_iter=20).fit(authors).author_topic_)],
    )

    def combination() -> list[np.ndarray]:
        factors = [Words(authors.counts), Authors(authors.authors), Links(links.links)]
        model = TopicModel(factors, 4, max_iter=20).fit()
        return [model.components_, model.doc_topic_]

    yield "combination", combination

    def stream() -> list[np.ndarray]:
        model = LDA(5, total_samples=120, random_state=0)
        for first in range(0, 120, 20):
            model.partial_fit(small.counts[first : first + 20])
        return [model.components_, model.transform(small.counts)]

    yield "LDA partial_fit", stream

    def shards() -> list[np.ndarray]:
        from distributed import Client

        from topoi import distributed

        with Client(
            processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None
        ) as client:
            model = distributed.fit(
                LDA(10, max_iter=12, random_state=0),
                [large.counts[:1200], large.counts[1200:]],
                client=client,
            )
            return [model.components_]

    yield "LDA shards", shards


def digests() -> dict[str, str]:
    """A digest of the results of each case, or the error."""
    found = {}
    warnings.simplefilter("ignore")
    for name, run in cases():
        try:
            arrays = run()
            found[name] = hashlib.sha256(
                b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)
            ).hexdigest()
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def _digests_of(tree: Path) -> dict[str, str]:
    environment = {**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}"}
    command = [sys.executable, str(tree / "benchmarks" / "same_bits.py"), "--print"]
    return json.loads(
        subprocess.run(
            command, cwd=tree, env=environment, check=True, capture_output=True, text=True
        ).stdout
    )


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """A folder with the files of a revision."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "base"
        subprocess.run(
            ["git", "worktree", "add", "--detach", "--quiet", str(tree), revision],
            cwd=ROOT,
            check=True,
        )
        try:
            yield tree
        finally:
            subprocess.run(
                ["git", "worktree", "remove", "--force", str(tree)], cwd=ROOT, check=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_bits", description=__doc__)
    parser.add_argument(
        "--base", default="HEAD", metavar="REV", help="the revision to compare with"
    )
    parser.add_argument("--print", action="store_true", help="only print the digests of this tree")
    args = parser.parse_args()
    if args.print:
        print(json.dumps(digests()))
        return
    with checked_out(args.base) as base:
        before = _digests_of(base)
    now = _digests_of(ROOT)
    wrong = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    for name in wrong:
        print(f"{name}: {before.get(name, 'absent')} -> {now.get(name, 'absent')}")
    print(f"{len(now) - len(wrong)} of {len(now)} cases have the same bits as {args.base}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
