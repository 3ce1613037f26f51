"""Held-out perplexity: document completion (eq. 31, the paper's protocol) and left-to-right
likelihood, for our models and for any others.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from topoi.choices import RuleName
from topoi.corpus import Corpus
from topoi.corpus.checks import check_counts, is_whole
from topoi.corpus.splits import split_tokens
from topoi.evaluate.inputs import counts_for, in_order_of, topics_of, unwrapped
from topoi.infer import likelihood
from topoi.infer.likelihood import document_log_likelihood
from topoi.infer.predict import MAX_SWEEPS, fold_in
from topoi.infer.priors import checked_prior
from topoi.infer.rules import make_prediction_rule, make_rule
from topoi.infer.threads import ThreadPool

if TYPE_CHECKING:
    from topoi.evaluate.inputs import ModelLike
    from topoi.io.given import DocumentsLike

__all__ = [
    "Completion",
    "completion",
    "completion_perplexity",
    "left_to_right",
    "split_tokens",
]

FOREIGN_PRIOR = 0.01  # prior of topic proportions under topics that come without one


@dataclass(frozen=True)
class Completion:
    """Result of a document completion.

    Attributes
    ----------
    perplexity : float
        Predictive perplexity of the held-out tokens.
    low, high : float
        Its 95 % interval, over test documents.
    n_tokens : int
        Number of held-out tokens.
    n_docs : int
        Number of documents that have some.

    Examples
    --------
    >>> from topoi.evaluate import Completion
    >>> Completion(perplexity=105.0, low=101.5, high=108.6, n_tokens=1200, n_docs=90).perplexity
    105.0
    """

    perplexity: float
    low: float
    high: float
    n_tokens: int
    n_docs: int


def completion(
    model: ModelLike,
    X: DocumentsLike,
    *,
    held_out: float = 0.1,
    random_state: int = 0,
    doc_topic_prior: float | Sequence[float] | np.ndarray | None = None,
    fold_in_rule: RuleName | None = None,
    fold_in_samples: int = 1,
    n_jobs: int | None = None,
    vocabulary: Sequence[str] | None = None,
    **metadata: Any,
) -> Completion:
    """Predict held-out tokens of each document from its other tokens, with topics fixed.

    Parameters
    ----------
    model : fitted model, Pipeline or ndarray of shape (n_topics, n_words)
        A topoi model, or topics of any other library: an array, or a model with `components_`.
    X : Corpus, texts or array-like of shape (n_documents, n_words)
        Test documents, as counts or as what the Pipeline takes.
    held_out : float, default=0.1
        Proportion of tokens to hold out.
    random_state : int, default=0
        Seed of the split.
    doc_topic_prior : float or array-like of shape (n_topics,), default=None
        Prior of topics in the fold-in. None is the model's own, or 0.01.
    fold_in_rule : {"bp", "sibp", "cvb0", "vb", "gibbs"}, default=None
        Rule that infers topic proportions, for any model. So all libraries can be scored in one
        way. None leaves it to the model's `transform`, or is "bp" for topics from elsewhere.
    fold_in_samples : int, default=1
        Number of last samples whose mean "gibbs" takes.
    n_jobs : int, default=None
        Number of threads; `transform` uses the model's own.
    vocabulary : sequence of str, default=None
        The word of each column of topics that do not know their words, so that they are matched
        with documents that do; the same tokens are held out whatever the order. Without it
        columns are taken as they are, with a warning.
    **metadata
        Passed to the model's `transform`: authors or links. Default: those of a Corpus.

    Returns
    -------
    Completion

    Examples
    --------
    >>> from topoi import datasets
    >>> from topoi.evaluate import completion
    >>> corpus, truth = datasets.make_lda(random_state=0)
    >>> result = completion(truth.topic_word, corpus, vocabulary=corpus.vocabulary)
    >>> result.n_docs
    200
    >>> result.low < result.perplexity < result.high < 100
    True
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
    model, vocabulary = in_order_of(X, model, vocabulary)
    observed, held = split_tokens(
        counts_for(model, X, vocabulary, scored=True), held_out, random_state
    )
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
            rule = (
                make_rule("gibbs")
                if fold_in_rule == "gibbs"
                else make_prediction_rule(fold_in_rule or "bp")
            )
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
    # Of a ratio of sums over documents.
    spread = np.sqrt(np.sum((gains - mean * tokens) ** 2)) / tokens.sum()
    return Completion(
        float(np.exp(-mean)),
        float(np.exp(-mean - 1.96 * spread)),
        float(np.exp(-mean + 1.96 * spread)),
        int(tokens.sum()),
        int((tokens > 0).sum()),
    )


