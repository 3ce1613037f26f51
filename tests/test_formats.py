"""Counts in other tools' formats: what is written comes back, and what is wrong is named by its
line.
"""

from __future__ import annotations

import gzip
import warnings

import numpy as np
import pytest
from scipy import sparse

import topoi
from topoi import Corpus, datasets
from topoi.io import formats
from topoi.io.formats import uci
from topoi.io.lines import numbered_lines
from topoi.storage.files import atomic_write

COUNTS = np.array([[2, 1, 0, 0], [0, 0, 0, 0], [0, 3, 1, 5]])
WORDS = ["tree", "café", "new york", "zebra"]
NAMES = {
    "npz": "c.npz",
    "uci": "docword.c.txt",
    "ldac": "c.ldac",
    "mtx": "c.mtx",
    "svmlight": "c.svm",
}


def assert_same(first: Corpus, second: Corpus) -> None:
    np.testing.assert_array_equal(first.counts.toarray(), second.counts.toarray())
    assert list(first.vocabulary) == list(second.vocabulary)


# -------------------------------------------------------------------------------------- round trips


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("form", NAMES)
def test_what_is_written_comes_back(tmp_path, form, suffix):
    if form == "npz" and suffix:
        pytest.skip(".npz is compressed already")
    corpus = Corpus(COUNTS, WORDS)
    path = tmp_path / (NAMES[form] + suffix)
    files = topoi.write(corpus, path)
    assert sorted(tmp_path.iterdir()) == sorted(files), "nothing else is left behind"
    assert formats.detect(path) == form
    assert_same(topoi.read(path), corpus)


@pytest.mark.parametrize("form", ["npz", "mtx", "svmlight"])
def test_weights_keep_their_fractions(tmp_path, form):
    corpus = Corpus(COUNTS / 7, WORDS)
    topoi.write(corpus, tmp_path / NAMES[form])
    np.testing.assert_allclose(
        topoi.read(tmp_path / NAMES[form]).counts.toarray(), COUNTS / 7, rtol=1e-12
    )


@pytest.mark.parametrize("form", ["uci", "ldac"])
def test_formats_of_whole_numbers_refuse_fractions(tmp_path, form):
    with pytest.raises(ValueError, match="whole numbers only.*npz or .mtx"):
        topoi.write(Corpus(COUNTS / 7, WORDS), tmp_path / NAMES[form])
    assert not list(tmp_path.iterdir())


def test_npz_keeps_everything(tmp_path):
    corpus = Corpus(
        COUNTS,
        WORDS,
        authors=[["Ann", "Bob"], [], ["Bob"]],
        labels=[["x"], ["x", "y"], []],
        links=np.array([[0, 2], [2, 1]]),
        doc_names=["a", "b", "c"],
        dates=["2020", "2021-05", ""],
        texts=["cats", "", "più"],
        groups={"source": ["web", None, "press"], "year": [1, 2, [1, 2]]},
    )
    topoi.write(corpus, tmp_path / "c.npz")
    again = topoi.read(tmp_path / "c.npz")
    assert_same(again, corpus)
    assert again.authors.tolist() == corpus.authors.tolist()
    assert again.labels.tolist() == corpus.labels.tolist()
    np.testing.assert_array_equal(again.links.toarray(), corpus.links.toarray())
    assert list(again.doc_names) == corpus.doc_names
    assert list(again.dates) == corpus.dates
    assert again.texts == corpus.texts
    assert {name: column.tolist() for name, column in again.groups.items()} == {
        "source": [["web"], [], ["press"]],
        "year": [["1"], ["2"], ["1", "2"]],
    }


def test_npz_with_one_label_each_has_the_plain_layout(tmp_path):
    topoi.write(Corpus(COUNTS, WORDS, labels=["x", "y", None]), tmp_path / "c.npz")
    with np.load(tmp_path / "c.npz") as data:
        assert data["labels"].tolist() == [0, 1, -1]
        assert data["counts"].dtype == np.int32
    assert datasets.load_npz(tmp_path / "c.npz").labels.tolist() == [["x"], ["y"], []]


def test_scipys_npz(tmp_path):
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_matrix(COUNTS))
    np.testing.assert_array_equal(topoi.read(tmp_path / "s.npz").counts.toarray(), COUNTS)


