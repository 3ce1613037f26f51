"""Labeled LDA: planted labels, predictions, the forms of labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import MultinomialNB
from support import COMBINATIONS

import topoi
from topoi import (
    Documents,
    LabeledLDA,
    Labels,
    TopicModel,
    Words,
    datasets,
)
from topoi.graph.factors import compile_factors

pytestmark = pytest.mark.usefixtures("warm_up_always")


@pytest.mark.parametrize(("rule", "schedule"), [*COMBINATIONS, ("bp", "auto")])
def test_planted_labels_are_found(labeled, rule, schedule):
    corpus, truth = labeled
    model = LabeledLDA(rule=rule, schedule=schedule, max_iter=60).fit(corpus)
    assert model.classes_.tolist() == [f"label{k}" for k in range(6)]
    cosine = (
        (model.topic_word_ * truth.topic_word).sum(axis=1)
        / np.linalg.norm(model.topic_word_, axis=1)
        / np.linalg.norm(truth.topic_word, axis=1)
    )
    assert cosine.min() > 0.95
    outside = np.array([[f"label{k}" not in row for k in range(6)] for row in corpus.labels])
    assert model.doc_topic_[outside].max() == 0  # no mass on labels a document does not have


def test_label_predictions_in_every_form(labeled):
    corpus, _ = labeled
    train, test = corpus[:300], corpus[300:]
    model = LabeledLDA(max_iter=40).fit(train.counts, train.labels)
    proportions = model.predict_proba(test.counts)
    np.testing.assert_allclose(proportions.sum(axis=1), 1, rtol=1e-6)
    assert (
        np.mean(
            [
                model.classes_[row.argmax()] in labels
                for row, labels in zip(proportions, test.labels, strict=True)
            ]
        )
        > 0.95
    )
    assert isinstance(model.predict(test.counts)[0], list)
    assert {
        type(name)
        for rows in (model.predict(test.counts), model.most_likely(test.counts, 2))
        for row in rows
        for name in row
    } == {str}
    matrix = np.array([[f"label{k}" in row for k in range(6)] for row in train.labels])
    assert LabeledLDA(max_iter=5).fit(train.counts, matrix).predict(test.counts).shape == (100, 6)
    single = np.array([row[0] for row in train.labels])
    one = LabeledLDA(max_iter=20).fit(train.counts, single)
    assert one.predict(test.counts).shape == (100,)
    assert one.score(test.counts, [row[0] for row in test.labels]) > 0.3
    assert set(one.top_words_by_label(3)) == set(one.classes_)


def test_background_topics_and_unlabeled_documents(labeled):
    corpus, _ = labeled
    labels = [row if d % 10 else [] for d, row in enumerate(corpus.labels)]
    model = LabeledLDA(background_topics=2, max_iter=30).fit(corpus.counts, labels)
    assert model.components_.shape[0] == 8
    assert (model.doc_topic_[:, 6:] > 0).all()  # everybody may use the background
    assert (model.doc_topic_[::10] > 0).all()  # the unlabeled may use everything
    assert model.predict_proba(corpus.counts).shape == (400, 6)
    names = [*(f"label{k}" for k in range(6)), "background0", "background1"]
    assert list(model.set_output(transform="pandas").transform(corpus.counts).columns) == names
    assert list(model.name_topics({7: "rest"}).get_feature_names_out()) == [*names[:7], "rest"]


def test_cost_follows_labels_not_topics():
    corpus, _ = datasets.make_labels(50, 60, 40, max_labels=2)
    graph = compile_factors(
        [Words(corpus.counts), Documents(), Labels(corpus.labels)],
        len({k for row in corpus.labels for k in row}),
    )
    labels = np.array([len(row) for row in corpus.labels])
    assert graph.message_size == (np.diff(corpus.counts.indptr) * labels).sum()


def test_a_frame_of_labels_is_read_by_its_columns(labeled):
    corpus, _ = labeled
    names = sorted({name for row in corpus.labels for name in row})
    frame = pd.DataFrame([[name in row for name in names] for row in corpus.labels], columns=names)
    model = LabeledLDA(max_iter=5).fit(corpus.counts, frame)
    assert model.classes_.tolist() == names
    np.testing.assert_array_equal(model.components_, LabeledLDA(max_iter=5).fit(corpus).components_)
    assert model.predict(corpus.counts).shape == frame.shape
    assert 0 <= model.score(corpus.counts, frame) <= 1


@pytest.mark.parametrize("threshold", [0, -1, 5, "half", np.nan])
def test_threshold_of_labels_is_a_part(threshold, labeled):
    with pytest.raises(ValueError, match="threshold is"):
        LabeledLDA(threshold=threshold).fit(labeled[0])


def test_a_label_without_documents_is_never_predicted(labeled):
    corpus, _ = labeled
    names = sorted({name for row in corpus.labels for name in row})
    table = np.array([[name in row for name in names] for row in corpus.labels], dtype=int)
    train = table[:, 0] == 0
    with pytest.warns(UserWarning, match=f"No document has the label {0}"):
        model = LabeledLDA(max_iter=10).fit(corpus.counts[train], table[train])
    assert not model.predict_proba(corpus.counts)[:, 0].any()
    with pytest.raises(ValueError, match="which is not among classes"):
        TopicModel([Words(corpus.counts), Labels(corpus.labels, classes=np.array(names[1:]))]).fit()


def test_one_label_each_gives_the_same_answers_in_every_form(labeled):
    corpus, _ = labeled
    train, test = corpus[:300], corpus[300:]
    single = np.array([row[0] for row in train.labels])
    truth = np.array([row[0] for row in test.labels])
    names = sorted(set(single))
    flags = single[:, None] == np.array(names)
    whole = topoi.Corpus(train.counts, labels=single.tolist())
    fits = [
        LabeledLDA(max_iter=10).fit(whole),
        LabeledLDA(max_iter=10).fit(train.counts, single),
        LabeledLDA(max_iter=10).fit(train.counts, [[label] for label in single]),
        LabeledLDA(max_iter=10).fit(train.counts, pd.DataFrame(flags, columns=names)),
    ]
    likely = fits[0].predict_proba(test.counts)
    np.testing.assert_allclose(likely.sum(axis=1), 1, rtol=1e-9)
    for fit in fits:
        np.testing.assert_array_equal(fit.predict_proba(test.counts), likely)
        assert fit.score(test.counts, truth) == fits[0].score(test.counts, truth)
    for fit in fits[:3]:
        np.testing.assert_array_equal(fit.predict(test.counts), fits[0].predict(test.counts))
    assert fits[3].predict(test.counts).shape == (100, len(names))
    bayes = MultinomialNB(alpha=fits[0].topic_word_prior_).fit(train.counts, single)
    np.testing.assert_allclose(likely, bayes.predict_proba(test.counts), atol=1e-3)
