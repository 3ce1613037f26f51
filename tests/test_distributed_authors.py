"""Author-topic models on a cluster: owners are rows of the table that shards exchange, as words
are.
"""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from on_cluster import Stop, cluster, cut, same, stop_at
from support import Here, tune

import topoi
from topoi import AuthorTopicModel, Corpus, datasets, evaluate
from topoi.graph.factors import Words, make_plan
from topoi.infer import rounds
from topoi.infer import shards as tasks
from topoi.infer.pieces import unpacked
from topoi.infer.rules import make_rule
from topoi.models.partition_factors import PartitionAuthors, facts_of

dask = pytest.importorskip("dask")
pytest.importorskip("dask.distributed")
QUICK = {"max_iter": 24, "tol": 0}
FIXED = {"doc_topic_prior": 0.1, "topic_word_prior": 0.05}


@pytest.fixture(scope="module")
def corpus():
    """Ten authors; every seventh document has none."""
    made = datasets.make_authors(120, 10, 60, 4, random_state=2)[0]
    authors = [names if d % 7 else [] for d, names in enumerate(made.authors.tolist())]
    return replace(made, authors=authors)


def cut_rows(corpus, n):
    return [corpus[rows] for rows in np.array_split(np.arange(corpus.n_docs), n)]


# ------------------------------------------------------------------------------------ one partition


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"author_prior": "learned"},
        {**FIXED, "n_jobs": 2},
        {"rule": "sibp"},
        {"rule": "vb", **FIXED},
        {"init": "soft", "max_iter": 60},
        {"tol": 1e-4, "max_iter": 200},
    ],
    ids=lambda options: " ".join(options),
)
def test_one_partition_is_the_incremental_schedule(corpus, options, here, monkeypatch):
    tune(monkeypatch, edges_per_cell=400)  # authors have rows in several blocks of documents
    options = {**QUICK, **options}
    on_cluster = AuthorTopicModel(4, **options).fit([corpus], client=here)
    plain = AuthorTopicModel(4, schedule="incremental", keep_counts=False, **options).fit(corpus)
    same(on_cluster, plain)
    assert on_cluster.predict_authors(corpus[:3]) == plain.predict_authors(corpus[:3])
    assert_array_equal(
        on_cluster.documents_.authors.matrix.toarray(), plain.documents_.authors.matrix.toarray()
    )


def test_one_partition_with_seeds_differs_by_rounding(corpus, here):
    """One machine counts messages on top of the prior of words, tasks add it to the counts."""
    options = {"seeds": {"a": [corpus.words[3]], "b": [corpus.words[7]]}, **FIXED, **QUICK}
    on_cluster = AuthorTopicModel(4, **options).fit([corpus], client=here)
    plain = AuthorTopicModel(4, schedule="incremental", **options).fit(corpus)
    assert on_cluster.topic_names_ == plain.topic_names_
    assert_allclose(on_cluster.components_, plain.components_, rtol=1e-3, atol=1e-3)
    assert_allclose(on_cluster.author_topic_, plain.author_topic_, rtol=1e-3, atol=1e-4)


# ------------------------------------------------------------------------------- several partitions


def test_shards_together_do_what_one_machine_does(corpus):
    """From the same table, documents in three shards give words and owners what they give in
    one.
    """

    def contribution(parts, table):
        facts = [facts_of(part) for part in parts]
        factor = PartitionAuthors.found(AuthorTopicModel(4), facts)
        shards = []
        for number, part in enumerate(parts):
            plan = make_plan([Words(part.counts)], 4)
            shards.append(tasks.Shard(plan, number, 1.0, factor.add_to(plan, part, number)))
        weight = tasks.added([tasks.owner_weights(shard, factor.n_owners) for shard in shards])
        in_words = corpus.counts.sum(axis=0)
        n_rows = len(in_words) + factor.n_owners
        bounds = np.array([0, 50, n_rows])
        run = tasks.Run(make_rule("bp"), 4, 1.0, in_words, None, bounds, len(parts), 1, weight)
        how = tasks.Round(np.full(4, 0.1), 0.05, None, 0.0, True)
        if table is None:
            table = np.random.default_rng(0).random((n_rows, 4)).astype(np.float32)
        slices = [table[:50], table[50:]]
        found = [tasks.infer(shard, run, how, *slices) for shard in shards]
        merged = [
            tasks.merge(run, tasks.Merging(number, 0.0), [one.pieces[number] for one in found])
            for number in range(2)
        ]
        return table, np.vstack([unpacked(piece) for piece in merged])

    table, whole = contribution([corpus], None)
    _, of_parts = contribution(cut_rows(corpus, 3), table)
    assert_allclose(of_parts, whole, rtol=1e-4, atol=1e-4)


