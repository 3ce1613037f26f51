"""Parts of the reference that come from the code itself: the command, file formats, model files.

Each directive writes Markdown from what `--help`, the registry of formats and the schema of model
files go by, so that the pages cannot differ from them.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

PLAIN = {"f4": "float32", "f8": "float64", "i4": "int32", "i8": "int64", "U": "text", "b1": "flag"}
MODELS = ("LDA", "LatentDirichletAllocation", "AuthorTopicModel", "RelationalTopicModel")
MODELS += ("LabeledLDA", "TopicModel")


def public_names() -> Iterator[str]:
    """Every name that topoi offers, as people write it: `topoi.LDA`, `topoi.evaluate.npmi`."""
    import topoi

    for name in topoi.__all__:
        if name in topoi.MODULES:
            inside = getattr(topoi, name).__all__
            yield from (f"topoi.{name}.{inner}" for inner in inside)
        else:
            yield f"topoi.{name}"


def members_of_classes() -> dict[str, list[tuple[str, str]]]:
    """What topoi defines of each public class: ("method" or "property", name).

    Names of what is learned (`components_`) are left out: the class describes them itself.
    """
    found = {}
    for full_name in public_names():
        module, _, name = full_name.rpartition(".")
        kind = getattr(_module(module), name)
        if inspect.isclass(kind):
            found[full_name] = [
                ("property" if isinstance(value, property) else "method", name)
                for name, value in inspect.getmembers_static(kind)
                if not name.startswith("_")
                and not name.endswith("_")
                and (inspect.isfunction(_bare(value)) or isinstance(value, property))
                and _bare(value).__module__.startswith("topoi")
                and inspect.getdoc(getattr(kind, name))
            ]
    return found


def _module(name: str) -> Any:
    """A module by the name that people use: `topoi.formats` is at home elsewhere."""
    import topoi

    return topoi if name == "topoi" else getattr(topoi, name.removeprefix("topoi."))


def _bare(value: Any) -> Any:
    """The function inside a property, a class method or scikit-learn's `available_if`."""
    for inside in ("fget", "__func__", "fn"):
        value = getattr(value, inside, value)
    return value


def command_pages() -> Iterator[str]:
    """A section for each command, from the objects that print `--help`."""
    import typer

    from topoi.cli import app

    group = typer.main.get_command(app)
    context = typer.Context(group, info_name="topoi")
    for name, command in group.commands.items():
        own = typer.Context(command, info_name=name, parent=context)
        usage = " ".join(command.collect_usage_pieces(own))
        yield f"## topoi {name}\n\n{_paragraphs(command.help)}\n"
        yield f"```text\ntopoi {name} {usage}\n```\n"
        by_panel: dict[str, list[Any]] = {}
        for parameter in command.params:
            panel = getattr(parameter, "rich_help_panel", None)
            usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
            by_panel.setdefault(panel or usual, []).append(parameter)
        for panel, parameters in by_panel.items():
            records = [parameter.get_help_record(own) for parameter in parameters]
            yield table([panel, ""], [(f"`{names}`", help) for names, help in records])


def _paragraphs(text: str | None) -> str:
    return "\n\n".join(
        " ".join(part.split()) for part in inspect.cleandoc(text or "").split("\n\n")
    )


def format_pages() -> Iterator[str]:
    """Tables of the formats that `topoi.read` and `topoi.write` know."""
    from topoi.io.registry import FORMATS, TEXT_FORMATS

    yield "## Files of documents\n"
    yield table(
        ["`--format`", "suffixes"],
        [(f"`{name}`", _codes(suffixes)) for name, suffixes in TEXT_FORMATS.items()],
    )
    yield "## Files of counts\n"
    yield table(
        ["`--format`", "suffixes", "files", "keeps besides counts and words", "options"],
        [
            (
                f"`{known.name}`",
                _codes(known.suffixes),
                known.description,
                ", ".join(sorted(known.keeps)),
                _codes(sorted(known.options)),
            )
            for known in FORMATS.values()
        ],
    )


def schema_pages() -> Iterator[str]:
    """A table of the entries that all model files have, and one of each model's own."""
    import topoi
    from topoi.models.schema import MAY_LACK, schema_of

    entries = {name: schema_of(getattr(topoi, name)).entries for name in MODELS}
    for_all = {name for name in entries["LDA"] if all(name in known for known in entries.values())}
    yield "### Entries of every model\n"
    yield _entries(entries["LDA"], for_all, MAY_LACK)
    for model, known in entries.items():
        yield f"### Further entries of {model}\n"
        yield _entries(known, set(known) - for_all, MAY_LACK)


def _entries(known: Any, names: set[str], may_lack: Iterable[str]) -> str:
    rows = []
    for name, entry in known.items():
        if name in names:
            group, dot, _ = name.partition(".")
            optional = entry.optional or (dot and group in may_lack)
            rows.append((f"`{name}`", *_kind(entry), "may be absent" if optional else ""))
    return table(["entry", "type", "shape", "values", ""], rows)


def _kind(entry: Any) -> tuple[str, str, str]:
    """Type, shape and values of an entry in words."""
    types = getattr(entry, "types", None)
    low = -math.inf if entry.low is None else entry.low
    high = math.inf if entry.high is None else entry.high
    between = f"{low:g} to {high:g}" if math.isfinite(low) or math.isfinite(high) else ""
    if types is None:
        words = ", ".join(f'`"{choice}"`' for choice in entry.choices)
        kind = {"whole": "whole number", "text": "text", "flag": "true or false"}
        return kind.get(entry.kind, "number"), "", " or ".join(filter(None, [words, between]))
    listed = types.split()
    shown = " or ".join(PLAIN.get(kind, kind) for kind in listed) if len(listed) < 4 else "names"
    shape = "any" if entry.shape is None else f"({', '.join(map(str, entry.shape))})"
    sums = {"rows": "rows sum to 1", "all": "sums to 1"}.get(entry.to_one, between)
    return shown, shape, "; ".join(filter(None, [sums, "all different" * entry.different]))


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def table(heads: list[str], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    cells = ([" ".join(cell.split()).replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells) + "\n"


def directive(pages: Callable[[], Iterator[str]]) -> type[SphinxDirective]:
    """A directive that stands for what `pages` writes."""

    class FromCode(SphinxDirective):
        def run(self) -> list[nodes.Node]:
            return self.parse_text_to_nodes("\n".join(pages()), allow_section_headings=True)

    return FromCode


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("topoi-commands", directive(command_pages))
    app.add_directive("topoi-formats", directive(format_pages))
    app.add_directive("topoi-model-files", directive(schema_pages))
    return {"parallel_read_safe": True}
