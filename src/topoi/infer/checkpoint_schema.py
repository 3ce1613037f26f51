"""What a checkpoint holds: the schema of a run on its graph, and of a run in batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields as fields_of
from typing import Any

import numpy as np

from topoi.graph.factors import Links
from topoi.graph.wiring import Graph
from topoi.infer.arrays import ActiveSet, Fields, Messages, Tables
from topoi.infer.history import HISTORY, columns, records
from topoi.infer.monitor import Monitor, Record
from topoi.infer.priors import MOST_PRIOR
from topoi.infer.rules import Rule
from topoi.infer.schedules import Schedule
from topoi.infer.state import State
from topoi.storage.archive import Archive
from topoi.storage.schema import (
    BELOW_ONE,
    LARGEST,
    SMALLEST,
    Array,
    Schema,
    Value,
    checked_csr,
    decoded,
    demand,
    flag,
    number,
    real,
    whole,
)

__all__ = [
    "BATCHES",
    "SEED",
    "batches_contents",
    "read_batches",
    "read_state",
    "state_contents",
    "state_schema",
]

SEED = whole(0, 2**63)
RUN_VALUES = (
    "sweep",
    "seed",
    "stored",
    "end",
    "prior_change",
    "beta",
    "alpha",
    "shared_counts",
)  # of a State
RUN: dict[str, Array | Value] = {
    f"history_.{field.name}": HISTORY[str(field.type)] for field in fields_of(Record)
}
BATCHES = Schema(
    {
        "seed": SEED,
        "done": whole(1),
        "converged": flag(),
        "beta": real(SMALLEST, MOST_PRIOR),
        "documents": number(1, LARGEST),
        "alpha": Array("f8", ("K",), SMALLEST, MOST_PRIOR),
        "base": Array("f8", ("W", "K"), 0, LARGEST),
        "before": Array("f8", ("W", "K"), 0, LARGEST, optional=True),
        "evidence": Array("f8", (2, "K"), 0, LARGEST, optional=True),
        **RUN,
    }
)


def state_schema(graph: Graph, rule: Rule, schedule: Schedule) -> Schema:
    """The schema of a run on `graph`, which has its `transposed` wires if the schedule goes by
    words.
    """
    width, n_visits, fields = (
        graph.width,
        len((graph.transposed or graph.arrays).visit_doc),
        bool(graph.plan.fields),
    )
    bases = [
        base.sum() for base in (graph.plan.word_base, graph.plan.owner_base) if base is not None
    ]
    most = 1 + 1.01 * (graph.weight + sum(bases))  # that any table can hold
    entries: dict[str, Array | Value] = {
        "sweep": whole(1),
        "seed": SEED,
        "stored": flag(),
        "end": whole(1, optional=True),
        "converged": flag(),
        "prior_change": number(0, LARGEST),
        "beta": real(SMALLEST, MOST_PRIOR),
        "alpha": Array("f8", (width,), 0, MOST_PRIOR),
        "shared_counts": Array("f4", (len(graph.shared_ptr) - 1, width), 0, most),
        "tables.theta": Array("f4", (graph.n_slots, width), 0, most),
        "tables.phi": Array("f4", (graph.n_words, width), 0, most),
        "tables.totals": Array("f8", (width,), -1, most),
        "tables.owner_mass": Array("f4", (len(graph.arrays.slots),), -1, most),
        "messages.mu": Array("f4", ("M",), 0, 1.001),
        "messages.z": Array("i4", (graph.n_edges if rule.draws else 0,), 0),
        "messages.order": Array("i8", (n_visits,), 0, n_visits - 1),
        "messages.residual": Array("f8", (n_visits,), 0, LARGEST),
        "messages.change": Array("f8", (graph.n_doc_blocks, width), -LARGEST, LARGEST),
        "fields.message": Array("f4", ("R", "C"), 0, 1.001 if fields else 0),
        "fields.weight": Array("f4", (graph.n_docs,), 0, 1.001 if fields else 0),
        **RUN,
    }
    if schedule.name == "active":
        entries |= {
            "active_set.docs": Array("b1", (graph.n_docs,)),
            "active_set.topics": Array("i4", (graph.n_docs, "F"), 0, graph.n_topics - 1),
            "active_set.moved": Array("f4", (graph.n_slots, width), 0, LARGEST),
        }
    if schedule.afresh and not schedule.stores:
        size = (graph.n_doc_blocks, graph.n_words, width)
        entries |= {"contributions": Array("f4", size, -LARGEST, LARGEST)}
    if schedule.name == "auto":
        entries |= {
            "lists.indptr": Array("i4 i8", (graph.n_docs + 1,), 0),
            "lists.indices": Array("i4 i8", ("L",), 0),
        }
    for number_of, field in enumerate(graph.plan.fields):
        entries |= {
            f"field{number_of}.{name}": entry
            for name, entry in _field_schema(field, graph.n_topics).items()
        }
    return Schema(entries, frozenset({"lists"}))


def _field_schema(field: Any, n_topics: int) -> dict[str, Array | Value]:
    """What a field learns. Its links are data, which the fingerprint covers."""
    if isinstance(field, Links):
        table = Array("f8", (n_topics, n_topics), 0, LARGEST, optional=True)
        return {"weight": real(0, BELOW_ONE), "eta": table, "joint": table}
    numbers = {
        name: number(-LARGEST, LARGEST) for name, value in vars(field).items() if _is_number(value)
    }
    shapes = {
        name: value.shape
        for name, value in vars(field).items()
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
    }
    empty = {name: None for name, value in vars(field).items() if value is None}
    types = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8"
    return {
        **numbers,
        **{name: Array(types, shape, optional=True) for name, shape in {**shapes, **empty}.items()},
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


# ------------------------------------------------------------ runs


def state_contents(state: State, monitor: Monitor) -> dict[str, Any]:
    """The entries of a run's file."""
    arrays, groups = (
        state.graph.arrays,
        {
            "tables": state.tables,
            "messages": state.messages,
            "fields": state.fields,
            "active_set": state.active_set,
        },
    )
    found: dict[str, Any] = {name: getattr(state, name) for name in RUN_VALUES}
    found["converged"] = monitor.converged
    if state.contributions is not None:
        found["contributions"] = state.contributions
    for group, named in groups.items():
        if named is not None:
            found |= {f"{group}.{name}": value for name, value in named._asdict().items()}
    if state.graph.listed:
        found |= {"lists.indptr": arrays.topic_ptr, "lists.indices": arrays.topics}
    for i, field in enumerate(state.graph.plan.fields):
        found |= {
            f"field{i}.{name}": getattr(field, name)
            for name in _field_schema(field, state.graph.n_topics)
        }
    return found | {f"history_.{name}": column for name, column in columns(monitor.table()).items()}


