"""A run that is killed and resumed ends in the bits of one that was never interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support import every_model_combination, tune

from topoi import (
    LDA,
    AuthorTopicModel,
    LabeledLDA,
    RelationalTopicModel,
    TopicModel,
    datasets,
)
from topoi.graph.factors import Authors, Links, Words

sys.path.insert(0, str(Path(__file__).parent.parent))
from support import Crash, assert_same_run, crash_at, interrupted

pytestmark = pytest.mark.usefixtures("warm_up_always")


@every_model_combination
def test_lda_goes_on_in_the_same_bits(tmp_path, monkeypatch, mixed, rule, schedule):
    tune(monkeypatch, edges_per_cell=60)
    counts = mixed[0].counts

    def make(**options):
        return LDA(5, rule=rule, schedule=schedule, max_iter=25, tol=0, **options)

    whole = make().fit(counts)
    for sweep in (3, 9, 22):
        assert_same_run(
            interrupted(make, lambda m, **kw: m.fit(counts, **kw), tmp_path / "run.ckpt", sweep),
            whole,
        )


@pytest.mark.parametrize("sweep", [6, 13, 27])
def test_topic_lists_go_on_in_the_same_bits(tmp_path, monkeypatch, mixed, sweep):
    tune(monkeypatch, lists_above=0)
    counts = mixed[0].counts

    def make(**options):
        return LDA(5, max_iter=35, tol=0, **options)

    assert_same_run(
        interrupted(make, lambda m, **kw: m.fit(counts, **kw), tmp_path / "run.ckpt", sweep),
        make().fit(counts),
    )


@pytest.mark.parametrize("epoch", [1, 2, 4])
def test_batches_go_on_in_the_same_bits(tmp_path, mixed, epoch):
    counts, path = mixed[0].counts, tmp_path / "run.ckpt"

    def make(**options):
        return LDA(4, batch_size=counts.shape[0] // 7, max_iter=5, tol=0, **options)

    with pytest.raises(Crash):
        make(callbacks=[crash_at(epoch)]).fit(counts, checkpoint=path, checkpoint_every=1)
    assert path.exists() == (epoch > 1)
    assert_same_run(make().fit(counts, checkpoint=path, checkpoint_every=3), make().fit(counts))


def test_other_models_go_on_in_the_same_bits(tmp_path):
    authors = datasets.make_authors(60)[0]
    links = datasets.make_links(60)[0]
    labels = datasets.make_labels(60)[0]
    mixture = [
        Words(links.counts),
        Authors([["a", "b"], ["b"], ["c"]] * 20),
        Links(links.links, "learn"),
    ]
    cases = [
        (AuthorTopicModel, {"author_prior": "learned"}, lambda m, **kw: m.fit(authors, **kw)),
        (RelationalTopicModel, {"link_weight": "learn"}, lambda m, **kw: m.fit(links, **kw)),
        (RelationalTopicModel, {"link_factor": "paper"}, lambda m, **kw: m.fit(links, **kw)),
        (LabeledLDA, {"background_topics": 2}, lambda m, **kw: m.fit(labels, **kw)),
        (TopicModel, {"factors": mixture, "n_components": 4}, lambda m, **kw: m.fit(**kw)),
    ]
    for kind, options, fit in cases:

        def make(kind=kind, options=options, **more):
            return kind(**options, max_iter=20, tol=0, **more)

        whole, model = fit(make()), interrupted(make, fit, tmp_path / "run.ckpt", 14)
        assert_same_run(model, whole)
        if kind is RelationalTopicModel:
            np.testing.assert_array_equal(model.link_topic_, whole.link_topic_)
            assert model.link_weight_ == whole.link_weight_


CODE = """
import sys
from topoi.tuning import Tuning, use
use(Tuning(warm_up_from=0))
from topoi import LDA, datasets
corpus, _ = datasets.make_lda(300, 200, 5, random_state=1)
say = lambda state, record: print(record.sweep, flush=True)
model = LDA(8, max_iter=400, tol=0, evaluate_every=50, callbacks=[say])
model.fit(corpus, checkpoint=sys.argv[1], checkpoint_every=1)
print("end", flush=True)
"""


def test_a_killed_process_goes_on_in_the_same_bits(tmp_path):
    """SIGKILL at moments nobody chose, again and again, until the run is at its end."""
    path, rng, kills = tmp_path / "run.ckpt", np.random.default_rng(0), 0
    while True:
        process = subprocess.Popen(
            [sys.executable, "-c", CODE, str(path)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ,
        )
        assert process.stdout is not None
        first = process.stdout.readline()
        if kills == 4:
            rest = process.stdout.read()
            assert process.wait() == 0
            assert rest.endswith("end\n")
            process.stdout.close()
            break
        time.sleep(rng.uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert int(first) == 1 or kills > 0, "the first process begins at the beginning"
        kills += 1
    assert int(first) > 1, "the last one went on from a checkpoint"
    assert [file.name for file in tmp_path.iterdir()] == ["run.ckpt"], (
        "nothing else, even of writes that were killed"
    )


def test_what_was_killed_equals_what_was_not(tmp_path):
    """The same program, killed once, then finished here, against an uninterrupted run."""
    path = tmp_path / "run.ckpt"
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= 30:
            break
    process.kill()
    process.communicate()
    assert path.exists()
    corpus, _ = datasets.make_lda(300, 200, 5, random_state=1)
    options = {"max_iter": 400, "tol": 0, "evaluate_every": 50}
    went_on = LDA(8, n_jobs=2, **options).fit(corpus, checkpoint=path)
    assert_same_run(went_on, LDA(8, **options).fit(corpus))


def test_a_fresh_seed_is_kept(tmp_path, mixed):
    """random_state=None draws a new seed for each fit, but a run that resumes is still the same
    run.
    """
    path, counts = tmp_path / "run.ckpt", mixed[0].counts
    seeds = []

    def remember(state, record):
        seeds.append(state.seed)

    with pytest.raises(Crash):
        LDA(4, random_state=None, callbacks=[remember, crash_at(13)]).fit(counts, checkpoint=path)
    LDA(4, random_state=None, callbacks=[remember], max_iter=40).fit(counts, checkpoint=path)
    assert len(set(seeds)) == 1


def test_a_run_that_a_callback_stops_can_go_on(tmp_path, mixed):
    path, counts = tmp_path / "run.ckpt", mixed[0].counts
    options = {"max_iter": 30, "tol": 0}
    stopped = LDA(4, callbacks=[lambda state, record: record.sweep == 15], **options).fit(
        counts, checkpoint=path
    )
    assert stopped.n_iter_ == 15
    assert path.exists()
    assert_same_run(LDA(4, **options).fit(counts, checkpoint=path), LDA(4, **options).fit(counts))


def test_a_run_killed_after_its_last_sweep(tmp_path, monkeypatch):
    """The last checkpoint is written, the model is not: going on gives the model of the whole run,
    fields included.
    """
    path, corpus = tmp_path / "run.ckpt", datasets.make_links(60)[0]
    options = {"link_weight": 0.3, "max_iter": 8, "tol": 0}
    with monkeypatch.context() as patched:
        patched.setattr(
            "topoi.models.base.TopicModelBase._keep", lambda *_: (_ for _ in ()).throw(Crash)
        )
        with pytest.raises(Crash):
            RelationalTopicModel(4, **options).fit(corpus, checkpoint=path, checkpoint_every=4)
    with pytest.warns(UserWarning, match="holds this run, finished after 8 sweeps"):
        model = RelationalTopicModel(4, **options).fit(corpus, checkpoint=path)
    assert_same_run(model, RelationalTopicModel(4, **options).fit(corpus))


def test_a_run_beyond_max_iter_says_what_was_done(tmp_path, mixed):
    path, counts = tmp_path / "run.ckpt", mixed[0].counts
    with pytest.raises(Crash):
        LDA(4, max_iter=60, tol=0, callbacks=[crash_at(45)]).fit(
            counts, checkpoint=path, checkpoint_every=4
        )
    with pytest.warns(
        UserWarning, match=r"run\.ckpt holds a run of 44 sweeps, more than max_iter=31"
    ):
        model = LDA(4, max_iter=31, tol=0).fit(counts, checkpoint=path)
    assert model.n_iter_ == len(model.history_) == 44
    undisturbed = LDA(
        4, max_iter=60, tol=0, callbacks=[lambda _state, record: record.sweep == 44]
    ).fit(counts)
    np.testing.assert_array_equal(model.components_, undisturbed.components_)
