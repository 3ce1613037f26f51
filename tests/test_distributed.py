"""Runs over parts of the documents: one part is the plain run to the bit, and workers change
nothing.
"""

from __future__ import annotations

import threading
from copy import copy
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from support import tune

import topoi
from topoi import (
    LDA,
    AuthorTopicModel,
    Corpus,
    LatentDirichletAllocation,
    datasets,
    distributed,
    evaluate,
)
from topoi.infer.recipe import Settings, make_recipe
from topoi.infer.rules import make_rule
from topoi.infer.shards import Shard, everywhere
from topoi.infer.threads import ThreadPool
from topoi.rules import BP

QUICK = {"max_iter": 24, "tol": 0}


@pytest.fixture(scope="module")
def client():
    """Two workers, each a process of its own."""
    dask = pytest.importorskip("dask.distributed")
    with (
        dask.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        dask.Client(cluster) as client,
    ):
        yield client


def fit_here(model, parts):
    """`distributed.fit` with all parts in this process, without Dask."""
    return distributed._fit(
        model,
        parts,
        lambda number, part, reader, seed: distributed.Part(part, copy(reader), number, seed),
    )


def cut(counts, n):
    return [counts[a] for a in np.array_split(np.arange(counts.shape[0]), n)]


def same(first, second):
    """Whether two models are the same to the bit, and came there by the same way."""
    for name in ("components_", "doc_topic_", "doc_topic_prior_"):
        assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    assert (first.topic_word_prior_, first.n_iter_, first.converged_) == (
        second.topic_word_prior_,
        second.n_iter_,
        second.converged_,
    )
    for a, b in zip(first.history_, second.history_, strict=True):
        assert {**a, "seconds": 0} == {**b, "seconds": 0}


def test_without_a_client_the_error_names_the_cure(mixed):
    """Must come before the tests that have one."""
    pytest.importorskip("dask.distributed")
    with pytest.raises(ValueError, match=r"no Dask client; give client=dask.distributed.Client"):
        distributed.fit(LDA(), [mixed[0].counts])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"doc_topic_prior": 0.1, "topic_word_prior": 0.05},
        {"schedule": "asynchronous", "rule": "cvb0"},
        {"schedule": "relaxed", "rule": "sibp", "doc_topic_prior": 0.1},
        {"init": "soft", "max_iter": 60},
        {"tol": 1e-4, "max_iter": 200},
        {"init": np.random.default_rng(0).dirichlet(np.ones(80), 5)},
        {"tol": "paper", "max_iter": 200, "n_jobs": 2},
    ],
    ids=lambda options: " ".join(options),
)
@pytest.mark.parametrize("warm_up", [False, True])
def test_one_part_is_the_plain_run(mixed, options, warm_up, monkeypatch):
    if warm_up:
        tune(monkeypatch, warm_up_from=0)
    options = {**QUICK, **options}
    same(fit_here(LDA(5, **options), [mixed[0].counts]), LDA(5, **options).fit(mixed[0].counts))


def test_one_part_with_topic_lists_is_the_plain_run(mixed, warm_up_always, monkeypatch):
    tune(monkeypatch, lists_above=3)
    options = {**QUICK, "max_iter": 60}
    model = LDA(5, **options).fit(mixed[0].counts)
    assert {"listed", "afresh"} <= {record["schedule"] for record in model.history_}
    same(fit_here(LDA(5, **options), [mixed[0].counts]), model)


@pytest.mark.parametrize("warm_up", [False, True])
@pytest.mark.parametrize("lists", [False, True])
def test_tables_are_the_sum_of_all_messages(mixed, warm_up, lists, monkeypatch):
    """After every round each part holds what the messages of all parts count to, and nothing is
    lost or made.
    """
    if warm_up:
        tune(monkeypatch, warm_up_from=0)
    if lists:
        tune(monkeypatch, lists_above=3)
    counts = mixed[0].counts
    shards, looked = [], []
    made = distributed.Part.__init__
    monkeypatch.setattr(
        distributed.Part,
        "__init__",
        lambda self, *args: (made(self, *args), shards.append(self))[0],
    )

    def look(model, record):
        phi = shards[0].state.tables.phi
        for shard in shards:
            assert_array_equal(shard.state.tables.phi, phi)
            assert_allclose(shard.state.tables.totals, phi.sum(axis=0), rtol=1e-4, atol=1e-3)
            if shard.state.stored:
                assert_allclose(
                    shard.own[:, :5],
                    shard.state.word_counts(shard.rule, ThreadPool(1)),
                    rtol=2e-4,
                    atol=5e-3,
                )
        assert phi.min() >= 0
        assert_allclose(phi.sum(axis=1), counts.sum(axis=0), rtol=1e-4, atol=1e-3)
        looked.append(record.schedule)

    fit_here(LDA(5, callbacks=[look], max_iter=110, tol=0), cut(counts, 6))
    assert len(looked) == 110
    assert ("warm-up" in looked) == warm_up
    assert ("listed" in looked) == (warm_up and lists)


