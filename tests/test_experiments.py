"""The harness of the paper's experiments; the experiments themselves run in the slow tests."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.common import PRIOR
from experiments import __main__ as command
from experiments import factored, harness
from topoi import AuthorTopicModel, Corpus
from topoi.datasets import make_blocks

ROOT = Path(__file__).parent.parent


def measure_square(data: Path, number: int) -> list[dict[str, float]]:
    """One row per cell, and a trace of having been computed."""
    with (data / "calls.txt").open("a") as calls:
        calls.write(f"{number}\n")
    return [{"square": number**2 / 3}]


@pytest.fixture
def run(tmp_path):
    return harness.Run(tmp_path, tmp_path / "out", tmp_path / "docs", quick=True)


def test_finished_cells_are_not_computed_again(run):
    first = run.measure("squares", measure_square, harness.cells(number=[1, 2]), processes=1)
    again = run.measure("squares", measure_square, harness.cells(number=[3, 2, 1]), processes=1)
    assert (run.data / "calls.txt").read_text().split() == ["2", "1", "3"]
    assert again["number"].tolist() == [3, 2, 1]
    np.testing.assert_array_equal(again["square"].iloc[[2, 1]], first["square"])


def test_folds_part_the_documents():
    parts = [harness.fold_rows(23, fold) for fold in range(harness.FOLDS)]
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(23))
    assert all(sorted([*train, *test]) == list(range(23)) for train, test in parts)


def test_tables_go_between_their_marks(run):
    run.docs.mkdir()
    page = run.docs / "paper.md"
    page.write_text("before\n<!-- table: squares -->\nold\n<!-- end -->\nafter\n", encoding="utf8")
    for _ in range(2):  # writing again changes nothing
        run.publish(
            "squares",
            pd.DataFrame({"a": [1], "seconds": [0.1]}),
            {"squares": "| new |\n", "others": "| not here |\n"},
        )
        assert (
            page.read_text(encoding="utf8")
            == "before\n<!-- table: squares -->\n\n| new |\n\n<!-- end -->\nafter\n"
        )
    assert (run.docs / "paper" / "squares.csv").read_text() == "a\n1\n"


def test_every_experiment_has_its_section():
    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf8")
    assert set(re.findall(r"^## (\w+)$", page, flags=re.MULTILINE)) == set(harness.NAMES)


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
    table = harness.overcomplete(
        pd.Series([" ".join(map(str, cell)) for cell in cells], index), "method"
    )
    assert table.columns.tolist() == ["s-BP", "a-BP", "GS"]
    assert table.index.tolist() == [("nips", 50), ("nips", 10), ("cora", 50), ("cora", 10)]
    for row, values in table.iterrows():
        for method, text in values.items():
            assert text == f"{row[0]} {row[1]} {method}"


@pytest.mark.parametrize("name", harness.NAMES)
def test_every_experiment_can_be_imported(name):
    assert callable(import_module(f"experiments.{name}").experiment)


def test_a_missing_matplotlib_is_named_before_the_work(monkeypatch):
    monkeypatch.setattr(command, "parse", lambda: ("table2", None))
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"pip install -e '\.\[paper\]'"):
        command.main()