def test_svmlight_keeps_labels_as_numbers(tmp_path):
    topoi.write(Corpus(COUNTS, WORDS, labels=[["7"], ["3", "7"], ["3"]]), tmp_path / "c.svm")
    assert topoi.read(tmp_path / "c.svm").labels.tolist() == [["7"], ["3", "7"], ["3"]]
    topoi.write(Corpus(COUNTS, WORDS, labels=["cat", "dog", "cat"]), tmp_path / "d.svm")
    assert topoi.read(tmp_path / "d.svm").labels.tolist() == [["0"], ["1"], ["0"]]


def test_what_a_format_loses_is_said(tmp_path):
    with pytest.warns(
        UserWarning, match="is written without authors, document names: uci has no place for them"
    ):
        topoi.write(
            Corpus(COUNTS, WORDS, authors=[["A"]] * 3, doc_names=list("abc")),
            tmp_path / "docword.c.txt",
        )


def test_gensim_and_back():
    corpus = Corpus(COUNTS, WORDS)
    documents, words = formats.to_gensim(corpus)
    assert documents == [[(0, 2), (1, 1)], [], [(1, 3), (2, 1), (3, 5)]]
    assert_same(formats.from_gensim(documents, words), corpus)
    assert formats.from_gensim(iter(documents)).counts.shape == (3, 4)
    with pytest.raises(ValueError, match="Document 1 is not a list of .*doc2bow"):
        formats.from_gensim([[(0, 1)], ["tree"]])


def test_gensims_own_dictionary():
    corpora = pytest.importorskip("gensim.corpora")
    texts = [["tree", "tree", "zebra"], ["zebra"]]
    dictionary = corpora.Dictionary(texts)
    corpus = formats.from_gensim([dictionary.doc2bow(text) for text in texts], dictionary)
    assert corpus.n_tokens == 4
    assert sorted(corpus.vocabulary) == ["tree", "zebra"]


def test_anndata_and_back(tmp_path):
    pytest.importorskip("anndata")
    corpus = Corpus(COUNTS, WORDS, doc_names=list("abc"))
    topoi.write(corpus, tmp_path / "c.h5ad")
    again = topoi.read(tmp_path / "c.h5ad")
    assert_same(again, corpus)
    assert list(again.doc_names) == corpus.doc_names


@pytest.fixture
def cells():
    """AnnData with normalised X, counts in a layer, and what is known of the cells."""
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    obs = pd.DataFrame(
        {
            "type": pd.Categorical(["B", "T", "B"]),
            "donor": ["d1;d2", "d1", None],
            "year": [1848, None, 1850],
        },
        index=list("abc"),
    )
    return anndata.AnnData(
        COUNTS / 2, obs=obs, var=pd.DataFrame(index=WORDS), layers={"counts": COUNTS}
    )


def test_layers_of_anndata(cells, tmp_path):
    cells.write_h5ad(tmp_path / "c.h5ad")
    for source in (cells, tmp_path / "c.h5ad"):
        with pytest.warns(
            UserWarning,
            match=r"X of the AnnData holds fractions.*; name the layer that has them .* of counts",
        ):
            assert topoi.read(source).n_tokens == COUNTS.sum() / 2
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert_same(topoi.read(source, layer="counts"), Corpus(COUNTS, WORDS))
        with pytest.raises(ValueError, match="has no layer 'raw'; it has counts"):
            topoi.read(source, layer="raw")
    assert_same(formats.read(tmp_path / "c.h5ad", layer="counts"), Corpus(COUNTS, WORDS))
    backed = pytest.importorskip("anndata").read_h5ad(tmp_path / "c.h5ad", backed="r")
    assert_same(topoi.read(backed, layer="counts"), Corpus(COUNTS, WORDS))


def test_columns_of_anndata(cells, tmp_path):
    cells.write_h5ad(tmp_path / "c.h5ad")
    for source in (cells, tmp_path / "c.h5ad"):
        corpus = topoi.read(source, layer="counts", labels="type", authors="donor", dates="year")
        assert corpus.labels.tolist() == [["B"], ["T"], ["B"]]
        assert corpus.authors.tolist() == [["d1", "d2"], ["d1"], []]
        assert corpus.dates == ["1848", "", "1850"]
        assert corpus.doc_names == list("abc")
        with pytest.raises(
            ValueError, match="has no column 'kind' for labels; its columns are type, donor, year"
        ):
            topoi.read(source, layer="counts", labels="kind")
        with pytest.raises(ValueError, match="Document 2: the name 'B' is taken by Document 0"):
            topoi.read(source, layer="counts", doc_names="type")
        with pytest.raises(ValueError, match="holds counts, which have no columns of text"):
            topoi.read(source, layer="counts", text="type")


