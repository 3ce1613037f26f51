"""What a checkpoint holds: the schema of a run on its graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np

from topoi.graph.fields import Field, LearnedField, LearningField
from topoi.graph.wiring import Graph
from topoi.infer.arrays import ActiveSet, Fields, Messages, Tables
from topoi.infer.history import HISTORY, Record, columns, records
from topoi.infer.monitor import Monitor
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
    Contents,
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

Arrays = TypeVar("Arrays", Tables, Messages, Fields, ActiveSet)

__all__ = [
    "SEED",
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
RUN: dict[str, Array | Value] = {f"history_.{name}": kind for name, kind in HISTORY.items()}


def state_schema(graph: Graph, rule: Rule, schedule: Schedule) -> Schema:
    """The schema of a run; `graph` has `transposed` arrays if the schedule goes by words."""
    width = graph.width
    n_visits = len((graph.transposed or graph.arrays).visit_doc)
    fields = bool(graph.fields)
    bases = [
        base.sum()
        for base in (graph.word_base, graph.word_prior, graph.owner_base)
        if base is not None
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
    if schedule.name == "auto":
        entries |= {
            "lists.indptr": Array("i4 i8", (graph.n_docs + 1,), 0),
            "lists.indices": Array("i4 i8", ("L",), 0),
        }
    for i, field in enumerate(graph.fields):
        entries |= {f"field{i}.weight": real(0, BELOW_ONE)} | {
            f"field{i}.{name}": Array("f8", shape, 0, LARGEST, optional=True)
            for name, shape in _table_shapes(field, graph).items()
        }
    return Schema(entries, frozenset({"lists"}))


def _table_shapes(field: Field | LearningField, graph: Graph) -> Mapping[str, tuple[int, ...]]:
    """Of the tables that a field learns. Its links are data, which the fingerprint covers."""
    return field.table_shapes(graph.n_topics) if isinstance(field, LearningField) else {}


# ------------------------------------------------------------ runs


def state_contents(state: State, monitor: Monitor) -> Contents:
    """The entries of a run's file."""
    arrays = state.graph.arrays
    groups = {
        "tables": state.tables,
        "messages": state.messages,
        "fields": state.fields,
        "active_set": state.active_set,
    }
    found: Contents = {name: getattr(state, name) for name in RUN_VALUES}
    found["converged"] = monitor.converged
    for group, named in groups.items():
        if named is not None:
            found |= {f"{group}.{name}": value for name, value in named._asdict().items()}
    if state.graph.listed:
        found |= {"lists.indptr": arrays.topic_ptr, "lists.indices": arrays.topics}
    for i, learned in enumerate(state.learned):
        found |= {f"field{i}.weight": learned.weight}
        found |= {f"field{i}.{name}": table for name, table in learned.tables.items()}
    return found | {f"history_.{name}": column for name, column in columns(monitor.table()).items()}


def read_state(
    archive: Archive, graph: Graph, rule: Rule, schedule: Schedule, monitor: Monitor
) -> State:
    """The state of the run in an archive. The monitor gets back what it knew."""
    if schedule.name == "residual-words":
        graph, _ = graph.by_words()
    found = decoded(state_schema(graph, rule, schedule), archive)
    if "lists.indptr" in found:
        lists = checked_csr(
            "lists", found["lists.indptr"], found["lists.indices"], (graph.n_docs, graph.n_topics)
        )
        demand(bool((np.diff(lists.indptr) > 0).all()), "lists has an empty list")
        graph = graph.with_lists(lists)
    _check_state(found, graph, rule, schedule)
    monitor.resume([Record(**record) for record in records(found)])
    monitor.converged = found["converged"]

    def named(kind: type[Arrays], group: str) -> Arrays:
        return kind(**{name: found[f"{group}.{name}"] for name in kind._fields})

    return State(
        graph=graph,
        tables=named(Tables, "tables"),
        messages=named(Messages, "messages"),
        fields=named(Fields, "fields"),
        learned=_learned(found, graph),
        word_base=graph.word_base,
        active_set=named(ActiveSet, "active_set") if schedule.name == "active" else None,
        **{name: found[name] for name in RUN_VALUES},
    )


def _learned(found: Contents, graph: Graph) -> list[LearnedField]:
    """What the run had learned of each field."""
    learned = []
    for i, field in enumerate(graph.fields):
        names = [name for name in _table_shapes(field, graph) if f"field{i}.{name}" in found]
        tables = {name: found[f"field{i}.{name}"] for name in names}
        learned.append(LearnedField(found[f"field{i}.weight"], tables))
    return learned


def _check_state(found: Contents, graph: Graph, rule: Rule, schedule: Schedule) -> None:
    """What kernels rely on, which depends on several entries."""
    K, stored = graph.n_topics, found["stored"]
    # "auto" stores messages later.
    may_change = rule.stored and not schedule.stores and not schedule.afresh
    expected = rule.stored and schedule.stores
    demand(
        may_change or stored == expected,
        "messages are stored where they should not be, or the other way round",
    )
    n_messages = graph.message_size if stored and not rule.draws else 0
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
    _check_fields(found, graph, in_use=bool(graph.fields) and (stored or schedule.afresh))
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


def _check_fields(found: Contents, graph: Graph, *, in_use: bool) -> None:
    """Messages of fields: all 0 before messages are stored."""
    message, weight = found["fields.message"], found["fields.weight"]
    shape = (graph.n_docs, graph.width) if in_use else (1, 1)
    demand(
        message.shape == shape, f"fields.message has the shape {message.shape}; expected {shape}"
    )
    if in_use:
        agrees = np.abs(message.sum(axis=1) - weight) < 1e-3
        demand(bool(agrees.all()), "fields.message does not have the weight in fields.weight")
    else:
        demand(not message.any() and not weight.any(), "fields.message is not 0 where it should be")


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
    room = np.where(n_listed > 0, n_listed, graph.width)
    topics = np.where(n_listed > 0, n_listed, graph.n_topics)
    doc = np.repeat(arrays.visit_doc, np.diff(arrays.visit_edge))
    demand(
        bool((z < (n_owners * room)[doc]).all() and (z % room[doc] < topics[doc]).all()),
        "messages.z names a topic that does not exist",
    )
