"""Predictive perplexity of VB, GS and BP over the number of topics, with each method's own fold-in
and with one for all.
"""

from __future__ import annotations

import pandas as pd

from experiments.harness import (
    FEW_TOPICS,
    FOLDS,
    PAPER_SETS,
    TOPICS,
    Plan,
    Run,
    as_markdown,
    change,
    mean_table,
    panels,
    per_cent,
    planned,
)
from experiments.lda import measure

METHODS = ("a-BP", "GS", "VB")
FIXED_PLAN: Plan = {
    **dict.fromkeys(PAPER_SETS, (TOPICS, FOLDS)),
    "nips": (FEW_TOPICS, FOLDS),
}  # GS takes its time on NIPS
LEARNED_PLAN: Plan = {"cora": ([50], FOLDS), "medl": ([50], FOLDS)}


def experiment(run: Run) -> None:
    fixed = run.measure("lda", measure, planned(run, FIXED_PLAN, method=METHODS, priors=["fixed"]))
    learned = run.measure(
        "lda", measure, planned(run, LEARNED_PLAN, method=METHODS, priors=["learned"])
    )
    tables = {}
    for priors, results in (("fixed", fixed), ("learned", learned)):
        tables[f"perplexity, {priors} priors"] = as_markdown(table(results))
        tables[f"perplexity in short, {priors} priors"] = as_markdown(in_short(results))
    run.publish("perplexity", pd.concat([fixed, learned]), tables, figure(fixed))


def table(results: pd.DataFrame) -> pd.DataFrame:
    """Set and topics by method and fold-in. BP's own fold-in is the common one."""
    by = ["set", "topics"]
    both = {kind: mean_table(results, by, "method", kind) for kind in ("own", "common")}
    out = both["common"][["a-BP"]].copy()
    for rival in ("GS", "VB"):
        for kind in ("own", "common"):
            out[f"{rival}, {kind}"] = both[kind][rival]
            out[f"BP against {rival}, {kind}"] = per_cent(
                change(results, by, "method", kind, "a-BP", rival)
            )
    return out


def in_short(results: pd.DataFrame) -> pd.DataFrame:
    """BP against each rival: mean over the numbers of topics, and in how many cells BP is lower."""
    columns = {}
    for rival in ("GS", "VB"):
        for kind in ("own", "common"):
            gap = change(results, ["set", "topics"], "method", kind, "a-BP", rival)
            by_fold = results.pivot(index=["set", "topics", "fold"], columns="method", values=kind)
            wins = (
                (by_fold["a-BP"] < by_fold[rival]).groupby("set", sort=False).agg(["sum", "count"])
            )
            columns[f"{rival}, {kind}"] = per_cent(gap.groupby("set", sort=False).mean())
            columns[f"lower, {rival}, {kind}"] = (
                wins["sum"].astype(str) + " of " + wins["count"].astype(str)
            )
            columns[f"{rival}, {kind}"]["mean"] = f"{gap.groupby('set').mean().mean():+.1f} %"
    return pd.DataFrame(columns).reindex([*results["set"].unique(), "mean"]).rename_axis("set")


def figure(results: pd.DataFrame):
    drawn, axes = panels(results["set"].unique(), "predictive perplexity", "topics")
    lines = (("a-BP", "common", "BP", "-"), ("GS", "common", "GS, BP's fold-in", "-"), ("VB",
    "common", "VB, BP's fold-in", "-"),
             ("GS", "own", "GS, own fold-in", ":"), ("VB", "own", "VB, own fold-in",
             ":"))  # fmt: skip
    for name, axis in axes.items():
        for method, kind, label, style in lines:
            values = results[(results["set"] == name) & (results["method"] == method)].groupby(
                "topics"
            )[kind]
            color = {"a-BP": "C0", "GS": "C1", "VB": "C2"}[method]
            axis.errorbar(
                values.mean().index,
                values.mean(),
                values.std(),
                fmt=style,
                color=color,
                label=label,
                capsize=2,
                linewidth=1,
            )
    axes[results["set"].iloc[-1]].legend(fontsize=6)
    return drawn
