"""The HTML page about a model: well-formed, self-contained, and true."""

from __future__ import annotations

import base64
import hashlib
import re
from copy import copy
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from topoi import (
    LDA,
    Authors,
    AuthorTopicModel,
    LabeledLDA,
    LatentDirichletAllocation,
    RelationalTopicModel,
    TopicModel,
    Words,
    datasets,
    evaluate,
)
from topoi.report import layout

VOID = {"meta", "br"}
QUICK = {"max_iter": 12, "evaluate_every": 3, "tol": 0}


class Page(HTMLParser):
    """A page, read strictly: tags must close in order. Keeps texts, ids and references."""

    def __init__(self, path):
        super().__init__()
        self.source = path.read_text("utf-8")
        self.open, self.tags, self.ids, self.references, self.texts = [], [], [], [], []
        self.feed(self.source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        self.references += [given[key] for key in ("href", "src") if key in given]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def text_of(self, topic):
        """All texts of a topic's section."""
        begin = self.source.index(f"id='topic-{topic}'")
        end = self.source.find("<section", begin)
        part = HTMLParser()
        texts = []
        part.handle_data = texts.append
        part.feed(self.source[begin:] if end < 0 else self.source[begin:end])
        return texts


NAMES = (
    "lda",
    "one topic",
    "two topics",
    "counts alone",
    "batches",
    "authors",
    "links",
    "labels",
    "mixture",
    "priors of words",
)


@pytest.fixture(scope="module")
def fitted():
    lda, _ = datasets.make_lda(60, 40, 4, random_state=0)
    authors, _ = datasets.make_authors()
    links, _ = datasets.make_links()
    labels, _ = datasets.make_labels()
    return {
        "lda": LDA(4, **QUICK).fit(lda),
        "one topic": LDA(1, **QUICK).fit(lda),
        "two topics": LDA(2, **QUICK).fit(lda),
        "counts alone": LDA(4, **QUICK).fit(lda.counts),
        "batches": LDA(4).partial_fit(lda.counts),
        "authors": AuthorTopicModel(5, **QUICK).fit(authors),
        "links": RelationalTopicModel(5, **QUICK).fit(links),
        "labels": LabeledLDA(1, **QUICK).fit(labels),
        "priors of words": LDA(
            4, topic_word_prior=np.where(np.eye(4, 40) > 0, 5.0, 0.1), **QUICK
        ).fit(lda),
        "mixture": (
            TopicModel([Words(authors), Authors(authors.authors)], n_components=5, **QUICK).fit()
        ),
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_model_has_a_page_that_needs_nothing_else(fitted, name, tmp_path):
    model = fitted[name]
    model.report(tmp_path / "r.html")
    page = Page(tmp_path / "r.html")
    n_topics = len(model.components_)
    circles, sheets = ([f"{kind}-{k}" for k in range(n_topics)] for kind in ("circle", "topic"))
    assert sorted(page.ids) == sorted([*circles, *sheets, "about", "data"])
    assert {f"#{sheet}" for sheet in sheets} == set(page.references)  # and nothing outside
    assert page.tags.count("script") == 2  # the data, and the script
    assert "://" not in page.source
    for k, words in enumerate(model.top_words(12)):
        assert {f"{word} " for word in words} <= set(page.text_of(k))


def test_topics_come_by_size_with_their_own_numbers(fitted, tmp_path):
    model = fitted["lda"]
    model.report(tmp_path / "r.html")
    order = np.argsort(-model.topic_proportions_, kind="stable")
    shown = [name for name in Page(tmp_path / "r.html").ids if name.startswith("topic-")]
    assert shown == [f"topic-{k}" for k in order]


def test_numbers_of_a_topic(fitted, tmp_path):
    model = fitted["lda"]
    model.report(tmp_path / "r.html", n_words=3, n_documents=2)
    page = Page(tmp_path / "r.html")
    for k in range(4):
        texts = page.text_of(k)
        assert f"{model.topic_proportions_[k]:.1%}" in texts
        for word in model.top_words(3)[k]:
            w = list(model.vocabulary_).index(word)
            assert texts[texts.index(f"{word} ") + 1] == f"{model.topic_word_[k, w]:.1%}"
        for name, share in model.top_documents(2)[k]:
            assert texts[texts.index(f"{name} ") + 1] == f"{share:.0%}"


def test_what_models_know_besides(fitted, tmp_path):
    for name in ("authors", "links"):
        fitted[name].report(tmp_path / f"{name}.html")
    authors, page = fitted["authors"], Page(tmp_path / "authors.html")
    (writer, share), *_ = authors.authors_of_topic(2, 1)
    texts = page.text_of(2)
    assert texts[texts.index(f"{writer} ") + 1] == f"{share:.0%}"
    assert f"{len(authors.author_names_)} authors" in page.texts
    links, page = fitted["links"], Page(tmp_path / "links.html")
    assert f"linked documents decide {links.link_weight_:.0%}" in "".join(page.texts)


def groups_of_the_tree(source):
    """Topics of each group of the page's tree, as sets."""
    tree = source[source.index("class='tree'") : source.index("id='about'")]
    groups, around = [], []
    for piece in re.findall(r"<ul>|</ul>|href='#topic-\d+'", tree):
        if piece == "<ul>":
            around.append(set())
        elif piece == "</ul>":
            groups.append(around.pop())
            if around:
                around[-1] |= groups[-1]
        else:
            around[-1].add(int(piece[13:-1]))
    return groups


def test_groups_of_the_tree_are_what_reduced_models_have(tmp_path):
    corpus, _ = datasets.make_lda(60, 80, 14, random_state=0)
    model = LDA(14, **QUICK).fit(corpus)
    model.report(tmp_path / "r.html")
    expected = {frozenset(range(14))}
    for n in (7, 3):
        moves = model.reduce_topics(n).topic_lineage().groupby("new")["old"]
        expected |= {frozenset(old) for _, old in moves if len(old) > 1}
    found = groups_of_the_tree((tmp_path / "r.html").read_text("utf-8"))
    assert {frozenset(group) for group in found} == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize("name", ["one topic", "two topics"])
def test_few_topics_have_no_tree(fitted, name, tmp_path):
    fitted[name].report(tmp_path / "r.html")
    assert "class='tree'" not in (tmp_path / "r.html").read_text("utf-8")


@pytest.mark.parametrize("schedule", ["afresh", "relaxed"])
def test_a_curve_that_rises_is_explained(fitted, schedule, tmp_path):
    model = copy(fitted["lda"])
    said = {"afresh": "It rises in the last rounds", "relaxed": "It may rise: priors are learned"}

    def page_with(perplexities):
        model.history_ = [
            {**model.history_[0], "sweep": i, "perplexity": value, "schedule": schedule}
            for i, value in enumerate(perplexities)
        ]
        model.report(tmp_path / "r.html")
        return "".join(Page(tmp_path / "r.html").texts)

    assert said[schedule] in page_with([300.0, 290.0, 291.0])
    assert said[schedule] not in page_with([300.0, 290.0, 289.0])


def test_linked_topics_are_shown_only_where_they_say_something(tmp_path):
    corpus, _ = datasets.make_links()
    model = RelationalTopicModel(3, **QUICK).fit(corpus)
    model.link_topic_ = np.array([[1.0, 0, 0], [0.1, 0.7, 0.2], [0, 0.004, 0.996]])
    model.report(tmp_path / "r.html")
    page = Page(tmp_path / "r.html")
    assert ["Linked with" in page.text_of(k) for k in range(3)] == [False, True, False]
    linked = "".join(page.text_of(1)).split("Linked with")[1]
    assert re.findall(r"\d+%", linked) == ["20%", "10%"]


def test_held_out_quality(fitted, tmp_path):
    test, _ = datasets.make_lda(60, 40, 4, random_state=1)
    model, found = fitted["lda"], evaluate.quality(fitted["lda"], test)
    completion = evaluate.completion(model, test)
    assert found["documents"] == 60
    assert (found["perplexity"], found["held_out_tokens"]) == (
        completion.perplexity,
        completion.n_tokens,
    )
    assert_allclose(found["npmi"], evaluate.npmi(model, test).mean(), rtol=1e-12)
    assert found["diversity"] == evaluate.topic_diversity(model)
    assert "label_found" not in found
    assert evaluate.quality(model, test.counts) == found
    model.report(tmp_path / "with.html", test=test)
    model.report(tmp_path / "without.html")
    assert f"{found['perplexity']:.1f} " in Page(tmp_path / "with.html").texts
    assert "Perplexity" not in Page(tmp_path / "without.html").texts


def test_training_documents_are_never_called_other_ones(fitted, tmp_path):
    train, _ = datasets.make_lda(60, 40, 4, random_state=0)
    other, _ = datasets.make_lda(60, 40, 4, random_state=1)
    named = replace(train, doc_names=[f"d{i}" for i in range(60)])
    model = LDA(4, **QUICK).fit(named)
    cases = {
        "trained on: it looks better": (model, named),
        "20 documents, 20 of which": (model, named[:20]),
        "documents it was not trained on": (
            model,
            replace(other, doc_names=[f"e{i}" for i in range(60)]),
        ),
        "60 of which it was trained on": (fitted["counts alone"], train.counts),
        "it is unknown if": (fitted["counts alone"], other.counts),
    }
    for said, (fit, test) in cases.items():
        fit.report(tmp_path / "r.html", test=test)
        text = "".join(Page(tmp_path / "r.html").texts)
        assert said in text
        assert "other documents" not in text


def test_quality_of_labels(fitted):
    corpus, _ = datasets.make_labels()
    found = evaluate.quality(fitted["labels"], corpus)
    guesses = fitted["labels"].most_likely(corpus)
    right = np.mean(
        [guess[0] in truth for guess, truth in zip(guesses, corpus.labels, strict=True)]
    )
    assert (found["labeled_documents"], found["label_found"]) == (corpus.n_docs, right)


def test_names_and_words_are_text_and_never_markup(tmp_path):
    corpus, _ = datasets.make_lda(30, 12, 2, random_state=0)
    evil = "<script>alert('x')</script>&amp;\""
    corpus = replace(
        corpus,
        vocabulary=[f"{evil}{i}" for i in range(12)],
        doc_names=[f"<i>{evil}{i}" for i in range(30)],
    )
    model = LDA(2, **QUICK).fit(corpus).name_topics({0: f"{evil}name"})
    model.report(tmp_path / "r.html")
    page = Page(tmp_path / "r.html")
    assert "i" not in page.tags
    assert page.tags.count("script") == 2
    assert f"{evil}name" in "".join(page.texts)
    assert {f"{word} " for word in model.top_words(12)[1]} <= set(page.text_of(1))


@pytest.mark.parametrize("attribute", ["n_iter_", "author_names_", "vocabulary_", "documents_"])
def test_no_attribute_of_a_model_can_add_an_element(tmp_path, attribute):
    corpus, _ = datasets.make_authors()
    model, clean = AuthorTopicModel(3, **QUICK).fit(corpus), tmp_path / "clean.html"
    model.report(clean)
    evil = "<script>alert(1)</script><img src=x onerror='alert(1)'>"
    size = {
        "author_names_": len(model.author_names_),
        "vocabulary_": corpus.n_words,
        "documents_": corpus.n_docs,
    }.get(attribute)
    value = evil if size is None else np.array([f"{evil}{i}" for i in range(size)])
    if attribute == "documents_":
        value = replace(model.documents_, names=value)
    setattr(model, attribute, value)
    model.report(tmp_path / "r.html")
    page = Page(tmp_path / "r.html")
    assert page.tags == Page(clean).tags
    assert evil in "".join(page.texts)


def test_the_page_allows_nothing_but_its_own_style_and_script(fitted, tmp_path):
    fitted["authors"].report(tmp_path / "r.html")
    page = Page(tmp_path / "r.html")
    head = page.source[: page.source.index("<title>")]
    (policy,) = re.findall("http-equiv='Content-Security-Policy' content='([^']*)'", head)
    rules = dict(rule.split(" ", 1) for rule in unescape(policy).split("; "))
    nothing = dict.fromkeys(("default-src", "base-uri", "form-action"), "'none'")
    own = {}
    for kind in ("style", "script"):
        (source,) = re.findall(f"<{kind}>(.*?)</{kind}>", page.source, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        own[f"{kind}-src"] = f"'sha256-{digest}'"
    assert rules == {**nothing, **own}
    markup = re.sub("<(style|script)[ >].*?</(style|script)>", "", page.source, flags=re.DOTALL)
    assert " style=" not in markup
    assert not re.search(r"<[^>]* on\w+=", markup)


def test_words_that_no_document_has(tmp_path):
    X = np.hstack(
        [datasets.make_lda(30, 6, 2, random_state=0)[0].counts.toarray(), np.zeros((30, 9))]
    ).astype(np.float32)
    LDA(2, **QUICK).fit(X).report(tmp_path / "r.html")
    assert "nan%" not in (tmp_path / "r.html").read_text()


def test_how_long_a_model_learned(fitted, tmp_path):
    counts = datasets.make_lda(60, 40, 4, random_state=0)[0].counts
    models = {
        "LDA, 12 sweeps": fitted["lda"],  # tol=0: convergence was not asked for
        "LDA, 1 batches": fitted["batches"],
        "LDA, 3 sweeps": LDA(4, batch_size=20, max_iter=3, tol=0).fit(counts),
        "LatentDirichletAllocation, 2 passes": LatentDirichletAllocation(
            4, learning_method="online", batch_size=20, max_iter=2
        ).fit(counts),
        "LDA, 2 sweeps, stopped before it converged": LDA(4, max_iter=2).fit(counts),
    }
    for said, model in models.items():
        model.report(tmp_path / "r.html")
        assert said in Page(tmp_path / "r.html").texts


def test_the_same_model_gives_the_same_page(fitted, tmp_path):
    for name in ("a.html", "b.html"):
        fitted["authors"].report(tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_page_is_written_whole_or_not_at_all(fitted, tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        fitted["lda"].report(tmp_path / "no" / "r.html")
    for n_words in (0, 1.5):
        with pytest.raises(ValueError, match=f"n_words is {n_words}"):
            fitted["lda"].report(tmp_path / "r.html", n_words=n_words)
    with pytest.raises(NotFittedError):
        LDA().report(tmp_path / "r.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("n_topics", [1, 2, 5, 40, 200])
def test_nothing_on_the_map_covers_anything_else(n_topics):
    random = np.random.default_rng(n_topics)
    topics = random.dirichlet(np.full(30, 0.3), n_topics)
    topics[n_topics // 2 :] = topics[n_topics // 2]  # in one place
    sizes = random.dirichlet(np.ones(n_topics))
    labels = ["x" * int(n) for n in random.integers(1, 24, n_topics)]
    found = layout.topic_map(layout.distances(topics), sizes, labels)
    x, y, r = found.at[:, 0], found.at[:, 1], found.radius
    half = np.where(found.labelled, [len(label) for label in labels], 0) * 0.3 * layout.LABEL_SIZE
    below = np.where(found.labelled, layout.LABEL_SIZE, 0)
    left, right = x - np.maximum(r, half), x + np.maximum(r, half)
    top, bottom = y - r, y + r + below
    apart = (
        (left[:, None] >= right) | (right[:, None] <= left)
        | (top[:, None] >= bottom) | (bottom[:, None] <= top)
    )  # fmt: skip
    assert (apart | np.eye(n_topics, dtype=bool)).all()
    assert left.min() >= 0
    assert top.min() >= 0
    assert right.max() <= found.width
    assert bottom.max() <= found.height


def test_places_keep_distances_that_a_plane_can_hold():
    points = np.random.default_rng(0).uniform(size=(9, 2))
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    found = layout.places(apart)
    again = np.linalg.norm(found[:, None] - found, axis=2)
    assert_allclose(again / again.max(), apart / apart.max(), atol=1e-9)
    assert found.min() >= 0
    assert found.max() <= 1


def test_distances_of_topics():
    topics = np.array([[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]])
    apart = layout.distances(topics)
    assert_allclose(
        apart[0], [0, 1, np.sqrt(1 - np.sqrt(0.5)), np.sqrt(1 - np.sqrt(0.5))], atol=1e-12
    )
    assert_allclose(apart[2, 3], 0, atol=1e-7)
    assert layout.closest(apart, 2) == [[2, 3], [2, 3], [3, 0], [2, 0]]
    assert layout.closest(np.zeros((1, 1)), 3) == [[]]
