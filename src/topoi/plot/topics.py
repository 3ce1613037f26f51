"""Figures of topics: how large they are, their words, how similar they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster.hierarchy import dendrogram, leaves_list, linkage
from scipy.spatial.distance import squareform
from sklearn.utils.validation import check_is_fitted

from topoi.explore.reading import topic_number
from topoi.plot.style import COLOUR, FAINT, GRID, INK, axes_for, joined, short_name
from topoi.report.layout import distances

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topoi.protocols import FittedModel

__all__ = ["similarity", "topics", "tree", "words"]

ROW = 0.28  # inches of a row of bars


def topics(
    model: FittedModel, *, n_topics: int = 30, n_words: int = 6, ax: Axes | None = None
) -> Axes:
    """Topics by size, the largest first, with their top words.

    Parameters
    ----------
    model : fitted model
        A topoi model.
    n_topics : int, default=30
        Number of topics to show.
    n_words : int, default=6
        Number of words per topic.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from topoi import LDA, datasets, plot
    >>> model = LDA(3, max_iter=5).fit(datasets.make_lda()[0])
    >>> plot.topics(model).get_xlabel()
    'proportion of all tokens'
    """
    check_is_fitted(model)
    proportions, tops = model.topic_proportions_, model.top_words(n_words)
    shown = np.argsort(-proportions, kind="stable")[:n_topics]
    ax = axes_for(ax, 8, 0.9 + ROW * len(shown))
    rows = np.arange(len(shown))
    ax.barh(rows, proportions[shown], height=0.7, color=COLOUR)
    widest = proportions[shown].max()
    for row, k in enumerate(shown):
        ax.text(
            proportions[k] + 0.02 * widest, row, joined(tops[k]), va="center", color=FAINT, size=9
        )
    ax.set_yticks(rows, [short_name(model, k) for k in shown])
    ax.set(xlim=(0, 2.4 * widest), ylim=(len(shown) - 0.4, -0.6), xlabel="proportion of all tokens")
    ax.set_xticks([tick for tick in ax.get_xticks() if tick <= widest * 1.05])
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    ax.xaxis.label.set_horizontalalignment("left")
    ax.xaxis.set_label_coords(0, -0.4 / (0.9 + ROW * len(shown)))
    left = len(proportions) - len(shown)
    title = f"{len(proportions)} topics" + (f", {left} smaller ones not shown" if left else "")
    ax.set_title(title, loc="left", color=INK)
    return ax


def words(
    model: FittedModel,
    topic: int | str,
    *,
    n_words: int = 15,
    relevance: float = 1.0,
    ax: Axes | None = None,
) -> Axes:
    """The words of a topic: how often they are about it, and how often they occur in all.

    Parameters
    ----------
    model : fitted model
        A topoi model.
    topic : int or str
        The number of the topic, or its name.
    n_words : int, default=15
        Number of words.
    relevance : float, default=1.0
        As in `top_words`: below 1 typical words come before frequent ones.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from topoi import LDA, datasets, plot
    >>> model = LDA(3, max_iter=5).fit(datasets.make_lda()[0])
    >>> plot.words(model, 0, n_words=5).get_title(loc="left")
    'Topic 0'
    """
    check_is_fitted(model)
    topic = topic_number(model.topic_names_, topic)
    top = model.top_words(n_words, relevance=relevance)[topic]
    tokens = np.maximum(model.components_ - model.topic_word_prior_, 0)
    place = _columns(model, top)
    ax = axes_for(ax, 6, 1.2 + ROW * len(top))
    rows = np.arange(len(top))
    ax.barh(rows, tokens.sum(axis=0)[place], height=0.75, color=GRID, label="in all documents")
    ax.barh(rows, tokens[topic, place], height=0.75, color=COLOUR, label="about this topic")
    ax.set_yticks(rows, [joined([word]) for word in top])
    ax.set(ylim=(len(top) - 0.4, -0.6), xlabel="tokens")
    ax.legend(frameon=False, loc="lower right")
    ax.set_title(f"Topic {short_name(model, topic)}", loc="left", color=INK)
    return ax


def _columns(model: FittedModel, top: list[str]) -> np.ndarray:
    """The columns of words; models of counts alone call them word0, word1, …"""
    if model.vocabulary_ is None:
        return np.array([int(word.removeprefix("word")) for word in top], dtype=np.int64)
    place = {str(word): column for column, word in enumerate(model.vocabulary_)}
    return np.array([place[word] for word in top], dtype=np.int64)


def similarity(model: FittedModel, *, ax: Axes | None = None) -> Axes:
    """How similar topics are: 1 the same words, 0 none in common. Similar topics stand together.

    Parameters
    ----------
    model : fitted model
        A topoi model of two topics or more.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from topoi import LDA, datasets, plot
    >>> model = LDA(3, max_iter=5).fit(datasets.make_lda()[0])
    >>> len(plot.similarity(model).get_xticklabels())
    3
    """
    merges, apart = _merges(model)
    order = leaves_list(merges)
    size = float(np.clip(1.8 + 0.22 * len(order), 4.5, 12))
    ax = axes_for(ax, size + 0.8, size)
    near = 1 - apart[np.ix_(order, order)]
    np.fill_diagonal(near, np.nan)  # always 1, which would make all others pale
    image = ax.imshow(near, cmap="Blues", vmin=np.nanmin(near), vmax=np.nanmax(near))
    ax.figure.colorbar(image, ax=ax, shrink=0.7, label="similarity of words", fraction=0.05)
    names = [short_name(model, k) for k in order]
    ax.set_xticks(range(len(order)), [str(k) for k in order], rotation=90)
    ax.set_yticks(range(len(order)), names)
    ax.tick_params(labelsize=8)
    ax.set_title("Similarity of topics", loc="left", color=INK)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    return ax


def tree(model: FittedModel, *, n_words: int = 5, ax: Axes | None = None) -> Axes:
    """Topics as a tree: those that share most words are joined first (Ward's criterion).

    Parameters
    ----------
    model : fitted model
        A topoi model of two topics or more.
    n_words : int, default=5
        Number of words per topic.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from topoi import LDA, datasets, plot
    >>> model = LDA(3, max_iter=5).fit(datasets.make_lda()[0])
    >>> len(plot.tree(model).get_yticklabels())
    3
    """
    merges, _ = _merges(model)
    tops = model.top_words(n_words)
    ax = axes_for(ax, 8, 0.8 + 0.24 * len(tops))
    dendrogram(
        merges,
        ax=ax,
        orientation="left",
        labels=[f"{short_name(model, k)}   {joined(top)}" for k, top in enumerate(tops)],
        link_color_func=lambda _: COLOUR,
        leaf_font_size=9,
    )
    ax.invert_yaxis()
    ax.set_xticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_title("Tree of topics", loc="left", color=INK)
    return ax


def _merges(model: FittedModel) -> tuple[np.ndarray, np.ndarray]:
    """Which topics are joined (SciPy's linkage), and the (K, K) distances of their words."""
    check_is_fitted(model)
    apart = distances(model.topic_word_)
    if len(apart) < 2:
        raise ValueError("A model of one topic has nothing to compare; fit at least two topics.")
    np.fill_diagonal(apart, 0)
    merges = linkage(squareform(apart, checks=False), "ward", optimal_ordering=True)
    return merges, apart
