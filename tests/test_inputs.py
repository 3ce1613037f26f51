"""Every form of a corpus is the same corpus, and its words keep their names."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from support import small_counts

from topoi import LDA, Corpus, evaluate
from topoi.rules import CVB0


def test_data_frame_gives_the_vocabulary(mixed):
    corpus, _ = mixed
    frame = pd.DataFrame(corpus.counts.toarray(), columns=corpus.vocabulary)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LDA(5, max_iter=10).fit(frame)
        model.transform(frame)
        model.perplexity(frame)
    np.testing.assert_array_equal(model.vocabulary_, corpus.vocabulary)
    np.testing.assert_array_equal(model.feature_names_in_, corpus.vocabulary)
    assert model.top_words(3) == LDA(5, max_iter=10).fit(corpus).top_words(3)
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame[frame.columns[::-1]])


def test_names_of_numpy_are_names(mixed):
    """list(vocabulary) holds NumPy's strings, which scikit-learn passes over."""
    corpus, _ = mixed
    frame = pd.DataFrame(corpus.counts.toarray(), columns=list(corpus.vocabulary))
    model = LDA(5, max_iter=5).fit(frame)
    assert model.top_words(3) == LDA(5, max_iter=5).fit(corpus).top_words(3)
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame[list(corpus.vocabulary[::-1])])


def test_mini_batches_of_a_data_frame_do_not_warn(mixed):
    corpus, _ = mixed
    frame = pd.DataFrame(corpus.counts.toarray(), columns=corpus.vocabulary)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LDA(5, max_iter=6, batch_size=60).fit(frame)
    assert model.n_iter_ <= 6


def test_completion_of_a_model_fitted_on_a_data_frame_does_not_warn(mixed):
    corpus, _ = mixed
    model = LDA(5, max_iter=5).fit(pd.DataFrame(corpus.counts.toarray(), columns=corpus.vocabulary))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate.completion_perplexity(model, corpus) > 1


def test_corpus_gives_the_vocabulary(mixed):
    corpus, _ = mixed
    model = LDA(5, max_iter=10).fit(corpus)
    np.testing.assert_array_equal(model.vocabulary_, corpus.vocabulary)
    np.testing.assert_array_equal(model.transform(corpus), model.transform(corpus.counts))
    assert model.perplexity(corpus) == model.perplexity(corpus.counts)


def test_corpus_without_a_vocabulary():
    model = LDA(3, max_iter=5).fit(Corpus(small_counts()))
    assert model.vocabulary_ is None
    assert all(word.startswith("word") for words in model.top_words() for word in words)


def scrambled(counts: sparse.csr_array) -> sparse.csr_matrix:
    """The same matrix with columns in no order, entries split in two, and explicit zeros."""
    coo = counts.tocoo()
    rows = np.concatenate([coo.row, coo.row, coo.row])
    columns = np.concatenate([coo.col, coo.col, (coo.col + 1) % counts.shape[1]])
    values = np.concatenate([coo.data - 0.25, np.full(coo.nnz, 0.25), np.zeros(coo.nnz)])
    order = np.random.default_rng(0).permutation(len(rows))
    order = order[np.argsort(rows[order], kind="stable")]
    indptr = np.searchsorted(rows[order], np.arange(counts.shape[0] + 1))
    out = sparse.csr_matrix((values[order], columns[order], indptr), shape=counts.shape)
    assert not out.has_sorted_indices
    assert not out.has_canonical_format
    return out


def read_only(counts):
    for array in (
        (counts.data, counts.indices, counts.indptr) if sparse.issparse(counts) else (counts,)
    ):
        array.setflags(write=False)
    return counts


def with_index_type(counts: sparse.csr_array, dtype) -> sparse.csr_array:
    out = counts.copy()
    out.indices, out.indptr = out.indices.astype(dtype), out.indptr.astype(dtype)
    return out


