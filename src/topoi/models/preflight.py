"""What a fit cannot hold: weights beyond single precision, more memory than is free, fractions
where tokens are counted. Refused or warned of before it begins.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus
from topoi.corpus.checks import is_whole
from topoi.free_memory import free_memory
from topoi.graph.plan import Plan
from topoi.graph.wiring import padded_width
from topoi.infer.rules import Rule
from topoi.rules import UpdateRule
from topoi.tuning import current

if TYPE_CHECKING:
    from topoi.corpus.given import VocabularyLike

__all__ = [
    "counted",
    "refuse_fractions",
    "refuse_large_messages",
    "refuse_light_weights",
    "refuse_too_large",
    "warn_of_heavy_weights",
    "warn_of_single_precision",
    "warn_of_unknown_words",
]

HEAVY = 1e5  # weight of an entry of X
# mean weight of the entries of X: below, products of counts and priors leave the range of single
# precision
LIGHT = 1e-16
# tokens or entries of a word or an owner: one by one, single precision counts up to 2^24
SAFE_SUM = 1e7
TYPICAL_LIST = 128  # topics on a document's lists, for a rough estimate of memory


def refuse_fractions(counts: sparse.csr_array, rule: str | UpdateRule) -> None:
    if not is_whole(counts):
        raise ValueError(
            f"rule={rule!r} works on single tokens and needs whole-number counts; X (or its"
            " weighting) has fractions. Use rule='bp', or give raw counts with weighting='count';"
            " topoi.rules.CVB0(messages='edge') takes fractions, too."
        )


def warn_of_heavy_weights(plan: Plan, rule: Rule) -> None:
    """Warn of counts that single precision cannot hold."""
    in_words, of_owners = counted(plan, rule)
    warn_of_single_precision(
        float(plan.counts.data.max(initial=0)), float(max(in_words.max(initial=0), of_owners)), rule
    )


def warn_of_single_precision(heaviest: float, most: float, rule: Rule) -> None:
    """heaviest: entry of X.

    A message leaves out its own weight; of a very large one, single precision leaves rounding error
    that outweigh the prior.

    most: what one row of a table may come to hold. Tokens, or entries where a rule takes these as a
    whole, are lost where a word, a document or an author has very many.
    """
    if min(heaviest, rule.own_cap) > HEAVY:
        warnings.warn(
            f"The largest entry of X is {heaviest:g}; above {HEAVY:g} messages lose precision."
            " Divide X by a constant.",
            stacklevel=6,
        )
    if most > SAFE_SUM:
        unit = "tokens" if rule.tokens else "entries"
        way_out = (
            "use rule='bp', which takes an entry of X as a whole"
            if rule.tokens
            else "learn in mini-batches (partial_fit)"
        )
        warnings.warn(
            f"A word, a document or an author has {most:,.0f} {unit}; above {SAFE_SUM:g} single"
            f" precision loses some where {unit} are counted one by one. Leave out words that are"
            f" so frequent, split documents that are so long, or {way_out}.",
            stacklevel=6,
        )


def counted(plan: Plan, rule: Rule) -> tuple[np.ndarray, float]:
    """Tokens, or entries of X, of each word (W,), and of the owner (a document, an author) that has
    most.
    """
    counts = plan.counts
    if rule.tokens:
        in_words, in_docs = counts.sum(axis=0), counts.sum(axis=1)
    else:
        in_words = np.bincount(counts.indices, minlength=counts.shape[1])
        in_docs = np.diff(counts.indptr)
    owned = in_docs if plan.owners is None else plan.owners.T @ in_docs
    return in_words, float(owned.max(initial=0))


def refuse_light_weights(token: float) -> None:
    """Refuse weights to learn from that single precision would lose. token: their mean."""
    if token < LIGHT:
        raise ValueError(
            f"The mean entry of X is {token:g}; single precision loses weights below"
            f" {LIGHT:g}. Multiply X by a constant."
        )


def refuse_too_large(
    plan: Plan, rule: Rule, schedule: str = "asynchronous", *, lists: bool = False
) -> None:
    """Compare weights with the range of single precision, and what messages and tables need with
    the memory that is free, before any of it is taken. lists: documents get topic lists.
    """
    if not plan.frozen_words:
        refuse_light_weights(plan.token)
    counts, width = plan.counts, padded_width(plan.n_topics)
    n_docs, n_words = counts.shape
    edges = (
        np.bincount(np.repeat(np.arange(n_docs), np.diff(counts.indptr)), counts.data, n_docs)
        if rule.tokens
        else np.diff(counts.indptr)
    )
    owners = np.ones(n_docs) if plan.owners is None else np.diff(plan.owners.indptr)
    allowed = (
        np.full(n_docs, width)
        if plan.topics is None
        else np.where(np.diff(plan.topics.indptr), np.diff(plan.topics.indptr), width)
    )
    if lists:
        allowed = np.minimum(allowed, TYPICAL_LIST)
    messages = (
        edges.sum() if rule.draws else 0 if not rule.stored else (edges * owners * allowed).sum()
    )
    messages *= 2 if schedule == "residual-words" else 1  # they are put into another order
    if schedule == "incremental" and plan.is_private:  # those of one block at a time
        messages = min(messages, current().chunk_bytes / 4)
    tables = 2 * width * (owners.sum() + n_words) + (
        6 * width * n_docs if schedule == "active" else 0
    )
    # Proportions and counts of the fitted model, and as perplexity reads them.
    results = 4 * plan.n_topics * (n_docs + n_words)
    need, free = 4.0 * (messages + tables + results), free_memory()
    if need > free:
        cures = [
            "fewer documents at a time" if plan.frozen_words else "fewer topics (n_components)"
        ]
        if plan.is_plain and not plan.fields:
            cures += ["topic lists (rule='bp', schedule='auto')"] * (schedule != "auto")
            cures += ["schedule='incremental'"] * (rule.stored and schedule != "incremental")
            cures += ["rule=topoi.rules.BP(messages='none')"] * rule.stored + [
                "blocks of documents in turn (batch_size)"
            ]
        raise MemoryError(
            f"{plan.n_topics} topics on {edges.sum():,.0f} edges need {need / 2**30:,.1f} GiB, but"
            f" {free / 2**30:,.1f} GiB are free. Use {', or '.join(cures)}."
        )


def refuse_large_messages(n_edges: int, n_topics: int) -> None:
    """Refuse messages of so many edges before they are asked for, if memory cannot hold them."""
    need, free = 4.0 * n_edges * n_topics, free_memory()
    if need > free:
        raise MemoryError(
            f"The messages of {n_edges:,} nonzeros over {n_topics} topics need"
            f" {need / 2**30:,.1f} GiB, but {free / 2**30:,.1f} GiB are free. Use fewer documents"
            " at a time, or model.label(X), which keeps the likeliest topic of each word only."
        )


def warn_of_unknown_words(corpus: Corpus, words: VocabularyLike | None) -> None:
    """Warn how much of a batch is left out, because its words are not among those of the model."""
    if corpus.vocabulary is None or words is None:
        return
    unknown = ~np.isin(corpus.vocabulary, np.asarray(words, dtype=str))
    tokens = corpus.counts[:, unknown].sum()
    if tokens:
        warnings.warn(
            f"{unknown.sum()} words of this batch ({tokens:g} tokens) are not in the model's"
            " vocabulary and are left out. A vocabulary is fixed by the first batch: begin with"
            " topoi.read(..., vocabulary=...) of all words, or fit again on all documents.",
            stacklevel=3,
        )
