"""The author-topic model: planted authors, questions about them, the forms of a list of authors."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from topoi import (
    AuthorTopicModel,
    datasets,
    read,
)
from topoi.evaluate import completion_perplexity, match_topics

pytestmark = pytest.mark.usefixtures("warm_up_always")


@pytest.mark.parametrize(
    ("rule", "prior"), [("bp", "uniform"), ("bp", "learned"), ("gibbs", "uniform")]
)
def test_planted_authors_are_found(authored, rule, prior):
    corpus, truth = authored
    model = AuthorTopicModel(5, rule=rule, author_prior=prior, max_iter=150).fit(corpus)
    partner, similarity = match_topics(model, truth.topic_word)
    assert similarity.min() > 0.95
    assert model.author_names_.tolist() == [f"author{a:02d}" for a in range(15)]
    error = np.abs(model.author_topic_ - truth.author_topic[:, partner]).sum(axis=1)
    assert np.median(error) < 0.3
    np.testing.assert_allclose(model.author_topic_.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1, rtol=1e-6)


def test_author_questions(authored):
    corpus, truth = authored
    model = AuthorTopicModel(5, max_iter=100).fit(corpus)
    similar = model.similar_authors("author03", n=14)
    assert len(similar) == 14
    assert "author03" not in dict(similar)
    assert all(a >= b for (_, a), (_, b) in pairwise(similar))
    partner, _ = match_topics(model, truth.topic_word)
    topic = int(np.flatnonzero(partner == truth.author_topic[3].argmax())[0])
    assert "author03" in dict(model.authors_of_topic(topic, n=8))
    words = model.top_words(3)[topic]
    likely = [name for name, _ in model.who_writes_about(" ".join(words), n=5)]
    expected = [
        f"author{a:02d}"
        for a in np.argsort(-truth.author_topic[:, truth.author_topic[3].argmax()])[:8]
    ]
    assert set(likely) <= set(expected)
    solo = np.array([[f"author{a:02d}"] for a in range(15)])
    texts = np.array(
        [
            np.random.default_rng(a).multinomial(300, truth.author_topic[a] @ truth.topic_word)
            for a in range(15)
        ],
        dtype=float,
    )
    predicted = model.predict_authors(texts, n=2)
    assert np.mean([solo[a][0] in dict(predicted[a]) for a in range(15)]) > 0.7
    assert abs(sum(p for _, p in model.predict_authors(texts[:1], n=15)[0]) - 1) < 1e-9
    with pytest.raises(ValueError, match=r"no author 'author'.*did you mean author00"):
        model.similar_authors("author")
    with pytest.raises(ValueError, match="topics are numbered 0 to 4"):
        model.authors_of_topic(5)
    with pytest.raises(ValueError, match="in the vocabulary"):
        model.who_writes_about("nonsense")


def test_transform_with_known_new_and_no_authors(authored):
    corpus, _ = authored
    model = AuthorTopicModel(5, max_iter=60).fit(corpus[:300])
    new = corpus[300:320]
    known = model.transform(new.counts, authors=new.authors)
    unknown = model.transform(new.counts, authors=[["nobody"]] * 20)
    alone = model.transform(new.counts)
    empty = model.transform(new.counts, authors=[[]] * 20)
    for proportions in (known, unknown, alone, empty):
        assert proportions.shape == (20, 5)
        np.testing.assert_allclose(proportions.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(empty, alone, atol=2e-3)
    assert np.ptp(unknown, axis=0).max() < 1e-9  # one new author has one set of proportions
    forms = [
        completion_perplexity(
            model, new.counts, authors=new.authors, author_prior=proportions, known_authors=keep
        )
        for proportions, keep in [("uniform", False), ("learned", False), ("uniform", True)]
    ]
    assert all(10 < p < 120 for p in forms)
    assert forms[2] < forms[0]  # what authors wrote before helps


def test_fifty_coauthors_and_documents_without_authors():
    corpus, _ = datasets.make_lda(30, 50, 3)
    authors = [[f"a{i}" for i in range(50)], []] + [["a1"] if d % 2 else [] for d in range(28)]
    model = AuthorTopicModel(3, max_iter=10).fit(corpus.counts, authors=authors)
    assert model.author_topic_.shape == (50, 3)
    assert np.isfinite(model.author_topic_).all()
    matrix = sparse.csr_array(np.random.default_rng(0).random((30, 6)) > 0.7)
    assert AuthorTopicModel(3, max_iter=3).fit(
        corpus.counts, authors=matrix
    ).author_topic_.shape == (6, 3)


def test_transform_uses_the_authors_of_a_corpus():
    corpus, _ = datasets.make_authors(100, 10, 60, 4)
    model = AuthorTopicModel(4, max_iter=20).fit(corpus)
    np.testing.assert_array_equal(
        model.transform(corpus), model.transform(corpus.counts, authors=corpus.authors)
    )
    assert np.abs(model.transform(corpus) - model.doc_topic_).max() < 0.05


def test_gaps_among_authors_are_no_authors(small):
    gaps = [None, float("nan"), "", [None, "ann"], ["", float("nan")], "bob", *[["carl"]] * 54]
    clean = [[], [], [], ["ann"], [], ["bob"], *[["carl"]] * 54]
    with_gaps, plain = (
        AuthorTopicModel(3, max_iter=5).fit(small, authors=authors) for authors in (gaps, clean)
    )
    assert list(with_gaps.author_names_) == ["ann", "bob", "carl"]
    np.testing.assert_array_equal(with_gaps.components_, plain.components_)
    with pytest.raises(ValueError, match=r"authors are of different kinds \(int and str\)"):
        AuthorTopicModel(3).fit(small, authors=[["ann", 5]] * 60)
    with pytest.raises(ValueError, match="authors holds negative numbers"):
        AuthorTopicModel(3).fit(small, authors=-np.ones((60, 2)))


def test_an_author_without_documents_holds_nothing(authored):
    corpus, _ = authored
    members = AuthorTopicModel(3, max_iter=15).fit(corpus)
    table = np.array(
        [[name in row for name in members.author_names_] for row in corpus.authors], dtype=float
    )
    empty = np.zeros((corpus.n_docs, 1))
    model = AuthorTopicModel(3, max_iter=15).fit(corpus.counts, authors=table)
    wider = AuthorTopicModel(3, max_iter=15).fit(
        corpus.counts, authors=np.hstack([empty, table, empty])
    )
    np.testing.assert_array_equal(wider.components_, model.components_)
    np.testing.assert_array_equal(wider.doc_topic_prior_, model.doc_topic_prior_)
    np.testing.assert_array_equal(wider.author_counts_[1:-1], model.author_counts_)
    assert not wider.author_counts_[[0, -1]].any()
    np.testing.assert_allclose(
        wider.author_topic_[0], wider.doc_topic_prior_ / wider.doc_topic_prior_.sum()
    )


def test_a_frame_of_authors_is_read_by_its_columns(authored):
    corpus, _ = authored
    names = sorted({name for row in corpus.authors for name in row})
    frame = pd.DataFrame(
        [[int(name in row) for name in names] for row in corpus.authors],
        columns=names,
        index=range(5, 5 + corpus.n_docs),
    )
    model = AuthorTopicModel(3, max_iter=5).fit(corpus)
    np.testing.assert_array_equal(
        AuthorTopicModel(3, max_iter=5).fit(corpus.counts, authors=frame).author_topic_,
        model.author_topic_,
    )
    part = frame[names[::-2]]
    rows = [[name for name in row if name in part.columns] for row in corpus.authors]
    np.testing.assert_array_equal(
        model.transform(corpus.counts, authors=part), model.transform(corpus.counts, authors=rows)
    )
    cells = pd.DataFrame(
        {
            "first": [row[0] for row in corpus.authors],
            "second": [row[1] if len(row) > 1 else None for row in corpus.authors],
        }
    )
    pairs = [row[:2] for row in corpus.authors]
    np.testing.assert_array_equal(
        AuthorTopicModel(3, max_iter=5).fit(corpus.counts, authors=cells).author_topic_,
        AuthorTopicModel(3, max_iter=5).fit(corpus.counts, authors=pairs).author_topic_,
    )


def test_completion_uses_what_a_corpus_knows(authored):
    train, test = authored[0].split()
    model = AuthorTopicModel(3, max_iter=20).fit(train)
    with_authors = completion_perplexity(model, test)
    assert with_authors == completion_perplexity(model, test.counts, authors=test.authors)
    assert with_authors != completion_perplexity(model, test.counts)


def test_questions_about_authors_that_have_no_answer():
    model = AuthorTopicModel(4, doc_topic_prior=0.01, topic_word_prior=0.01, max_iter=5).fit(
        np.eye(2) * 9, authors=[["a"], ["b"]]
    )
    assert all(np.isfinite(share) for k in range(4) for _, share in model.authors_of_topic(k))
    with pytest.warns(UserWarning, match="No authors"):
        alone = AuthorTopicModel(2, max_iter=2).fit(np.eye(4) + 1)
    for question in (
        lambda: alone.similar_authors("a"),
        lambda: alone.who_writes_about("word0"),
        lambda: alone.authors_of_topic(0),
    ):
        with pytest.raises(ValueError, match="fitted without authors"):
            question()


def test_who_writes_about_cuts_text_as_training_did():
    texts = [
        "Markov chain Monte Carlo",
        "neural network layers",
        "Markov chain walks",
        "deep neural network",
    ]
    corpus = read(texts, vectorizer=CountVectorizer(lowercase=False, ngram_range=(1, 2)))
    model = AuthorTopicModel(2, max_iter=10).fit(
        replace(corpus, authors=[["m"], ["n"], ["m"], ["n"]])
    )
    assert model.who_writes_about("Markov chain")[0][0] == "m"
    assert model.who_writes_about(["Markov chain"])[0][0] == "m"


def test_who_writes_about_decomposed_words():
    texts = ["Häuser Bürger", "Wälder Bäche", "Häuser Häuser", "Wälder Bäche"]
    corpus = replace(
        read(texts, vectorizer=CountVectorizer()), authors=[["m"], ["n"], ["m"], ["n"]]
    )
    for known in (corpus, replace(corpus, vectorizer=None)):
        model = AuthorTopicModel(2, max_iter=10).fit(known)
        for text in ("Häuser", "Ha\u0308user", ["Ha\u0308user"], "Häu\u00adser"):
            assert model.who_writes_about(text)[0][0] == "m"
