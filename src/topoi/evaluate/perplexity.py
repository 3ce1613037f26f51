"""Held-out perplexity: document completion (the paper's protocol) and left-to-right likelihood, for
our models and for any others.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from topoi.corpus import Corpus
from topoi.corpus.checks import check_counts, is_whole
from topoi.corpus.corpus import counts_for, unwrapped
from topoi.corpus.splits import split_tokens
from topoi.infer import likelihood
from topoi.infer.likelihood import document_log_likelihood
from topoi.infer.predict import MAX_SWEEPS, fold_in
from topoi.infer.priors import checked_prior
from topoi.infer.rules import make_rule
from topoi.infer.threads import ThreadPool

__all__ = [
    "Completion",
    "completion",
    "completion_perplexity",
    "left_to_right",
    "split_tokens",
    "topics_of",
]

FOREIGN_PRIOR = 0.01  # prior of topic proportions under topics that come without one
SMOOTHING = (
    1e-12  # share of a uniform word distribution mixed into foreign topics, which may hold zeros
)


@dataclass(frozen=True)
class Completion:
    """Result of a document completion. The interval is 95 %, over test documents."""

    perplexity: float
    low: float
    high: float
    n_tokens: int
    n_docs: int


def completion(
    model: Any,
    X: Any,
    *,
    held_out: float = 0.1,
    random_state: int = 0,
    doc_topic_prior: Any = None,
    fold_in_rule: str | None = None,
    fold_in_samples: int = 1,
    n_jobs: int | None = None,
    **metadata: Any,
) -> Completion:
    """Predict held-out tokens of each document from its other tokens, with topics fixed.

    model: a fitted topoi model, or topics of any other library: an array (K, W), or a model with
    `components_`; also at the end of a Pipeline. Topics from elsewhere, and any model with
    `fold_in_rule` ("bp" is the common one, "gibbs" the mean of the last `fold_in_samples` samples),
    are folded in by that rule (default "bp") with `doc_topic_prior`, a number or (K,) (default: the
    model's own, or 0.01). So all libraries can be scored in one way. `metadata` (authors, links;
    default: those of a Corpus) goes to the model's `transform`, which works with the model's own
    n_jobs.
    """
    if (
        not isinstance(fold_in_samples, numbers.Integral)
        or not 1 <= fold_in_samples <= MAX_SWEEPS // 2
    ):
        raise ValueError(
            f"fold_in_samples is {fold_in_samples!r}; expected a whole number from 1 to"
            f" {MAX_SWEEPS // 2}."
        )
    model, X = unwrapped(model, X)
    observed, held = split_tokens(counts_for(model, X), held_out, random_state)
    if not held.nnz:
        raise ValueError(
            "No document has two tokens, so none can be held out. Test on longer documents."
        )
    topic_word = topics_of(model, observed.shape[1])
    with ThreadPool(n_jobs) as pool:
        if hasattr(model, "weighting_") and fold_in_rule is None and doc_topic_prior is None:
            documents = (
                replace(X, counts=observed, vocabulary=None)
                if isinstance(X, Corpus)
                else Corpus(observed)
            )
            proportions = np.asarray(model.transform(documents, **metadata))
        else:
            alpha = _prior_of(model, doc_topic_prior, len(topic_word))
            messages = "auto" if fold_in_rule == "gibbs" else "edge"
            rule = make_rule(fold_in_rule or "bp", messages=messages)
            proportions = fold_in(
                observed,
                topic_word,
                alpha,
                rule,
                pool=pool,
                seed=random_state,
                samples=fold_in_samples,
            )
        gains = document_log_likelihood(held, proportions, topic_word, pool)
    tokens = held.sum(axis=1)
    mean = gains.sum() / tokens.sum()
    spread = (
        np.sqrt(np.sum((gains - mean * tokens) ** 2)) / tokens.sum()
    )  # of a ratio of sums over documents
    return Completion(
        float(np.exp(-mean)),
        float(np.exp(-mean - 1.96 * spread)),
        float(np.exp(-mean + 1.96 * spread)),
        int(tokens.sum()),
        int((tokens > 0).sum()),
    )


def completion_perplexity(model: Any, X: Any, **options: Any) -> float:
    """The perplexity of `completion`, with the same options."""
    return completion(model, X, **options).perplexity


def left_to_right(
    model: Any,
    X: Any,
    *,
    n_particles: int = 20,
    random_state: int = 0,
    doc_topic_prior: Any = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """(D,) log-likelihood of whole documents: unbiased in the likelihood, and slow: quadratic in
    the length of a document.

    model: a fitted model, or topics (K, W) with `doc_topic_prior` (default 0.01). Tokens come in a
    random order keyed by `random_state`.
    """
    if not isinstance(n_particles, numbers.Integral) or n_particles < 1:
        raise ValueError(f"n_particles is {n_particles!r}; expected a whole number of at least 1.")
    model, X = unwrapped(model, X)
    counts = check_counts(counts_for(model, X))
    repeats = counts.data.astype(np.int64)
    if not is_whole(counts):
        raise ValueError(
            "Left-to-right likelihood needs whole-number counts; give raw counts, not weights."
        )
    topic_word = topics_of(model, counts.shape[1])
    alpha = _prior_of(model, doc_topic_prior, len(topic_word))
    word_topic = np.ascontiguousarray(topic_word.T)
    rng = np.random.default_rng(random_state)
    rows = [
        np.repeat(counts.indices[a:b], repeats[a:b])
        for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    ]
    tokens = [rng.permutation(row).astype(np.int32) for row in rows]
    out = np.zeros(counts.shape[0])

    def share(worker: int, size: int) -> None:
        for d in range(worker, len(tokens), size):
            out[d] = likelihood.left_to_right(
                tokens[d], word_topic, alpha, n_particles, random_state, d
            )

    with ThreadPool(n_jobs) as pool:
        pool.each(share)
    return out


def _prior_of(model: Any, given: Any, n_topics: int) -> np.ndarray:
    """(K,) the prior that was given, or else the model's own, or else that for topics from
    elsewhere.
    """
    own = getattr(model, "doc_topic_prior_", None)
    if (
        given is None and own is not None
    ):  # learned from light weights, it may be smaller than a given one
        return np.broadcast_to(np.asarray(own, dtype=np.float64), (n_topics,)).copy()
    return checked_prior("doc_topic_prior", FOREIGN_PRIOR if given is None else given, n_topics)


def topics_of(model: Any, n_words: int | None = None) -> np.ndarray:
    """(K, W) topic-word proportions of a fitted model or an array; rows sum to 1, no zeros.

    n_words: the W that the documents have.
    """
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    given = getattr(model, "topic_word_", None)
    topics = np.asarray(
        getattr(model, "components_", model) if given is None else given, dtype=np.float64
    )
    if (
        topics.ndim != 2
        or not np.isfinite(topics).all()
        or (topics < 0).any()
        or not (topics.sum(axis=1) > 0).all()
    ):
        raise ValueError(
            "Topics must be a fitted model or an array (K, W) of nonnegative numbers with something"
            " in every row."
        )
    if n_words is not None and topics.shape[1] != n_words:
        raise ValueError(
            f"Topics have {topics.shape[1]} words but the documents have {n_words}; give topics x"
            " words (not transposed) over the same vocabulary."
        )
    proportions = topics / topics.sum(axis=1, keepdims=True)
    return (1 - SMOOTHING) * proportions + SMOOTHING / topics.shape[1]
