"""Learning the priors from expected counts, between sweeps (algorithms 4.5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy import sparse
from scipy.special import psi

from topoi.infer import likelihood
from topoi.infer.arrays import Tables
from topoi.infer.memory import pad_topics
from topoi.infer.state import State

__all__ = [
    "PRIOR_RANGE",
    "FieldWeightLearner",
    "Learner",
    "PriorLearner",
    "alpha_evidence",
    "alpha_of",
    "beta_of",
    "checked_prior",
    "evidence_of",
]

LEAST_PRIOR, MOST_PRIOR = (
    1e-6,
    1e12,
)  # of given priors: what a message leaves of its own token, where it should leave 0, is up to 1e-7
PRIOR_RANGE = (1e-4, 10.0)
STABLE_AFTER = 50  # sweeps
LEAST_OF_FIELD, MOST_OF_FIELDS = (
    1e-3,
    0.95,
)  # of a learned weight of a field, and of all fields together


class Learner(Protocol):
    """Changes something in the state between sweeps, `after` some of them."""

    after: int

    def update(self, state: State) -> None: ...


@dataclass
class PriorLearner:
    """Minka's fixed point, corrected for expected counts: asymmetric alpha, symmetric beta.

    Counts are measured in tokens (`graph.token`).

    A plain update takes an expected count of 0.01 for a hundredth of a token that is certainly
    there, and runs away. `expected` treats it as a token that is there with probability 0.01.
    Learning starts `after` some sweeps, when topics have taken shape, and then comes every `every`
    sweeps, with `steps` steps each until topics are stable and one after that; and after each of
    the last rounds, which infer documents afresh.
    """

    alpha: bool = True
    beta: bool = True
    expected: bool = True
    after: int = 10
    every: int = 5
    steps: int = 3

    def steps_after(self, sweep: int, ends: bool) -> int:
        """How many steps are due after so many sweeps. ends: it is one of the last rounds."""
        if sweep < self.after or not (ends or sweep % self.every == 0):
            return 0
        return 1 if ends or sweep > STABLE_AFTER else self.steps

    def update(self, state: State) -> None:
        """Change state.alpha and state.beta, if it is time."""
        before, steps = prior_sums(state), self.steps_after(state.sweep, state.end is not None)
        for _ in range(steps):
            if self.alpha:
                state.alpha[: state.graph.n_topics] = learned_alpha(state, self.expected)
            if self.beta:
                state.beta = learned_beta(state, self.expected)
        after = prior_sums(state)
        state.prior_change = self.change(state.sweep, steps, before, after, state.prior_change)

    def change(
        self, sweep: int, steps: int, before: np.ndarray, after: np.ndarray, last: float
    ) -> float:
        """How far the priors moved in each of the `steps` after `sweep`, as a proportion of
        themselves and a token; `last`, if there was none.

        before, after: the sums of both, in tokens. A prior of much less than a token has no effect,
        and may fall for ever.
        """
        if sweep < self.after:
            return 1.0  # they have not been learned yet
        return float((abs(after - before) / (after + 1)).max()) / steps if steps else last


def prior_sums(state: State) -> np.ndarray:
    """(2,) the sum of alpha over topics and of beta over words, in tokens."""
    return np.array([state.alpha.sum(), state.graph.n_words * state.beta]) / state.graph.token


def learned_alpha(state: State, expected: bool) -> np.ndarray:
    """One fixed-point step for alpha (K,), over owners that hold anything."""
    elsewhere = state.elsewhere
    evidence = alpha_evidence(state, expected) if elsewhere is None else elsewhere.sums.evidence
    return alpha_of(evidence, state.graph.token)


def alpha_of(evidence: np.ndarray, token: float) -> np.ndarray:
    """(K,) alpha from numerators and denominators (2, K)."""
    return _in_range(evidence[0] / np.maximum(evidence[1], 1e-300), token)


def _in_range(prior: np.ndarray, token: float) -> np.ndarray:
    return np.clip(prior, token * PRIOR_RANGE[0], token * PRIOR_RANGE[1])


def alpha_evidence(state: State, expected: bool) -> np.ndarray:
    """(2, K) numerator and denominator of the step: sums over owners that tell how much topics vary
    between them.
    """
    graph = state.graph
    rows = graph.owner_slot[graph.owner_slot >= 0]
    allowed = state.allowed() if graph.private else None
    if allowed is not None:
        allowed = allowed[_document_of_row(state)]
    counts = state.tables.theta[np.sort(rows) if graph.private else rows]
    counts /= np.float32(graph.token)
    return evidence_of(counts, state.alpha, graph.n_topics, graph.token, expected, allowed)


def evidence_of(
    counts: np.ndarray,
    alpha: np.ndarray,
    n_topics: int,
    token: float,
    expected: bool,
    allowed: np.ndarray | None = None,
) -> np.ndarray:
    """`alpha_evidence` of owners that hold `counts` (owners, width), in tokens.

    alpha: (width,); allowed: (owners, K) 1 for the topics for which an owner counts. None: all.
    """
    K, prior = n_topics, alpha / token
    held = counts.sum(axis=1, dtype=np.float64)
    gain = np.zeros(counts.shape[1])
    likelihood.expected_digamma_gain(counts, prior, expected, gain)
    total = prior.sum()
    spent = np.full(K, (psi(held + total) - psi(total)).sum())
    if allowed is not None:
        totals = allowed @ prior[:K]
        spent = allowed.T @ (psi(held + totals) - psi(totals))
    return np.stack([alpha[:K] * gain[:K], spent])


def _document_of_row(state: State) -> np.ndarray:
    """The document of each row of theta, where owners are private."""
    document = np.empty(state.graph.n_slots, dtype=np.int64)
    document[state.graph.arrays.slots] = np.arange(state.graph.n_docs)
    return document


def learned_beta(state: State, expected: bool) -> float:
    """One fixed-point step for beta, over all words and topics."""
    graph, tables = state.graph, state.tables
    return beta_of(
        tables, state.beta, graph.token, graph.n_topics, graph.word_prior, expected=expected
    )


def beta_of(
    tables: Tables,
    beta: float,
    token: float,
    n_topics: int,
    word_prior: np.ndarray | None,
    *,
    expected: bool,
) -> float:
    """One fixed-point step from `beta`, by what words hold.

    word_prior: (W, K) beyond beta, which the tables contain.
    """
    K, (W, width) = n_topics, tables.phi.shape
    counts = tables.phi if token == 1 else tables.phi / np.float32(token)
    totals, free = tables.totals[:K] / token, np.ones(K)
    if word_prior is not None:
        # Words whose prior in a topic is higher are no evidence for beta. The others by themselves
        # have a Dirichlet prior of beta, too.
        raised = pad_topics(word_prior, width) > 0
        counts = np.where(raised, np.float32(0), counts)
        free = np.maximum(1 - raised[:, :K].mean(axis=0), 1 / W)
        totals = counts[:, :K].sum(axis=0, dtype=np.float64)
    prior = np.where(np.arange(width) < K, beta / token, 0.0)
    gain = np.zeros(width)
    likelihood.expected_digamma_gain(counts, prior, expected, gain)
    total = free * (W * beta / token)
    spent = W * (free * (psi(totals + total) - psi(total))).sum()
    return float(_in_range(beta * gain[:K].sum() / max(spent, 1e-300), token))


@dataclass
class FieldWeightLearner:
    """Weights of fields by EM on held-out tokens (algorithms 4.9).

    A held-out token of document d comes from the owners with probability 1 - xi, from the field
    with xi. On training tokens xi would go to 0, because the owners have already seen them. held:
    (D, W) held-out counts.
    """

    held: sparse.csr_array
    after: int = 0
    every: int = 5
    steps: int = 5

    def update(self, state: State) -> None:
        if state.sweep % self.every or state.end is not None:
            return
        proportions, topic_word = state.own_topic(), state.topic_word()
        doc = np.repeat(np.arange(self.held.shape[0]), np.diff(self.held.indptr))
        own = token_probabilities(self.held, proportions, topic_word)
        for number, field in enumerate(state.graph.fields):
            if field.learn:
                message = state.field_message(number, proportions)
                self._learn(state, number, message, own, doc, topic_word)

    def _learn(
        self,
        state: State,
        number: int,
        message: np.ndarray,
        own: np.ndarray,
        doc: np.ndarray,
        topic_word: np.ndarray,
    ) -> None:
        """Some steps of EM for the weight of one field.

        own: (entries,) probability of each held-out entry, which is of document `doc`, by its
        owners.
        """
        weights = [learned.weight for learned in state.learned]
        weight = weights.pop(number)
        most = max(MOST_OF_FIELDS - sum(weights), LEAST_OF_FIELD)
        receives = message.sum(axis=1)[doc] > 0
        by_field = token_probabilities(self.held, message, topic_word)[receives]
        own, x = own[receives], self.held.data[receives]
        for _ in range(self.steps):
            chance = weight * by_field / np.maximum((1 - weight) * own + weight * by_field, 1e-300)
            weight = (x * chance).sum() / max(x.sum(), 1e-300)
            weight = float(np.clip(weight, LEAST_OF_FIELD, most))
        state.learned[number] = replace(state.learned[number], weight=weight)


def token_probabilities(
    counts: sparse.csr_array, doc_topic: np.ndarray, topic_word: np.ndarray, chunk: int = 2**16
) -> np.ndarray:
    """(entries,) sum_k doc_topic[d, k] topic_word[k, w] of each entry of `counts`."""
    doc = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    out = np.empty(counts.nnz)
    for first in range(0, counts.nnz, chunk):
        part = slice(first, first + chunk)
        out[part] = np.einsum("ik,ki->i", doc_topic[doc[part]], topic_word[:, counts.indices[part]])
    return out


def checked_prior(name: str, value: object, size: int) -> np.ndarray:
    """(size,) a prior given as a number or an array, refused where single precision would
    lose it.
    """
    try:
        prior = np.broadcast_to(np.asarray(value, dtype=np.float64), (size,)).copy()
    except ValueError:
        kind = f"one number or an array of {size} numbers" if size > 1 else "one number"
        raise ValueError(
            f"{name} is {value!r}; expected {kind}, or 'learn' or None as a parameter of a model."
        ) from None
    if not ((prior >= LEAST_PRIOR) & (prior <= MOST_PRIOR)).all():
        raise ValueError(
            f"{name} is {value!r}; priors must be positive and finite, from {LEAST_PRIOR:g} to"
            f" {MOST_PRIOR:g}. For nearly none take 1e-3; beside an X that is lighter still,"
            " multiply both by a constant."
        )
    return prior
