"""Topics beside labels: clusters, retrieval, and topics beside each other by rank."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from topoi import LDA, datasets, evaluate


def proportions(topics, n_topics=3):
    """Documents with a main topic each."""
    return 0.1 / n_topics + 0.9 * np.eye(n_topics)[topics]


TOPICS = [0, 0, 0, 0, 1, 1, 2, 2, 2, 2]
LABELS = list("aaabbbbbcc")


def test_purities_by_hand():
    """Labels x topics: a 3 0 0, b 1 2 2, c 0 0 2."""
    found = evaluate.clusters(proportions(TOPICS), LABELS, folds=2)
    assert (found["documents"], found["labels"], found["topics"]) == (10, 3, 3)
    assert found["purity"] == pytest.approx((3 + 2 + 2) / 10)
    assert found["inverse_purity"] == pytest.approx((3 + 2 + 2) / 10)
    best = 3 * (6 / 7) + 5 * (4 / 7) + 2 * (4 / 6)  # F1 of a with 0, of b with 1, of c with 2
    assert found["harmonic_purity"] == pytest.approx(best / 10)
    assert found["nmi"] == pytest.approx(found["v_measure"])
    assert found["majority"] == 0.5


def test_the_same_clusters_are_perfect_and_random_ones_are_not():
    labels = np.repeat(["x", "y", "z"], 40)
    truth = np.repeat([2, 0, 1], 40)
    perfect = evaluate.clusters(proportions(truth), labels)
    for name in ("purity", "inverse_purity", "harmonic_purity", "nmi", "ami", "ari", "accuracy"):
        assert perfect[name] == pytest.approx(1)
    random = np.random.default_rng(0).integers(0, 3, 120)
    found = evaluate.clusters(proportions(random), labels)
    assert abs(found["ami"]) < 0.05
    assert abs(found["ari"]) < 0.05
    assert found["accuracy"] < 0.5


def test_the_classifier_sees_all_proportions():
    """The main topic is the same everywhere; the second one tells the labels apart."""
    rng = np.random.default_rng(1)
    second = np.repeat([0.1, 0.3], 30) + rng.uniform(-0.02, 0.02, 60)
    table = np.column_stack([np.full(60, 0.5), second, 0.5 - second])
    found = evaluate.clusters(table, ["a"] * 30 + ["b"] * 30)
    assert found["ari"] == 0
    assert found["accuracy"] == 1
    alone = cross_val_score(LogisticRegression(), table[:, :1], [0] * 30 + [1] * 30)
    assert alone.mean() == pytest.approx(0.5)


def test_models_and_arrays_are_measured_alike(blocks):
    corpus, truth = blocks
    labels = truth.doc_topic.argmax(axis=1)
    model = LDA(4, max_iter=20).fit(corpus)
    trained = evaluate.clusters(model, labels)
    assert trained == evaluate.clusters(model.doc_topic_, labels)
    assert trained["nmi"] > 0.9
    assert evaluate.clusters(model, labels, corpus) == evaluate.clusters(
        model.transform(corpus), labels
    )
    foreign = {"transform": lambda self, X: X}
    with pytest.raises(ValueError, match="give the documents as X"):
        evaluate.clusters(type("Foreign", (), foreign)(), labels)


def test_documents_without_a_label_are_left_out():
    labels = [*LABELS, None, "", float("nan")]
    table = proportions([*TOPICS, 1, 1, 1])
    assert evaluate.clusters(table, labels, folds=2) == evaluate.clusters(
        proportions(TOPICS), LABELS, folds=2
    )
    assert evaluate.retrieval(table, labels, at=(3,)) == evaluate.retrieval(
        proportions(TOPICS), LABELS, at=(3,)
    )


def test_labels_of_a_corpus_are_labels():
    corpus, _ = datasets.make_labels(60, 40, 3, random_state=4)
    single = [row[:1] for row in corpus.labels]
    model = LDA(3, max_iter=10).fit(corpus)
    assert evaluate.clusters(model, single)["documents"] == 60
    with pytest.raises(ValueError, match="several labels for"):
        evaluate.clusters(model, corpus.labels)


@pytest.mark.parametrize(
    ("labels", "message"),
    [(["a"] * 10, "fewer than two different labels"), (LABELS[:9], "describes 9 documents")],
)
def test_labels_that_tell_nothing_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        evaluate.clusters(proportions(TOPICS), labels)


@pytest.mark.parametrize("bad", [np.ones(10), -np.ones((10, 2)), np.zeros((10, 2))])
def test_what_is_not_proportions_is_refused(bad):
    with pytest.raises(ValueError, match="documents x topics"):
        evaluate.clusters(bad, LABELS)


def test_small_labels_are_not_classified():
    assert "accuracy" not in evaluate.clusters(proportions(TOPICS), LABELS, folds=5)
    assert "accuracy" in evaluate.clusters(proportions(TOPICS), LABELS, folds=3)


def test_retrieval_by_hand():
    """Documents in a row, each nearest to its neighbours: a a a b b b."""
    at = np.array([0.05, 0.1, 0.15, 0.85, 0.9, 0.95])
    table = np.column_stack([at, 1 - at])
    found = evaluate.retrieval(table, list("aaabbb"), at=(1, 2, 5))
    assert (found["p@1"], found["p@2"], found["p@5"]) == (1, 1, 2 / 5)
    assert found["by_chance"] == pytest.approx(2 / 5)
    with pytest.raises(ValueError, match="expected numbers from 1 to 5"):
        evaluate.retrieval(table, list("aaabbb"), at=(6,))


def test_equal_documents_are_not_found_in_the_order_of_the_input():
    """All proportions are the same, documents sorted by label: precision is that of chance."""
    labels = np.repeat(["a", "b", "c", "d"], 50)
    found = evaluate.retrieval(np.ones((200, 3)), labels)
    assert found["p@5"] == pytest.approx(found["by_chance"], abs=0.1)


def test_many_documents_are_ranked_as_by_hand():
    """More documents than are compared at a time."""
    rng = np.random.default_rng(0)
    table, labels = rng.dirichlet(np.ones(4), 1500), rng.integers(0, 3, 1500)
    similarity = np.sqrt(table) @ np.sqrt(table).T - 2 * np.eye(1500)
    ten = np.argsort(-similarity, axis=1)[:, :10]
    same = labels[ten] == labels[:, None]
    found = evaluate.retrieval(table, labels)
    assert found["p@10"] == pytest.approx(same.mean())
    assert found["p@5"] == pytest.approx(same[:, :5].mean())


def test_rank_biased_diversity_by_hand():
    """Overlaps at depths 1, 2, 3 are 1, 1, 2; with p = 1/2 RBO is 1/2 (1 + 1/4 + 1/6) + 2/3 1/8."""
    first, second = ["a", "b", "c"], ["a", "c", "d"]
    overlap = 0.5 * (1 + 0.5 / 2 + 2 / 3 / 4) + 2 / 3 / 8
    found = evaluate.rank_biased_diversity([first, second], p=0.5)
    assert found == pytest.approx(1 - overlap)
    assert evaluate.rank_biased_diversity([first, second, first], p=0.5) == pytest.approx(
        1 - (2 * overlap + 1) / 3
    )


def test_rank_biased_diversity_of_equal_and_of_different_topics():
    assert evaluate.rank_biased_diversity([[3, 1], [3, 1]]) == pytest.approx(0)
    assert evaluate.rank_biased_diversity([[3, 1], [2, 4]]) == pytest.approx(1)
    assert evaluate.rank_biased_diversity([[3, 1, 5], [3, 1]]) == pytest.approx(0)
    for bad in ([[1, 2]], [[1], []]):
        with pytest.raises(ValueError, match="at least two"):
            evaluate.rank_biased_diversity(bad)
    with pytest.raises(ValueError, match="p is 1"):
        evaluate.rank_biased_diversity([[1], [2]], p=1)


def test_first_words_count_more_than_last_ones():
    same_first = evaluate.rank_biased_diversity([list("abcd"), list("awxy")])
    same_last = evaluate.rank_biased_diversity([list("abcd"), list("wxyd")])
    assert same_first < same_last
