"""Topics and documents agree on their words, or somebody says so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn.decomposition

from topoi import LDA, Corpus, datasets, evaluate

MEASURES = [evaluate.completion_perplexity, evaluate.left_to_right, evaluate.npmi, evaluate.c_v]


@pytest.fixture(scope="module")
def shuffled():
    """(corpus, topics, its words, topics with other columns, their words)"""
    corpus, truth = datasets.make_lda(40, 30, 3)
    order = np.random.default_rng(0).permutation(30)
    words = np.asarray(corpus.vocabulary)
    return corpus, truth.topic_word, words, truth.topic_word[:, order], words[order]


@pytest.mark.parametrize("measure", MEASURES)
def test_columns_in_another_order_are_brought_into_order(shuffled, measure):
    corpus, topics, words, moved, their_words = shuffled
    own = measure(topics, corpus, vocabulary=words)
    np.testing.assert_allclose(measure(moved, corpus, vocabulary=their_words), own, rtol=0.05)
    np.testing.assert_allclose(measure(topics, corpus.counts), own)


def test_the_order_decides(shuffled):
    corpus, topics, words, moved, _ = shuffled
    right, wrong = (
        evaluate.completion_perplexity(given, corpus, vocabulary=words) for given in (topics, moved)
    )
    assert wrong > 1.5 * right


@pytest.mark.parametrize("measure", MEASURES)
def test_unknown_order_is_not_scored_in_silence(shuffled, measure):
    corpus, topics, *_ = shuffled
    with pytest.warns(UserWarning, match="taken to be in the same order. Give vocabulary="):
        measure(topics, corpus)
    model = LDA(3, max_iter=2).fit(corpus.counts)  # knows no words either
    with pytest.warns(UserWarning, match="taken to be in the same order"):
        measure(model, corpus)


def test_words_that_documents_do_not_know_cannot_be_matched(shuffled):
    corpus, topics, words, *_ = shuffled
    for X in (corpus.counts, Corpus(corpus.counts)):
        with pytest.raises(ValueError, match="documents do not know their words"):
            evaluate.completion(topics, X, vocabulary=words)


def test_names_of_columns_of_a_frame_are_words(shuffled):
    corpus, _, words, *_ = shuffled
    frame = pd.DataFrame(corpus.counts.toarray(), columns=words)[words[::-1]]
    peer = sklearn.decomposition.LatentDirichletAllocation(3, max_iter=2).fit(frame)
    backwards = corpus.over(words[::-1])  # the order of words decides which tokens are held out
    alone = evaluate.completion_perplexity(
        peer.components_, backwards, vocabulary=words[::-1], doc_topic_prior=1 / 3
    )
    assert evaluate.completion_perplexity(peer, corpus) == pytest.approx(alone)


def test_lists_of_words_score_as_their_numbers(shuffled):
    corpus, topics, words, *_ = shuffled
    ids = [np.argsort(-row, kind="stable")[:6].tolist() for row in topics]
    named = [[str(words[w]) for w in row] for row in ids]
    for measure in (evaluate.npmi, evaluate.u_mass, evaluate.c_v):
        np.testing.assert_array_equal(measure(named, corpus), measure(ids, corpus))
    assert evaluate.topic_diversity(named) == evaluate.topic_diversity(ids)
    np.testing.assert_array_equal(
        evaluate.npmi(np.array(named), corpus), evaluate.npmi(ids, corpus.counts)
    )


def test_words_that_the_reference_does_not_have_tell_nothing(shuffled):
    corpus, _, words, *_ = shuffled
    assert evaluate.npmi([["nowhere", "never"], ["nowhere", str(words[0])]], corpus).tolist() == [
        0.0,
        0.0,
    ]