@pytest.mark.parametrize("n_parts", [2, 5])
def test_planted_topics_are_found_over_parts(n_parts):
    corpus, truth = datasets.make_blocks(random_state=3)
    model = fit_here(LDA(4), cut(corpus.counts, n_parts))
    assert model.converged_
    _, cosine = evaluate.match_topics(truth.topic_word, model)
    assert cosine.min() > 0.99


def test_parts_are_as_good_as_one_piece():
    corpus, _ = datasets.make_lda(400, 200, 8, random_state=0)
    train, test = corpus.split(random_state=0)
    whole = evaluate.completion_perplexity(LDA(8).fit(train), test)
    model = fit_here(LDA(8), cut(train.counts, 4))
    assert evaluate.completion_perplexity(model, test.counts) < 1.02 * whole


def test_priors_are_learned_from_all_parts(mixed):
    """Documents of one theme each: a part alone knows one topic, and would learn another prior."""
    corpus, _ = datasets.make_blocks(random_state=3)
    by_theme = np.argsort(corpus.counts[:, : corpus.n_words // 4].sum(axis=1), kind="stable")
    model, whole = fit_here(LDA(4), cut(corpus.counts[by_theme], 4)), LDA(4).fit(corpus.counts)
    assert_allclose(np.sort(model.doc_topic_prior_), np.sort(whole.doc_topic_prior_), rtol=0.05)
    assert_allclose(model.topic_word_prior_, whole.topic_word_prior_, rtol=0.05)


# --------------------------------------------------------------------------------------------- Dask


def load_part(number, n_parts):
    return cut(datasets.make_lda(150, 80, 5, random_state=1)[0].counts, n_parts)[number]


def test_a_cluster_gives_the_bits_of_one_process(client, mixed, tmp_path):
    parts = cut(mixed[0].counts, 3)
    expected = fit_here(LDA(5, **QUICK), parts)
    same(distributed.fit(LDA(5, **QUICK), parts, client=client), expected)
    same(
        distributed.fit(
            LDA(5, **QUICK), [partial(load_part, i, 3) for i in range(3)], client=client
        ),
        expected,
    )
    for i, part in enumerate(parts):
        topoi.write(Corpus(part), tmp_path / f"{i}.npz")
    files = [str(tmp_path / f"{i}.npz") for i in range(3)]
    model = distributed.fit(LDA(5, **QUICK), files)  # the current client
    same(model, expected)
    model.callbacks = [threading.Lock().acquire]  # cannot travel, and need not
    proportions = distributed.transform(model, files)
    model.callbacks = None
    assert [len(share) for share in proportions] == [part.shape[0] for part in parts]
    assert_array_equal(np.vstack(proportions), model.transform(mixed[0].counts))


def test_a_model_fitted_over_parts_is_a_model(client, mixed, tmp_path):
    parts = [
        replace(mixed[0][a], doc_names=[f"d{i}" for i in a])
        for a in np.array_split(np.arange(150), 2)
    ]
    order = np.random.default_rng(0).permutation(80)
    parts[1] = parts[1].over([mixed[0].words[i] for i in order])  # the same words in another order
    model = distributed.fit(LDA(5, **QUICK), parts, client=client)
    assert_array_equal(model.vocabulary_, mixed[0].words)
    assert model.doc_names_.tolist() == [f"d{i}" for i in range(150)]
    same(model, fit_here(LDA(5, **QUICK), cut(mixed[0].counts, 2)))
    model.save(tmp_path / "m.topoi")
    assert_array_equal(
        topoi.load(tmp_path / "m.topoi").transform(mixed[0].counts),
        model.transform(mixed[0].counts),
    )
    model.report(tmp_path / "m.html")
    before = model.components_
    assert not np.array_equal(model.partial_fit(mixed[0].counts[:30]).components_, before)


def test_what_cannot_be_fitted_over_parts_is_refused(client, mixed):
    counts = mixed[0].counts
    for model in (
        LDA(rule="gibbs"),
        LDA(rule="vb"),
        LDA(schedule="residual"),
        LDA(rule=BP(messages="none")),
        LDA(weighting="tfidf"),
        AuthorTopicModel(),
    ):
        with pytest.raises(ValueError, match="Over parts only LDA with rule"):
            distributed.fit(model, [counts], client=client)
    fitted = LDA(5, **QUICK).fit(counts)
    for parts in (counts, [], "x.npz", mixed[0], None):
        with pytest.raises(ValueError, match="parts must be a list"):
            distributed.fit(LDA(), parts, client=client)
        with pytest.raises(ValueError, match="parts must be a list"):
            distributed.transform(fitted, parts, client=client)
    with pytest.raises(ValueError, match="Over parts only LDA can predict"):
        distributed.transform(AuthorTopicModel(), [counts], client=client)
    with pytest.raises(ValueError, match="has 79 features, but LDA is expecting 80"):
        distributed.fit(LDA(), [counts, counts[:, :79]], client=client)
    with pytest.raises(ValueError, match="parts hold no words at all"):
        distributed.fit(LDA(), [sparse.csr_array((3, 80))], client=client)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        distributed.fit(LDA(), ["nowhere.npz"], client=client)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_parts_may_be_empty_and_scikit_learns_names_work(mixed, place):
    parts = cut(mixed[0].counts, 2)
    parts.insert(place, sparse.csr_array((2, 80)))
    model = fit_here(LatentDirichletAllocation(5, max_iter=5, random_state=0), parts)
    assert model.doc_topic_.shape == (152, 5)
    assert_allclose(model.doc_topic_.sum(axis=1), 1, rtol=1e-6)
    assert_allclose(model.bound_, np.exp(-_gain(mixed[0].counts, model, place)), rtol=1e-5)


def _gain(counts, model, place):
    """Mean log-likelihood of a token under a model one of whose parts, the one at `place`, holds no
    words.
    """
    first = (0, 75, 150)[place]
    proportions = np.delete(model.doc_topic_, [first, first + 1], axis=0)
    return (counts.toarray() * np.log(proportions @ model.topic_word_)).sum() / counts.sum()


def test_uneven_parts_begin_as_even_ones_do():
    corpus, _ = datasets.make_lda(400, 200, 8, random_state=0)
    counts, taken = corpus.counts, []
    shards = [
        Shard(part, 8, number, 0, None)
        for number, part in enumerate([counts[:390], *(counts[i : i + 1] for i in range(390, 400))])
    ]
    for enough in (2000, 10**6):
        some = everywhere(shards, "some_documents", enough, counts.nnz)
        taken.append(sum(part.nnz for part in some))
    assert 2000 <= taken[0] < 3000
    assert taken[1] == counts.nnz


def test_words_must_be_the_same_in_all_parts(mixed):
    corpus = mixed[0]
    with pytest.raises(
        ValueError,
        match=r"Part 1: 20 of its words are not in the first part, such as .*corpus.over",
    ):
        fit_here(LDA(5, **QUICK), [corpus[:70].over(corpus.words[:60]), corpus[70:]])
    with pytest.raises(
        ValueError, match="Part 1: either this part or the first one does not name its words"
    ):
        fit_here(LDA(5, **QUICK), [corpus.counts[:70], corpus[70:]])


def test_fractions_are_refused_by_rules_of_tokens(mixed):
    with pytest.raises(ValueError, match="needs whole-number counts"):
        fit_here(LDA(5, rule="cvb0", **QUICK), cut(mixed[0].counts * 1.5, 2))


def test_warnings_are_of_all_parts_and_given_here(mixed, client, monkeypatch):
    monkeypatch.setattr(
        "topoi.models.preflight.MANY", (mixed[0].counts > 0).sum(axis=0).max() - 1
    )  # entries of a word: fewer in each part
    with pytest.warns(UserWarning, match="entries are counted one by one"):
        distributed.fit(LDA(5, **QUICK), cut(mixed[0].counts, 3), client=client)
    with (
        pytest.warns(UserWarning, match="entries are counted one by one"),
        pytest.warns(UserWarning, match="largest entry of X is"),
    ):
        distributed.fit(LDA(5, **QUICK), cut(mixed[0].counts * 1e5, 2), client=client)


def test_nothing_is_lost_beside_the_counts_of_many_others():
    """Own counts are not differences of sums that dwarf them."""
    counts = datasets.make_lda(50, 30, 3, random_state=0)[0].counts
    shard, rule = distributed.Part(counts, LDA(3), 0, 0), make_rule("bp")
    others = np.zeros((30, 16), np.float32)
    others[:, :3] = 1e8
    settings = Settings(rule, "asynchronous")
    recipe = make_recipe(shard.plan.facts, settings)
    first = shard.begin(settings, recipe, 1.0, counts.sum(axis=0), False)
    shard.hear(first + others)
    for _ in range(3):
        own = shard.sweep(end=None)
        assert_allclose(own.sum(axis=1), counts.sum(axis=0), rtol=1e-5)
        shard.hear(own + others)


def test_answers_and_promises_are_waited_for():
    class Promise:
        def result(self):
            return 2

    class Far:
        def number(self):
            return Promise()

    class Near:
        def number(self):
            return 1

    assert everywhere([Near(), Far()], "number") == [1, 2]
