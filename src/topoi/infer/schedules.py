"""Schedules: which edges come next, and when the tables are refreshed.

synchronous   every message from the tables of the previous sweep; then the tables anew asynchronous
tables change with every message; documents in one shuffled order, words ascending residual
asynchronous, documents whose messages moved most in the last sweep first residual-words  the same
by word: words are visited instead of documents relaxed       asynchronous, and after ten sweeps
each message goes half as far again as it is told to (over-relaxation), which saves sweeps
incremental   documents inferred afresh in every round, a block of them at a time; no messages are
stored (afresh.py) active        asynchronous, only the documents that moved most, and in each only
the topics that moved most (ABP); every tenth sweep is a full one auto          BP: relaxed. Where
documents own themselves it starts overcomplete, with more topics than wanted (overcomplete.py);
many edges get some warm-up sweeps without stored
              messages after that, and then topic lists where topics are many; the last rounds infer
              documents afresh. Any other rule: asynchronous (VB: synchronous)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from topoi.choices import SCHEDULES
from topoi.infer.arrays import ActiveSet
from topoi.infer.rules import Rule
from topoi.infer.topic_lists import topic_lists

if TYPE_CHECKING:
    from topoi.graph.plan import Plan
    from topoi.infer.state import State
    from topoi.infer.threads import ThreadPool

__all__ = ["WARM_UP", "Schedule", "gets_lists", "make_schedule", "takes_warm_up"]

WARM_UP = (
    (5.0,) * 4 + (4.0,) * 3 + (3.0,) * 4 + (2.0,) * 4
)  # relaxation of the first sweeps of "auto" (docs/performance.md)
OVERCOMPLETE = (
    WARM_UP + (2.0,) * 5
)  # the same of sweeps over more topics, with which it begins (overcomplete.py)
SHORT_WARM_UP = (2.0,) * 4  # of the warm-up sweeps that are left to do after these
RELAXATION, RELAX_AFTER = (
    1.5,
    10,
)  # of "relaxed": its step, and the sweeps before it (docs/performance.md)
BLOCK_RELAXATION = (
    1.8  # over-relaxation factor of "incremental", after as many plain rounds (docs/afresh.md)
)
ACTIVE_DOCUMENTS, ACTIVE_TOPICS = 0.5, 0.2  # proportions that "active" looks at
# the share of active topics begins at 1 and shrinks by this in every sweep (A19: topics must not
# lock in early)
SHRINK = 0.8
# sweeps of "active" after which all documents and topics have a turn (A19: residuals grow stale)
FULL_EVERY = 10
WARM_UP_FROM = 50_000  # edges: few edges need no haste, and warm-up sweeps swing on them
HEAVY_PRIOR = 0.1  # sum of the topics' prior, as a share of a document's mean weight
MOST_MESSAGES = 2**30  # numbers in dense messages: beyond these 4 GiB "auto" stores topic lists
LISTS_ABOVE = 256  # topics: below, a dense sweep is as fast as one over lists
# last rounds of "auto", in which documents are inferred afresh (docs/performance.md); at most a
# quarter of all
FINISH = 5
LISTS_EVERY = 10  # sweeps after which lists are made anew


@dataclass(frozen=True)
class Schedule:
    name: str
    in_place: bool = True
    arrange: Callable[[State, Rule, ThreadPool], None] | None = (
        None  # prepares the next sweep: the order of visits, the messages it needs
    )
    full_every: int = 1  # every so many sweeps all messages are renewed
    relaxation: float = 1.0  # how far a stored message moves towards what it hears,
    relax_after: int = 0  # after so many sweeps in which the step is 1
    warm_up: tuple[
        float,
        ...,
        # of the first sweeps, while messages are not stored: how far tables move towards a message
    ] = ()
    overcomplete: tuple[
        float, ...
    ] = ()  # the same of sweeps over more topics that the run begins with (overcomplete.py)
    stores: bool = True  # messages are stored from the start
    afresh: bool = False  # documents are inferred afresh in every round,
    finish: int = 0  # or in so many rounds after the sweeps

    def relaxation_at(self, sweep: int) -> float:
        return self.relaxation if sweep >= self.relax_after else 1.0


def _largest_residual_first(state: State, rule: Rule, pool: ThreadPool) -> None:
    if state.sweep:
        visits = (state.graph.transposed or state.graph.arrays).cell_visit
        cell = np.repeat(np.arange(len(visits) - 1), np.diff(visits))
        state.messages.order[:] = np.lexsort((-state.messages.residual, cell))


def _largest_residual_of_words_first(state: State, rule: Rule, pool: ThreadPool) -> None:
    if state.graph.transposed is None:
        state.visit_words()
    _largest_residual_first(state, rule, pool)


def _focus_on_what_moves(state: State, rule: Rule, pool: ThreadPool) -> None:
    """Choose the documents and topics of the next sweep by how much they moved when they were last
    renewed.
    """
    graph, K = state.graph, state.graph.n_topics
    moved = (
        np.zeros((graph.n_slots, graph.width), np.float32)
        if state.active_set is None
        else state.active_set.moved
    )
    if state.active_set is None or (state.sweep + 1) % FULL_EVERY == 0:
        n_docs, n_topics = graph.n_docs, K
    else:
        n_docs = max(1, int(np.ceil(ACTIVE_DOCUMENTS * graph.n_docs)))
        n_topics = max(1, int(np.ceil(max(ACTIVE_TOPICS, SHRINK**state.sweep) * K)))
    slot = np.asarray(graph.arrays.slots)
    of_topics = moved[slot, :K]
    docs = np.zeros(graph.n_docs, bool)
    docs[np.argsort(-of_topics.sum(axis=1), kind="stable")[:n_docs]] = True
    topics = np.sort(np.argsort(-of_topics, axis=1, kind="stable")[:, :n_topics], axis=1).astype(
        np.int32
    )
    rows = np.flatnonzero(docs)
    moved[slot[rows][:, None], topics[rows]] = 0
    state.active_set = ActiveSet(docs, topics, moved)


def _store_in_time(state: State, rule: Rule, pool: ThreadPool, warm_up: int) -> None:
    """After the warm-up sweeps store the messages: all of them, or those on topic lists, which are
    made anew now and then.
    """
    if state.sweep < warm_up:
        return
    if not state.stored:
        lists = gets_lists(state.graph.n_topics, state.graph.message_size)
        state.store(rule, pool, topic_lists(state, pool) if lists else None)
    elif state.graph.listed and state.sweep % LISTS_EVERY == 0:
        state.relist(rule, pool, topic_lists(state, pool))


def gets_lists(n_topics: int, message_size: int) -> bool:
    """Whether "auto" gives documents topic lists.

    It depends on the corpus, never on the machine: the same seed gives the same bits.
    """
    return n_topics > LISTS_ABOVE or message_size > MOST_MESSAGES


def is_relaxed(rule: Rule) -> bool:
    """Whether "auto" over-relaxes: BP with one stored message per edge."""
    return rule.name == "bp" and rule.stored and not rule.tokens


def starts_overcomplete(plan: Plan | None, rule: Rule, start: str) -> bool:
    """Whether "auto" begins with more topics and merges them: BP from nothing, not too many topics,
    and documents that own themselves and may use all.
    """
    return (
        is_relaxed(rule)
        and start == "hard"
        and plan is not None
        and plan.is_plain
        and 1 < plan.n_topics <= LISTS_ABOVE
    )


def takes_warm_up(plan: Plan | None, rule: Rule, start: str) -> bool:
    """Whether "auto" takes warm-up sweeps: many edges of documents that own themselves and may use
    all topics, and no fitted model to begin from.
    """
    return (
        is_relaxed(rule)
        and start != "warm"
        and plan is not None
        and plan.is_plain
        and plan.counts.nnz >= WARM_UP_FROM
    )


def _pace(warm_up: tuple[float, ...], n: int, plan: Plan | None, prior: float) -> tuple[float, ...]:
    """`warm_up`, cut to n sweeps if these are fewer.

    On few edges, and under a heavy prior, haste would wipe out rare topics.
    """
    n = min(len(warm_up), n)
    if plan is not None:
        heavy = prior > HEAVY_PRIOR * plan.counts.sum() / max(plan.counts.shape[0], 1)
        if heavy or plan.counts.nnz < WARM_UP_FROM:
            return (1.0,) * n
    return tuple(warm_up[int(i * len(warm_up) / n)] for i in range(n))


def make_schedule(
    name: str,
    rule: Rule,
    plan: Plan | None = None,
    *,
    start: str = "hard",
    max_iter: int = 2**31,
    prior: float = 0.0,
) -> Schedule:
    """The schedule called `name`, refused where it makes no sense with `rule` or `plan`.

    "auto" is chosen by these, by how the run starts, and by the sum of the topics' prior.
    """
    if name not in SCHEDULES:
        raise ValueError(f"schedule is {name!r}; choose one of {', '.join(map(repr, SCHEDULES))}.")
    overcomplete = name in ("auto", "incremental") and starts_overcomplete(plan, rule, start)
    finish = (
        min(FINISH, max_iter // 4)
        if name == "auto" and is_relaxed(rule) and plan is not None and plan.is_private
        else 0
    )
    if name == "auto" and not takes_warm_up(plan, rule, start):
        name = (
            "synchronous"
            if rule.digamma_owners or rule.solve
            else "relaxed"
            if is_relaxed(rule)
            else "asynchronous"
        )
    if rule.draws and name == "synchronous":
        raise ValueError(
            "rule='gibbs' must see each draw at once, or it samples from another distribution; use"
            " schedule='asynchronous'."
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
            "schedule='incremental' infers one message per edge; use rule 'bp', 'sibp' or 'vb', or"
            " 'cvb0' with messages='edge'."
        )
    if rule.digamma_owners and name not in ("synchronous", "incremental"):
        raise ValueError(
            "rule='vb' computes digamma once per document and topic, which needs"
            " schedule='synchronous'; for tables that change with every message use rule='sibp' or"
            " 'bp'."
        )
    if rule.solve and name != "synchronous":
        raise ValueError(
            "messages='solved' recovers messages from tables that stand still, which needs"
            " schedule='synchronous'; use that, or messages='none'."
        )
    if plan is not None and not (plan.is_plain and not plan.fields):
        if not rule.stored:
            raise ValueError(
                "messages='none' and 'solved' need documents that own themselves and may use all"
                " topics (LDA without labels, authors or links); use messages='auto'."
            )
        if name in ("residual-words", "active"):
            raise ValueError(
                f"schedule={name!r} needs documents that own themselves and may use all topics (LDA"
                " without labels, authors or links); use schedule='auto'."
            )
    if name in ("relaxed", "residual-words", "active") and not rule.stored:
        raise ValueError(
            f"schedule={name!r} needs stored messages; use messages='auto', or schedule='auto'."
        )
    first = _pace(OVERCOMPLETE, max_iter, plan, prior) if overcomplete else ()
    warm_up = _pace(SHORT_WARM_UP if overcomplete else WARM_UP, max_iter // 2, plan, prior)
    return {
        "synchronous": Schedule(name, in_place=False),
        "asynchronous": Schedule(name),
        "relaxed": Schedule(
            name, relaxation=RELAXATION, relax_after=RELAX_AFTER, overcomplete=first, finish=finish
        ),
        "incremental": Schedule(
            name,
            afresh=True,
            relaxation=BLOCK_RELAXATION,
            relax_after=RELAX_AFTER,
            overcomplete=first,
            stores=plan is not None and not plan.is_private,
        ),
        "residual": Schedule(name, arrange=_largest_residual_first),
        "residual-words": Schedule(name, arrange=_largest_residual_of_words_first),
        "active": Schedule(name, arrange=_focus_on_what_moves, full_every=FULL_EVERY),
        "auto": Schedule(
            name,
            arrange=partial(_store_in_time, warm_up=len(warm_up)),
            relaxation=RELAXATION,
            warm_up=warm_up,
            overcomplete=first,
            stores=False,
            finish=finish,
        ),
    }[name]
