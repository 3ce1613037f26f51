"""The code, the commands and the links of README and docs work as they stand."""

from __future__ import annotations

import csv
import re
import shlex
import shutil
import warnings
from contextlib import chdir
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

import topoi
from topoi.cli import app
from topoi.io import registry

ROOT = Path(__file__).parent.parent
BUILT = ("_build", "gallery", "generated")  # folders that `make docs` writes
DOCS = sorted(
    path
    for path in (ROOT / "docs").rglob("*.md")
    if not set(path.relative_to(ROOT).parts) & set(BUILT)
)
PAGES = [*sorted(ROOT.glob("*.md")), *DOCS, ROOT / "benchmarks" / "README.md"]


SUFFIXES = ("txt", "md", "html")


def fenced(path, language):
    """The code blocks of a page in one language."""
    text = path.read_text(encoding="utf8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


BLOCKS = [
    pytest.param(block, id=f"{path.relative_to(ROOT)}-{i}")
    for path in [ROOT / "README.md", *DOCS]
    for i, block in enumerate(fenced(path, "python"))
]


OTHER_LIBRARIES = ("gensim", "tomotopy")  # docs/coming_from: their code runs where they are


@pytest.fixture
def restored_formats():
    """Blocks may register formats; other tests must not see them."""
    before = set(registry.FORMATS)
    yield
    for name in set(registry.FORMATS) - before:
        del registry.FORMATS[name]


@pytest.mark.usefixtures("restored_formats")
@pytest.mark.parametrize("block", BLOCKS)
def test_code_block_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in OTHER_LIBRARIES:
        if re.search(rf"^(import|from) {name}\b", block, flags=re.MULTILINE):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of compiled modules on new Pythons
                pytest.importorskip(name, exc_type=ImportError)
    exec(compile(block, "block", "exec"), {"__name__": "block"})  # an error fails the test
    assert not list(tmp_path.iterdir()), "documentation examples leave no files behind"


def test_a_block_prints_what_the_page_says(capsys):
    """Words to the letter; numbers to a percent, which another version or machine may move."""
    page = (ROOT / "docs" / "coming_from" / "scikit-learn.md").read_text(encoding="utf8")
    shown = re.findall(
        r"```python\n([^`]*)```\n\nThis prints\n\n```text\n(.*?)```", page, re.DOTALL
    )
    assert len(shown) == 1
    for block, said in shown:
        exec(compile(block, "block", "exec"), {"__name__": "block"})
        printed = capsys.readouterr().out
        number = r"-?\d+\.\d+"
        assert re.sub(number, "#", printed) == re.sub(number, "#", said)
        values = [list(map(float, re.findall(number, text))) for text in (printed, said)]
        assert values[0] == pytest.approx(values[1], rel=0.01)


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with tables such as pages name, and a model of them."""
    folder = tmp_path_factory.mktemp("desk")
    with chdir(folder):
        write_tables()
        run(FIRST_MODEL)
    return folder


WITH_COMMANDS = [path for path in [ROOT / "README.md", *DOCS] if fenced(path, "sh")]
FIRST_MODEL = (
    "topoi fit papers.csv --text abstract --doc-names id --n-components 20 -o papers.topoi"
)


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_run(page, desk, tmp_path, monkeypatch):
    """Every line of the sh blocks of a page, in their order.

    Pages that do not fit papers.topoi themselves find it.
    """
    lines = [line for block in fenced(page, "sh") for line in block.splitlines()]
    made = {"papers.topoi"} if any("-o papers.topoi" in line for line in lines) else set()
    shutil.copytree(desk, tmp_path, dirs_exist_ok=True, ignore=lambda *_: made)
    monkeypatch.chdir(tmp_path)
    for line in lines:
        run(line)
        written = re.search(r" -o (\S+)", line)
        assert written is None or Path(written[1]).exists(), line


def test_most_guides_have_commands():
    assert len(WITH_COMMANDS) > 10


def run(line):
    program, *arguments = shlex.split(line)
    assert program == "topoi"
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, f"{line}\n{result.output}"


def write_tables():
    """papers.csv and new.csv: 40 documents of two fields; the same in files of a folder, articles.

    There is a file among them that is no text.
    """
    fields = [["markov", "chains", "states"], ["genes", "cells", "proteins"]]
    people = ["Ann Lee", "Bo Berg"]
    Path("edits.json").write_text('{"names": {"7": "tax"}, "merge": [[3, 7]], "delete": [5]}')
    Path("seeds.json").write_text('{"biology": ["genes", "cells"], "chance": ["markov"]}')
    for name, first in (("papers.csv", "p"), ("new.csv", "n")):
        with open(name, "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["id", "abstract", "authors", "cites", "field", "year"])
            for i in range(40):
                words = " ".join(fields[i % 2][(i + j) % 3] for j in range(8))
                authors, cited = f"{people[i % 2]}; Cy Dahl", f"{first}{(i + 2) % 40}"
                table.writerow([f"{first}{i}", words, authors, cited, "AB"[i % 2], 2000 + i % 4])
                file_of_its_own = Path("articles", "AB"[i % 2], f"p{i}.{SUFFIXES[i % 3]}")
                file_of_its_own.parent.mkdir(parents=True, exist_ok=True)
                file_of_its_own.write_text(f"<p>{words}</p>" if i % 3 == 2 else words)
    Path("articles", "scan.pdf").write_bytes(b"%PDF-1.7")


def test_a_new_model_takes_forty_lines():
    model = fenced(ROOT / "docs" / "extend.md", "python")[-1]
    assert len([line for line in model.splitlines() if line.strip()]) <= 40


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    """Files exist, and headings of pages that links name."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf8")):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = page.parent / name if name else page
        assert path.exists(), f"{page.name} links to {target}"
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path), f"{page.name} links to {target}"


