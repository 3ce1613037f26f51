"""Damaged checkpoints, of several rules and schedules. A run that resumes must end as it should."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.archives import Contents, contents_of, packed
from fuzz.damage import damaged
from fuzz.harness import Case, outcome_of, scratch_folder
from fuzz.models import judged
from topoi import LDA, AuthorTopicModel, LabeledLDA, RelationalTopicModel, datasets
from topoi.choices import SCHEDULES
from topoi.rules import BP
from topoi.tuning import tuned

SWEEPS, SAVED = 7, 4


class Stop(Exception):
    """Ends a run after its checkpoint is written."""


def _stop(state: Any, record: Any) -> None:
    if record.sweep > SAVED:
        raise Stop


@contextmanager
def small_grid() -> Iterator[None]:
    """Small corpora get what large ones get: many cells, warm-up sweeps, topic lists."""
    with tuned(edges_per_cell=30, warm_up_from=0, lists_above=0):
        yield


def runs() -> list[tuple[Callable[..., Any], Any]]:
    """Models to make, with more parameters, and their data."""
    authors, links, labels = (
        datasets.make_authors(20, 4, 20, 3)[0],
        datasets.make_links(20, 20, 3)[0],
        datasets.make_labels(20, 20, 3)[0],
    )
    options: dict[str, Any] = {"max_iter": SWEEPS, "tol": 0}
    plain = [{"rule": "bp", "schedule": name} for name in SCHEDULES]
    plain += [
        {"rule": "gibbs"},
        {"rule": "vb"},
        {"rule": "cvb0"},
        {"rule": BP(messages="none")},
        {"rule": BP(relaxation=0.5)},
        {"batch_size": 6},
    ]
    made: list[tuple[Callable[..., Any], Any]] = [
        (partial(LDA, 4, **(options | more)), authors.counts) for more in plain
    ]
    made += [
        (partial(AuthorTopicModel, 4, rule=rule, author_prior="learned", **options), authors)
        for rule in ("bp", "gibbs")
    ]
    made += [
        (partial(RelationalTopicModel, 4, link_weight=0.3, **options), links),
        (partial(LabeledLDA, 1, **options), labels),
    ]
    return made


def result(make: Callable[..., Any], data: Any, path: Path) -> list[Any]:
    """What a resumed run ends in."""
    with small_grid():
        model = make().fit(data, checkpoint=path, checkpoint_every=SAVED)
    history = [{**record, "seconds": 0} for record in model.history_]
    return [
        model.components_.tolist(),
        model.doc_topic_.tolist(),
        model.doc_topic_prior_.tolist(),
        model.n_iter_,
        history,
    ]


def is_sound(found: list[Any]) -> bool:
    components, proportions = np.array(found[0]), np.array(found[1])
    return bool(
        np.isfinite(components).all()
        and (components > 0).all()
        and np.allclose(proportions.sum(axis=1), 1, atol=1e-3)
    )


def cases(n: int, seed: int) -> Iterator[Case]:
    """n damaged checkpoints, of the runs in turn."""
    path = scratch_folder() / "run.ckpt"
    wholes: list[tuple[Callable[[], list[Any]], Contents, list[Any]]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for make, data in runs():
            path.unlink(missing_ok=True)
            with small_grid(), suppress(Stop):
                make(callbacks=[_stop]).fit(data, checkpoint=path, checkpoint_every=SAVED)
            contents, resume = contents_of(path), partial(result, make, data, path)
            wholes.append((resume, contents, resume()))
    for i in range(n):
        resume, whole, expected = wholes[i % len(wholes)]
        damage, contents = damaged(whole, np.random.default_rng([seed, i]))
        yield Case(f"{i} {damage}", partial(_run, path, resume, contents, expected))


def _run(
    path: Path, resume: Callable[[], list[Any]], contents: Contents, expected: list[Any]
) -> str:
    path.write_bytes(packed(contents))
    found: list[Any] = []

    def read() -> str:
        found.append(resume())
        return "accepted"

    outcome = outcome_of(read, path)
    return (
        outcome
        if outcome == "refused"
        else judged(lambda: found[0], expected, contents.seal and is_sound(found[0]))
    )
