"""Combinations of factors: kernels against their twins, threads, mixtures, bad metadata."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from support import COMBINATIONS, infer_twin, several_blocks

import topoi
from topoi import (
    Authors,
    AuthorTopicModel,
    Documents,
    LabeledLDA,
    Labels,
    Links,
    RelationalTopicModel,
    TopicModel,
    Words,
    datasets,
)
from topoi.graph.factors import canonical_factor, compile_factors, make_plan
from topoi.graph.wiring import build_graph
from topoi.infer import reference
from topoi.infer.engine import sweep
from topoi.infer.recipe import named_schedule
from topoi.infer.rules import make_rule
from topoi.infer.state import State
from topoi.infer.tables import blank_tables
from topoi.infer.threads import ThreadPool

pytestmark = pytest.mark.usefixtures("warm_up_always")


def factor_lists(n_docs):
    rng = np.random.default_rng(5)
    authors = [
        [f"a{j}" for j in rng.choice(8, rng.integers(0, 4), replace=False)] for _ in range(n_docs)
    ]
    links = [(int(a), int(b)) for a, b in rng.integers(0, n_docs, (25, 2))]
    labels = [
        [int(k) for k in rng.choice(4, rng.integers(0, 4), replace=False)] for _ in range(n_docs)
    ]
    return {
        "authors": lambda: [Authors(authors)],
        "authors with learned proportions": lambda: [Authors(authors, "learned")],
        "links": lambda: [Documents(), Links(links, 0.2)],
        "links as in the paper": lambda: [Documents(), Links(links, 0.2, "paper")],
        "labels": lambda: [Documents(), Labels(labels, 1, np.arange(4))],
        "all of them": lambda: [
            Authors(authors, "learned"),
            Links(links, 0.2, "identity"),
            Labels(labels, 1, np.arange(4)),
        ],
    }


@pytest.mark.parametrize("name", list(factor_lists(1)))
@pytest.mark.parametrize(("rule_name", "schedule_name"), COMBINATIONS)
def test_kernels_equal_their_twins_with_every_factor(small, name, rule_name, schedule_name):
    counts = small[:25]
    rule = make_rule(rule_name)
    schedule = replace(named_schedule(schedule_name, rule), relax_after=0)
    graph = compile_factors(
        [Words(counts), *(canonical_factor(each, 25) for each in factor_lists(25)[name]())],
        5,
        tokens=rule.tokens,
        blocks=3,
    )
    with ThreadPool(2) as pool:
        state = State.start(graph, rule, np.linspace(0.05, 0.2, 5), 0.05, seed=1, pool=pool)
        tables = reference.doubled(state.tables)
        mu = state.messages.mu.astype(float)
        z = state.messages.z.copy()
        for _ in range(3):
            params = state.params(
                rule, in_place=schedule.in_place, relaxation=schedule.relaxation_at(state.sweep)
            )
            # The twin sees the order and the fields that this sweep used.
            sweep(state, rule, schedule, pool)
            if rule.draws:
                reference.gibbs(graph, tables, z, state.messages, state.fields, params)
            elif schedule.afresh or rule.inner > 1:
                _, tables = infer_twin(state, rule, tables, mu, params)
            else:
                read, seen = rule.seen(tables, params)
                write = (
                    tables
                    if schedule.in_place
                    else reference.doubled(blank_tables(graph, graph.word_base))
                )
                reference.sweep(graph, read, write, mu, state.messages, state.fields, seen)
                tables = write
            for ours, twin in zip(state.tables, tables, strict=True):
                np.testing.assert_allclose(ours, twin, rtol=1e-4, atol=2e-4)
            np.testing.assert_array_equal(state.messages.z, z)
            np.testing.assert_allclose(state.messages.mu, mu, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("rule", "schedule"), [("bp", "asynchronous"), ("bp", "synchronous"), ("gibbs", "asynchronous")]
)
def test_same_bits_for_any_number_of_threads(rule, schedule, monkeypatch):
    several_blocks(monkeypatch)
    corpus, _ = datasets.make_authors(80, 10, 40, 4, doc_length=30)
    links = [(d, (3 * d) % 80) for d in range(80)]
    fits = [
        TopicModel(
            [Words(corpus.counts), Authors(corpus.authors, "learned"), Links(links, 0.2)],
            4,
            rule=rule,
            schedule=schedule,
            max_iter=15,
            n_jobs=n,
        ).fit()
        for n in (1, 2, 4)
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.components_, fits[0].components_)
        np.testing.assert_array_equal(other.owner_topic_, fits[0].owner_topic_)


def test_mixtures_nobody_wrote_a_class_for(labeled):
    corpus, _ = labeled
    authors = [[f"a{d % 12}"] for d in range(400)]
    links = [(d, (d + 12) % 400) for d in range(400)]
    both = TopicModel(
        [Words(corpus.counts), Authors(authors), Links(links, "learn", "identity")], 6, max_iter=20
    ).fit()
    assert both.owner_topic_.shape == (12, 6)
    assert 0 < both.factors_[2].weight < 1
    assert both.factors[2].weight == "learn"  # a second fit learns again
    np.testing.assert_array_equal(both.components_, both.fit().components_)
    labeled_authors = TopicModel(
        [Words(corpus.counts, "tfidf"), Authors(authors), Labels(corpus.labels)], max_iter=20
    ).fit()
    assert labeled_authors.components_.shape == (6, 120)
    assert labeled_authors.transform(corpus.counts[:5]).shape == (5, 6)
    with pytest.raises(ValueError, match="first factor must be Words"):
        TopicModel([Authors(authors)]).fit()


def test_a_mixture_has_words_once_and_one_kind_of_owner(small):
    for extra in ([Words(small)], [Documents(), Authors([["a"]] * 60)]):
        with pytest.raises(
            ValueError, match="Words and Labels come once, and documents have one kind of owner"
        ):
            TopicModel([Words(small), *extra], 3).fit()


def test_a_mixture_takes_words_that_hold_counts_already(labeled):
    """Frozen words stay as they are; a base adds to what the messages count."""
    counts = labeled[0].counts
    base = np.random.default_rng(0).random((counts.shape[1], 3))
    frozen = TopicModel(
        [Words(counts, base=base, frozen=True)], 3, max_iter=5, topic_word_prior=0.1
    ).fit()
    np.testing.assert_allclose(frozen.components_, base.T + 0.1, rtol=1e-6)
    more = TopicModel([Words(counts, base=base)], 3, max_iter=5, topic_word_prior=0.1).fit()
    np.testing.assert_allclose(
        more.components_.sum() - 0.1 * 3 * len(base), counts.sum() + base.sum(), rtol=1e-4
    )


def test_several_links_leave_words_a_say(linked):
    corpus, _ = linked
    pairs = np.column_stack(corpus.links.nonzero())
    halves = pairs[::2], pairs[1::2]
    with pytest.raises(ValueError, match=r"sum to 1.2; together they must stay below 1"):
        TopicModel([Words(corpus.counts), *(Links(half, 0.6) for half in halves)], 4).fit()
    learned = TopicModel(
        [Words(corpus.counts), *(Links(half, "learn") for half in halves)], 4, max_iter=10
    ).fit()
    assert (
        0 < sum(factor.weight for factor in learned.factors_ if isinstance(factor, Links)) <= 0.95
    )
    assert learned.doc_topic_.min() >= 0


def test_neighbours_speak_only_of_topics_a_document_may_use(labeled):
    corpus, _ = labeled
    links = [(d, (d + 1) % corpus.n_docs) for d in range(corpus.n_docs)]
    model = TopicModel(
        [Words(corpus.counts), Labels(corpus.labels), Links(links, 0.3)], max_iter=10
    ).fit()
    may = [[label in labels for label in model.factors_[2].classes] for labels in corpus.labels]
    assert model.doc_topic_[~np.array(may)].max() == 0
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1, rtol=1e-6)


def test_shares_of_labeled_authors_are_those_in_the_messages(small):
    """Each author's proportions are normalised over the topics that the document may use, then
    mixed.
    """
    rng = np.random.default_rng(0)
    authors = [[f"a{d % 5}", f"b{d % 7}"] for d in range(60)]
    labels = [sorted(rng.choice(4, 2, replace=False)) for _ in range(60)]
    factors = [canonical_factor(each, 60) for each in (Authors(authors), Labels(labels))]
    plan = make_plan([Words(small), *factors], 4)
    graph = build_graph(plan)
    with ThreadPool(1) as pool:
        state = State.start(graph, make_rule("bp"), np.full(4, 0.1), 0.1, seed=0, pool=pool)
    theta = state.owner_counts() + 0.1
    owners = plan.owners
    for d in range(60):
        proportions = theta[owners.indices[owners.indptr[d] : owners.indptr[d + 1]]][:, labels[d]]
        np.testing.assert_allclose(
            state.doc_topic()[d, labels[d]],
            (proportions / proportions.sum(axis=1, keepdims=True)).mean(axis=0),
            rtol=1e-6,
        )


def test_bad_metadata_is_refused_with_the_cure(small):
    n = small.shape[0]
    with pytest.raises(
        ValueError, match=r"authors describes 3 documents but X has 60; give one list per document"
    ):
        AuthorTopicModel(2).fit(small, authors=[["a"]] * 3)
    with pytest.raises(ValueError, match=r"authors has 5 rows"):
        AuthorTopicModel(2).fit(small, authors=sparse.csr_array(np.ones((5, 3))))
    numbers = np.tile([[1, 2], [0, 1]], (n // 2, 1))
    for table in (numbers, numbers / 2, sparse.csr_array(numbers), pd.DataFrame(numbers)):
        refused = (
            r"is a matrix with the entry (2|0\.5); expected an indicator of 0 and 1. Where names"
            r" are numbers, give a list"
        )
        with pytest.raises(ValueError, match=f"y {refused}"):
            LabeledLDA().fit(small, table)
        with pytest.raises(ValueError, match=f"authors {refused}"):
            AuthorTopicModel(2).fit(small, authors=table)
    with pytest.raises(ValueError, match="is 'flat'; choose"):
        AuthorTopicModel(2, author_prior="flat").fit(small, authors=[["a"]] * n)
    with pytest.raises(ValueError, match=r"documents 0 and 99, but documents are numbered 0 to 59"):
        RelationalTopicModel(2).fit(small, links=[(0, 99)])
    with pytest.raises(ValueError, match=r"links has shape \(3, 3\)"):
        RelationalTopicModel(2).fit(small, links=sparse.csr_array(np.eye(3)))
    with pytest.raises(ValueError, match=r"link_weight is 1\.5"):
        RelationalTopicModel(2, link_weight=1.5).fit(small, links=[(0, 1)])
    with pytest.raises(ValueError, match="link_factor is 'x'"):
        RelationalTopicModel(2, link_factor="x").fit(small, links=[(0, 1)])
    with pytest.raises(ValueError, match="doc_names are not all different"):
        RelationalTopicModel(2).fit(small, links=[[]] * n, doc_names=["same"] * n)
    with pytest.raises(ValueError, match="use LDA"):
        LabeledLDA().fit(small)
    with pytest.raises(ValueError, match="y describes 2 documents"):
        LabeledLDA().fit(small, [["a"], ["b"]])
    with pytest.raises(ValueError, match="holds no label"):
        LabeledLDA().fit(small, [[]] * n)
    fitted = LabeledLDA(max_iter=3).fit(small, ["a", "b"] * (n // 2))
    assert fitted.score(small[:2], ["a", "never seen"]) in (0.0, 0.5)


def test_owners_without_documents_beside_labels(small):
    owners = np.eye(small.shape[0], small.shape[0] + 2)
    labels = [["a"] if d % 2 else ["b", "c"] for d in range(small.shape[0])]
    model = TopicModel([Words(small), Authors(owners), Labels(labels)], max_iter=15).fit()
    assert model.owner_topic_.shape == (small.shape[0] + 2, 3)


def test_a_combination_answers_what_its_factors_allow(tmp_path):
    corpus, _ = datasets.make_links(80, random_state=1)
    names, labels = [[f"a{d % 5}"] for d in range(80)], ["x", "y"] * 40
    model = TopicModel(
        [Words(corpus), Authors(names), Links(corpus.links, 0.15), Labels(labels)], max_iter=10
    ).fit()
    assert sum(p for _, p in model.predict_authors(corpus.counts[:1], 5)[0]) == pytest.approx(1)
    assert len(model.recommend_links(corpus.counts[:1], 4)[0]) == 4
    assert model.link_scores([(0, 1)]).shape == (1,)
    assert set(model.predict(corpus.counts)) <= {"x", "y"}
    assert model.topic_names_ == ["x", "y"]
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    assert again.predict_authors(corpus.counts[:3]) == model.predict_authors(corpus.counts[:3])
    assert again.recommend_links(corpus.counts[:3]) == model.recommend_links(corpus.counts[:3])
    assert again.predict(corpus.counts).tolist() == model.predict(corpus.counts).tolist()
    plain = TopicModel([Words(corpus)], 3, max_iter=2).fit()
    plain.save(tmp_path / "p.topoi")
    np.testing.assert_array_equal(topoi.load(tmp_path / "p.topoi").components_, plain.components_)
    assert plain.topic_names_[0] == "topic0"
    for ask, what in (
        (lambda: plain.predict_authors(corpus.counts), "without authors"),
        (lambda: plain.recommend_links(corpus.counts), "without links"),
        (lambda: plain.predict(corpus.counts), "without labels"),
    ):
        with pytest.raises(ValueError, match=what):
            ask()
