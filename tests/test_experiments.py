"""The harness of the paper's experiments; the experiments themselves run in the slow tests."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.common import PRIOR
from experiments import __main__ as command
from experiments import convergence, factored, harness, page
from topoi import AuthorTopicModel, Corpus
from topoi.datasets import make_blocks

DOCS = Path(__file__).parent.parent / "docs"
VERDICT = r"<!-- verdict: (\w+) -->\n(.*?)<!-- end -->"


def measure_square(data: Path, number: int) -> list[dict[str, float]]:
    """One row per cell, and a trace of having been computed."""
    with (data / "calls.txt").open("a") as calls:
        calls.write(f"{number}\n")
    return [{"square": number**2 / 3}]


def measure_unlike(data: Path, number: int) -> list[dict[str, float]]:
    """Cells with different columns, as methods have that measure different things."""
    return [{f"of {number}": 1.0}]


def squares(*numbers):
    return harness.Part(
        "squares", measure_square, lambda quick: harness.cells(number=numbers), processes=1
    )


@pytest.fixture
def run(tmp_path):
    return harness.Run(tmp_path, tmp_path / "out", tmp_path / "docs", quick=True)


def test_finished_cells_are_not_computed_again(run):
    first = run.results(squares(1, 2))
    again = run.results(squares(3, 2, 1))
    assert (run.data / "calls.txt").read_text().split() == ["2", "1", "3"]
    assert again["number"].tolist() == [3, 2, 1]
    np.testing.assert_array_equal(again["square"].iloc[[2, 1]], first["square"])


def test_a_run_without_time_shows_what_is_known(run):
    run.results(squares(1, 2))
    late = replace(run, until=0.0)
    assert late.results(squares(1, 2, 3))["number"].tolist() == [1, 2]
    assert late.results(squares(4)).empty


def test_only_the_wanted_sets_are_computed(run):
    part = harness.Part(
        "named", measure_named, lambda quick: harness.cells(set=["cora", "medl"]), processes=1
    )
    assert replace(run, only=("medl",)).results(part)["set"].tolist() == ["medl"]


def measure_named(data: Path, set: str) -> list[dict[str, int]]:
    return [{"letters": len(set)}]


def test_published_cells_count_only_if_asked_for(run):
    (run.docs / "paper").mkdir(parents=True)
    (run.docs / "paper" / "squares.csv").write_text("number,square\n7,1\n")
    late = replace(run, until=0.0)
    assert late.results(squares(7)).empty
    assert replace(late, published=True).results(squares(7))["square"].tolist() == [1]


def test_cells_of_one_file_may_have_different_columns(run):
    part = harness.Part(
        "unlike", measure_unlike, lambda quick: harness.cells(number=[1, 2]), processes=1
    )
    run.results(part)
    kept = replace(run, until=0.0).results(part)
    assert kept["of 1"].isna().tolist() == [False, True]
    assert kept["of 2"].isna().tolist() == [True, False]


def test_folds_part_the_documents():
    parts = [harness.fold_rows(23, fold) for fold in range(harness.FOLDS)]
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(23))
    assert all(sorted([*train, *test]) == list(range(23)) for train, test in parts)


def test_blocks_go_between_their_marks():
    before = "before\n<!-- table: squares -->\nold\n<!-- end -->\nafter\n"
    after = "before\n<!-- table: squares -->\n\n| new |\n\n<!-- end -->\nafter\n"
    blocks = {"table: squares": "| new |\n", "table: others": "| not here |\n"}
    assert page.filled(before, blocks) == after
    assert page.filled(after, blocks) == after  # writing again changes nothing


def test_every_experiment_has_its_section():
    text = (DOCS / "paper.md").read_text(encoding="utf8")
    assert tuple(re.findall(r"^## (\w+)$", text, flags=re.MULTILINE)) == harness.NAMES


def test_tables_and_verdicts_are_those_of_the_results():
    """Everything between marks, computed again from docs/paper: no sentence may say more than its
    table.
    """
    text = (DOCS / "paper.md").read_text(encoding="utf8")
    assert page.written(DOCS) == text
    marks = set(re.findall(r"^<!-- (\w+: .*?) -->$", text, flags=re.MULTILINE))
    assert {f"verdict: {name}" for name in harness.NAMES} <= marks


def test_a_changed_number_changes_the_verdict(tmp_path):
    shutil.copytree(DOCS / "paper", tmp_path / "paper")
    shutil.copy(DOCS / "paper.md", tmp_path)
    rows = pd.read_csv(tmp_path / "paper" / "perplexity.csv")
    rows.loc[rows["method"] == "GS", "common"] /= 2
    rows.to_csv(tmp_path / "paper" / "perplexity.csv", index=False)
    said = dict(re.findall(VERDICT, page.written(tmp_path), flags=re.DOTALL))["perplexity"]
    assert "*BP is on average 6 % below GS* **No.**" in said
    assert (
        said
        != dict(
            re.findall(VERDICT, (DOCS / "paper.md").read_text(encoding="utf8"), flags=re.DOTALL)
        )["perplexity"]
    )


def test_the_number_of_finished_cells_is_that_of_the_results():
    noted = pd.read_csv(DOCS / "paper" / "cells.csv").set_index("part")
    for part in page.all_parts():
        grid = part.grid(False)
        found = harness.read_cells(DOCS / "paper" / f"{part.name}.csv", grid)
        if part.name in noted.index:
            assert noted.loc[part.name, "cells"] == len(grid)
            assert noted.loc[part.name, "done"] == sum(harness.key_of(c) in found for c in grid)
        else:
            assert not found


def test_the_grid_is_that_of_the_paper():
    for name, sets in (
        ("perplexity", {"cora", "medl", "nips", "blog"}),
        ("variants", {"cora", "medl", "nips", "blog"}),
        ("rtm", {"cora", "cora, shifted", "medl", "blog"}),
        ("links", {"cora", "cora, shifted", "medl", "blog"}),
        ("atm", {"cora", "medl", "nips"}),
    ):
        grid = pd.DataFrame(import_module(f"experiments.{name}").PARTS[0].grid(False))
        early = grid[grid["stop"] == harness.RULE]
        assert set(early["set"]) == sets, name
        assert set(early["topics"]) == {10, 20, 30, 40, 50}
        assert set(early["fold"]) == set(range(5))
        assert set(grid[grid["stop"] == harness.NEVER]["set"]) == sets
    assert set(pd.DataFrame(convergence.grid(False))["set"]) == {"cora", "medl", "nips", "blog"}


def test_missing_cells_are_said_to_be_missing():
    grid = harness.cells(set=["cora", "medl"], method=["a", "b"], fold=range(2))
    rows = pd.DataFrame(
        [
            {"set": "cora", "method": "a", "fold": 0, "v": 1.0},
            {"set": "cora", "method": "a", "fold": 1, "v": 3.0},
            {"set": "cora", "method": "b", "fold": 0, "v": 5.0},
        ]
    )
    table = page.mean_table(rows, grid, ["set"], "method", "v")
    assert table.loc["cora"].tolist() == ["2.0 (1.4)", "5.0, 1 of 2"]
    assert table.loc["medl"].tolist() == [page.MISSING, page.MISSING]


def test_differences_are_of_folds_that_both_have():
    rows = pd.DataFrame(
        {
            "set": "cora",
            "topics": 10,
            "fold": [0, 1, 0],
            "method": ["a", "a", "b"],
            "v": [50.0, 1000.0, 100.0],
        }
    )
    gaps = page.change(rows, ["set", "topics"], "method", "v", "a", "b")
    assert gaps.tolist() == [-50.0]
    assert page.lower(rows, ["set", "topics"], "method", "v", "a", "b") == (1, 1)


@pytest.mark.parametrize(
    ("found", "verdict"), [(6.0, "yes"), (4.6, "yes"), (1.0, "only in direction"), (-1.0, "no")]
)
def test_a_size_holds_if_three_quarters_of_it_are_found(found, verdict):
    assert page.size_holds(found, 6) == verdict


def test_factored_messages_of_one_author_are_joint_ones():
    blocks, _ = make_blocks()
    corpus = Corpus(blocks.counts, authors=[[f"author {d}"] for d in range(blocks.n_docs)])
    run = factored.Factored(corpus, 4, seed=3)
    for _ in range(5):
        run.sweep()
    joint = AuthorTopicModel(
        4,
        schedule="synchronous",
        doc_topic_prior=PRIOR,
        topic_word_prior=PRIOR,
        max_iter=5,
        tol=0,
        random_state=3,
    ).fit(corpus)
    np.testing.assert_allclose(run.topic_word, joint.topic_word_, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(run.perplexity(), joint.history_[-1]["perplexity"], rtol=1e-5)


def test_wide_tables_keep_values_and_order():
    cells = [
        (name, topics, method)
        for method in ("s-BP", "a-BP", "GS")
        for name in ("nips", "cora")
        for topics in (50, 10)
    ]
    index = pd.MultiIndex.from_tuples(cells, names=["set", "topics", "method"])
    table = page.as_columns(
        pd.Series([" ".join(map(str, cell)) for cell in cells], index), "method"
    )
    assert table.columns.tolist() == ["s-BP", "a-BP", "GS"]
    assert table.index.tolist() == [("nips", 50), ("nips", 10), ("cora", 50), ("cora", 10)]
    for row, values in table.iterrows():
        for method, text in values.items():
            assert text == f"{row[0]} {row[1]} {method}"


@pytest.mark.parametrize("name", harness.NAMES)
def test_every_experiment_can_be_imported(name):
    module = import_module(f"experiments.{name}")
    assert module.PARTS
    assert callable(module.report)


def test_a_missing_matplotlib_is_named_before_the_work(monkeypatch):
    monkeypatch.setattr(command, "parse", lambda: ("table2", None))
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"pip install -e '\.\[paper\]'"):
        command.main()