# ------------------------------------------------------------------------------------------ reading


def test_uci_is_read_in_chunks(tmp_path, monkeypatch):
    """However small the chunks, and with line numbers that go on counting."""
    monkeypatch.setattr(uci, "CHUNK", 2)
    topoi.write(Corpus(COUNTS, WORDS), tmp_path / "docword.c.txt")
    calls = []
    corpus = formats.read(
        tmp_path / "docword.c.txt", progress=lambda done, total: calls.append((done, total))
    )
    np.testing.assert_array_equal(corpus.counts.toarray(), COUNTS)
    assert calls[-1][0] == calls[-1][1] == (tmp_path / "docword.c.txt").stat().st_size
    text = (tmp_path / "docword.c.txt").read_text().replace("3 4 5", "3 4 x")
    (tmp_path / "docword.c.txt").write_text(text)
    with pytest.raises(ValueError, match="line 8: expected three whole numbers"):
        formats.read(tmp_path / "docword.c.txt")


def test_uci_by_its_looks(tmp_path):
    (tmp_path / "bag.txt").write_text("2\n3\n2\n1 1 4\n2 3 1\n\n")
    assert topoi.read(tmp_path / "bag.txt").counts.toarray().tolist() == [[4, 0, 0], [0, 0, 1]]


UCI = {
    "2\n3\n2\n1 1 1\n2 3\n": "line 5: expected three whole numbers .*got '2 3'",
    "2\n3\n2\n1 1 1\n2 3 1 1\n": "line 5: expected three",
    "2\n3\n2\n1 1 1\n2 3 1.5\n": "line 5: expected three",
    "2\n3\n2\n1 1 1\n2 3 99999999999999999999\n": "line 5: expected three",
    "2\n3\n2\n1 1 1\n\n2 4 1\n": "line 6: word 4 is not between 1 and 3",
    "2\n3\n2\n0 1 1\n2 3 1\n": "line 4: document 0 is not between 1 and 2",
    "2\n3\n2\n1 1 -1\n2 3 1\n": "line 4: count -1",
    "2\n3\n3\n1 1 1\n2 3 1\n": "line 3: announces 3 entries but 2 follow",
    "2\nthree\n": "line 2: expected a whole number",
    "2\n3\n": "line 3: expected a whole number",
}
LDAC = {
    "1 0:2\n2 0:1\n": "line 2: expected a number of words and that many pairs",
    "1 0:2\nx\n": "line 2",
    "1 0:2\n1 a:1\n": "line 2",
    "1 0:2\n1 -1:1\n": "line 2: there is no word -1",
    "1 0:2\n1 9:1\n": "line 2: there is no word 9; the vocabulary has words 0 to 3",
}
SVM = {
    "1 1:2\n1 2:1 1:3\n": "line 2: expected a label and ascending pairs",
    "1 1:2\nx y z\n": "line 2",
}
BAD = (
    [("docword.b.txt", t, e) for t, e in UCI.items()]
    + [("b.ldac", t, e) for t, e in LDAC.items()]
    + [("b.svm", t, e) for t, e in SVM.items()]
)


@pytest.mark.parametrize(("name", "text", "error"), BAD)
def test_errors_name_file_and_line(tmp_path, name, text, error):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=f"{name}, {error}"):
        formats.read(tmp_path / name, vocabulary=WORDS if name == "b.ldac" else None)


