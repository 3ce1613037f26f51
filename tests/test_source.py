"""Sources: blocks of documents that are read again and again, over one vocabulary."""

from __future__ import annotations

import csv
import json
import pickle

import numpy as np
import pytest
from scipy import sparse

import topoi
from topoi import Source

WORDS = [
    "cat",
    "dog",
    "pet",
    "bird",
    "stock",
    "bond",
    "market",
    "trade",
    "ball",
    "goal",
    "team",
    "game",
]


def some_texts(n=60, seed=0):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(1, 12))) for _ in range(n)]
    texts[7] = ""  # a document without words
    texts[n - 1] += " only here here"  # in one document of the last file
    return texts


def write_csv(path, texts, first=0):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["key", "body", "kind"])
        for i, text in enumerate(texts, first):
            writer.writerow([f"d{i}", text, "odd" if i % 2 else "even"])


@pytest.fixture
def files(tmp_path):
    """Three CSV files of 20 documents each."""
    texts = some_texts()
    for part in range(3):
        write_csv(tmp_path / f"part{part}.csv", texts[20 * part : 20 * part + 20], 20 * part)
    return str(tmp_path / "part*.csv")


def stacked(source):
    return sparse.vstack([block.counts for block in source]).toarray()


OPTIONS = [
    {"min_df": 2},
    {"min_df": 1, "max_df": 1.0, "stop_words": None},
    {"min_df": 0.1, "max_df": 0.6},
    {"min_df": 1, "max_df": 1.0, "max_features": 5},
    {"min_df": 1, "ngram_range": (1, 2)},
    {"vocabulary": ["dog", "cat", "zebra"]},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_source_counts_what_read_counts_of_all_files_at_once(files, options):
    columns = {"text": "body", "doc_names": "key", "labels": "kind"}
    source = Source(files, **columns, block_size=7).count(**options)
    corpus = topoi.read(files, **columns, **options)
    assert source.vocabulary.tolist() == corpus.vocabulary.tolist()
    assert np.array_equal(stacked(source), corpus.counts.toarray())
    assert [name for block in source for name in block.doc_names] == corpus.doc_names
    assert [row for block in source for row in block.labels.tolist()] == corpus.labels.tolist()
    assert source.block_sizes == [7] * 8 + [4]
    assert source.n_documents == corpus.n_docs


def test_documents_without_words_stay_in_their_place(files):
    source = Source(files, text="body", block_size=7).count(min_df=1)
    assert source.block(1).counts[[0]].nnz == 0  # the eighth document
    assert source.n_documents == 60


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "txt"])
def test_sources_read_tables_of_every_kind(tmp_path, suffix):
    texts = [text or "empty" for text in some_texts(30)]
    path = tmp_path / f"all.{suffix}"
    if suffix == "jsonl":
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    elif suffix == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.table({"text": texts}), path, row_group_size=4)
    else:
        path.write_text("".join(f"{text}\n" for text in texts))
    source = Source(path, block_size=8).count(min_df=1)
    corpus = topoi.read(path, min_df=1)
    assert source.vocabulary.tolist() == corpus.vocabulary.tolist()
    assert np.array_equal(stacked(source), corpus.counts.toarray())


def test_a_cache_is_used_again_for_the_same_files_and_options(files, tmp_path):
    cache = tmp_path / "counts"
    first = Source(files, text="body", block_size=7).count(min_df=1, cache=cache)
    written = {path.name: path.stat().st_mtime_ns for path in cache.iterdir()}
    again = Source(files, text="body", block_size=7).count(min_df=1, cache=cache)
    assert {path.name: path.stat().st_mtime_ns for path in cache.iterdir()} == written
    opened = Source(cache)
    assert again.fingerprint == first.fingerprint == opened.fingerprint
    assert np.array_equal(stacked(opened), stacked(first))
    assert opened.vectorizer.transform(["cat cat"]).sum() == 2


@pytest.mark.parametrize("change", ["options", "files", "block_size"])
def test_a_cache_of_something_else_is_refused(files, tmp_path, change):
    cache = tmp_path / "counts"
    Source(files, text="body", block_size=7).count(min_df=1, cache=cache)
    if change == "files":
        write_csv(tmp_path / "part9.csv", ["cat dog cat"], 90)
    size, least = (8 if change == "block_size" else 7), (2 if change == "options" else 1)
    with pytest.raises(ValueError, match="other documents, or counted with other options"):
        Source(files, text="body", block_size=size).count(min_df=least, cache=cache)