def completion_perplexity(model: ModelLike, X: DocumentsLike, **options: Any) -> float:
    """The perplexity of `completion`, as a number.

    Parameters
    ----------
    model : fitted model, Pipeline or ndarray of shape (n_topics, n_words)
        A topoi model, or topics of any other library: an array, or a model with `components_`.
    X : Corpus, texts or array-like of shape (n_documents, n_words)
        Test documents, as counts or as what the Pipeline takes.
    **options
        Those of `completion`.

    Returns
    -------
    float

    Examples
    --------
    >>> from topoi import datasets
    >>> from topoi.evaluate import completion_perplexity
    >>> corpus, truth = datasets.make_lda(random_state=0)
    >>> bool(completion_perplexity(truth.topic_word, corpus.counts) < 100)
    True
    """
    return completion(model, X, **options).perplexity


def left_to_right(
    model: ModelLike,
    X: DocumentsLike,
    *,
    n_particles: int = 20,
    random_state: int = 0,
    doc_topic_prior: float | Sequence[float] | np.ndarray | None = None,
    n_jobs: int | None = None,
    vocabulary: Sequence[str] | None = None,
) -> np.ndarray:
    """Log-likelihood of whole documents by the left-to-right algorithm.

    Its likelihood is unbiased. It is slow: quadratic in the length of a document.

    Parameters
    ----------
    model : fitted model, Pipeline or ndarray of shape (n_topics, n_words)
        A topoi model, or topics of any other library: an array, or a model with `components_`.
    X : Corpus, texts or array-like of shape (n_documents, n_words)
        Documents with whole-number counts.
    n_particles : int, default=20
        Number of samples.
    random_state : int, default=0
        Seed of samples and of the order of tokens.
    doc_topic_prior : float or array-like of shape (n_topics,), default=None
        Prior of topics. None is the model's own, or 0.01.
    n_jobs : int, default=None
        Number of threads.
    vocabulary : sequence of str, default=None
        The word of each column of topics that do not know their words, as in `completion`.

    Returns
    -------
    ndarray of shape (n_documents,)

    Examples
    --------
    >>> from topoi.evaluate import left_to_right
    >>> topics = [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]]
    >>> sure, unsure = left_to_right(topics, [[1, 1, 0, 0], [1, 0, 1, 0]])
    >>> bool(sure > unsure)
    True
    """
    if not isinstance(n_particles, numbers.Integral) or n_particles < 1:
        raise ValueError(f"n_particles is {n_particles!r}; expected a whole number of at least 1.")
    model, X = unwrapped(model, X)
    counts = check_counts(counts_for(model, X, vocabulary, scored=True))
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

    def score(worker: int, size: int) -> None:
        for d in range(worker, len(tokens), size):
            out[d] = likelihood.left_to_right(
                tokens[d], word_topic, alpha, n_particles, random_state, d
            )

    with ThreadPool(n_jobs) as pool:
        pool.each(score)
    return out


def _prior_of(model: ModelLike, given: object, n_topics: int) -> np.ndarray:
    """(K,) the prior that was given, or else the model's own, or else that for topics from
    elsewhere.
    """
    own = getattr(model, "doc_topic_prior_", None)
    if (
        given is None and own is not None
    ):  # learned from light weights, it may be smaller than a given one
        return np.broadcast_to(np.asarray(own, dtype=np.float64), (n_topics,)).copy()
    return checked_prior("doc_topic_prior", FOREIGN_PRIOR if given is None else given, n_topics)
