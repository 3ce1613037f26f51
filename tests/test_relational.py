"""The relational model: planted links, predictions, the forms of links."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from topoi import (
    LDA,
    Documents,
    Links,
    RelationalTopicModel,
    Words,
    datasets,
)
from topoi.corpus.links import adjacency
from topoi.evaluate import completion_perplexity
from topoi.graph.factors import canonical_factor, compile_factors

pytestmark = pytest.mark.usefixtures("warm_up_always")


@pytest.mark.parametrize("factor", ["paper", "learned", "identity"])
def test_link_field_is_the_equation(small, factor):
    counts = small[:12]
    links = canonical_factor(Links([(0, 1), (1, 2), (5, 5), (3, 7)], 0.2, factor), 12)
    graph = compile_factors([Words(counts), Documents(), links], 4)
    assert graph.fields == (links,)
    rng = np.random.default_rng(0)
    proportions, tokens = rng.dirichlet(np.ones(4), 12), counts.sum(axis=1)
    message = links.learned_message(proportions, tokens, {})[0]
    neighbours = {0: [1], 1: [0, 2], 2: [1], 3: [7], 7: [3]}
    pairs = [(d, e) for d, es in neighbours.items() for e in es]
    if factor == "paper":
        joint = sum(
            np.outer(tokens[d] * proportions[d], tokens[e] * proportions[e]) for d, e in pairs
        )
    else:  # the first EM step, link by link, from joint = I + 1/4, whose lift is itself over 4
        odds = [np.outer(proportions[d], proportions[e]) * (np.eye(4) + 0.25) for d, e in pairs]
        joint = sum(table / table.sum() for table in odds)
    eta = np.eye(4) if factor == "identity" else joint / joint.sum(axis=1, keepdims=True)
    for d in range(12):
        expected = sum((eta @ proportions[e] for e in neighbours.get(d, [])), np.zeros(4))
        expected = expected / expected.sum() if expected.sum() else expected
        np.testing.assert_allclose(message[d], expected, rtol=1e-4, atol=1e-15)


def test_links_help_new_documents_and_shuffled_links_do_not():
    corpus, _ = datasets.make_links(500, 200, 6, doc_length=12, links_per_doc=5, random_state=2)
    options = {"doc_topic_prior": 0.05, "topic_word_prior": 0.05, "max_iter": 80, "random_state": 1}
    counts, train, test = corpus.counts, np.arange(400), np.arange(400, 500)
    table = corpus.links
    order = np.random.default_rng(0).permutation(500)

    def perplexity(table):
        model = RelationalTopicModel(6, link_factor="identity", **options).fit(
            counts[train], links=table[train][:, train]
        )
        return model.link_weight_, completion_perplexity(
            model, counts[test], held_out=0.8, links=table[test][:, train]
        )

    lda = completion_perplexity(LDA(6, **options).fit(counts[train]), counts[test], held_out=0.8)
    weight, right = perplexity(table)
    placebo_weight, placebo = perplexity(table[order][:, order])
    assert right < 0.98 * lda
    assert right < 0.98 * placebo
    assert weight > 2 * placebo_weight
    assert placebo_weight < 0.1


def test_planted_links_are_predicted(linked):
    corpus, _ = linked
    model = RelationalTopicModel(6, link_weight=0.15, max_iter=60).fit(corpus)
    assert model.link_topic_.shape == (6, 6)
    np.testing.assert_allclose(model.link_topic_.sum(axis=1), 1, rtol=1e-9)
    assert (np.diag(model.link_topic_) > 1 / 6).all()
    rng = np.random.default_rng(0)
    linked_scores = model.link_scores(np.column_stack(corpus.links.nonzero()))
    random_scores = model.link_scores(rng.integers(0, 400, (1000, 2)))
    assert np.mean(linked_scores[:, None] > random_scores[None, :]) > 0.75
    lists = model.recommend_links(corpus.counts[:3], n=7)
    assert [len(row) for row in lists] == [7, 7, 7]
    assert all(a >= b for (_, a), (_, b) in pairwise(lists[0]))


def test_all_forms_of_links_agree(linked):
    corpus, _ = linked
    counts, pairs = corpus.counts, np.column_stack(corpus.links.nonzero())
    matrix = sparse.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(400, 400))
    lists = [matrix.indices[matrix.indptr[d] : matrix.indptr[d + 1]].tolist() for d in range(400)]
    ids = [f"doc{d}" for d in range(400)]
    by_id = [[f"doc{e}" for e in row] + ["elsewhere"] for row in lists]
    fits = [
        RelationalTopicModel(6, link_weight=0.2, max_iter=5).fit(counts, **links)
        for links in (
            {"links": pairs},
            {"links": [tuple(p) for p in pairs]},
            {"links": matrix},
            {"links": lists},
            {"links": by_id, "doc_names": ids},
        )
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.components_, fits[0].components_)
    new = counts[:4]
    to_training = sparse.csr_array((np.ones(2), ([0, 1], [7, 9])), shape=(4, 400))
    a = fits[0].transform(new, links=to_training)
    b = fits[0].transform(new, links=[[7], [9], [], []])
    c = fits[-1].transform(
        new, links=[["doc7"], ["doc9"], [], []], doc_names=["n0", "n1", "n2", "n3"]
    )
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(a, c)
    among = fits[0].transform(new, links=[[401], [], [], []])
    assert np.abs(among[2:] - fits[0].transform(new)[2:]).max() < 2e-3
    assert np.abs(among[:2] - fits[0].transform(new)[:2]).max() > 1e-3


def test_weights_on_links_of_new_documents_are_links(linked):
    corpus, _ = linked
    model = RelationalTopicModel(4, link_weight=0.3, link_factor="identity", max_iter=10).fit(
        corpus
    )
    links = np.zeros((3, corpus.n_docs))
    links[[0, 1, 2], [3, 4, 5]] = 1
    np.testing.assert_array_equal(
        model.transform(corpus.counts[:3], links=sparse.csr_array(0.5 * links)),
        model.transform(corpus.counts[:3], links=sparse.csr_array(links)),
    )


def test_one_word_repeated_very_often_beside_a_field():
    """n_d - x + alpha is 0 in single precision; the message must stay a number."""
    counts = np.zeros((6, 5))
    counts[0, 0] = 2e5
    counts[1:, 1:] = 3
    model = RelationalTopicModel(
        3,
        link_weight=0.3,
        doc_topic_prior=1e-3,
        topic_word_prior=0.01,
        schedule="asynchronous",
        max_iter=20,
    )
    with pytest.warns(UserWarning, match="largest entry of X is 200000"):
        model.fit(counts, links=[(0, 1), (2, 3)])
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.doc_topic_).all()


def test_a_run_that_learns_its_link_weight_stops_when_it_is_asked_to():
    corpus, _ = datasets.make_links(40)
    seen = []

    def stop(state, record):
        seen.append((record.schedule == "link weight", record.sweep))
        return record.schedule == "link weight"

    model = RelationalTopicModel(3, link_weight="learn", callbacks=[stop]).fit(corpus)
    assert seen == [(True, 1), (False, 1)]
    assert model.n_iter_ == len(model.history_) == 1


def test_links_of_new_documents_in_all_forms_agree(linked):
    corpus, _ = linked
    train, test = np.arange(0, corpus.n_docs, 2), np.arange(1, corpus.n_docs, 2)
    table = corpus.links
    model = RelationalTopicModel(4, link_weight=0.3, max_iter=15).fit(corpus[train])
    links = table[test][:, train]
    proportions = model.transform(corpus.counts[test], links)
    np.testing.assert_array_equal(
        model.transform(corpus.counts[test], links.toarray()), proportions
    )
    lists = [links.indices[a:b].tolist() for a, b in pairwise(links.indptr)]
    np.testing.assert_array_equal(model.transform(corpus.counts[test], lists), proportions)
    with pytest.raises(ValueError, match="fractions"):
        model.transform(corpus.counts[test], [[0.5], *lists[1:]])
    among = table[test][:, test]
    alone = sparse.hstack([sparse.csr_array((len(test), len(train))), among])
    np.testing.assert_array_equal(
        model.transform(corpus[test]), model.transform(corpus.counts[test], alone)
    )


def test_fit_transform_takes_links_as_fit_does(linked):
    corpus, _ = linked
    pairs = np.column_stack(corpus.links.nonzero())

    def model() -> RelationalTopicModel:
        return RelationalTopicModel(4, link_weight=0.3, max_iter=10)

    proportions = model().fit_transform(corpus)
    np.testing.assert_array_equal(model().fit_transform(corpus.counts, links=pairs), proportions)
    np.testing.assert_array_equal(
        model().fit_transform(corpus.counts, links=adjacency(pairs, corpus.n_docs).toarray()),
        proportions,
    )


def test_directed_links_predict_with_the_table_of_training():
    """Documents of topic 0 are pointed at by topic 1 only: eta is not symmetric, and stays so."""
    counts = np.kron(np.eye(2), np.ones((20, 5))) * 4
    links = [(20 + d, d) for d in range(20)]
    model = RelationalTopicModel(2, directed=True, link_weight=0.3, max_iter=30).fit(
        counts, links=links
    )
    assert np.abs(model.link_topic_ - model.link_topic_.T).max() > 0.1
    np.testing.assert_allclose(model.link_topic_.sum(axis=1), 1)


def test_neighbours_in_every_form_are_the_same_links(linked):
    corpus, _ = linked
    table = corpus.links
    lists = [table.indices[a:b].tolist() for a, b in pairwise(table.indptr)]
    column = np.empty(corpus.n_docs, dtype=object)
    column[:] = lists
    gaps = [row or None for row in lists]
    for links in (
        tuple(lists),
        list(map(tuple, lists)),
        column,
        gaps,
        pd.Series(lists),
        table.toarray().astype(int).tolist(),
    ):
        np.testing.assert_array_equal(adjacency(links, corpus.n_docs).toarray(), table.toarray())


def test_ids_of_documents(linked):
    corpus, _ = linked
    table = corpus.links
    ids = [f"d{i}" for i in range(corpus.n_docs)]
    lists = [[ids[i] for i in table.indices[a:b]] for a, b in pairwise(table.indptr)]
    by_id = RelationalTopicModel(4, link_weight=0.3, max_iter=5).fit(
        corpus.counts, links=lists, doc_names=ids
    )
    named = RelationalTopicModel(4, link_weight=0.3, max_iter=5).fit(replace(corpus, doc_names=ids))
    np.testing.assert_array_equal(named.doc_topic_, by_id.doc_topic_)
    assert named.recommend_links(corpus.counts[:2], 3) == by_id.recommend_links(
        corpus.counts[:2], 3
    )
    assert {name for name, _ in named.recommend_links(corpus.counts[:1], 3)[0]} < set(ids)
    np.testing.assert_array_equal(named.link_scores([("d0", "d1")]), named.link_scores([(0, 1)]))
    assert named.link_scores([]).shape == (0,)
    with pytest.raises(ValueError, match="pairs names 'x', which is not the name"):
        named.link_scores([("d0", "x")])
    with pytest.raises(ValueError, match="pairs names document -1"):
        named.link_scores([(0, -1)])
    with pytest.raises(ValueError, match="for names give doc_names"):
        RelationalTopicModel(4).fit(corpus.counts, links=lists)
    with pytest.raises(ValueError, match="leave doc_names out"):
        RelationalTopicModel(4).fit(corpus.counts, links=table, doc_names=ids)
    with pytest.warns(UserWarning, match="None of the neighbours is among the names"):
        RelationalTopicModel(4, max_iter=2).fit(
            corpus.counts, links=lists, doc_names=range(corpus.n_docs)
        )
