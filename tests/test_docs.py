"""The code in README and docs runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCKS = [
    pytest.param(block, id=f"{path.name}-{i}")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for i, block in enumerate(re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf8"), flags=re.DOTALL))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_code_block_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "block", "exec"), {"__name__": "block"})  # an error fails the test
    assert not list(tmp_path.iterdir()), "documentation examples leave no files behind"


def test_a_new_model_takes_fewer_than_forty_lines():
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "add_a_model.md").read_text(encoding="utf8"), flags=re.DOTALL)
    assert len(block.splitlines()) < 40
