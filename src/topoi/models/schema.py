"""What a model file holds: the schema of each model, and what its entries must be together.

Sizes: K topics, W words, D training documents, A authors, C classes, H sweeps of the history, L
links, N named topics, V words, S stop words and F phrases of the vectoriser, U words with a prior
of their own, M topics with T seed words, X topics of edits. Entries of training documents are in
document_entries.py.
"""

from __future__ import annotations

from dataclasses import fields, replace
from inspect import signature

import numpy as np
from scipy import sparse

from topoi.choices import FIRST_MESSAGES, RULES, SCHEDULES, WEIGHTINGS
from topoi.graph.seeds import MOST_TOKENS
from topoi.infer.history import HISTORY
from topoi.infer.priors import LEAST_PRIOR, MOST_PRIOR
from topoi.io.patterns import is_safe_pattern
from topoi.io.rows import TOKEN_END
from topoi.io.vectorize import LONGEST_NGRAM, SETTINGS, TOKEN
from topoi.models.batch_entries import BATCHES, kept_documents
from topoi.models.document_entries import DOCUMENTS, NAMES, documents_of
from topoi.rules import BY_NAME, LEAST_RELAXATION, MOST_RELAXATION
from topoi.storage.archive import Refused
from topoi.storage.schema import (
    BELOW_ONE,
    LARGEST,
    SMALLEST,
    Array,
    Contents,
    Schema,
    Value,
    checked_csr,
    choice,
    demand,
    flag,
    number,
    real,
    whole,
)

__all__ = ["DERIVED", "NOT_KEPT", "RULE", "check_together", "linked", "schema_of", "word_prior"]

PRIOR = number(LEAST_PRIOR, MOST_PRIOR, choices=("learn",), optional=True)
# code, use of the machine, a path, the data of a combination
NOT_KEPT = ("callbacks", "n_jobs", "verbose", "_finished_run", "factors", "factors_")

