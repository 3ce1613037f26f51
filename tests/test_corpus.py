"""Corpora, their weights, and the grid that they are laid out in."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from support import begin, small_counts

from topoi import LDA, Corpus, datasets
from topoi.corpus.checks import check_counts
from topoi.corpus.links import adjacency
from topoi.graph import wiring
from topoi.graph.factors import Documents, Words, compile_factors
from topoi.graph.weighting import fit_weighting

COUNTS = np.array([[2, 1, 0], [0, 1, 1], [0, 0, 0], [1, 0, 3]])


def corpus(**extras) -> Corpus:
    return Corpus(COUNTS, ["a", "b", "c"], **extras)


# --------------------------------------------------------------------------------------- the corpus


def test_counts_become_canonical():
    """Sorted, duplicates added, zeros dropped, double precision; the input stays as it was."""
    messy = sparse.csr_matrix(
        (np.array([1, 0, 2, 1]), np.array([2, 1, 0, 2]), np.array([0, 4])), shape=(1, 3)
    )
    clean = check_counts(messy)
    assert clean.data.tolist() == [2, 2]
    assert clean.indices.tolist() == [0, 2]
    assert clean.dtype == np.float64
    assert messy.nnz == 4


def test_sizes_and_repr():
    full = corpus(links=[(0, 1)], doc_names=list("wxyz"))
    assert (full.n_docs, full.n_words, full.n_tokens) == (4, 3, 9)
    assert repr(full) == "Corpus(4 documents x 3 words, 9 tokens, vocabulary, links, doc_names)"
    assert repr(Corpus(COUNTS)) == "Corpus(4 documents x 3 words, 9 tokens)"


def test_vocabulary_must_fit():
    with pytest.raises(
        ValueError, match="vocabulary has 2 words but counts has 3 columns; they must agree"
    ):
        Corpus(COUNTS, ["a", "b"])
    with pytest.raises(
        ValueError, match=r"vocabulary has 'b' twice; .* \(AnnData: var_names_make_unique\(\)\)"
    ):
        Corpus(COUNTS, ["b", "a", "b"])


@pytest.mark.parametrize("name", ["authors", "labels", "doc_names"])
@pytest.mark.parametrize("value", [["x"], np.zeros((5, 2))], ids=["list", "matrix"])
def test_one_entry_per_document(name, value):
    with pytest.raises(
        ValueError,
        match=rf"{name} describes \d documents but counts has 4 rows; give one entry per document",
    ):
        corpus(**{name: value})


ROWS = [
    ([3, 0], [3, 0]),
    (slice(1, None, 2), [1, 3]),
    (np.array([True, False, False, True]), [0, 3]),
    (np.array([2]), [2]),
    ([], []),
]


@pytest.mark.parametrize(
    ("rows", "expected"), ROWS, ids=["numbers", "slice", "mask", "one", "none"]
)
def test_slicing_takes_everything_along(rows, expected):
    rows = np.array(rows, dtype=int) if isinstance(rows, list) else rows
    whole = corpus(
        authors=[["u"], ["u", "v"], [], ["w"]],
        labels=np.eye(4)[:, :2],
        doc_names=["p", "q", "r", "s"],
    )
    part = whole[rows]
    np.testing.assert_array_equal(part.counts.toarray(), COUNTS[expected])
    assert part.vocabulary.tolist() == ["a", "b", "c"]
    assert part.authors.tolist() == [whole.authors[i] for i in expected]
    assert part.labels.tolist() == [whole.labels[i] for i in expected]
    assert set(part.authors.names) == {name for row in part.authors for name in row}
    assert list(part.doc_names) == [whole.doc_names[i] for i in expected]


PAIRS = [(0, 1), (1, 3), (3, 0), (2, 2)]


@pytest.mark.parametrize("form", ["pairs", "array", "sparse", "coo", "dense", "neighbours"])
def test_slicing_keeps_links_inside(form):
    """Documents 3 and 0, in this order, become 0 and 1: only the link between them stays."""
    matrix = np.zeros((4, 4))
    for d, e in PAIRS:
        matrix[d, e] = 1
    links = {
        "pairs": PAIRS,
        "array": np.array(PAIRS),
        "sparse": sparse.csr_array(matrix),
        "coo": sparse.coo_matrix(matrix),
        "dense": matrix,
        "neighbours": [np.flatnonzero(row).tolist() for row in matrix],
    }[form]
    part = corpus(links=links)[[3, 0]].links
    np.testing.assert_array_equal(part.toarray(), matrix[np.ix_([3, 0], [3, 0])])


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ([(0, 1, 5), (1, 2, 7)], "links has shape (2, 3); pairs have two columns"),
        (
            pd.DataFrame({"from": [0, 1], "to": [2, 3], "w": [0.5, 0.6]}),
            "links has shape (2, 3); pairs have two columns",
        ),
        ([(0, 2.9)], "links holds fractions or NaN"),
        ([(0, np.nan)], "links holds fractions or NaN"),
        ([[1.7], [0], [], []], "links holds fractions or NaN"),
        (
            [[0, 1], [1, 2], [2, 3], [3, 0]],
            (
                "links has 4 lists of two numbers, as many as documents: pairs, or two neighbours"
                " for each?"
            ),
        ),
        (-np.eye(4), "links holds negative numbers"),
    ],
    ids=[
        "triples",
        "frame",
        "fraction",
        "gap",
        "fraction among neighbours",
        "ambiguous",
        "negative",
    ],
)
def test_links_that_could_be_misread_are_refused(links, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        corpus(links=links)


def test_pairs_as_lists_and_frames():
    """As they come from JSON, or from a table with two columns."""
    expected = adjacency(PAIRS, 4).toarray()
    for links in (
        [*map(list, PAIRS), [0, 1]],
        pd.DataFrame(PAIRS),
        tuple(PAIRS),
        pd.DataFrame(expected),
    ):
        np.testing.assert_array_equal(adjacency(links, 4).toarray(), expected)


def test_neighbours_as_tuples():
    np.testing.assert_array_equal(
        adjacency([(1, 2), (0,), (), (2,)], 4).toarray(),
        adjacency([[1, 2], [0], [], [2]], 4).toarray(),
    )


def test_given_matrices_stay_as_they_are():
    """They may also be read-only, as joblib gives them to its processes."""
    links = sparse.csr_array(([1.0, 0.0, 2.0], [1, 2, 0], [0, 2, 3, 3, 3]), shape=(4, 4))
    for array in (links.data, links.indices, links.indptr):
        array.setflags(write=False)
    corpus(links=links)
    assert links.data.tolist() == [1, 0, 2]


def test_pandas_columns_are_taken_by_place():
    column = pd.Series(list("abcd"), index=[3, 2, 1, 0])
    part = corpus(labels=column, authors=pd.DataFrame(np.eye(4, dtype=int)), dates=column)[[1, 0]][
        [0]
    ]
    assert part.labels.tolist() == [["b"]]
    assert part.dates == ["b"]
    assert part.authors.tolist() == [[1]]


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_places_outside_of_a_matrix_are_refused(form):
    broken = sparse.eye_array(4, format=form)
    broken.indices[2] = 99_999_999
    for use in (Corpus, LDA(2).fit, lambda table: corpus(links=table)):
        with pytest.raises(ValueError, match="damaged sparse matrix"):
            use(broken)


def test_a_corpus_over_the_words_of_a_model():
    words = ["a", "b", "c"]
    whole = Corpus([[1, 2, 3], [4, 0, 6]], words)
    transposed = Corpus(whole.counts[:, ::-1], words[::-1])
    np.testing.assert_array_equal(transposed.like(words).counts.toarray(), whole.counts.toarray())
    assert whole.like(words) is whole
    assert whole.like(None) is whole
    with pytest.raises(ValueError, match="None of the corpus's words is in the vocabulary"):
        whole.like(["x", "y"])


def test_no_links_left():
    assert corpus(links=PAIRS)[[0, 2]].links.toarray().tolist() == [[0, 0], [0, 1]]
    assert corpus(links=PAIRS)[[1]].links.nnz == 0
    assert corpus(links=[])[[1]].links.nnz == 0


def test_split_parts_the_documents():
    big = Corpus(sparse.csr_array(np.eye(100)), doc_names=np.arange(100))
    train, test = big.split(0.2)
    assert (train.n_docs, test.n_docs) == (80, 20)
    assert {*train.doc_names, *test.doc_names} == set(map(str, range(100)))
    assert big.split(0.2)[1].doc_names == test.doc_names
    assert big.split(0.2, random_state=1)[1].doc_names != test.doc_names
    assert corpus().split(0.01)[1].n_docs == 1


@pytest.mark.parametrize("share", [0, 1, -1, 2])
def test_split_needs_a_proportion(share):
    with pytest.raises(
        ValueError, match=f"test_size is {share}; expected a proportion between 0 and 1"
    ):
        corpus().split(share)


# -------------------------------------------------------------------------------------------- files


def npz_arrays() -> dict[str, np.ndarray]:
    counts = sparse.csr_array(COUNTS)
    return {
        "indptr": counts.indptr,
        "indices": counts.indices,
        "counts": counts.data.astype(np.uint16),
        "vocab": np.array(["a", "b", "c"]),
    }


def test_npz_with_everything(tmp_path):
    np.savez(
        tmp_path / "all.npz",
        **npz_arrays(),
        doc_names=np.array(["p", "q", "r", "s"]),
        authors_indptr=np.array([0, 1, 3, 3, 4]),
        authors_indices=np.array([0, 0, 1, 1]),
        author_names=np.array(["Ann", "Bob"]),
        links=np.array([[0, 1], [3, 0]]),
        labels=np.array([0, 1, -1, 1]),
        label_names=np.array(["x", "y"]),
    )
    loaded = datasets.load_npz(str(tmp_path / "all.npz"))
    np.testing.assert_array_equal(loaded.counts.toarray(), COUNTS)
    assert loaded.vocabulary.tolist() == ["a", "b", "c"]
    assert loaded.doc_names == ["p", "q", "r", "s"]
    assert loaded.authors.tolist() == [["Ann"], ["Ann", "Bob"], [], ["Bob"]]
    assert np.argwhere(loaded.links.toarray()).tolist() == [[0, 1], [3, 0]]
    assert loaded.labels.tolist() == [["x"], ["y"], [], ["y"]]


def test_npz_with_words_alone(tmp_path):
    np.savez(tmp_path / "words.npz", **npz_arrays())
    loaded = datasets.load_npz(tmp_path / "words.npz")
    np.testing.assert_array_equal(loaded.counts.toarray(), COUNTS)
    assert loaded.authors is loaded.links is loaded.labels is loaded.doc_names is None


@pytest.mark.parametrize("name", ["indptr", "indices", "counts", "vocab"])
def test_npz_without_a_part(tmp_path, name):
    parts = npz_arrays()
    del parts[name]
    np.savez(tmp_path / "part.npz", **parts)
    with pytest.raises(
        ValueError,
        match=f"part.npz has no array '{name}'; expected indptr, indices, counts and vocab",
    ):
        datasets.load_npz(tmp_path / "part.npz")


def test_npz_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="no.npz does not exist; check the path"):
        datasets.load_npz(tmp_path / "no.npz")


def test_npz_never_runs_code(tmp_path):
    np.savez(
        tmp_path / "evil.npz",
        **{**npz_arrays(), "vocab": np.array([object(), object(), object()], dtype=object)},
    )
    with pytest.raises(ValueError, match="holds pickled objects in 'vocab'"):
        datasets.load_npz(tmp_path / "evil.npz")


# ------------------------------------------------------------------------------------ known corpora


def test_block_corpora_are_blocks():
    made, truth = datasets.make_blocks(3, 5, 10, doc_length=20, random_state=1)
    np.testing.assert_array_equal(
        made.counts.toarray() > 0,
        (made.counts.toarray() > 0) & (truth.doc_topic @ truth.topic_word > 0),
    )
    assert made.counts.shape == (30, 15)
    np.testing.assert_allclose(truth.topic_word.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(made.n_tokens / 30, 20, rtol=0, atol=5 * np.sqrt(20 / 30))


def test_drawn_corpora_follow_their_truth():
    made, truth = datasets.make_lda(2000, 30, 3, doc_length=50, random_state=1)
    proportions = (truth.doc_topic @ truth.topic_word).mean(axis=0)
    np.testing.assert_allclose(
        made.counts.sum(axis=0) / made.n_tokens, proportions, rtol=0, atol=0.005
    )
    np.testing.assert_array_equal(
        datasets.make_lda(2000, 30, 3, doc_length=50, random_state=1)[0].counts.toarray(),
        made.counts.toarray(),
    )
    assert (
        datasets.make_lda(2000, 30, 3, doc_length=50, random_state=2)[0].counts != made.counts
    ).nnz > 0


# ------------------------------------------------------------------------------------------ weights


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("count", [[2, 1, 0], [0, 1, 1]]),
        # x / n_d is (2/3, 1/3) and (1/2, 1/2): 2 in all, against 5 tokens
        ("tf", [[5 / 3, 5 / 6, 0], [0, 5 / 4, 5 / 4]]),
        # idf is log 2 for a and c, 0 for b, which stands in both: 2/3 log 2 and 1/2 log 2, 7/6 log
        # 2 in all
        ("tfidf", [[20 / 7, 0, 0], [0, 0, 15 / 7]]),
        ("log", np.array([[np.log(3), np.log(2), 0], [0, np.log(2), np.log(2)]]) * 5 / np.log(24)),
    ],
)
def test_weights_by_hand(kind, expected):
    counts = sparse.csr_array(COUNTS[:2].astype(np.float64))
    weights = fit_weighting(kind, counts)(counts)
    np.testing.assert_allclose(weights.toarray(), expected, rtol=1e-12)
    np.testing.assert_allclose(weights.sum(), 5, rtol=1e-12)
    assert weights.nnz == counts.nnz, "terms with idf 0 keep a message"
    np.testing.assert_array_equal(counts.toarray(), COUNTS[:2])


def test_new_documents_are_weighed_as_the_training_documents():
    train = sparse.csr_array(COUNTS[:2].astype(np.float64))
    new = sparse.csr_array(np.array([[2.0, 2, 4]]))
    np.testing.assert_allclose(
        fit_weighting("tf", train)(new).toarray(), [[5 / 8, 5 / 8, 5 / 4]], rtol=1e-12
    )
    idf = 5 / (7 / 6)  # log 2 cancels against the scale
    np.testing.assert_allclose(
        fit_weighting("tfidf", train)(new).toarray(), [[idf / 4, 0, idf / 2]], rtol=1e-12
    )


def test_words_without_weight_keep_a_message():
    counts = sparse.csr_array(COUNTS[:2].astype(np.float64))
    graph = compile_factors([Words(counts, "tfidf"), Documents()], 2)
    assert graph.n_edges == 4
    np.testing.assert_allclose(graph.weight, 5, rtol=1e-6)


# --------------------------------------------------------------------------------------------- grid


@st.composite
def matrices(draw):
    return draw(
        arrays(
            np.float64,
            st.tuples(st.integers(1, 9), st.integers(1, 9)),
            elements=st.sampled_from([0.0, 0.0, 1.0, 3.0]),
        )
    )


@given(counts=matrices(), side=st.integers(1, 4), tokens=st.booleans(), seed=st.integers(0, 3))
def test_every_edge_is_in_one_cell(counts, side, tokens, seed):
    """Laid out in any grid, the edges are the corpus: none lost, none twice."""
    csr = check_counts(counts)
    graph = compile_factors([Words(csr), Documents()], 3, seed=seed, tokens=tokens, blocks=side)
    arrays = graph.arrays
    edge_doc = np.repeat(arrays.visit_doc, np.diff(arrays.visit_edge))
    assert sorted(arrays.edge_id) == list(range(int(counts.sum()) if tokens else csr.nnz))
    rebuilt = np.zeros(counts.shape)
    np.add.at(rebuilt, (edge_doc, arrays.edge_word), arrays.edge_x)
    np.testing.assert_array_equal(rebuilt, counts)
    assert arrays.cell_visit[0] == 0
    assert arrays.cell_visit[-1] == len(arrays.visit_doc)
    assert arrays.visit_edge[-1] == graph.n_edges
    assert graph.message_size == graph.n_edges * graph.width
    assert (np.diff(arrays.visit_edge) > 0).all(), "no empty visit"


@given(counts=matrices(), side=st.integers(1, 4), seed=st.integers(0, 3))
def test_cells_of_a_stage_share_nothing(counts, side, seed):
    words = Words(check_counts(counts))
    graph = compile_factors([words, Documents()], 3, seed=seed, blocks=side)
    arrays = graph.arrays
    for stage in range(side):
        docs, words = [], []
        for p in range(side):
            cell = p * side + (p + stage) % side
            visits = slice(arrays.cell_visit[cell], arrays.cell_visit[cell + 1])
            assert len(set(arrays.visit_doc[visits])) == len(arrays.visit_doc[visits]), (
                "one visit per document and cell"
            )
            docs += set(arrays.visit_doc[visits])
            first, last = arrays.visit_edge[visits.start], arrays.visit_edge[visits.stop]
            words += set(arrays.edge_word[first:last])
        assert len(docs) == len(set(docs))
        assert len(words) == len(set(words))


def test_words_ascend_and_documents_keep_one_order():
    """Reference order (A4): documents in one shuffled order, the words of each ascending."""
    graph = begin(small_counts(), 3, blocks=3).state.graph
    arrays = graph.arrays
    for first, last in zip(arrays.visit_edge[:-1], arrays.visit_edge[1:], strict=True):
        assert (np.diff(arrays.edge_word[first:last]) > 0).all()
    one = begin(small_counts(), 3, blocks=1).state.graph.arrays.visit_doc
    place = {doc: i for i, doc in enumerate(one)}
    for cell in range(9):
        visits = arrays.visit_doc[arrays.cell_visit[cell] : arrays.cell_visit[cell + 1]]
        assert (np.diff([place[doc] for doc in visits]) > 0).all()
    assert one.tolist() != sorted(one)
    assert (
        one.tolist()
        != begin(small_counts(), 3, blocks=1, seed=1).state.graph.arrays.visit_doc.tolist()
    )


def test_blocks_are_balanced():
    """A word in every document, long and short documents: no block of documents has 1.5 times its
    share.
    """
    rng = np.random.default_rng(0)
    counts = sparse.csr_array(
        (rng.random((300, 200)) < rng.random((300, 1)) ** 2).astype(np.float64)
    )
    arrays = compile_factors([Words(counts), Documents()], 3, blocks=4).arrays
    edges = np.diff(arrays.visit_edge[arrays.cell_visit]).reshape(4, 4)
    assert edges.sum() == counts.nnz
    assert edges.sum(axis=1).max() < 1.5 * counts.nnz / 4
    assert edges.sum(axis=0).max() < 1.5 * counts.nnz / 4


@pytest.mark.parametrize(
    ("n_edges", "side"), [(0, 1), (1, 1), (31_000, 1), (33_000, 2), (400_000, 4), (10**9, 16)]
)
def test_the_grid_depends_on_the_corpus_only(n_edges, side):
    assert wiring.n_blocks(n_edges) == side


@pytest.mark.parametrize(("n_topics", "width"), [(1, 16), (16, 16), (17, 32), (50, 64), (208, 208)])
def test_topics_are_padded_to_the_vector_width(n_topics, width):
    assert wiring.padded_width(n_topics) == width
    assert begin(small_counts(), n_topics).state.tables.phi.shape == (25, width)
