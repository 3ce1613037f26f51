"""Models as the entries of a file, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from inspect import signature
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from topoi.explore.editing import LINEAGE
from topoi.graph.seeds import Seeds, SeedWords, seed_strengths
from topoi.graph.weighting import Weighting
from topoi.infer.history import columns, records
from topoi.infer.online import Online
from topoi.infer.rules import make_rule
from topoi.io.rows import TOKEN_END
from topoi.io.vectorize import vectorizer_from, vectorizer_settings
from topoi.models.batch_entries import kept_documents
from topoi.models.document_entries import document_parts, documents_of
from topoi.models.schema import DERIVED, NOT_KEPT, RULE, linked, schema_of, word_prior
from topoi.models.word_priors import least_of, parted_prior
from topoi.rules import BY_NAME, UpdateRule
from topoi.storage.schema import Contents, plain_text

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

    from topoi.protocols import FittedModel

__all__ = ["attributes", "contents"]

NUMBERS = ("step", "old", "new")  # columns of the lineage of topics that are not text


def contents(model: Any) -> Contents:
    """The entries of a fitted model's file, by name."""
    schema = schema_of(type(model)).entries
    known = {name.partition(".")[0] for name in schema} | {*NOT_KEPT, *DERIVED}
    odd = next((name for name in vars(model) if name not in known), None)
    if odd is not None:
        raise TypeError(
            f"it has an attribute {odd!r}, which a model file cannot hold; delete it, or use pickle"
        )
    found: Contents = {name: getattr(model, name, None) for name in schema if "." not in name}
    for name, take_apart in APART.items():
        value = getattr(model, name, None)
        if value is not None:
            found |= {f"{name}.{part}": content for part, content in take_apart(value).items()}
    found["random_state"] = (
        model.random_state if isinstance(model.random_state, int | np.integer) else None
    )
    if "rule" in schema:
        found |= _rule_parts(model.rule)
    if "init" in schema:
        found["init"] = model.init if isinstance(model.init, str) else "hard"
    for name in {"doc_topic_prior", "topic_word_prior"} & set(schema):
        found |= _prior(name, found[name])
    found |= _word_prior_parts(model.topic_word_prior_)
    if model.seeds is not None:
        found |= _seeds_parts(model.seeds)
    for name in {
        "vocabulary_",
        "feature_names_in_",
        "author_names_",
        "classes_",
    } & set(schema):
        found[name] = None if found[name] is None else plain_text(found[name])
    return found


def _prior(name: str, value: Any) -> Contents:
    """A prior is a word or a number, or one number for each topic."""
    if value is None or isinstance(value, str) or np.ndim(value) == 0:
        return {name: value}
    numbers = np.asarray(value, dtype=np.float64)
    return (
        {name: float(numbers.item())}
        if numbers.size == 1
        else {name: None, f"{name}.numbers": numbers}
    )


def _word_prior_parts(prior: float | np.ndarray) -> Contents:
    """The number for all, and the words of topics that have more."""
    name, least = "topic_word_prior_", least_of(prior)
    if least is prior:
        return {name: prior}
    more = sparse.csr_array(prior != least)
    parts = {
        "indptr": more.indptr,
        "indices": more.indices,
        "values": np.asarray(prior)[more.nonzero()],
    }
    return {name: least, **{f"{name}.{part}": value for part, value in parts.items()}}


def _seeds_parts(seeds: Seeds | SeedWords) -> Contents:
    strengths = seed_strengths(seeds)
    words = [(word, tokens) for of_words in strengths.values() for word, tokens in of_words.items()]
    return {
        "seeds.names": np.array(list(strengths), dtype=str),
        "seeds.n_words": np.array([len(of_words) for of_words in strengths.values()]),
        "seeds.words": np.array([word for word, _ in words], dtype=str),
        "seeds.tokens": np.nan_to_num(np.array([tokens for _, tokens in words])),
    }


def _seeds(found: Contents) -> Seeds:
    """The seeds of a file, each word with its strength."""
    words = zip(found["seeds.words"].tolist(), found["seeds.tokens"].tolist(), strict=True)
    return Seeds(
        {
            name: {word: tokens or None for word, tokens in islice(words, n_words)}
            for name, n_words in zip(
                found["seeds.names"].tolist(), found["seeds.n_words"].tolist(), strict=True
            )
        }
    )


def _rule_parts(rule: str | UpdateRule) -> Contents:
    """A rule is its name, or its kind and options."""
    if not isinstance(rule, UpdateRule):
        return {"rule": rule}
    options = {name: getattr(rule, name.removeprefix("rule."), None) for name in RULE}
    return {"rule": None, **options, "rule.kind": rule.name}


def _rule(found: Contents) -> str | UpdateRule:
    """The rule of a file, after its own checks."""
    if "rule.kind" not in found:
        name: str = found["rule"]
        return name
    kind = BY_NAME[found["rule.kind"]]
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: found[f"rule.{name}"] for name in names})


def _vectorizer_parts(vectorizer: CountVectorizer) -> Contents:
    settings = vectorizer_settings(vectorizer)
    stop = settings.pop("stop_words")
    shortest, longest = settings.pop("ngram_range")
    words = stop if isinstance(stop, list) else None
    phrases = settings.pop("phrases", None)
    return {
        **settings,
        "phrases": None if phrases is None else np.array(list(map(TOKEN_END.join, phrases)), str),
        "vocabulary": np.array(settings["vocabulary"], dtype=str),
        "shortest": shortest,
        "longest": longest,
        "stop_words": stop if words is None else None,
        "stop_list": None if words is None else np.array(words, dtype=str),
    }