def read_state(
    archive: Archive, graph: Graph, rule: Rule, schedule: Schedule, monitor: Monitor
) -> State:
    """The state of the run in an archive. Fields and monitor get back what they knew."""
    if schedule.name == "residual-words":
        graph, _ = graph.by_words()
    found = decoded(state_schema(graph, rule, schedule), archive)
    if "lists.indptr" in found:
        lists = checked_csr(
            "lists", found["lists.indptr"], found["lists.indices"], (graph.n_docs, graph.n_topics)
        )
        demand(bool((np.diff(lists.indptr) > 0).all()), "lists has an empty list")
        graph = graph.with_lists(lists)
    if "contributions" in found:
        graph = graph.one_block_at_a_time()
    _check_state(found, graph, rule, schedule)
    for i, field in enumerate(graph.plan.fields):
        for name in _field_schema(field, graph.n_topics):
            setattr(field, name, found.get(f"field{i}.{name}"))
    monitor.resume([Record(**record) for record in records(found)])
    monitor.converged = found["converged"]

    def named(kind: Any, group: str) -> Any:
        return kind(**{name: found[f"{group}.{name}"] for name in kind._fields})

    return State(
        graph, found["alpha"], found["beta"], found["seed"], named(Tables, "tables"),
        named(Messages, "messages"), found["shared_counts"],
        named(Fields, "fields"), stored=found["stored"], sweep=found["sweep"], end=found["end"],
        prior_change=found["prior_change"], contributions=found.get("contributions"),
        active_set=named(ActiveSet, "active_set") if schedule.name == "active" else None,
    )  # fmt: skip


