"""Rules: what an edge removes of itself before it is updated, and the one transform of VB.

| rule  | removes of itself   | owner side                | reference              |
|-------|---------------------|---------------------------|------------------------|
| bp    | x mu (all of it)    | theta + alpha             | eq. 7                  |
| cvb0  | mu (one token)      | theta + alpha             | Asuncion et al. 2009   |
| sibp  | nothing             | theta + alpha             | eq. 21                 |
| vb    | nothing             | exp(digamma(theta+alpha)) | eq. 22                 |
| gibbs | its own token       | theta + alpha, then draws | eq. 23                 |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import psi

from topoi.choices import RuleName
from topoi.infer.arrays import SweepParams, Tables
from topoi.rules import BP, CVB0, VB, Gibbs, SiBP, UpdateRule, as_rule

__all__ = ["Rule", "make_prediction_rule", "make_rule"]

SOLVE = 4  # steps of BP(messages="solved"); fewer overshoot
ALL = 1e30  # more than any weight; kernels are compiled for finite numbers
FLOOR = 1e-18  # smallest exp(digamma): the product of two stays a normal single-precision number


@dataclass(frozen=True)
class Rule:
    """A rule as the engine reads it: numbers and flags instead of names."""

    name: str
    own_cap: float = ALL  # an edge removes min(x, own_cap) * mu
    tokens: bool = False  # one message per token instead of one per edge
    draws: bool = False  # samples instead of normalising
    digamma_owners: bool = False
    digamma_words: bool = False
    # tables hold expectations, which learning a prior must correct for
    expected_counts: bool = True
    stored: bool = True  # False: a message is what the tables imply, and is forgotten
    # steps in which a message that is not stored is recovered from the tables it is in
    solve: int = 0
    relaxation: float | None = None  # of stored messages; None: as the schedule says
    inner: int = 1  # passes over a document in each sweep; with more than one it is inferred afresh

    def seen(self, tables: Tables, params: SweepParams) -> tuple[Tables, SweepParams]:
        """The tables and numbers as messages see them: VB puts exp(digamma) in place of counts."""
        return self.seen_words(*self.seen_owners(tables, params))

    def seen_owners(self, tables: Tables, params: SweepParams) -> tuple[Tables, SweepParams]:
        """Counts of owners as messages see them: VB has exp(digamma) in their place (eq. 22)."""
        if self.digamma_owners:
            alpha = params.alpha.astype(np.float64)
            counts = tables.theta + alpha
            # 0 for padding topics: psi(0) = -infinity.
            theta = np.exp(psi(counts) - psi(counts.sum(axis=1, keepdims=True)))
            theta = np.where(alpha > 0, np.maximum(theta, FLOOR), 0).astype(np.float32)
            tables = tables._replace(theta=theta)
            params = params._replace(alpha=np.zeros_like(params.alpha), plain_side=True)
        return tables, params

    def seen_words(self, tables: Tables, params: SweepParams) -> tuple[Tables, SweepParams]:
        if self.digamma_words:
            phi = np.exp(psi(tables.phi + params.beta) - psi(tables.totals + params.beta_sum))
            phi = np.maximum(phi, FLOOR).astype(np.float32)
            tables = tables._replace(phi=phi, totals=np.ones_like(tables.totals))
            params = params._replace(
                beta=0.0, word_prior=np.zeros_like(params.word_prior), beta_sum=0.0
            )
        return tables, params


def make_rule(rule: RuleName | UpdateRule) -> Rule:
    """What `rule` means to the engine."""
    rule = as_rule(rule)
    if isinstance(rule, VB):
        # For alpha the plug-in fixed point has the stationary points of VB's own bound; for beta
        # only in the textbook form.
        return Rule(
            rule.name,
            own_cap=0.0,
            digamma_owners=True,
            digamma_words=bool(rule.textbook),
            expected_counts=False,
            inner=int(rule.inner),
        )
    if isinstance(rule, Gibbs):
        return Rule(rule.name, own_cap=1.0, tokens=True, draws=True, expected_counts=False)
    if not isinstance(rule, BP | SiBP | CVB0):
        raise TypeError(f"The engine does not know the rule {rule!r}; use one of topoi.rules.")
    return Rule(
        rule.name,
        own_cap={"bp": ALL, "sibp": 0.0, "cvb0": 1.0}[rule.name],
        tokens=rule.messages == "token",
        stored=rule.messages in ("edge", "token"),
        solve=SOLVE if rule.messages == "solved" else 0,
        relaxation=None if rule.relaxation is None else float(rule.relaxation),
    )


def make_prediction_rule(rule: RuleName | UpdateRule) -> Rule:
    """The rule that predicts for a model fitted by `rule`.

    Prediction is deterministic and takes any weights: one message per edge, and BP for models that
    were sampled. Options of the fit do not matter.
    """
    rule = as_rule(rule)
    if isinstance(rule, Gibbs):
        return make_rule("bp")
    if isinstance(rule, VB):
        return make_rule(VB(inner=1))  # passes are repeated until documents converge
    return make_rule(CVB0(messages="edge") if isinstance(rule, CVB0) else rule.name)
