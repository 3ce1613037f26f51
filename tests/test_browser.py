"""The page in a real browser: its style and its script apply, and nothing else does."""

from __future__ import annotations

import re

import numpy as np
import pytest
from browser import Tab, chromium, needs_browser

from topoi import AuthorTopicModel, datasets
from topoi.report.markup import Html, content_policy, element, inline, json_block

pytestmark = needs_browser
INJECTED = {
    "script": "<script>document.title = 'taken over'</script>",
    "handler": "<img src='data:,' onerror=\"document.title = 'taken over'\">",
    "frame": "<iframe srcdoc=\"<script>parent.document.title = 'taken over'</script>\"></iframe>",
    "style": "<style>body { display: none }</style>",
    "style attribute": "<p id='victim' style='position: fixed; inset: 0'>x</p>",
    "stylesheet": "<link rel='stylesheet' href='data:text/css,body{display:none}'>",
    "image": "<img src='http://127.0.0.1:9/pixel.png'>",
    "form": (
        "<form action='http://127.0.0.1:9/'><input"
        " name='x'></form><script>document.forms[0].submit()</script>"
    ),
}


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of a model with a map, a curve, words, documents, authors."""
    corpus, _ = datasets.make_authors()
    path = tmp_path_factory.mktemp("report") / "r.html"
    AuthorTopicModel(5, max_iter=6, evaluate_every=2, tol=0).fit(corpus).report(path)
    return path


@pytest.mark.parametrize("java_script_enabled", [True, False])
def test_a_page_is_shown_with_its_style_and_without_a_complaint(
    browser, report, java_script_enabled
):
    with Tab(browser, report, java_script_enabled=java_script_enabled) as tab:
        assert tab.said == []
        assert tab.asked == [report.as_uri()]
        assert tab.page.locator(".map circle").count() == 5
        assert tab.page.locator(".sheet").first.is_visible() != java_script_enabled
        assert tab.page.locator(".panel").count() == java_script_enabled


def test_bars_are_as_wide_as_their_class_says(browser, report):
    with Tab(browser, report) as tab:
        widths = tab.value(
            "[...document.querySelectorAll('table .bar')].map(b => [b.className,"
            " getComputedStyle(b).backgroundSize])"
        )
    assert len(widths) == 5
    for name, width in widths:
        assert width.startswith(re.search(r"\bv(\d+)", name)[1] + "%")


@pytest.mark.parametrize("kind", INJECTED)
def test_the_policy_stops_what_gets_into_a_page(browser, report, tmp_path, kind):
    """Nothing does get in; this is the second lock."""
    page = tmp_path / "r.html"
    page.write_text(
        report.read_text("utf-8").replace("</h1>", f"</h1>{INJECTED[kind]}", 1), "utf-8"
    )
    with Tab(browser, page) as tab:
        assert tab.value("document.title").endswith("topics of 300 documents")
        assert tab.value("location.href").removesuffix("#") == page.as_uri()
        assert tab.style_of("body", "display") == "block"
        assert any("Content Security Policy" in line for line in tab.said), tab.said
        if kind == "style attribute":
            assert tab.style_of("#victim", "position") == "static"


def test_the_same_script_would_run_without_the_policy(browser, report, tmp_path):
    """So the test above can fail."""
    source = re.sub(r"<meta http-equiv=[^>]*>", "", report.read_text("utf-8"), count=1)
    page = tmp_path / "r.html"
    page.write_text(source.replace("</h1>", f"</h1>{INJECTED['script']}", 1), "utf-8")
    with Tab(browser, page) as tab:
        assert tab.value("document.title") == "taken over"


def test_a_hostile_model_does_not_run_a_script(browser, tmp_path):
    corpus, _ = datasets.make_authors()
    model = AuthorTopicModel(3, max_iter=2).fit(corpus)
    model.n_iter_ = INJECTED["script"]
    model.author_names_ = np.array(
        [f"{INJECTED['handler']}{i}" for i in range(len(model.author_names_))]
    )
    model.name_topics({0: INJECTED["frame"]})
    model.report(tmp_path / "r.html")
    with Tab(browser, tmp_path / "r.html", "#topic=0") as tab:
        assert INJECTED["frame"] in tab.page.locator(".panel h2").inner_text()
        assert INJECTED["handler"] in tab.page.locator(".panel").inner_text()
        tab.page.locator("nav a", has_text="About").click()
        tab.settle()
        assert INJECTED["script"] in tab.page.locator(".panel").inner_text()
        assert tab.value("document.images.length + document.querySelectorAll('iframe').length") == 0
        assert tab.value("document.scripts.length") == 2
        assert tab.said == []


def test_a_script_of_the_page_runs_by_its_hash_and_reads_embedded_data(browser, tmp_path):
    data = {
        "</script><script>document.title = 'taken over'</script>": [
            "<!--<script>",
            "\u2028\u2029",
            "&lt;",
            "\x1b\ud800",
        ]
    }
    script = (
        "document.title = JSON.stringify(JSON.parse(document.getElementById('data').textContent))"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        content_policy(scripts=[script]),
        element("title", "not run"),
    )
    page = tmp_path / "p.html"
    page.write_text(
        Html("<!doctype html>")
        + element("html", head, element("body", json_block("data", data), inline("script", script)))
    )
    with Tab(browser, page) as tab:
        assert tab.said == []
        assert (
            tab.value(
                "JSON.parse(document.getElementById('data').textContent)"
                "[Object.keys(JSON.parse(document.title))[0]][0]"
            )
            == "<!--<script>"
        )
        assert tab.value("document.scripts.length") == 2
