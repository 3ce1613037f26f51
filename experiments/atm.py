"""The author-topic model: BP against GS over the number of topics (A7 to A9).

Messages are over (author, topic) pairs, as in the paper's equations. The toolbox keeps two marginals instead (A7); that is not built here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
from topoi.graph.factors import Authors
from topoi.infer.crew import Crew
from topoi.infer.predict import fold_in_state
from topoi.infer.rules import make_rule

METHODS = {"BP": ("bp", "uniform"), "BP, learned shares": ("bp", "learned"), "GS": ("gibbs", "uniform")}  # rule, author_prior (A8)
PROTOCOLS = {  # of test documents' authors (A9): author_shares, known_authors
    "from scratch, equal shares": ("uniform", False),
    "from scratch, learned shares": ("learned", False),
    "known authors": ("uniform", True),
}
OWN = "from scratch, equal shares, own fold-in"
PLAN: Plan = {"cora": (FEW_TOPICS, 3), "medl": (FEW_TOPICS, 2)}


def experiment(run: Run) -> None:
    results = run.measure("atm", measure, planned(run, PLAN, method=METHODS))
    forms = [OWN, *PROTOCOLS]
    gaps = {form: per_cent(change(results, ["set", "topics"], "method", form, "BP", "GS")) for form in forms}
    tables = {
        "atm": as_markdown(summary(results, ["set", "topics", "method"], dict.fromkeys(forms, 1))),
        "atm, BP against GS": as_markdown(results.drop_duplicates(["set", "topics"]).set_index(["set", "topics"])[[]].assign(**gaps)),
    }
    run.publish("atm", results, tables, figure(results))


def measure(data: Path, set: str, method: str, topics: int, sweeps: int, fold: int) -> list[dict[str, Any]]:
    """Predictive perplexity in every protocol with BP's fold-in, and in the paper's with the method's own."""
    train, test = fold_of(data, set, fold)
    rule, prior = METHODS[method]
    model = AuthorTopicModel(topics, rule=rule, author_prior=prior, **FIXED, stop="paper", max_iter=sweeps, random_state=fold).fit(train)
    observed, held = split_tokens(test)
    scores = {}
    for name, (shares, known) in PROTOCOLS.items():
        found = model.transform(observed, authors=test.authors, author_shares=shares, known_authors=known)
        scores[name] = held_out_perplexity(held, found, model.topic_word_)
    scores[OWN] = own_fold_in(model, observed, held, test.authors) if rule == "gibbs" else scores["from scratch, equal shares"]
    return [{"n_sweeps": model.n_iter_, "training": model.history_[-1]["perplexity"], **scores}]


def own_fold_in(model: AuthorTopicModel, observed: Any, held: Any, authors: Any) -> float:
    """GS as in the paper: topic shares of authors from one sample."""
    with Crew() as crew:
        state = fold_in_state(observed, model.topic_word_, model.doc_topic_prior_, make_rule("gibbs"), [Authors(authors)], crew=crew)
    return held_out_perplexity(held, state.doc_topic(), model.topic_word_)


def figure(results):
    drawn, axes = panels(results["set"].unique(), "predictive perplexity", "topics")
    for name, axis in axes.items():
        for method, form, style in (("BP", OWN, "-"), ("GS", "from scratch, equal shares", "-"), ("GS", OWN, ":")):
            values = results[(results["set"] == name) & (results["method"] == method)].groupby("topics")[form]
            label = {"BP": "BP"}.get(method, "GS, own fold-in" if form == OWN else "GS, BP's fold-in")
            color = "C0" if method == "BP" else "C1"
            axis.errorbar(values.mean().index, values.mean(), values.std(), fmt=style, color=color, label=label, capsize=2, linewidth=1)
    axes[results["set"].iloc[-1]].legend(fontsize=6)
    return drawn