def test_other_bad_files_say_what_is_wrong(tmp_path):
    (tmp_path / "b.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 x 1\n"
    )
    with pytest.raises(ValueError, match="b.mtx, line 4: expected a document, a word and a value"):
        formats.read(tmp_path / "b.mtx")
    topoi.write(Corpus(COUNTS, WORDS), tmp_path / "c.npz")
    whole = (tmp_path / "c.npz").read_bytes()
    (tmp_path / "c.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="c.npz is not a .npz file of counts, or it is damaged"):
        formats.read(tmp_path / "c.npz")
    (tmp_path / "c.uci.gz").write_bytes(gzip.compress(b"2\n3\n2\n1 1 1\n2 3 1\n" * 50)[:-12])
    with pytest.raises(ValueError, match="damaged .gz"):
        formats.read(tmp_path / "c.uci.gz", "uci")
    (tmp_path / "c.uci.gz").write_bytes(b"no gzip at all")
    with pytest.raises(ValueError, match="damaged .gz"):
        formats.read(tmp_path / "c.uci.gz", "uci")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        formats.read(tmp_path / "none.mtx")
    (tmp_path / "empty.mtx").touch()
    with pytest.raises(ValueError, match="is empty"):
        formats.read(tmp_path / "empty.mtx")
    (tmp_path / "c.xyz").write_text("what")
    with pytest.raises(ValueError, match="no known format"):
        formats.read(tmp_path / "c.xyz")


def test_columns_beyond_the_vocabulary_are_refused(tmp_path):
    """Such numbers would reach compiled code."""
    np.savez(tmp_path / "c.npz", indptr=[0, 1], indices=[7], counts=[1], vocab=["a", "b"])
    with pytest.raises(ValueError, match="indices"):
        formats.read(tmp_path / "c.npz")


def test_pickled_arrays_are_refused(tmp_path):
    np.savez(
        tmp_path / "c.npz",
        indptr=[0, 1],
        indices=[0],
        counts=[1],
        vocab=np.array(["a"], dtype=object),
    )
    with pytest.raises(ValueError, match="holds pickled objects in 'vocab'"):
        formats.read(tmp_path / "c.npz")


def test_vocabularies_must_fit(tmp_path):
    topoi.write(Corpus(COUNTS, WORDS), tmp_path / "c.mtx")
    with pytest.raises(ValueError, match="has 4 words but its vocabulary has 2"):
        formats.read(tmp_path / "c.mtx", vocabulary=["a", "b"])
    (tmp_path / "c.vocab").write_text("a\nb\na\n")
    with pytest.raises(ValueError, match="c.vocab, line 3: 'a' stands in line 1 already"):
        formats.read(tmp_path / "c.mtx")


def test_lines_of_any_encoding_are_numbered(tmp_path):
    path = tmp_path / "t.txt"
    path.write_bytes("é\nü\n".encode("utf-16"))
    assert list(numbered_lines(path, "utf-16")) == [(1, "é\n"), (2, "ü\n")]
    path.write_bytes("ok\né\n".encode("latin-1"))
    assert list(numbered_lines(path, "latin-1"))[1] == (2, "é\n")
    with pytest.raises(ValueError, match="line 2: not UTF-8 text; .*cp1252"):
        list(numbered_lines(path))


# ------------------------------------------------------------------------------------------ writing


def test_nothing_is_written_over(tmp_path):
    path = tmp_path / "c.mtx"
    topoi.write(Corpus(COUNTS, WORDS), path)
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="c.mtx exists already"):
        topoi.write(Corpus(COUNTS + 1, WORDS), path)
    assert path.read_bytes() == before
    with pytest.raises(FileExistsError, match="c.vocab exists already"):
        topoi.write(Corpus(COUNTS, list("abcd")), tmp_path / "c.ldac")
    topoi.write(Corpus(COUNTS, WORDS), tmp_path / "c.ldac")  # the same words: shared
    topoi.write(Corpus(COUNTS + 1, WORDS), path, overwrite=True)
    assert topoi.read(path).n_tokens == COUNTS.sum() + COUNTS.size


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "c.txt"
    path.write_text("old")
    with pytest.raises(TypeError), atomic_write(path) as file:
        file.write("a text where bytes are due")  # fails in the middle of writing
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with (
        pytest.raises(FileNotFoundError, match="there is no folder"),
        atomic_write(tmp_path / "none" / "c.txt"),
    ):
        pass


def test_words_with_line_breaks_do_not_fit_on_lines(tmp_path):
    with pytest.raises(ValueError, match="holds a line break"):
        topoi.write(Corpus(COUNTS, ["a\nb", "c", "d", "e"]), tmp_path / "c.mtx")
    with pytest.raises(ValueError, match="no format has such a name"):
        topoi.write(Corpus(COUNTS, WORDS), tmp_path / "c.doc")


def test_a_corpus_over_other_words():
    corpus = Corpus(COUNTS, WORDS, doc_names=list("abc"))
    moved = corpus.over(["zebra", "unknown", "tree"])
    assert moved.counts.toarray().tolist() == [[0, 0, 2], [0, 0, 0], [5, 0, 0]]
    assert list(moved.doc_names) == list("abc")
    with pytest.raises(ValueError, match="no vocabulary"):
        Corpus(COUNTS).over(WORDS)


def test_objects_in_memory_are_no_files():
    with pytest.raises(TypeError, match="Cannot read documents from a int"):
        topoi.read(3)
