"""Predictive perplexity of VB, GS and BP over the number of topics, with each method's own fold-in
and with one for all.
"""

from __future__ import annotations

import pandas as pd

from experiments.harness import (
    LDA_SWEEPS,
    LONG_TOPICS,
    NEVER,
    PAPER_SETS,
    RULE,
    Cell,
    Part,
    planned,
)
from experiments.lda import PAPER_VB, TOOLBOX_VB, measure
from experiments.page import (
    MISSING,
    NO,
    YES,
    Claim,
    Report,
    as_markdown,
    change,
    chosen,
    chosen_cells,
    draw_means,
    gap_rows,
    listed,
    lower,
    mean_table,
    per_cent_text,
    size_holds,
    stops_table,
)

METHODS = ("a-BP", "s-BP", "GS", TOOLBOX_VB, PAPER_VB)
RIVALS = ("GS", TOOLBOX_VB, PAPER_VB)
BY = ["set", "topics"]


def grid(quick: bool) -> list[Cell]:
    fixed = {"method": METHODS, "priors": ["fixed"]}
    return [
        *planned(quick, **fixed),
        *planned(quick, topics=LONG_TOPICS, sweeps=LDA_SWEEPS, stop=NEVER, **fixed),
        *planned(quick, topics=LONG_TOPICS, method=METHODS, priors=["learned"]),
    ]


PARTS = (Part("perplexity", measure, grid, store="lda"),)


def report(frames: dict[str, pd.DataFrame], quick: bool) -> Report:
    results, cells = frames["perplexity"], grid(quick)
    fixed = chosen(results, priors="fixed", stop=RULE)
    planned_cells = chosen_cells(cells, priors="fixed", stop=RULE)
    tables = {"perplexity in short, fixed priors": in_short(fixed)}
    for kind in ("common", "own"):
        tables[f"perplexity, {kind} fold-in"] = as_markdown(
            mean_table(fixed, planned_cells, BY, "method", kind)
        )
    learned = chosen(results, priors="learned")
    tables["perplexity in short, learned priors"] = in_short(learned)
    tables["perplexity, learned priors"] = as_markdown(
        mean_table(learned, chosen_cells(cells, priors="learned"), BY, "method", "common")
    )
    last = max(cell["topics"] for cell in cells)
    tables["perplexity, stopping"] = stops_table(
        chosen(results, priors="fixed"), chosen_cells(cells, priors="fixed"), "common", last
    )
    return Report(tables, claims(fixed), lambda: figure(fixed))


def in_short(results: pd.DataFrame) -> str:
    """BP against each rival, a row for each fold-in."""
    asked = [
        (f"a-BP against {rival}, {kind} fold-in", kind, "a-BP", rival)
        for rival in RIVALS
        for kind in ("common", "own")
    ]
    asked.append(("a-BP against s-BP", "common", "a-BP", "s-BP"))
    return gap_rows(results, PAPER_SETS, asked)


def gap(results: pd.DataFrame, kind: str, rival: str, ours: str = "a-BP") -> float:
    """Mean over sets of the mean over topics, in per cent."""
    gaps = change(results, BY, "method", kind, ours, rival)
    return gaps.groupby("set", sort=False).mean().mean()


def lowest(results: pd.DataFrame, rivals: tuple[str, ...]) -> tuple[int, int]:
    """At how many of (set, topics) the mean of a-BP is below all rivals, common fold-in."""
    gaps = pd.DataFrame(
        {rival: change(results, BY, "method", "common", "a-BP", rival) for rival in rivals}
    ).dropna()
    return int((gaps < 0).all(axis=1).sum()), len(gaps)


def claims(results: pd.DataFrame) -> list[Claim]:
    toolbox, paper = lowest(results, ("GS", TOOLBOX_VB)), lowest(results, ("GS", PAPER_VB))
    if toolbox[0] == toolbox[1]:
        holds = YES if paper[0] == paper[1] else "only against VB with one pass per sweep"
    else:
        holds = NO
    first = Claim(
        "BP has the lowest predictive perplexity at every number of topics on all sets",
        holds,
        f"lowest in {toolbox[0]} of {toolbox[1]} cells; with the paper's VB {paper[0]} of"
        f" {paper[1]}",
        f"With one fold-in for all, a-BP is below GS and the toolbox's VB, which takes one pass"
        f" per sweep, at {toolbox[0]} of {toolbox[1]} combinations of set and topics; below GS and"
        f" VB as the paper describes it, documents iterated to convergence, at {paper[0]} of"
        f" {paper[1]}.",
    )
    return [first, *(claim_about(results, *which) for which in (("GS", 6), ("VB", 11)))]


def claim_about(results: pd.DataFrame, rival: str, claimed: int) -> Claim:
    """BP on average `claimed` per cent below a rival."""
    said = f"BP is on average {claimed} % below {rival}"
    if rival == "GS":
        common, own = (gap(results, kind, rival) for kind in ("common", "own"))
        less, folds = lower(results, BY, "method", "common", "a-BP", rival)
        return Claim(
            said,
            size_holds(-common, claimed),
            f"{per_cent_text(common)} (own fold-in {per_cent_text(own)})",
            f"a-BP is {-common:.1f} % below GS on average with one fold-in for both, lower in"
            f" {less} of {folds} folds, and {-own:.1f} % below with GS's own, one sample.",
        )
    toolbox, paper = (gap(results, "common", name) for name in (TOOLBOX_VB, PAPER_VB))
    if pd.isna(paper):
        return Claim(said, size_holds(-toolbox, claimed), per_cent_text(toolbox), MISSING)
    less, folds = lower(results, BY, "method", "common", "a-BP", PAPER_VB)
    where = listed(change(results, BY, "method", "common", "a-BP", PAPER_VB).index.unique("set"))
    holds = size_holds(-toolbox, claimed)
    if holds == YES and size_holds(-paper, claimed) != YES:
        holds = "only against VB with one pass per sweep"
    return Claim(
        said,
        holds,
        f"{per_cent_text(toolbox)} (the paper's VB {per_cent_text(paper)})",
        f"Against the toolbox's VB the difference is {per_cent_text(toolbox)}; against VB as the"
        f" paper describes it, on {where}, {per_cent_text(paper)}, with a-BP lower in {less} of"
        f" {folds} folds.",
    )


def figure(results: pd.DataFrame):
    lines = [
        ("a-BP", "common", "a-BP", "-", "C0"),
        ("s-BP", "common", "s-BP", "--", "C0"),
        ("GS", "common", "GS, BP's fold-in", "-", "C1"),
        (TOOLBOX_VB, "common", "VB of the toolbox, BP's fold-in", "-", "C2"),
        (PAPER_VB, "common", "VB of the paper, BP's fold-in", "-", "C3"),
        ("GS", "own", "GS, own fold-in", ":", "C1"),
        (TOOLBOX_VB, "own", "VB of the toolbox, own fold-in", ":", "C2"),
        (PAPER_VB, "own", "VB of the paper, own fold-in", ":", "C3"),
    ]
    return draw_means(results, "predictive perplexity", lines)
