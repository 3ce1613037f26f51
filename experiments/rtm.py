"""The relational topic model: BP against GS and against Chang and Blei's model, over the number of
topics, with the right links of CORA and with the paper's shifted ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.chang_blei import LINK_FUNCTIONS, ChangBlei
from experiments.harness import (
    FIXED,
    LONG_TOPICS,
    NEVER,
    RULE,
    SWEEPS_OF_OTHERS,
    Cell,
    Part,
    corpus,
    fold_rows,
    held_out_perplexity,
    planned,
    stopping,
)
from experiments.page import (
    Claim,
    Report,
    as_markdown,
    by_set,
    change,
    chosen,
    chosen_cells,
    draw_means,
    gap_rows,
    holds_on,
    mean_table,
    per_cent_text,
    size_holds,
    stops_table,
    told,
)
from topoi import RelationalTopicModel
from topoi.corpus.links import adjacency, symmetric
from topoi.evaluate import split_tokens
from topoi.graph.factors import Documents, Links
from topoi.infer.predict import fold_in_state, prediction_plan
from topoi.infer.rules import make_rule
from topoi.infer.state import State
from topoi.infer.threads import ThreadPool

SYNCHRONOUS = {"schedule": "synchronous"}
PAPER = {"link_weight": 0.15, "link_factor": "paper"}
METHODS: dict[str, dict[str, Any]] = {  # BP is the default schedule, s-BP the paper's
    "LDA, BP": {"link_weight": 0.0},
    "LDA, s-BP": {"link_weight": 0.0, **SYNCHRONOUS},
    "LDA, GS": {"link_weight": 0.0, "rule": "gibbs"},
    "RTM, BP, xi 0.15": PAPER,
    "RTM, s-BP, xi 0.15": {**PAPER, **SYNCHRONOUS},
    "RTM, GS, xi 0.15": {**PAPER, "rule": "gibbs"},
    "RTM, BP, xi learned": {"link_weight": "learn"},
}
RIVALS = {f"Chang-Blei, {function}": function for function in LINK_FUNCTIONS}
BP, S_BP, GS, LEARNED = (
    "RTM, BP, xi 0.15", "RTM, s-BP, xi 0.15", "RTM, GS, xi 0.15", "RTM, BP, xi learned"
)  # fmt: skip
SHIFTED = "cora, shifted"  # the links of the paper's toolbox, see shift.py
SETS = ("cora", SHIFTED, "medl", "blog")
# Theta of a test document: its own (eq. 12), or mixed with what its neighbours say.
EQ12, MIXED = "all links, eq. 12", "all links, with neighbours"
VALUES = {
    EQ12: 1,
    MIXED: 1,
    "all links, linked documents, eq. 12": 1,
    "all links, own fold-in, eq. 12": 1,
    "links among test documents, eq. 12": 1,
    "training, eq. 12": 1,
    "training, with neighbours": 1,
    "xi": 3,
}
BY = ["set", "topics"]


def grid(quick: bool) -> list[Cell]:
    methods = (*METHODS, *RIVALS)
    long = {"topics": LONG_TOPICS, "sweeps": SWEEPS_OF_OTHERS, "stop": NEVER}
    return [*planned(quick, SETS, method=methods), *planned(quick, SETS, **long, method=methods)]


def links_of(data: Path, name: str) -> sparse.csr_array:
    """Links of a set, both ways, without self-links."""
    with np.load(data / name[:4] / f"{name[:4]}.npz", allow_pickle=False) as arrays:
        pairs = arrays["links_paper" if name == SHIFTED else "links"]
    return symmetric(adjacency(pairs, corpus(data, name[:4]).n_docs))


def measure(
    data: Path, set: str, method: str, topics: int, sweeps: int, stop: str, fold: int
) -> list[dict[str, Any]]:
    """Predictive perplexity of test documents that arrive with all their links, or with links among
    themselves only (A16).
    """
    counts, links = corpus(data, set[:4]).counts, links_of(data, set)
    train, test = fold_rows(counts.shape[0], fold)
    inside, among = links[train][:, train], links[test][:, test]
    everything = sparse.csr_array(sparse.hstack([links[test][:, train], among]))
    alone = sparse.csr_array(sparse.hstack([sparse.csr_array(links[test][:, train].shape), among]))
    observed, held = split_tokens(counts[test])
    linked = np.diff(links.indptr)[test] > 0
    if method in RIVALS:
        rival = ChangBlei(topics, RIVALS[method], fold).fit(
            counts[train], inside, sweeps=sweeps, rule=stop == RULE
        )
        found = {
            EQ12: rival.transform(observed, everything),
            "links among test documents, eq. 12": rival.transform(observed, alone),
        }
        return [
            {
                "n_sweeps": rival.n_iter,
                "training, eq. 12": rival.perplexity(),
                **scores(held, found, rival.topic_word, linked),
            }
        ]
    options: dict[str, Any] = {**FIXED, **METHODS[method], **stopping(sweeps, stop)}
    model = RelationalTopicModel(topics, **options, random_state=fold).fit(
        counts[train], links=inside
    )
    states = {
        "all links": fold_in(model, observed, everything, "bp"),
        "links among test documents": fold_in(model, observed, alone, "bp"),
        "all links, own fold-in": fold_in(model, observed, everything, "own"),
    }
    found = {f"{name}, eq. 12": state.own_topic() for name, state in states.items()}
    found |= {f"{name}, with neighbours": state.doc_topic() for name, state in states.items()}
    return [
        {
            "n_sweeps": model.n_iter_,
            "training, with neighbours": model.history_[-1]["perplexity"],
            "training, eq. 12": held_out_perplexity(
                counts[train], model.own_topic_, model.topic_word_
            ),
            "xi": model.link_weight_,
            **scores(held, found, model.topic_word_, linked),
        }
    ]


def scores(
    held: sparse.csr_array, found: dict[str, np.ndarray], topic_word: np.ndarray, linked: np.ndarray
) -> dict[str, float]:
    """Perplexity of each kind of proportions, and of linked documents alone."""
    out = {name: held_out_perplexity(held, theta, topic_word) for name, theta in found.items()}
    out["all links, linked documents, eq. 12"] = held_out_perplexity(
        held, found[EQ12], topic_word, linked
    )
    return out


def fold_in(
    model: RelationalTopicModel, observed: sparse.csr_array, links: sparse.csr_array, rule: str
) -> State:
    """New documents under the topics of a model, by BP or by the model's own rule; GS from one
    sample, as in the paper. Neighbours in training send their own proportions, as in `transform`.
    """
    field = Links(
        links,
        model.link_weight_,
        model.link_factor,
        fixed_proportions=model.own_topic_.astype(np.float64),
        eta=model.link_topic_,
    )
    factors = [Documents(), field] if model.link_weight_ > 0 else [Documents()]
    with ThreadPool() as pool:
        return fold_in_state(
            prediction_plan(observed, model.topic_word_, factors),
            model.doc_topic_prior_,
            make_rule(model.rule if rule == "own" else rule),
            pool=pool,
        )


PARTS = (Part("rtm", measure, grid),)


def report(frames: dict[str, pd.DataFrame], quick: bool) -> Report:
    results, cells = frames["rtm"], grid(quick)
    early, early_cells = chosen(results, stop=RULE), chosen_cells(cells, stop=RULE)
    last = max(cell["topics"] for cell in cells)
    tables = {"rtm, in short": gap_rows(early, SETS, asked())}
    for value, digits in VALUES.items():
        tables[f"rtm, {value}"] = as_markdown(
            mean_table(early, early_cells, BY, "method", value, digits)
        )
    tables["rtm, stopping"] = stops_table(results, cells, EQ12, last)
    return Report(tables, claims(early), lambda: figure(early))


def asked() -> list[tuple[str, str, str, str]]:
    own = "all links, own fold-in, eq. 12"
    compared = [
        (S_BP, GS, EQ12),
        (S_BP, GS, own),
        (BP, GS, EQ12),
        *((BP, rival, EQ12) for rival in RIVALS),
        (GS, "LDA, GS", EQ12),
        (GS, "LDA, GS", own),
        (S_BP, "LDA, s-BP", EQ12),
        (BP, "LDA, BP", EQ12),
        (BP, "LDA, BP", MIXED),
        (LEARNED, "LDA, BP", EQ12),
        (LEARNED, "LDA, BP", MIXED),
        (LEARNED, BP, EQ12),
        (LEARNED, BP, MIXED),
        (S_BP, "LDA, s-BP", "training, eq. 12"),
        (S_BP, "LDA, s-BP", "training, with neighbours"),
    ]
    return [(f"{of} against {to}; {value}", value, of, to) for of, to, value in compared]


def claims(results: pd.DataFrame) -> list[Claim]:
    def gap(of: str, to: str, value: str = EQ12) -> pd.Series:
        return by_set(change(results, BY, "method", value, of, to))

    def right(gaps: pd.Series) -> pd.Series:
        """Without the shifted links."""
        return gaps.drop(SHIFTED, errors="ignore")

    against_gs, gs_to_lda = right(gap(S_BP, GS)), right(gap(GS, "LDA, GS"))
    bp_to_lda = gap(S_BP, "LDA, s-BP")
    rivals = {name: gap(S_BP, name) for name in RIVALS}
    training = gap(S_BP, "LDA, s-BP", "training, eq. 12")
    below = right(bp_to_lda)
    return [
        Claim(
            "BP's relational model is on average 6 % below that of GS",
            size_holds(-against_gs.mean(), 6),
            per_cent_text(against_gs.mean()),
            f"s-BP against GS of the same model, theta by eq. 12, one fold-in: {told(against_gs)};"
            " against Chang and Blei's own model, which the paper's GS learns, "
            + "; ".join(f"{name.split(', ')[1]} {told(gaps)}" for name, gaps in rivals.items())
            + ".",
        ),
        Claim(
            "GS's relational model is slightly above LDA",
            holds_on(gs_to_lda.index[gs_to_lda > 0], gs_to_lda.index),
            told(gs_to_lda),
            f"GS's relational model against GS's LDA, theta by eq. 12: {told(gs_to_lda)}.",
        ),
        Claim(
            "BP's relational model (xi = 0.15) is below LDA",
            holds_on(below.index[below < 0], below.index),
            told(bp_to_lda),
            "s-BP with xi = 0.15 against s-BP without links, theta by eq. 12:"
            f" {told(bp_to_lda)}; the shifted links carry next to no information.",
        ),
        Claim(
            "xi = 0.15 was set by training perplexity",
            holds_on(training.index[training <= 0], training.index),
            told(training),
            "With xi = 0.15 the training perplexity of s-BP, theta by eq. 12, changes by"
            f" {told(training)} against no links.",
        ),
    ]


def figure(results: pd.DataFrame):
    lines = [
        (method, EQ12, method, "--" if method.startswith("LDA") else "-", f"C{i}")
        for i, method in enumerate((*METHODS, *RIVALS))
    ]
    return draw_means(results, "predictive perplexity", lines)
