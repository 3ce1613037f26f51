"""Files that lie, are cut, or are something else: one sentence that names the file, before memory
is allocated.
"""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from scipy import sparse
from support import every_word, written

import topoi
from topoi import LDA, Corpus, LabeledLDA, RelationalTopicModel, datasets
from topoi.io import formats
from topoi.io import lines as files
from topoi.io.formats import checks


def refusal(path, **options) -> str:
    """The one sentence with which reading is refused."""
    with pytest.raises((ValueError, OSError)) as caught:
        topoi.read(path, **options)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < 1_000
    return message


def test_a_line_of_svmlight_means_the_same_in_every_file(tmp_path):
    """Also beside a line with the column 0, which used to shift all others."""
    path = written(tmp_path / "c.svm", b"0 1:2 3:1\n")
    assert topoi.read(path).counts.toarray().tolist() == [[2, 0, 1]]
    written(path, b"0 1:2 3:1\n0 0:5\n")
    assert "line 2: there is no word 0; they are numbered from 1" in refusal(path)
    assert "say so with zero_based=True" in refusal(path)
    assert topoi.read(path, zero_based=True).counts.toarray().tolist() == [
        [0, 2, 0, 1],
        [5, 0, 0, 0],
    ]
    assert formats.read(written(path, b"0 1:2\n"), zero_based=True).n_words == 2


def test_a_base_is_for_svmlight_only(tmp_path):
    path = written(tmp_path / "c.ldac", b"1 0:2\n")
    assert "zero_based" in refusal(path, zero_based=True)
    with pytest.raises(ValueError, match="zero_based is for svmlight only"):
        formats.read(path, zero_based=True)


def test_svmlight_keeps_long_labels(tmp_path):
    path = written(tmp_path / "c.svm", b"1234567 1:1\n1234568,-1 1:1\n0.25 1:1\n")
    assert topoi.read(path).labels.tolist() == [["1234567"], ["-1", "1234568"], ["0.25"]]


def test_svmlight_that_topoi_writes_is_read_the_same(tmp_path):
    labels = [["007"], ["7"], []]
    topoi.write(Corpus([[1, 0], [0, 0], [0, 2.5]], labels=labels), tmp_path / "c.svm")
    again = topoi.read(tmp_path / "c.svm")
    assert again.counts.toarray().tolist() == [[1, 0], [0, 0], [0, 2.5]]
    assert again.labels.tolist() == [["0"], ["1"], []], "two labels stay two"
    with pytest.raises(ValueError, match="document 1 has neither labels nor words"):
        topoi.write(Corpus([[1, 0], [0, 0]], labels=[["x"], []]), tmp_path / "d.svm")


MTX = b"%%MatrixMarket matrix coordinate integer general\n"


WRONG_NUMBERS = {
    "c.ldac": [
        b"2 1:1:2 3\n",
        b"1 4294967296:1\n",
        b"1 9999999999999999999999:1\n",
        b"1 -1:2\n",
        b"1 0:nan\n",
        b"1 0:" + b"9" * 5_000 + b"x\n",
    ],
    "c.svm": [
        b"0 4294967297:1\n",
        b"0 -1:1\n",
        b"x 1:1\n",
        b"1e400 1:1\n",
        b"0 1:inf\n",
        b"0 1:1:1\n",
        b"0 " + b"9" * 5_000 + b":1\n",
    ],
    "docword.c.txt": [
        b"1\n4294967299\n1\n1 4294967297 1\n",
        b"1\n3\n1\n4294967297 1 1\n",
        b"1\n3\n1\n1 1 " + b"9" * 5_000 + b"\n",
        b"9" * 5_000 + b"\n3\n1\n1 1 1\n",
        b"-1\n3\n0\n",
        "\uff11\n3\n1\n1 1 1\n".encode(),
    ],
    "c.mtx": [
        MTX + b"2 2 1\n4294967297 1 1\n",
        MTX + b"2 2 1\n0 1 1\n",
        MTX + b"2 2 1\n1 1 1.5\n",
        MTX + b"-2 2 1\n1 1 1\n",
        MTX + b"2 2 1\n1 1 " + b"9" * 5_000 + b"\n",
        MTX.replace(b"integer", b"complex") + b"1 1 1\n1 1 1 0\n",
    ],
}


