"""A run that is killed and goes on ends in the bits of one that was never interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import every_model_combination, tune
from scipy import sparse
from sklearn.base import clone

from topoi import (
    LDA,
    AuthorTopicModel,
    LabeledLDA,
    RelationalTopicModel,
    TopicModel,
    datasets,
    load,
)
from topoi.graph.factors import Authors, Links, Words
from topoi.infer.monitor import Monitor
from topoi.storage.digests import digest

sys.path.insert(0, str(Path(__file__).parent.parent))
from fuzz.archives import contents_of, packed

pytestmark = pytest.mark.usefixtures("warm_up_always")


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
        make(callbacks=[crash_at(epoch)]).fit(counts, checkpoint=path, checkpoint_every=3)
    assert path.exists()
    assert_same_run(make().fit(counts, checkpoint=path, checkpoint_every=3), make().fit(counts))


def test_other_models_go_on_in_the_same_bits(tmp_path):
    authors, links, labels = (
        datasets.make_authors(60)[0],
        datasets.make_links(60)[0],
        datasets.make_labels(60)[0],
    )
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
    """random_state=None draws a new seed for each fit, but a run that goes on is still the same
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


@pytest.mark.parametrize(
    "change",
    [
        lambda counts: (LDA(5), counts),
        lambda counts: (LDA(4, rule="sibp"), counts),
        lambda counts: (LDA(4, doc_topic_prior=0.1), counts),
        lambda counts: (LDA(4, random_state=1), counts),
        lambda counts: (LDA(4), 2 * counts),
        lambda counts: (RelationalTopicModel(4), counts),
        lambda counts: (LDA(4, init=LDA(4, max_iter=2).fit(counts)), counts),
        lambda counts: (LDA(4, init="soft"), counts),
        lambda counts: (LDA(4), sparse.hstack([counts, np.zeros((counts.shape[0], 3))])),
    ],
)
def test_the_checkpoint_of_another_run_is_refused_and_kept(tmp_path, mixed, change):
    path, counts = tmp_path / "run.ckpt", mixed[0].counts
    with pytest.raises(Crash):
        LDA(4, callbacks=[crash_at(12)]).fit(counts, checkpoint=path)
    before = path.read_bytes()
    model, other = change(counts)
    with pytest.raises(ValueError, match=r"checkpoint of another run.*Delete it"):
        model.fit(other, checkpoint=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Links([(0, 1)], 0.15), Links([(0, 1)], 0.6)),
        (Links([(0, 1)], 0.15), Links([(0, 1)], 0.15, "identity")),
        (Links([(0, 1)], 0.15), Links([(0, 2)], 0.15)),
        (Authors([["a"], ["b"]] * 75), Authors([["a"], ["b"]] * 75, "learned")),
    ],
)
def test_other_factors_are_another_run(tmp_path, mixed, one, other):
    path, words = tmp_path / "run.ckpt", Words(mixed[0].counts)
    with pytest.raises(Crash):
        TopicModel([words, one], 4, callbacks=[crash_at(12)]).fit(checkpoint=path)
    with pytest.raises(ValueError, match="checkpoint of another run"):
        TopicModel([words, other], 4).fit(checkpoint=path)
    TopicModel([words, one], 4, max_iter=31).fit(checkpoint=path)


def test_a_long_prior_is_compared_in_full(tmp_path, mixed):
    path, prior = tmp_path / "run.ckpt", np.full(1200, 0.1)
    with pytest.raises(Crash):
        LDA(1200, doc_topic_prior=prior, callbacks=[crash_at(2)]).fit(
            mixed[0].counts, checkpoint=path, checkpoint_every=1
        )
    prior[600] = 0.2
    with pytest.raises(ValueError, match="checkpoint of another run"):
        LDA(1200, doc_topic_prior=prior).fit(mixed[0].counts, checkpoint=path)


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
    assert_same_run(
        RelationalTopicModel(4, **options).fit(corpus, checkpoint=path),
        RelationalTopicModel(4, **options).fit(corpus),
    )


def test_a_model_file_is_no_checkpoint(tmp_path, mixed):
    path = tmp_path / "m.topoi"
    LDA(3, max_iter=2).fit(mixed[0]).save(path)
    with pytest.raises(ValueError, match="not a checkpoint.*give another file"):
        LDA(3).fit(mixed[0], checkpoint=path)
    assert path.exists()


def test_bad_checkpoints(tmp_path, mixed):
    path, counts = tmp_path / "run.ckpt", mixed[0].counts
    path.write_bytes(b"no zip")
    with pytest.raises(ValueError, match="not a checkpoint of topoi, or it is damaged"):
        LDA(4).fit(counts, checkpoint=path)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        LDA(4).fit(counts, checkpoint=tmp_path / "nowhere" / "run.ckpt")
    with pytest.raises(ValueError, match="checkpoint_every is 0"):
        LDA(4).fit(counts, checkpoint=tmp_path / "new.ckpt", checkpoint_every=0)
    assert [p.name for p in Path(tmp_path).iterdir()] == ["run.ckpt"]


def crashed(make, data, path, sweep=6):
    """The contents of the checkpoint that a crash leaves."""
    with pytest.raises(Crash):
        make(callbacks=[crash_at(sweep)]).fit(data, checkpoint=path, checkpoint_every=4)
    return contents_of(path)