FORMATS = {
    "dense": lambda c: c.toarray(),
    "dense integers": lambda c: c.toarray().astype(np.int64),
    "dense bytes": lambda c: c.toarray().astype(np.uint8),
    "dense Fortran": lambda c: np.asfortranarray(c.toarray()),
    "dense read-only": lambda c: read_only(c.toarray()),
    "list of lists": lambda c: c.toarray().tolist(),
    "data frame": lambda c: pd.DataFrame(c.toarray()),
    "csr array": lambda c: c,
    "csr matrix": sparse.csr_matrix,
    "csc array": sparse.csc_array,
    "csc matrix": sparse.csc_matrix,
    "coo array": sparse.coo_array,
    "coo matrix": sparse.coo_matrix,
    "lil matrix": sparse.lil_matrix,
    "dok array": sparse.dok_array,
    "int32 indices": lambda c: with_index_type(c, np.int32),
    "int64 indices": lambda c: with_index_type(c, np.int64),
    "integer entries": lambda c: c.astype(np.int32),
    "unsigned entries": lambda c: c.astype(np.uint16),
    "unsorted and duplicate": scrambled,
    "read-only": lambda c: read_only(c.copy()),
    "read-only unsorted": lambda c: read_only(scrambled(c)),
    "corpus": Corpus,
}


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_the_same_corpus(form):
    counts = small_counts()
    X = FORMATS[form](counts)
    expected, model = LDA(3, max_iter=8).fit(counts), LDA(3, max_iter=8).fit(X)
    np.testing.assert_allclose(model.components_, expected.components_, rtol=1e-5)
    np.testing.assert_allclose(model.transform(X), expected.transform(counts), rtol=1e-4)
    np.testing.assert_allclose(model.perplexity(X), expected.perplexity(counts), rtol=1e-5)


def test_single_precision_in_single_precision_out():
    counts = small_counts().astype(np.float32)
    model = LDA(3, max_iter=8).fit(counts)
    assert (
        model.components_.dtype
        == model.doc_topic_.dtype
        == model.transform(counts).dtype
        == np.float32
    )
    assert LDA(3, max_iter=8).fit(small_counts()).transform(small_counts()).dtype == np.float64


@pytest.mark.parametrize(
    "X",
    [np.array([[3.0]]), np.array([[0.0, 2, 0]]), np.array([[1.0], [0], [4]])],
    ids=["one", "row", "column"],
)
def test_tiny_corpora(X):
    model = LDA(4, max_iter=12).fit(X)
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(model.topic_word_.sum(axis=1), 1, rtol=1e-6)
    assert np.isfinite(model.perplexity(X))


def test_fractions_are_welcome():
    weights = small_counts()
    weights.data *= np.random.default_rng(0).uniform(0.1, 2, weights.nnz)
    model = LDA(3, max_iter=10, topic_word_prior=0.1).fit(weights)
    np.testing.assert_allclose(model.components_.sum(), weights.sum() + 3 * 25 * 0.1, rtol=1e-5)
    assert LDA(3, rule=CVB0(messages="edge"), max_iter=3).fit(weights).n_iter_ == 3


def test_words_in_another_order_are_put_in_order(mixed):
    """A Corpus knows its words: for prediction and for every measure they are those of training."""
    corpus = mixed[0]
    transposed = Corpus(corpus.counts[:, ::-1], corpus.vocabulary[::-1])
    model = LDA(5, max_iter=20).fit(corpus)
    np.testing.assert_array_equal(model.transform(transposed), model.transform(corpus))
    assert model.perplexity(transposed) == model.perplexity(corpus)
    assert evaluate.completion_perplexity(model, transposed) == evaluate.completion_perplexity(
        model, corpus
    )
    np.testing.assert_array_equal(evaluate.npmi(model, transposed), evaluate.npmi(model, corpus))
    np.testing.assert_array_equal(
        evaluate.left_to_right(model, transposed[:2]), evaluate.left_to_right(model, corpus[:2])
    )
    with pytest.raises(
        ValueError, match="init was fitted on other words, or on the same in another order"
    ):
        LDA(5, init=model).fit(transposed)


@pytest.mark.parametrize("kind", [np.uint8, np.int8])
def test_small_types_do_not_overflow(kind):
    table = sparse.coo_array(
        (np.array([100, 100, 100], kind), ([0, 0, 1], [0, 0, 1])), shape=(2, 2)
    )
    model = LDA(1, max_iter=1).fit(table)
    for counts in (Corpus(table).counts, model.components_ - model.topic_word_prior_):
        np.testing.assert_allclose(np.sort(counts.sum(axis=0)), [100, 200], rtol=1e-5)


def test_entries_beyond_single_precision_are_refused():
    with pytest.raises(ValueError, match="Divide it by a constant"):
        LDA(2).fit(np.eye(3) * 1e30)


def test_a_frame_in_another_order_than_the_corpus_of_training(blocks):
    words = [f"w{i}" for i in range(blocks[0].n_words)]
    corpus = Corpus(blocks[0].counts, words)
    model = LDA(4, max_iter=5).fit(corpus)
    frame = pd.DataFrame(corpus.counts.toarray(), columns=words)[words[::-1]]
    with pytest.warns(UserWarning, match="LDA was fitted without feature names"):
        proportions = model.transform(frame)
    np.testing.assert_array_equal(proportions, model.transform(corpus))
