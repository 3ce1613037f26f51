"""The gallery: `make docs` runs the examples; here each is read, for what no run shows."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path

import pytest

import topoi

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
ORDER = import_module("gallery_order").ORDER
sys.path.pop(0)

# Modules of topoi that the documentation names besides topoi itself.
PUBLIC = {
    "topoi": set(topoi.__all__),
    "topoi.explore.adapters": set(import_module("topoi.explore.adapters").__all__),
    **{f"topoi.{name}": set(dir(getattr(topoi, name))) for name in topoi.MODULES},
}


def topoi_names(tree):
    """(module, name) of everything that an example takes from topoi by import or attribute."""
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "topoi":
                    modules[alias.asname or alias.name] = alias.name
        elif isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "topoi":
            for alias in node.names:
                yield node.module, alias.name
                if f"{node.module}.{alias.name}" in PUBLIC:
                    modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            module = modules.get(ast.unparse(node.value), ast.unparse(node.value))
            if module in PUBLIC:
                yield module, node.attr


def test_the_check_of_names_sees_them():
    tree = ast.parse(
        "import topoi\nfrom topoi import plot\nplot.topics(1)\ntopoi.datasets.make_lda()"
    )
    assert set(topoi_names(tree)) == {
        ("topoi", "plot"),
        ("topoi", "datasets"),
        ("topoi.plot", "topics"),
        ("topoi.datasets", "make_lda"),
    }


def test_the_gallery_has_an_order():
    assert sorted(ORDER) == [path.stem.removeprefix("plot_") for path in EXAMPLES]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_compiles_and_uses_public_names_only(path):
    tree = ast.parse(path.read_text(encoding="utf8"))
    compile(tree, path.name, "exec")
    unknown = {
        f"{module}.{name}" for module, name in topoi_names(tree) if name not in PUBLIC[module]
    }
    assert not unknown
    private = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not [name for name in private if name.startswith("_")]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_an_introduction_and_prose_between_its_cells(path):
    text = path.read_text(encoding="utf8")
    title, line, blank, *introduction = ast.get_docstring(ast.parse(text)).splitlines()
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert blank == ""
    assert len(" ".join(introduction).split()) >= 25
    assert text.count("\n# %%\n# ") >= 3
    assert "http" not in text, "examples need no network"
