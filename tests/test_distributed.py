"""Fits on a cluster: one partition is schedule="incremental" to the bit, workers change nothing,
and what is lost is computed again.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from on_cluster import Stop, cluster, cut, same, stop_at
from scipy import sparse
from support import Here, run, tune

import topoi
from topoi import (
    LDA,
    Corpus,
    LabeledLDA,
    LatentDirichletAllocation,
    RelationalTopicModel,
    datasets,
    evaluate,
)
from topoi.graph.arrays import frozen
from topoi.graph.plan import Plan
from topoi.infer import rounds, workers
from topoi.infer import shards as tasks
from topoi.infer.afresh import infer_blocks
from topoi.infer.blocks import make_blocks
from topoi.infer.memory import allocate, pad_topics
from topoi.infer.pieces import Packed, packed, unpacked
from topoi.infer.rules import make_rule
from topoi.infer.threads import ThreadPool
from topoi.rules import BP, CVB0, Gibbs

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("dask.distributed")
QUICK = {"max_iter": 24, "tol": 0}


@pytest.fixture(scope="module")
def client():
    """Two workers that are threads of this process."""
    with cluster(2) as (_, client):
        yield client


# ------------------------------------------------------------------------------------ one partition


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"doc_topic_prior": 0.1, "topic_word_prior": 0.05},
        {"rule": CVB0(messages="edge")},
        {"rule": "sibp", "doc_topic_prior": 0.1},
        {"rule": "vb", "doc_topic_prior": 0.1, "topic_word_prior": 0.1},
        {"init": "soft", "max_iter": 60},
        {"tol": 1e-4, "max_iter": 200},
        {"init": np.random.default_rng(0).dirichlet(np.ones(80), 5)},
        {"tol": "paper", "max_iter": 200, "n_jobs": 2},
    ],
    ids=lambda options: " ".join(options),
)
def test_one_partition_is_the_incremental_schedule(mixed, options, here):
    options = {**QUICK, **options}
    counts = mixed[0].counts
    on_cluster = LDA(5, **options).fit([counts], client=here)
    same(on_cluster, LDA(5, schedule="incremental", **options).fit(counts))


def test_one_labeled_partition_is_the_incremental_schedule(here):
    corpus = datasets.make_lda(60, 40, 3, random_state=0)[0]
    corpus = replace(corpus, labels=[["a"], ["b"], ["a", "b"], []] * 15)
    options = {"background_topics": 1, **QUICK}
    on_cluster = LabeledLDA(**options).fit([corpus], client=here)
    plain = LabeledLDA(schedule="incremental", **options).fit(corpus)
    same(on_cluster, plain)
    assert_array_equal(on_cluster.classes_, plain.classes_)
    assert on_cluster.predict(corpus) == plain.predict(corpus)


# ------------------------------------------------------------------------------- several partitions


def test_shards_in_turns_are_one_machine_with_a_block_for_each_turn(mixed, here):
    """Otherwise all documents would answer to the same words at once, and end 1 to 2 % higher."""
    counts, settled = mixed[0].counts, np.random.default_rng(0).dirichlet(np.full(80, 0.1), 5)
    weight = counts.sum(axis=0)
    table = pad_topics((settled / settled.sum(axis=0)).T * weight[:, None], 16)
    parts = cut(counts, 3)
    shards = [tasks.Shard(Plan(5, part), seed, 1.0) for seed, part in enumerate(parts)]
    run = tasks.Run(make_rule("bp"), 5, 1.0, weight, None, np.array([0, 80]), 3, 1)
    how = tasks.Round(np.full(5, 0.1), 0.05, 1.5, 0.0, True)
    of_shards, in_turn = table, tasks.added([tasks.turn_weights(shard) for shard in shards])
    assert_array_equal(in_turn.sum(axis=0), weight)
    for turn in range(tasks.TURNS):
        asked = how._replace(turn=turn)
        found = [tasks.infer(shard, run, asked, of_shards[:, :5]) for shard in shards]
        merging = tasks.Merging(0, 0.0, turn=turn, relaxation=1.5)
        pieces = [one.pieces[0] for one in found]
        of_shards = unpacked(tasks.merge(run, merging, pieces, of_shards[:, :5], in_turn))
    whole = tasks.Shard(Plan(5, counts), 0, 1.0)
    first = np.cumsum([0, *(part.shape[0] for part in parts[:-1])])
    docs = [
        np.concatenate(
            [at + docs for at, one in zip(first, shards, strict=True) for docs in one.turns[turn]]
        )
        for turn in range(tasks.TURNS)
    ]
    state = whole.state(how.alpha, how.beta, table)
    blocks = make_blocks(whole.graph)
    state.blocks = blocks._replace(docs=[frozen(some, np.int64) for some in docs])
    state.blocks = state.blocks._replace(mu=allocate(16 * counts.nnz))
    with ThreadPool(1) as pool:
        of_blocks = infer_blocks(state, run.rule, pool, 1.5)
    assert_allclose(of_shards, of_blocks, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("n", [2, 5])
def test_planted_topics_are_found_over_partitions(n, here):
    corpus, truth = datasets.make_blocks(random_state=3)
    model = LDA(4).fit(cut(corpus.counts, n), client=here)
    assert model.converged_
    _, cosine = evaluate.match_topics(truth.topic_word, model)
    assert cosine.min() > 0.99


def test_partitions_are_as_good_as_one_piece(here):
    corpus, _ = datasets.make_lda(400, 200, 8, random_state=0)
    train, test = corpus.split(random_state=0)
    whole = evaluate.completion_perplexity(LDA(8).fit(train), test)
    model = LDA(8).fit(cut(train.counts, 4), client=here)
    assert evaluate.completion_perplexity(model, test.counts) < 1.01 * whole


def test_priors_are_learned_from_all_partitions(here):
    """Documents of one theme each: a partition alone knows one topic, and would learn another
    prior.
    """
    corpus, _ = datasets.make_blocks(random_state=3)
    by_theme = np.argsort(corpus.counts[:, : corpus.n_words // 4].sum(axis=1), kind="stable")
    fixed = {"max_iter": 60, "tol": 0}
    model = LDA(4, **fixed).fit(cut(corpus.counts[by_theme], 4), client=here)
    whole = LDA(4, schedule="incremental", **fixed).fit(corpus.counts)
    assert_allclose(np.sort(model.doc_topic_prior_), np.sort(whole.doc_topic_prior_), rtol=0.05)
    assert_allclose(model.topic_word_prior_, whole.topic_word_prior_, rtol=0.05)


def test_slices_of_the_table_change_nothing(mixed, here, monkeypatch):
    parts = cut(mixed[0].counts, 3)
    whole = LDA(5, **QUICK).fit(parts, client=here)
    monkeypatch.setattr(rounds, "SLICE_BYTES", 1000)
    sliced = LDA(5, **QUICK).fit(parts, client=here)
    assert_array_equal(sliced.components_, whole.components_)
    assert_array_equal(sliced.doc_topic_, whole.doc_topic_)


def test_words_keep_their_tokens(mixed, here):
    model = LDA(5, max_iter=60, tol=0).fit(cut(mixed[0].counts, 4), client=here)
    held = (model.components_ - model.topic_word_prior_).sum(axis=0)
    assert_allclose(held, mixed[0].counts.sum(axis=0), rtol=1e-4)


def test_many_topics_start_from_a_sample_and_use_lists(mixed, here, monkeypatch):
    tune(monkeypatch, lists_above=3, favoured_topics=3, warm_up_from=0)
    model = LDA(5, **QUICK).fit(cut(mixed[0].counts, 3), client=here)
    held = (model.components_ - model.topic_word_prior_).sum(axis=0)
    assert_allclose(held, mixed[0].counts.sum(axis=0), rtol=1e-4)
    assert evaluate.match_topics(mixed[1].topic_word, model)[1].mean() > 0.8


def test_seeds_guide_topics_of_all_partitions(here):
    corpus, truth = datasets.make_blocks(random_state=3)
    words = [corpus.words[int(topic.argmax())] for topic in truth.topic_word]
    seeds = {"a": [words[1]], "b": [words[3]]}
    model = LDA(4, seeds=seeds).fit([corpus[:30], corpus[30:]], client=here)
    assert model.topic_names_[:2] == ["a", "b"]
    for topic, planted in enumerate((1, 3)):
        overlap = model.topic_word_[topic] @ truth.topic_word.T
        assert overlap.argmax() == planted
    held = model.components_ - model.topic_word_prior_
    assert_allclose(held.sum(), corpus.n_tokens, rtol=1e-4)


def test_labels_of_partitions_are_joined(here, tmp_path):
    corpus = datasets.make_lda(60, 40, 3, random_state=0)[0]
    corpus = replace(corpus, labels=[["a"], ["b"]] * 20 + [["c"], ["b"]] * 10)
    model = LabeledLDA(**QUICK).fit([corpus[:40], corpus[40:]], client=here)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert not model.doc_topic_[:40, 2].any()
    assert not model.doc_topic_[40:, 0].any()
    assert model.predict(corpus).shape == (60,)
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    assert again.predict(corpus).tolist() == model.predict(corpus).tolist()


def test_scikit_learns_names_work_and_partitions_may_be_empty(mixed, here):
    parts = cut(mixed[0].counts, 2)
    parts.insert(1, sparse.csr_array((2, 80)))
    model = LatentDirichletAllocation(5, max_iter=5, random_state=0).fit(parts, client=here)
    assert model.doc_topic_.shape == (152, 5)
    assert_allclose(model.doc_topic_.sum(axis=1), 1, rtol=1e-6)
    known = np.delete(model.doc_topic_, [75, 76], axis=0)
    counts = mixed[0].counts
    gain = (counts.toarray() * np.log(known @ model.topic_word_)).sum() / counts.sum()
    assert_allclose(model.bound_, np.exp(-gain), rtol=1e-4)


# ------------------------------------------------------------------------------------------- pieces


def table(rows=40, n_topics=20, seed=0):
    made = np.zeros((rows, 32), np.float32)
    made[:, :n_topics] = np.random.default_rng(seed).dirichlet(np.full(n_topics, 0.05), rows) * 9
    return made


def test_packing_loses_nothing_unless_asked():
    made = np.where(table() > 1, table(), 0)
    piece = packed(made, 20, 0.0)
    assert isinstance(piece, Packed)
    assert_array_equal(unpacked(piece), made)
    assert packed(table(), 20, 0.0) is not None
    assert_array_equal(unpacked(packed(table(), 20, 0.0)), table())


def test_cells_that_are_not_sent_get_equal_parts_of_what_is_left():
    made = table()
    piece = packed(made, 20, 0.01)
    assert isinstance(piece, Packed)
    found = unpacked(piece)
    large = made >= 0.01 * made.sum(axis=1, keepdims=True)
    assert_array_equal(found[large], made[large])
    assert_allclose(found.sum(axis=1), made.sum(axis=1), rtol=1e-5)
    assert not found[:, 20:].any()


def test_where_a_table_is_cut_changes_nothing():
    made = table()
    made[:20, :20] += 0.02  # these rows are sent whole, the others are not
    whole = unpacked(packed(made, 20, 1e-3))
    rows = [unpacked(packed(made[a : a + 1], 20, 1e-3)) for a in range(len(made))]
    assert_array_equal(np.vstack(rows), whole)


# --------------------------------------------------------------------------------------------- Dask


def load_part(number, n_parts):
    return cut(datasets.make_lda(150, 80, 5, random_state=1)[0].counts, n_parts)[number]


@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_workers_change_nothing(mixed, n_workers, tmp_path, here, monkeypatch):
    parts = cut(mixed[0].counts, 3)
    expected = LDA(5, **QUICK).fit(parts, client=here)
    monkeypatch.undo()
    with cluster(n_workers) as (_, client):
        same(LDA(5, **QUICK).fit(parts, client=client), expected)


def test_partitions_come_in_many_forms(client, mixed, tmp_path):
    import dask.array

    counts = mixed[0].counts
    parts = cut(counts, 3)
    expected = LDA(5, **QUICK).fit(parts, client=client)
    for i, part in enumerate(parts):
        topoi.write(Corpus(part), tmp_path / f"{i}.npz")
    forms = [
        [str(tmp_path / f"{i}.npz") for i in range(3)],
        [partial(load_part, i, 3) for i in range(3)],
        [dask.delayed(load_part)(i, 3) for i in range(3)],
        dask.array.from_array(counts.toarray(), chunks=(50, 30)),
    ]
    for form in forms:
        same(LDA(5, **QUICK).fit(form, client=client), expected)
    same(LDA(5, **QUICK).fit(forms[-1]), expected)  # the current client


def test_texts_in_partitions_have_one_vocabulary(client):
    """A word that is in one document of each partition counts, as it does in all texts at once."""
    import dask.bag
    import dask.dataframe
    import pandas as pd

    texts = [
        "cat dog cat pet",
        "bond stock bond market",
        "dog pet cat dog",
        "stock market bond",
    ] * 5
    texts[0], texts[-1] = texts[0] + " comet", texts[-1] + " comet"
    whole = topoi.read(texts)
    assert "comet" in whole.vocabulary
    bag = dask.bag.from_sequence(texts, npartitions=3)
    frame = dask.dataframe.from_pandas(pd.DataFrame({"text": texts, "year": 1}), npartitions=3)
    parts = cut(whole.counts, 3)
    sizes = [0, *np.cumsum([len(part.compute()) for part in bag.to_delayed()])]
    by_bag = [whole.counts[a:b] for a, b in zip(sizes[:-1], sizes[1:], strict=True)]
    for form, same_parts in ((bag, by_bag), (frame["text"], parts)):
        model = LDA(2, **QUICK).fit(form, client=client)
        assert_array_equal(model.vocabulary_, whole.vocabulary)
        assert model.transform(["cat and comet"]).shape == (1, 2)
        if form is bag:
            expected = LDA(2, **QUICK).fit(same_parts, client=client)
            assert_array_equal(model.components_, expected.components_)
    with pytest.raises(ValueError, match=r"a frame with texts; choose their column"):
        LDA(2, **QUICK).fit(frame, client=client)


def test_a_model_fitted_on_a_cluster_is_a_model(client, mixed, tmp_path):
    parts = [
        replace(mixed[0][a], doc_names=[f"d{i}" for i in a])
        for a in np.array_split(np.arange(150), 2)
    ]
    order = np.random.default_rng(0).permutation(80)
    shuffled = parts[1].over([mixed[0].words[i] for i in order])  # the same words in another order
    model = LDA(5, **QUICK).fit([parts[0], shuffled], client=client)
    assert_array_equal(model.vocabulary_, mixed[0].words)
    assert model.doc_names_.tolist() == [f"d{i}" for i in range(150)]
    same(model, LDA(5, **QUICK).fit(parts, client=client))
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    assert_array_equal(again.transform(mixed[0].counts), model.transform(mixed[0].counts))
    model.report(tmp_path / "m.html")
    before = model.components_
    assert not np.array_equal(model.partial_fit(mixed[0].counts[:30]).components_, before)


def test_documents_stay_on_the_workers_if_they_are_not_wanted(client, mixed, tmp_path):
    parts = cut(mixed[0].counts, 2)
    kept = LDA(5, **QUICK).fit(parts, client=client)
    model = LDA(5, **QUICK).fit(parts, client=client, keep_documents=False)
    same(model, kept, documents=False)
    assert not hasattr(model, "doc_topic_")
    assert model.documents_ is None
    model.save(tmp_path / "m.topoi")
    model = topoi.load(tmp_path / "m.topoi")
    model.callbacks = [threading.Lock().acquire]  # cannot travel, and need not
    lazy = topoi.distributed.transform(model, parts)
    model.callbacks = None
    found = client.gather(client.compute(lazy))
    assert_array_equal(np.vstack(found), model.transform(mixed[0].counts))


# ------------------------------------------------------------------------------------- what is lost


def test_a_killed_worker_changes_nothing(mixed):
    """A worker is killed while the run is on: what it had is computed again, to the same bits."""
    parts = cut(mixed[0].counts, 3)
    killed = []

    def kill(model, record):
        if record.sweep == 12 and not killed:
            worker = next(iter(made.workers.values()))
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

    with cluster(2, processes=True) as (made, client):
        model = LDA(5, callbacks=[kill], **QUICK).fit(parts, client=client)
        assert killed
        model.callbacks = None
        same(model, LDA(5, **QUICK).fit(parts, client=client))


def test_an_interrupted_run_resumes_to_the_same_bits(mixed, here, tmp_path):
    parts = cut(mixed[0].counts, 3)
    options = {"checkpoint": tmp_path / "run", "checkpoint_every": 5, "client": here}
    expected = LDA(5, **QUICK).fit(parts, client=here)
    for sweep in (8, 17):
        with pytest.raises(Stop):
            LDA(5, callbacks=[stop_at(sweep)], **QUICK).fit(parts, **options)
    done = []
    model = LDA(5, callbacks=[lambda _, record: done.append(record.sweep)], **QUICK)
    model.fit(parts, **options)
    assert done[0] == 16
    same(model, expected)
    done.clear()
    same(model.fit(parts, **options), expected)
    assert done == [24]
    with pytest.raises(ValueError, match="is the checkpoint of another run"):
        LDA(6, **QUICK).fit(parts, **options)
    with pytest.raises(ValueError, match="is the checkpoint of another run"):
        LDA(5, **QUICK).fit(parts[:2], **options)


def test_a_run_can_be_made_longer_but_not_shorter(mixed, here, tmp_path):
    parts = cut(mixed[0].counts, 3)
    options = {"checkpoint": tmp_path / "run", "client": here}
    LDA(5, max_iter=40, tol=0).fit(parts, checkpoint_every=13, **options)
    with pytest.raises(ValueError, match="holds a run of 39 rounds, and max_iter=35 leaves none"):
        LDA(5, max_iter=35, tol=0).fit(parts, **options)
    longer = LDA(5, max_iter=60, tol=0).fit(parts, **options)
    assert longer.n_iter_ == 60
    assert [record["sweep"] for record in longer.history_] == list(range(1, 61))


def test_a_damaged_checkpoint_is_refused(mixed, here, tmp_path):
    parts, folder = cut(mixed[0].counts, 2), tmp_path / "run"
    with pytest.raises(Stop):
        LDA(5, callbacks=[stop_at(8)], **QUICK).fit(
            parts, client=here, checkpoint=folder, checkpoint_every=5
        )
    (slice_file,) = folder.glob("table-5-*.zip")
    slice_file.write_bytes(slice_file.read_bytes()[:-100])
    with pytest.raises(ValueError, match="is not a checkpoint of a run of topoi on a cluster"):
        LDA(5, **QUICK).fit(parts, client=here, checkpoint=folder)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="is a file; on a cluster a checkpoint is a folder"):
        LDA(5, **QUICK).fit(parts, client=here, checkpoint=tmp_path / "file")


def test_a_cluster_without_workers_ends_the_wait_with_a_sentence(mixed, monkeypatch):
    monkeypatch.setattr(workers, "POLL", 0.2)
    parts = cut(mixed[0].counts, 2)
    with cluster(0) as (_, client):
        with pytest.raises(ValueError, match="The Dask cluster has no workers; start some"):
            LDA(5, **QUICK).fit(parts, client=client)
        idle = workers.DaskWorkers(client, patience=0.5)
        with pytest.raises(RuntimeError, match=r"no workers for 0 s. Start some"):
            idle.gather([idle.submit("task", int, 3)])


def test_without_a_client_the_error_names_the_cure(monkeypatch):
    def none():
        raise ValueError("No client found")

    monkeypatch.setattr(distributed, "get_client", none)
    with pytest.raises(ValueError, match=r"no Dask client; give client=dask.distributed.Client"):
        workers.dask_client()


# ----------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"rule": "gibbs"}, "inferred afresh in each round"),
        ({"rule": "cvb0"}, "inferred afresh in each round"),
        ({"rule": BP(messages="none")}, "inferred afresh in each round"),
        ({"rule": Gibbs()}, "inferred afresh in each round"),
        ({"schedule": "residual"}, "keeps messages of documents from sweep to sweep"),
        ({"weighting": "tfidf"}, "sums over all documents"),
        ({"batch_size": 10}, "partitions take the place of blocks"),
        ({"tol": "parameters"}, "clusters do not hold"),
    ],
)
def test_what_shards_cannot_do_is_refused(mixed, here, options, reason):
    with pytest.raises(ValueError, match=reason):
        LDA(5, **options).fit(cut(mixed[0].counts, 2), client=here)


def test_what_is_not_a_list_of_partitions_is_refused(mixed, here):
    counts = mixed[0].counts
    for X in (counts, [], "x.npz", mixed[0], None):
        with pytest.raises(ValueError, match="On a cluster X is a list of partitions"):
            LDA(5).fit(X, client=here)
    with pytest.raises(ValueError, match="has 79 features, but LDA is expecting 80"):
        LDA(5).fit([counts, counts[:, :79]], client=here)
    with pytest.raises(ValueError, match="partitions hold no words at all"):
        LDA(5).fit([sparse.csr_array((3, 80))], client=here)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        LDA(5).fit(["nowhere.npz"], client=here)
    with pytest.raises(ValueError, match="each partition is a Corpus with labels"):
        LabeledLDA().fit([counts], client=here)
    with pytest.raises(ValueError, match="Leave y out"):
        LabeledLDA().fit([counts], ["a"] * 150, client=here)


def test_words_must_be_the_same_in_all_partitions(mixed, here):
    corpus = mixed[0]
    with pytest.raises(
        ValueError,
        match=r"Partition 1: 20 of its words are not in the first partition, such as .*corpus.over",
    ):
        LDA(5).fit([corpus[:70].over(corpus.words[:60]), corpus[70:]], client=here)
    with pytest.raises(ValueError, match="Partition 1: either this partition or the first one"):
        LDA(5).fit([corpus.counts[:70], corpus[70:]], client=here)


def test_a_partition_that_no_worker_can_hold_is_refused(mixed, here, monkeypatch):
    monkeypatch.setattr(Here, "memory_limits", lambda self: {"tcp://a": 2**20})
    with pytest.raises(MemoryError, match=r"the memory limit of the largest worker is 0.0 GiB"):
        LDA(5).fit(cut(mixed[0].counts, 2), client=here)


def test_tasks_wait_for_memory(monkeypatch):
    """Two tasks that do not fit together take turns; one alone always runs."""
    monkeypatch.setattr(workers, "_memory_limit", lambda: 100.0)
    running, most = [], []

    def task():
        with workers.admitted(70):
            running.append(1)
            most.append(len(running))
            time.sleep(0.05)
            running.pop()

    threads = [threading.Thread(target=task) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1, 1]
    with workers.admitted(1000):
        pass


def test_warnings_are_of_all_partitions(mixed, here, monkeypatch):
    # Entries of a word: fewer in each partition.
    monkeypatch.setattr(
        "topoi.models.preflight.SAFE_SUM", (mixed[0].counts > 0).sum(axis=0).max() - 1
    )
    with pytest.warns(UserWarning, match="entries are counted one by one"):
        LDA(5, **QUICK).fit(cut(mixed[0].counts, 3), client=here)


def test_blocks_of_a_source_are_partitions(mixed, here, tmp_path):
    texts = [
        "cat dog cat pet",
        "bond stock bond market",
        "dog pet cat dog",
        "stock market bond",
    ] * 5
    source = topoi.Source(texts, block_size=8).count(min_df=1)
    model = LDA(2, **QUICK).fit(source, client=here)
    blocks = [block.counts for block in source]
    assert_array_equal(model.components_, LDA(2, **QUICK).fit(blocks, client=here).components_)
    assert model.transform(["a cat"]).shape == (1, 2)


def test_the_command_fits_on_a_cluster(tmp_path):
    texts = [
        "cat dog cat pet",
        "bond stock bond market",
        "dog pet cat dog",
        "stock market bond",
    ] * 5
    (tmp_path / "texts.txt").write_text("\n".join(texts))
    asked = ["fit", tmp_path / "texts.txt", "--n-components", "2", "--max-iter", "8"]
    with cluster(1) as (made, _):
        asked += ["--cluster", made.scheduler_address, "-o", tmp_path / "m.topoi"]
        assert "give one with --cache" in run(*asked, code=2).stderr
        result = run(*asked, "--cache", tmp_path / "counts", "--checkpoint", tmp_path / "run")
        assert "1 workers at" in result.stderr
    model = topoi.load(tmp_path / "m.topoi")
    assert {frozenset(words) for words in model.top_words(3)} == {
        frozenset({"cat", "dog", "pet"}),
        frozenset({"bond", "stock", "market"}),
    }


def test_links_are_refused_with_the_reason(mixed, linked, here):
    """And a collection is not computed into one dense array."""
    import dask.array

    lazy = dask.array.from_array(mixed[0].counts.toarray(), chunks=(50, 30))
    with pytest.raises(TypeError, match=r"links connect documents .* such as X.compute\(\)"):
        RelationalTopicModel(3).fit(lazy)
    corpus = linked[0]
    with pytest.raises(ValueError, match=r"linked documents need each other.* Leave client out"):
        RelationalTopicModel(3).fit([corpus[:200], corpus[200:]], client=here)
