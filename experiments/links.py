"""Link prediction (algorithms 5.3): task L completes hidden links, task N meets new documents by
their words alone.

The paper compares BP's RTM with an SVM on products of topic proportions with GS's RTM and its own
GLM. Here every model has the same scorers. In the task "L, seen" the hidden links take part in the
training of the RTM: the paper does not say that they did not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from benchmarks.models import pair_scorers
from experiments.harness import (
    FEW_TOPICS,
    FIXED,
    FOLDS,
    Plan,
    Run,
    as_markdown,
    change,
    corpus,
    fold_rows,
    mean_table,
    panels,
    per_cent,
    planned,
    title,
)
from experiments.rtm import METHODS, SHIFTED, links_of
from topoi import LDA, RelationalTopicModel
from topoi.evaluate import (
    LinkKFold,
    hadamard,
    link_metrics,
    link_pairs,
    random_non_links,
    ranking_metrics,
)

RELATIONAL = ("RTM, BP, xi 0.15", "RTM, GS, xi 0.15", "RTM, BP, xi learned")
CLASSIFIERS = (  # the paper's, its rival's, and two with the same SVM
    "RTM, BP, xi 0.15, SVM on product",
    "RTM, GS, xi 0.15, GLM on product",
    "RTM, GS, xi 0.15, SVM on product",
    "LDA, SVM on product",
)
HIDDEN: Plan = {"cora": (FEW_TOPICS, 3), SHIFTED: ([30], 3), "medl": ([30], 3)}
SEEN: Plan = {"cora": ([30], 3)}
NEW: Plan = {"cora": ([30], 3), SHIFTED: ([30], 3), "medl": ([30], 3)}
QUERIES = 100  # new documents with links, of each fold
COMPLETION = {"f1": 3, "auc": 3, "average_precision": 3}
RANKING = {"recall@10": 3, "mrr": 3, "link_rank": 0, "average_precision": 3}


def experiment(run: Run) -> None:
    completed = run.measure(
        "links",
        measure_completion,
        planned(run, HIDDEN, task=["L"]) + planned(run, SEEN, task=["L, seen"]),
    )
    ranked = run.measure("links_new", measure_new, planned(run, NEW))
    tables = {"links, F1 over topics": as_markdown(f_measure(completed))}
    for value, digits in COMPLETION.items():
        tables[f"links, hidden, {value}"] = as_markdown(by_scorer(completed, value, digits))
    run.publish("links", completed, tables, figure(completed))
    tables = {
        f"links, new documents, {value}": as_markdown(by_scorer(ranked, value, digits))
        for value, digits in RANKING.items()
    }
    run.publish("links_new", ranked, tables)


def f_measure(results: pd.DataFrame) -> pd.DataFrame:
    """F1 over the number of topics: BP's RTM with the SVM, GS's with the GLM as in the paper, and
    with the same SVM.
    """
    by = ["set", "task", "topics"]
    table = mean_table(results, by, "scorer", "f1", 3)[list(CLASSIFIERS)]
    ours, *rivals = CLASSIFIERS
    for rival in rivals:
        table[f"first against {rival}"] = per_cent(change(results, by, "scorer", "f1", ours, rival))
    return table


def by_scorer(results: pd.DataFrame, value: str, digits: int) -> pd.DataFrame:
    """Every scorer on every set at 30 topics: means (deviations) over folds."""
    chosen = results[
        results["topics"] == (30 if 30 in results["topics"].to_numpy() else 10)
    ]  # 10 in a rehearsal
    seen = chosen["task"].eq("L, seen").map({True: ", seen", False: ""}) if "task" in chosen else ""
    return mean_table(
        chosen.assign(where=chosen["set"].map(title) + seen), ["scorer"], "where", value, digits
    )


def fit(counts: Any, links: Any, topics: int, sweeps: int, seed: int) -> dict[str, Any]:
    options: dict[str, Any] = {**FIXED, "tol": "paper", "max_iter": sweeps, "random_state": seed}
    models: dict[str, Any] = {"LDA": LDA(topics, **options).fit(counts)}
    for name in RELATIONAL:
        models[name] = RelationalTopicModel(topics, **options, **METHODS[name]).fit(
            counts, links=links
        )
    return models


def all_scores(
    counts: Any,
    models: dict[str, Any],
    pairs: np.ndarray,
    other: np.ndarray,
    ask: np.ndarray,
    proportions: dict[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """The benchmark's scorers, and a logistic regression on products of topic proportions: the GLM
    of Chang and Blei's RTM.
    """
    out = pair_scorers(counts, models, pairs, other, ask, proportions)
    train, linked = np.vstack([pairs, other]), np.r_[np.ones(len(pairs)), np.zeros(len(other))]
    for name, theta in proportions.items():
        glm = LogisticRegression(C=1e3, max_iter=1000).fit(
            hadamard(theta, train, root=False), linked
        )
        out[f"{name}, GLM on product"] = glm.decision_function(hadamard(theta, ask, root=False))
    return out


def measure_completion(
    data: Path, set: str, task: str, topics: int, sweeps: int, fold: int
) -> list[dict[str, Any]]:
    """Task L: a fifth of the links is hidden, all texts are known; as many pairs without a link."""
    counts, links = corpus(data, set[:4]).counts, links_of(data, set)
    train, test = list(LinkKFold(FOLDS).split(links, counts.shape[0]))[fold]
    non_links = random_non_links(links, counts.shape[0], len(train) + len(test), fold)
    models = fit(counts, links if "seen" in task else train, topics, sweeps, fold)
    ask, linked = (
        np.vstack([test, non_links[len(train) :]]),
        np.r_[np.ones(len(test)), np.zeros(len(test))],
    )
    scores = all_scores(
        counts,
        models,
        train,
        non_links[: len(train)],
        ask,
        {name: model.doc_topic_ for name, model in models.items()},
    )
    return [
        {"scorer": name, **link_metrics(score, linked, threshold(name))}
        for name, score in scores.items()
    ]


def threshold(scorer: str) -> float | None:
    """Classifiers have their own; other scores are cut at the median, which knows that half of the
    pairs are links.
    """
    return 0.0 if "SVM" in scorer or "GLM" in scorer else None


def measure_new(data: Path, set: str, topics: int, sweeps: int, fold: int) -> list[dict[str, Any]]:
    """Task N: for each new document all training documents are ranked; none of its links
    is known.
    """
    counts, links = corpus(data, set[:4]).counts, links_of(data, set)
    train, test = fold_rows(counts.shape[0], fold)
    truth = links[test][:, train]
    linked = np.flatnonzero(np.diff(truth.indptr))
    asked = np.sort(np.random.default_rng(fold).permutation(linked)[:QUERIES])
    inside = link_pairs(links[train][:, train], len(train))
    models = fit(counts[train], inside, topics, sweeps, fold)
    proportions = {
        name: np.vstack([model.doc_topic_, model.transform(counts[test[asked]])])
        for name, model in models.items()
    }
    ask = np.column_stack(
        [
            np.repeat(len(train) + np.arange(len(asked)), len(train)),
            np.tile(np.arange(len(train)), len(asked)),
        ]
    )
    non_links = random_non_links(inside, len(train), len(inside), fold)
    scores = all_scores(
        counts[np.r_[train, test[asked]]], models, inside, non_links, ask, proportions
    )
    found = [truth.indices[truth.indptr[i] : truth.indptr[i + 1]] for i in asked]
    rows = {name: score.reshape(len(asked), -1) for name, score in scores.items()}
    return [
        {"scorer": name, **ranking_metrics(score.__getitem__, found, at=(10,))}
        for name, score in rows.items()
    ]


def figure(results: pd.DataFrame):
    results = results[results["task"] == "L"]
    drawn, axes = panels(results["set"].unique(), "F1 of hidden links", "topics")
    for name, axis in axes.items():
        for scorer in CLASSIFIERS:
            values = results[(results["set"] == name) & (results["scorer"] == scorer)].groupby(
                "topics"
            )["f1"]
            axis.errorbar(
                values.mean().index,
                values.mean(),
                values.std(),
                label=scorer,
                capsize=2,
                linewidth=1,
            )
    axes[results["set"].iloc[-1]].legend(fontsize=5)
    return drawn
