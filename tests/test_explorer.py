"""What people do with the page of a model, in a real browser."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from browser import Tab, chromium, needs_browser

import topoi
from topoi import LDA

pytestmark = needs_browser
THEMES = [
    "cat dog bird pet fish paw tail fur vet collar",
    "bank stock market price bond trade loan rate fund share",
    "rain snow wind cloud storm sun frost heat fog hail",
]


@pytest.fixture(scope="module")
def model():
    """Three themes with words in common, dates, labels, authors and texts."""
    random = np.random.default_rng(0)
    texts, labels = [], []
    for d in range(60):
        theme = d % 3
        weights = np.where(np.arange(3) == theme, 0.85, 0.075)
        words = [random.choice(THEMES[random.choice(3, p=weights)].split()) for _ in range(40)]
        texts.append(" ".join(words).capitalize() + ".")
        labels.append(("pets", "money", "weather")[theme])
    corpus = topoi.read(
        texts,
        keep_text=True,
        vectorizer=topoi.make_vectorizer(max_df=1.0),
        doc_names=[f"text {d}" for d in range(60)],
        labels=labels,
        dates=[str(2001 + d % 5) for d in range(60)],
    )
    return LDA(3, random_state=1).fit(corpus)


@pytest.fixture(scope="module")
def page(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("explorer") / "r.html"
    model.report(path)
    return path


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture
def tab(browser, page):
    with Tab(browser, page) as shown:
        yield shown
        assert shown.said == []
        assert shown.asked == [page.as_uri()]


def words_shown(tab):
    return tab.page.locator("table.words tbody th").all_inner_texts()


def test_a_topic_is_selected_everywhere_at_once_and_back_works(tab, model):
    tab.page.locator("#circle-1").click()
    tab.settle()
    assert tab.value("location.hash") == "#topic=1"
    assert tab.page.locator(".panel header p").inner_text().startswith("Topic 1,")
    assert tab.page.locator("table.topics tr.selected a").inner_text() == "1"
    assert tab.page.locator(".map a.selected").get_attribute("id") == "circle-1"
    tab.page.locator("table.topics a", has_text=re.compile("^2$")).click()
    tab.settle()
    assert tab.page.locator(".map a.selected").get_attribute("id") == "circle-2"
    tab.page.go_back()
    tab.settle()
    assert tab.page.locator("table.topics tr.selected a").inner_text() == "1"
    tab.page.go_back()
    tab.page.locator("tr.selected").wait_for(state="detached")
    assert "About this model" in tab.page.locator(".panel").inner_text()


def test_the_address_opens_a_topic_at_a_relevance(browser, page, model):
    with Tab(browser, page, "#topic=2&relevance=0.25") as tab:
        assert words_shown(tab) == model.top_words(20, relevance=0.25)[2]
        assert tab.page.locator(".relevance output").inner_text() == "0.25"


@pytest.mark.parametrize("relevance", [0.0, 0.3, 1.0])
def test_the_slider_ranks_words_as_the_model_does(tab, model, relevance):
    tab.page.locator("#circle-0").click()
    tab.settle()
    tab.page.locator("#relevance").fill(str(relevance))
    shown, ranked = words_shown(tab), model.top_words(20, relevance=relevance)[0]
    topics = model.topic_word_
    log_lift = np.log(topics[0] / (model.topic_proportions_ @ topics))
    relevances = dict(
        zip(
            model.vocabulary_,
            relevance * np.log(topics[0]) + (1 - relevance) * log_lift,
            strict=True,
        )
    )
    assert sorted(shown) == sorted(ranked)
    np.testing.assert_allclose(  # words may change places where numbers of the page tie
        [relevances[word] for word in shown], [relevances[word] for word in ranked], atol=1e-3
    )
    assert tab.value("location.hash") == f"#topic=0&relevance={relevance:g}"


def test_the_slider_moves_by_keys(tab):
    tab.page.locator("#circle-0").click()
    tab.settle()
    tab.page.locator("#relevance").focus()
    tab.page.keyboard.press("ArrowLeft")
    assert tab.value("location.hash") == "#topic=0&relevance=0.55"


def test_the_table_sorts_and_filters(tab, model):
    numbers = tab.page.locator("table.topics tbody tr:visible td:first-child")
    order = np.argsort(-model.topic_proportions_, kind="stable")
    assert numbers.all_inner_texts() == [str(k) for k in order]
    head = tab.page.locator("table.topics thead button", has_text="Topic")
    head.click()
    assert numbers.all_inner_texts() == ["0", "1", "2"]
    assert tab.page.locator("th[aria-sort=ascending]").inner_text().startswith("Topic")
    head.click()
    assert numbers.all_inner_texts() == ["2", "1", "0"]
    tab.page.get_by_label("Filter topics").fill("snow")
    (found,) = [k for k, words in enumerate(model.top_words(10)) if "snow" in words]
    assert numbers.all_inner_texts() == [str(found)]
    tab.settle()
    dim = [float(tab.style_of(f"#circle-{k} circle", "opacity")) < 0.5 for k in range(3)]
    assert dim == [k != found for k in range(3)]


def test_the_tree_shows_the_same_topics(browser, page):
    with Tab(browser, page, "#topic=1&view=tree") as tab:
        leaves = tab.page.locator(".tree li > a")
        assert not tab.page.locator("table.topics").is_visible()
        assert sorted(leaves.locator("b").all_inner_texts()) == ["0", "1", "2"]
        assert tab.page.locator(".tree a.selected b").inner_text() == "1"
        leaves.filter(has_text="2").click()
        tab.settle()
        assert tab.value("location.hash") == "#topic=2&view=tree"
        name = tab.page.get_by_label("Name of this topic")
        name.fill("a new name")
        name.press("Tab")
        assert tab.page.locator(".tree a.selected").inner_text() == "2 a new name"
        tab.page.get_by_label("Filter topics").fill("a new")
        assert leaves.filter(visible=True).count() == 1
        tab.page.get_by_role("button", name="Table").click()
        tab.settle()
        assert tab.value("location.hash") == "#topic=2"
        assert tab.page.locator("table.topics").is_visible()
        assert tab.said == []


def test_a_topic_shows_its_place_in_the_tree(tab, model):
    mergers = model.topic_tree()
    first, last = mergers["left"][0], mergers["right"][1]
    joined = mergers["right"][0]
    tab.page.locator(f"#circle-{first}").click()
    tab.settle()
    section = tab.page.locator(".panel section").filter(has_text="In the tree")
    assert [item.locator("b").inner_text() for item in section.locator("li").all()] == [
        str(joined),
        str(last if last < 3 else mergers["left"][1]),
    ]
    likeness = section.locator(".n").all_inner_texts()
    assert likeness == [f"{1 - apart:.2f}" for apart in mergers["distance"].round(3)]


def test_search_finds_words_documents_and_topics(tab, model):
    search = tab.page.get_by_role("combobox", name="Search")
    search.fill("snow")
    search.press("Enter")
    tab.settle()
    assert tab.value("location.hash") == "#word=snow"
    assert tab.page.locator(".panel h2").inner_text() == "snow"
    first = tab.page.locator(".panel .scored").first.locator("li").first
    w = list(model.vocabulary_).index("snow")
    held = model.components_[:, w] - model.topic_word_prior_
    assert first.locator("b").inner_text() == str(held.argmax())
    assert first.locator(".n").inner_text() == f"{held.max() / held.sum():.0%}"
    search.fill("text 7")
    tab.page.get_by_role("option").filter(has_text=re.compile("^text 7document")).click()
    tab.settle()
    assert tab.value("location.hash") == "#document=text+7"
    topics = tab.page.locator(".panel .scored").first
    assert topics.locator("b").first.inner_text() == str(model.doc_topic_[7].argmax())
    assert "2003" in tab.page.locator(".panel header p").inner_text()
    assert "money" in tab.page.locator(".panel dl").inner_text()


def test_keys_lead_through_search(tab):
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("a")
    options = tab.page.get_by_role("option")
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("ArrowDown")
    second = options.nth(1)
    assert second.get_attribute("aria-selected") == "true"
    active = tab.page.get_by_role("combobox", name="Search").get_attribute("aria-activedescendant")
    assert active == second.get_attribute("id")
    name = second.locator("span").inner_text()
    tab.page.keyboard.press("Enter")
    tab.settle()
    assert tab.page.locator(".panel h2").inner_text() in name


def test_a_document_shows_its_text_coloured_and_its_nearest_documents(browser, page, model):
    d = int(model.doc_topic_[:, 0].argmax())
    with Tab(browser, page, f"#document=text {d}") as tab:
        text = tab.page.locator(".panel .reading")
        assert text.inner_text() == model.documents_.texts[d]
        own = tab.page.locator(".panel .reading a.c0")
        assert own.count() > 20
        assert own.first.get_attribute("href") == "#topic=0"
        near = tab.page.locator(".panel section").last.locator("li a").all_inner_texts()
        roots = np.sqrt(model.doc_topic_)
        likeness = roots @ roots[d]
        assert all(likeness[int(name.split()[1])] > 0.95 for name in near)
        assert len(near) == 8


def fold_in(tab, text):
    """Topic proportions as the functions of the page's script give them, before they are drawn."""
    source = tab.value("document.scripts[1].textContent")
    until = source.index("// Texts whose words are coloured")
    call = f"return infer(knownWords({json.dumps(text)})).proportions; }})()"
    return np.array(tab.value(source[:until] + call))


