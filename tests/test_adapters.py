"""Models in the forms of other tools."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import topoi
from topoi import LDA, Corpus, datasets
from topoi.explore.adapters import (
    to_anndata,
    to_gensim_model,
    to_octis,
    to_pycistopic,
    to_pyldavis,
)

TEXTS = ["cats and dogs", "dogs and cats", "stocks and bonds", "bonds of banks"] * 5


@pytest.fixture(scope="module")
def fitted():
    """(model, a corpus with its words in another order and an empty document)"""
    corpus, _ = datasets.make_lda(40, 30, 3)
    counts = np.vstack([corpus.counts.toarray()[:, ::-1], np.zeros(30)])
    return LDA(3, max_iter=20).fit(corpus), Corpus(counts, corpus.vocabulary[::-1])


def test_pyldavis_gets_distributions_that_agree(fitted):
    """What pyLDAvis checks before it draws, and topics that keep their numbers."""
    model, corpus = fitted
    found = to_pyldavis(model, corpus)
    n_docs, n_topics = found["doc_topic_dists"].shape
    assert (n_docs, n_topics) == (40, 3)
    assert len(found["doc_lengths"]) == n_docs
    assert found["doc_lengths"].min() > 0
    assert found["vocab"] == list(model.vocabulary_)
    assert found["topic_term_dists"].shape == (n_topics, len(found["vocab"]))
    assert found["term_frequency"].sum() == found["doc_lengths"].sum()
    np.testing.assert_allclose(found["topic_term_dists"].sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(found["doc_topic_dists"].sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(found["doc_topic_dists"], model.doc_topic_, atol=0.05)
    assert (found["sort_topics"], found["start_index"]) == (False, 0)


def test_topicwizard_finds_its_data():
    model = LDA(2).fit(topoi.read(TEXTS)).name_topics({0: "first"})
    data = model.prepare_topic_data(TEXTS)
    assert set(data) == {
        "corpus", "vocab", "document_term_matrix", "document_topic_matrix", "topic_term_matrix",
        "document_representation", "transform", "topic_names",
    }  # fmt: skip
    assert data["topic_names"] == model.topic_names_
    assert data["document_term_matrix"].shape == (20, len(data["vocab"]))
    np.testing.assert_array_equal(data["transform"](TEXTS), data["document_topic_matrix"])


def test_octis_gets_its_dictionary(fitted):
    model, corpus = fitted
    found = to_octis(model, n_words=4)
    assert found["topics"] == model.top_words(4)
    np.testing.assert_allclose(found["topic-document-matrix"].sum(axis=0), 1, rtol=1e-5)
    assert found["topic-word-matrix"].shape == (3, 30)
    assert to_octis(model, corpus)["topic-document-matrix"].shape == (3, 41)


@pytest.mark.filterwarnings("ignore")  # of gensim and what it imports
def test_gensim_has_the_same_topics(fitted):
    pytest.importorskip("gensim")
    model, corpus = fitted
    made = to_gensim_model(model)
    np.testing.assert_allclose(made.get_topics(), model.topic_word_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(made.alpha, model.doc_topic_prior_)
    shown = [word for word, _ in made.show_topic(1, topn=5)]
    assert shown == model.top_words(5)[1]
    documents, _ = topoi.formats.to_gensim(corpus.like(model.vocabulary_))
    gamma, _ = made.inference(documents[:40])
    agree = gamma.argmax(axis=1) == model.doc_topic_.argmax(axis=1)
    assert agree.mean() > 0.9


def test_anndata_gets_topics_of_cells_and_features():
    corpus, _ = datasets.make_lda(40, 30, 3, random_state=0)
    corpus = replace(corpus, doc_names=[f"cell{i}" for i in range(40)])
    model = LDA(3, max_iter=10).fit(corpus).name_topics({1: "immune"})
    cells = topoi.formats.to_anndata(corpus)[:, ::-1].copy()  # other features come first
    to_anndata(model, cells, key="lda")
    assert cells.obs_names[3] == "cell3"
    np.testing.assert_allclose(cells.obsm["lda"], model.transform(corpus), rtol=1e-6)
    np.testing.assert_allclose(cells.varm["lda"][::-1], model.topic_word_.T, rtol=1e-6)
    assert cells.uns["lda"]["names"] == model.topic_names_


def test_pycistopic_gets_the_tables_of_its_class(fitted):
    """Named and turned as pycisTopic's CistopicLDAModel has them: topics x cells, regions x
    topics.
    """
    model, corpus = fitted
    named = replace(corpus, doc_names=[f"cell{d}" for d in range(corpus.n_docs)])
    tables = to_pycistopic(model, named)
    assert list(tables) == [
        "metrics", "coherence", "marg_topic", "topic_ass", "cell_topic", "topic_region",
        "parameters",
    ]  # fmt: skip
    assert tables["cell_topic"].index.tolist() == ["Topic1", "Topic2", "Topic3"]
    assert tables["cell_topic"].columns[:2].tolist() == ["cell0", "cell1"]
    np.testing.assert_allclose(tables["cell_topic"].sum(), 1, rtol=1e-5)
    np.testing.assert_allclose(tables["topic_region"].sum(), 1, rtol=1e-5)
    assert tables["topic_region"].index.tolist() == list(model.vocabulary_)
    np.testing.assert_allclose(tables["marg_topic"]["Marg_Topic"].sum(), 1, rtol=1e-5)
    assert tables["metrics"]["Mimno_2011"].notna().all()
