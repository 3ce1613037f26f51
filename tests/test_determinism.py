"""The same bits: for any number of threads, in any process, for any batch of documents."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from support import (
    MODEL_COMBINATIONS,
    begin,
    every_model_combination,
    run_python,
    small_counts,
    tune,
)

from topoi import LDA, AuthorTopicModel, datasets, evaluate, rules
from topoi.graph import wiring
from topoi.infer import engine

pytestmark = pytest.mark.usefixtures("warm_up_always")


def fit(counts, rule: str, schedule: str, **options):
    return LDA(5, rule=rule, schedule=schedule, max_iter=12, tol=0, **options).fit(counts)


def digest(model: LDA) -> str:
    """A fingerprint of everything that was learned."""
    bits = [
        model.components_,
        model.doc_topic_,
        model.doc_topic_prior_,
        np.float64(model.topic_word_prior_),
    ]
    return hashlib.sha256(
        b"".join(np.ascontiguousarray(part).tobytes() for part in bits)
    ).hexdigest()


@pytest.fixture
def many_cells(monkeypatch):
    """A grid of several blocks on a small corpus."""
    tune(monkeypatch, edges_per_cell=60)


@every_model_combination
def test_lda_has_the_same_bits_for_any_number_of_threads(many_cells, mixed, rule, schedule):
    counts = mixed[0].counts
    assert wiring.n_blocks(counts.nnz) >= 4
    one = fit(counts, rule, schedule, n_jobs=1)
    for n_jobs in (2, 4):
        assert digest(fit(counts, rule, schedule, n_jobs=n_jobs)) == digest(one)
    assert [record["perplexity"] for record in one.history_] == [
        record["perplexity"] for record in fit(counts, rule, schedule, n_jobs=2).history_
    ]


def test_same_bits_on_a_grid_of_its_own_size():
    """No patch: a corpus with enough edges for several blocks."""
    counts = datasets.make_lda(1000, 1500, 5, doc_length=200, alpha=0.5, beta=0.5, random_state=0)[
        0
    ].counts
    assert wiring.n_blocks(counts.nnz) >= 2
    assert len({digest(fit(counts, "bp", "asynchronous", n_jobs=n)) for n in (1, 2, 3, 4)}) == 1


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_same_bits_of_measures_for_any_number_of_threads(mixed, n_jobs):
    corpus, _ = mixed
    model = LDA(5, max_iter=20).fit(corpus)
    threaded = LDA(5, max_iter=20, n_jobs=n_jobs).fit(corpus)
    assert model.perplexity(corpus.counts) == threaded.perplexity(corpus.counts)
    np.testing.assert_array_equal(model.transform(corpus.counts), threaded.transform(corpus.counts))
    assert evaluate.completion(model, corpus) == evaluate.completion(model, corpus, n_jobs=n_jobs)
    plain, with_threads = (
        evaluate.left_to_right(model, corpus[:10], n_particles=3, n_jobs=n) for n in (1, n_jobs)
    )
    np.testing.assert_array_equal(plain, with_threads)


def test_same_bits_of_batches_for_any_number_of_threads(many_cells, mixed):
    counts = mixed[0].counts
    models = [LDA(5, batch_size=40, max_iter=3, n_jobs=n).fit(counts) for n in (1, 2, 4)]
    assert digest(models[0]) == digest(models[1]) == digest(models[2])


def all_digests(n_jobs: int) -> dict[str, str]:
    """Fingerprints of every rule and schedule, of topic lists, and of documents with several
    owners.
    """
    counts = datasets.make_lda(150, 80, 5, random_state=1)[0].counts
    plain = {
        f"{rule} {schedule}": digest(fit(counts, rule, schedule, n_jobs=n_jobs))
        for rule, schedule in MODEL_COMBINATIONS
    }
    authors = [[f"author {i % 7}", f"author {7 + i % 5}"][: 1 + i % 2] for i in range(150)]
    return {
        **plain,
        "lists": digest(LDA(300, max_iter=21, tol=0, n_jobs=n_jobs).fit(counts)),
        "no messages": digest(
            fit(counts, rules.BP(messages="none"), "asynchronous", n_jobs=n_jobs)
        ),
        "authors": digest(
            AuthorTopicModel(5, max_iter=14, tol=0, n_jobs=n_jobs).fit(counts, authors=authors)
        ),
    }


ALL_DIGESTS = f"""
import json, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_determinism import all_digests
from topoi.tuning import Tuning, use
use(Tuning(warm_up_from=0))
print(json.dumps(all_digests(n_jobs=2)))
"""


def test_same_bits_in_another_process():
    """Fitted again by a fresh interpreter with two threads."""
    assert json.loads(run_python(ALL_DIGESTS, PYTHONHASHSEED="17").stdout) == all_digests(n_jobs=1)


def test_same_bits_whether_kernels_are_compiled_or_loaded(tmp_path):
    """The process that compiles all kernels, on an empty disk cache, and the next one, which loads
    them.
    """
    compiling, loading = (
        json.loads(run_python(ALL_DIGESTS, NUMBA_CACHE_DIR=str(tmp_path)).stdout) for _ in range(2)
    )
    assert compiling == loading


@every_model_combination
def test_same_bits_on_each_call(mixed, rule, schedule):
    assert digest(fit(mixed[0].counts, rule, schedule)) == digest(
        fit(mixed[0].counts, rule, schedule)
    )


@every_model_combination
def test_another_seed_gives_other_bits(mixed, rule, schedule):
    assert digest(fit(mixed[0].counts, rule, schedule)) != digest(
        fit(mixed[0].counts, rule, schedule, random_state=1)
    )


@pytest.mark.parametrize(
    "make", [np.random.RandomState, np.random.default_rng], ids=["RandomState", "Generator"]
)
def test_random_states_of_all_kinds(mixed, make):
    counts = mixed[0].counts
    first, again, other = (
        fit(counts, "bp", "asynchronous", random_state=make(seed)) for seed in (3, 3, 4)
    )
    assert digest(first) == digest(again) != digest(other)


def test_without_a_seed_every_fit_differs(mixed):
    assert (
        len(
            {
                digest(fit(mixed[0].counts, "bp", "asynchronous", random_state=None))
                for _ in range(3)
            }
        )
        == 3
    )


def test_format_of_the_input_changes_nothing(mixed):
    """Sparse or dense, integers or floats: the same corpus, the same bits."""
    counts = mixed[0].counts
    expected = digest(fit(counts, "bp", "asynchronous"))
    for other in (
        counts.toarray(),
        counts.astype(np.int32),
        counts.tocsc(),
        sparse.csr_matrix(counts),
    ):
        assert digest(fit(other, "bp", "asynchronous")) == expected


# --------------------------------------------------------------------------------------- prediction

PREDICTING = [
    ("bp", "asynchronous"),
    ("sibp", "synchronous"),
    ("cvb0", "asynchronous"),
    ("gibbs", "asynchronous"),
    ("vb", "synchronous"),
]
every_prediction = pytest.mark.parametrize(("rule", "schedule"), PREDICTING)


@every_prediction
def test_transform_is_the_same_on_each_call(mixed, rule, schedule):
    model = fit(mixed[0].counts, rule, schedule)
    np.testing.assert_array_equal(
        model.transform(mixed[0].counts), model.transform(mixed[0].counts)
    )


@every_prediction
def test_transform_does_not_depend_on_the_batch(mixed, rule, schedule):
    """All documents at once, in two halves, one by one, or in any order: the same bits for each
    document.
    """
    counts = mixed[0].counts[:40]
    model = fit(mixed[0].counts, rule, schedule)
    together = model.transform(counts)
    np.testing.assert_array_equal(
        np.vstack([model.transform(counts[:25]), model.transform(counts[25:])]), together
    )
    np.testing.assert_array_equal(
        np.vstack([model.transform(counts[[i]]) for i in range(40)]), together
    )
    order = np.random.default_rng(0).permutation(40)
    np.testing.assert_array_equal(model.transform(counts[order]), together[order])


@pytest.mark.parametrize("rule", ["bp", "sibp"])
def test_transform_does_not_depend_on_a_slow_document(rule):
    """A document that needs more sweeps than it takes to rebuild all tables does not touch those
    that converged long before.
    """
    topics = np.array([[0.415, 0.415, 0.16, 0.01], [0.4, 0.4, 0.01, 0.19]])
    slow = np.array([[300.0, 300, 0, 0]])  # two topics that explain it almost equally well
    quick = np.random.default_rng(0).poisson([2.0, 2, 3, 3], (60, 4)).astype(np.float64)
    model = LDA(2, rule=rule, doc_topic_prior=0.01, max_iter=1).fit(quick)
    model.components_ = topics
    assert engine.REBUILD_EVERY < count_sweeps(slow, topics, rule) < 200, (
        "the slow document is slow"
    )
    alone = np.vstack([model.transform(document[None, :]) for document in quick])
    np.testing.assert_array_equal(model.transform(np.vstack([quick, slow]))[:-1], alone)


def count_sweeps(counts: np.ndarray, topics: np.ndarray, rule: str) -> int:
    """Sweeps until the only document moves by less than 1e-4 per token."""
    run = begin(
        counts,
        len(topics),
        rule,
        alpha=0.01,
        beta=1e-30,
        base=topics.T,
        frozen=True,
        init="warm",
        word_topic=topics.T,
    )
    while run.state.sweep < 200:
        run.sweep()
        if run.state.messages.residual.sum() <= 1e-4 * counts.sum():
            break
    return run.state.sweep


def test_transform_in_chunks(mixed, monkeypatch):
    """Messages are held for a few documents at a time; how many changes nothing."""
    counts = mixed[0].counts
    model = fit(counts, "bp", "asynchronous")
    expected = model.transform(counts)
    tune(monkeypatch, chunk_bytes=5000)
    np.testing.assert_array_equal(model.transform(counts), expected)
    tune(monkeypatch, chunk_bytes=1)
    np.testing.assert_array_equal(model.transform(counts), expected)


def test_global_random_numbers_are_left_alone(mixed):
    """A fit neither reads nor moves NumPy's global generator."""
    np.random.seed(5)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = fit(mixed[0].counts, "gibbs", "asynchronous")
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
    np.random.seed(6)  # noqa: NPY002
    assert digest(fit(mixed[0].counts, "gibbs", "asynchronous")) == digest(first)


def test_input_is_left_alone(mixed):
    """Fit and transform change nothing in X."""
    for counts in (small_counts(), small_counts().toarray()):
        before = counts.copy()
        fit(counts, "bp", "asynchronous").transform(counts)
        assert (counts != before).sum() == 0


def test_bits_do_not_depend_on_where_arrays_lie_in_memory(many_cells, mixed):
    """Small arrays side by side once made the compiler's guards choose another order of sums."""
    rng, kept, found = np.random.default_rng(0), [], set()
    for _ in range(25):
        # Moves what is allocated after it.
        kept.append(np.zeros(int(rng.integers(1, 5000)), np.float32))
        if len(kept) > 7:
            kept.pop(int(rng.integers(7)))
        found.add(digest(fit(mixed[0].counts, "bp", "auto")))
    assert len(found) == 1
