"""The choice of the number of topics."""

from __future__ import annotations

import numpy as np
import pytest

from topoi import LDA, AuthorTopicModel, datasets, evaluate
from topoi.evaluate.selection import recommended


def test_choose_n_components_finds_the_planted_number(blocks):
    choice = evaluate.choose_n_components(LDA(max_iter=50), blocks[0], [4, 1, 3, 8], n_seeds=2)
    assert choice.best == 4
    assert [row["n_components"] for row in choice.rows] == [1, 3, 4, 8]
    assert all(
        set(row)
        == {"n_components", "perplexity", "perplexity_se", "npmi", "diversity", "stability"}
        for row in choice.rows
    )
    assert all(np.isfinite(list(row.values())).all() for row in choice.rows)
    one, three, four, _ = choice.rows
    assert one["perplexity"] > three["perplexity"] > four["perplexity"]
    np.testing.assert_allclose(one["stability"], 1, rtol=1e-6)
    assert choice.reason.startswith("4 topics")
    assert f"{four['perplexity']:.1f}" in choice.reason
    assert choice.table["recommended"].to_dict() == {1: False, 3: False, 4: True, 8: False}
    for text in (str(choice), choice._repr_html_()):
        assert choice.reason in text
        assert "perplexity" in text


@pytest.mark.parametrize("rows", [[(10, 90)], [(5, 100), (10, 90)], [(2, 300), (5, 100), (10, 90)]])
def test_the_largest_number_tried_is_not_recommended(rows):
    choice = recommended([candidate(k, perplexity, 1) for k, perplexity in rows])
    assert choice.best is None
    assert not choice.table["recommended"].any()
    assert choice.reason.startswith("No recommendation: of the numbers tried the largest, 10,")
    assert choice.reason.endswith(
        "the range was too small; try larger ones, for instance 20 and 40."
    )


def test_the_smallest_number_tried_is_mentioned():
    rows = [candidate(5, 100, 1), candidate(10, 100, 1)]
    assert "the smallest number tried" in recommended(rows).reason
    assert "smallest" not in recommended([candidate(2, 100, 1), candidate(10, 100, 1)]).reason


def candidate(
    k: int, perplexity: float, error: float, npmi: float = 0.0, stability: float = 0.0
) -> dict[str, float]:
    return {
        "n_components": k,
        "perplexity": perplexity,
        "perplexity_se": error,
        "npmi": npmi,
        "diversity": 1.0,
        "stability": stability,
    }


@pytest.mark.parametrize(
    ("perplexity", "error", "best"),
    [
        (104.9, 3.0, 5),  # the standard error of the difference is 5: root of 3^2 + 4^2
        (105.1, 3.0, 10),
        (103.9, 0.0, 5),
        (104.1, 0.0, 10),
        (120.0, 30.0, 5),  # one seed got stuck
    ],
)
def test_the_fewest_topics_within_one_standard_error_of_the_difference(perplexity, error, best):
    choice = recommended(
        [
            candidate(2, 300, 1),
            candidate(5, perplexity, error),
            candidate(10, 100, 4),
            candidate(20, 101, 0),
        ]
    )
    assert choice.best == best
    assert choice.reason.startswith(f"{best} topics: the fewest whose held-out perplexity (")
    assert "of the lowest (100.0 at 10)" in choice.reason


def test_the_reason_names_other_views():
    """The most stable and the most coherent number, where it is another; one topic is always
    stable, which says nothing.
    """
    one = candidate(1, 300, 1, 0.1, 1.0)
    two = candidate(2, 100, 1, 0.2, 0.9)
    three = candidate(3, 100, 1, 0.3, 0.8)
    assert recommended([one, two, three]).reason.endswith(
        "(100.0 at 2). But the most coherent is 3."
    )
    three["stability"] = 0.95
    assert recommended([one, two, three]).reason.endswith(
        "(100.0 at 2). But the most stable is 3, the most coherent is 3."
    )
    two["npmi"], two["stability"] = three["npmi"], three["stability"]
    assert recommended([one, two, three]).reason.endswith("(100.0 at 2).")
    two["npmi"] -= 1e-5  # the table would show the same number
    two["stability"] -= 1e-5
    assert recommended([one, two, three]).reason.endswith("(100.0 at 2).")
    flat = [candidate(2, 300, 1), candidate(3, 100, 1), candidate(4, 100, 1)]
    assert "But" not in recommended(flat).reason, "as stable and as coherent as another"
    rows = [candidate(1, 90, 1, 0.4, 1.0), two]
    assert recommended(rows).best == 1
    assert "But" not in recommended(rows).reason


def test_choose_n_components_takes_a_matrix_and_keeps_the_model(blocks):
    model = LDA(3, rule="sibp", max_iter=10)
    choice = evaluate.choose_n_components(model, blocks[0].counts.toarray(), [1, 4, 8], n_seeds=2)
    assert choice.best == 4
    assert model.n_components == 3
    assert not hasattr(model, "components_")


def test_choice_fits_with_what_a_corpus_knows():
    corpus, _ = datasets.make_authors(40, 5)
    rows = [
        evaluate.choose_n_components(model, corpus, [3, 3], n_seeds=2).rows
        for model in (AuthorTopicModel(max_iter=5), LDA(max_iter=5))
    ]
    assert [len(table) for table in rows] == [1, 1]
    assert rows[0][0]["perplexity"] != rows[1][0]["perplexity"]
