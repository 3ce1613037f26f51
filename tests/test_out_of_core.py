"""Fits over a Source: the schedule "incremental", whose blocks come from elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import topoi
from topoi import LDA, LabeledLDA, Source
from topoi.datasets import make_lda
from topoi.graph.plan import Plan
from topoi.infer.elsewhere import survey
from topoi.storage.archive import open_archive, sealed, write_archive
from topoi.storage.files import WriteError
from topoi.tuning import tuned

OPTIONS = {"max_iter": 24, "random_state": 0}


@pytest.fixture(scope="module")
def corpus():
    found = make_lda(n_docs=240, n_words=120, n_topics=4, doc_length=40, random_state=0)
    found = found[0] if isinstance(found, tuple) else found
    counts = found.counts.tolil()
    counts[17] = 0  # a document without words
    return topoi.Corpus(counts.tocsr(), [f"w{i}" for i in range(found.n_words)])


@pytest.fixture(scope="module")
def fitted(corpus):
    return LDA(4, **OPTIONS).fit(Source(corpus, block_size=70))


def same(one, other):
    return (
        np.array_equal(one.components_, other.components_)
        and np.array_equal(one.doc_topic_prior_, other.doc_topic_prior_)
        and one.topic_word_prior_ == other.topic_word_prior_
    )


@pytest.mark.parametrize("schedule", ["auto", "incremental"])
def test_one_block_gives_the_bits_of_all_documents_at_once(corpus, schedule):
    of_source = LDA(4, schedule=schedule, **OPTIONS).fit(Source(corpus))
    assert same(of_source, LDA(4, schedule=schedule, **OPTIONS).fit(corpus))


def test_blocks_find_the_topics_of_all_documents_at_once(corpus, fitted):
    at_once = LDA(4, **OPTIONS).fit(corpus)
    assert fitted.perplexity(corpus) == pytest.approx(at_once.perplexity(corpus), rel=0.02)


def test_blocks_keep_the_number_of_tokens_of_each_word(corpus, fitted):
    held = fitted.components_ - fitted.topic_word_prior_
    assert np.allclose(held.sum(axis=0), corpus.counts.sum(axis=0), rtol=1e-4)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_change_a_bit(corpus, fitted, n_jobs):
    assert same(LDA(4, n_jobs=n_jobs, **OPTIONS).fit(Source(corpus, block_size=70)), fitted)


def test_where_the_blocks_are_does_not_change_a_bit(corpus, fitted, tmp_path):
    on_disk = Source(corpus, block_size=70).count(min_df=1, cache=tmp_path / "counts")
    assert set(on_disk.vocabulary) <= set(corpus.vocabulary)
    blocks = [topoi.Corpus(block.counts, block.vocabulary) for block in on_disk]
    assert same(LDA(4, **OPTIONS).fit(on_disk), LDA(4, **OPTIONS).fit(Source(blocks)))


def test_documents_are_read_before_the_rounds_and_not_in_them(corpus, tmp_path):
    class Counting(Source):
        read = 0

        def block(self, number):
            Counting.read += 1
            return super().block(number)

    counted = Source(corpus, block_size=70).count(cache=tmp_path / "counts")
    reads = []
    for rounds in (4, 12):
        Counting.read = 0
        LDA(4, max_iter=rounds, tol=0).fit(Counting(counted.folder))
        reads.append(Counting.read)
    assert reads[0] == reads[1] <= 3 * len(counted)
    assert [path.name for path in tmp_path.iterdir()] == ["counts"]  # compiled blocks are gone


def test_a_full_disk_says_what_to_do(corpus, monkeypatch):
    def full(value, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("topoi.infer.elsewhere.save_mapped", full)
    with pytest.raises(OSError, match=r"No space left on device.*count into a folder"):
        LDA(4, **OPTIONS).fit(Source(corpus, block_size=70))


class Killed(Exception):
    pass


@pytest.mark.parametrize("sweep", [1, 11, 23])
def test_a_killed_run_resumes_to_the_same_bits(corpus, fitted, tmp_path, sweep):
    def kill(state, record):
        if record.sweep == sweep + 1:
            raise Killed

    source, run = Source(corpus, block_size=70), f"{tmp_path / 'run'}/"
    with pytest.raises(Killed):
        LDA(4, callbacks=[kill], **OPTIONS).fit(source, checkpoint=run)
    seen = []
    again = LDA(4, callbacks=[lambda state, record: seen.append(record.sweep)], **OPTIONS)
    again.fit(source, checkpoint=run)
    assert seen[0] == sweep + 1  # no more than one round was lost
    assert same(again, fitted)
    assert [r["sweep"] for r in again.history_] == list(range(1, again.n_iter_ + 1))


def test_what_blocks_keep_is_checked_when_it_is_read(corpus, tmp_path):
    def kill(state, record):
        if record.sweep == 4:
            raise Killed

    source, path = Source(corpus, block_size=70), tmp_path / "run"
    with pytest.raises(Killed):
        LDA(4, callbacks=[kill], **OPTIONS).fit(source, checkpoint=path)
    folder = tmp_path / "run.blocks"
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == [f"3-{n}.zip" for n in range(4)]
    whole = files[1].read_bytes()
    with open_archive(files[1], "a file") as archive:
        manifest, arrays = archive.manifest, archive.read_all()

    def refused(reason):
        with pytest.raises(ValueError, match=reason):
            LDA(4, **OPTIONS).fit(source, checkpoint=path)

    def write(values=manifest["values"], fingerprint=manifest["fingerprint"], **changed):
        found = {**arrays, **changed}
        head = sealed({"fingerprint": fingerprint, "values": values}, found)
        write_archive(files[1], head, found)

    distinct = np.tile(np.arange(8, dtype=np.uint16) % 4, (len(arrays["places"]), 1))
    files[1].unlink()
    refused("3-1.zip is missing.*Delete the checkpoint")
    files[1].write_bytes(whole[:-50])
    refused(r"damaged \(.*\); delete the checkpoint to start afresh\.")
    write(places=np.full_like(arrays["places"], 4))
    refused("a topic that does not exist")
    write(places=np.zeros_like(arrays["places"]), parts=np.full_like(arrays["parts"], 8000))
    refused("a topic of a message twice")
    write(
        parts=np.full_like(arrays["parts"], 65535) * (np.arange(8) < 2).astype(np.uint16),
        places=distinct,
    )
    refused("more than the whole")
    write(theta=np.full_like(arrays["theta"], 0.5))
    refused("topics that do not exist")
    write(theta=arrays["theta"][1:])
    refused("shape")
    write(values={"sweep": 2, "block": 1})
    refused("another sweep")
    write(fingerprint="0")
    refused("another run")
    files[1].write_bytes(whole)
    model = LDA(4, **OPTIONS).fit(source, checkpoint=path)
    assert not folder.exists()  # the last rounds need nothing
    model.save(tmp_path / "model.topoi")
    assert not path.exists()


@pytest.mark.parametrize("fails", ["the folder", "a block", "the checkpoint"])
def test_a_checkpoint_that_cannot_be_written_leaves_the_last_one(
    corpus, fitted, tmp_path, monkeypatch, fails
):
    folder, held = tmp_path / "run.blocks", []

    def full(path, *args, **options):
        name = path.name
        if len(held) >= 5 and name == (
            "run" if fails == "the checkpoint" else f"{len(held)}-2.zip"
        ):
            raise WriteError(28, f"{path} cannot be written (No space left on device).")
        write_archive(path, *args, **options)

    def look(state, record):
        held.append({int(file.name.split("-")[0]) for file in folder.glob("*")})
        if record.sweep == 10:
            raise Killed

    if fails == "the folder":
        folder.write_text("a file of the user")
    else:
        monkeypatch.setattr("topoi.infer.kept_files.write_archive", full)
        monkeypatch.setattr("topoi.infer.checkpoints.write_archive", full)
    source, path = Source(corpus, block_size=70), tmp_path / "run"
    with pytest.raises(Killed), pytest.warns(UserWarning, match="The run continues"):
        LDA(4, callbacks=[look], **OPTIONS).fit(source, checkpoint=path)
    assert max(map(len, held)) <= 2  # of the checkpoint, and of the last sweep
    assert held[-1] == {"the folder": set(), "a block": {4}, "the checkpoint": {4, 9}}[fails]
    monkeypatch.undo()
    if fails == "the folder":
        assert folder.read_text() == "a file of the user"
        folder.unlink()
    assert same(LDA(4, **OPTIONS).fit(source, checkpoint=path), fitted)


def test_files_of_the_user_beside_a_checkpoint_stay(corpus, tmp_path):
    file = tmp_path / "run.blocks" / "mine.txt"
    file.parent.mkdir()
    file.write_text("mine")
    for name, documents in (("one", corpus), ("two", Source(corpus, block_size=70))):
        model = LDA(4, **OPTIONS).fit(documents, checkpoint=tmp_path / "run")
        model.save(tmp_path / name)
        assert [found.name for found in file.parent.iterdir()] == ["mine.txt"]


def test_large_blocks_are_cut_and_a_document_is_not(corpus):
    blocks = survey(2, lambda n: Plan(4, corpus.counts[n * 120 : n * 120 + 120]), "")
    cut = blocks.cut(500)
    assert cut.n_blocks > 2 * blocks.n_blocks
    counts = [cut.plan(number).counts for number in range(cut.n_blocks)]
    assert (sparse.vstack(counts) != corpus.counts).nnz == 0
    assert [int(part.nnz) for part in counts] == cut.n_edges
    assert max(cut.n_edges) <= 1.1 * 500
    assert blocks.cut(max(blocks.n_edges)) is blocks
    assert blocks.cut(1).n_blocks == 239  # each has one document with words


def test_cut_blocks_find_the_topics_of_all_documents_at_once(corpus):
    at_once = LDA(4, **OPTIONS).fit(corpus)
    with tuned(chunk_bytes=2**15):
        cut = LDA(4, **OPTIONS).fit(Source(corpus))
    assert not same(cut, at_once)
    assert cut.perplexity(corpus) == pytest.approx(at_once.perplexity(corpus), rel=0.02)


def test_the_checkpoint_of_other_documents_is_refused(corpus, tmp_path):
    def stop(state, record):
        raise Killed

    path = tmp_path / "run"
    with pytest.raises(Killed):
        LDA(4, callbacks=[lambda s, r: r.sweep == 3 and stop(s, r)], **OPTIONS).fit(
            Source(corpus, block_size=70), checkpoint=path
        )
    with pytest.raises(ValueError, match="checkpoint of another run"):
        LDA(4, **OPTIONS).fit(Source(corpus, block_size=80), checkpoint=path)


def test_the_state_of_a_run_does_not_grow_with_documents(corpus, tmp_path):
    sizes = []

    def note(state, record):
        sizes.append(state.tables.theta.nbytes + state.messages.residual.nbytes)

    blocks = [corpus[:60], corpus[60:120], corpus[120:180]]
    for times in (1, 4):
        path = tmp_path / f"run{times}"
        model = LDA(4, callbacks=[note], max_iter=4).fit(Source(blocks * times), checkpoint=path)
        assert model.n_iter_ == 4
        sizes.append(path.stat().st_size)
    assert set(sizes) - {0} <= {max(sizes), min(set(sizes) - {0})}
    assert sum(size == 0 for size in sizes) == 8  # no document is held after a round
    assert max(sizes) < 1.05 * min(set(sizes) - {0})


def test_a_model_of_a_source_keeps_no_documents_and_works_without(corpus, fitted, tmp_path):
    assert not hasattr(fitted, "doc_topic_")
    assert fitted.documents_ is None
    assert len(fitted.top_words(5)) == 4
    fitted.report(tmp_path / "page.html")
    fitted.save(tmp_path / "model.topoi")
    loaded = topoi.load(tmp_path / "model.topoi")
    assert same(loaded, fitted)
    assert loaded.history_ == fitted.history_
    assert np.array_equal(loaded.transform(corpus), fitted.transform(corpus))
    with pytest.raises(ValueError, match="documents"):
        fitted.top_documents()


def test_learned_priors_come_near_those_of_all_documents(corpus, fitted):
    at_once = LDA(4, schedule="incremental", **OPTIONS).fit(corpus)
    ours, theirs = fitted.doc_topic_prior_.sum(), at_once.doc_topic_prior_.sum()
    assert ours == pytest.approx(theirs, rel=0.5)
    given = LDA(4, doc_topic_prior=0.3, topic_word_prior=0.02, **OPTIONS)
    given.fit(Source(corpus, block_size=70))
    assert given.doc_topic_prior_.tolist() == [0.3] * 4
    assert given.topic_word_prior_ == 0.02


def test_many_topics_start_from_a_sample_and_use_lists(corpus):
    with tuned(lists_above=3, favoured_topics=3, warm_up_from=100):
        model = LDA(5, max_iter=12).fit(Source(corpus, block_size=70))
    assert np.isfinite(model.components_).all()
    assert model.perplexity(corpus) < LDA(1, max_iter=12).fit(corpus).perplexity(corpus)


def test_seeds_guide_topics_of_a_source(corpus):
    words = corpus.vocabulary[np.argsort(-corpus.counts.sum(axis=0))[:4]].tolist()
    model = LDA(4, seeds={"mine": words}, **OPTIONS).fit(Source(corpus, block_size=70))
    assert model.topic_names_[0] == "mine"
    held = model.components_[:, np.isin(corpus.vocabulary, words)].sum(axis=1)
    assert held.argmax() == 0


def test_labels_of_a_source_are_topics(corpus):
    rng = np.random.default_rng(0)
    labels = [[str(name)] if name < 3 else [] for name in rng.integers(0, 4, corpus.n_docs)]
    labels[:60] = [["0"] if row == ["2"] else row for row in labels[:60]]  # not in the first block
    labeled = topoi.Corpus(corpus.counts, corpus.vocabulary, labels=labels)
    of_source = LabeledLDA(**OPTIONS).fit(Source(labeled, block_size=60))
    assert of_source.classes_.tolist() == ["0", "1", "2"]
    at_once = LabeledLDA(schedule="incremental", **OPTIONS).fit(labeled)
    assert of_source.perplexity(corpus) == pytest.approx(at_once.perplexity(corpus), rel=0.02)
    assert set(of_source.predict(corpus)) <= {"0", "1", "2"}
    with pytest.raises(ValueError, match="y is given beside a Source"):
        LabeledLDA().fit(Source(labeled, block_size=60), labels)
    with pytest.raises(ValueError, match="no labels"):
        LabeledLDA().fit(Source(corpus, block_size=60))


def test_transform_of_a_source_is_that_of_its_blocks(corpus, fitted, tmp_path):
    pandas = pytest.importorskip("pandas")
    source = Source(corpus, block_size=70)
    lazy = fitted.transform(source)
    assert np.array_equal(np.vstack(list(lazy)), fitted.transform(corpus))
    lazy.to_csv(tmp_path / "all.csv")
    table = pandas.read_csv(tmp_path / "all.csv")
    assert table.columns.tolist() == ["document", *fitted.topic_names_]
    assert np.allclose(table.to_numpy()[:, 1:], fitted.transform(corpus), atol=1e-5)
    with pytest.raises(FileExistsError):
        lazy.to_csv(tmp_path / "all.csv")
    pytest.importorskip("pyarrow")
    lazy.to_parquet(tmp_path / "parts")
    again = pandas.read_parquet(tmp_path / "parts")
    assert again["document"].tolist() == [str(i) for i in range(corpus.n_docs)]
    with pytest.raises(FileExistsError):
        lazy.to_parquet(tmp_path / "parts")


def test_texts_are_transformed_as_they_are_read(tmp_path):
    texts = ["cat dog cat pet", "dog pet cat dog", "bond stock bond", "market bond stock"] * 8
    model = LDA(2).fit(topoi.read(texts))
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n")
    lazy = model.transform(Source(tmp_path / "texts.txt", block_size=5))
    assert np.array_equal(np.vstack(list(lazy)), model.transform(texts))


@pytest.mark.parametrize(
    "parameters",
    [{"schedule": "residual"}, {"weighting": "tfidf"}, {"rule": "gibbs"}, {"tol": "parameters"}],
    ids=str,
)
def test_what_needs_all_documents_at_once_is_refused(corpus, parameters):
    with pytest.raises(ValueError, match="use"):
        LDA(2, **parameters).fit(Source(corpus, block_size=70))


@pytest.mark.parametrize("kind", [topoi.AuthorTopicModel, topoi.RelationalTopicModel])
def test_models_that_connect_documents_refuse_a_source(corpus, kind):
    with pytest.raises(TypeError, match="authors and links connect documents"):
        kind(2).fit(Source(corpus, block_size=70))


def test_a_source_without_words_is_refused():
    with pytest.raises(ValueError, match="no words at all"):
        LDA(2).fit(Source([np.zeros((3, 4)), np.zeros((2, 4))]))


# ------------------------------------------------------------ the command


def run(*arguments):
    from typer.testing import CliRunner

    from topoi.cli import app

    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def tables(tmp_path):
    """Two CSV files of texts."""
    texts = ["cat dog cat pet", "dog pet cat dog", "bond stock bond", "market bond stock"] * 10
    for part in range(2):
        rows = [f"d{20 * part + i},{text}" for i, text in enumerate(texts[20 * part :][:20])]
        (tmp_path / f"part{part}.csv").write_text("\n".join(["id,text", *rows]) + "\n")
    return tmp_path


def test_the_command_fits_and_transforms_out_of_core(tables):
    files = [tables / "part0.csv", tables / "part1.csv"]
    cache, model = tables / "counts", tables / "model.topoi"
    options = ["--n-components", 2, "--max-iter", 8, "--max-df", "1.0", "-o", model]
    done = run("fit", *files, "--out-of-core", "--cache", cache, "--doc-names", "id", *options)
    assert done.exit_code == 0, done.output
    assert (cache / "source.json").is_file()
    again = run(
        "fit", *files, "--out-of-core", "--cache", cache, "--doc-names", "id", *options, "--force"
    )
    assert again.exit_code == 0, again.output
    out = [tables / "one.csv", tables / "two.csv"]
    for path, how in zip(out, ["--out-of-core", "--in-memory"], strict=True):
        made = run("transform", model, files[1], how, "--doc-names", "id", "-o", path)
        assert made.exit_code == 0, made.output
    assert out[0].read_text() == out[1].read_text()
    assert len(out[0].read_text().splitlines()) == 21


def test_the_command_goes_out_of_core_by_itself_and_says_so(tables, monkeypatch):
    from topoi.cli import out_of_core

    monkeypatch.setattr(out_of_core, "free_memory", lambda: 100.0)
    done = run("fit", tables / "part0.csv", "--n-components", 2, "--max-df", "1.0", "--max-iter", 5,
               "-o", tables / "model.topoi")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "documents are read block by block" in done.output
    assert topoi.load(tables / "model.topoi").documents_ is None


def test_the_command_refuses_authors_out_of_core(tables):
    done = run("fit", tables / "part0.csv", "--out-of-core", "--authors", "id")
    assert done.exit_code != 0
    assert "--authors needs all documents at once" in " ".join(done.output.split())
