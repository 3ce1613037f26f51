"""Link prediction (algorithms 5.3): task L completes hidden links, task N meets new documents by
their words alone.

The paper compares BP's RTM with an SVM on products of topic proportions with GS's RTM and its own
GLM, which is Chang and Blei's model. Here that model scores by its own link function, and every
other model has the same scorers. In the task "L, seen" the hidden links take part in the
training of the RTM: the paper does not say that they did not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from benchmarks.models import pair_scorers
from experiments.chang_blei import ChangBlei, links_matrix
from experiments.harness import (
    FIXED,
    FOLDS,
    NEVER,
    RULE,
    SWEEPS_OF_OTHERS,
    Cell,
    Part,
    corpus,
    fold_rows,
    planned,
    stopping,
)
from experiments.page import (
    MISSING,
    Claim,
    Report,
    as_markdown,
    by_set,
    change,
    chosen,
    chosen_cells,
    mean_table,
    panels,
    per_cent,
    per_cent_text,
    size_holds,
    title,
)
from experiments.rtm import METHODS, RIVALS, SETS, links_of
from topoi import LDA, RelationalTopicModel
from topoi.evaluate import (
    LinkKFold,
    hadamard,
    link_metrics,
    link_pairs,
    random_non_links,
    ranking_metrics,
)

RELATIONAL = (
    "RTM, BP, xi 0.15",
    "RTM, s-BP, xi 0.15",
    "RTM, GS, xi 0.15",
    "RTM, BP, xi learned",
)
OWN = "own link function"
CLASSIFIERS = (  # the paper's, its rivals, and others with the same SVM
    "RTM, s-BP, xi 0.15, SVM on product",
    *(f"{rival}, {OWN}" for rival in RIVALS),
    "RTM, GS, xi 0.15, GLM on product",
    "RTM, GS, xi 0.15, SVM on product",
    "RTM, BP, xi 0.15, SVM on product",
    "LDA, SVM on product",
)
SHOWN_TOPICS = 30  # of the tables with every scorer
QUERIES = 100  # new documents with links, of each fold
COMPLETION = {"f1": 3, "auc": 3, "average_precision": 3}
RANKING = {"recall@10": 3, "mrr": 3, "link_rank": 0, "average_precision": 3}
SEEN = "L, seen"
BY = ["set", "task", "topics"]


def hidden_grid(quick: bool) -> list[Cell]:
    long = {"topics": [SHOWN_TOPICS], "sweeps": SWEEPS_OF_OTHERS, "stop": NEVER}
    return [
        *planned(quick, SETS, task=["L"]),
        *planned(quick, SETS, topics=[SHOWN_TOPICS], task=[SEEN]),
        *planned(quick, SETS, **long, task=["L"]),
    ]


def new_grid(quick: bool) -> list[Cell]:
    return planned(quick, SETS, topics=[SHOWN_TOPICS])


def report(frames: dict[str, pd.DataFrame], quick: bool) -> Report:
    completed, cells = frames["links"], hidden_grid(quick)
    early, early_cells = chosen(completed, stop=RULE), chosen_cells(cells, stop=RULE)
    tables = {"links, F1 over topics": as_markdown(f_measure(early, early_cells))}
    for value, digits in COMPLETION.items():
        tables[f"links, hidden, {value}"] = by_scorer(early, early_cells, value, digits)
    tables["links, stopping"] = stops(completed, cells)
    for value, digits in RANKING.items():
        tables[f"links, new documents, {value}"] = by_scorer(
            frames["links_new"], new_grid(quick), value, digits
        )
    return Report(tables, claims(early), lambda: figure(early))


def f_measure(results: pd.DataFrame, grid: list[Cell]) -> pd.DataFrame:
    """F1 over the number of topics: BP's RTM with the SVM, its rivals with their own link
    functions or a GLM as in the paper, and others with the same SVM.
    """
    rows = chosen(results, scorer=CLASSIFIERS)
    table = mean_table(rows, grid, BY, "scorer", "f1", 3)
    table = table.reindex(columns=CLASSIFIERS)
    ours, *rivals = CLASSIFIERS
    for rival in rivals:
        table[f"first against {rival}"] = per_cent(change(results, BY, "scorer", "f1", ours, rival))
    return table


def by_scorer(results: pd.DataFrame, grid: list[Cell], value: str, digits: int) -> str:
    """Every scorer on every set at SHOWN_TOPICS: means (deviations) over folds."""

    def place(rows: pd.DataFrame) -> pd.DataFrame:
        seen = rows["task"].eq(SEEN).map({True: ", seen", False: ""}) if "task" in rows else ""
        return rows.assign(where=rows["set"].map(title) + seen)

    topics = max(cell["topics"] for cell in grid if cell["topics"] <= SHOWN_TOPICS)
    cells = place(pd.DataFrame(chosen_cells(grid, topics=topics))).to_dict("records")
    rows = place(chosen(results, topics=topics))
    return as_markdown(mean_table(rows, cells, ["scorer"], "where", value, digits))


def stops(results: pd.DataFrame, grid: list[Cell]) -> str:
    """F1 with the rule and with all sweeps."""
    topics = max(cell["topics"] for cell in grid if cell["stop"] == NEVER)
    rows = chosen(results, task="L", topics=topics, scorer=CLASSIFIERS)
    cells = chosen_cells(grid, task="L", topics=topics)
    return as_markdown(mean_table(rows, cells, ["set", "stop"], "scorer", "f1", 3))


def claims(results: pd.DataFrame) -> list[Claim]:
    """The F-measure of BP is 15 % higher than that of GS, which learns Chang and Blei's model."""
    rows = chosen(results, task="L", set=("cora", "medl", "blog"))
    ours = CLASSIFIERS[0]

    def gap(rival: str) -> pd.Series:
        return by_set(change(rows, ["set", "topics"], "scorer", "f1", ours, rival))

    gaps = {rival: gap(rival) for rival in CLASSIFIERS[1:]}
    gaps = {rival: found for rival, found in gaps.items() if len(found)}
    means = {rival: found.mean() for rival, found in gaps.items()}
    paper = [means[name] for name in CLASSIFIERS[1:4] if name in means]  # the paper's rivals
    told = "; ".join(f"{rival} {per_cent_text(mean)}" for rival, mean in means.items())
    seen = chosen(results, task=SEEN)
    by_name = seen.groupby("scorer")["f1"].mean()
    rise = ""
    if len(by_name):
        rise = " If the hidden links take part in training, F1 is up to"
        rise += f" {by_name.max():.3f} ({by_name.idxmax()})."
    return [
        Claim(
            "Link prediction has a 15 % higher F-measure with BP than with GS",
            size_holds(float(np.mean(paper)), 15) if paper else MISSING,
            told or MISSING,
            "F1 of s-BP's relational model with the SVM against its rivals, mean of the sets:"
            f" {told or MISSING}." + rise,
        )
    ]


