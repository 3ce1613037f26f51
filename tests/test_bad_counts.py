"""A matrix that holds no counts is refused before anything is computed, with the cure."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from support import small_counts, with_entry

from topoi import LDA, Corpus

pytestmark = pytest.mark.usefixtures("no_kernel_runs")


@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array, sparse.csc_matrix], ids=["dense", "csr", "csc"]
)
@pytest.mark.parametrize(
    ("value", "what"),
    [
        (-1.0, "Negative values"),
        (np.nan, "contains NaN"),
        (np.inf, "contains infinity|contains NaN or infinity"),
    ],
    ids=["negative", "nan", "inf"],
)
def test_bad_entries_are_named(form, value, what):
    with pytest.raises(ValueError, match=what):
        LDA(3).fit(form(with_entry(value)))


@pytest.mark.parametrize(
    ("value", "cure"),
    [
        (-1.0, "Clip them, or check the preprocessing"),
        (np.nan, "numpy.nan_to_num"),
        (np.inf, "numpy.nan_to_num"),
    ],
    ids=["negative", "nan", "inf"],
)
def test_bad_entries_are_cured(value, cure):
    with pytest.raises(ValueError, match=cure):
        LDA(3).fit(with_entry(value))


@pytest.mark.parametrize(
    ("value", "cure"),
    [
        (
            -1.0,
            (
                "Negative values in counts: topic models need counts or weights >= 0. Clip them, or"
                " check the preprocessing"
            ),
        ),
        (
            np.nan,
            (
                "counts contains NaN or infinity. Replace missing counts by 0, for instance with"
                " numpy.nan_to_num"
            ),
        ),
        (
            -np.inf,
            (
                "counts contains NaN or infinity. Replace missing counts by 0, for instance with"
                " numpy.nan_to_num"
            ),
        ),
    ],
    ids=["negative", "nan", "inf"],
)
@pytest.mark.parametrize("form", [np.asarray, sparse.coo_array], ids=["dense", "sparse"])
def test_bad_entries_of_a_corpus(value, cure, form):
    with pytest.raises(ValueError, match=cure):
        Corpus(form(with_entry(value)))


X = small_counts()


@pytest.mark.parametrize("form", [list, np.array, pd.Series], ids=["list", "array", "series"])
def test_texts_of_which_no_word_is_left(form):
    with pytest.raises(ValueError, match="The list: no words of its 2 documents are left"):
        LDA(3).fit(form(["a text", "another"]))


def test_anndata_with_too_few_names():
    cells = SimpleNamespace(X=X, var_names=[], obs_names=[])
    with pytest.raises(ValueError, match="names|words|documents"):
        LDA(3).fit(cells)


@pytest.mark.parametrize("entries", [[["a", "b"], ["c", "d"]], [["1", "b"], ["c", "d"]]])
def test_strings_as_counts(entries):
    with pytest.raises(ValueError, match="could not convert string"):
        LDA(3).fit(np.array(entries, dtype=object))
    with pytest.raises(
        ValueError, match="expected counts. For raw text use topoi.read\\(texts\\) first"
    ):
        Corpus(np.array(entries))


def test_no_documents():
    with pytest.raises(
        ValueError, match=r"Found array with 0 sample\(s\) .* while a minimum of 1 is required"
    ):
        LDA(3).fit(np.zeros((0, 5)))


def test_no_words():
    with pytest.raises(
        ValueError, match=r"Found array with 0 feature\(s\) .* while a minimum of 1 is required"
    ):
        LDA(3).fit(np.zeros((5, 0)))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("options", [{}, {"batch_size": 2}, {"rule": "gibbs"}], ids=str)
def test_nothing_but_zeros(form, options):
    with pytest.raises(
        ValueError,
        match=(
            "X holds no words at all: every entry is 0. Check the vectoriser's vocabulary, min_df"
            " and stop words"
        ),
    ):
        LDA(3, **options).fit(form(np.zeros((4, 5))))


def test_nothing_but_explicit_zeros():
    zeros = X.copy()
    zeros.data[:] = 0
    with pytest.raises(ValueError, match="X holds no words at all"):
        LDA(3).fit(zeros)


def test_one_dimension():
    with pytest.raises(
        ValueError, match=r"Expected 2D array, got 1D array instead[\s\S]*Reshape your data"
    ):
        LDA(3).fit(np.ones(5))
    with pytest.raises(
        ValueError,
        match=(
            r"counts has 1 dimension\(s\); expected documents x words. For one document use"
            r" counts.reshape\(1, -1\)"
        ),
    ):
        Corpus(np.ones(5))


@pytest.mark.parametrize("value", [None, 5, np.array(5)], ids=["None", "number", "scalar array"])
def test_no_matrix_at_all(value):
    with pytest.raises(ValueError, match=r"Expected 2D array, got scalar array instead"):
        LDA(3).fit(value)


def test_three_dimensions():
    with pytest.raises(ValueError, match="dim"):
        LDA(3).fit(np.ones((2, 2, 2)))


def test_complex_numbers():
    with pytest.raises(ValueError, match="Complex data not supported"):
        LDA(3).fit(np.ones((2, 2), dtype=complex))
    with pytest.raises(
        ValueError,
        match=r"holds complex128 entries; expected numbers. Convert it with .astype\(float\)",
    ):
        Corpus(sparse.csr_array(np.ones((2, 2), dtype=complex)))
