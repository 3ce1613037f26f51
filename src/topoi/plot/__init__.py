"""Figures of fitted models, with matplotlib (`pip install 'topoi[plot]'`).

Every function draws on the axes `ax`, or makes a figure, and returns the axes.
"""

from topoi.plot.documents import documents, text
from topoi.plot.runs import choice, convergence
from topoi.plot.topics import similarity, topics, tree, words
from topoi.plot.trends import groups, over_time

__all__ = [
    "choice",
    "convergence",
    "documents",
    "groups",
    "over_time",
    "similarity",
    "text",
    "topics",
    "tree",
    "words",
]


def __dir__() -> list[str]:
    return sorted(__all__)
