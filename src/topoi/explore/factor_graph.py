"""The factor graph of a model made visible: in words, as a drawing, and one edge with its messages.

Each nonzero x[w, d] is a variable z[w, d], the topic of a word in a document. Factors connect
variables: those of a word in all documents (phi), those of a document or its authors (theta), and
those of linked documents (eta). See the factor graphs of the paper, and docs/algorithms.md 0.2.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from topoi.corpus import Corpus
from topoi.printable import printable

if TYPE_CHECKING:
    import pandas as pd

    from topoi.protocols import AuthorModel, FittedModel, LinkModel

__all__ = ["Edge", "FactorGraph", "factor_graph"]

WIDTH, HEIGHT = 620, 250
INK, PAPER, SIGNAL = "#1f2937", "#ffffff", "#b45309"


class Node(NamedTuple):
    """A variable (a circle) or a factor (a square) of the drawing."""

    name: str
    shown: str
    meaning: str
    is_factor: bool
    x: int
    y: int


@dataclass(frozen=True)
class Edge:
    """One word of one document: its neighbours in the graph, and the messages it receives.

    Attributes
    ----------
    document, word : str
        Which edge it is.
    count : float
        How often the word stands in the document.
    same_document : list of str
        Other words of the document, which the factor of the document connects with it.
    same_word : list of str
        Other documents with the word, which the factor of the word connects with it.
    authors, linked : list of str
        Authors of the document, and documents that it is linked with, where these are known.
    messages : pandas.DataFrame
        For each topic its name, what comes from the word, what comes from the document (from its
        authors, and links, where there are such), and their product, the message of the edge. Each
        sums to 1.
    """

    document: str
    word: str
    count: float
    same_document: list[str]
    same_word: list[str]
    authors: list[str]
    linked: list[str]
    messages: pd.DataFrame


@dataclass(frozen=True)
class FactorGraph:
    """The factor graph of a fitted model; `factor_graph` makes it.

    Attributes
    ----------
    model : fitted model
        Of topoi.
    corpus : Corpus or None
        Documents whose edges can be asked for.

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> corpus, _ = datasets.make_blocks(n_topics=2)
    >>> graph = LDA(2).fit(corpus).graph(corpus)
    >>> print(str(graph).splitlines()[0])
    Factor graph of LDA: 2 topics, 20 words, 60 documents
    >>> graph.svg()[:4], graph.dot()[:5]
    ('<svg', 'graph')
    >>> list(graph.edge(0, corpus.words[corpus.counts.indices[0]]).messages.columns)
    ['topic', 'name', 'from word', 'from document', 'message']
    """

    model: FittedModel
    corpus: Corpus | None
    metadata: dict[str, object]

    def __str__(self) -> str:
        model = self.model
        n_docs = len(getattr(model, "doc_topic_", ()))
        learned = f", {n_docs:,} documents" if n_docs else ""
        heading = (
            f"Factor graph of {type(model).__name__}: {model.components_.shape[0]:,} topics,"
            f" {model.components_.shape[1]:,} words{learned}"
        )
        lines = [f"  {node.shown:<10} {node.meaning}" for node in self._nodes()]
        return printable("\n".join([heading, "", *lines, "", *self._equation()]), keep="\n")

    __repr__ = __str__

    @property
    def _has_authors(self) -> bool:
        return len(getattr(self.model, "author_names_", ())) > 0

    @property
    def _has_links(self) -> bool:
        return getattr(self.model, "link_weight_", 0) > 0

    def _nodes(self) -> list[Node]:
        """The fragment around one edge, as in the figures of the paper."""
        alpha, beta = self.model.doc_topic_prior_, np.asarray(self.model.topic_word_prior_)
        topics = "the topic of word w in document d"
        if hasattr(self.model, "classes_"):
            topics += f", one of its labels ({len(self.model.classes_):,} in all) or the background"
        spread = f"{alpha.min():.3g} to {alpha.max():.3g}"
        nodes = [
            Node("z", "z[w,d]", f"variable: {topics}", False, 310, 60),
            Node("words", "z[-w,d]", "variables: the other words of the document", False, 60, 60),
            Node("docs", "z[w,-d]", "variables: the same word elsewhere", False, 560, 60),
            Node("phi", "phi[w]", f"factor of the word, prior {beta.min():.3g}", True, 435, 60),
        ]
        owner = "factor of the document"
        if self._has_authors:
            names = cast("AuthorModel", self.model).author_names_
            owner = f"factor of each author of the document ({len(names):,})"
        shown = "theta[a]" if self._has_authors else "theta[d]"
        nodes.append(Node("theta", shown, f"{owner}, prior {spread}", True, 185, 60))
        if self._has_links:
            weight = f"factor of links, weight {cast('LinkModel', self.model).link_weight_:.3g}"
            nodes += [
                Node("eta", "eta[c]", weight, True, 310, 140),
                Node("linked", "z[.,d']", "variables: words of linked documents", False, 310, 215),
            ]
        return nodes

    def _equation(self) -> list[str]:
        side = "theta[a](k)" if self._has_authors else "theta[d](k)"
        if self._has_links:
            side = f"[(1 - xi) {side} + xi eta[c](k)]"
        over = ", for authors a of d" if self._has_authors else ""
        allowed = ", for topics k of the labels of d" if hasattr(self.model, "classes_") else ""
        return [
            f"  message of z[w,d]:  mu(k) ~ phi[w](k) {side}{over}{allowed},",
            "  own contribution of z[w,d] removed from each factor",
        ]

    def _connections(self) -> list[tuple[str, str]]:
        """(factor, variable) pairs of the fragment."""
        links = [("eta", "z"), ("eta", "linked")] if self._has_links else []
        return [("theta", "words"), ("theta", "z"), ("phi", "z"), ("phi", "docs"), *links]

    def dot(self) -> str:
        """The fragment as source for Graphviz: variables are circles, factors squares."""
        nodes = [
            f'  {node.name} [label="{node.shown}", shape={"box" if node.is_factor else "circle"},'
            f' tooltip="{_quoted(node.meaning)}"];'
            for node in self._nodes()
        ]
        edges = [f"  {factor} -- {variable};" for factor, variable in self._connections()]
        return "\n".join(["graph topoi {", "  rankdir=LR;", *nodes, *edges, "}", ""])

    def svg(self) -> str:
        """The fragment as an SVG drawing; arrows are the messages that z[w,d] receives."""
        nodes = {node.name: node for node in self._nodes()}
        height = HEIGHT if self._has_links else 120
        parts = [
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}'"
            f" width='{WIDTH}' height='{height}' role='img' aria-label='Factor graph'>",
            "<defs><marker id='topoi-arrow' viewBox='0 0 10 10' refX='9' refY='5' markerWidth='7'"
            f" markerHeight='7' orient='auto'><path d='M0 0L10 5L0 10z' fill='{SIGNAL}'/></marker>"
            "</defs>",
            f"<rect width='{WIDTH}' height='{height}' fill='{PAPER}'/>",
        ]
        for factor, variable in self._connections():
            one, other = nodes[factor], nodes[variable]
            to_z = variable == "z"
            reach = 30 / max(abs(one.x - other.x), abs(one.y - other.y))
            x = other.x + reach * (one.x - other.x) * to_z
            y = other.y + reach * (one.y - other.y) * to_z
            style = (
                f"stroke='{SIGNAL}' marker-end='url(#topoi-arrow)'" if to_z else f"stroke='{INK}'"
            )
            parts.append(
                f"<line x1='{one.x}' y1='{one.y}' x2='{x:g}' y2='{y:g}' stroke-width='2' {style}/>"
            )
        parts += [_drawn(node) for node in nodes.values()]
        return "".join([*parts, "</svg>"])

    def _repr_svg_(self) -> str:
        return self.svg()

    def edge(self, document: int | str, word: str) -> Edge:
        """One word of one document, its neighbours and what they say.

        Parameters
        ----------
        document : str or int
            Name or number of a document of X.
        word : str
            One of its words, as the model spells it.

        Returns
        -------
        Edge
        """
        corpus = self.corpus
        if corpus is None:
            raise ValueError("Edges are of documents; give them: model.graph(X).edge(...).")
        names = list(
            map(str, range(corpus.n_docs) if corpus.doc_names is None else corpus.doc_names)
        )
        words = corpus.words if self.model.vocabulary_ is None else list(self.model.vocabulary_)
        numbered = isinstance(document, numbers.Integral) and 0 <= document < corpus.n_docs
        d = int(document) if numbered else _place(str(document), names, "document of X")
        w = _place(str(word), list(map(str, words)), "word of the model")
        counts = corpus.counts
        row = slice(counts.indptr[d], counts.indptr[d + 1])
        at = np.flatnonzero(counts.indices[row] == w)
        if not len(at):
            raise ValueError(f"Document {names[d]!r} does not hold the word {words[w]!r}.")
        elsewhere = [i for i in np.unique(counts[:, [w]].tocoo().coords[0]).tolist() if i != d]
        linked = [] if corpus.links is None else corpus.links[[d]].indices.tolist()
        return Edge(
            names[d],
            str(words[w]),
            float(counts.data[row][at[0]]),
            [str(words[i]) for i in counts.indices[row].tolist() if i != w],
            [names[i] for i in elsewhere],
            [] if corpus.authors is None else list(map(str, corpus.authors[[d]].tolist()[0])),
            [names[i] for i in linked],
            self._heard(corpus, row.start + int(at[0]), w),
        )

    def _heard(self, corpus: Corpus, number: int, word: int) -> pd.DataFrame:
        """The messages of nonzero `number`. A message is the product of two, of which that of the
        word is known: so the other one is, too, whoever is behind it.
        """
        import pandas as pd

        message = self.model.messages(corpus, **self.metadata)[number].astype(np.float64)
        from_word = self.model.topic_word_[:, word].astype(np.float64)
        rest = message / from_word
        behind = " and ".join(
            ["authors" if self._has_authors else "document", *["links"] * self._has_links]
        )
        return pd.DataFrame(
            {
                "topic": np.arange(len(message)),
                "name": self.model.topic_names_,
                "from word": from_word / from_word.sum(),
                f"from {behind}": rest / rest.sum(),
                "message": message / message.sum(),
            }
        )


def factor_graph(model: FittedModel, corpus: Corpus | None = None, **metadata: Any) -> FactorGraph:
    """The factor graph of a fitted model.

    Parameters
    ----------
    model : fitted model
        Of topoi.
    corpus : Corpus, default=None
        Documents over the words of the model, whose edges are to be asked for.
    **metadata
        As for `model.messages`.

    Returns
    -------
    FactorGraph

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> corpus, _ = datasets.make_blocks(n_topics=2)
    >>> factor_graph(LDA(2).fit(corpus)).dot().splitlines()[0]
    'graph topoi {'
    """
    return FactorGraph(model, corpus, metadata)


def _place(name: str, names: list[str], what: str) -> int:
    if name not in names:
        raise ValueError(f"{name!r} is not a {what}; one is {names[0]!r}, for instance.")
    return names.index(name)


def _drawn(node: Node) -> str:
    shape = (
        f"<rect x='{node.x - 30}' y='{node.y - 22}' width='60' height='44'"
        if node.is_factor
        else f"<circle cx='{node.x}' cy='{node.y}' r='30'"
    )
    return (
        f"<g><title>{escape(printable(node.meaning))}</title>"
        f"{shape} fill='{PAPER}' stroke='{INK}' stroke-width='2'/>"
        f"<text x='{node.x}' y='{node.y + 5}' text-anchor='middle' fill='{INK}'"
        f" font-family='sans-serif' font-size='13'>{escape(node.shown)}</text></g>"
    )


def _quoted(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')
