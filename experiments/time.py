"""Training time of BP, VB and GS over the number of topics, as ratios to BP in one run.

Alone: one process, one thread.

VB's digamma depends on document and topic only. Taken out of the loop over words it is computed D K
times a sweep, inside it NNZ K times: that is what the paper timed. Here VB runs with it taken out;
what it would cost inside is timed on the same numbers and added.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numba import njit

from experiments.harness import (
    FEW_TOPICS,
    FIXED,
    Run,
    as_markdown,
    cells,
    corpus,
    overcomplete,
    panels,
    planned,
)
from experiments.lda import METHODS
from experiments.lda import measure as measure_lda
from experiments.perplexity import FIXED_PLAN
from experiments.perplexity import METHODS as FITTED
from topoi import LDA
from topoi.infer.kernels.primitives import digamma

TIMED = ("a-BP", "s-BP", "VB", "GS", "a-CVB0")
INSIDE = "VB, digamma inside"
SWEEPS = 6  # of a turn; the first two are not counted


def experiment(run: Run) -> None:
    topics = [10] if run.quick else FEW_TOPICS
    wanted = cells(set=run.sets("cora", "medl", "nips", "blog"), topics=topics)
    results = run.measure("time", measure, wanted, processes=1)
    shown = results.pivot(index=["set", "topics"], columns="method", values="ratio")[
        [*TIMED[1:-1], INSIDE, TIMED[-1]]
    ].map("{:.2f}".format)
    shown.insert(
        0,
        "a-BP",
        results[results["method"] == "a-BP"]
        .set_index(["set", "topics"])["ms"]
        .map("{:.1f} ms".format),
    )
    order = pd.MultiIndex.from_frame(results[["set", "topics"]].drop_duplicates())
    tables = {
        "time, a sweep": as_markdown(shown.loc[order]),
        "time, to convergence": as_markdown(to_convergence(run, results)),
    }
    run.publish("time", results, tables, figure(results))


def measure(data: Path, set: str, topics: int) -> list[dict[str, Any]]:
    """Median milliseconds of a sweep of each method, and the ratio to a-BP; the methods take turns,
    so that all meet the same machine.
    """
    counts = corpus(data, set).counts
    sweeps: dict[str, list[float]] = {method: [] for method in (*TIMED, INSIDE)}
    for _ in range(3):
        for method in TIMED:
            sweeps[method] += sweep_seconds(method, counts, topics)
        sweeps[INSIDE] += [np.median(sweeps["VB"]) + digamma_seconds(counts, topics)]
    median = {method: 1e3 * float(np.median(values)) for method, values in sweeps.items()}
    return [
        {"method": method, "ms": median[method], "ratio": median[method] / median["a-BP"]}
        for method in median
    ]


def sweep_seconds(method: str, counts: Any, topics: int) -> list[float]:
    """Seconds of each sweep after the second."""
    model = LDA(
        topics, **METHODS[method], **FIXED, tol=0, max_iter=SWEEPS, evaluate_every=0, n_jobs=1
    ).fit(counts)
    return np.diff([record["seconds"] for record in model.history_])[1:].tolist()


def digamma_seconds(counts: Any, topics: int) -> float:
    """What digamma inside the loop adds: one for each nonzero and topic, less the one for each
    document and topic.
    """
    n_docs = counts.shape[0]
    rows = (
        np.random.default_rng(0).dirichlet(np.full(topics, 0.1), n_docs)
        * counts.sum(axis=1)[:, None]
        + FIXED["doc_topic_prior"]
    )
    _exp_digamma(counts.indptr[:2], rows)  # compile
    began = time.perf_counter()
    _exp_digamma(counts.indptr, rows)
    inside = time.perf_counter() - began
    return inside * (1 - n_docs / counts.nnz)


@njit
def _exp_digamma(indptr, rows):
    """sum over nonzeros and topics of exp(digamma(theta + alpha)): computed anew for each
    nonzero.
    """
    total = 0.0
    for d in range(len(indptr) - 1):
        for _ in range(indptr[d], indptr[d + 1]):
            for k in range(rows.shape[1]):
                total += np.exp(digamma(rows[d, k]))
    return total


def to_convergence(run: Run, results: pd.DataFrame) -> pd.DataFrame:
    """Ratio of the time of a sweep times the ratio of the sweeps that the rule asked for in
    `perplexity` (mean over folds).
    """
    fits = run.measure(
        "lda", measure_lda, planned(run, FIXED_PLAN, method=FITTED, priors=["fixed"])
    )
    sweeps = overcomplete(
        fits.groupby(["set", "topics", "method"], sort=False)["n_sweeps"].mean(), "method"
    )
    ms = results.pivot(index=["set", "topics"], columns="method", values="ms")
    table = sweeps.loc[[row for row in sweeps.index if row in ms.index]]
    out = table.map("{:.0f}".format).add_suffix(" sweeps")
    for method in ("GS", "VB", INSIDE):
        counted = method.split(",")[0]
        out[f"{method}: time against a-BP"] = (
            table[counted] / table["a-BP"] * ms[method] / ms["a-BP"]
        ).map("{:.2f}".format)
    return out


def figure(results: pd.DataFrame):
    drawn, axes = panels(results["set"].unique(), "time of a sweep, a-BP = 1", "topics")
    for name, axis in axes.items():
        for method in (*TIMED, INSIDE):
            values = results[(results["set"] == name) & (results["method"] == method)]
            axis.plot(values["topics"], values["ratio"], marker=".", label=method, linewidth=1)
        axis.set_yscale("log")
    axes[results["set"].iloc[-1]].legend(fontsize=6)
    return drawn
