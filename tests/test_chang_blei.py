"""Chang and Blei's relational topic model, the rival of BP's in the paper's experiments."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from benchmarks.common import PRIOR
from experiments.chang_blei import LINK_FUNCTIONS, ChangBlei, links_matrix
from topoi import LDA
from topoi.datasets import make_blocks, make_links
from topoi.rules import VB


def no_links(n_docs):
    return sparse.csr_array((n_docs, n_docs))


@pytest.fixture(scope="module")
def linked():
    corpus, _ = make_links(n_docs=60, n_topics=3, random_state=1)
    return corpus.counts, corpus.links.maximum(corpus.links.T).tocsr()


@pytest.mark.parametrize("function", LINK_FUNCTIONS)
def test_without_links_it_is_vb(function):
    corpus, _ = make_blocks(n_topics=3, random_state=2)
    given = np.random.default_rng(0).dirichlet(np.ones(corpus.n_words), 3)
    options = {"doc_topic_prior": PRIOR, "topic_word_prior": PRIOR, "max_iter": 5, "tol": 0}
    vb = LDA(3, rule=VB(inner=10), schedule="synchronous", init=given, **options).fit(corpus)
    # LDA starts from the messages that given topics send, so the first topics are those of these.
    first = given / given.sum(axis=0) * corpus.counts.sum(axis=0) + PRIOR
    ours = ChangBlei(3, function).fit(
        corpus.counts,
        no_links(corpus.n_docs),
        sweeps=5,
        rule=False,
        topic_word=first / first.sum(axis=1, keepdims=True),
    )
    np.testing.assert_allclose(ours.topic_word, vb.topic_word_, rtol=2e-3, atol=1e-5)


def test_the_expected_link_probability_is_that_of_all_topics_of_all_words():
    """E log psi of the exponential function, from the mean topics and by enumeration."""
    rng = np.random.default_rng(3)
    eta, nu, K = rng.normal(size=2), -1.0, 2
    messages = [rng.dirichlet(np.ones(K), size=3), rng.dirichlet(np.ones(K), size=2)]
    expected = 0.0
    for z in product(range(K), repeat=5):
        of = (z[:3], z[3:])
        chance = np.prod([messages[d][i, k] for d in (0, 1) for i, k in enumerate(of[d])])
        means = [np.bincount(of[d], minlength=K) / len(of[d]) for d in (0, 1)]
        expected += chance * (eta @ (means[0] * means[1]) + nu)
    model = ChangBlei(K)
    model.eta, model.nu = eta, nu
    found = model.link_scores(messages[0].mean(axis=0)[None], messages[1].mean(axis=0)[None])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("function", LINK_FUNCTIONS)
def test_the_link_parameters_are_where_the_bound_is_flat(function, linked):
    model = ChangBlei(3, function).fit(*linked, sweeps=4, rule=False)
    model._maximise_links()
    best, step = model.link_bound(), 1e-4
    for k in range(4):
        slopes = []
        for sign in (-1, 1):
            moved = ChangBlei(3, function)
            moved.links, moved.mean_topics = model.links, model.mean_topics
            moved.eta, moved.nu = model.eta.copy(), model.nu
            if k < 3:
                moved.eta[k] += sign * step
            else:
                moved.nu += sign * step
            slopes.append(moved.link_bound() - best)
            assert moved.link_bound() <= best + 1e-9
        assert abs(slopes[1] - slopes[0]) / (2 * step) < 1e-2


@pytest.mark.parametrize("function", LINK_FUNCTIONS)
def test_a_message_follows_the_gradient_of_the_expected_link_probability(function):
    """d/dmu of E log psi, by differences, is what the E-step adds to the log of a message."""
    rng = np.random.default_rng(4)
    K, tokens = 3, 4
    eta, nu, other = rng.normal(size=K), -0.5, rng.dirichlet(np.ones(K))
    messages = rng.dirichlet(np.ones(K), size=tokens)

    def value(mu):
        inner = eta @ (mu.mean(axis=0) * other) + nu
        return inner if function == "exponential" else -np.log1p(np.exp(-inner))

    inner = eta @ (messages.mean(axis=0) * other) + nu
    strength = 1.0 if function == "exponential" else 1 / (1 + np.exp(inner))
    for k in range(K):
        moved = messages.copy()
        moved[0, k] += 1e-6
        slope = (value(moved) - value(messages)) / 1e-6
        np.testing.assert_allclose(slope, strength * eta[k] * other[k] / tokens, rtol=1e-4)


@pytest.mark.parametrize("function", LINK_FUNCTIONS)
def test_links_are_told_from_other_pairs(function, linked):
    counts, links = linked
    model = ChangBlei(3, function).fit(counts, links, sweeps=30, rule=False)
    pairs = np.array(sparse.triu(links, 1).tocoo().coords).T
    rng = np.random.default_rng(5)
    others = rng.integers(0, counts.shape[0], size=(len(pairs), 2))
    others = others[~np.asarray(links[others[:, 0], others[:, 1]]).ravel().astype(bool)]

    def score(ends):
        return model.link_scores(model.mean_topics[ends[:, 0]], model.mean_topics[ends[:, 1]])

    assert score(pairs).mean() > score(others).mean() + 0.5


def test_new_documents_hear_their_neighbours(linked):
    counts, links = linked
    model = ChangBlei(3).fit(counts, links, sweeps=30, rule=False)
    empty = sparse.csr_array((1, 61))
    target = int(np.argmax(model.mean_topics[:, 0]))
    towards = sparse.csr_array(([1.0], ([0], [target])), shape=(1, 61))
    topic = int(np.argmax(model.mean_topics[target]))
    short = sparse.csr_array(([1.0], ([0], [int(counts.indices[0])])), shape=(1, counts.shape[1]))
    alone, beside = model.transform(short, empty), model.transform(short, towards)
    assert beside[0, topic] >= alone[0, topic]


def test_pairs_become_a_symmetric_matrix_of_ones():
    table = links_matrix(np.array([[0, 1], [1, 0], [1, 2]]), 3).toarray()
    np.testing.assert_array_equal(table, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
