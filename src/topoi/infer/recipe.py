"""Recipe: every decision of a run, taken once, before anything is allocated.

`make_recipe` goes by facts of the corpus, the rule and the settings, never by the machine: the
same seed gives the same bits everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from topoi.choices import ScheduleName
from topoi.graph.plan import PlanFacts
from topoi.graph.wiring import padded_width
from topoi.infer import schedules
from topoi.infer.history import Callback
from topoi.infer.refusals import refuse_plan, refuse_schedule
from topoi.infer.rules import Rule
from topoi.infer.schedules import Schedule
from topoi.tuning import Tuning, current

__all__ = [
    "Prior",
    "Recipe",
    "Settings",
    "chosen_schedule",
    "enough_edges",
    "keeps_messages",
    "make_recipe",
    "named_schedule",
]

UNLIMITED = 2**31


class Prior(NamedTuple):
    """A prior of a model: its first value (None: the recipe chooses), and whether it is learned."""

    value: np.ndarray | None
    learn: bool


LEARNED = Prior(None, True)


@dataclass(frozen=True)
class Settings:
    """What a model asks of a run."""

    rule: Rule
    schedule: ScheduleName = "auto"
    doc_topic_prior: Prior = LEARNED
    topic_word_prior: Prior = LEARNED
    init: str = "hard"  # "hard", "soft", "warm": from `word_topic`, or "given": from `messages`
    word_topic: np.ndarray | None = None  # (W, K) columns sum to 1
    messages: np.ndarray | None = None  # (nonzeros of the counts, K) rows sum to 1
    max_iter: int = UNLIMITED
    seed: int = 0
    n_jobs: int | None = None
    callbacks: Sequence[Callback] = ()
    verbose: bool = False


@dataclass(frozen=True)
class Recipe:
    """How a run goes.

    overcomplete: over-relaxation factors of sweeps over `overcomplete_topics` topics of documents
    with `overcomplete_edges` edges, whose merged topics the run starts from; none if empty.
    """

    schedule: Schedule
    overcomplete: tuple[float, ...]
    overcomplete_topics: int
    overcomplete_edges: int
    guided: bool  # the run starts from documents with words that topics have a prior of
    alpha: np.ndarray  # (K,) first prior of topics
    beta: float  # of words


def make_recipe(facts: PlanFacts, settings: Settings, tuning: Tuning | None = None) -> Recipe:
    """Decide how a run goes, and refuse what makes no sense.

    Parameters
    ----------
    facts : PlanFacts
        Of all documents, `Plan.facts` or the sum over shards.
    settings : Settings
    tuning : Tuning, optional
        Default: the one in use.
    """
    tuning = tuning or current()
    rule, K = settings.rule, facts.n_topics
    name, lists = chosen_schedule(facts, settings, tuning)
    light = name in ("auto", "incremental")
    alpha = _first_prior(settings.doc_topic_prior, K, facts.token, light, tuning)
    (beta,) = _first_prior(settings.topic_word_prior, 1, facts.token, light, tuning)
    overcomplete: tuple[float, ...] = ()
    if settings.schedule in ("auto", "incremental") and _is_overcomplete(facts, settings, tuning):
        overcomplete = _pace(
            tuning.overcomplete_sweeps, settings.max_iter, facts, alpha.sum(), tuning
        )
    factors = tuning.short_warm_up if overcomplete else tuning.warm_up
    most = 0 if facts.word_prior else settings.max_iter // 2
    warm_up = _pace(factors, most, facts, alpha.sum(), tuning)
    if name == "incremental" and (overcomplete or not _warms_up(facts, settings, tuning)):
        warm_up = ()
    fresh_rounds = _fresh_rounds(name, facts, settings, tuning)
    schedule = _schedule(name, tuning, warm_up, fresh_rounds, lists=lists, private=facts.private)
    if settings.schedule == "auto" and is_relaxed(rule) and facts.private:
        schedule = replace(
            schedule, late_relaxation=tuning.late_relaxation, late_after=tuning.late_after
        )
    return Recipe(
        _with_factor(schedule, rule.relaxation, tuning),
        overcomplete,
        tuning.overcomplete_factor * K,
        enough_edges(K, facts.n_edges, tuning),
        facts.word_prior and settings.init == "hard",
        alpha,
        float(beta),
    )


def chosen_schedule(
    facts: PlanFacts, settings: Settings, tuning: Tuning | None = None
) -> tuple[str, bool]:
    """The name of the schedule that is followed, and whether it stores messages on topic lists.

    It needs no priors, so that too large a run is refused before anything is allocated.
    """
    tuning = tuning or current()
    name, K = str(settings.schedule), facts.n_topics
    many = tuning.lists_above < K or facts.most_edges * padded_width(K) > tuning.most_messages
    if name == "auto" and not _warms_up(facts, settings, tuning, many):
        name = _without_warm_up(settings.rule)
    refuse_schedule(name, settings.rule)
    refuse_plan(name, settings.rule, facts)
    return name, name == "auto" and many


def keeps_messages(facts: PlanFacts, settings: Settings) -> bool:
    """Whether blocks of documents that are read in turn keep messages, as "auto" with BP does."""
    few = facts.n_topics <= current().lists_above
    return settings.schedule == "auto" and is_relaxed(settings.rule) and few


def named_schedule(name: str, rule: Rule, tuning: Tuning | None = None) -> Schedule:
    """The schedule called `name` of a run of which nothing is known but its rule."""
    if name == "auto":
        name = _without_warm_up(rule)
    refuse_schedule(name, rule)
    tuning = tuning or current()
    schedule = _schedule(name, tuning, (), 0, lists=False, private=True)
    return _with_factor(schedule, rule.relaxation, tuning)


def is_relaxed(rule: Rule) -> bool:
    """Whether "auto" over-relaxes: BP with one stored message per edge."""
    return rule.name == "bp" and rule.stored and not rule.tokens


# -------------------------------------------------------------------------------------- decisions


def _warms_up(facts: PlanFacts, settings: Settings, tuning: Tuning, many: bool = False) -> bool:
    """Whether a run may take warm-up sweeps: they need many edges of documents that own themselves
    and may use all topics, and neither a fitted model nor messages to start from.

    They would wash word priors out, so with these "auto" only makes topic lists, if topics are
    `many`.
    """
    return (
        is_relaxed(settings.rule)
        and settings.init not in ("warm", "given")
        and facts.plain
        and facts.n_edges >= tuning.warm_up_from
        and (many or not facts.word_prior)
    )


def _without_warm_up(rule: Rule) -> str:
    """What "auto" is on few edges, and with other rules than BP."""
    if rule.digamma_owners or rule.solve:
        return "synchronous"
    return "relaxed" if is_relaxed(rule) else "asynchronous"


def _is_overcomplete(facts: PlanFacts, settings: Settings, tuning: Tuning) -> bool:
    """Whether a run starts with more topics and merges them: BP from nothing, not too many topics,
    none of which has a word prior of its own, and documents that may use all. Those that share
    owners must be inferred afresh: stored messages gain nothing (docs/lab-notes.md).
    """
    return (
        is_relaxed(settings.rule)
        and settings.init == "hard"
        and facts.free
        and (facts.private or settings.schedule == "incremental")
        and not facts.word_prior
        and 1 < facts.n_topics <= tuning.lists_above
    )


def _fresh_rounds(name: str, facts: PlanFacts, settings: Settings, tuning: Tuning) -> int:
    """How many rounds at the end infer all documents afresh, at once.

    Short documents gain from many; long ones lose a little with each (docs/lab-notes.md).
    """
    by_auto = settings.schedule == "auto" and is_relaxed(settings.rule)
    if not facts.private or not (by_auto or name == "incremental"):
        return 0
    tokens = facts.weight / facts.token / max(facts.n_docs, 1)
    by_length = max(round(tuning.fresh_tokens / max(tokens, 1.0)), 1)
    return min(by_length, tuning.fresh_rounds, settings.max_iter // 4)


def enough_edges(n_topics: int, n_edges: int, tuning: Tuning) -> int:
    """Edges for an overcomplete start to so many topics. n_edges: of all documents."""
    per_topic = tuning.edges_per_topic * n_topics
    return max(tuning.overcomplete_edges, per_topic, min(2 * per_topic, n_edges // 3))


def _first_prior(prior: Prior, size: int, token: float, light: bool, tuning: Tuning) -> np.ndarray:
    """(size,) where a prior starts: as given, or at a part of a token."""
    if prior.value is not None:
        return prior.value
    most = tuning.light_prior if light else tuning.first_prior
    return np.full(size, token * min(most, tuning.first_prior_sum / size))


def _pace(
    factors: tuple[float, ...], n: int, facts: PlanFacts, prior: float, tuning: Tuning
) -> tuple[float, ...]:
    """Over-relaxation `factors`, thinned out to n sweeps if these are fewer.

    On few edges, and under a heavy prior, over-relaxation would wipe out rare topics.
    """
    n = min(len(factors), n)
    heavy = prior > tuning.heavy_prior * facts.weight / max(facts.n_docs, 1)
    if heavy or facts.n_edges < tuning.warm_up_from:
        return (1.0,) * n
    return tuple(factors[int(i * len(factors) / n)] for i in range(n))


def _schedule(
    name: str,
    tuning: Tuning,
    warm_up: tuple[float, ...],
    fresh_rounds: int,
    *,
    lists: bool,
    private: bool,
) -> Schedule:
    """The schedule `name`, which is known to make sense."""
    if name == "relaxed":
        return Schedule(
            name,
            relaxation=tuning.relaxation,
            relax_after=tuning.relax_after,
            fresh_rounds=fresh_rounds,
        )
    if name == "incremental":
        return Schedule(
            name,
            afresh=True,
            relaxation=tuning.relaxation,
            relax_after=tuning.relax_after,
            warm_up=warm_up,
            stores=not private,
            fresh_rounds=fresh_rounds,
        )
    if name == "active":
        focus = partial(schedules.focus_on_what_moves, tuning=tuning)
        return Schedule(name, arrange=focus, full_every=tuning.full_every)
    if name == "auto":
        store = partial(schedules.store_in_time, warm_up=len(warm_up), lists=lists, tuning=tuning)
        return Schedule(
            name,
            arrange=store,
            relaxation=tuning.relaxation,
            warm_up=warm_up,
            stores=False,
            fresh_rounds=fresh_rounds,
        )
    arrange = {
        "residual": schedules.largest_residual_first,
        "residual-words": schedules.largest_residual_of_words_first,
    }
    return Schedule(name, in_place=name != "synchronous", arrange=arrange.get(name))


def _with_factor(schedule: Schedule, relaxation: float | None, tuning: Tuning) -> Schedule:
    """The schedule with the factor that the rule asks for, if it asks for one.

    Damping starts at once; over-relaxation starts when that of the schedule does, or else after as
    many plain sweeps as that of "relaxed".
    """
    if relaxation is None:
        return schedule
    plain = 0 if relaxation <= 1 else tuning.relax_after
    after = min(plain, schedule.relax_after) if schedule.relaxation > 1 else plain
    return replace(schedule, relaxation=relaxation, relax_after=after, late_relaxation=None)