TYPED = ["The cat saw a dog; the DOG ran.", "Stocks, bonds and rain: bank bank bank", "snow cat"]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"rule": "sibp"},
        {"rule": "cvb0"},
        {"rule": "vb", "schedule": "synchronous"},
        {"weighting": "tfidf"},
        {"weighting": "log"},
        {"n_components": 5, "doc_topic_prior": 0.3, "topic_word_prior": 0.01},
        {"topic_word_prior": np.where(np.eye(3, 30) > 0, 9.0, 0.05)},
    ],
)
def test_texts_get_the_topics_that_transform_gives(browser, model, tmp_path, settings):
    given = {"n_components": 3, "max_iter": 30, **settings}
    corpus = topoi.read(model.documents_.texts, vectorizer=topoi.make_vectorizer(max_df=1.0))
    fit = LDA(**given).fit(corpus)
    fit.report(tmp_path / "r.html")
    expected = fit.transform(topoi.read(TYPED, vectorizer=fit.vectorizer_))
    with Tab(browser, tmp_path / "r.html") as tab:
        found = [fold_in(tab, text) for text in TYPED]
    np.testing.assert_allclose(found, expected, atol=0.01)


@pytest.mark.parametrize(
    "settings",
    [
        {"token_pattern": r"(?u)\b[a-z]{3,}\b"},
        {"token_pattern": r"\b\w+(?:-\w+)*\b", "lowercase": False},
        {"ngram_range": (1, 2), "stop_words": ["and", "the"]},
        {"phrases": ["cat dog", "fog hail storm", "fog hail"], "stop_words": ["the"]},
    ],
)
def test_texts_are_cut_into_words_as_the_vectoriser_does(browser, model, tmp_path, settings):
    vectorizer = topoi.make_vectorizer(max_df=1.0, **settings)
    fit = LDA(3, max_iter=20).fit(topoi.read(model.documents_.texts, vectorizer=vectorizer))
    fit.report(tmp_path / "r.html")
    texts = ["CAT dog and the bird; bank-rate", "fog Hail the storm İstanbul cat"]
    expected = fit.transform(topoi.read(texts, vectorizer=fit.vectorizer_))
    with Tab(browser, tmp_path / "r.html") as tab:
        np.testing.assert_allclose([fold_in(tab, text) for text in texts], expected, atol=0.01)