@pytest.mark.parametrize(
    ("name", "number"),
    [(name, i) for name, texts in WRONG_NUMBERS.items() for i in range(len(texts))],
)
def test_wrong_numbers_are_named_by_their_line(tmp_path, name, number):
    assert ", line " in refusal(written(tmp_path / name, WRONG_NUMBERS[name][number]))


OUT_OF_RANGE = {
    "author -1": {"authors_indptr": [0, 1, 2], "authors_indices": [0, -1]},
    "author 2": {"authors_indptr": [0, 1, 2], "authors_indices": [0, 2]},
    "author rows": {"authors_indptr": [0, 2, 1], "authors_indices": [0, 1]},
    "authors of other documents": {"authors_indptr": [0, 1], "authors_indices": [0]},
    "label 2": {"labels": [0, 2]},
    "label -2": {"labels": [0, -2]},
    "label in rows": {"labels_indptr": [0, 1, 2], "labels_indices": [0, 2]},
    "link": {"links": [[0, 2]]},
    "link -1": {"links": [[0, -1]]},
    "word": {"indices": [0, 2]},
    "word -1": {"indices": [0, -1]},
    "word 2^32": {"indices": [0, 2**32]},
    "rows": {"indptr": [0, 5, 2]},
    "no names": {"labels": [0, 1], "label_names": None},
    "half a character": {"vocab": ["a", "\ud800"]},
    "pickled": {"vocab": np.array(["a", "b"], dtype=object)},
    "fractions as rows": {"indptr": [0, 1.5, 2]},
    "negative count": {"counts": [1, -1]},
}


NPZ = {
    "indptr": np.array([0, 1, 2]),
    "indices": np.array([0, 1]),
    "counts": np.array([2, 3]),
    "vocab": np.array(["a", "b"]),
    "author_names": np.array(["Ann", "Bob"]),
    "label_names": np.array(["x", "y"]),
}


@pytest.mark.parametrize("what", OUT_OF_RANGE)
def test_npz_with_numbers_out_of_range(tmp_path, what):
    arrays = {
        name: value for name, value in {**NPZ, **OUT_OF_RANGE[what]}.items() if value is not None
    }
    np.savez(tmp_path / "c.npz", **arrays)
    assert "allow_pickle" not in refusal(tmp_path / "c.npz")


def test_npz_in_other_byte_orders_and_by_columns(tmp_path):
    links = np.asfortranarray([[0, 1], [1, 0]]).astype(">i4")
    np.savez(tmp_path / "c.npz", **{**NPZ, "counts": np.array([2, 3], dtype=">f4"), "links": links})
    corpus = topoi.read(tmp_path / "c.npz")
    assert corpus.counts.toarray().tolist() == [[2, 0], [0, 3]]
    assert corpus.links.toarray().tolist() == [[0, 1], [1, 0]]


MASKED = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])


@pytest.mark.parametrize(
    "use",
    [
        lambda: Corpus(MASKED),
        lambda: topoi.read(MASKED),
        lambda: LDA(2).fit(MASKED),
        lambda: LDA(2, max_iter=2).fit([[1, 2], [3, 4]]).transform(MASKED),
        lambda: Corpus([[1, 2], [3, 4]], links=MASKED),
        lambda: Corpus([[1, 2], [3, 4]], authors=MASKED),
        lambda: Corpus([[1, 2], [3, 4]], np.ma.masked_array(["a", "b"], mask=[0, 1])),
        lambda: RelationalTopicModel(2).fit(
            [[1, 2], [3, 4]], links=np.ma.masked_array([[0, 1]], mask=[[0, 1]])
        ),
        lambda: LabeledLDA(1).fit([[1, 2], [3, 4]], np.ma.masked_array([0, 1], mask=[0, 1])),
    ],
)
def test_masked_arrays_are_refused_with_the_cure(use):
    with pytest.raises(ValueError, match=r"is a masked array.*\.filled\(0\)"):
        use()


