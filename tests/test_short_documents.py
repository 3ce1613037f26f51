"""Documents inferred afresh where they are short, and where topics are many: what was planted is
found, on any number of threads, and after a crash.
"""

from __future__ import annotations

import numpy as np
import pytest
from support import Crash, assert_same_run, crash_at, tune

from topoi import LDA, LabeledLDA, RelationalTopicModel, datasets, evaluate

ENDS_AFRESH = pytest.mark.parametrize("schedule", ["auto", "incremental"])


@ENDS_AFRESH
@pytest.mark.parametrize("weighting", ["count", "tfidf"])
@pytest.mark.parametrize(("tokens", "n_docs"), [(6, 3000), (26, 800)])
def test_planted_topics_are_found_in_short_documents(schedule, weighting, tokens, n_docs):
    """Titles of six words, descriptions of 26."""
    corpus, truth = datasets.make_lda(n_docs, 100, 5, doc_length=tokens, alpha=0.05, random_state=0)
    model = LDA(5, schedule=schedule, weighting=weighting, random_state=0).fit(corpus)
    assert (evaluate.match_topics(truth.topic_word, model)[1] > 0.9).all()


@pytest.fixture
def few_on_lists(monkeypatch):
    """More than ten topics are many, and eight are on a document's list."""
    tune(monkeypatch, lists_above=10, favoured_topics=8, edges_per_cell=500, warm_up_from=1000)


def test_of_many_planted_topics_as_many_are_found_as_by_auto(few_on_lists):
    """Neither starts overcomplete then, so that some are missed from some seeds."""
    found = {"auto": 0, "incremental": 0}
    for seed in range(3):
        corpus, truth = datasets.make_lda(600, 300, 12, alpha=0.05, random_state=seed)
        for schedule in found:
            model = LDA(12, schedule=schedule, random_state=seed).fit(corpus)
            assert model.history_[0]["schedule"] == "warm-up"
            found[schedule] += (evaluate.match_topics(truth.topic_word, model)[1] > 0.9).sum()
    assert found["incremental"] >= max(found["auto"], 27)


@pytest.mark.parametrize("kind", ["plain", "labels", "links"])
def test_many_topics_have_the_same_bits_on_any_number_of_threads(few_on_lists, kind):
    options = {"schedule": "incremental", "max_iter": 12, "tol": 0, "random_state": 0}
    if kind == "labels":
        corpus, make = datasets.make_labels(80)[0], lambda n: LabeledLDA(9, n_jobs=n, **options)
    elif kind == "links":
        corpus = datasets.make_links(80)[0]

        def make(n):
            return RelationalTopicModel(12, link_weight=0.3, n_jobs=n, **options)
    else:
        corpus, make = datasets.make_lda(80)[0], lambda n: LDA(12, n_jobs=n, **options)
    one = make(1).fit(corpus)
    np.testing.assert_allclose(one.doc_topic_.sum(axis=1), 1, atol=1e-5)
    for n_jobs in (2, 3):
        other = make(n_jobs).fit(corpus)
        np.testing.assert_array_equal(other.components_, one.components_)
        np.testing.assert_array_equal(other.doc_topic_, one.doc_topic_)


@pytest.mark.parametrize("sweep", [2, 8, 11])
def test_a_run_with_many_topics_resumes_after_a_crash(few_on_lists, tmp_path, sweep):
    corpus = datasets.make_lda(80)[0]
    options = {"schedule": "incremental", "max_iter": 12, "tol": 0, "random_state": 0}
    whole = LDA(12, **options).fit(corpus)
    with pytest.raises(Crash):
        LDA(12, callbacks=[crash_at(sweep)], **options).fit(
            corpus, checkpoint=tmp_path / "run", checkpoint_every=1
        )
    assert_same_run(LDA(12, **options).fit(corpus, checkpoint=tmp_path / "run"), whole)
