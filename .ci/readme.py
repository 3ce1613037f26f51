"""Run the Python code of the README with the topoi that is installed, from an empty folder."""

import os
import re
import tempfile
from pathlib import Path

import topoi

root = Path(__file__).parents[1]
installed = Path(topoi.__file__).resolve()
assert root / "src" not in installed.parents, f"{installed} is not an installed package"
blocks = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(), flags=re.DOTALL)
assert blocks, "README.md has no Python code"
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
    os.chdir(root)
print(f"{len(blocks)} blocks of README.md ran with {installed.parent}")
