"""When a fit stops, and what it tells on the way."""

from __future__ import annotations

import pytest
from scipy import sparse

from topoi import LDA
from topoi.infer.monitor import Monitor


def test_history_has_a_record_for_each_sweep(mixed):
    model = LDA(5, max_iter=12, tol=0, evaluate_every=5).fit(mixed[0])
    assert [record["sweep"] for record in model.history_] == list(range(1, 13))
    known = {"sweep", "seconds", "residual", "perplexity", "schedule", "violation", "log_joint"}
    assert set(model.history_[0]) == known
    measured = [record["sweep"] for record in model.history_ if record["perplexity"] is not None]
    assert measured == [5, 10, 12], "every fifth, and the last"
    assert all(0 <= record["residual"] <= 2 for record in model.history_)
    seconds = [record["seconds"] for record in model.history_]
    assert seconds == sorted(seconds)


@pytest.mark.parametrize(
    ("rule", "schedule"),
    [
        ("bp", "asynchronous"),
        ("sibp", "synchronous"),
        ("vb", "synchronous"),
        ("gibbs", "asynchronous"),
    ],
)
def test_no_tolerance_means_exactly_max_iter(blocks, rule, schedule):
    model = LDA(4, rule=rule, schedule=schedule, max_iter=123, tol=0).fit(blocks[0])
    assert model.n_iter_ == len(model.history_) == 123
    assert model.converged_ is False


def test_no_tolerance_never_stops_even_when_nothing_moves(mixed):
    """One topic, given priors: perplexity is the same number from the first sweep on."""
    options = {"doc_topic_prior": 0.1, "topic_word_prior": 0.1, "schedule": "asynchronous"}
    model = LDA(1, max_iter=30, tol=0, **options).fit(mixed[0])
    assert model.n_iter_ == 30
    stopped = LDA(1, max_iter=30, **options).fit(mixed[0])
    assert (stopped.n_iter_, stopped.converged_) == (10, True)
    cut = LDA(1, max_iter=7, **options).fit(mixed[0])
    assert (cut.n_iter_, cut.converged_) == (7, False), "two sweeps apart say nothing about five"


def test_stops_when_perplexity_stands_still(blocks):
    model = LDA(4, schedule="asynchronous", max_iter=500, tol=1e-4, evaluate_every=5).fit(blocks[0])
    assert model.converged_ is True
    assert model.n_iter_ < 500
    assert model.n_iter_ % 5 == 0
    before, last = [
        record["perplexity"] for record in model.history_ if record["perplexity"] is not None
    ][-2:]
    assert abs(before - last) < 5 * 1e-4 * last, "the fraction is per sweep"
    earlier = [
        record["perplexity"] for record in model.history_[:-5] if record["perplexity"] is not None
    ]
    assert all(abs(a - b) >= 5 * 1e-4 * b for a, b in zip(earlier, earlier[1:], strict=False)), (
        "and not before"
    )


def test_the_papers_rule(mixed):
    """|P(t) - P(t-10)| < 1: measured every ten sweeps, whatever evaluate_every says."""
    priors = {"doc_topic_prior": 0.1, "topic_word_prior": 0.05}
    model = LDA(
        5, tol="paper", schedule="asynchronous", max_iter=500, evaluate_every=3, **priors
    ).fit(mixed[0])
    measured = [record for record in model.history_ if record["perplexity"] is not None]
    assert model.converged_ is True
    assert [record["sweep"] for record in measured] == list(range(10, model.n_iter_ + 1, 10))
    values = [record["perplexity"] for record in measured]
    assert abs(values[-1] - values[-2]) < 1
    assert all(abs(a - b) >= 1 for a, b in zip(values[:-1], values[1:-1], strict=False))


def test_perplexity_can_be_left_unmeasured(mixed):
    model = LDA(5, max_iter=30, evaluate_every=-1).fit(mixed[0])
    assert model.n_iter_ == 30
    assert all(record["perplexity"] is None for record in model.history_)


def test_callbacks_see_every_sweep_and_may_stop(mixed):
    seen = []

    def stop_at_four(state, record):
        seen.append((state.sweep, record.sweep, record.residual))
        return record.sweep == 4

    model = LDA(5, max_iter=50, callbacks=[lambda *_: None, stop_at_four]).fit(mixed[0])
    assert [(a, b) for a, b, _ in seen] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert model.n_iter_ == 4
    assert model.converged_ is False
    assert [residual for *_, residual in seen] == [record["residual"] for record in model.history_]


def test_verbose_shows_a_bar_on_stderr(mixed, capfd):
    LDA(5, max_iter=10, tol=0, verbose=1).fit(mixed[0])
    out, err = capfd.readouterr()
    assert out == ""
    assert "Sweeps" in err
    assert "10/10" in err
    assert "perplexity" in err


@pytest.mark.parametrize("options", [{}, {"batch_size": 50}, {"rule": "gibbs"}], ids=str)
def test_silent_otherwise(mixed, capfd, options):
    LDA(5, max_iter=10, verbose=0, **options).fit(mixed[0]).transform(mixed[0].counts)
    assert capfd.readouterr() == ("", "")


def test_tol_0_means_max_iter_sweeps(blocks):
    assert LDA(4, tol=0, max_iter=45).fit(blocks[0]).n_iter_ == 45


def test_several_small_changes_in_a_row_may_be_asked_for():
    """Where perplexity turns it hardly changes once."""
    monitor = Monitor(sparse.csr_array((0, 1)), tol=1e-3, every=1, max_iter=20)
    monitor.follow(1, 0, 2)
    seen = [100, 90, 89.99, 95, 94.99, 94.98]
    found = [
        monitor.note(sweep, 0.0, lambda value=value: value, None, "auto")
        for sweep, value in enumerate(seen, 1)
    ]
    assert found == [False] * 5 + [True]
