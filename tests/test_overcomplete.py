"""The start of "auto": more topics than wanted, and the closest of them merged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from support import tune

from topoi import LDA, RelationalTopicModel, datasets
from topoi.evaluate import match_topics
from topoi.graph.plan import Plan
from topoi.infer import overcomplete
from topoi.infer.overcomplete import merge_topics, overcomplete_topics
from topoi.infer.recipe import Prior, Settings, enough_edges, make_recipe
from topoi.infer.rules import make_rule
from topoi.infer.threads import ThreadPool
from topoi.tuning import Tuning


def group_of_each(phi, n):
    """merge_topics by the definition: all sums of squares made anew for each merger."""
    groups = [[k] for k in range(phi.shape[1])]
    size = phi.sum(axis=0)
    root = np.sqrt(phi / size)

    def spread(members):
        centre = root[:, members] @ size[members] / size[members].sum()
        return (size[members] * ((root[:, members] - centre[:, None]) ** 2).sum(axis=0)).sum()

    while len(groups) > n:
        pairs = [(i, j) for j in range(len(groups)) for i in range(j)]
        loss = [
            spread(groups[i] + groups[j]) - spread(groups[i]) - spread(groups[j]) for i, j in pairs
        ]
        i, j = pairs[int(np.argmin(loss))]
        groups[i] = sorted(groups[i] + groups.pop(j))
    return {tuple(group) for group in groups}


@pytest.mark.parametrize("seed", range(4))
def test_merging_is_wards(seed):
    phi = np.random.default_rng(seed).gamma(0.3, 10, (30, 9)).astype(np.float32)
    group = merge_topics(phi, 4)
    assert {tuple(np.flatnonzero(group == g).tolist()) for g in range(4)} == group_of_each(
        phi.astype(np.float64), 4
    )


def test_doubles_and_empty_topics_are_merged_first():
    rng = np.random.default_rng(0)
    themes = rng.dirichlet(np.full(50, 0.1), 4).T * [1000, 400, 90, 700]  # (words, topics)
    phi = np.hstack([themes, 0.5 * themes, np.zeros((50, 2))]).astype(np.float32)
    group = merge_topics(phi, 4)
    assert (group[:4] == group[4:8]).all()
    assert len(set(group[:4])) == 4


def test_few_documents_are_enough():
    counts = sparse.csr_array(np.random.default_rng(0).poisson(0.3, (1000, 100)).astype(float))
    some = overcomplete.some_documents(counts, 3000, seed=1)
    assert 3000 <= some.nnz < 3060
    assert (
        len({tuple(row) for row in some.toarray()} - {tuple(row) for row in counts.toarray()}) == 0
    )
    assert (
        some.toarray()[:50] != overcomplete.some_documents(counts, 3000, seed=2).toarray()[:50]
    ).any()
    assert overcomplete.some_documents(counts, -(-counts.nnz // 2), seed=1) is counts


def test_how_many_edges_are_enough():
    assert enough_edges(50, 10**7, Tuning()) == 75_000
    assert enough_edges(200, 250_000, Tuning()) == 100_000  # 500 for each topic
    assert enough_edges(200, 450_000, Tuning()) == 150_000  # a third
    assert enough_edges(200, 10**7, Tuning()) == 200_000  # twice as many


def test_first_topics_are_word_shares_of_the_themes(blocks):
    corpus, truth = blocks
    rule = make_rule("bp")
    priors = Prior(np.full(4, 0.1), False), Prior(np.array([0.01]), False)
    recipe = make_recipe(Plan(4, corpus.counts).facts, Settings(rule, "auto", *priors))
    topics = overcomplete_topics(corpus.counts, recipe, rule, seed=0, pool=ThreadPool(1))
    assert topics.shape == (corpus.n_words, 4)
    np.testing.assert_allclose(topics.sum(axis=0), 1, rtol=1e-5)
    assert match_topics(topics.T, truth.topic_word)[1].min() > 0.95


@pytest.mark.parametrize("alpha", [0.02, 0.1])
@pytest.mark.parametrize("n_docs", [600, 2000])
def test_planted_topics_are_found_from_every_seed(n_docs, alpha):
    """From a random start, in most runs one topic holds two themes (n_docs: without and with
    warm-up sweeps).
    """
    corpus, truth = datasets.make_lda(n_docs, 500, 20, alpha=alpha, random_state=1)
    assert (corpus.counts.nnz >= Tuning().warm_up_from) == (n_docs == 2000)

    def found(**options):
        return [
            match_topics(LDA(20, random_state=seed, **options).fit(corpus), truth.topic_word)[
                1
            ].min()
            > 0.9
            for seed in range(4)
        ]

    assert all(found())
    assert not all(found(schedule="relaxed"))


def test_the_same_bits_on_any_number_of_threads(monkeypatch):
    tune(monkeypatch, overcomplete_edges=4000)  # a part of the documents
    corpus, _ = datasets.make_lda(2000, 500, 8, random_state=1)
    one, two = (LDA(8, max_iter=12, tol=0, n_jobs=n).fit(corpus) for n in (1, 2))
    np.testing.assert_array_equal(one.components_, two.components_)


def test_who_begins_wide(mixed):
    plan, settings = Plan(5, mixed[0].counts), Settings(make_rule("bp"))
    few = make_recipe(plan.facts, settings)
    assert few.schedule.name == "relaxed"
    # Not over-relaxed on few edges.
    assert few.overcomplete == (1.0,) * len(Tuning().overcomplete_sweeps)
    assert len(make_recipe(plan.facts, replace(settings, max_iter=3)).overcomplete) == 3
    for recipe in (
        make_recipe(plan.facts, replace(settings, schedule="relaxed")),
        make_recipe(plan.facts, replace(settings, init="warm")),
        make_recipe(plan.facts, replace(settings, init="soft")),
        make_recipe(plan.facts, Settings(make_rule("sibp"))),
        make_recipe(Plan(1, plan.counts).facts, settings),
        make_recipe(Plan(300, plan.counts).facts, settings),
    ):
        assert recipe.overcomplete == ()


def test_many_edges_are_calm_after_a_wide_start(warm_up_always, mixed):
    recipe = make_recipe(Plan(5, mixed[0].counts).facts, Settings(make_rule("bp")))
    assert recipe.overcomplete == Tuning().overcomplete_sweeps
    assert recipe.schedule.warm_up == Tuning().short_warm_up


def test_linked_documents_begin_wide_too():
    corpus, truth = datasets.make_links(random_state=2)
    for seed in range(3):
        model = RelationalTopicModel(5, link_weight=0.1, random_state=seed).fit(corpus)
        assert match_topics(model, truth.topic_word)[1].min() > 0.9
