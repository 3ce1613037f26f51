"""A corpus has one form of everything, and nothing is converted after it."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.decomposition import NMF, LatentDirichletAllocation, TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import topoi
from topoi import LDA, AuthorTopicModel, Corpus, LabeledLDA, datasets
from topoi.corpus import Membership, metadata
from topoi.corpus import links as link_forms
from topoi.corpus.metadata import membership
from topoi.models import inputs

COUNTS = np.array([[1, 2, 0], [0, 1, 1], [3, 0, 0]])
NAMES = [["Bob"], ["Ann", "Bob"], []]
FLAGS = np.array([[0, 1], [1, 1], [0, 0]])


def same(a: Membership, b: Membership) -> bool:
    return a.tolist() == b.tolist() and a.names.tolist() == b.names.tolist()


@pytest.mark.parametrize("what", ["authors", "labels"])
def test_names_have_one_form(what):
    frame = pd.DataFrame(FLAGS, columns=["Ann", "Bob"])
    held = [getattr(Corpus(COUNTS, **{what: form}), what) for form in (NAMES, frame)]
    assert all(isinstance(value, Membership) for value in held)
    assert same(*held)
    assert Corpus(COUNTS, **{what: FLAGS}).__dict__[what].tolist() == [[1], [0, 1], []]
    again = Corpus(COUNTS, **{what: held[0]})
    assert getattr(again, what) is held[0]


def test_links_and_text_have_one_form():
    made = Corpus(
        COUNTS, links=[(0, 1)], doc_names=np.arange(3), dates=pd.Series([2001.0, None, 7])
    )
    assert isinstance(made.links, sparse.csr_array)
    assert made.doc_names == ["0", "1", "2"]
    assert made.dates == ["2001", "", "7"]


def test_texts_are_carried_along():
    made = Corpus(COUNTS, list("abc"), texts=["x", "y", "z"])
    assert made[[2, 0]].texts == ["z", "x"]
    assert made.over(["c", "a"]).texts == ["x", "y", "z"]
    train, test = made.split(0.3)
    assert sorted(train.texts + test.texts) == ["x", "y", "z"]


def test_known_names_come_first():
    made = membership(NAMES, 3, "authors").aligned(["Zoe", "Bob"])
    assert made.names.tolist() == ["Zoe", "Bob", "Ann"]
    assert sorted(made[1]) == ["Ann", "Bob"]
    assert made.matrix.has_sorted_indices


def test_a_fit_converts_nothing_that_a_corpus_holds(monkeypatch):
    authors, _ = datasets.make_authors(30)
    linked, _ = datasets.make_links(30)
    labeled, _ = datasets.make_labels(30)

    def refuse(*args, **options):
        raise AssertionError("converted again")

    for module in (inputs, link_forms):
        monkeypatch.setattr(module, "adjacency", refuse)
    monkeypatch.setattr(metadata, "_from_lists", refuse)
    monkeypatch.setattr(inputs, "check_counts", refuse)
    LDA(2, max_iter=2).fit(authors).transform(authors)
    AuthorTopicModel(2, max_iter=2).fit(authors).transform(authors)
    topoi.RelationalTopicModel(2, link_weight=0.1, max_iter=2).fit(linked).transform(linked)
    LabeledLDA(max_iter=2).fit(labeled).transform(labeled)


def test_labels_of_a_corpus_are_predicted_one_each_if_no_document_has_more():
    made, _ = datasets.make_labels(40, max_labels=1)
    assert LabeledLDA(max_iter=3).fit(made).predict(made).shape == (40,)
    several, _ = datasets.make_labels(40)
    assert isinstance(LabeledLDA(max_iter=3).fit(several).predict(several), list)


def test_a_corpus_has_a_length_a_shape_and_a_table():
    made = Corpus(COUNTS, ["<b>", "\x1b[31m", "c"], links=[(0, 1)], authors=NAMES)
    assert len(made) == 3
    assert made.shape == (3, 3)
    page = made._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "\x1b" not in page
    assert "<th>links</th><td>1</td>" in page


def test_scikit_learn_takes_counts_and_corpora():
    wide = sparse.csr_array(datasets.make_lda(40)[0].counts)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    made = Corpus(wide)
    for model in (LatentDirichletAllocation(2, max_iter=2), TruncatedSVD(2), NMF(2, tol=0.1)):
        assert model.fit_transform(made.counts).shape == (40, 2)
    LogisticRegression(solver="liblinear").fit(made.counts, np.arange(40) % 2)
    assert np.asarray(made.counts.sum(axis=0)).ravel().shape == (made.n_words,)
    assert np.isfinite(cross_val_score(LDA(2, max_iter=2), made, cv=2)).all()


def test_the_older_matrix_type_shares_the_counts():
    """pyLDAvis takes sums with `getA1`, which only that type's sums have."""
    corpus, _ = datasets.make_blocks(n_topics=2)
    older = sparse.csr_matrix(corpus.counts)
    assert np.shares_memory(older.data, corpus.counts.data)
    assert np.array_equal(older.sum(axis=1).getA1(), corpus.counts.sum(axis=1))
    assert np.array_equal(older.sum(axis=0).getA1(), corpus.counts.sum(axis=0))
    model = LDA(2, max_iter=3).fit(corpus)
    assert np.array_equal(model.transform(older), model.transform(corpus))


def test_sums_of_counts_are_one_dimensional_as_pyldavis_wants_them():
    corpus, _ = datasets.make_blocks(n_topics=2)
    assert corpus.counts.sum(axis=1).shape == (corpus.n_docs,)
    assert corpus.counts.sum(axis=0).shape == (len(corpus.words),)


@pytest.mark.parametrize(
    "name", ["topoi", "topoi.corpus", "topoi.datasets", "topoi.evaluate", "topoi.io.formats"]
)
def test_public_modules_show_public_names_only(name):
    module = import_module(name)
    assert {each for each in dir(module) if not each.startswith("__")} == set(module.__all__)
