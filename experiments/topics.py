"""The top ten words of ten topics of NIPS, by VB, GS and BP; their coherence, and how many topics
are the same.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from experiments.harness import FIXED, SWEEPS, SWEEPS_QUICK, Run, as_markdown, cells, corpus
from experiments.lda import METHODS
from topoi import LDA
from topoi.evaluate import match_topics, npmi, topic_diversity

COMPARED = {"VB": "VB", "GS": "GS", "BP": "a-BP"}
AGAIN = "BP, another seed"  # how much two runs of one method differ
SEEDS = 2


def experiment(run: Run) -> None:
    wanted = cells(
        set=["cora" if run.quick else "nips"],
        topics=[10],
        seed=range(1 if run.quick else SEEDS),
        sweeps=[SWEEPS_QUICK if run.quick else SWEEPS],
    )
    results = run.measure("topics", measure, wanted)
    numbers = results[results["what"] != "words"].assign(
        value=lambda rows: rows["value"].astype(float)
    )
    shown = numbers.groupby(["what", "of"], sort=False)["value"].agg(
        lambda v: f"{v.mean():.3f}" + (f" ({v.std():.3f})" if len(v) > 1 else "")
    )
    words = results[(results["what"] == "words") & (results["seed"] == 0)][
        ["of", "value"]
    ].reset_index(drop=True)
    words.insert(0, "topic", np.arange(len(words)) // len(COMPARED) + 1)
    tables = {
        "topics, words": as_markdown(
            words.set_index("topic").rename(columns={"of": "method", "value": "top ten words"})
        ),
        "topics, numbers": as_markdown(shown.to_frame("mean (deviation over seeds)")),
    }
    run.publish("topics", results, tables)


def measure(data: Path, set: str, topics: int, seed: int, sweeps: int) -> list[dict[str, Any]]:
    """Long rows (what, of, value): words of the topics in BP's order, NPMI and diversity of each
    method, likeness of each two.
    """
    whole = corpus(data, set)

    def fit(method: str, seed: int) -> LDA:
        return LDA(
            topics, **METHODS[method], **FIXED, tol="paper", max_iter=sweeps, random_state=seed
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
                "what": "common words in the top ten",
                "of": f"{a} and {b}",
                "value": np.mean([len({*x} & {*y}) for x, y in pairs]),
            }
        )
    return rows
