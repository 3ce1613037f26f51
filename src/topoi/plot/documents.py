"""Figures of documents: a map on which documents of similar topics are close, and a text in the
colours of topics.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.evaluate.inputs import proportions_of
from topoi.explore.labelling import LabeledText, label_texts, texts_as_corpus
from topoi.plot.style import FAINT, INK, axes_for, colours, figure_of, joined, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topoi.io.given import DocumentsLike
    from topoi.protocols import FittedModel

__all__ = ["documents", "text"]

LETTERS, LETTER = 84, 0.602  # letters of a line of text; width of a letter of this font size
LINE = 1.7  # height of a line of this font size
NAMED = 20  # topics whose words are written on the map


def documents(
    model: FittedModel,
    X: DocumentsLike | None = None,
    *,
    n_documents: int = 2000,
    n_words: int = 3,
    random_state: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """A map of documents, coloured by their main topic; close documents have similar topics.

    Places come from t-SNE of the roots of topic proportions. Clusters mean something; distances
    between clusters, and their sizes, hardly do.

    Parameters
    ----------
    model : fitted model
        A topoi model.
    X : Corpus or array-like of shape (n_documents, n_words), default=None
        Documents; None is the training documents.
    n_documents : int, default=2000
        Most documents to show. Of more, a random sample is drawn.
    n_words : int, default=3
        Number of words of a topic on the map; topics with a name are called by it.
    random_state : int, default=0
        Seed of sample and places.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from topoi import LDA, datasets, plot
    >>> model = LDA(3, max_iter=5).fit(datasets.make_lda(60)[0])
    >>> plot.documents(model).get_title(loc="left")
    '60 documents by topic'
    """
    from sklearn.manifold import TSNE

    check_is_fitted(model)
    proportions = proportions_of(model, X)
    every = len(proportions)
    if every < 2:
        raise ValueError("A map needs at least two documents; give more.")
    if proportions.shape[1] < 2:
        raise ValueError("A model of one topic has no map; fit at least two topics.")
    chosen = np.random.default_rng(random_state).permutation(every)[:n_documents]
    proportions = proportions[np.sort(chosen)]
    main = proportions.argmax(axis=1)
    places = TSNE(
        perplexity=min(30.0, (len(main) - 1) / 3), init="pca", random_state=random_state
    ).fit_transform(np.sqrt(proportions))
    ax = axes_for(ax, 8, 7)
    order, palette = np.argsort(-np.bincount(main), kind="stable"), colours(len(proportions.T))
    colour_of = {int(k): palette[rank] for rank, k in enumerate(order)}
    point_colours = [colour_of[int(k)] for k in main]
    ax.scatter(places[:, 0], places[:, 1], s=9, c=point_colours, alpha=0.65, linewidths=0)
    shown = [int(k) for k in order[:NAMED] if (main == k).any()]
    texts = [_title(model, k, n_words) for k in shown]
    middles = np.array([_middle(places[main == k]) for k in shown])
    titles = _apart(middles, texts, np.ptp(places, axis=0))
    for k, text, (x, y) in zip(shown, texts, titles.tolist(), strict=True):
        box = {"boxstyle": "round,pad=0.2", "fc": "white", "ec": colour_of[k], "alpha": 0.9}
        ax.text(x, y, text, size=8, color=INK, ha="center", va="center", bbox=box)
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)
    counted = f"{len(main):,} of {every:,}" if len(main) < every else f"{every:,}"
    ax.set_title(f"{counted} documents by topic", loc="left", color=INK)
    ax.margins(0.06)
    if len(order) > NAMED:
        ax.set_xlabel(f"The {NAMED} topics with most documents have their words.", color=FAINT)
    return ax


def text(model: FittedModel, text: str, *, ax: Axes | None = None, **metadata: Any) -> Axes:
    """A text with its words in the colours of their most likely topics.

    Parameters
    ----------
    model : fitted model
        A topoi model that knows its words.
    text : str
        The text. Words that the model does not know have no colour.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure.
    **metadata
        As for `model.messages`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from topoi import LDA, datasets, plot
    >>> corpus, _ = datasets.make_blocks(n_topics=2)
    >>> ax = plot.text(LDA(2, max_iter=5).fit(corpus), " ".join(corpus.words[:4]))
    >>> [piece.get_text() for piece in ax.texts][:4] == corpus.words[:4]
    True
    """
    check_is_fitted(model)
    (labeled,) = label_texts(model, texts_as_corpus(model, [text]), **metadata)
    lines = _lines(labeled)
    proportions = sorted(labeled.proportions().items(), key=lambda pair: -pair[1])
    palette = dict(zip([k for k, _ in proportions], colours(len(proportions)), strict=True))
    tops = model.top_words(6)
    legend = [(f"{k}  {'  '.join(tops[k])}", k) for k, _ in proportions]
    rows = len(lines) + 1 + len(legend)
    ax = axes_for(ax, LETTERS * LETTER * 10 / 72 + 0.3, rows * LINE * 10 / 72 + 0.4)
    ax.set(xlim=(0, LETTERS), ylim=(rows, -1), xticks=[], yticks=[])
    figure_of(ax).draw_without_rendering()  # so that the axes have their final width
    points = ax.get_window_extent().width * 72 / ax.figure.dpi
    size = points / LETTERS / LETTER
    for row, line in enumerate(lines):
        for column, word, topic in line:
            _write(ax, column, row, word, size, palette.get(topic))
    for row, (words, k) in enumerate(legend, len(lines) + 1):
        _write(ax, 0, row, "  ", size, palette[k])
        _write(ax, 3, row, words, size, None)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def _lines(labeled: LabeledText) -> list[list[tuple[int, str, int]]]:
    """Words of a text with column and topic (-1 for none), line by line."""
    lines: list[list[tuple[int, str, int]]] = [[]]
    column = 0
    for piece, span in labeled.pieces():
        for part in re.findall(r"\n|[^\S\n]+|\S+", piece):
            if part == "\n" or (column + len(part) > LETTERS and column and not part.isspace()):
                lines.append([])
                column = 0
            if not part.isspace():
                lines[-1].append((column, part, -1 if span is None else span.topic))
            if part != "\n" and (column or not part.isspace()):
                column += len(part)
    return lines


def _write(ax: Axes, column: int, row: int, words: str, size: float, colour: str | None) -> None:
    """A piece of text on a background; its dollar signs are no mathematics."""
    box = None if colour is None else {"fc": colour, "ec": "none", "alpha": 0.3, "pad": 1}
    ax.text(
        column, row, words, family="monospace", size=size, color=INK, va="center", bbox=box,
        parse_math=False,
    )  # fmt: skip


def _middle(places: np.ndarray) -> np.ndarray:
    """The document in the densest part of a topic: nearest to the median of all."""
    distance = np.linalg.norm(places - np.median(places, axis=0), axis=1)
    return np.asarray(places[distance.argmin()])


def _title(model: FittedModel, topic: int, n_words: int) -> str:
    """The name of a topic, or its number and words."""
    if model.topic_names_[topic] != f"topic{topic}":
        return short_name(model, topic)
    return f"{topic}  {joined(model.top_words(n_words)[topic])}"


def _apart(places: np.ndarray, texts: list[str], extent: np.ndarray) -> np.ndarray:
    """Places of texts, moved up until none covers another. extent: width and height of the map."""
    high, wide = 0.036 * extent[1], 0.0125 * extent[0]  # of a line, and of a letter
    moved = places.copy()
    order = np.argsort(places[:, 1], kind="stable")
    for rank, i in enumerate(order):
        for j in order[:rank]:  # those below, from the lowest
            near = abs(moved[i, 0] - moved[j, 0]) < wide * (len(texts[i]) + len(texts[j])) / 2
            if near and abs(moved[i, 1] - moved[j, 1]) < high:
                moved[i, 1] = moved[j, 1] + high
    return moved
