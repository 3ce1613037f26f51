"""Measures of link prediction, on cases small enough to work out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from topoi import evaluate

# -------------------------------------------------------------------------------------------- pairs

LINKS = [
    (0, 1),
    (2, 1),
    (1, 0),
    (3, 3),
    # of documents 0 to 3: the pairs (0, 1) and (1, 2); twice, reversed and to itself make no
    # other
]


def test_folds_hold_out_every_pair_once():
    chain = [(d, d + 1) for d in range(10)]
    folds = list(
        evaluate.LinkKFold(5, random_state=1).split(chain + [(b, a) for a, b in chain], 11)
    )
    assert [(train.shape, test.shape) for train, test in folds] == [((8, 2), (2, 2))] * 5
    for train, test in folds:
        assert sorted(map(tuple, [*train.tolist(), *test.tolist()])) == chain, "no pair is in both"
    held = [tuple(pair) for _, test in folds for pair in test.tolist()]
    assert sorted(held) == chain
    assert held != chain, "they are shuffled"
    again = [
        tuple(pair)
        for _, test in evaluate.LinkKFold(5, random_state=1).split(chain, 11)
        for pair in test.tolist()
    ]
    other = [
        tuple(pair)
        for _, test in evaluate.LinkKFold(5, random_state=2).split(chain, 11)
        for pair in test.tolist()
    ]
    assert again == held != other


def test_non_links_are_the_pairs_that_are_left():
    """Four documents have six pairs, of which two are linked."""
    found = evaluate.random_non_links(LINKS, 4, 4)
    assert sorted(map(tuple, found.tolist())) == [(0, 2), (0, 3), (1, 3), (2, 3)]
    assert evaluate.random_non_links(LINKS, 4, 0).shape == (0, 2)
    with pytest.raises(ValueError, match="only 4 pairs without a link; ask for at most 4, not 5"):
        evaluate.random_non_links(LINKS, 4, 5)


def test_every_non_link_is_as_likely():
    """The first of 400 draws: each of four pairs comes 100 times, within five standard errors."""
    drawn = [
        tuple(evaluate.random_non_links(LINKS, 4, 1, random_state=seed)[0]) for seed in range(400)
    ]
    for pair in [(0, 2), (0, 3), (1, 3), (2, 3)]:
        assert abs(drawn.count(pair) - 100) < 5 * np.sqrt(400 * 0.25 * 0.75)


# ------------------------------------------------------------------------------------------- scores


def test_features_of_a_pair_are_products_of_shares():
    proportions = np.array([[0.5, 0.5], [0.1, 0.9], [0.8, 0.2]])
    pairs = np.array([[0, 1], [2, 2]])
    product = np.array([[0.05, 0.45], [0.64, 0.04]])
    np.testing.assert_allclose(
        evaluate.hadamard(proportions, pairs, root=False), product, rtol=1e-12
    )
    np.testing.assert_allclose(evaluate.hadamard(proportions, pairs), np.sqrt(product), rtol=1e-12)


def test_svm_weighs_classes_alike():
    """Ten times as many pairs without a link: the boundary still lies midway between the classes,
    not beyond both of them.
    """
    rng = np.random.default_rng(0)
    features = np.r_[rng.normal(-0.5, 1, 400), rng.normal(0.5, 1, 40)][:, None]
    scores = evaluate.svm_scores(
        features, np.repeat([0, 1], [400, 40]), np.array([[-1.0], [0.0], [1.0]])
    )
    assert scores[0] < 0 < scores[2]
    assert abs(scores[1]) < 0.2 * scores[2]


def test_svm_does_not_mind_the_units_of_features():
    """What tells links is a thousandth of a feature that tells nothing; in the same units the
    scores would be the same.
    """
    rng = np.random.default_rng(0)
    linked = np.arange(60) % 2
    telling, noise = linked + rng.normal(0, 0.1, 60), rng.normal(0, 1, 60)
    alike, small = (
        evaluate.svm_scores(np.c_[unit * telling, noise], linked, np.c_[unit * telling, noise])
        for unit in (1, 1e-3)
    )
    np.testing.assert_allclose(small, alike, rtol=1e-3, atol=1e-3)
    assert ((small > 0) == linked).all()


# ----------------------------------------------------------------------------------------- measures


def test_link_metrics_by_hand():
    """Of four pairs of a link and a non-link three stand in the right order; the links are first
    and third.
    """
    scores, linked = np.array([0.3, 9, 0.1, 0.8]), np.array([1, 1, 0, 0])
    found = evaluate.link_metrics(scores, linked)
    np.testing.assert_allclose(found["auc"], 3 / 4)
    np.testing.assert_allclose(found["average_precision"], (1 / 1 + 2 / 3) / 2)
    # Above the median stand one link and one non-link.
    np.testing.assert_allclose(found["f1"], 1 / 2)
    np.testing.assert_allclose(evaluate.link_metrics(scores, linked, threshold=0.2)["f1"], 4 / 5)
    # A score at the threshold is not above it.
    np.testing.assert_allclose(evaluate.link_metrics(scores, linked, threshold=0.3)["f1"], 1 / 2)


def test_ranking_by_hand():
    """The first document's links have the ranks 2 and 4, the third's has rank 1; the second has no
    link and does not count.
    """
    scores = [np.array([0.9, 0.1, 0.5, 0.3]), None, np.array([0.2, 0.7, 0.4, 0.1])]
    found = evaluate.ranking_metrics(
        scores.__getitem__,
        [np.array([1, 2]), np.array([], dtype=int), np.array([1])],
        at=(1, 2, 3, 4),
    )
    expected = {
        "recall@1": (0 + 1) / 2,
        "recall@2": (1 / 2 + 1) / 2,
        "recall@3": (1 / 2 + 1) / 2,
        "recall@4": 1,
        "mrr": (1 / 2 + 1) / 2,
        "link_rank": (2 + 4 + 1) / 3,
        "average_precision": ((1 / 2 + 2 / 4) / 2 + 1) / 2,
    }
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("linked", [[0, 1], [1, 3], [3, 4]])
def test_ties_share_their_ranks(linked):
    """Who knows nothing is as good as chance, wherever links stand: ranks 1 to 5 are 3 on average,
    and k of five places are among the first k.
    """
    found = evaluate.ranking_metrics(lambda _: np.zeros(5), [np.array(linked)], at=(1, 4, 10))
    expected = {
        "recall@1": 1 / 5,
        "recall@4": 4 / 5,
        "recall@10": 1,
        "mrr": 1 / 3,
        "link_rank": 3,
        "average_precision": (1 / 3 + 2 / 3) / 2,
    }
    assert found == pytest.approx(expected)


def test_ties_behind_a_clear_first():
    """Candidate 2 has rank 1; 0, 1 and 3 share the ranks 2 to 4, so each stands at 2 with chance
    1/3.
    """
    found = evaluate.ranking_metrics(
        lambda _: np.array([0.0, 0, 1, 0]), [np.array([0, 2])], at=(1, 2, 3)
    )
    expected = {
        "recall@1": 1 / 2,
        "recall@2": (1 + 1 / 3) / 2,
        "recall@3": (1 + 2 / 3) / 2,
        "mrr": 1,
        "link_rank": 2,
    }
    assert found == pytest.approx({**expected, "average_precision": (1 / 1 + 2 / 3) / 2})


def test_a_link_given_twice_is_one_link():
    scores = np.array([0.1, 0.9, 0.5])
    once, twice = (
        evaluate.ranking_metrics(lambda _: scores, [np.array(linked)])
        for linked in ([1, 2], [1, 2, 1])
    )
    assert once == twice
    assert once["average_precision"] == 1


def test_nothing_to_rank():
    with pytest.raises(ValueError, match="No document has a link, so there is nothing to rank"):
        evaluate.ranking_metrics(lambda _: np.zeros(3), [np.array([], dtype=int)])