PARAMETERS: dict[str, Value] = {  # of all models; each has some of them
    "n_components": whole(1),
    "rule": choice(*RULES, optional=True),
    "schedule": choice(*SCHEDULES),
    "doc_topic_prior": PRIOR,
    "topic_word_prior": PRIOR,
    "weighting": choice(*WEIGHTINGS),
    "init": choice(*FIRST_MESSAGES),
    "max_iter": whole(1),
    "tol": number(0, LARGEST, choices=("paper", "parameters")),
    "evaluate_every": whole(-1),
    "batch_size": whole(1, optional=True),
    "learning_decay": number(0, 1),
    "learning_offset": number(1, 1e12),
    "total_samples": number(1, 1e12),
    "random_state": Value("whole", optional=True),
    "learning_method": choice("batch", "online"),
    "perp_tol": number(0, LARGEST),
    "mean_change_tol": number(-LARGEST, LARGEST),
    "max_doc_update_iter": number(-LARGEST, LARGEST),
    "author_prior": choice("uniform", "learned"),
    "keep_counts": flag(),
    "link_weight": number(0, BELOW_ONE, choices=("learn",)),
    "link_factor": choice("learned", "paper", "identity"),
    "directed": flag(),
    "background_topics": whole(0),
    "threshold": number(SMALLEST, 1),
}
RULE: dict[str, Value] = {  # of a rule that was given as an object of topoi.rules
    "rule.kind": choice(*RULES),
    "rule.messages": choice("edge", "token", "none", "solved", optional=True),
    "rule.relaxation": number(LEAST_RELAXATION, MOST_RELAXATION, optional=True),
    "rule.inner": whole(1, optional=True),
    "rule.textbook": flag(optional=True),
}
ALL: dict[str, Array | Value] = {  # what every model has beside its parameters
    "components_": Array("f4 f8", ("K", "W"), SMALLEST, LARGEST),
    "doc_topic_prior_": Array("f8", ("K",), SMALLEST, MOST_PRIOR),
    "topic_word_prior_": real(SMALLEST, MOST_PRIOR),
    "doc_topic_prior.numbers": Array("f8", ("K",), LEAST_PRIOR, MOST_PRIOR),
    "topic_word_prior.numbers": Array("f8", ("K", "W"), LEAST_PRIOR, MOST_PRIOR),
    "topic_word_prior_.indptr": Array("i4 i8", ("K+1",), 0),  # where it is more than the number
    "topic_word_prior_.indices": Array("i4 i8", ("U",), 0),
    "topic_word_prior_.values": Array("f8", ("U",), SMALLEST, MOST_PRIOR),
    "n_iter_": whole(1),
    "doc_topic_": Array("f4 f8", ("D", "K"), 0, 1.001, to_one="rows", optional=True),
    "_n_docs": whole(0, optional=True),
    "converged_": flag(optional=True),
    **{f"history_.{name}": kind for name, kind in HISTORY.items()},
    "vocabulary_": Array("U", ("W",), optional=True),
    "feature_names_in_": Array("U", ("W",), optional=True),
    "stability_": Array("f8", ("K",), 0, 1.001, optional=True),  # of an ensemble
    "_lineage.step": Array("i8", ("X",), 1),
    "_lineage.action": Array("U", ("X",)),
    "_lineage.old": Array("i8", ("X",), 0),
    "_lineage.name": Array("U", ("X",)),
    "_lineage.new": Array("i8", ("X",), -1),
    "_topic_names.topics": Array("i8", ("N",), 0, different=True),
    "_topic_names.names": Array("U", ("N",), different=True),
    "weighting_.kind": choice(*WEIGHTINGS),
    "weighting_.scale": real(SMALLEST, 1e10),
    "weighting_.idf": Array("f8", ("W",), 0, 60, optional=True),
    **{f"vectorizer_.{name}": kind for name, kind in SETTINGS.items()},
    "vectorizer_.shortest": whole(1, LONGEST_NGRAM),
    "vectorizer_.longest": whole(1, LONGEST_NGRAM),
    "vectorizer_.stop_words": choice("english", optional=True),
    "vectorizer_.stop_list": Array("U", ("S",), optional=True),
    "vectorizer_.vocabulary": Array("U", ("V",), different=True),
    "vectorizer_.phrases": Array("U", ("F",), different=True, optional=True),
    "_sklearn_output_config.transform": choice("default", "pandas", "polars"),
    **DOCUMENTS,
}
SEEDS: dict[str, Array | Value] = {  # seed words, topic after topic
    "seeds.names": Array("U", ("M",), different=True),
    "seeds.n_words": Array("i8", ("M",), 1),
    "seeds.words": Array("U", ("T",)),
    "seeds.tokens": Array("f8", ("T",), 0, MOST_TOKENS),  # 0 is the usual strength
}
OWN: dict[str, dict[str, Array | Value]] = {
    "LDA": BATCHES,
    "LatentDirichletAllocation": {**BATCHES, "bound_": real(0, LARGEST, optional=True)},
    "AuthorTopicModel": {
        "author_names_": Array(NAMES, ("A",), different=True),
        "author_topic_": Array("f8", ("A", "K"), 0, 1.001, to_one="rows"),
        "author_counts_": Array("f8", ("A", "K"), 0, LARGEST),
        "author_blend_": Array("f8", (3,), -LARGEST, LARGEST, optional=True),
    },
    "RelationalTopicModel": {
        "link_weight_": real(0, BELOW_ONE),
        "link_topic_": Array("f8", ("K", "K"), 0, 1.001, to_one="rows"),
        "link_joint_": Array("f8", ("K", "K"), SMALLEST, 1.001, to_one="all"),
        "own_topic_": Array("f4 f8", ("D", "K"), 0, 1.001, to_one="rows"),
        "link_blend_": Array("f8", (6,), -LARGEST, LARGEST, optional=True),
        "links_.indptr": Array("i4 i8", ("D+1",), 0),
        "links_.indices": Array("i4 i8", ("L",), 0),
    },
    "LabeledLDA": {
        "classes_": Array(NAMES, ("C",), different=True),
        "_seen": Array("b1", ("C",)),
        "_as_matrix": flag(),
        "_single": flag(),
    },
}
PARTS = ("AuthorTopicModel", "RelationalTopicModel", "LabeledLDA")  # of a combination
OWN["TopicModel"] = {
    "owner_topic_": Array("f4 f8", ("O", "K"), 0, 1.001, to_one="rows"),
    **{name: replace(entry, optional=True) for part in PARTS for name, entry in OWN[part].items()},
}
MAY_LACK = frozenset(
    {
        "history_",
        "vectorizer_",
        "_online",
        "_sklearn_output_config",
        "doc_topic_prior",
        "topic_word_prior",
        "topic_word_prior_",
        "rule",
        "seeds",
        "documents_",
        "_lineage",
    }
)
OF_TRAINING = ("doc_topic_", "_n_docs", "converged_", "bound_")  # gone after partial_fit
OF_DOCUMENTS = {"doc_topic_", "documents_", "bound_"}  # stay elsewhere with keep_documents=False
DERIVED = ("n_features_in_", "_dtype")  # from components_


