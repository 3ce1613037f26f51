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

from experiments import perplexity
from experiments.harness import FIXED, PAPER_SETS, RULE, TOPICS, Cell, Part, cells, corpus
from experiments.lda import METHODS, PAPER_VB, TOOLBOX_VB
from experiments.page import (
    MISSING,
    NO,
    YES,
    Claim,
    Report,
    as_columns,
    as_markdown,
    chosen,
    listed,
    panels,
    title,
)
from topoi import LDA
from topoi.infer.kernels.primitives import digamma

TIMED = ("a-BP", "s-BP", TOOLBOX_VB, PAPER_VB, "GS", "a-CVB0")
INSIDE = "VB, digamma inside"
SWEEPS = 6  # of a turn; the first two are not counted
BY = ["set", "topics"]


def grid(quick: bool) -> list[Cell]:
    return cells(set=["cora"], topics=[10]) if quick else cells(set=PAPER_SETS, topics=TOPICS)


def report(frames: dict[str, pd.DataFrame], quick: bool) -> Report:
    results, index = frames["time"], pd.MultiIndex.from_frame(pd.DataFrame(grid(quick)))
    ratio = results.pivot(index=BY, columns="method", values="ratio").reindex(index)
    ms = results.pivot(index=BY, columns="method", values="ms").reindex(index)
    methods = ["s-BP", TOOLBOX_VB, INSIDE, PAPER_VB, "GS", "a-CVB0"]
    shown = ratio.reindex(columns=methods).map(number)
    shown.insert(0, "a-BP", ms["a-BP"].map("{:.1f} ms".format, na_action="ignore"))
    fits = chosen(frames["perplexity"], priors="fixed", stop=RULE)
    until = to_convergence(fits, ms)
    tables = {
        "time, a sweep": as_markdown(shown),
        "time, to convergence": as_markdown(until.map(number)),
    }
    return Report(tables, claims(ratio, until), lambda: figure(results))


def number(value: float) -> str:
    return MISSING if pd.isna(value) else f"{value:.2f}"


def claims(ratio: pd.DataFrame, until: pd.DataFrame) -> list[Claim]:
    """Counts of (set, topics) in which a-BP is the faster one."""

    def faster(rival: str) -> str:
        per_sweep, whole = ratio[rival].dropna(), until[against(rival)].dropna()
        return (
            f"{int((per_sweep > 1).sum())} of {len(per_sweep)} for a sweep,"
            f" {int((whole > 1).sum())} of {len(whole)} until convergence"
        )

    rivals = [name for name in ("GS", TOOLBOX_VB, PAPER_VB) if name in ratio]
    always = [
        name
        for name in rivals
        if (ratio[name].dropna() > 1).all() and (until[against(name)].dropna() > 1).all()
    ]
    told = "; ".join(f"{name}: {faster(name)}" for name in rivals)
    slower = ratio["GS"].dropna().groupby("topics").idxmax()
    nips = [topics for topics, (name, _) in slower.items() if name == "nips"]
    inside = ratio[INSIDE].dropna()
    return [
        Claim(
            "BP takes less time than GS and VB",
            YES
            if len(always) == len(rivals)
            else f"only against {listed(always)}"
            if always
            else NO,
            told,
            f"a-BP is faster in so many cells of set and topics than {told}.",
        ),
        Claim(
            "VB takes about three times as long because of its digammas",
            "only with digamma inside the loop" if ratio[TOOLBOX_VB].median() < 2 else YES,
            f"{inside.median():.1f} times with digamma inside, {ratio[TOOLBOX_VB].median():.2f}"
            " times without",
            f"A sweep of VB takes {inside.median():.1f} times as long as one of a-BP (median) with"
            " a digamma for each nonzero and topic, and"
            f" {ratio[TOOLBOX_VB].median():.2f} times with one for each document and topic.",
        ),
        Claim(
            "The difference between BP and GS is largest on NIPS",
            YES if len(nips) == len(slower) else f"only for {listed(nips)} topics" if nips else NO,
            f"at {len(nips)} of {len(slower)} numbers of topics",
            "GS takes the most time against a-BP, for a sweep, "
            + ", ".join(f"on {title(name)} at K = {topics}" for topics, (name, _) in slower.items())
            + ".",
        ),
    ]


def measure(data: Path, set: str, topics: int) -> list[dict[str, Any]]:
    """Median milliseconds of a sweep of each method, and the ratio to a-BP; the methods take turns,
    so that all meet the same machine.
    """
    counts = corpus(data, set).counts
    sweeps: dict[str, list[float]] = {method: [] for method in (*TIMED, INSIDE)}
    for _ in range(3):
        for method in TIMED:
            sweeps[method] += sweep_seconds(method, counts, topics)
        sweeps[INSIDE] += [np.median(sweeps[TOOLBOX_VB]) + digamma_seconds(counts, topics)]
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


def against(method: str) -> str:
    return f"{method}: time against a-BP"


def to_convergence(fits: pd.DataFrame, ms: pd.DataFrame) -> pd.DataFrame:
    """Ratio of the time of a sweep times the ratio of the sweeps that the rule asked for in
    `perplexity` (mean over folds).
    """
    sweeps = as_columns(fits.groupby([*BY, "method"], sort=False)["n_sweeps"].mean(), "method")
    sweeps = sweeps.reindex(ms.index)
    out = pd.DataFrame(index=ms.index)
    for method in ("GS", TOOLBOX_VB, INSIDE, PAPER_VB):
        counted = TOOLBOX_VB if method == INSIDE else method
        ratio = sweeps[counted] / sweeps["a-BP"]
        out[against(method)] = ratio * ms[method] / ms["a-BP"] if method in ms else np.nan
    return out


PARTS = (Part("time", measure, grid, processes=1), *perplexity.PARTS)


def figure(results: pd.DataFrame):
    drawn, axes = panels(results["set"].unique(), "time of a sweep, a-BP = 1", "topics")
    for name, axis in axes.items():
        for method in (*TIMED, INSIDE):
            values = chosen(results, set=name, method=method)
            axis.plot(values["topics"], values["ratio"], marker=".", label=method, linewidth=1)
        axis.set_yscale("log")
    axes[results["set"].iloc[0]].legend(fontsize=6)
    return drawn