def test_row_pointers_that_end_in_nothing_are_refused():
    """SciPy's own check looks at rows only where the last pointer is above 0; converting such a
    matrix crashed.
    """
    for kind in (sparse.csr_array, sparse.csc_array):
        broken = kind(np.eye(2))
        broken.indptr[:] = [0, 2, 0]
        with pytest.raises(ValueError, match="damaged sparse matrix"):
            Corpus(broken)


def test_links_beyond_all_numbers_are_refused():
    for end in (np.inf, 1e300, 2.0**62):
        with pytest.raises(ValueError, match="links"):
            Corpus(np.eye(2), links=np.array([[0.0, end]]))


def test_gensim_words_out_of_range():
    for word in (-1, 2**40, 2**70):
        with pytest.raises(ValueError, match="word"):
            formats.from_gensim([[(word, 1)]])


DENSE = b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n"


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize(
    "content",
    [DENSE + b"4x", MTX + b"1 1 1\n1 1 1x", MTX + b"1 1 1\n1 1 1\njunk", MTX + b"1 1 1\n1 1 1\0"],
)
def test_junk_behind_the_last_number_of_mtx(tmp_path, content, suffix):
    """SciPy's reader ends the process on the first of these, so each is read in one of its own."""
    path = written(tmp_path / f"c.mtx{suffix}", content)
    code = (
        f"import topoi\ntry:\n    topoi.read({str(path)!r})\nexcept ValueError as error:\n   "
        " print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert str(path) in done.stdout


def test_mtx_of_every_kind(tmp_path):
    from scipy.io import mmwrite

    square = np.array([[1, 2, 0], [2, 0, 3], [0, 3, 4]])
    for i, matrix in enumerate(
        [
            square,
            square / 3,
            sparse.coo_array(square),
            sparse.coo_array(np.triu(square)),
            np.triu(square),
        ]
    ):
        mmwrite(tmp_path / f"{i}.mtx", matrix)
        expected = matrix.toarray() if sparse.issparse(matrix) else matrix
        np.testing.assert_allclose(topoi.read(tmp_path / f"{i}.mtx").counts.toarray(), expected)
    mmwrite(tmp_path / "p.mtx", sparse.coo_array(square), field="pattern")
    np.testing.assert_array_equal(topoi.read(tmp_path / "p.mtx").counts.toarray(), square > 0)


def scipy_npz(path, **arrays) -> None:
    np.savez(
        path,
        format=np.array(b"coo"),
        row=np.zeros(1, int),
        col=np.zeros(1, int),
        data=np.ones(1),
        **arrays,
    )


@pytest.fixture
def no_large_arrays(monkeypatch):
    """Memory that a header asks for is not there."""
    resource = pytest.importorskip("resource")
    import psutil

    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + 2**29, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.usefixtures("no_large_arrays")
def test_claimed_sizes_are_checked_before_memory_is_allocated(tmp_path):
    claims = {
        "docword.c.txt": b"300000000\n3\n1\n1 1 1\n",
        "docword.w.txt": b"3\n300000000\n1\n1 1 1\n",
        "c.mtx": MTX + b"300000000 2 1\n1 1 1\n",
        "d.mtx": DENSE.replace(b"2 2", b"100000 100000"),
        "c.ldac": b"1 300000000:1\n",
        "c.svm": b"0 300000000:1\n",
    }
    for name, content in claims.items():
        refusal(written(tmp_path / name, content))
    scipy_npz(tmp_path / "c.npz", shape=np.array([10**12, 5]))
    assert "claims 1,000,000,000,000 documents but has 1 entries" in refusal(tmp_path / "c.npz")
    scipy_npz(tmp_path / "w.npz", shape=np.array([5, 2**62]))
    refusal(tmp_path / "w.npz")


def test_empty_documents_and_unused_words_are_no_lies(tmp_path):
    corpus = topoi.read(written(tmp_path / "docword.c.txt", b"100000\n200000\n1\n7 9 1\n"))
    assert (corpus.n_docs, corpus.n_words) == (100_000, 200_000)
    checks.check_size(tmp_path, 2**30, 2**30, 2**25)


@pytest.mark.usefixtures("no_large_arrays")
def test_npz_members_that_inflate_or_lie(tmp_path):
    np.savez_compressed(tmp_path / "bomb.npz", **{**NPZ, "counts": np.zeros(2**29, np.int8)})
    assert "counts has the shape" in refusal(tmp_path / "bomb.npz")
    whole = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        whole, {"descr": "<i8", "fortran_order": False, "shape": (2**40,)}
    )
    np.savez(tmp_path / "c.npz", **{name: value for name, value in NPZ.items() if name != "indptr"})
    with zipfile.ZipFile(tmp_path / "c.npz", "a") as archive:
        archive.writestr("indptr.npy", whole.getvalue())
    assert "its header makes it" in refusal(tmp_path / "c.npz")
    np.savez_compressed(tmp_path / "unused.npz", **NPZ, unused=np.zeros(2**28, np.int8))
    assert topoi.read(tmp_path / "unused.npz").n_docs == 2, "what is not used is not read"


