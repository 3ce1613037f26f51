"""The checkpoint of a finished run is kept until its model is saved."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from topoi import (
    LDA,
    RelationalTopicModel,
    datasets,
    load,
)
from topoi.infer.monitor import Monitor

sys.path.insert(0, str(Path(__file__).parent.parent))
from support import assert_same_run, interrupted

pytestmark = pytest.mark.usefixtures("warm_up_always")


def finished_runs(counts):
    """Runs that end in all ways: at max_iter, converged, with last sweeps that infer afresh, in
    batches.
    """
    size = counts.shape[0] // 6
    return {
        "max_iter": LDA(4, max_iter=13, tol=0, schedule="asynchronous"),
        "converged": LDA(4, tol=0.02, schedule="asynchronous"),
        "auto": LDA(4, max_iter=35, tol=0),
        "auto, converged": LDA(4, tol=0.02),
        "incremental": LDA(4, max_iter=7, tol=0, schedule="incremental"),
        "batches": LDA(4, max_iter=3, tol=0, batch_size=size),
        "batches, converged": LDA(4, max_iter=50, tol=0.02, evaluate_every=2, batch_size=size),
    }


@pytest.mark.parametrize("name", finished_runs(np.eye(6)))
def test_a_finished_run_is_kept_until_its_model_is_saved(tmp_path, mixed, name):
    path, counts = tmp_path / "run.ckpt", mixed[0].counts
    model = finished_runs(counts)[name]
    whole = clone(model).fit(counts)
    assert whole.converged_ == ("converged" in name)
    model.fit(counts, checkpoint=path, checkpoint_every=4)
    assert path.exists()
    with pytest.raises(OSError, match="cannot be written"):
        model.save(tmp_path / "none" / "m.topoi")
    sweeps = []
    again = clone(model).set_params(callbacks=[lambda _state, record: sweeps.append(record)])
    with pytest.warns(UserWarning, match=r"run\.ckpt holds this run, finished after \d+"):
        again.fit(counts, checkpoint=path)
    assert not sweeps, "nothing is done again"
    assert_same_run(again, whole)
    again.save(tmp_path / "m.topoi")
    assert [file.name for file in tmp_path.iterdir()] == ["m.topoi"]


def test_a_finished_run_of_another_process_is_not_replaced(tmp_path, mixed, monkeypatch):
    path, counts = tmp_path / "run.ckpt", mixed[0].counts
    LDA(4, max_iter=3).fit(counts, checkpoint=path)
    before = path.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr("topoi.infer.checkpoints.RETURNED", {})  # as in another process
        with pytest.raises(ValueError, match="checkpoint of another run"):
            LDA(5, max_iter=3).fit(counts, checkpoint=path)
    assert path.read_bytes() == before
    assert_same_run(LDA(5, max_iter=3).fit(counts, checkpoint=path), LDA(5, max_iter=3).fit(counts))


def test_saving_removes_only_the_checkpoint_of_that_run(tmp_path, mixed):
    path, counts = tmp_path / "run.ckpt", mixed[0].counts
    first = LDA(4, max_iter=3).fit(counts, checkpoint=path)
    second = LDA(5, max_iter=3).fit(counts, checkpoint=path)
    first.save(tmp_path / "first.topoi")
    assert path.exists(), "it is of the second run"
    second.fit(counts).save(tmp_path / "second.topoi")
    assert path.exists(), "it is of an earlier fit"
    with pytest.warns(UserWarning, match="holds this run, finished after 3 sweeps"):
        second.fit(counts, checkpoint=path)
    second.save(path)
    assert load(path).n_components == 5, "the model itself may take the place of the checkpoint"


def test_a_stopped_run_keeps_its_checkpoint_when_it_is_saved(tmp_path, mixed):
    path, counts = tmp_path / "run.ckpt", mixed[0].counts
    LDA(4, callbacks=[lambda _state, record: record.sweep == 15]).fit(counts, checkpoint=path).save(
        tmp_path / "m.topoi"
    )
    assert path.exists()


@pytest.mark.parametrize("schedule", ["asynchronous", "residual", "active"])
def test_a_finished_run_continues_with_more_sweeps(tmp_path, mixed, schedule):
    path, counts = tmp_path / "run.ckpt", mixed[0].counts
    LDA(4, max_iter=32, schedule=schedule, tol=0).fit(counts, checkpoint=path)
    more = LDA(4, max_iter=60, schedule=schedule, tol=0).fit(counts, checkpoint=path)
    whole = LDA(4, max_iter=60, schedule=schedule, tol=0).fit(counts)
    np.testing.assert_array_equal(more.components_, whole.components_)
    assert more.n_iter_ == whole.n_iter_ == 60


def test_a_last_sweep_off_the_beat_does_not_make_a_longer_run_converge(mixed):
    """Two sweeps change less than five, which is what the tolerance is for."""
    monitor = Monitor(mixed[0].counts, tol=1e-3, every=5, max_iter=22)
    for sweep, perplexity in ((20, 1000.0), (22, 995.0)):
        assert not monitor.note(sweep, 0.0, lambda perplexity=perplexity: perplexity, None, "")
    longer = Monitor(mixed[0].counts, tol=1e-3, every=5, max_iter=60)
    longer.resume(monitor.history)
    assert not longer.note(25, 0.0, lambda: 992.0, None, "")
    assert longer.note(30, 0.0, lambda: 991.0, None, "")


def test_a_run_stopped_while_it_learns_link_weights_leaves_no_checkpoint(tmp_path):
    """Its weights are not those that the run would have learned."""
    path, corpus = tmp_path / "run.ckpt", datasets.make_links(60)[0]

    def stop(_state, record):
        return record.schedule == "link weight" and record.sweep == 3

    options = {"max_iter": 4, "tol": 0}
    RelationalTopicModel(4, callbacks=[stop], **options).fit(
        corpus, checkpoint=path, checkpoint_every=1
    )
    assert not path.exists()


@pytest.mark.skipif(os.name == "nt", reason="needs fcntl")
def test_a_checkpoint_in_use_is_refused_to_others(tmp_path, mixed):
    path, counts = tmp_path / "run.ckpt", mixed[0].counts
    refused = []

    def second_run(_state, record):
        if record.sweep == 5:
            with pytest.raises(BlockingIOError) as caught:
                LDA(4).fit(counts, checkpoint=path)
            refused.append(str(caught.value))

    LDA(4, max_iter=8, callbacks=[second_run]).fit(counts, checkpoint=path, checkpoint_every=2)
    assert refused == [
        f"{path} is in use by another run; wait for its end, or give each run a checkpoint of its"
        " own."
    ]
    assert [file.name for file in tmp_path.iterdir()] == ["run.ckpt"]


def test_what_a_killed_writer_left_is_removed_and_nothing_else(tmp_path, mixed):
    path, counts = tmp_path / "run.ckpt", mixed[0].counts
    left = f".run.ckpt.{'0a' * 8}.part"
    own = [".run.ckpt.part", f".other.ckpt.{'0a' * 8}.part", "run.ckpt.part"]
    for name in (left, *own):
        (tmp_path / name).write_text("x")
    LDA(4, max_iter=3).fit(counts, checkpoint=path)
    assert {file.name for file in tmp_path.iterdir()} == {"run.ckpt", *own}


def test_a_relational_run_resumes_from_its_first_sweeps(tmp_path):
    """Warm-up sweeps store no messages, and links say nothing yet."""
    corpus = datasets.make_links(60)[0]

    def make(**options):
        return RelationalTopicModel(4, link_weight=0.3, max_iter=20, tol=0, **options)

    whole = make().fit(corpus)
    for sweep in (5, 6, 9, 13, 18):
        model = interrupted(make, lambda m, **kw: m.fit(corpus, **kw), tmp_path / "run.ckpt", sweep)
        assert_same_run(model, whole)
        np.testing.assert_array_equal(model.own_topic_, whole.own_topic_)


def test_killed_runs_end_in_the_same_bits():
    """A small sample of `python -m fuzz kills`."""
    pytest.importorskip("resource", reason="needs os.fork")
    from fuzz import kills
    from fuzz.harness import run_cases

    counts, failures = run_cases(kills.cases(4, seed=2))
    assert not failures
    assert counts["harmless"] == sum(counts.values()) > 0