def fit(
    counts: Any, links: Any, topics: int, sweeps: int, stop: str, seed: int
) -> tuple[dict[str, Any], dict[str, ChangBlei]]:
    """Models of this library, and those of Chang and Blei. links: pairs (m, 2)."""
    options: dict[str, Any] = {**FIXED, **stopping(sweeps, stop), "random_state": seed}
    models: dict[str, Any] = {"LDA": LDA(topics, **options).fit(counts)}
    for name in RELATIONAL:
        models[name] = RelationalTopicModel(topics, **options, **METHODS[name]).fit(
            counts, links=links
        )
    table = links_matrix(links, counts.shape[0])
    rivals = {
        name: ChangBlei(topics, function, seed).fit(counts, table, sweeps=sweeps, rule=stop == RULE)
        for name, function in RIVALS.items()
    }
    return models, rivals


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
    data: Path, set: str, task: str, topics: int, sweeps: int, stop: str, fold: int
) -> list[dict[str, Any]]:
    """Task L: a fifth of the links is hidden, all texts are known; as many pairs without a link."""
    counts, links = corpus(data, set[:4]).counts, links_of(data, set)
    train, test = list(LinkKFold(FOLDS).split(links, counts.shape[0]))[fold]
    non_links = random_non_links(links, counts.shape[0], len(train) + len(test), fold)
    shown = link_pairs(links, counts.shape[0]) if task == SEEN else train
    models, rivals = fit(counts, shown, topics, sweeps, stop, fold)
    ask = np.vstack([test, non_links[len(train) :]])
    linked = np.r_[np.ones(len(test)), np.zeros(len(test))]
    proportions = {name: model.doc_topic_ for name, model in models.items()}
    scores = all_scores(counts, models, train, non_links[: len(train)], ask, proportions)
    for name, rival in rivals.items():
        scores[f"{name}, {OWN}"] = rival.link_scores(*rival.mean_topics[ask.T])
    return [
        {"scorer": name, **link_metrics(score, linked, threshold(name))}
        for name, score in scores.items()
    ]


def threshold(scorer: str) -> float | None:
    """Classifiers have their own; other scores are cut at the median, which knows that half of the
    pairs are links.
    """
    return 0.0 if "SVM" in scorer or "GLM" in scorer else None


def measure_new(
    data: Path, set: str, topics: int, sweeps: int, stop: str, fold: int
) -> list[dict[str, Any]]:
    """Task N: for each new document all training documents are ranked; none of its links
    is known.
    """
    counts, links = corpus(data, set[:4]).counts, links_of(data, set)
    train, test = fold_rows(counts.shape[0], fold)
    truth = links[test][:, train]
    linked = np.flatnonzero(np.diff(truth.indptr))
    asked = np.sort(np.random.default_rng(fold).permutation(linked)[:QUERIES])
    inside = link_pairs(links[train][:, train], len(train))
    models, rivals = fit(counts[train], inside, topics, sweeps, stop, fold)
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
    new = counts[test[asked]]
    for name, rival in rivals.items():
        theta = rival.transform(new, sparse.csr_array((new.shape[0], len(train) + new.shape[0])))
        mean_topics = np.vstack([rival.mean_topics, theta])
        scores[f"{name}, {OWN}"] = rival.link_scores(*mean_topics[ask.T])
    found = [truth.indices[truth.indptr[i] : truth.indptr[i + 1]] for i in asked]
    rows = {name: score.reshape(len(asked), -1) for name, score in scores.items()}
    return [
        {"scorer": name, **ranking_metrics(score.__getitem__, found, at=(10,))}
        for name, score in rows.items()
    ]


PARTS = (
    Part("links", measure_completion, hidden_grid),
    Part("links_new", measure_new, new_grid),
)


def figure(results: pd.DataFrame):
    results = chosen(results, task="L")
    drawn, axes = panels(results["set"].unique(), "F1 of hidden links", "topics")
    for name, axis in axes.items():
        for scorer in CLASSIFIERS:
            values = chosen(results, set=name, scorer=scorer).groupby("topics")["f1"]
            axis.errorbar(
                values.mean().index,
                values.mean(),
                values.std().fillna(0),
                label=scorer,
                capsize=2,
                linewidth=1,
            )
    axes[results["set"].iloc[0]].legend(fontsize=5)
    return drawn
