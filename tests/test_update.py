"""Updates: old topics, names and documents stay, and new words and themes get in."""

from __future__ import annotations

import numpy as np
import pytest
from support import ask

import topoi
from topoi import LDA, Corpus, datasets


@pytest.fixture(scope="module")
def themes():
    """Old documents of four themes, and new ones of these and of a fifth with words of its own."""
    corpus, truth = datasets.make_blocks(n_topics=5, docs_per_topic=40, random_state=1)
    fifth = truth.doc_topic[:, 4] > 0.5
    words = np.array(corpus.words)
    of_fifth = truth.topic_word[4] > 0
    old = corpus[np.random.default_rng(0).permutation(np.flatnonzero(~fifth))]
    known = words[~of_fifth].tolist()
    first, rest = old[:100].over(known), old[100:]
    new_rows = [*old[100:].counts.toarray(), *corpus[np.flatnonzero(fifth)].counts.toarray()]
    return first, Corpus(np.array(new_rows), words), set(words[of_fifth]), rest.n_docs


def test_an_update_keeps_old_topics_and_finds_a_new_theme(themes, tmp_path):
    first, new, of_fifth, _ = themes
    model = LDA(4).fit(first).name_topics({2: "third"})
    updated = model.update(new, new_topics=1)
    assert updated.topic_names_ == ["topic0", "topic1", "third", "topic3", "topic4"]
    assert set(updated.top_words(5)[4]) <= of_fifth
    seen = updated.transform(first)[:, :4]
    assert np.corrcoef(seen.ravel(), model.transform(first).ravel())[0, 1] > 0.95
    np.testing.assert_array_equal(updated.doc_topic_[: len(first), :4], model.doc_topic_)
    assert len(updated.doc_topic_) == len(first) + len(new)
    held = updated.components_ - updated.topic_word_prior_
    assert held.sum() == pytest.approx(first.n_tokens + new.n_tokens, rel=1e-3)
    assert list(updated.vocabulary_[: first.n_words]) == list(model.vocabulary_)
    updated.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    np.testing.assert_array_equal(again.transform(new), updated.transform(new))
    assert model.components_.shape[0] == 4, "the old model stays as it is"


def test_drift_is_large_where_words_change(themes):
    first, new, _, n_same = themes
    model = LDA(4).fit(first)
    calm = model.update(new[:n_same]).topic_drift(model)
    assert calm["drift"].max() < 0.5
    assert calm["before"].sum() == pytest.approx(1)
    stirred = model.update(new[n_same:]).topic_drift(model)
    assert stirred["drift"].max() > 0.5


def test_updates_need_words(themes):
    first, new, _, _ = themes
    model = LDA(4, max_iter=5).fit(first)
    with pytest.raises(ValueError, match="update needs to know words"):
        model.update(new.counts)
    with pytest.raises(ValueError, match="new_topics is 1.5"):
        model.update(new, new_topics=1.5)


def test_the_command_updates(work, tmp_path):
    out = tmp_path / "new.topoi"
    found = ask(
        *("update", work / "lda.topoi", work / "t.csv", "--text", "abstract", "-o", out),
        *("--new-topics", 1),
    )
    model = topoi.load(out)
    assert len(found["drift"]) == len(model.components_)