def schema_of(kind: type) -> Schema:
    """The schema of a model's class."""
    taken = signature(kind).parameters
    parameters = {name: entry for name, entry in PARAMETERS.items() if name in taken}
    rule = RULE if "rule" in parameters else {}
    seeds = SEEDS if "seeds" in taken else {}
    return Schema({**parameters, **rule, **seeds, **ALL, **OWN[kind.__name__]}, MAY_LACK)


def check_together(kind: type, found: Contents) -> None:
    """Checks of several entries: that they fit each other."""
    K, W = found["components_"].shape
    n_topics = (
        max(K, len(found["classes_"]))  # a combination: labels, and any number of others
        if "owner_topic_" in found and "classes_" in found
        else found["n_components"]
        if "n_components" in found
        else len(found["classes_"]) + found["background_topics"]
    )
    demand(
        n_topics == K and W > 0,
        f"it has {K} topics of {W} words, and its parameters say {n_topics} topics",
    )
    if "owner_topic_" in found:
        for part in PARTS:
            known = [found.get(n) is not None for n in OWN[part] if not n.endswith("_blend_")]
            demand(all(known) or not any(known), f"it has some of what a {part} has, and not all")
    if "rule" in found:
        _check_rule(found)
    held = found["components_"] >= 0.999 * word_prior(found)
    demand(bool(held.all()), "components_ holds less than its prior")
    if "seeds.names" in found:
        whole = found["seeds.n_words"].sum() == len(found["seeds.words"])
        demand(whole, "seeds has words of no topic")
    demand(
        (found["weighting_.kind"] == "tfidf") == ("weighting_.idf" in found),
        "weighting_.idf belongs to tfidf alone",
    )
    demand(
        found["weighting_.kind"] != "count" or found["weighting_.scale"] == 1,
        "weighting_.scale of counts is not 1",
    )
    whole_fit = {name for name in OF_TRAINING if name in schema_of(kind).entries}
    there = {name for name in whole_fit if found.get(name) is not None} | (
        {"history_", "documents_"} & {name.partition(".")[0] for name in found}
    )
    whole_fit |= {"history_", "documents_"}
    demand(
        there in (set(), whole_fit, whole_fit - OF_DOCUMENTS),
        "some of what a fit leaves is there, and some is missing",
    )
    batches = found.get("_online.batches")
    if there:
        sweeps = found["history_.sweep"]
        ascending = len(sweeps) > 0 and bool((np.diff(sweeps) > 0).all())
        demand(
            ascending and sweeps[-1] == found["n_iter_"],
            "n_iter_ is not the last sweep of history_",
        )
        if "doc_topic_" in found:
            documents_of(found)
            most = len(found["doc_topic_"])
            demand(found["_n_docs"] <= most, "_n_docs is more than the documents")
    else:
        demand(
            batches is not None and batches >= found["n_iter_"],
            "it has neither documents nor batches",
        )
    if "vectorizer_.token_pattern" in found:
        _check_vectorizer(found)
    if "classes_" in found:
        demand(
            len(found["classes_"]) > 0 and bool(found["_seen"].any()),
            "it has no label that was seen",
        )
        labels = found.get("documents_.label_names", ())
        demand(
            not found["_single"]
            or "documents_" not in there
            or len(labels) == len(found["classes_"]),
            "documents_ has other labels than classes_",
        )
    if len(found.get("author_names_", ())):
        authors = found.get("documents_.author_names", ())
        demand(
            "documents_" not in there or len(authors) == len(found["author_names_"]),
            "documents_ has other authors than author_names_",
        )
    if "author_blend_" in found:
        demand("documents_.count_values" in found, "author_blend_ is there without counts of words")
    if "link_blend_" in found:
        demand("documents_.count_values" in found, "link_blend_ is there without counts of words")
    if "links_.indices" in found:
        linked(found)
    kept_documents(found)