@pytest.mark.usefixtures("no_large_arrays")
def test_h5ad_that_claims_more_than_it_holds(tmp_path):
    pytest.importorskip("anndata")
    h5py = pytest.importorskip("h5py")
    topoi.write(Corpus([[1, 2], [3, 4]], ["a", "b"]), tmp_path / "c.h5ad")
    with h5py.File(tmp_path / "c.h5ad", "r+") as file:
        del file["X/data"]
        file.create_dataset("X/data", (2**40,), "i8", chunks=(1024,))
    assert "X/data claims" in refusal(tmp_path / "c.h5ad")


def test_lines_have_a_greatest_length(tmp_path, monkeypatch):
    """A small .gz file may hold one that fills the memory."""
    monkeypatch.setattr(files, "LONGEST_LINE", 1_000)
    path = written(tmp_path / "t.txt.gz", b"cats and dogs\n" + b"x" * 5_000)
    assert "line 2: longer than 1,000 characters" in refusal(path)


DEEP = b"[" * 100_000 + b"]" * 100_000


NOT_WHAT_THEY_SAY = {
    "empty.csv.gz": b"",
    "bom.csv": b"\xef\xbb\xbf",
    "bom.csv.gz": b"\xef\xbb\xbf",
    "bom.jsonl": b"\xef\xbb\xbf",
    "bom.txt": b"\xef\xbb\xbf",
    "quote.csv": b'sep="\na"b\n',
    "deep.jsonl": b'{"text": ' + DEEP + b"}\n",
    "digits.jsonl": b'{"text": "a", "id": ' + b"9" * 5_000 + b"}\n",
    "half.jsonl": b'{"text": "cats \\ud800 dogs"}\n' * 2,
    "header.csv": b"x" * 50_000 + b",b\n1,2\n",
    "nul.csv.gz": b"text\na\0b\n",
    "late-nul.txt": b"cats\n" * 5_000 + b"\0\n",
    "latin.jsonl": '{"text": "café"}\n'.encode("latin-1"),
    "latin.csv.gz": "text\ncafé\n".encode("latin-1"),
    "text.npz": b"these are words",
    "cut.npz": b"PK\x03\x04 words",
    "text.h5ad": b"these are words",
    "text.parquet": b"these are words and more words",
    "text.mtx": b"these are words",
    "latin.svm": b"0 1:1\n\xff\n",
}


