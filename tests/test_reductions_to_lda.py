"""Every model reduces to LDA where it should, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from support import every_model_combination, several_blocks

from topoi import (
    LDA,
    AuthorTopicModel,
    LabeledLDA,
    Labels,
    RelationalTopicModel,
    TopicModel,
    Words,
)

pytestmark = pytest.mark.usefixtures("warm_up_always")


@every_model_combination
def test_models_reduce_to_lda_bit_for_bit(small, rule, schedule, monkeypatch):
    several_blocks(monkeypatch)
    options = {"rule": rule, "schedule": schedule, "max_iter": 12, "tol": 0}
    lda = LDA(4, **options).fit(small)
    n = small.shape[0]
    private = [[f"author{(7 * d) % n}"] for d in range(n)]
    with pytest.warns(UserWarning, match="No authors were given"):
        nobody = AuthorTopicModel(4, **options).fit(small)
    with pytest.warns(UserWarning, match="No links were given"):
        unlinked = RelationalTopicModel(4, link_weight=0.3, **options).fit(small)
    twins = [
        AuthorTopicModel(4, **options).fit(small, authors=private),
        nobody,
        RelationalTopicModel(4, link_weight=0.0, **options).fit(small, links=[(0, 1), (2, 3)]),
        unlinked,
        LabeledLDA(**options).fit(small, np.ones((n, 4))),
        TopicModel([Words(small), Labels([[0, 1, 2, 3]] * n)], **options).fit(),
    ]
    for model in twins:
        np.testing.assert_array_equal(
            model.components_, lda.components_, err_msg=type(model).__name__
        )
        np.testing.assert_array_equal(
            model.doc_topic_, lda.doc_topic_, err_msg=type(model).__name__
        )


@pytest.mark.parametrize(
    ("model", "what"), [(AuthorTopicModel, "authors"), (RelationalTopicModel, "links")]
)
def test_without_authors_or_links_people_are_told_that_it_is_lda(model, what):
    with pytest.warns(UserWarning, match=f"No {what} were given, so this is LDA"):
        model(2, max_iter=2).fit(np.eye(4) + 1)