def _check_rule(found: Contents) -> None:
    """A rule has a name, or a kind and the options of that kind."""
    kind = found.get("rule.kind")
    demand((kind is None) != (found["rule"] is None), "it has no rule, or two")
    if kind is not None:
        known = {f"rule.{field.name}" for field in fields(BY_NAME[kind])}  # type: ignore[arg-type]
        odd = next(
            (n for n in RULE if n != "rule.kind" and n not in known and found[n] is not None), ""
        )
        demand(not odd, f"{odd} is not an option of the rule {kind!r}")


def _check_vectorizer(found: Contents) -> None:
    pattern = found["vectorizer_.token_pattern"]
    if not is_safe_pattern(pattern):
        raise Refused(
            f"cuts texts into words by the pattern {pattern[:60]!r}, and topoi only keeps patterns"
            " in a model file that are sure to end soon on every text (topoi.io.patterns). Use a"
            f" plainer one, such as {TOKEN!r}, or set vectorizer_ to None before saving."
        )
    demand(
        found["vectorizer_.shortest"] <= found["vectorizer_.longest"],
        "vectorizer_ has n-grams of no length",
    )
    twice = found["vectorizer_.stop_words"] is not None and "vectorizer_.stop_list" in found
    demand(not twice, "vectorizer_ has two lists of stop words")
    demand(len(found["vectorizer_.vocabulary"]) > 0, "vectorizer_ has no words")
    if "vectorizer_.phrases" in found:
        longest = max((p.count(TOKEN_END) + 1 for p in found["vectorizer_.phrases"]), default=0)
        demand(longest <= LONGEST_NGRAM, f"vectorizer_ has a phrase of {longest} words")
        plain = ("word", False, None)
        others = tuple(found[f"vectorizer_.{n}"] for n in ("analyzer", "binary", "strip_accents"))
        demand(others == plain, "vectorizer_ has phrases of something else than plain words")


def word_prior(found: Contents) -> float | np.ndarray:
    """The prior of words in topics: a number, or (K, W) where topics have more for some words."""
    if "topic_word_prior_.values" not in found:
        return float(found["topic_word_prior_"])
    shape, name = found["components_"].shape, "topic_word_prior_"
    places = checked_csr(name, found[f"{name}.indptr"], found[f"{name}.indices"], shape)
    prior = np.full(shape, found[name])
    rows = np.repeat(np.arange(shape[0]), np.diff(places.indptr))
    prior[rows, places.indices] = found[f"{name}.values"]
    return prior


def linked(found: Contents) -> sparse.csr_array:
    """(D, D) the links of a relational model."""
    n_docs = len(found["doc_topic_"])
    return checked_csr("links_", found["links_.indptr"], found["links_.indices"], (n_docs, n_docs))