@pytest.mark.parametrize("name", NOT_WHAT_THEY_SAY)
def test_files_that_are_not_what_they_say(tmp_path, name):
    message = refusal(
        written(tmp_path / name, NOT_WHAT_THEY_SAY[name]),
        **({"text": "text"} if name == "header.csv" else {}),
    )
    assert "pickle" not in message


@pytest.mark.parametrize(
    "name",
    ["t.csv.gz", "t.jsonl.gz", "t.txt.gz", "docword.t.txt.gz", "t.ldac.gz", "t.svm.gz", "t.mtx.gz"],
)
def test_compressed_files_that_are_cut_or_not_compressed(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(os.urandom(50_000).hex().encode())[:-12])
    assert "damaged .gz" in refusal(path)
    path.write_bytes(b"text\ncats\ndogs\n")
    assert "damaged .gz" in refusal(path)


def test_one_array_is_not_a_corpus(tmp_path):
    np.save(tmp_path / "c.npy", np.eye(3))
    (tmp_path / "c.npy").rename(tmp_path / "c.npz")
    assert "is not a .npz file of counts" in refusal(tmp_path / "c.npz")
    with pytest.raises(ValueError, match="is not a .npz file of counts"):
        datasets.load_npz(tmp_path / "c.npz")


def test_damaged_parquet_names_the_file(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(
        pa.table({"text": [f"cats and dogs {i}" for i in range(2_000)]}),
        tmp_path / "t.parquet",
        compression="gzip",
    )
    whole = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(whole[:40] + bytes(200) + whole[240:])
    assert "damaged after row 0" in refusal(tmp_path / "t.parquet")
    for column in ([b"\xff\xfe", b"a"], [2**40, 2**41]):
        array = pa.array(column)
        table = pa.table(
            {
                "text": ["a", "b"],
                "id": (
                    array.view(pa.string())
                    if isinstance(column[0], bytes)
                    else array.cast(pa.timestamp("s"))
                ),
            }
        )
        pq.write_table(table, tmp_path / "t.parquet")
        refusal(tmp_path / "t.parquet", text="text", doc_names="id")


def test_cells_that_are_no_names(tmp_path):
    for value in ('{"first": "Ann"}', '[["Ann"], "Bob"]'):
        path = written(
            tmp_path / "t.jsonl",
            b'{"text": "cats", "who": "Ann"}\n{"text": "dogs", "who": ' + value.encode() + b"}\n",
        )
        assert "line 2: holds a " in refusal(path, authors="who")


def test_names_that_look_like_lists_stay_names(tmp_path):
    deep = "[" * 50_000 + "]" * 50_000
    path = written(
        tmp_path / "t.csv", f"text,who\ncats,Ann\ncats,{deep}\ndogs,[{'9' * 5_000}]\n".encode()
    )
    corpus = topoi.read(path, text="text", authors="who", vectorizer=every_word())
    assert corpus.authors.tolist() == [["Ann"], [deep], [f"[{'9' * 5_000}]"]]


def test_encodings_that_are_no_encodings_of_text(tmp_path):
    path = written(tmp_path / "t.csv", b"text\ncats\ndogs\n")
    for encoding in ("base64", "rot13", "a\0b", "none such"):
        with pytest.raises(ValueError, match="There is no encoding"):
            topoi.read(path, encoding=encoding)


def test_links_name_their_file(tmp_path):
    table = written(tmp_path / "t.csv", b"text,id\ncats and dogs,a\ndogs and cats,b\n")
    links = written(tmp_path / "l.csv", b"x,y\nv,w\n")
    with pytest.raises(ValueError, match="None of the 1 links in .*l.csv joins"):
        topoi.read(table, text="text", doc_names="id", links=links, vectorizer=every_word())
    with pytest.raises(ValueError, match="name 'a', which several documents are called"):
        topoi.read(
            np.eye(3), doc_names=["a", "a", "b"], links=written(tmp_path / "m.csv", b"a,b\n")
        )