def test_a_typed_text_is_assigned_topics(tab, model):
    tab.page.locator("nav a", has_text="Topics of a text").click()
    tab.page.locator("textarea").fill(TYPED[0])
    expected = model.transform(topoi.read(TYPED[:1], vectorizer=model.vectorizer_))[0]
    first = tab.page.locator(".panel .scored").first.locator("li").first
    first.wait_for()
    assert first.locator("b").inner_text() == str(expected.argmax())
    assert abs(int(first.locator(".n").inner_text()[:-1]) / 100 - expected.max()) < 0.015
    coloured = tab.page.locator(".reading a").all_inner_texts()
    assert coloured == ["cat", "dog", "DOG"]
    tab.page.locator("textarea").fill("xyzzy")
    tab.page.get_by_text("The model knows none of these words.").wait_for()


def test_edits_are_shown_everywhere_and_saved_as_json(tab, tmp_path):
    tab.page.locator("#circle-1").click()
    tab.settle()
    name = tab.page.get_by_label("Name of this topic")
    name.fill("<b>taxes</b>")
    name.press("Tab")
    assert tab.page.locator(".panel h2").inner_text() == "<b>taxes</b>"
    assert tab.page.locator("#circle-1 .label").text_content() == "<b>taxes</b>"
    assert "<b>taxes</b>" in tab.page.locator("table.topics tr.selected").inner_text()
    tab.page.get_by_label("Merge with another topic").select_option("0")
    assert "merge with 0" in tab.page.locator("table.topics tr.selected").inner_text()
    tab.page.locator("table.topics a", has_text=re.compile("^2$")).click()
    tab.settle()
    tab.page.get_by_role("button", name="Delete").click()
    tab.page.locator("nav a", has_text="Edits (3)").click()
    with tab.page.expect_download() as download:
        tab.page.get_by_role("button", name="Save edits.json").click()
    download.value.save_as(tmp_path / "edits.json")
    assert json.loads((tmp_path / "edits.json").read_text()) == {
        "names": {"1": "<b>taxes</b>"},
        "merge": [[0, 1]],
        "delete": [2],
    }
    for n in (2, 1, 0):
        tab.page.get_by_role("button", name="Undo").first.click()
        assert tab.page.get_by_role("button", name="Undo").count() == n
    assert tab.page.locator("nav a", has_text="Edits").inner_text() == "Edits"