def test_an_author_of_several_partitions_has_one_row(corpus, here):
    parts = cut_rows(corpus, 3)
    model = AuthorTopicModel(4, **QUICK).fit(parts, client=here)
    assert_array_equal(model.author_names_, corpus.authors.names)
    alone = corpus.counts[corpus.authors.counts() == 0].sum()
    assert_allclose(model.author_counts_.sum(), corpus.n_tokens - alone, rtol=1e-5)
    assert_allclose(model.author_topic_.sum(axis=1), 1)
    assert model.documents_.authors.tolist() == corpus.authors.tolist()
    held = (model.components_ - model.topic_word_prior_).sum(axis=0)
    assert_allclose(held, corpus.counts.sum(axis=0), rtol=1e-4)


@pytest.mark.parametrize("n", [2, 5])
def test_planted_authors_are_found_over_partitions(authored, n, here):
    corpus, truth = authored
    model = AuthorTopicModel(5).fit(cut_rows(corpus, n), client=here)
    assert model.converged_
    order, cosine = evaluate.match_topics(truth.topic_word, model)
    assert cosine.min() > 0.9
    distance = np.abs(model.author_topic_[:, order] - truth.author_topic).sum(axis=1)
    assert np.median(distance) < 0.3


def test_partitions_are_as_good_as_one_machine(authored, here):
    corpus, _ = authored
    train, test = corpus.split(random_state=0)

    def perplexity(model):
        return evaluate.completion_perplexity(model, test.counts, authors=test.authors)

    whole = perplexity(AuthorTopicModel(5).fit(train))
    assert perplexity(AuthorTopicModel(5).fit(cut_rows(train, 4), client=here)) < 1.01 * whole


def test_alpha_is_learned_from_merged_authors(corpus, here):
    """A partition alone knows a part of each author only."""
    fixed = {"max_iter": 60, "tol": 0}
    model = AuthorTopicModel(4, **fixed).fit(cut_rows(corpus, 4), client=here)
    whole = AuthorTopicModel(4, schedule="incremental", **fixed).fit(corpus)
    assert_allclose(
        np.sort(model.doc_topic_prior_), np.sort(whole.doc_topic_prior_), rtol=0.3, atol=0.02
    )


def test_seeds_guide_topics_of_all_partitions(authored, here):
    corpus, truth = authored
    words = [corpus.words[int(topic.argmax())] for topic in truth.topic_word]
    seeds = {"a": [words[1]], "b": [words[3]]}
    model = AuthorTopicModel(5, seeds=seeds).fit(cut_rows(corpus, 3), client=here)
    assert model.topic_names_[:2] == ["a", "b"]
    for topic, planted in enumerate((1, 3)):
        assert (model.topic_word_[topic] @ truth.topic_word.T).argmax() == planted


def test_slices_of_the_table_change_nothing(corpus, here, monkeypatch):
    parts = cut_rows(corpus, 3)
    whole = AuthorTopicModel(4, **QUICK).fit(parts, client=here)
    monkeypatch.setattr(rounds, "SLICE_BYTES", 1000)
    same(AuthorTopicModel(4, **QUICK).fit(parts, client=here), whole)


# --------------------------------------------------------------------------------------------- Dask


def test_workers_change_nothing_and_a_killed_one_neither(corpus, monkeypatch):
    parts, killed = cut_rows(corpus, 3), []
    with monkeypatch.context() as patch:
        patch.setattr("topoi.models.cluster.DaskWorkers", lambda _: Here())
        expected = AuthorTopicModel(4, **QUICK).fit(parts, client=object())

    def kill(model, record):
        if record.sweep == 12 and not killed:
            worker = next(iter(made.workers.values()))
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

    with cluster(2, processes=True) as (made, client):
        model = AuthorTopicModel(4, callbacks=[kill], **QUICK).fit(parts, client=client)
        assert killed
        same(model, expected)


