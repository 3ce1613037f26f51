"""The factor of dates: documents of neighbouring periods have similar topics."""

from __future__ import annotations

import numpy as np
import pytest

from topoi import Dates, TopicModel, Words, datasets
from topoi.graph.factors import Documents, canonical_factor, make_plan


@pytest.fixture(scope="module")
def drifting():
    """Headlines whose topics follow each other in time, and their years."""
    corpus, truth = datasets.make_lda(300, 60, 4, doc_length=8, random_state=0)
    years = 2000 + np.argsort(np.argsort(truth.doc_topic @ [0, 1, 2, 3])) // 25
    return corpus, years


def fitted(corpus, dates, **options):
    factors = [Words(corpus), Dates(dates, **options)]
    return TopicModel(factors, 4, max_iter=40, random_state=0).fit()


def test_the_weight_is_learned_and_is_small_for_shuffled_dates(drifting):
    corpus, years = drifting
    learned = fitted(corpus, years).factors_[-1].weight
    placebo = fitted(corpus, np.random.default_rng(0).permutation(years)).factors_[-1].weight
    assert learned > 0.1
    assert placebo < learned / 2


def test_a_model_with_dates_knows_them(drifting):
    corpus, years = drifting
    model = fitted(corpus, years, weight=0.3)
    assert model.factors_[-1].weight == 0.3
    assert model.topics_over_time()["period"].nunique() == 12


def message(dates, proportions, tokens, **options):
    plan = make_plan([Words(np_counts(len(proportions))), Documents()], 2)
    factor = canonical_factor(Dates(dates, weight=0.5, **options), len(proportions))
    factor.add_to(plan)
    return factor.message(np.asarray(proportions, dtype=float), np.asarray(tokens, dtype=float))


def np_counts(n):
    return datasets.make_lda(n, 10, 2, random_state=0)[0].counts


def test_documents_hear_others_of_their_time_and_not_themselves():
    proportions = [[1, 0], [0, 1], [1, 0], [0.5, 0.5], [1, 0]]
    dates = [2000, 2001, 2003, None, 2001]
    received = message(dates, proportions, [10, 10, 10, 10, 30])
    np.testing.assert_allclose(received[0], [0.75, 0.25])  # of 2001, by tokens
    np.testing.assert_allclose(received[1], [1, 0])
    np.testing.assert_allclose(received[4], [0.5, 0.5])
    assert received[2].tolist() == [0, 0], "2003 has no neighbours"
    assert received[3].tolist() == [0, 0], "no date"
    np.testing.assert_allclose(message(dates, proportions, [10] * 5, reach=0)[0], [0, 0])
    assert message(dates, proportions, [10] * 5, reach=2)[2].sum() == pytest.approx(1)


def test_bad_dates_and_weights_are_refused(drifting):
    corpus, years = drifting
    with pytest.raises(ValueError, match="dates must be dates, and 'May' is not"):
        fitted(corpus, ["May"] * 300)
    with pytest.raises(ValueError, match="dates has 3 values for 300 documents"):
        fitted(corpus, years[:3])
    with pytest.raises(ValueError, match="weight of dates is 2"):
        fitted(corpus, years, weight=2)
    with pytest.raises(ValueError, match="reach is -1"):
        fitted(corpus, years, reach=-1)
