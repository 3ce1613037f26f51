"""The top ten words of ten topics of NIPS, by VB, GS and BP; their coherence, how many topics are
the same, and whether intruders can be found.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.harness import (
    FIXED,
    LDA_SWEEPS,
    NEVER,
    RULE,
    SWEEPS,
    Cell,
    Part,
    cells,
    corpus,
    stopping,
)
from experiments.lda import METHODS, PAPER_VB, TOOLBOX_VB
from experiments.page import NO, YES, Claim, Report, as_markdown, chosen
from topoi import LDA
from topoi.evaluate import intrusion, match_topics, npmi, topic_diversity

COMPARED = {TOOLBOX_VB: TOOLBOX_VB, PAPER_VB: PAPER_VB, "GS": "GS", "BP": "a-BP"}
AGAIN = "BP, another seed"  # how much two runs of one method differ
SEEDS = 2
COMMON = "common words in the top ten"
FOUND = {"word": "word intruders found", "topic": "topic intruders found"}
QUESTIONS = 200  # documents with a topic intruder


def grid(quick: bool) -> list[Cell]:
    if quick:
        return cells(set=["cora"], topics=[10], seed=range(1), sweeps=[20], stop=[RULE])
    return [
        cell
        for sweeps, stop in ((SWEEPS, RULE), (LDA_SWEEPS, NEVER))
        for cell in cells(
            set=["nips"], topics=[10], seed=range(SEEDS), sweeps=[sweeps], stop=[stop]
        )
    ]


def report(frames: dict[str, pd.DataFrame], quick: bool) -> Report:
    results = chosen(frames["topics"], stop=RULE)
    numbers = results[results["what"] != "words"].assign(
        value=lambda rows: rows["value"].astype(float)
    )
    asked = numbers["what"].isin(FOUND.values())
    shown = (
        numbers[~asked]
        .groupby(["what", "of"], sort=False)["value"]
        .agg(lambda v: f"{v.mean():.3f}" + (f" ({v.std():.3f})" if len(v) > 1 else ""))
    )
    words = chosen(results, what="words", seed=0)[["of", "value"]].reset_index(drop=True)
    words.insert(0, "topic", np.arange(len(words)) // words["of"].nunique() + 1)
    tables = {
        "topics, words": as_markdown(
            words.set_index("topic").rename(columns={"of": "method", "value": "top ten words"})
        ),
        "topics, numbers": as_markdown(shown.to_frame("mean (deviation over seeds)")),
        "topics, intrusion": as_markdown(intruders_table(numbers[asked])),
    }
    return Report(tables, claims(numbers))


def intruders_table(intruders: pd.DataFrame) -> pd.DataFrame:
    """Proportion of intruders that the automatic answer finds: methods x kind of question."""
    if not len(intruders):
        return pd.DataFrame({name: [] for name in FOUND.values()}).rename_axis("method")
    table = intruders.pivot_table(index="of", columns="what", values="value", sort=False)
    return table.rename_axis("method").map("{:.3f}".format)


def claims(numbers: pd.DataFrame) -> list[Claim]:
    common = chosen(numbers, what=COMMON).groupby("of", sort=False)["value"].mean()
    itself = common[f"BP and {AGAIN}"]
    others = common[[name for name in common.index if AGAIN not in name]]
    out = [
        Claim(
            "The top ten words of VB, GS and BP are nearly the same",
            YES if others.mean() >= itself - 1 else NO,
            f"{others.mean():.1f} of ten words in common; two runs of BP {itself:.1f}",
            f"Matched topics of two methods have {others.min():.1f} to {others.max():.1f} of their"
            f" top ten words in common, two runs of BP with different seeds {itself:.1f}.",
        )
    ]
    found = {kind: chosen(numbers, what=what) for kind, what in FOUND.items()}
    if all(len(rows) for rows in found.values()):
        told = "; ".join(
            f"{kind} "
            + ", ".join(
                f"{name} {value:.2f}"
                for name, value in rows.groupby("of", sort=False)["value"].mean().items()
            )
            for kind, rows in found.items()
        )
        means = found["word"].groupby("of")["value"].mean()
        out.append(
            Claim(
                "There is no obvious difference in word intrusion",
                YES if means.max() - means.min() <= 0.2 else NO,
                told,
                f"Proportions of intruders that coherence finds: {told}.",
            )
        )
    return out


def measure(
    data: Path, set: str, topics: int, seed: int, sweeps: int, stop: str
) -> list[dict[str, Any]]:
    """Long rows (what, of, value): words of the topics in BP's order, NPMI and diversity of each
    method, likeness of each two.
    """
    whole = corpus(data, set)

    def fit(method: str, seed: int) -> LDA:
        return LDA(
            topics, **METHODS[method], **FIXED, **stopping(sweeps, stop), random_state=seed
        ).fit(whole)

    models = {
        **{name: fit(method, seed) for name, method in COMPARED.items()},
        AGAIN: fit("a-BP", seed + 100),
    }
    words = {}
    for name in COMPARED:
        partner = match_topics(models["BP"], models[name])[0]
        top = models[name].top_words(10)
        words[name] = [top[k] for k in partner]
    rows: list[dict[str, Any]] = [
        {"what": "words", "of": name, "value": " ".join(words[name][k])}
        for k in range(topics)
        for name in COMPARED
    ]
    for name, model in models.items():
        rows.append(
            {"what": "NPMI of top ten words", "of": name, "value": npmi(model, whole).mean()}
        )
        rows.append({"what": "diversity", "of": name, "value": topic_diversity(model)})
        scores = intrusion(model, whole, n_documents=QUESTIONS).scores["found"]
        rows += [{"what": FOUND[kind], "of": name, "value": scores[kind]} for kind in FOUND]
    for a, b in combinations(models, 2):
        partner, cosine = match_topics(models[a], models[b])
        pairs = zip(
            models[a].top_words(10), [models[b].top_words(10)[k] for k in partner], strict=True
        )
        rows.append(
            {"what": "cosine of matched topics", "of": f"{a} and {b}", "value": cosine.mean()}
        )
        rows.append(
            {
                "what": COMMON,
                "of": f"{a} and {b}",
                "value": np.mean([len({*x} & {*y}) for x, y in pairs]),
            }
        )
    return rows


PARTS = (Part("topics", measure, grid),)
