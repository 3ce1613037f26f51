"""Checkpoints of other runs, and files that are no checkpoints, are refused and kept."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from support import tune

from topoi import (
    LDA,
    Corpus,
    RelationalTopicModel,
    TopicModel,
)
from topoi.graph.factors import Authors, Links, Words
from topoi.storage.digests import digest

sys.path.insert(0, str(Path(__file__).parent.parent))
from support import Crash, crash_at

from fuzz.archives import contents_of, packed

pytestmark = pytest.mark.usefixtures("warm_up_always")


@pytest.mark.parametrize(
    "change",
    [
        lambda counts: (LDA(5), counts),
        lambda counts: (LDA(4, rule="sibp"), counts),
        lambda counts: (LDA(4, doc_topic_prior=0.1), counts),
        lambda counts: (LDA(4, random_state=1), counts),
        lambda counts: (LDA(4), 2 * counts),
        lambda counts: (RelationalTopicModel(4), Corpus(counts, links=[(0, 1)])),
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


def crashed(make, data, path, sweep=6):
    """The contents of the checkpoint that a crash leaves."""
    with pytest.raises(Crash):
        make(callbacks=[crash_at(sweep)]).fit(data, checkpoint=path, checkpoint_every=4)
    return contents_of(path)


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
