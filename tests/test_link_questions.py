"""What should this cite? Topics, words and neighbours blended."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from topoi import RelationalTopicModel
from topoi.explore.links import blended_pairs


@pytest.fixture(scope="module")
def paired():
    """Three themes; documents 2i and 2i+1 share a rare word, and a link."""
    rng = np.random.default_rng(0)
    rows, links = [], []
    for d in range(120):
        theme = 5 * ((d // 2) % 3) + rng.integers(0, 5, 30)
        rows.append(np.bincount(np.r_[theme, [15 + d // 2] * 2], minlength=75))
        if d % 2:
            links.append((d - 1, d))
    return topoi.Corpus(np.array(rows), links=links)


@pytest.fixture(scope="module")
def model(paired):
    return RelationalTopicModel(3, link_weight=0.15, max_iter=10).fit(paired[:100])


def new_documents(paired):
    """The words of ten training documents, drawn again."""
    counts = paired.counts[:20:2].toarray()
    counts[:, :15] = counts[:, :15][:, ::-1].reshape(-1, 3, 5)[:, ::-1, :].reshape(-1, 15)
    return counts


def test_words_find_what_topics_cannot(model, paired):
    new = new_documents(paired)
    truth = [{2 * i, 2 * i + 1} for i in range(10)]
    blended, topical = (
        np.mean(
            [
                len(truth[i] & {d for d, _ in row})
                for i, row in enumerate(model.recommend_links(new, 2, by=by))
            ]
        )
        for by in ("blend", "topics")
    )
    assert blended > 1.8
    assert topical < 1


def test_probabilities_of_links_sum_to_one(model, paired):
    for row in model.recommend_links(new_documents(paired), 100):
        assert sum(probability for _, probability in row) == pytest.approx(1)


def test_a_pair_is_scored_as_if_it_were_not_linked(model, paired):
    counts, pair = model.documents_.counts, np.array([[0, 1]])
    without = model.links_.copy().tolil()
    without[0, 1] = without[1, 0] = 0
    scores = [
        blended_pairs(counts, links.tocsr(), pair, np.array([0.5]), model.link_blend_)
        for links in (model.links_, without)
    ]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-9)
    np.testing.assert_allclose(
        model.link_scores([(0, 1), (4, 9)]), model.link_scores([(1, 0), (9, 4)]), rtol=1e-9
    )


def test_linked_pairs_score_higher_than_pairs_of_the_same_theme(model):
    linked = model.link_scores([(2 * i, 2 * i + 1) for i in range(20)])
    others = model.link_scores([(2 * i, 2 * i + 7) for i in range(20)])
    assert linked.min() > others.max()


def test_blend_of_links_survives_a_file(model, paired, tmp_path):
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    new = new_documents(paired)
    assert again.recommend_links(new) == model.recommend_links(new)


def test_without_counts_topics_alone_rank(paired, model):
    small = RelationalTopicModel(3, link_weight=0.15, max_iter=10, keep_counts=False)
    small.fit(paired[:100])
    np.testing.assert_array_equal(small.components_, model.components_)
    assert small.link_blend_ is None
    new = new_documents(paired)
    assert small.recommend_links(new) == model.recommend_links(new, by="topics")
    with pytest.raises(ValueError, match="by is 'words'; choose 'blend' or 'topics'"):
        model.recommend_links(new, by="words")
