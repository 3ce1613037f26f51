"""What people see of topics: words, names, documents, tables, notebooks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from support import small_counts

from topoi import LDA, Corpus, datasets


def test_top_words(fitted, mixed):
    words = fitted.top_words(4)
    assert [len(row) for row in words] == [4] * 5
    best = mixed[0].vocabulary[fitted.components_.argmax(axis=1)]
    assert [row[0] for row in words] == best.tolist()
    renamed = fitted.top_words(4, vocabulary=[f"x{w}" for w in mixed[0].vocabulary])
    assert renamed == [[f"x{w}" for w in row] for row in words]
    with pytest.raises(ValueError, match="vocabulary has 2 words; the model was fitted with 80"):
        fitted.top_words(vocabulary=["a", "b"])


def test_topic_info(fitted):
    info = fitted.topic_info(3)
    assert list(info.columns) == ["topic", "name", "proportion", "documents", "prior", "words"]
    assert info["topic"].tolist() == list(range(5))
    np.testing.assert_allclose(info["proportion"].sum(), 1, rtol=1e-9)
    held = (fitted.components_ - fitted.topic_word_prior_).sum(axis=1)  # tokens, without the prior
    np.testing.assert_allclose(info["proportion"], held / held.sum(), rtol=1e-9)
    assert info["documents"].sum() == len(fitted.doc_topic_)
    assert info["prior"].tolist() == [0.1] * 5
    assert info["words"].tolist() == [" ".join(words) for words in fitted.top_words(3)]


def test_topics_can_be_named(mixed):
    model = LDA(3, max_iter=2).fit(mixed[0])
    assert model.topic_names_ == ["topic0", "topic1", "topic2"]
    assert model.name_topics({2: "markov chains"}) is model
    assert model.topic_names_ == ["topic0", "topic1", "markov chains"]
    assert list(model.get_feature_names_out()) == ["lda0", "lda1", "markov chains"]
    assert list(model.topic_info(2)["name"]) == model.topic_names_
    with pytest.raises(ValueError, match="Two topics would be called 'markov chains'"):
        model.name_topics({0: "markov chains"})
    with pytest.raises(ValueError, match="There is no topic 3; topics are numbered 0 to 2"):
        model.name_topics({3: "x"})
    assert model.name_topics({2: ""}).topic_names_[2] == "topic2"
    model.name_topics({0: "x"}).fit(mixed[0])
    assert model.topic_names_[0] == "topic0", "a new fit has new topics"


def test_notebooks_show_the_topics():
    """The words are in the page, escaped; an unfitted model shows what scikit-learn shows."""
    model = LDA(2).fit(Corpus(np.array([[3, 0, 0], [0, 2, 2]]), ["<evil>", "cat", "dog"]))
    page = model._repr_html_()
    assert "&lt;evil&gt;" in page
    assert "<evil>" not in page
    assert "cat" in page
    assert "<th>topic</th>" in page
    assert "<th>topic</th>" not in LDA(2)._repr_html_()
    assert "LDA" in LDA(2)._repr_html_()


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: m.transform(small_counts()),
        lambda m: m.score(small_counts()),
        lambda m: m.top_words(),
        lambda m: m.topic_word_,
    ],
    ids=["transform", "score", "top_words", "topic_word_"],
)
def test_an_unfitted_model_says_so(ask):
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        ask(LDA(3))


def test_topic_info_of_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        LDA(3).topic_info()


def test_phrases_are_told_apart():
    corpus = Corpus(np.eye(2) * 3, ["markov chain", "monte carlo"])
    assert ", " in LDA(1, max_iter=2).fit(corpus).topic_info().words[0]


def test_relevance_prefers_words_that_are_typical():
    """A word that is everywhere leads all topics by probability, none by relevance."""
    counts = np.kron(np.eye(2), np.full((20, 3), 3.0))
    corpus = Corpus(np.hstack([np.full((40, 1), 9.0), counts]), ["the", *"abcdef"])
    model = LDA(2, max_iter=30).fit(corpus)
    assert all(words[0] == "the" for words in model.top_words(2))
    assert sorted("".join(sorted(words)) for words in model.top_words(3, relevance=0.3)) == [
        "abc",
        "def",
    ]
    assert model.topic_info(2, relevance=0.3).words[0] != model.topic_info(2).words[0]
    with pytest.raises(ValueError, match="relevance is 2"):
        model.top_words(relevance=2)


def test_top_documents_are_most_about_their_topic():
    corpus, _ = datasets.make_blocks()
    model = LDA(4, max_iter=30).fit(
        replace(corpus, doc_names=[f"d{i}" for i in range(corpus.n_docs)])
    )
    for k, documents in enumerate(model.top_documents(3)):
        best = np.sort(model.doc_topic_[:, k])[::-1][:3]
        assert [share for _, share in documents] == best.tolist()
        assert all(model.doc_topic_[int(name[1:]), k] == share for name, share in documents)
    # Numbers where there are no names.
    assert isinstance(LDA(4, max_iter=5).fit(corpus.counts).top_documents(1)[0][0][0], int)
    with pytest.raises(ValueError, match="keeps no documents"):
        LDA(4).partial_fit(corpus.counts).top_documents()
    with pytest.raises(ValueError, match="n is 0"):
        model.top_documents(0)
