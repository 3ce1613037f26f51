"""Schedules that make no sense with a rule or a model: refused before anything is allocated."""

from __future__ import annotations

from topoi.choices import SCHEDULES
from topoi.graph.plan import PlanFacts
from topoi.infer.rules import Rule

__all__ = ["refuse_plan", "refuse_schedule"]


def refuse_schedule(name: str, rule: Rule) -> None:
    """Refuse a schedule that makes no sense with a rule."""
    if name not in SCHEDULES:
        raise ValueError(f"schedule is {name!r}; choose one of {', '.join(map(repr, SCHEDULES))}.")
    if rule.draws and name == "synchronous":
        raise ValueError(
            "rule='gibbs' needs counts that change with every draw, or it samples from a wrong"
            " distribution; use schedule='asynchronous'."
        )
    if rule.draws and name in ("residual", "residual-words", "active"):
        raise ValueError(
            "rule='gibbs' never converges, so there are no residuals to follow; use"
            " schedule='asynchronous'."
        )
    if rule.draws and name == "relaxed":
        raise ValueError(
            "rule='gibbs' draws whole topics, so there is nothing to over-relax; use"
            " schedule='asynchronous'."
        )
    if name == "incremental" and (rule.draws or rule.tokens or not rule.stored):
        raise ValueError(
            "schedule='incremental' infers one message per edge; use rule 'bp', 'sibp', 'vb' or"
            " topoi.rules.CVB0(messages='edge')."
        )
    if rule.digamma_owners and name not in ("synchronous", "incremental"):
        raise ValueError(
            "rule='vb' computes digamma once per document and topic, which needs"
            " schedule='synchronous'; for tables that change with every message use rule='sibp' or"
            " 'bp'."
        )
    if rule.solve and name != "synchronous":
        raise ValueError(
            "BP(messages='solved') recovers messages from tables that stay the same during a sweep,"
            " which needs schedule='synchronous'; use that, or BP(messages='none')."
        )
    if name in ("relaxed", "residual-words", "active") and not rule.stored:
        raise ValueError(
            f"schedule={name!r} needs stored messages; use rule='bp', or schedule='auto'."
        )
    if rule.relaxation is not None and name == "active":
        raise ValueError(
            "schedule='active' renews some topics of a message, which cannot be relaxed or damped;"
            " leave relaxation out, or use schedule='asynchronous'."
        )


def refuse_plan(name: str, rule: Rule, facts: PlanFacts) -> None:
    """Refuse what needs documents that own themselves and may use all topics."""
    if facts.word_prior and not rule.stored:
        raise ValueError(
            "BP(messages='none') and BP(messages='solved') know no word priors of topics (seeds, or"
            " an array as topic_word_prior); use rule='bp'."
        )
    if facts.plain and not facts.fields:
        return
    if not rule.stored:
        raise ValueError(
            "BP(messages='none') and BP(messages='solved') need documents that own themselves"
            " and may use all topics (LDA without labels, authors or links); use rule='bp'."
        )
    if name in ("residual-words", "active"):
        raise ValueError(
            f"schedule={name!r} needs documents that own themselves and may use all topics (LDA"
            " without labels, authors or links); use schedule='auto'."
        )