BREAKS = {  # what would crash the process, end without an error, or raise what nobody understands
    "order of visits": (
        lambda arrays: arrays["messages.order"].__setitem__(
            slice(None), arrays["messages.order"][::-1].copy()
        )
    ),
    "order beyond its end": lambda arrays: arrays["messages.order"].__setitem__(0, 10**9),
    "a visit twice": (
        lambda arrays: arrays["messages.order"].__setitem__(0, arrays["messages.order"][1])
    ),
    "a table cut short": lambda arrays: arrays.update(
        {"tables.phi": arrays["tables.phi"][:-1].copy()}
    ),
    "messages cut short": lambda arrays: arrays.update(
        {"messages.mu": arrays["messages.mu"][:-1].copy()}
    ),
    "a table with NaN": lambda arrays: arrays["tables.theta"].__setitem__((0, 0), np.nan),
    "a missing member": lambda arrays: arrays.pop("messages.residual"),
    "one more member": lambda arrays: arrays.update(more=np.zeros(3)),
    "a missing record": lambda arrays: arrays.update(
        {"history_.sweep": arrays["history_.sweep"] + 1}
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_checkpoint_that_breaks_the_schema_is_refused_in_one_sentence(
    tmp_path, mixed, monkeypatch, name
):
    tune(monkeypatch, edges_per_cell=60)
    path, counts = tmp_path / "run.ckpt", mixed[0].counts
    contents = crashed(lambda **kw: LDA(4, schedule="asynchronous", **kw), counts, path)
    BREAKS[name](contents.arrays)
    contents.seal = True
    path.write_bytes(packed(contents))
    with pytest.raises(
        ValueError,
        match=(
            r"run\.ckpt is not a checkpoint of topoi, or it is damaged \([^\n]*\); give another"
            r" file\.$"
        ),
    ):
        LDA(4, schedule="asynchronous").fit(counts, checkpoint=path)


def test_draws_of_topics_that_do_not_exist_are_refused(tmp_path, mixed):
    path, counts = tmp_path / "run.ckpt", mixed[0].counts
    contents = crashed(lambda **kw: LDA(4, rule="gibbs", **kw), counts, path)
    contents.arrays["messages.z"][3] = 4
    contents.seal = True
    path.write_bytes(packed(contents))
    with pytest.raises(ValueError, match=r"messages\.z names a topic"):
        LDA(4, rule="gibbs").fit(counts, checkpoint=path)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, 23], [12, 3]),
        ([1, [2, 3]], [[1, 2], 3]),
        ("1", 1),
        (1, 1.0),
        (True, 1),
        (None, "None"),
        ([], [[]]),
        (["ab", "c"], ["a", "bc"]),
        ({"a": 1, "b": 2}, {"a": 2, "b": 1}),
        (np.zeros(2, np.float32), np.zeros(1, np.float64)),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (np.array(["ab", "c"]), np.array(["a", "bc"])),
        (b"1", "1"),
    ],
)
def test_a_digest_tells_types_and_lengths_apart(one, other):
    assert digest(one) != digest(other)


def test_a_digest_does_not_depend_on_order_or_on_the_kind_of_a_number():
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1})
    assert digest(np.int64(3)) == digest(3)
    assert digest((1, 2)) == digest([1, 2])
    assert digest(np.eye(3)[:, ::2]) == digest(np.ascontiguousarray(np.eye(3)[:, ::2]))


def test_priors_that_print_alike_are_another_run(tmp_path, mixed):
    path, counts = tmp_path / "run.ckpt", mixed[0].counts
    crashed(lambda **kw: LDA(2, doc_topic_prior=[1, 23], **kw), counts, path)
    with pytest.raises(ValueError, match="checkpoint of another run"):
        LDA(2, doc_topic_prior=[12, 3]).fit(counts, checkpoint=path)


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


def test_batches_beyond_max_iter_say_what_was_done(tmp_path, mixed):
    path, counts = tmp_path / "run.ckpt", mixed[0].counts
    options = {"batch_size": counts.shape[0] // 6, "tol": 0}
    with pytest.raises(Crash):
        LDA(4, max_iter=40, callbacks=[crash_at(35)], **options).fit(
            counts, checkpoint=path, checkpoint_every=4
        )
    with pytest.warns(
        UserWarning, match=r"holds a run of 208 batches \(34\.7 passes\), more than max_iter=32"
    ):
        model = LDA(4, max_iter=32, **options).fit(counts, checkpoint=path)
    assert model.n_iter_ == len(model.history_) == 34


# ------------------------------------------------------------ finished runs


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
    second.fit(counts, checkpoint=path).save(path)
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
    left, own = (
        f".run.ckpt.{'0a' * 8}.part",
        [".run.ckpt.part", f".other.ckpt.{'0a' * 8}.part", "run.ckpt.part"],
    )
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
    """A small share of `python -m fuzz kills`."""
    pytest.importorskip("resource", reason="needs os.fork")
    from fuzz import kills
    from fuzz.harness import run_cases

    counts, failures = run_cases(kills.cases(4, seed=2))
    assert not failures
    assert counts["harmless"] == sum(counts.values()) > 0
