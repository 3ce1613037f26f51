"""The site: `make docs` builds it from docs/, examples/ and the docstrings, without a network."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from reference_pages import members_of_classes  # noqa: E402 - it is found by the line above

import topoi  # noqa: E402
from topoi.version import __version__  # noqa: E402

for name in topoi.MODULES:  # autodoc imports them by the names that people use
    sys.modules.setdefault(f"topoi.{name}", getattr(topoi, name))

project = "topoi"
author = "The topoi developers"
copyright = "The topoi developers"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx_design",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "reference_pages",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.md5", "gallery/*.zip"]
templates_path = ["_templates"]
smartquotes = False  # "learn" is code
nitpicky = True
nitpick_ignore_regex = [("py:obj", r"\w+_")]  # what is learned: its class describes it

# Pages are Markdown, written so that they can be read without Sphinx, too.
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 4
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

# The API, from the docstrings.
autosummary_generate = True
autosummary_context = {"members_of": members_of_classes()}
autodoc_typehints = "none"  # docstrings say the types
default_role = "code"
numpydoc_show_class_members = False  # the template lists them

# Examples run at each build, on corpora that ship or are made.
sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "gallery_order.ReadingOrder",
    # Tables, texts in colours and explorers are shown; figures are, without the name of their axes.
    "capture_repr": ("_repr_html_",),
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1_000_000,  # times of one run on one machine mean nothing
    "write_computation_times": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
}
os.environ.setdefault("MPLBACKEND", "agg")

html_theme = "pydata_sphinx_theme"
html_title = "topoi"
html_show_sourcelink = False
html_show_search_summary = False  # a page opened as a file cannot load the others
html_copy_source = False
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "topoi"},
    "navbar_end": ["theme-switcher"],
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "search_as_you_type": True,
    "secondary_sidebar_items": ["page-toc"],
}


def as_sphinx_reads_it(app: Sphinx, docname: str, source: list[str]) -> None:
    """Anchors and files outside of docs/, which pages name in the way of plain Markdown."""
    text = re.sub(r'<a id="([^"]+)"></a>', r"[]{#\1}", source[0])
    text = text.replace("](../benchmarks/README.md", "](benchmarks.md")
    source[0] = re.sub(r"\]\(((?:\.\./)*)\.\./examples/(\w+)\.py\)", r"](\1gallery/\2.rst)", text)


def setup(app: Sphinx) -> None:
    app.connect("source-read", as_sphinx_reads_it)