def _check_state(found: Mapping[str, Any], graph: Graph, rule: Rule, schedule: Schedule) -> None:
    """What kernels rely on, and no entry can tell alone."""
    K, stored = graph.n_topics, found["stored"]
    may_change = (
        rule.stored and not schedule.stores and not schedule.afresh
    )  # "auto" stores messages later
    expected = rule.stored and schedule.stores
    demand(
        may_change or stored == expected,
        "messages are stored where they should not be, or the other way round",
    )
    n_messages = graph.message_size if (stored or schedule.afresh) and not rule.draws else 0
    demand(
        len(found["messages.mu"]) == n_messages,
        f"messages.mu has {len(found['messages.mu'])} numbers; expected {n_messages}",
    )
    demand(stored or not graph.listed, "there are topic lists without messages")
    alpha = found["alpha"]
    demand(
        bool((alpha[:K] > 0).all() and (alpha[K:] == 0).all()),
        "alpha is not positive for every topic",
    )
    for name in ("tables.theta", "tables.phi", "shared_counts"):
        demand(not found[name][:, K:].any(), f"{name} holds something in topics that do not exist")
    demand(np.allclose(found["tables.totals"], found["tables.phi"].sum(axis=0, dtype=np.float64),
    rtol=0.01, atol=1),
           "tables.totals is not the sum of tables.phi")  # fmt: skip
    _check_fields(found, graph, speaks=bool(graph.plan.fields) and (stored or schedule.afresh))
    _check_order(found["messages.order"], (graph.transposed or graph.arrays).cell_visit)
    if rule.draws:
        _check_draws(found["messages.z"], graph)
    if schedule.name == "active":
        topics = found["active_set.topics"]
        demand(
            topics.shape[1] > 0 and bool((np.diff(topics, axis=1) > 0).all()),
            "active_set.topics is out of order",
        )
    sweeps = found["history_.sweep"]
    demand(
        np.array_equal(sweeps, np.arange(1, found["sweep"] + 1)),
        "history_ does not have one record per sweep",
    )


def _check_fields(found: Mapping[str, Any], graph: Graph, *, speaks: bool) -> None:
    """What fields say: nothing at all before messages are stored."""
    message, weight = found["fields.message"], found["fields.weight"]
    shape = (graph.n_docs, graph.width) if speaks else (1, 1)
    demand(
        message.shape == shape, f"fields.message has the shape {message.shape}; expected {shape}"
    )
    if speaks:
        agrees = np.abs(message.sum(axis=1) - weight) < 1e-3
        demand(
            bool(agrees.all()), "fields.message does not have the weight that fields.weight says"
        )
    else:
        demand(not message.any() and not weight.any(), "fields.message speaks where it should not")


def _check_order(order: np.ndarray, cell_visit: np.ndarray) -> None:
    """Each cell takes each of its own visits once."""
    cell = np.repeat(np.arange(len(cell_visit) - 1), np.diff(cell_visit))
    once = bool((np.bincount(order, minlength=len(cell)) == 1).all())
    demand(
        once and np.array_equal(cell[order], cell),
        "messages.order does not take each visit once, in its cell",
    )


def _check_draws(z: np.ndarray, graph: Graph) -> None:
    """Each drawn (owner, topic) is one that the document has."""
    arrays = graph.arrays
    n_owners, n_listed = np.diff(arrays.slot_ptr), np.diff(arrays.topic_ptr)
    room, topics = (
        np.where(n_listed > 0, n_listed, graph.width),
        np.where(n_listed > 0, n_listed, graph.n_topics),
    )
    doc = np.repeat(arrays.visit_doc, np.diff(arrays.visit_edge))
    demand(
        bool((z < (n_owners * room)[doc]).all() and (z % room[doc] < topics[doc]).all()),
        "messages.z names a topic that does not exist",
    )


# ------------------------------------------------------------ batches


def batches_contents(
    online: Any, done: int, before: np.ndarray | None, monitor: Monitor
) -> dict[str, Any]:
    """The entries of the file of a run in batches."""
    learned = {
        name: getattr(online, name)
        for name in ("seed", "alpha", "beta", "base", "documents", "evidence")
    }
    history = {f"history_.{name}": column for name, column in columns(monitor.table()).items()}
    return {**learned, "done": done, "converged": monitor.converged, "before": before, **history}


def read_batches(archive: Archive, n_topics: int, n_words: int, n_batches: int) -> dict[str, Any]:
    """What a run in batches had learned, and its history, in an archive."""
    found = decoded(BATCHES, archive, {"K": n_topics, "W": n_words})
    passes = found["done"] // n_batches
    demand(
        np.array_equal(found["history_.sweep"], np.arange(1, passes + 1)),
        "history_ does not have one record per pass",
    )
    demand(("before" in found) == (passes > 0), "before does not belong to the pass")
    return {**found, "history": [Record(**record) for record in records(found)]}
