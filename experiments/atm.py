"""The author-topic model: BP against GS over the number of topics (A7 to A9).

Messages are over (author, topic) pairs, as in the paper's equations; "factored" keeps two
marginals, as the toolbox does (A7).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import PRIOR
from experiments import factored
from experiments.harness import (
    FEW_TOPICS,
    FIXED,
    Plan,
    Run,
    as_markdown,
    change,
    fold_of,
    held_out_perplexity,
    panels,
    per_cent,
    planned,
    summary,
)
from topoi import AuthorTopicModel
from topoi.evaluate import split_tokens
from topoi.graph.factors import Authors, canonical_factor
from topoi.infer.predict import fold_in_state, prediction_plan
from topoi.infer.rules import make_rule
from topoi.infer.threads import ThreadPool

METHODS: dict[str, dict[str, Any]] = {
    "BP": {},
    "BP, learned proportions": {"author_prior": "learned"},  # A8
    "s-BP": {"schedule": "synchronous"},
    "s-BP, factored": {},
    "GS": {"rule": "gibbs"},
}
PROTOCOLS = {  # of test documents' authors (A9): author_prior, known_authors
    "from scratch, equal proportions": ("uniform", False),
    "from scratch, learned proportions": ("learned", False),
    "known authors": ("uniform", True),
}
OWN = "from scratch, equal proportions, own fold-in"
PLAN: Plan = {"cora": (FEW_TOPICS, 3), "medl": (FEW_TOPICS, 2), "nips": ([50], 1)}


def experiment(run: Run) -> None:
    results = run.measure("atm", measure, planned(run, PLAN, method=METHODS))
    forms = [OWN, *PROTOCOLS]
    gaps = {
        form: per_cent(change(results, ["set", "topics"], "method", form, "BP", "GS"))
        for form in forms
    }
    tables = {
        "atm": as_markdown(summary(results, ["set", "topics", "method"], dict.fromkeys(forms, 1))),
        "atm, BP against GS": as_markdown(
            results.drop_duplicates(["set", "topics"])
            .set_index(["set", "topics"])[[]]
            .assign(**gaps)
        ),
    }
    run.publish("atm", results, tables, figure(results))


def measure(
    data: Path, set: str, method: str, topics: int, sweeps: int, fold: int
) -> list[dict[str, Any]]:
    """Predictive perplexity in every protocol with BP's fold-in, and in the paper's with the
    method's own.
    """
    train, test = fold_of(data, set, fold)
    observed, held = split_tokens(test)

    def score(rule: str, author_prior: str, known: bool) -> float:
        written = {"names": names, "base": counts} if known else {}
        authors = canonical_factor(Authors(test.authors, author_prior, **written), test.n_docs)
        with ThreadPool() as pool:
            state = fold_in_state(
                prediction_plan(observed, topic_word, [authors]),
                np.full(topics, PRIOR),
                make_rule(rule),
                pool=pool,
            )
        return held_out_perplexity(held, state.doc_topic(), topic_word)

    if method == "s-BP, factored":
        run, n_sweeps = factored.train(train, topics, sweeps, fold)
        topic_word, training, names, counts = (
            run.topic_word,
            run.perplexity(),
            run.author_names,
            run.author_counts,
        )
    else:
        model = AuthorTopicModel(
            topics, **METHODS[method], **FIXED, tol="paper", max_iter=sweeps, random_state=fold
        ).fit(train)
        n_sweeps, training = model.n_iter_, model.history_[-1]["perplexity"]
        topic_word, names, counts = model.topic_word_, model.author_names_, model.author_counts_
    scores = {name: score("bp", *form) for name, form in PROTOCOLS.items()}
    scores[OWN] = (
        score("gibbs", "uniform", False)
        if method == "GS"
        else scores["from scratch, equal proportions"]
    )  # GS: one sample, as in the paper
    return [{"n_sweeps": n_sweeps, "training": training, **scores}]


def figure(results):
    drawn, axes = panels(results["set"].unique(), "predictive perplexity", "topics")
    for name, axis in axes.items():
        for method, form, style in (
            ("BP", OWN, "-"),
            ("GS", "from scratch, equal proportions", "-"),
            ("GS", OWN, ":"),
        ):
            values = results[(results["set"] == name) & (results["method"] == method)].groupby(
                "topics"
            )[form]
            label = {"BP": "BP"}.get(
                method, "GS, own fold-in" if form == OWN else "GS, BP's fold-in"
            )
            color = "C0" if method == "BP" else "C1"
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
