"""Update rules with their options.

A rule is how a message is updated. Every model takes one as `rule`: by its name, which stands
for the rule with its defaults, or as an object of this module where options are wanted.

| name      | class   | what is left out of the counts          | reference              |
|-----------|---------|-----------------------------------------|------------------------|
| `"bp"`    | `BP`    | all tokens of the word in the document  | eq. 7                  |
| `"sibp"`  | `SiBP`  | nothing                                 | eq. 21                 |
| `"cvb0"`  | `CVB0`  | one token                               | Asuncion et al. (2009) |
| `"vb"`    | `VB`    | nothing; exp(digamma) in place of counts| eq. 22                 |
| `"gibbs"` | `Gibbs` | the token whose topic is drawn          | eq. 23                 |

Rules are frozen dataclasses: they can be compared, cloned, tried in a grid search, and saved with
a model. When to stop is not up to the rule: see `tol` of the models.

Examples
--------
>>> from topoi import LDA, rules
>>> LDA(20, rule="vb").rule
'vb'
>>> LDA(20, rule=rules.VB(inner=20, textbook=True)).rule
VB(inner=20, textbook=True)
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, fields
from typing import ClassVar, Literal, get_args

import numpy as np

from topoi.choices import RULES, RuleName

__all__ = ["BP", "CVB0", "VB", "Gibbs", "SiBP"]

LEAST_RELAXATION, MOST_RELAXATION = 0.01, 2.0

# Which messages a rule stores, the default first.
MessagesOfBP = Literal["edge", "token", "none", "solved"]
MessagesOfSiBP = Literal["edge", "token"]
MessagesOfCVB0 = Literal["token", "edge"]


class UpdateRule:
    """What all rules share: a name, and a repr that shows only what is not the default."""

    name: ClassVar[RuleName]

    def __repr__(self) -> str:
        given = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)  # type: ignore[arg-type]
            if getattr(self, field.name) != field.default
        ]
        return f"{type(self).__name__}({', '.join(given)})"


@dataclass(frozen=True, repr=False)
class BP(UpdateRule):
    """Loopy belief propagation (eq. 7), the default rule of all models.

    Parameters
    ----------
    messages : {"edge", "token", "none", "solved"}, default="edge"
        What is stored. "edge": one message per word of a document. "token": one per token.
        "none": no message (tiny BP); memory grows with documents and words only. "solved": no
        message either, but each is recovered from the tables it is part of; sweeps are slower and
        close to those of BP. "none" and "solved" need documents that own themselves and may use
        all topics: LDA without authors, labels or links.
    relaxation : float, default=None
        How far a stored message moves towards its new value: 1 is all the way, more is
        over-relaxation (up to 2), less is damping (down to 0.01). None leaves it to the schedule.
        A given factor replaces the schedule's own: over-relaxation begins where that of the
        schedule does, or after ten sweeps; damping begins with the first sweep. Warm-up sweeps,
        which store no messages, keep their own factors. On a cluster with several shards it is the
        factor of the word table.

    Examples
    --------
    >>> from topoi import LDA, datasets, rules
    >>> corpus, _ = datasets.make_blocks(n_topics=2)
    >>> tiny = LDA(2, rule=rules.BP(messages="none")).fit(corpus)
    >>> tiny.rule
    BP(messages='none')
    >>> damped = LDA(2, rule=rules.BP(relaxation=0.5), schedule="synchronous").fit(corpus)
    >>> damped.doc_topic_.shape
    (60, 2)
    """

    name: ClassVar[RuleName] = "bp"
    messages: MessagesOfBP = "edge"
    relaxation: float | None = None

    def __post_init__(self) -> None:
        _check_messages(self, self.messages, get_args(MessagesOfBP))
        _check_relaxation(self, self.relaxation)
        if self.relaxation is not None and self.messages in ("none", "solved"):
            raise ValueError(
                f"BP: relaxation is a factor of stored messages, and messages={self.messages!r}"
                " stores none. Leave relaxation out, or use messages='edge'."
            )


@dataclass(frozen=True, repr=False)
class SiBP(UpdateRule):
    """Simplified belief propagation (eq. 21): a message is not removed from the counts it is
    computed from.

    Parameters
    ----------
    messages : {"edge", "token"}, default="edge"
        One message per word of a document, or one per token.
    relaxation : float, default=None
        How far a stored message moves towards its new value: 1 is all the way, more is
        over-relaxation (up to 2), less is damping (down to 0.01). None leaves it to the schedule.
        A given factor replaces the schedule's own: over-relaxation begins where that of the
        schedule does, or after ten sweeps; damping begins with the first sweep. Warm-up sweeps,
        which store no messages, keep their own factors. On a cluster with several shards it is the
        factor of the word table.

    Examples
    --------
    >>> from topoi import rules
    >>> rules.SiBP(messages="token")
    SiBP(messages='token')
    """

    name: ClassVar[RuleName] = "sibp"
    messages: MessagesOfSiBP = "edge"
    relaxation: float | None = None

    def __post_init__(self) -> None:
        _check_messages(self, self.messages, get_args(MessagesOfSiBP))
        _check_relaxation(self, self.relaxation)


@dataclass(frozen=True, repr=False)
class CVB0(UpdateRule):
    """Zero-order collapsed variational Bayes: one token is left out of the counts.

    Parameters
    ----------
    messages : {"token", "edge"}, default="token"
        One message per token, as in the paper; or one per word of a document, which costs no more
        than BP and takes weights that are not whole numbers.
    relaxation : float, default=None
        How far a stored message moves towards its new value: 1 is all the way, more is
        over-relaxation (up to 2), less is damping (down to 0.01). None leaves it to the schedule.
        A given factor replaces the schedule's own: over-relaxation begins where that of the
        schedule does, or after ten sweeps; damping begins with the first sweep. Warm-up sweeps,
        which store no messages, keep their own factors. On a cluster with several shards it is the
        factor of the word table.

    Examples
    --------
    >>> from topoi import rules
    >>> rules.CVB0(messages="edge")
    CVB0(messages='edge')
    """

    name: ClassVar[RuleName] = "cvb0"
    messages: MessagesOfCVB0 = "token"
    relaxation: float | None = None

    def __post_init__(self) -> None:
        _check_messages(self, self.messages, get_args(MessagesOfCVB0))
        _check_relaxation(self, self.relaxation)


@dataclass(frozen=True, repr=False)
class VB(UpdateRule):
    """Variational Bayes (eq. 22): exp(digamma) in place of counts.

    Parameters
    ----------
    inner : int, default=10
        Passes over each document in a sweep. With more than 1, each sweep infers documents afresh,
        with the topics fixed, as the paper describes it and scikit-learn does. With 1, documents
        continue from the last sweep, as in the toolbox of the paper's authors; topics are then
        worse (docs/results.md).
    textbook : bool, default=False
        Whether words get exp(digamma) too, as owners always do. With `init="soft"` this is the VB
        of textbooks.

    Examples
    --------
    >>> from topoi import LDA, datasets, rules
    >>> corpus, _ = datasets.make_blocks(n_topics=2)
    >>> model = LDA(2, rule=rules.VB(inner=20, textbook=True), init="soft", max_iter=20)
    >>> model.fit(corpus).doc_topic_.shape
    (60, 2)
    """

    name: ClassVar[RuleName] = "vb"
    inner: int = 10
    textbook: bool = False

    def __post_init__(self) -> None:
        whole = isinstance(self.inner, numbers.Integral) and not isinstance(self.inner, bool)
        if not whole or self.inner < 1:
            raise ValueError(
                f"VB: inner is {self.inner!r}; expected a whole number of passes, at least 1."
            )
        if not isinstance(self.textbook, bool | np.bool_):
            raise ValueError(f"VB: textbook is {self.textbook!r}; expected True or False.")


@dataclass(frozen=True, repr=False)
class Gibbs(UpdateRule):
    """Collapsed Gibbs sampling (eq. 23): draws a topic for every token. It has no options.

    Examples
    --------
    >>> from topoi import rules
    >>> rules.Gibbs()
    Gibbs()
    """

    name: ClassVar[RuleName] = "gibbs"


BY_NAME: dict[str, type[UpdateRule]] = {kind.name: kind for kind in (BP, SiBP, CVB0, VB, Gibbs)}


def as_rule(rule: object) -> UpdateRule:
    """A rule, from its name or from itself."""
    if isinstance(rule, UpdateRule):
        return rule
    if not isinstance(rule, str) or rule not in BY_NAME:
        raise ValueError(
            f"rule is {rule!r}; choose one of {', '.join(map(repr, RULES))}, or an object of"
            " topoi.rules such as topoi.rules.BP()."
        )
    return BY_NAME[rule]()


def _check_messages(rule: UpdateRule, messages: object, known: tuple[str, ...]) -> None:
    if messages not in known:
        raise ValueError(
            f"{type(rule).__name__}: messages is {messages!r}; choose"
            f" {' or '.join(map(repr, known))}."
            + (" Only BP works without stored messages." if messages in ("none", "solved") else "")
        )


def _check_relaxation(rule: UpdateRule, factor: float | None) -> None:
    if factor is None:
        return
    real = isinstance(factor, numbers.Real) and not isinstance(factor, bool)
    if not real or not LEAST_RELAXATION <= factor <= MOST_RELAXATION:
        raise ValueError(
            f"{type(rule).__name__}: relaxation is {factor!r}; expected a number from"
            f" {LEAST_RELAXATION} (damping) to {MOST_RELAXATION:g} (over-relaxation), or None for"
            " what the schedule does."
        )


def __dir__() -> list[str]:
    return sorted(__all__)
