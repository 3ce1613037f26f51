"""The page on phones, in the dark, on paper, for keyboards and screen readers, in notebooks."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from browser import Tab, chromium, needs_browser

from topoi import LDA, AuthorTopicModel, datasets

pytestmark = needs_browser
VIEWS = [
    "",
    "#topic=1&relevance=0.3",
    "#word=w03",
    "#page=text",
    "#page=edits",
    "#author=author01",
]
# Contrast of every text with what is behind it (WCAG 2).
CONTRAST = """() => {
  const parse = (colour) => {
    const context = document.createElement("canvas").getContext("2d");
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => {
    const part = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const poor = [];
  for (const element of document.body.querySelectorAll("*:not(svg *):not(script)")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !element.checkVisibility()) continue;
    const [a, b] = [luminance(parse(getComputedStyle(element).color)), luminance(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) poor.push([element.tagName, element.textContent.slice(0, 30), contrast]);
  }
  return poor;
}"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    corpus, _ = datasets.make_authors()
    path = tmp_path_factory.mktemp("everywhere") / "r.html"
    AuthorTopicModel(8, max_iter=6, evaluate_every=2, tol=0).fit(corpus).report(path)
    return path


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", [390, 800, 1280])
def test_nothing_is_wider_than_the_screen(browser, page, width, view):
    with Tab(browser, page, view, width=width) as tab:
        assert tab.value("document.documentElement.scrollWidth") <= width
        assert tab.said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(browser, page, scheme):
    for view in VIEWS:
        with Tab(browser, page, view, color_scheme=scheme) as tab:
            assert tab.value(CONTRAST) == []


def test_contrast_is_measured(browser, page):
    """So the test above can fail."""
    with Tab(browser, page) as tab:
        tab.value("document.querySelector('h1').style.color = '#aaa'")
        assert [found[0] for found in tab.value(CONTRAST)] == ["H1"]


def test_on_a_phone_a_topic_takes_the_screen_and_leads_back(browser, page):
    with Tab(browser, page, width=390, height=800, has_touch=True) as tab:
        tab.page.locator("table.topics a").nth(5).click()
        tab.page.locator(".atlas").wait_for(state="hidden")
        assert tab.value("window.scrollY") == 0
        tab.page.get_by_role("link", name="All topics").click()
        tab.page.locator(".atlas").wait_for()
        heights = tab.value("[...document.querySelectorAll('.track')].map(b => b.clientHeight)")
        assert max(heights, default=0) < 20


def test_everything_that_acts_has_a_name(browser, page):
    named = "input, select, textarea, button, a, svg, [role]"
    for view in VIEWS:
        with Tab(browser, page, view) as tab:
            nameless = tab.value(
                f"""[...document.querySelectorAll("{named}")].filter((e) => e.checkVisibility()
                && !(e.ariaLabel || e.labels?.length || e.textContent.trim() || e.title)
                ).map((e) => e.outerHTML.slice(0, 80))"""
            )
            assert nameless == []
            assert tab.page.get_by_role("complementary").count() == 1
            assert tab.page.locator("h1").count() == 1


def test_the_tab_key_reaches_every_part(browser, page):
    with Tab(browser, page, "#topic=1") as tab:
        reached = set()
        for _ in range(120):
            tab.page.keyboard.press("Tab")
            reached.add(
                tab.value(
                    "document.activeElement.closest('.search, nav, .map, .tools, thead, tbody,"
                    " .edit, .slider, .scored')?.className"
                    " || document.activeElement.closest('thead, tbody')?.tagName"
                )
            )
    assert {"search", "map", "tools", "THEAD", "edit", "slider", "scored"} <= reached


def test_a_page_prints_on_few_sheets_with_every_topic(browser, tmp_path):
    corpus, _ = datasets.make_lda(200, 400, 25, random_state=0)
    LDA(25, max_iter=5).fit(corpus).report(tmp_path / "r.html")
    with Tab(browser, tmp_path / "r.html", "#topic=3") as tab:
        printed = tab.page.pdf(format="A4")
        tab.page.emulate_media(media="print")
        assert tab.page.locator(".sheet").count() == 25
        assert tab.page.locator(".sheet").first.is_visible()
        assert not tab.page.locator(".panel").is_visible()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) <= 8


def test_a_notebook_cell_shows_the_page(browser, tmp_path):
    corpus, _ = datasets.make_lda(60, 40, 4, random_state=0)
    shown = LDA(4, max_iter=5).fit(corpus).explore(height=500)
    assert str(shown).startswith("<!doctype html>")
    notebook = tmp_path / "n.html"
    notebook.write_text(f"<!doctype html><body>{shown._repr_html_()}", "utf-8")
    with Tab(browser, notebook) as tab:
        frame = tab.page.frame_locator("iframe")
        frame.locator("table.topics a").first.click()
        assert frame.locator(".panel header p").first.inner_text().startswith("Topic")
        frame.locator("nav a", has_text="Topics of a text").click()
        frame.locator("textarea").fill("w01 w02")
        frame.locator(".panel .scored").first.wait_for()
        assert tab.said == []


def test_many_topics_and_documents_make_a_page_of_a_few_megabytes(browser, tmp_path):
    """200 topics and 50,000 documents: a sample is on the page, and it says so."""
    random = np.random.default_rng(0)
    corpus, _ = datasets.make_lda(300, 5000, 20, doc_length=60, random_state=0)
    model = LDA(200, max_iter=2, schedule="asynchronous").fit(corpus)
    model.doc_topic_ = random.dirichlet(np.full(200, 0.01), 50_000)
    names = np.array([f"A title of some words {i}" for i in range(50_000)])
    ones = np.ones(50_000)
    model.documents_ = replace(model.documents_, tokens=ones, words=ones, names=names, fit=None)
    model.report(tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size < 5_000_000
    with Tab(browser, tmp_path / "r.html", "#document=A title of some words 0") as tab:
        assert "of 50,000 documents" in tab.page.locator(".panel").inner_text()
        assert tab.said == []
