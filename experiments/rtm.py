"""The relational topic model: BP against GS over the number of topics, with the right links of CORA
and with the paper's shifted ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.harness import (
    FEW_TOPICS,
    FIXED,
    Plan,
    Run,
    as_markdown,
    change,
    corpus,
    fold_rows,
    held_out_perplexity,
    mean_table,
    panels,
    per_cent,
    planned,
    title,
)
from topoi import RelationalTopicModel
from topoi.corpus.links import adjacency, symmetric
from topoi.evaluate import split_tokens
from topoi.graph.factors import Documents, Links
from topoi.infer.predict import fold_in_state, prediction_plan
from topoi.infer.rules import make_rule
from topoi.infer.threads import ThreadPool

METHODS: dict[str, dict[str, Any]] = {
    "LDA, BP": {"link_weight": 0.0},
    "LDA, GS": {"link_weight": 0.0, "rule": "gibbs"},
    "RTM, BP, xi 0.15": {"link_weight": 0.15, "link_factor": "paper"},
    "RTM, GS, xi 0.15": {"link_weight": 0.15, "link_factor": "paper", "rule": "gibbs"},
    "RTM, BP, xi learned": {"link_weight": "learn"},
}
SHIFTED = "cora, shifted"  # the links of the paper's toolbox, see shift.py
PLAN: Plan = {"cora": (FEW_TOPICS, 3), SHIFTED: (FEW_TOPICS, 3), "medl": (FEW_TOPICS, 2)}
VALUES = {
    "all links": 1,
    "all links, linked documents": 1,
    "links among test documents": 1,
    "all links, own fold-in": 1,
    "training": 1,
    "xi": 3,
}


def experiment(run: Run) -> None:
    results = run.measure("rtm", measure, planned(run, PLAN, method=METHODS))
    tables = {"rtm, in short": as_markdown(in_short(results))}
    for value, digits in VALUES.items():
        tables[f"rtm, {value}"] = as_markdown(
            mean_table(results, ["set", "topics"], "method", value, digits)
        )
    run.publish("rtm", results, tables, figure(results))


def in_short(results: pd.DataFrame) -> pd.DataFrame:
    """Changes in per cent, means over the numbers of topics."""
    asked = [
        ("RTM, BP, xi 0.15", "RTM, GS, xi 0.15", "all links, own fold-in"),
        ("RTM, BP, xi 0.15", "RTM, GS, xi 0.15", "all links"),
        ("RTM, GS, xi 0.15", "LDA, GS", "all links, own fold-in"),
        ("RTM, BP, xi 0.15", "LDA, BP", "all links"),
        ("RTM, BP, xi 0.15", "LDA, BP", "all links, linked documents"),
        ("RTM, BP, xi learned", "LDA, BP", "all links"),
        ("RTM, BP, xi learned", "LDA, BP", "all links, linked documents"),
    ]
    columns = {
        f"{a} against {b}; {value}": per_cent(
            change(results, ["set", "topics"], "method", value, a, b)
            .groupby("set", sort=False)
            .mean()
        )
        for a, b, value in asked
    }
    return pd.DataFrame(columns).T.rename_axis("comparison").rename(columns=title)


def links_of(data: Path, name: str) -> sparse.csr_array:
    """Links of a set, both ways, without self-links."""
    with np.load(data / name[:4] / f"{name[:4]}.npz", allow_pickle=False) as arrays:
        pairs = arrays["links_paper" if name == SHIFTED else "links"]
    return symmetric(adjacency(pairs, corpus(data, name[:4]).n_docs))


def measure(
    data: Path, set: str, method: str, topics: int, sweeps: int, fold: int
) -> list[dict[str, Any]]:
    """Predictive perplexity of test documents that arrive with all their links, or with links among
    themselves only (A16).
    """
    counts, links = corpus(data, set[:4]).counts, links_of(data, set)
    train, test = fold_rows(counts.shape[0], fold)
    options: dict[str, Any] = {
        **FIXED,
        **METHODS[method],
        "tol": "paper",
        "max_iter": sweeps,
        "random_state": fold,
    }
    model = RelationalTopicModel(topics, **options).fit(counts[train], links=links[train][:, train])
    observed, held = split_tokens(counts[test])
    among = links[test][:, test]
    everything = sparse.csr_array(sparse.hstack([links[test][:, train], among]))
    linked = np.diff(links.indptr)[test] > 0
    with_all, with_some = model.transform(observed, everything), model.transform(observed, among)
    own = gibbs_fold_in(model, observed, everything) if model.rule == "gibbs" else with_all
    return [
        {
            "n_sweeps": model.n_iter_,
            "training": model.history_[-1]["perplexity"],
            "xi": model.link_weight_,
            "all links": held_out_perplexity(held, with_all, model.topic_word_),
            "all links, linked documents": held_out_perplexity(
                held, with_all, model.topic_word_, linked
            ),
            "links among test documents": held_out_perplexity(held, with_some, model.topic_word_),
            "all links, own fold-in": held_out_perplexity(held, own, model.topic_word_),
        }
    ]


def gibbs_fold_in(
    model: RelationalTopicModel, observed: sparse.csr_array, links: sparse.csr_array
) -> np.ndarray:
    """Topic proportions from one sample, as in the paper."""
    field = Links(
        links,
        model.link_weight_,
        model.link_factor,
        fixed_proportions=model.own_topic_.astype(np.float64),
        eta=model.link_topic_,
    )
    with ThreadPool() as pool:
        state = fold_in_state(
            prediction_plan(observed, model.topic_word_, [Documents(), field]),
            model.doc_topic_prior_,
            make_rule("gibbs"),
            pool=pool,
        )
    return state.doc_topic()


def figure(results: pd.DataFrame):
    drawn, axes = panels(results["set"].unique(), "predictive perplexity", "topics")
    for name, axis in axes.items():
        for i, method in enumerate(METHODS):
            values = results[(results["set"] == name) & (results["method"] == method)].groupby(
                "topics"
            )["all links"]
            axis.errorbar(
                values.mean().index,
                values.mean(),
                values.std(),
                color=f"C{i}",
                label=method,
                capsize=2,
                linewidth=1,
            )
    axes[results["set"].iloc[-1]].legend(fontsize=6)
    return drawn
