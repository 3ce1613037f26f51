"""The page of a report, piece by piece. Everything that comes from documents is escaped."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi import __version__
from topoi.evaluate import quality, topic_diversity
from topoi.files import atomic_write
from topoi.models.topics import Topics, spelled
from topoi.report.layout import closest, distances, places

__all__ = ["write"]

TYPICAL = 0.4  # relevance of the words that are typical of a topic
MAP_SIZE, COVERED = 460, 0.1  # pixels; part of the map that all circles take
NEIGHBOURS = 3  # topics that a topic is close to, or linked with
MOST_AUTHORS = 300  # in the table of authors


def write(model: Topics, path: str | Path, *, test: Any = None, n_words: int = 12, n_documents: int = 6) -> None:
    """Write the report of a fitted model to an HTML file. test: documents the model has not seen, to measure it on."""
    check_is_fitted(model)
    for name, value in (("n_words", n_words), ("n_documents", n_documents)):
        if not isinstance(value, numbers.Integral) or value < 1:
            raise ValueError(f"{name} is {value!r}; expected a whole number of at least 1.")
    page = _page(model, None if test is None else quality(model, test), n_words, n_documents)
    with atomic_write(path) as file:
        file.write(page.encode("utf-8", "replace"))


def _page(model: Any, measured: dict[str, float] | None, n_words: int, n_documents: int) -> str:
    apart = distances(model.topic_word_)
    order = [int(k) for k in np.argsort(-model.topic_shares_, kind="stable")]
    title = f"{len(order)} topics" + (f" of {len(model.doc_topic_):,} documents" if hasattr(model, "doc_topic_") else "")
    sections = [
        f"<h1>{title}</h1>",
        f"<p class='faint'>{type(model).__name__}, by topoi {__version__}. The largest topics come first; their numbers are those of the model.</p>",
        f"<div class='top'>{_map(model, apart)}<div>{_facts(model, measured)}{_curve(getattr(model, 'history_', []))}</div></div>",
        _overview(model, order),
        *_topics(model, order, closest(apart, NEIGHBOURS), n_words, n_documents),
        _authors(model),
    ]
    style = files("topoi.report").joinpath("style.css").read_text("utf-8")
    head = f"<meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>{title}</title><style>\n{style}</style>"
    return f"<!doctype html>\n<html lang='en'><head>{head}</head><body>\n{chr(10).join(sections)}\n</body></html>\n"


# -------------------------------------------------------------------------------------------------------------------- the whole model


def _facts(model: Any, measured: dict[str, float] | None) -> str:
    """A table of what was fitted, how, and how good it is."""
    alpha = model.doc_topic_prior_
    facts = [
        ("words", f"{model.components_.shape[1]:,}"),
        _length(model),
        ("prior of topics", f"{alpha.sum():.3g} in all, {alpha.min():.3g} to {alpha.max():.3g}"),
        ("prior of words", f"{model.topic_word_prior_:.3g}"),
        ("diversity", f"{topic_diversity(model):.2f} <small>of the topics' top 25 words are different</small>"),
    ]
    if hasattr(model, "link_weight_"):
        facts.append(("weight of links", f"{model.link_weight_:.3f}"))
    if measured is not None:
        facts += [
            (
                "held-out perplexity",
                f"{measured['perplexity']:.1f} <small>{measured['perplexity_low']:.1f} to {measured['perplexity_high']:.1f}, "
                f"on {measured['documents']:,} other documents</small>",
            ),
            ("coherence (NPMI)", f"{measured['npmi']:.3f} <small>of top words in the same documents</small>"),
        ]
    return _table([(f"<th>{name}</th>", f"<td>{value}</td>") for name, value in facts])


def _length(model: Any) -> tuple[str, str]:
    """How long it learned, and in what."""
    history = getattr(model, "history_", None)
    unit = "batches" if not history else "passes" if history[-1]["schedule"] == "batches" else "sweeps"
    asked = model.tol > 0 and not getattr(model, "converged_", True)
    return unit, f"{model.n_iter_}{', stopped before it came to rest' if asked else ''}"


def _map(model: Any, apart: np.ndarray) -> str:
    """Topics as circles: area for size, closeness for words in common; a click leads to the topic."""
    radius = np.maximum(MAP_SIZE * np.sqrt(COVERED * model.topic_shares_ / np.pi), 4)
    at = 40 + (MAP_SIZE - 80) * places(apart)
    names, words = _given_names(model), model.top_words(6)
    circles = "".join(
        f"<a href='#topic-{k}'><title>{k} {escape(names[k])} {escape(spelled(words[k]))}</title>"
        f"<circle cx='{at[k, 0]:.1f}' cy='{at[k, 1]:.1f}' r='{radius[k]:.1f}'/><text class='centred' x='{at[k, 0]:.1f}' y='{at[k, 1]:.1f}'>{k}</text></a>"
        for k in np.argsort(-radius, kind="stable").tolist()
    )
    label = "Map of the topics: close ones share words, large ones hold more of the documents"
    return (
        f"<svg role='img' aria-label='{label}' width='{MAP_SIZE}' height='{MAP_SIZE}' viewBox='0 0 {MAP_SIZE} {MAP_SIZE}'>{circles}</svg>"
    )


def _overview(model: Any, order: Sequence[int]) -> str:
    """A line for each topic."""
    shares, names, words = model.topic_shares_, _given_names(model), model.top_words(10)
    most = max(shares.max(), 1e-300)
    rows = [("<th>topic</th>", "<th>share</th>", "<th>words</th>")]
    for k in order:
        name = f"<b>{escape(names[k])}</b> " if names[k] else ""
        rows.append((f"<td>{_link(k)}</td>", _bar(f"{shares[k]:.1%}", shares[k] / most), f"<td>{name}{escape(spelled(words[k]))}</td>"))
    return _table(rows)


def _curve(history: Sequence[dict[str, Any]]) -> str:
    """Training perplexity over sweeps, if it was measured."""
    seen = [(record["sweep"], record["perplexity"]) for record in history if record.get("perplexity") is not None]
    if len(seen) < 2:
        return ""
    x, y = np.array(seen, dtype=float).T
    across, down = 45 + 240 * (x - x[0]) / (x[-1] - x[0]), 10 + 100 * (y.max() - y) / max(np.ptp(y), 1e-12)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))
    return (
        "<h3>training perplexity over sweeps</h3><svg role='img' aria-label='Training perplexity over sweeps' width='300' height='135' viewBox='0 0 300 135'>"
        f"<line x1='45' y1='110' x2='285' y2='110'/><polyline points='{points}'/><text x='0' y='14'>{y.max():.0f}</text><text x='0' y='114'>{y.min():.0f}</text>"
        f"<text x='45' y='128'>{x[0]:.0f}</text><text x='265' y='128'>{x[-1]:.0f}</text></svg>"
    )


# -------------------------------------------------------------------------------------------------------------------------- topics


def _topics(model: Any, order: Iterable[int], near: list[list[int]], n_words: int, n_documents: int) -> list[str]:
    """A section for each topic: words, documents, authors, other topics."""
    shares, names, labels = model.topic_shares_, _given_names(model), _labels(model)
    typical = model.top_words(n_words, relevance=TYPICAL)
    documents = model.top_documents(n_documents) if hasattr(model, "doc_topic_") else None
    frequent = _frequent_words(model, n_words)
    out = []
    for k in order:
        parts = [("most frequent words", frequent[k]), (f"typical words <small>(relevance {TYPICAL})</small>", _lines(typical[k]))]
        if documents is not None:
            parts.append(("documents most about it", _bars(documents[k])))
        if len(getattr(model, "author_names_", ())):
            parts.append(("who writes most of it", _bars(model.authors_of_topic(k, n_documents))))
        parts.append(("closest topics", _references(near[k], labels)))
        if hasattr(model, "link_topic_"):
            linked = np.argsort(-model.link_topic_[k], kind="stable")[:NEIGHBOURS].tolist()
            parts.append(("linked documents are about", _references(linked, labels, model.link_topic_[k])))
        blocks = "".join(f"<div><h3>{title}</h3>{content}</div>" for title, content in parts)
        heading = f"Topic {k}{': ' * bool(names[k])}{escape(names[k])} <small>{shares[k]:.1%}</small>"
        out.append(f"<section class='topic' id='topic-{k}'><h2>{heading}</h2><div class='parts'>{blocks}</div></section>")
    return out


def _frequent_words(model: Any, n: int) -> list[str]:
    """For each topic a table of its top words: bars for their shares of the topic, and how much of each word is in this topic."""
    words, topic_word = model._words(None), model.topic_word_
    held = np.maximum(model.components_.astype(np.float64) - model.topic_word_prior_, 0)
    here = held / np.maximum(held.sum(axis=0), 1e-300)
    tables = []
    for k, row in enumerate(topic_word):
        top = np.argsort(-row, kind="stable")[:n]
        cells = [
            (_bar(str(words[w]), row[w] / row[top[0]]), f"<td class='n'>{row[w]:.1%}</td>", f"<td class='n faint'>{here[k, w]:.0%}</td>")
            for w in top
        ]
        header = ("<th>word</th>", "<th>of topic</th>", "<th>of word</th>")
        tables.append(_table([header, *cells]))
    return tables


def _authors(model: Any) -> str:
    """What each author writes about: those who wrote most, in a table that opens."""
    if not len(getattr(model, "author_names_", ())):
        return ""
    labels, written = _labels(model), model.author_counts_.sum(axis=1)
    most = np.argsort(-written, kind="stable")[:MOST_AUTHORS]
    rows = [("<th>author</th>", "<th>tokens</th>", "<th>topics</th>")]
    for a in most:
        top = np.argsort(-model.author_topic_[a], kind="stable")[:NEIGHBOURS].tolist()
        topics = _references(top, labels, model.author_topic_[a])
        rows.append((f"<td>{escape(str(model.author_names_[a]))}</td>", f"<td class='n'>{written[a]:,.0f}</td>", f"<td>{topics}</td>"))
    count = f"{len(model.author_names_):,} authors" + (
        f", the first {MOST_AUTHORS} by tokens" if len(model.author_names_) > MOST_AUTHORS else ""
    )
    return f"<section class='topic'><h2>Authors</h2><details><summary>{count}</summary>{_table(rows)}</details></section>"


# -------------------------------------------------------------------------------------------------------------------------- pieces


def _table(rows: Iterable[Sequence[str]]) -> str:
    return "<table>" + "".join(f"<tr>{''.join(row)}</tr>" for row in rows) + "</table>"


def _bar(text: str, part: float) -> str:
    """A cell with a bar behind its text, `part` of the width."""
    return f"<td class='bar' style='--v:{100 * part:.0f}%'>{escape(text)}</td>"


def _bars(scored: Iterable[tuple[Any, float]]) -> str:
    return _table([(_bar(str(name), share), f"<td class='n'>{share:.0%}</td>") for name, share in scored])


def _lines(words: Iterable[str]) -> str:
    return "<br>".join(map(escape, words))


def _link(topic: int) -> str:
    return f"<a href='#topic-{topic}'>{topic}</a>"


def _references(topics: Iterable[int], labels: Sequence[str], shares: np.ndarray | None = None) -> str:
    """Topics, a line each, with their labels and, if given, their shares."""
    return "<br>".join(f"{_link(k)} {'' if shares is None else f'{shares[k]:.0%} '}<small>{escape(labels[k])}</small>" for k in topics)


def _given_names(model: Any) -> list[str]:
    """(K,) names of topics that have one: given, or a label; otherwise nothing."""
    return ["" if name == f"topic{k}" else name for k, name in enumerate(model.topic_names_)]


def _labels(model: Any) -> list[str]:
    """(K,) the name of each topic, or its first words."""
    return [name or spelled(words) for name, words in zip(_given_names(model), model.top_words(3), strict=True)]