def anchors(path):
    """What links can name in a page: its headings as GitHub spells them, and its <a id>."""
    text = path.read_text(encoding="utf8")
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    named = re.findall(r'<a id="([^"]+)"', text)
    return {heading.replace(" ", "-") for heading in plain} | set(named)


def test_the_reference_lists_every_public_name():
    """The modules of topoi, and what they offer, in docs/reference/api.md."""
    listed = set(re.findall(r"^   ([\w.]+)$", (ROOT / "docs/reference/api.md").read_text(), re.M))
    offered = {
        f"{name}.{inner}"
        for name in topoi.MODULES
        for inner in getattr(topoi, name).__all__
        if callable(getattr(getattr(topoi, name), inner))
    } | (set(topoi.__all__) - set(topoi.MODULES))
    assert offered <= listed
    for name in listed - offered:  # what stands in modules that `topoi` does not offer
        module, _, inner = f"topoi.{name}".rpartition(".")
        assert hasattr(import_module(module), inner), name


def test_the_questions_of_the_start_page_are_answered_there():
    """Each in one click, by a page with code."""
    page = (ROOT / "docs/index.md").read_text(encoding="utf8")
    for question in (
        "Which topics grew since 2015?",
        "Which authors are close to X?",
        "I have 10,000 labelled tickets.",
        "My corpus does not fit in memory.",
        "I use sklearn's LDA today.",
    ):
        answer = re.search(rf"\| {re.escape(question)} \| \[[^]]+\]\(([\w/-]+\.md)", page)
        assert answer is not None, question
        assert fenced(ROOT / "docs" / answer[1], "python")


def test_readme_fits_on_a_page():
    assert len((ROOT / "README.md").read_text(encoding="utf8").splitlines()) <= 130


def test_nothing_names_a_folder_outside_the_repository():
    outside = "../" + "shared"
    sources = [ROOT / "Makefile", ROOT / "pyproject.toml", *PAGES]
    for folder in ("src", "tests", "benchmarks", "experiments", "fuzz"):
        sources += (ROOT / folder).rglob("*.py")
    found = [path for path in sources if outside in path.read_text(encoding="utf8")]
    assert not found


def test_files_that_the_text_names_exist():
    """Paths with a folder, in pages, docstrings and comments: from the root or the package."""
    package = ROOT / "src" / "topoi"
    sources = [*ROOT.glob("*.md"), *DOCS, *package.rglob("*.py"), *(ROOT / "tests").glob("*.py")]
    named = re.compile(r"(?<![\w/.*{-])((?:[a-z_]+/)+[\w-]+\.(?:md|py))\b")
    homes = [ROOT, package, package / "infer"]
    folders = {path.name for home in homes for path in home.iterdir() if path.is_dir()}
    missing = {
        f"{page.relative_to(ROOT)}: {name}"
        for page in sources
        for name in named.findall(page.read_text(encoding="utf8"))
        if name.split("/")[0] in folders
        if not any((home / name).exists() for home in [*homes, page.parent])
    }
    assert missing == set()


def test_functions_that_the_equations_name_exist():
    """`Code:` lines of docs/algorithms.md: files, each with names that it defines."""
    text = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf8")
    lines = re.findall(r"^Code: (.*(?:\n\S.*)*)", text, re.M)
    assert len(lines) > 20
    missing, source = [], ""
    for name in re.findall(r"`([\w./]+)`", "\n".join(lines)):
        if name.endswith(".py"):
            inside = ROOT / "src" / "topoi" / name
            source = (inside if inside.exists() else ROOT / name).read_text(encoding="utf8")
        elif not re.search(rf"\b(def|class) {name.split('.')[-1]}\b|^{name}\b.*=", source, re.M):
            missing.append(name)
    assert missing == []
