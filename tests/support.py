"""What the tests share: small corpora, and the engine beside its NumPy twin."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy import sparse
from typer.testing import CliRunner

import topoi
from topoi import tuning
from topoi.cli import app
from topoi.graph.factors import Documents, Words, compile_factors
from topoi.infer import afresh, engine, reference
from topoi.infer.arrays import Tables
from topoi.infer.recipe import named_schedule
from topoi.infer.rules import Rule, make_rule
from topoi.infer.schedules import Schedule
from topoi.infer.state import State
from topoi.infer.tables import blank_tables
from topoi.infer.threads import ThreadPool
from topoi.rules import BY_NAME
from topoi.tuning import Tuning

# Every rule with every schedule that it accepts.
COMBINATIONS = [
    *(
        (rule, schedule)
        for rule in ("bp", "sibp", "cvb0")
        for schedule in ("relaxed", "asynchronous", "synchronous", "residual")
    ),
    *((rule, "incremental") for rule in ("bp", "sibp", "vb")),
    ("vb", "synchronous"),
    ("gibbs", "asynchronous"),
]
PLAIN_SCHEDULES = ("residual-words", "active")  # of documents that own themselves
MODEL_COMBINATIONS = [  # "auto" looks at the model, so only models know it
    *COMBINATIONS,
    ("bp", "auto"),
    *((rule, schedule) for rule in ("bp", "sibp", "cvb0") for schedule in PLAIN_SCHEDULES),
]
every_combination = pytest.mark.parametrize(("rule", "schedule"), COMBINATIONS)
every_model_combination = pytest.mark.parametrize(("rule", "schedule"), MODEL_COMBINATIONS)


def small_counts(n_docs: int = 20, n_words: int = 25, seed: int = 0) -> sparse.csr_array:
    """Poisson counts with an empty document (the third) and an unused word (the fifth)."""
    counts = np.random.default_rng(seed).poisson(0.6, (n_docs, n_words)).astype(np.float64)
    counts[2], counts[:, 4] = 0, 0
    return sparse.csr_array(counts)


@dataclass
class Run:
    """A state with the rule and schedule that move it, and the same numbers in double precision for
    the twin.
    """

    state: State
    rule: Rule
    schedule: Schedule
    tables: Tables  # of the twin, as `mu` and `z`
    mu: np.ndarray
    z: np.ndarray

    @property
    def messages(self) -> np.ndarray:
        """(edges, width) messages, for documents with one owner and all topics."""
        return self.state.messages.mu.reshape(-1, self.state.graph.width)

    def sweep(self, times: int = 1) -> None:
        """Move the state."""
        for _ in range(times):
            engine.sweep(self.state, self.rule, self.schedule, ThreadPool(1))

    def sweep_both(self) -> np.ndarray:
        """Move the state and its twin. Returns the twin's residuals."""
        params = self.state.params(
            self.rule,
            in_place=self.schedule.in_place,
            relaxation=self.schedule.relaxation_at(self.state.sweep),
        )
        self.sweep()
        # Order and fields as this sweep used them.
        graph, messages, fields = (
            self.state.graph,
            self.state.messages,
            self.state.fields,
        )
        if self.rule.draws:
            reference.gibbs(graph, self.tables, self.z, messages, fields, params)
            return messages.residual
        if self.rule.inner > 1 or self.schedule.afresh:
            residual, self.tables = infer_twin(self.state, self.rule, self.tables, self.mu, params)
            return residual
        read, seen = self.rule.seen(self.tables, params)
        self.tables = (
            read
            if self.schedule.in_place
            else reference.doubled(blank_tables(graph, graph.word_base))
        )
        return reference.sweep(graph, read, self.tables, self.mu, messages, fields, seen)


def infer_twin(
    state: State, rule: Rule, tables: Tables, mu: np.ndarray, params: Any
) -> tuple[np.ndarray, Tables]:
    """The twin of `afresh.infer_afresh` where messages are stored: residuals, and the tables of the
    new messages in `mu`.
    """
    graph = state.graph
    read, seen = rule.seen_words(tables, params)
    read, seen = (read, seen) if graph.private else rule.seen_owners(read, seen)
    twin = reference.infer if graph.private else reference.infer_joint
    held = afresh.held_by_words(tables.phi, fixed=params.frozen_words)
    how = afresh.settings(state, rule, by_part=True)
    parts = () if graph.private else (afresh.owner_parts(state),)
    residual = twin(graph, read, held, mu, state.fields, seen, how, range(graph.n_docs), *parts)
    blank = reference.doubled(blank_tables(graph, graph.word_base))
    counted = reference.count(graph, mu)
    phi = blank.phi if params.frozen_words else blank.phi + counted.phi
    return residual, counted._replace(
        phi=phi, totals=phi.sum(axis=0), theta=blank.theta + counted.theta
    )


