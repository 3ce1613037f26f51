"""The code in README and docs runs as it stands."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from topoi.cli import app

ROOT = Path(__file__).parent.parent
BLOCKS = [
    pytest.param(block, id=f"{path.name}-{i}")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for i, block in enumerate(
        re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf8"), flags=re.DOTALL)
    )
]


@pytest.mark.parametrize("block", BLOCKS)
def test_code_block_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "block", "exec"), {"__name__": "block"})  # an error fails the test
    assert not list(tmp_path.iterdir()), "documentation examples leave no files behind"


def test_commands_of_the_readme_run(tmp_path, monkeypatch):
    """Every line of its sh blocks that calls topoi, in their order, on tables such as they name."""
    monkeypatch.chdir(tmp_path)
    fields, people = (
        [["markov", "chains", "states"], ["genes", "cells", "proteins"]],
        ["Ann Lee", "Bo Berg"],
    )
    for name in ("papers.csv", "new.csv"):
        with open(name, "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["id", "abstract", "authors", "cites", "field"])
            for i in range(40):
                words = " ".join(fields[i % 2][(i + j) % 3] for j in range(8))
                table.writerow(
                    [f"p{i}", words, f"{people[i % 2]}; Cy Dahl", f"p{(i + 2) % 40}", "AB"[i % 2]]
                )
    text = (ROOT / "README.md").read_text(encoding="utf8")
    lines = [
        line
        for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
        for line in block.splitlines()
    ]
    assert len(lines) > 8
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == "topoi"
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, f"{line}\n{result.output}"
    assert {path.name for path in tmp_path.iterdir()} >= {
        "papers.topoi",
        "proportions.csv",
        "papers.mtx",
        "papers.vocab",
    }


def test_a_new_model_takes_forty_lines():
    (block,) = re.findall(
        r"```python\n(.*?)```",
        (ROOT / "docs" / "add_a_model.md").read_text(encoding="utf8"),
        flags=re.DOTALL,
    )
    assert len(block.splitlines()) <= 40
