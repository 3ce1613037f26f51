"""Rules with options: what they accept, how they show, how they travel with a model."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import topoi
from topoi import LDA, datasets
from topoi.choices import RULES
from topoi.infer.recipe import named_schedule
from topoi.infer.rules import make_rule
from topoi.rules import BP, BY_NAME, CVB0, VB, Gibbs, SiBP
from topoi.tuning import current

GIVEN = [BP(), BP(messages="none"), BP(relaxation=1.2), SiBP(messages="token"), Gibbs()]
GIVEN += [CVB0(messages="edge", relaxation=0.5), VB(inner=3, textbook=True)]


@pytest.fixture(scope="module")
def counts():
    return datasets.make_lda(60, 40, 3, random_state=0)[0].counts


def test_every_name_has_a_class_with_the_same_meaning():
    assert tuple(BY_NAME) == RULES
    for name in RULES:
        assert make_rule(name) == make_rule(BY_NAME[name]())


def test_only_what_differs_from_the_default_is_shown():
    assert repr(BP()) == "BP()"
    assert repr(BP(messages="none")) == "BP(messages='none')"
    assert repr(LDA(3, rule=VB(inner=20))) == "LDA(n_components=3, rule=VB(inner=20))"
    assert dir(topoi.rules) == ["BP", "CVB0", "Gibbs", "SiBP", "VB"]
    assert "rules" in dir(topoi)


def test_rules_are_frozen():
    with pytest.raises(FrozenInstanceError):
        BP().messages = "none"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BP(messages="word"), "BP: messages is 'word'; choose 'edge' or 'token' or 'none'"),
        (lambda: SiBP(messages="none"), "Only BP works without stored messages"),
        (
            lambda: BP(relaxation=0),
            r"relaxation is 0; expected a number from 0.01 \(damping\) to 2",
        ),
        (
            lambda: CVB0(relaxation=2.5),
            r"CVB0: relaxation is 2.5; .* or None for what the schedule",
        ),
        (lambda: BP(relaxation=np.nan), "relaxation is nan"),
        (lambda: BP(relaxation=True), "relaxation is True"),
        (lambda: BP("none", 1.5), "messages='none' stores none. Leave relaxation out, or use"),
        (lambda: VB(inner=0), "VB: inner is 0; expected a whole number of passes, at least 1"),
        (lambda: VB(inner=2.5), "VB: inner is 2.5"),
        (lambda: VB(textbook=1), "VB: textbook is 1; expected True or False"),
    ],
)
def test_what_a_rule_cannot_be_is_refused_with_a_cure(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("rule", GIVEN, ids=repr)
def test_a_rule_survives_clone_pickle_and_a_model_file(counts, rule, tmp_path):
    model = LDA(3, rule=rule, max_iter=3)
    assert clone(model).rule == rule
    assert pickle.loads(pickle.dumps(model)).rule == rule
    model.fit(counts).save(tmp_path / "m.topoi")
    loaded = topoi.load(tmp_path / "m.topoi")
    assert loaded.rule == rule
    np.testing.assert_array_equal(loaded.transform(counts), model.transform(counts))


def test_a_name_comes_back_as_a_name_and_tol_as_the_papers(counts, tmp_path):
    LDA(3, rule="vb", tol="paper", max_iter=3).fit(counts).save(tmp_path / "m.topoi")
    assert topoi.load(tmp_path / "m.topoi").rule == "vb"
    assert topoi.load(tmp_path / "m.topoi").tol == "paper"


def test_a_model_that_learned_in_batches_keeps_the_factor(counts, tmp_path):
    model = LDA(3, rule=BP(relaxation=0.7), random_state=0).partial_fit(counts[:30])
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi").partial_fit(counts[30:])
    np.testing.assert_array_equal(again.components_, model.partial_fit(counts[30:]).components_)


def test_a_grid_search_tries_rules(counts):
    rules = [BP(), VB(inner=2)]
    found = GridSearchCV(LDA(3, max_iter=5), {"rule": rules}, cv=2).fit(counts)
    assert found.best_params_["rule"] in rules


def test_a_checkpoint_belongs_to_its_rule(counts, tmp_path):
    path, options = tmp_path / "run.ckpt", {"max_iter": 12, "tol": 0}
    once = LDA(3, rule=BP(relaxation=0.5), **options).fit(counts)
    stop = [lambda _, record: record.sweep == 7]
    LDA(3, rule=BP(relaxation=0.5), callbacks=stop, **options).fit(
        counts, checkpoint=path, checkpoint_every=3
    )
    with pytest.raises(ValueError, match="another run"):
        LDA(3, rule=BP(relaxation=0.6), **options).fit(counts, checkpoint=path)
    again = LDA(3, rule=BP(relaxation=0.5), **options).fit(counts, checkpoint=path)
    np.testing.assert_array_equal(again.components_, once.components_)


# ------------------------------------------------------------------ over-relaxation and damping


@pytest.mark.parametrize(
    ("name", "factor", "after"),
    [
        ("relaxed", 1.2, current().relax_after),
        ("relaxed", 0.5, 0),
        ("asynchronous", 1.2, current().relax_after),
        ("synchronous", 0.5, 0),
        ("incremental", 1.0, 0),
    ],
)
def test_the_factor_of_a_rule_replaces_that_of_the_schedule(name, factor, after):
    schedule = named_schedule(name, make_rule(BP(relaxation=factor)))
    assert (schedule.relaxation, schedule.relax_after) == (factor, after)


def test_the_factor_of_the_schedule_can_be_given(counts):
    """1.5 is what "relaxed" does by itself, and 1 makes it asynchronous."""
    options = {"max_iter": 20, "tol": 0, "random_state": 0}

    def topics(**more):
        return LDA(3, **options, **more).fit(counts).components_

    relaxed = topics(schedule="relaxed")
    np.testing.assert_array_equal(topics(schedule="relaxed", rule=BP(relaxation=1.5)), relaxed)
    np.testing.assert_array_equal(
        topics(schedule="relaxed", rule=BP(relaxation=1.0)), topics(schedule="asynchronous")
    )


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
def test_damped_messages_move_less_and_end_at_the_same_fixed_point(counts, schedule):
    fixed = {"doc_topic_prior": 0.1, "topic_word_prior": 0.05, "init": "soft", "tol": 0}

    def fit(factor, sweeps):
        rule = BP(relaxation=factor)
        return LDA(3, rule=rule, schedule=schedule, max_iter=sweeps, **fixed).fit(counts)

    first = [fit(factor, 1).history_[0]["residual"] for factor in (0.25, 1)]
    if schedule == "synchronous":  # from the same tables, the same new messages
        assert first[0] == pytest.approx(0.25 * first[1], rel=1e-3)
    assert first[0] < 0.5 * first[1]
    rested = fit(0.5, 400)
    assert rested.history_[-1]["residual"] < 1e-4
    more = LDA(3, schedule=schedule, max_iter=20, **{**fixed, "init": rested}).fit(counts)
    np.testing.assert_allclose(more.topic_word_, rested.topic_word_, atol=0.01)


def test_active_messages_cannot_be_damped(counts):
    with pytest.raises(ValueError, match="cannot be relaxed or damped; leave relaxation out"):
        LDA(3, rule=BP(relaxation=0.5), schedule="active").fit(counts)
