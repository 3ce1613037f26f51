"""The settings of the paper in one word."""

from __future__ import annotations

import numpy as np
import pytest
from support import run

import topoi
from topoi import paper


@pytest.mark.parametrize(
    ("name", "sweeps"),
    [("LDA", 1000), ("AuthorTopicModel", 500), ("RelationalTopicModel", 500), ("LabeledLDA", 500)],
)
def test_models_are_those_of_topoi_with_the_settings_of_the_paper(name, sweeps):
    model = getattr(paper, name)()
    assert type(model) is getattr(topoi, name)
    assert (model.rule, model.schedule, model.init) == ("bp", "synchronous", "hard")
    assert model.doc_topic_prior == model.topic_word_prior == 0.01
    assert (model.max_iter, model.tol) == (sweeps, 0)
    if name == "RelationalTopicModel":
        assert (model.link_weight, model.link_factor) == (0.15, "paper")
    assert getattr(paper, name)(max_iter=3, tol="paper").get_params()["tol"] == "paper"


def test_the_command_takes_the_preset_and_what_is_given_beside_it(work, tmp_path):
    columns = [work / "t.csv", "--text", "abstract", "--doc-names", "id"]
    more = ["--preset", "paper", "--max-iter", 7, "-o"]
    run("fit", *columns, "--n-components", 2, *more, tmp_path / "a.topoi")
    model = topoi.load(tmp_path / "a.topoi")
    assert (model.schedule, model.max_iter, model.n_iter_) == ("synchronous", 7, 7)
    corpus = topoi.read(columns[0], text="abstract", doc_names="id")
    same = paper.LDA(2, max_iter=7).fit(corpus)
    np.testing.assert_array_equal(model.components_, same.components_)
    run("fit", *columns, "--links", "cites", "--n-components", 2, *more, tmp_path / "b.topoi")
    assert topoi.load(tmp_path / "b.topoi").link_weight_ == 0.15


def test_the_command_knows_the_stop_rules_of_the_paper(work, tmp_path):
    columns = [work / "t.csv", "--text", "abstract", "--doc-names", "id", "--n-components", 2]
    for rule in ("paper", "parameters"):
        run("fit", *columns, "--tol", rule, "-o", tmp_path / f"{rule}.topoi")
        assert topoi.load(tmp_path / f"{rule}.topoi").tol == rule
    error = run("fit", *columns, "--tol", "soon", "-o", tmp_path / "no.topoi", code=2).stderr
    assert "--tol is 'soon'; expected a number >= 0" in error
