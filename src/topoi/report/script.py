"""The script of a page: the files of explorer/ one after the other, in one scope.

``python -m topoi.report.script`` prints it, for a linter.
"""

from __future__ import annotations

from importlib.resources import files

__all__ = ["explorer_script"]

FILES = (
    "start", "data", "state", "gestures", "map", "table", "bars", "tree", "topic", "foldin", "text",
    "others", "prevalence", "search", "edit", "main",
)  # fmt: skip


def explorer_script() -> str:
    """The script, as the page has it."""
    folder = files("topoi.report").joinpath("explorer")
    sources = [folder.joinpath(f"{name}.js").read_text("utf-8") for name in FILES]
    return "(() => {\n" + "\n".join(sources) + "})();\n"


if __name__ == "__main__":
    print(explorer_script())