def test_a_folder_of_other_files_is_not_taken_for_a_cache(files, tmp_path):
    with pytest.raises(ValueError, match="a folder with other files"):
        Source(files, text="body").count(cache=tmp_path)


@pytest.mark.parametrize("damage", ["short", "beyond", "negative", "object", "manifest", "words"])
def test_a_damaged_cache_is_refused(files, tmp_path, damage):
    cache = tmp_path / "counts"
    Source(files, text="body", block_size=7).count(min_df=1, cache=cache)
    if damage == "short":
        path = cache / "000001.counts.npy"
        path.write_bytes(path.read_bytes()[:-8])
    elif damage == "beyond":
        indices = np.load(cache / "000001.indices.npy")
        np.save(cache / "000001.indices.npy", indices + 1000)
    elif damage == "negative":
        counts = np.load(cache / "000001.counts.npy")
        np.save(cache / "000001.counts.npy", -counts)
    elif damage == "object":
        np.save(cache / "000001.counts.npy", np.array([print], dtype=object))
    elif damage == "manifest":
        (cache / "source.json").write_text('{"format": 1}')
    else:
        (cache / "words.npy").unlink()
        np.save(cache / "words.npy", np.zeros(3))
    with pytest.raises(ValueError, match="counts"):
        list(Source(cache))


def test_a_counting_that_fails_leaves_nothing_behind(files, tmp_path):
    (tmp_path / "part2.csv").write_text('key,body,kind\nd1,"open')
    with pytest.raises(ValueError, match="part2"):
        Source(files, text="body").count(cache=tmp_path / "counts")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"part0.csv", "part1.csv", "part2.csv"}


def test_a_counted_source_is_small_when_it_is_pickled(files, tmp_path):
    source = Source(files, text="body", block_size=7).count(min_df=1, cache=tmp_path / "counts")
    list(source)
    packed = pickle.dumps(source)
    assert len(packed) < 10_000  # paths, sizes and stop words
    assert np.array_equal(stacked(pickle.loads(packed)), stacked(source))


def test_blocks_of_counts_get_common_words(tmp_path):
    one = topoi.Corpus([[1, 2], [0, 3]], ["b", "a"])
    two = topoi.Corpus([[4, 5]], ["c", "a"])
    for name, corpus in (("one", one), ("two", two)):
        topoi.write(corpus, tmp_path / f"{name}.npz")
    for given in ([one, two], str(tmp_path / "*.npz")):
        source = Source(given)
        assert source.vocabulary.tolist() == ["a", "b", "c"]
        assert stacked(source).tolist() == [[2, 1, 0], [3, 0, 0], [5, 0, 4]]
    pruned = Source([one, two]).count(min_df=2, cache=tmp_path / "counts")
    assert pruned.vocabulary.tolist() == ["a"]
    assert stacked(pruned).tolist() == [[2], [3], [5]]


def test_a_matrix_is_cut_into_blocks():
    counts = np.arange(12).reshape(6, 2)
    source = Source(counts, block_size=4)
    assert source.block_sizes == [4, 2]
    assert source.vocabulary is None
    assert np.array_equal(stacked(source), counts)


class Again:
    """Blocks or documents that come anew with each iteration."""

    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


def test_a_re_iterable_is_a_source_and_a_generator_is_not():
    blocks = [np.array([[1, 2]]), np.array([[3, 4], [5, 6]])]
    source = Source(Again(blocks))
    assert [source.block(i).counts.toarray().tolist() for i in (1, 0, 1)] == [
        [[3, 4], [5, 6]],
        [[1, 2]],
        [[3, 4], [5, 6]],
    ]
    texts = some_texts(20)
    counted = Source(Again(texts), block_size=6).count(min_df=1)
    assert np.array_equal(stacked(counted), topoi.read(texts, min_df=1).counts.toarray())
    with pytest.raises(TypeError, match="cannot be read again and again"):
        Source(text for text in texts)


def test_a_source_of_texts_says_that_it_must_be_counted(files):
    with pytest.raises(ValueError, match=r"source\.count\(cache='counts/'\)"):
        len(Source(files, text="body"))


def test_a_table_without_a_wanted_column_is_named(files, tmp_path):
    (tmp_path / "part1.csv").write_text("key,other\nd1,cat\n")
    with pytest.raises(ValueError, match=r"part1\.csv has no column 'body'"):
        Source(files, text="body").count()


def test_progress_of_counting_ends_at_the_end(files):
    told = []
    Source(files, text="body").count(
        min_df=1, progress=lambda done, total: told.append((done, total))
    )
    assert told[-1][0] == told[-1][1]
    assert told == sorted(told)
