"""The tree of topics on a page: groups inside groups, as `reduce_topics` would merge them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from topoi.report.markup import Html, element, spelled
from topoi.report.packing import short
from topoi.report.pieces import percent, small, topic_link
from topoi.report.words import words_of

if TYPE_CHECKING:
    from topoi.protocols import FittedModel

__all__ = ["page_tree", "tree_section"]

FEWEST = 3  # topics that a tree has
MOST = 2000  # with more there is no tree: its making takes time and memory in their square
WORDS, RELEVANCE = 3, 0.6  # of a group


def page_tree(model: FittedModel) -> list[list[float]]:
    """All mergers [left, right, likeness], the closest topics first: numbers below K are topics,
    K + i is what the merger i made. Likeness: 1 the same words, 0 none in common.
    """
    if not FEWEST <= len(model.components_) <= MOST:
        return []
    merged = model.topic_tree()
    return [
        [int(left), int(right), short(1 - apart, 3)]
        for left, right, apart in merged[["left", "right", "distance"]].itertuples(index=False)
    ]


def tree_section(
    model: FittedModel, mergers: Sequence[Sequence[float]], labels: Sequence[str]
) -> Html:
    """The tree as nested lists that open and close, or nothing."""
    if not mergers:
        return Html()
    proportions = model.topic_proportions_
    tree = _Tree(len(labels), mergers)
    words = _group_words(model, tree)

    def item(node: int) -> Html:
        if node < len(labels):
            part = small(percent(proportions[node], 1))
            return element("li", topic_link(node, element("b", node), " ", labels[node]), " ", part)
        leaves = tree.under[node]
        said = f"{len(leaves)} topics, {percent(proportions[leaves].sum(), 1)}"
        summary = element("summary", words[node], " ", small(said))
        return element("li", element("details", summary, listed(node), open="open"))

    def listed(node: int) -> Html:
        inside = sorted(tree.inside[node], key=lambda n: -proportions[tree.under[n]].sum())
        return element("ul", *map(item, inside))

    said = (
        "Topics that share most words stand together. Each level has half as many topics as the"
        " level inside it; a group is what these topics would be if they were merged."
    )
    heading = element("h2", "Tree of topics")
    return element(
        "section", heading, element("p", said, class_="faint"), listed(tree.root), class_="tree"
    )


class _Tree:
    """The groups that are left when mergers have halved the number of topics, and halved it again,
    down to `FEWEST`.

    root: the node of all topics; under: topics of each node; inside: groups and topics that stand
    directly in a group.
    """

    def __init__(self, n_topics: int, mergers: Sequence[Sequence[float]]) -> None:
        self.under: dict[int, list[int]] = {k: [k] for k in range(n_topics)}
        self.inside: dict[int, list[int]] = {}
        self.root = n_topics + len(mergers) - 1
        left, wanted = n_topics, n_topics // 2
        parts: dict[int, list[int]] = {k: [k] for k in range(n_topics)}  # of what is left
        for node, (first, second, _) in enumerate(mergers, n_topics):
            one, other = int(first), int(second)
            self.under[node] = self.under[one] + self.under[other]
            parts[node] = parts.pop(one) + parts.pop(other)
            left -= 1
            if left == max(wanted, 1):
                self._keep(parts)
                wanted = wanted // 2 if wanted // 2 >= FEWEST else 1

    def _keep(self, parts: dict[int, list[int]]) -> None:
        """Make a group of everything that was merged since the last level."""
        for node, inside in parts.items():
            if len(inside) > 1:
                self.inside[node] = inside
                parts[node] = [node]


def _group_words(model: FittedModel, tree: _Tree) -> dict[int, str]:
    """Words that are typical of the topics of each group together."""
    topic_word, proportions = model.topic_word_, model.topic_proportions_
    overall = np.log(proportions @ topic_word)
    names, found = words_of(model), {}
    for node in tree.inside:
        leaves = tree.under[node]
        part = np.maximum(proportions[leaves], 1e-300)
        scores = np.log(part @ topic_word[leaves] / part.sum()) - (1 - RELEVANCE) * overall
        best = np.argsort(-scores, kind="stable")[:WORDS]
        found[node] = spelled([str(names[w]) for w in best])
    return found
