"""Rules: what an edge removes of itself before it listens, and the one transform of VB.

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

from topoi.choices import MESSAGES, RULES
from topoi.infer.arrays import SweepParams, Tables

__all__ = ["Rule", "make_rule"]

SOLVE = 4  # steps of messages="solved"; fewer overshoot
ALL = 1e30  # more than any weight; kernels are compiled for finite numbers
FLOOR = 1e-18  # smallest exp(digamma): the product of two stays a normal single-precision number


@dataclass(frozen=True)
class Rule:
    name: str
    own_cap: float = ALL  # an edge removes min(x, own_cap) * mu
    tokens: bool = False  # one message per token instead of one per edge
    draws: bool = False  # samples instead of normalising
    digamma_owners: bool = False
    digamma_words: bool = False
    expected_counts: bool = (
        True  # tables hold expectations, which learning a prior must correct for
    )
    stored: bool = True  # False: a message is what the tables imply, and is forgotten
    solve: int = (
        0  # steps in which a message that is not stored is recovered from the tables it is in
    )
    inner: int = 1  # passes over a document in each sweep; with more than one it is inferred afresh

    def seen(self, tables: Tables, params: SweepParams) -> tuple[Tables, SweepParams]:
        """The tables and numbers as messages see them: VB puts exp(digamma) in place of counts."""
        return self.seen_words(*self.seen_owners(tables, params))

    def seen_owners(self, tables: Tables, params: SweepParams) -> tuple[Tables, SweepParams]:
        if self.digamma_owners:
            alpha = params.alpha.astype(np.float64)
            counts = tables.theta + alpha
            theta = np.exp(
                psi(counts) - psi(counts.sum(axis=1, keepdims=True))
            )  # 0 for padding topics: psi(0) = -infinity
            theta = np.where(alpha > 0, np.maximum(theta, FLOOR), 0).astype(np.float32)
            tables, params = (
                tables._replace(theta=theta),
                params._replace(alpha=np.zeros_like(params.alpha), plain_side=True),
            )
        return tables, params

    def seen_words(self, tables: Tables, params: SweepParams) -> tuple[Tables, SweepParams]:
        if self.digamma_words:
            phi = np.exp(psi(tables.phi + params.beta) - psi(tables.totals + params.beta_sum))
            phi = np.maximum(phi, FLOOR).astype(np.float32)
            tables, params = (
                tables._replace(phi=phi, totals=np.ones_like(tables.totals)),
                params._replace(
                    beta=0.0, word_prior=np.zeros_like(params.word_prior), beta_sum=0.0
                ),
            )
        return tables, params


def make_rule(
    name: str, *, messages: str = "auto", inner: int = 1, digamma_words: bool = False
) -> Rule:
    """The rule called `name`.

    messages: "edge", "token", "none" (not stored), "solved" (not stored, recovered from the tables)
    or "auto" (token for cvb0 and gibbs, as in the paper, else edge).
    """
    if name not in RULES:
        raise ValueError(f"rule is {name!r}; choose one of {', '.join(map(repr, RULES))}.")
    if messages not in MESSAGES:
        raise ValueError(
            f"messages is {messages!r}; choose one of {', '.join(map(repr, MESSAGES))}."
        )
    stored = messages not in ("none", "solved")
    if not stored and name != "bp":
        raise ValueError(
            f"messages={messages!r} is a form of BP; rule={name!r} needs its messages. Use"
            " rule='bp', or messages='auto'."
        )
    if name == "gibbs" and messages == "edge":
        raise ValueError(
            "rule='gibbs' draws a topic for every token, so messages='edge' cannot work; use 'auto'"
            " or 'token'."
        )
    tokens = messages == "token" or (messages == "auto" and name in ("cvb0", "gibbs"))
    if name == "vb":
        # For alpha the plug-in fixed point has the stationary points of VB's own bound; for beta
        # only in the textbook form.
        return Rule(
            name,
            0.0,
            tokens,
            digamma_owners=True,
            digamma_words=digamma_words,
            expected_counts=False,
            inner=inner,
        )
    if inner != 1 or digamma_words:
        raise ValueError(
            f"vb_inner and vb_textbook belong to rule='vb'; rule={name!r} has no such option."
        )
    cap = {"bp": ALL, "cvb0": 1.0, "sibp": 0.0, "gibbs": 1.0}[name]
    return Rule(
        name,
        cap,
        tokens,
        draws=name == "gibbs",
        expected_counts=name != "gibbs",
        stored=stored,
        solve=SOLVE * (messages == "solved"),
    )
