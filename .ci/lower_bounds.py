"""Print the oldest versions that pyproject.toml allows, as requirements such as numpy==1.26."""

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
print("\n".join(requirement.replace(">=", "==") for requirement in project["dependencies"]))
