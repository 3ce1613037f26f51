"""Six variants of BP: simplified, by index and by token, each with two schedules; and our own
schedules beside them.
"""

from __future__ import annotations

import pandas as pd

from experiments.harness import (
    LDA_SWEEPS,
    LONG_TOPICS,
    NEVER,
    RULE,
    Cell,
    Part,
    planned,
)
from experiments.lda import OWN, measure
from experiments.page import (
    MISSING,
    NO,
    YES,
    Claim,
    Report,
    as_columns,
    as_markdown,
    by_set,
    change,
    chosen,
    chosen_cells,
    holds_on,
    mean_table,
    panels,
    stops_table,
    told,
)

SIX = ("s-BP", "a-BP", "s-siBP", "a-siBP", "s-CVB0", "a-CVB0")
BY = ["set", "topics"]
LITTLE = 5.0  # per cent: "comparable"


def grid(quick: bool) -> list[Cell]:
    choices = {"method": (*SIX, *OWN), "priors": ["fixed"]}
    return [
        *planned(quick, **choices),
        *planned(quick, topics=LONG_TOPICS, sweeps=LDA_SWEEPS, stop=NEVER, **choices),
    ]


PARTS = (Part("variants", measure, grid, store="lda"),)


def report(frames: dict[str, pd.DataFrame], quick: bool) -> Report:
    results, cells = frames["variants"], grid(quick)
    early, early_cells = chosen(results, stop=RULE), chosen_cells(cells, stop=RULE)
    last = max(cell["topics"] for cell in cells)
    shown = by_set(relative(early).unstack()).map(lambda v: MISSING if pd.isna(v) else f"{v:.1f}")
    tables = {
        "variants": as_markdown(mean_table(early, early_cells, BY, "method", "own")),
        "variants, relative": as_markdown(shown.reindex(columns=[*SIX, *OWN])),
        "variants, sweeps": as_markdown(
            mean_table(early, early_cells, ["set"], "method", "n_sweeps", 0)
        ),
        "variants, stopping": stops_table(results, cells, "own", last),
    }
    return Report(tables, claims(results, last), lambda: figure(early))


def relative(results: pd.DataFrame) -> pd.Series:
    """Perplexity minus the mean of the six, as in the paper, by set, topics and method: means over
    folds.
    """
    means = as_columns(results.groupby([*BY, "method"], sort=False)["own"].mean(), "method")
    return means.sub(means[list(SIX)].mean(axis=1, skipna=False), axis=0).stack()


def gap(results: pd.DataFrame, of: str, to: str) -> pd.Series:
    """Difference in per cent, by set: mean over topics."""
    return by_set(change(results, BY, "method", "own", of, to))


def claims(results: pd.DataFrame, last: int) -> list[Claim]:
    early, long = chosen(results, stop=RULE), chosen(results, stop=NEVER)
    means = early.groupby([*BY, "method"], sort=False)["own"].mean().unstack()
    six = means.reindex(columns=SIX).dropna()
    spread = 100 * (six.max(axis=1) / six.min(axis=1) - 1)
    faster = (gap(early, "a-BP", "s-BP") + gap(early, "a-siBP", "s-siBP")) / 2
    faster = (2 * faster + gap(early, "a-CVB0", "s-CVB0")) / 3
    better = list(faster.index[faster < 0])
    return [
        Claim(
            "Six variants of BP have comparable perplexity",
            YES if spread.max() < LITTLE else "only on average" if spread.mean() < LITTLE else NO,
            f"apart by {spread.mean():.1f} % on average, {spread.max():.1f} % at most",
            f"Worst and best of the six are {spread.mean():.1f} % apart on average and"
            f" {spread.max():.1f} % at most.",
        ),
        Claim(
            "The asynchronous schedule is slightly better than the synchronous one",
            holds_on(better, faster.index),
            told(faster),
            f"The difference of the three asynchronous variants to the synchronous ones:"
            f" {told(faster)}.",
        ),
        simplified(early, long, last),
        cvb0(early),
    ]


def simplified(early: pd.DataFrame, long: pd.DataFrame, last: int) -> Claim:
    """siBP is the worst, except on CORA."""
    s_early = (gap(early, "s-siBP", "s-BP") + gap(early, "a-siBP", "a-BP")) / 2
    s_long = (gap(long, "s-siBP", "s-BP") + gap(long, "a-siBP", "a-BP")) / 2
    after = f" After {LDA_SWEEPS:,} sweeps at K = {last}: {told(s_long)}."
    others = s_long.drop("cora", errors="ignore")
    worst = (others > 0).all() and s_long.get("cora", 0) <= 0
    holds = MISSING if not len(s_long) else YES if worst else NO
    if len(s_long) and not worst and (s_long > 0).all():
        holds = "only without the exception"
    number = f"siBP against BP: {told(s_early)}; after {LDA_SWEEPS:,} sweeps {told(s_long)}"
    return Claim(
        "siBP is the worst of the three, except on CORA",
        holds,
        number,
        f"siBP against BP, mean of both schedules, when runs stop by the rule: {told(s_early)}."
        + after,
    )


def cvb0(early: pd.DataFrame) -> Claim:
    """BP is better than CVB0 on NIPS and comparable elsewhere."""
    gaps = (gap(early, "s-BP", "s-CVB0") + gap(early, "a-BP", "a-CVB0")) / 2
    others = gaps.drop("nips", errors="ignore")
    fine = (others.abs() < LITTLE).all()
    holds = MISSING
    if "nips" in gaps:
        holds = YES if fine and gaps["nips"] < 0 else NO
    return Claim(
        "BP is better than CVB0 on NIPS and comparable elsewhere",
        holds,
        told(gaps),
        f"BP against CVB0, mean of both schedules: {told(gaps)}.",
    )


def figure(results: pd.DataFrame):
    drawn, axes = panels(results["set"].unique(), "perplexity minus the mean of six", "topics")
    for name, axis in axes.items():
        values = relative(chosen(results, set=name))[name]
        for i, method in enumerate((*SIX, *OWN)):
            if method in values.index.get_level_values("method"):
                line = values.xs(method, level="method")
                style = {"color": f"C{i}", "marker": ".", "label": method, "linewidth": 1}
                axis.plot(line.index, line, "-" if method in SIX else "--", **style)
    axes[results["set"].iloc[0]].legend(fontsize=6)
    return drawn