def test_the_map_zooms_and_labels_never_cover_each_other(browser, tmp_path):
    corpus, _ = topoi.datasets.make_lda(100, 300, 30, random_state=0)
    LDA(60, max_iter=5).fit(corpus).report(tmp_path / "r.html")
    for width in (390, 1280):
        with Tab(browser, tmp_path / "r.html", width=width) as tab:
            shown = []
            for _ in range(3):
                tab.settle()
                shown.append(assert_nothing_overlaps(tab))
                tab.page.get_by_role("button", name="Zoom in").click()
            assert shown[0] < shown[-1]
            assert tab.said == []


def test_the_bold_label_of_the_selected_topic_stands_inside_the_map(browser, tmp_path):
    corpus, _ = topoi.datasets.make_lda(100, 300, 12, random_state=0)
    model = LDA(12, max_iter=5).fit(corpus)
    model.name_topics({k: f"memory management {k}" for k in range(12)})
    model.report(tmp_path / "r.html")
    with Tab(browser, tmp_path / "r.html") as tab:
        left, right = tab.value(
            "(({left, right}) => [left, right])"
            "(document.querySelector('.map svg').getBoundingClientRect())"
        )
        for k in range(12):
            tab.page.goto(f"{(tmp_path / 'r.html').as_uri()}#topic={k}")
            tab.settle()
            label = tab.page.locator(".map a.selected .label").bounding_box()
            assert label is not None, k
            assert left <= label["x"], k
            assert label["x"] + label["width"] <= right, k
            assert_nothing_overlaps(tab)


def test_a_label_on_the_map_selects_its_topic(tab):
    tab.page.locator("#circle-2 .label").click()
    tab.settle()
    assert tab.value("location.hash") == "#topic=2"


def assert_nothing_overlaps(tab):
    boxes = tab.value(
        "[...document.querySelectorAll('.map .label')]"
        ".filter((label) => getComputedStyle(label).display !== 'none')"
        ".map((label) => { const b = label.getBoundingClientRect();"
        " return [b.left, b.top + 2, b.right, b.bottom - 2]; })"
    )
    left, top, right, bottom = np.array(boxes).T
    apart = (
        (left[:, None] >= right) | (right[:, None] <= left)
        | (top[:, None] >= bottom) | (bottom[:, None] <= top)
    )  # fmt: skip
    assert (apart | np.eye(len(boxes), dtype=bool)).all()
    return len(boxes)


def test_a_topic_shows_when_and_where_it_is_frequent(browser, page, model):
    table = model.topics_by("labels")
    with Tab(browser, page, "#topic=0") as tab:
        heads = tab.page.locator(".panel h3").all_inner_texts()
        assert {"Over time", "By labels"} <= set(heads)
        ours = table[table["topic"] == 0].sort_values("prevalence", ascending=False)
        section = tab.page.locator(".panel section").filter(has_text="By labels")
        assert section.locator(".what").first.inner_text().strip() == ours["group"].iloc[0]
        chart = tab.page.locator("svg.time")
        assert "2001" in chart.get_attribute("aria-label")
        periods = [one for one in chart.locator("text").all_text_contents() if one.isdigit()]
        assert periods == ["0", "2001", "2002", "2003", "2004", "2005"]
        tab.page.get_by_label("Colour topics by").select_option(label="Colour by labels")
        colours = {tab.style_of(f"#circle-{k} circle", "fill") for k in range(3)}
        assert len(colours) == 3
        assert len(tab.page.locator(".legend > span").all()) == 3
        assert tab.said == []


def test_the_axes_of_time_are_readable_on_a_phone(browser, page):
    with Tab(browser, page, "#topic=0", width=390) as tab:
        years = tab.page.locator("svg.time text", has_text="200").all()
        boxes = [year.bounding_box() for year in years]
        assert len(boxes) == 5
        assert min(box["height"] for box in boxes) > 10
        assert all(a["x"] + a["width"] < b["x"] for a, b in zip(boxes, boxes[1:], strict=False))
        chart = tab.page.locator("svg.time").bounding_box()
        assert boxes[-1]["x"] + boxes[-1]["width"] <= chart["x"] + chart["width"]


def test_arrow_keys_move_on_the_map(tab):
    tab.page.locator(".map a[tabindex='0']").focus()
    before = tab.value("document.activeElement.id")
    after = before
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        if after == before:  # there may be no circle on one side
            tab.page.keyboard.press(key)
            after = tab.value("document.activeElement.id")
    assert after.startswith("circle-")
    assert after != before
    tab.page.keyboard.press("Enter")
    tab.settle()
    assert tab.value("location.hash") == f"#topic={after.removeprefix('circle-')}"
