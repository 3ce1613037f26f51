"""The author-topic model: BP against GS over the number of topics (A7 to A9).

Messages are over (author, topic) pairs, as in the paper's equations; "factored" keeps two
marginals, as the toolbox does (A7).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common import PRIOR
from experiments import factored
from experiments.harness import (
    FIXED,
    LONG_TOPICS,
    NEVER,
    RULE,
    SWEEPS_OF_OTHERS,
    Cell,
    Part,
    fold_of,
    held_out_perplexity,
    planned,
    stopping,
)
from experiments.page import (
    MISSING,
    YES,
    Claim,
    Report,
    as_markdown,
    by_set,
    change,
    chosen,
    chosen_cells,
    draw_means,
    gap_rows,
    lower,
    per_cent_text,
    size_holds,
    stops_table,
    summary,
    told,
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
EQUAL = "from scratch, equal proportions"
SETS = ("cora", "medl", "nips")  # BLOG has no authors
BY = ["set", "topics"]


def grid(quick: bool) -> list[Cell]:
    long = {"topics": LONG_TOPICS, "sweeps": SWEEPS_OF_OTHERS, "stop": NEVER}
    return [*planned(quick, SETS, method=METHODS), *planned(quick, SETS, **long, method=METHODS)]


def report(frames: dict[str, pd.DataFrame], quick: bool) -> Report:
    results, cells = frames["atm"], grid(quick)
    early, early_cells = chosen(results, stop=RULE), chosen_cells(cells, stop=RULE)
    forms = [OWN, *PROTOCOLS]
    asked = [
        (f"{ours} against GS; {form}", form, ours, "GS")
        for ours in ("s-BP", "BP")
        for form in forms
    ]
    asked += [
        (f"{of} against {to}; {EQUAL}", EQUAL, of, to)
        for of, to in (("s-BP", "s-BP, factored"), ("BP, learned proportions", "BP"))
    ]
    tables = {
        "atm": as_markdown(
            summary(early, early_cells, ["set", "topics", "method"], dict.fromkeys(forms, 1))
        ),
        "atm, in short": gap_rows(early, SETS, asked),
        "atm, stopping": stops_table(results, cells, EQUAL, max(c["topics"] for c in cells)),
    }
    return Report(tables, claims(early), lambda: figure(early))


def claims(results: pd.DataFrame) -> list[Claim]:
    gaps = {
        form: by_set(change(results, BY, "method", form, "s-BP", "GS")) for form in (EQUAL, OWN)
    }
    common, own = (gaps[form].mean() for form in (EQUAL, OWN))
    less, folds = lower(results, BY, "method", EQUAL, "s-BP", "GS")
    holds = size_holds(-common, 12)
    if holds not in (YES, MISSING) and size_holds(-own, 12) == YES:
        holds = "only with GS's own fold-in"
    return [
        Claim(
            "BP's author-topic model is on average 12 % below that of GS",
            holds,
            f"{per_cent_text(own)} with its own fold-in, {per_cent_text(common)} with one for both",
            f"s-BP is {-own:.1f} % below GS on average if GS predicts from one sample, as in the"
            f" paper, and {-common:.1f} % with one fold-in for both ({told(gaps[EQUAL])}), lower in"
            f" {less} of {folds} folds.",
        )
    ]


def measure(
    data: Path, set: str, method: str, topics: int, sweeps: int, stop: str, fold: int
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
        run, n_sweeps = factored.train(train, topics, sweeps, fold, rule=stop == RULE)
        topic_word = run.topic_word
        training = run.perplexity()
        names = run.author_names
        counts = run.author_counts
    else:
        model = AuthorTopicModel(
            topics, **METHODS[method], **FIXED, **stopping(sweeps, stop), random_state=fold
        ).fit(train)
        n_sweeps, training = model.n_iter_, model.history_[-1]["perplexity"]
        topic_word, names, counts = model.topic_word_, model.author_names_, model.author_counts_
    scores = {name: score("bp", *form) for name, form in PROTOCOLS.items()}
    # GS: one sample, as in the paper.
    scores[OWN] = (
        score("gibbs", "uniform", False)
        if method == "GS"
        else scores["from scratch, equal proportions"]
    )
    return [{"n_sweeps": n_sweeps, "training": training, **scores}]


PARTS = (Part("atm", measure, grid),)


def figure(results: pd.DataFrame):
    lines = [
        ("BP", EQUAL, "BP", "-", "C0"),
        ("s-BP", EQUAL, "s-BP", "--", "C0"),
        ("GS", EQUAL, "GS, BP's fold-in", "-", "C1"),
        ("GS", OWN, "GS, own fold-in", ":", "C1"),
    ]
    return draw_means(results, "predictive perplexity", lines)