def begin(
    counts: Any,
    n_topics: int = 5,
    rule: str = "bp",
    schedule: str = "asynchronous",
    *,
    factors: tuple[Any, ...] = (Documents(),),
    blocks: int | None = None,
    seed: int = 0,
    alpha: Any = 0.1,
    beta: float = 0.05,
    init: str = "hard",
    word_topic: np.ndarray | None = None,
    base: np.ndarray | None = None,
    frozen: bool = False,
    **options: Any,
) -> Run:
    """A fresh run on `counts`; `options` go to the rule."""
    made = make_rule(BY_NAME[rule](**options))
    graph = compile_factors(
        [Words(sparse.csr_array(counts), base=base, frozen=frozen), *factors],
        n_topics,
        seed=seed,
        tokens=made.tokens,
        blocks=blocks,
    )
    overcomplete = np.broadcast_to(np.asarray(alpha, dtype=np.float64), (n_topics,))
    state = State.start(
        graph,
        made,
        overcomplete,
        beta,
        seed=seed,
        pool=ThreadPool(1),
        init=init,
        word_topic=word_topic,
    )
    twin = (
        reference.doubled(state.tables),
        state.messages.mu.astype(np.float64),
        state.messages.z.copy(),
    )
    return Run(state, made, replace(named_schedule(schedule, made), relax_after=0), *twin)


def start_messages(run: Run, messages: np.ndarray) -> None:
    """Give the edges of `run`, in document order, the messages (edges, K), and count them."""
    run.messages[:] = 0
    run.messages[:, : run.state.graph.n_topics] = messages[run.state.graph.arrays.edge_id]
    run.state.rebuild(run.rule, ThreadPool(1))


def last_rounds(corpus: Any) -> int:
    """The rounds at the end of a long run that infer documents afresh."""
    tuning, tokens = Tuning(), corpus.counts.sum() / corpus.counts.shape[0]
    return min(round(tuning.fresh_tokens / tokens), tuning.fresh_rounds)


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh interpreter, in this environment plus `environment`."""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
        timeout=600,
    )


def several_blocks(monkeypatch):
    tune(monkeypatch, edges_per_cell=60)


PETS = ["cats", "dogs", "pets", "fur", "paws", "tails"]
MONEY = ["stocks", "market", "bank", "money", "shares", "trade"]
QUICK = ["--max-iter", "5"]


def run(*arguments, code=0):
    """The result of a command that must end with `code`."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def ask(*arguments):
    """What a command says in JSON, and nothing but JSON."""
    return json.loads(run(*arguments, "--json").stdout)


def with_entry(value: float) -> np.ndarray:
    dense = small_counts().toarray()
    dense[1, 1] = value
    return dense


class Crash(Exception):
    pass


def crash_at(sweep: int):
    def callback(state, record):
        if record.sweep == sweep and record.schedule != "link weight":
            raise Crash

    return callback


def assert_same_run(model, whole) -> None:
    np.testing.assert_array_equal(model.components_, whole.components_)
    np.testing.assert_array_equal(model.doc_topic_, whole.doc_topic_)
    np.testing.assert_array_equal(model.doc_topic_prior_, whole.doc_topic_prior_)
    assert (model.n_iter_, model.converged_, model.topic_word_prior_) == (
        whole.n_iter_,
        whole.converged_,
        whole.topic_word_prior_,
    )
    for one, other in zip(model.history_, whole.history_, strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}
    seconds = [record["seconds"] for record in model.history_]
    assert seconds == sorted(seconds)


def interrupted(make, fit, path, sweep: int):
    """Crash in `sweep`, then go on.

    `make` takes more parameters; `fit` takes a model and keyword arguments.
    """
    with pytest.raises(Crash):
        fit(make(callbacks=[crash_at(sweep)]), checkpoint=path, checkpoint_every=4)
    assert path.exists() == (sweep > 4)
    model = fit(make(), checkpoint=path, checkpoint_every=4)
    assert [file.name for file in path.parent.iterdir()] == [path.name], (
        "the finished run, and no lock"
    )
    path.unlink()
    return model


def every_word():
    return topoi.make_vectorizer(min_df=1, max_df=1.0)


def written(path, content: bytes):
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def tune(monkeypatch: pytest.MonkeyPatch, **values: Any) -> None:
    """Use other thresholds (`Tuning`) until the end of the test."""
    monkeypatch.setattr(tuning, "_in_use", [replace(tuning.current(), **values)])


def called_from_python(function):
    """A part of a kernel as a function that Python may call: by itself it has no such wrapper."""

    @njit
    def call(*args):
        return function(*args)

    return call


class Here:
    """Workers of a cluster whose tasks are computed in this process, when they are submitted."""

    def submit(self, name: str, function: Any, *args: Any) -> Any:
        return function(*args)

    def gather(self, futures: Any) -> list[Any]:
        return list(futures)

    def memory_limits(self) -> dict[str, int]:
        return {"here": 0}

    @property
    def client(self) -> Any:
        return self

    def compute(self, lazy: Any) -> list[Any]:
        return [each.compute() for each in lazy]
