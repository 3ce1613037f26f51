"""The report in a real browser: its style applies, and nothing else does."""

from __future__ import annotations

import re

import numpy as np
import pytest
from browser import CHROMIUM, Browser

from topoi import AuthorTopicModel, datasets
from topoi.report.markup import Html, content_policy, element, inline, json_block

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
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
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of a model that shows everything: a map, a curve, words, documents, authors."""
    corpus, _ = datasets.make_authors()
    path = tmp_path_factory.mktemp("report") / "r.html"
    AuthorTopicModel(5, max_iter=6, evaluate_every=2, tol=0).fit(corpus).report(path)
    return path


def style_of(browser, selector, property):
    return browser.value(
        f"getComputedStyle(document.querySelector({selector!r})).getPropertyValue({property!r})"
    )


def test_a_page_is_shown_with_its_style_and_without_a_complaint(browser, report):
    browser.open(report)
    assert browser.said == []
    assert browser.value("document.styleSheets.length") == 1
    assert style_of(browser, ".parts", "display") == "flex"
    assert style_of(browser, "svg polyline", "fill") == "none"


def test_bars_are_as_wide_as_their_class_says(browser, report):
    browser.open(report)
    widths = browser.value(
        "[...document.querySelectorAll('.bar')].map(b => [b.className,"
        " getComputedStyle(b).backgroundSize])"
    )
    assert len(widths) > 50
    assert {re.fullmatch(r"bar v(\d+)", name)[1] + "% 100%" for name, _ in widths} == {
        width for _, width in widths
    }
    assert all(width.startswith(name.removeprefix("bar v") + "%") for name, width in widths)


@pytest.mark.parametrize("kind", INJECTED)
def test_the_policy_stops_what_gets_into_a_page(browser, report, tmp_path, kind):
    """Nothing does get in; this is the second lock."""
    page = tmp_path / "r.html"
    page.write_text(
        report.read_text("utf-8").replace("</h1>", f"</h1>{INJECTED[kind]}", 1), "utf-8"
    )
    browser.open(page)
    title = browser.value("document.title")
    assert title.endswith("topics of 300 documents")
    assert browser.value("location.href") == page.as_uri()
    assert style_of(browser, "body", "display") == "block"
    assert any("Content Security Policy" in line for line in browser.said), browser.said
    if kind == "style attribute":
        assert style_of(browser, "#victim", "position") == "static"


def test_the_same_script_would_run_without_the_policy(browser, report, tmp_path):
    """So the test above can fail."""
    source = re.sub(r"<meta http-equiv=[^>]*>", "", report.read_text("utf-8"), count=1)
    page = tmp_path / "r.html"
    page.write_text(source.replace("</h1>", f"</h1>{INJECTED['script']}", 1), "utf-8")
    browser.open(page)
    assert browser.value("document.title") == "taken over"


def test_a_hostile_model_does_not_run_a_script(browser, tmp_path):
    corpus, _ = datasets.make_authors()
    model = AuthorTopicModel(3, max_iter=2).fit(corpus)
    model.n_iter_ = INJECTED["script"]
    model.author_names_ = np.array(
        [f"{INJECTED['handler']}{i}" for i in range(len(model.author_names_))]
    )
    model.report(tmp_path / "r.html")
    browser.open(tmp_path / "r.html")
    assert browser.said == []
    assert browser.value("document.scripts.length + document.images.length") == 0
    assert INJECTED["script"] in browser.value("document.body.innerText")


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
    browser.open(page)
    assert browser.said == []
    assert (
        browser.value(
            "JSON.parse(document.getElementById('data').textContent)"
            "[Object.keys(JSON.parse(document.title))[0]][0]"
        )
        == "<!--<script>"
    )
    assert browser.value("document.scripts.length") == 2