def test_an_interrupted_run_resumes_to_the_same_bits(corpus, here, tmp_path):
    parts = cut_rows(corpus, 3)
    options = {"checkpoint": tmp_path / "run", "checkpoint_every": 5, "client": here}
    expected = AuthorTopicModel(4, **QUICK).fit(parts, client=here)
    for sweep in (8, 17):
        with pytest.raises(Stop):
            AuthorTopicModel(4, callbacks=[stop_at(sweep)], **QUICK).fit(parts, **options)
    done = []
    model = AuthorTopicModel(4, callbacks=[lambda _, record: done.append(record.sweep)], **QUICK)
    same(model.fit(parts, **options), expected)
    assert done[0] == 16
    others = [replace(parts[0], authors=[["new"]] * parts[0].n_docs), *parts[1:]]
    with pytest.raises(ValueError, match="is the checkpoint of another run"):
        AuthorTopicModel(4, **QUICK).fit(others, **options)


# -------------------------------------------------------------------------------------- the model


@pytest.mark.parametrize("keep", [True, False])
def test_it_answers_what_an_author_topic_model_answers(corpus, keep, here, tmp_path):
    parts = cut_rows(corpus, 3)
    model = AuthorTopicModel(4, **QUICK).fit(parts, client=here, keep_documents=keep)
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    name = corpus.authors.names[0]
    for ask in (
        lambda m: m.who_writes_about(str(corpus.words[0])),
        lambda m: m.predict_authors(corpus[:4]),
        lambda m: m.similar_authors(name, 3),
        lambda m: m.topics_of_author(name),
        lambda m: m.authors_of_topic(0),
        lambda m: m.transform(corpus).tolist(),
        lambda m: m.transform(corpus.counts).tolist(),
        lambda m: m.score(corpus),
    ):
        assert ask(model) == ask(again)
    model.report(tmp_path / "m.html")
    assert hasattr(again, "doc_topic_") == keep
    if keep:
        assert again.similar_authors(name, min_documents=5) == model.similar_authors(
            name, min_documents=5
        )
    else:
        with pytest.raises(ValueError, match="does not know who wrote how much; fit it with"):
            again.similar_authors(name, min_documents=5)


def test_partitions_are_transformed_with_their_authors(corpus, here):
    parts = cut_rows(corpus, 3)
    model = AuthorTopicModel(4, **QUICK).fit(parts, client=here, keep_documents=False)
    lazy = topoi.distributed.transform(model, parts)
    found = dask.compute(*lazy, scheduler="synchronous")
    expected = [model.transform(part) for part in parts]
    assert_array_equal(np.vstack(found), np.vstack(expected))


# ----------------------------------------------------------------------------------------- refusals


def test_partitions_must_bring_authors_that_can_be_compared(corpus, here):
    parts = cut_rows(corpus, 2)
    bare = replace(parts[1], authors=None)
    with pytest.raises(ValueError, match="Partition 1 has no authors. On a cluster these come"):
        AuthorTopicModel(4).fit([parts[0], bare], client=here)
    with pytest.raises(ValueError, match=r"Partition 0 has no authors.*use LDA"):
        AuthorTopicModel(4).fit(cut(corpus.counts, 2), client=here)
    nobody = [replace(part, authors=[[]] * part.n_docs) for part in parts]
    with pytest.raises(ValueError, match=r"No document of the partitions has an author"):
        AuthorTopicModel(4).fit(nobody, client=here)
    numbers = replace(parts[1], authors=[[1, 2]] * parts[1].n_docs)
    with pytest.raises(ValueError, match="authors by text, others by numbers.* make all of them"):
        AuthorTopicModel(4).fit([parts[0], numbers], client=here)
    with pytest.raises(ValueError, match="Leave authors out"):
        AuthorTopicModel(4).fit(parts, authors=corpus.authors, client=here)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"rule": "gibbs"}, "inferred afresh in each round"),
        ({"schedule": "residual"}, "keeps messages of documents from sweep to sweep"),
        ({"weighting": "tfidf"}, "sums over all documents"),
        ({"author_prior": "equal"}, "author_prior is 'equal'; choose"),
    ],
)
def test_what_shards_cannot_do_is_refused(corpus, here, options, reason):
    with pytest.raises(ValueError, match=reason):
        AuthorTopicModel(4, **options).fit(cut_rows(corpus, 2), client=here)


def test_messages_of_a_partition_must_fit_on_its_worker(corpus, here, monkeypatch):
    """They need memory within a task, for each owner of a document."""
    crowd = [f"author {i}" for i in range(3000)]
    crowded = Corpus(corpus.counts, authors=[crowd] * corpus.n_docs)
    monkeypatch.setattr(Here, "memory_limits", lambda self: {"tcp://a": 2**28})
    AuthorTopicModel(4, max_iter=1).fit([corpus], client=here)
    with pytest.raises(MemoryError, match=r"the memory limit of the largest worker is 0.2 GiB"):
        AuthorTopicModel(4).fit([crowded], client=here)
