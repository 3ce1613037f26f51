"""Rules of the house that no other tool checks: which way imports go, and how long things are.

They are in docs/design.md, under "Layout".
"""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import topoi

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "topoi"
# Each imports only those before it.
ORDER = [
    *(
        "version",
        "choices",
        "tuning",
        "free_memory",
        "printable",
        "rules",
        "storage",
        "corpus",
        "io",
        "datasets",
    ),
    *(
        "graph",
        "infer",
        "protocols",
        "evaluate",
        "explore",
        "report",
        "plot",
        "models",
        "distributed",
        "cli",
    ),
    "__main__",
]
MAX_LINES = 350
MAX_PARAMETERS = 12
MANY_PARAMETERS = {
    "io/read.py": {"read"},  # the one way in for documents of every form, all but one by keyword
}
INNERMOST = "infer/kernels/"  # an edge's update is inlined, and takes arrays one by one
FIELDS_OF_NAMED_TUPLES = {"_replace", "_asdict", "_fields"}  # public, whatever they look like
OF_OTHER_LIBRARIES = {  # names that have no public form
    "infer/kernels/primitives.py": {"_cache"},  # Numba: where a dispatcher keeps its cache
    "io/patterns.py": {"_constants", "_parser"},  # re: the tree of a regular expression
}

TREES = {
    path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text())
    for path in sorted(SOURCE.rglob("*.py"))
}


def module_name(file):
    return re.sub(r"(/__init__)?\.py$", "", f"topoi/{file}").replace("/", ".")


MODULES = {module_name(file): file for file in TREES}


def home(name):
    """The module that a dotted name belongs to; names that `topoi` offers belong elsewhere."""
    first, _, rest = name.partition(".")
    if first != "topoi":
        return None
    name = f"{topoi._HOMES[rest]}.{rest}" if rest in topoi._HOMES else name
    while name not in MODULES:
        name = name.rpartition(".")[0]
    return name


def imports(tree):
    """Names that a module imports: at the top, inside functions, or for types only."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def registered(tree):
    """Modules that a registry names, to load an entry when it is asked for."""
    strings = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {text for text in strings if text in MODULES and text != "topoi"}


def imported_modules(file):
    return {found for name in imports(TREES[file]) if (found := home(name))} - {module_name(file)}


def layer(module):
    """The place of a module in ORDER; `topoi` itself offers everything, so only the top uses it."""
    return ORDER.index("cli") if module == "topoi" else ORDER.index(module.split(".")[1])


def test_imports_go_one_way():
    upward = [
        f"{file} imports {found}"
        for file in TREES
        for found in imported_modules(file) | registered(TREES[file])
        if file != "__init__.py" and layer(found) > layer(module_name(file))
    ]
    assert upward == []


def test_no_module_imports_itself_by_way_of_others():
    graph = {
        module: imported_modules(file) for module, file in MODULES.items() if module != "topoi"
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_the_layout_in_the_documents_is_the_order_of_imports():
    text = (ROOT / "docs" / "design.md").read_text().split("## Layout")[1].split("\n## ")[0]
    block = "\n".join(re.findall(r"^    .*", text, re.M))
    shown = re.findall(r"^    (\w+)(?:/|\.py)", block, re.M)
    present = {file.split("/")[0].removesuffix(".py") for file in TREES} - {"__init__", "__main__"}
    assert shown == [name for name in ORDER if name in present]


def test_no_file_is_long():
    lines = {file: len((SOURCE / file).read_text().splitlines()) for file in TREES}
    assert {file: n for file, n in lines.items() if n > MAX_LINES} == {}


def parameters(function):
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return len(named) + sum(star is not None for star in (given.vararg, given.kwarg))


def constructors_of_estimators(tree):
    """They take what scikit-learn calls parameters, one by one: it sets and clones them by name."""
    return {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for part in node.body
        if isinstance(part, ast.FunctionDef) and part.name == "__init__"
        if any("store" in ast.unparse(line) for line in part.body)
    }


def test_no_function_has_many_parameters():
    too_many = [
        f"{file}: {node.name} has {parameters(node)} parameters"
        for file, tree in TREES.items()
        for estimators in [constructors_of_estimators(tree)]
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and parameters(node) > MAX_PARAMETERS
        and not file.startswith(INNERMOST)
        and id(node) not in estimators
        and node.name not in MANY_PARAMETERS.get(file, ())
    ]
    assert too_many == []


def is_private(name):
    return re.match(r"_[a-zA-Z]", name) is not None and name not in FIELDS_OF_NAMED_TUPLES


def private_names_of_others(tree):
    """Private names taken from other modules, or from objects other than `self`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names if is_private(alias.name))
        elif isinstance(node, ast.Attribute) and is_private(node.attr):
            if ast.unparse(node.value) not in ("self", "cls", "super()"):
                yield node.attr
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if re.search(r"^(get|has|set|del)attr$|__dict__\.\w+$", called):
                values = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
                yield from (v for v in values if isinstance(v, str) and is_private(v))


def test_no_module_uses_private_names_of_others():
    """Modules of models/ share one object, the model, and may: it is one thing in several files."""
    used = [
        f"{file}: {name}"
        for file, tree in TREES.items()
        if not file.startswith("models/")
        for name in private_names_of_others(tree)
        if name not in OF_OTHER_LIBRARIES.get(file, ())
    ]
    assert used == []
