"""Figures of fitted models, with matplotlib (`pip install 'topoi[plot]'`).

Every function draws on the axes `ax`, or makes a figure, and returns the axes.
"""

from topoi.plot.documents import documents, text
from topoi.plot.runs import choice, convergence
from topoi.plot.topics import similarity, topics, tree, words

__all__ = [
    "choice",
    "convergence",
    "documents",
    "similarity",
    "text",
    "topics",
    "tree",
    "words",
]
