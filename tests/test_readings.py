"""The NumPy engine of the paper's readings is synchronous BP of this library, until a switch is
turned.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy import sparse

from benchmarks.common import PRIOR
from experiments.parity import CHOICES, ENGINE, LIBRARY
from experiments.readings import Reading, Synchronous
from topoi import LDA, RelationalTopicModel
from topoi.datasets import make_links

OPTIONS = {
    "schedule": "synchronous",
    "doc_topic_prior": PRIOR,
    "topic_word_prior": PRIOR,
    "max_iter": 4,
    "tol": 0,
}


@pytest.fixture(scope="module")
def corpus():
    return make_links(n_docs=40, n_topics=3, random_state=1)[0]


def symmetric(corpus):
    return sparse.csr_array(corpus.links.maximum(corpus.links.T))


def engine(corpus, reading=None, xi=0.0):
    run = Synchronous(corpus.counts, 3, reading or Reading(), symmetric(corpus), xi, seed=2)
    first = run.mu.argmax(axis=1)
    for _ in range(4):
        run.sweep()
    return run, first


def test_with_the_choices_of_the_library_it_is_synchronous_bp(corpus):
    run, first = engine(corpus)
    model = LDA(3, init=first, **OPTIONS).fit(corpus)
    np.testing.assert_allclose(run.topic_word, model.topic_word_, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(run.doc_topic, model.doc_topic_, rtol=1e-3, atol=1e-6)


def test_with_links_it_is_the_relational_model(corpus):
    run, first = engine(corpus, xi=0.15)
    model = RelationalTopicModel(3, init=first, link_weight=0.15, link_factor="paper", **OPTIONS)
    model.fit(corpus)
    np.testing.assert_allclose(run.topic_word, model.topic_word_, rtol=5e-3, atol=1e-5)


@pytest.mark.parametrize(
    ("switch", "value"),
    [("removed", "document"), ("eta", "columns"), ("eta_counts", "raw"), ("neighbours", "sum")],
)
def test_each_switch_changes_the_result(corpus, switch, value):
    usual, _ = engine(corpus, xi=0.15)
    other, _ = engine(corpus, replace(Reading(), **{switch: value}), xi=0.15)
    assert not np.allclose(usual.topic_word, other.topic_word, rtol=1e-6)


def test_eq_7_taken_literally_removes_the_document_from_the_totals():
    counts = sparse.csr_array(np.array([[2.0, 1.0], [0.0, 3.0]]))
    run = Synchronous(counts, 2, Reading(removed="document"), seed=1)
    mu, x = run.mu.copy(), run.x[:, 0]
    theta = np.array([x[:2] @ mu[:2], x[2] * mu[2]])
    phi = np.array([x[0] * mu[0], x[1] * mu[1] + x[2] * mu[2]])
    run.sweep()
    doc, word = [0, 0, 1], [0, 1, 1]
    for e in range(3):
        new = np.empty(2)
        for k in range(2):
            others = sum(phi[w, k] + PRIOR for w in range(2)) - theta[doc[e], k]
            own = x[e] * mu[e, k]
            new[k] = (phi[word[e], k] - own + PRIOR) / others * (theta[doc[e], k] - own + PRIOR)
        np.testing.assert_allclose(run.mu[e], new / new.sum(), rtol=1e-10)


def test_columns_and_rows_of_eta_sum_to_one(corpus):
    for eta, axis in (("rows", 1), ("columns", 0)):
        run, _ = engine(corpus, Reading(eta=eta), xi=0.15)
        np.testing.assert_allclose(run.table.sum(axis=axis), 1)


def test_raw_sums_of_neighbours_are_counts(corpus):
    run, _ = engine(corpus, Reading(neighbours="sum"), xi=0.15)
    said, linked = run.from_neighbours()
    expected = (symmetric(corpus) @ run.theta) @ run.table.T
    np.testing.assert_allclose(said, expected)
    assert linked.any()
    assert said[linked].sum(axis=1).max() > 2


def test_every_ambiguity_has_its_line_and_every_reading_is_shown():
    assert list(CHOICES) == [f"A{number}" for number in range(1, 21)]
    shown = {reading for choice in CHOICES.values() for reading in choice[4]}
    assert shown == {*ENGINE, *LIBRARY}
    switched = {f.name for f in fields(Reading)}
    assert {name for read, *_ in ENGINE.values() for name in switched
            if getattr(read, name) != getattr(Reading(), name)} == switched  # fmt: skip
