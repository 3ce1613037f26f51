"""Figures: on the axes that are given, with the numbers of the model."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from support import run

from topoi import LDA, datasets, evaluate

plt = pytest.importorskip("matplotlib.pyplot")

from topoi import plot  # noqa: E402


@pytest.fixture(scope="module")
def model():
    corpus, _ = datasets.make_lda(80, 60, 6, random_state=2)
    return LDA(6, max_iter=30).fit(corpus).name_topics({1: "costs $5 and $6"})


@pytest.fixture(scope="module")
def chosen():
    corpus, _ = datasets.make_blocks(n_topics=3)
    return evaluate.choose_n_components(LDA(max_iter=20), corpus, [2, 3, 30], n_seeds=2)


FIGURES = {
    "topics": lambda model, ax: plot.topics(model, ax=ax),
    "words": lambda model, ax: plot.words(model, 1, ax=ax),
    "similarity": lambda model, ax: plot.similarity(model, ax=ax),
    "tree": lambda model, ax: plot.tree(model, ax=ax),
    "documents": lambda model, ax: plot.documents(model, ax=ax),
    "convergence": lambda model, ax: plot.convergence(model, ax=ax),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_drawn_on_the_axes_that_are_given(model, name):
    figure, ax = plt.subplots()
    assert FIGURES[name](model, ax) is ax
    figure.canvas.draw()
    own = FIGURES[name](model, None)
    assert own is not ax
    own.figure.canvas.draw()


def test_bars_are_shares_of_topics_by_size(model):
    ax = plot.topics(model, n_topics=4)
    write = ax.xaxis.get_major_formatter()
    assert [write(value) for value in (0, 0.025, 0.5)] == ["0 %", "2.5 %", "50 %"]
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths, np.sort(model.topic_proportions_)[::-1][:4])
    assert "2 smaller ones not shown" in ax.get_title(loc="left")


def test_words_show_tokens_of_the_topic_within_all(model):
    ax = plot.words(model, 2, n_words=5)
    every, own = np.array([bar.get_width() for bar in ax.patches]).reshape(2, 5)
    assert (own <= every + 1e-6).all()
    assert [label.get_text() for label in ax.get_yticklabels()] == model.top_words(5)[2]
    with pytest.raises(ValueError, match="There is no topic 6"):
        plot.words(model, 6)


def test_models_without_words_are_drawn(model):
    bare = LDA(3, max_iter=5).fit(datasets.make_lda(40, 30, 3)[0].counts)
    assert plot.words(bare, 0, n_words=3).get_yticklabels()[0].get_text().startswith("word")


def test_a_map_shows_a_sample_and_says_so(model):
    ax = plot.documents(model, n_documents=50)
    assert ax.get_title(loc="left") == "50 of 80 documents by topic"
    assert len(ax.collections[0].get_offsets()) == 50


def test_titles_on_a_map_do_not_cover_each_other():
    from topoi.plot.documents import _apart

    places = np.array([[0.0, 0.0], [0.0, 0.001], [0.01, 0.002], [0.9, 0.0]])
    moved = _apart(places, ["some words"] * 4, np.ones(2))
    assert np.diff(np.sort(moved[:3, 1])).min() >= 0.035
    np.testing.assert_array_equal(moved[3], places[3])


def test_the_choice_is_marked(chosen):
    figure, ax = plt.subplots()
    assert plot.choice(chosen, ax=ax) is ax
    assert ax.get_title(loc="left") == f"Recommended: {chosen.best} topics"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2", "3", "30"]
    figure.canvas.draw()


def test_nothing_to_draw_is_said():
    bare = LDA(2, max_iter=3, evaluate_every=0).fit(np.eye(5) + 1)
    with pytest.raises(ValueError, match="evaluate_every=1 or more"):
        plot.convergence(bare)
    one = LDA(1, max_iter=3).fit(np.eye(5) + 1)
    with pytest.raises(ValueError, match="at least two topics"):
        plot.similarity(one)


def test_without_matplotlib_there_is_a_cure(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'topoi\[plot\]'"):
        plot.topics(model)


def test_words_of_a_text_have_the_colours_of_their_topics():
    corpus, _ = datasets.make_blocks(n_topics=2)
    model = LDA(2, max_iter=20).fit(corpus)
    first, second = corpus.words[0], corpus.words[-1]
    figure, ax = plt.subplots()
    assert plot.text(model, f"{first} nothing {second}\n{first} {'long ' * 40}", ax=ax) is ax
    figure.canvas.draw()
    shown = {
        piece.get_text(): piece.get_bbox_patch()
        for piece in ax.texts
        if piece.get_text() in (first, second, "nothing", "long")
    }
    assert shown["nothing"] is None
    assert shown["long"] is None
    assert shown[first].get_facecolor() != shown[second].get_facecolor()
    assert max(piece.get_position()[0] + len(piece.get_text()) for piece in ax.texts) <= 84


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_command_draws_the_choice(work, tmp_path, suffix):
    out = tmp_path / f"choice.{suffix}"
    options = ["choose", work / "texts", "--n-components", "1,2,4", "--seeds", 2, "--max-iter", 5]
    run(*options, "--figure", out)
    assert out.stat().st_size > 1000
    assert "exists already" in run(*options, "--figure", out, code=2).stderr
    assert "end the name in .png" in run(*options, "--figure", tmp_path / "x.doc", code=2).stderr


def test_topics_over_time_and_by_group_show_the_table(model):
    years = np.repeat([1999, 2000, 2003, 2004], 20)
    table = model.topics_over_time(years.tolist())
    figure, ax = plt.subplots()
    assert plot.over_time(table, topics=[1, 4], ax=ax) is ax
    figure.canvas.draw()
    four = table[table["topic"] == 4]
    np.testing.assert_allclose(ax.lines[1].get_ydata(), four["prevalence"])
    table = model.topics_by(["a"] * 30 + ["b"] * 50)
    figure, ax = plt.subplots()
    assert plot.groups(table, ax=ax) is ax
    figure.canvas.draw()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert len(ax.get_yticks()) == 6
    with pytest.raises(ValueError, match="There is no topic 9"):
        plot.groups(table, topics=[9])


def test_figures_of_tables_say_which_table_they_need(model):
    by_group = model.topics_by(["a"] * 30 + ["b"] * 50)
    for given, name in ((model, type(model).__name__), (by_group, "DataFrame")):
        with pytest.raises(TypeError, match=rf"got {name}; .* model\.topics_over_time\(\)"):
            plot.over_time(given)
    with pytest.raises(TypeError, match=r"model\.topics_by\(\"labels\"\)"):
        plot.groups(model)
