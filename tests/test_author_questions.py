"""Who wrote this? Words and topics blended."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from topoi import AuthorTopicModel
from topoi.corpus.documents import TrainingDocuments
from topoi.explore.attribution import author_terms, author_weights, author_words, terms_without
from topoi.explore.ranking import unit_tfidf


@pytest.fixture(scope="module")
def signed():
    """Four themes; each of twenty authors has two words of his own beside those of his theme."""
    rng = np.random.default_rng(0)
    rows, authors = [], []
    for d in range(200):
        author = d % 20
        theme = 5 * (author % 4) + rng.integers(0, 5, 30)
        own = 20 + 2 * author + rng.integers(0, 2, 3)
        rows.append(np.bincount(np.r_[theme, own], minlength=60))
        authors.append([f"a{author:02d}"])
    return topoi.Corpus(np.array(rows), authors=authors)


@pytest.fixture(scope="module")
def model(signed):
    return AuthorTopicModel(4, max_iter=15).fit(signed[:160])


def found(model, corpus):
    first = [best[0][0] for best in model.predict_authors(corpus.counts, 1)]
    return np.mean([name in names for name, names in zip(first, corpus.authors, strict=True)])


def test_words_tell_authors_of_one_theme_apart_and_topics_do_not(model, signed):
    by_topics = AuthorTopicModel(4, max_iter=15, keep_counts=False).fit(signed[:160])
    np.testing.assert_array_equal(by_topics.components_, model.components_)
    assert by_topics.author_blend_ is None
    assert found(model, signed[160:]) > 0.9
    assert found(by_topics, signed[160:]) < 0.6


def test_probabilities_of_authors_sum_to_one_and_are_earned(model, signed):
    (first, *_), *_ = answers = model.predict_authors(signed[160:].counts, n=20)
    assert len(answers[0]) == 20
    for answer in answers:
        assert sum(probability for _, probability in answer) == pytest.approx(1)
    sure = np.mean([answer[0][1] for answer in answers])
    assert sure <= found(model, signed[160:]) + 0.1
    assert first[1] > 0.3


def test_a_document_is_scored_as_if_its_author_had_not_written_it():
    corpus = topoi.Corpus(
        np.random.default_rng(1).integers(1, 4, (6, 5)), authors=[[name] for name in "aabbcc"]
    )
    documents = TrainingDocuments.of(corpus, counts=True)
    words = author_words(documents)
    other = words._replace(  # the author of document 0 wrote document 1 alone
        counts=corpus.counts[[1]],
        profile=unit_tfidf(corpus.counts[[1]], words.rarity),
        documents=np.array([1.0]),
    )
    expected = author_terms(other, corpus.counts[[0]], lambda part: words.frequency[None, :])
    without = terms_without(words, corpus.counts[[0]], np.array([0]), np.array([0]))
    np.testing.assert_allclose(without, expected[0], rtol=1e-9)
    assert author_weights(documents).shape == (3,)


def test_authors_of_few_documents_can_be_left_out(signed):
    authors = [["rare"] if d == 0 else row for d, row in enumerate(signed.authors)]
    model = AuthorTopicModel(4, max_iter=5).fit(signed.counts, authors=authors)
    assert "rare" in dict(model.predict_authors(signed.counts[:1], n=21)[0])
    for ask in (
        lambda least: model.predict_authors(signed.counts[:1], n=21, min_documents=least)[0],
        lambda least: model.similar_authors("a01", n=21, min_documents=least),
        lambda least: model.authors_of_topic(0, n=21, min_documents=least),
        lambda least: model.who_writes_about("word0 word20", n=21, min_documents=least),
    ):
        assert "rare" in dict(ask(1))
        assert "rare" not in dict(ask(2))


def test_words_of_authors_survive_a_file(model, signed, tmp_path):
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    assert again.predict_authors(signed[160:].counts) == model.predict_authors(signed[160:].counts)


def test_authors_of_many_documents_do_not_lose_to_others(signed):
    model = AuthorTopicModel(4, max_iter=5).fit(signed[np.arange(41)])
    assert (model.author_blend_ >= 0).all()
    answer = dict(model.predict_authors(np.zeros((1, 60)), 20)[0])
    assert answer["a00"] == max(answer.values())


def test_who_has_not_written_about_a_topic_is_not_listed():
    corpus = topoi.read(["cat dog cat", "dog cat pet", "bond stock bond", "stock bond"] * 5)
    names = [["Ann"], ["Ann"], ["Bob"], ["Bob"]] * 5
    model = topoi.AuthorTopicModel(2).fit(corpus, authors=names)
    pets = int(model.find_topics("cat")["topic"][0])
    assert [name for name, _ in model.authors_of_topic(pets)] == ["Ann"]