def _online_parts(online: Online) -> Contents:
    same = (
        "base",
        "evidence",
        "batches",
        "documents",
        "total_docs",
        "seed",
        "learn_alpha",
        "learn_beta",
        "decay",
        "offset",
        "started",
    )
    kept = online.kept
    return {
        **{name: getattr(online, name) for name in same},
        "kept_indptr": None if kept is None else kept.indptr,
        "kept_indices": None if kept is None else kept.indices,
        "kept_values": None if kept is None else kept.data,
        "rule": online.rule.name,
        "tokens": online.rule.tokens,
        "relaxation": online.rule.relaxation,
    }


def _column(rows: list[dict[str, Any]], name: str) -> np.ndarray:
    """A column of the lineage of topics."""
    return np.array([row[name] for row in rows], dtype=None if name in NUMBERS else str)


APART: dict[str, Callable[[Any], Mapping[str, Any]]] = {  # of attributes that are several entries
    "weighting_": lambda weighting: {
        "kind": weighting.kind,
        "scale": weighting.scale,
        "idf": weighting.idf,
    },
    "vectorizer_": _vectorizer_parts,
    "history_": columns,
    "links_": lambda links: {"indptr": links.indptr, "indices": links.indices},
    "_topic_names": lambda names: {
        "topics": np.array(list(names), dtype=np.int64),
        "names": np.array(list(names.values()), dtype=str),
    },
    "_lineage": lambda rows: {name: _column(rows, name) for name in LINEAGE} if rows else {},
    "_online": _online_parts,
    "documents_": document_parts,
    "_sklearn_output_config": dict,
}


def attributes(model: Any, found: Contents) -> Any:
    """Give a new model its parameters and fitted attributes, after its own checks of them."""
    schema = schema_of(type(model)).entries
    for name in schema:
        if "." not in name and (
            found.get(name) is not None or name in signature(type(model)).parameters
        ):
            setattr(model, name, found[name])
    for name in {"author_blend_", "link_blend_"} & set(schema):
        setattr(model, name, found.get(name))
    if "owner_topic_" in schema:
        model.factors_ = []  # they hold data and code
    model.vocabulary_ = found.get("vocabulary_")
    model.documents_ = documents_of(found) if "documents_.tokens" in found else None
    if "rule" in schema:
        model.rule = _rule(found)
    for name in ("doc_topic_prior", "topic_word_prior"):
        if f"{name}.numbers" in found:
            setattr(model, name, found[f"{name}.numbers"])
    if "seeds.names" in found:
        model.seeds = _seeds(found)
    model.topic_word_prior_ = word_prior(found)
    model._check_parameters()
    model.n_features_in_, model._dtype = model.components_.shape[1], model.components_.dtype
    if "feature_names_in_" in found:
        model.feature_names_in_ = found["feature_names_in_"].astype(object)
    if "history_.sweep" in found:
        model.history_ = records(found)
    if "links_.indices" in found:
        model.links_ = linked(found)
    if "_sklearn_output_config.transform" in found:
        model._sklearn_output_config = {"transform": found["_sklearn_output_config.transform"]}
    model.weighting_ = Weighting(
        found["weighting_.kind"], found.get("weighting_.idf"), found["weighting_.scale"]
    )
    model.vectorizer_ = _vectorizer(found)
    if "_online.batches" in schema:
        model._online = _online(model, found)
    model._lineage = (
        [
            dict(zip(LINEAGE, row, strict=True))
            for row in zip(*(found[f"_lineage.{name}"].tolist() for name in LINEAGE), strict=True)
        ]
        if "_lineage.step" in found
        else []
    )
    model._topic_names = {}
    return model.name_topics(
        dict(
            zip(
                found["_topic_names.topics"].tolist(),
                found["_topic_names.names"].tolist(),
                strict=True,
            )
        )
    )


def _vectorizer(found: Contents) -> CountVectorizer | None:
    prefix = "vectorizer_."
    parts = {
        name.removeprefix(prefix): value for name, value in found.items() if name.startswith(prefix)
    }
    if not parts:
        return None
    stop = parts.pop("stop_list", None)
    parts["ngram_range"] = (parts.pop("shortest"), parts.pop("longest"))
    parts["vocabulary"] = parts["vocabulary"].tolist()
    if "phrases" in parts:
        parts["phrases"] = [tuple(phrase.split(TOKEN_END)) for phrase in parts["phrases"].tolist()]
    return vectorizer_from(
        {**parts, "stop_words": parts["stop_words"] if stop is None else stop.tolist()}
    )


def _online(model: FittedModel, found: Contents) -> Online | None:
    prefix = "_online."
    parts = {
        name.removeprefix(prefix): value for name, value in found.items() if name.startswith(prefix)
    }
    if not parts:
        return None
    messages, kind = "token" if parts.pop("tokens") else "edge", BY_NAME[parts.pop("rule")]
    options = {"messages": messages, "relaxation": parts.pop("relaxation")}
    rule = make_rule(kind(**options))
    beta, beyond = parted_prior(model.topic_word_prior_)
    for name in ("kept_indptr", "kept_indices", "kept_values"):
        parts.pop(name, None)
    return Online(
        n_topics=len(model.components_),
        alpha=model.doc_topic_prior_,
        beta=beta,
        word_prior=beyond,
        rule=rule,
        init=getattr(model, "init", "hard"),
        kept=kept_documents(found),
        **parts,
    )
