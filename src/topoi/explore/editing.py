"""Editing topics: which become one, which go, and what that does to counts and proportions.

Topics that stay keep their order. Merged topics take the place of the first of them.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeGuard

import numpy as np

from topoi.infer.overcomplete import mergers

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "LINEAGE",
    "Edits",
    "LineageRow",
    "Moves",
    "checked_edits",
    "closest_groups",
    "moved_proportions",
    "moved_table",
    "topic_tree",
    "where_topics_go",
]

LINEAGE = ("step", "action", "old", "name", "new")  # columns of what became of topics
LONGEST_NAME = 1000  # characters
KEYS = {"names", "merge", "delete", "reduce"}
FORM = '{"names": {"7": "tax"}, "merge": [[3, 7]], "delete": [5], "reduce": 20}'


class LineageRow(TypedDict):
    """What an edit made of a topic."""

    step: int
    action: str
    old: int
    name: str
    new: int


class Edits(NamedTuple):
    """What is to become of topics, by their numbers before."""

    names: dict[int, str]
    merge: list[list[int]]
    delete: list[int]
    reduce: int | None


def checked_edits(found: Mapping[str, Any], topics: Sequence[str]) -> Edits:
    """Edits as a JSON file or a person gives them, after all checks.

    Parameters
    ----------
    found : mapping
        Any of "names" (names by topic number), "merge" (lists of topics), "delete" (topics) and
        "reduce" (number of topics to be left). Topics are given by number or name before any edit.
    topics : sequence of str
        Names of the topics.

    Returns
    -------
    Edits

    Examples
    --------
    >>> names = ["pets", "law", "topic2", "war"]
    >>> checked_edits({"names": {"2": "tax"}, "merge": [["law", 2]], "delete": [0]}, names)
    Edits(names={2: 'tax'}, merge=[[1, 2]], delete=[0], reduce=None)
    """
    odd = next((key for key in found if key not in KEYS), None)
    if odd is not None:
        raise ValueError(f"Edits hold {str(odd)[:60]!r}; expected {FORM}, or parts of it.")
    names, merge = found.get("names", {}), found.get("merge", [])
    delete, reduce = found.get("delete", []), found.get("reduce")
    lists = isinstance(merge, Sequence) and isinstance(delete, Sequence)
    if not isinstance(names, Mapping) or not lists or isinstance(merge, str):
        raise ValueError(f"Edits have another form than {FORM}.")
    n_topics = len(topics)
    groups = [_topics(group, topics, "merge") for group in merge]
    if any(len(group) < 2 for group in groups):
        raise ValueError(
            "merge holds a list of fewer than two topics; give two or more that become one."
        )
    gone = _topics(delete, topics, "delete")
    used = [topic for group in groups for topic in group] + gone
    twice = next((topic for topic in used if used.count(topic) > 1), None)
    if twice is not None:
        raise ValueError(f"Topic {twice} is named twice in merge and delete; name each topic once.")
    left = n_topics - len(gone) - sum(len(group) - 1 for group in groups)
    if left < 1:
        raise ValueError("No topic would be left; keep one at least.")
    if reduce is not None and (not _is_whole(reduce) or not 1 <= reduce <= left):
        raise ValueError(f"reduce is {reduce!r}; expected a number of topics from 1 to {left}.")
    called = {_topic(key, topics, "names"): _name(name) for key, name in names.items()}
    return Edits(called, groups, gone, None if reduce is None else int(reduce))


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _topics(given: object, topics: Sequence[str], where: str) -> list[int]:
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence | np.ndarray):
        raise ValueError(f"{where} holds {str(given)[:60]!r}; expected a list of topics.")
    return [_topic(topic, topics, where) for topic in given]


def _topic(given: Any, topics: Sequence[str], where: str) -> int:
    """A topic's number, from its number or name; a number is text where it is a key of JSON."""
    text = isinstance(given, str) and given.isascii() and given.isdecimal() and len(given) < 10
    whole = _is_whole(given) or (text and where == "names")
    if isinstance(given, str) and not whole and given in topics:
        return list(topics).index(given)
    if not whole or not 0 <= int(given) < len(topics):
        raise ValueError(
            f"{where}: there is no topic {str(given)[:60]!r}; topics are numbered 0 to"
            f" {len(topics) - 1}."
        )
    return int(given)


def _name(given: object) -> str:
    if not isinstance(given, str) or len(given) > LONGEST_NAME:
        raise ValueError(f"names holds {str(given)[:60]!r}; expected the name of a topic.")
    return given.strip()


def where_topics_go(
    n_topics: int, merge: Sequence[Sequence[int]] = (), delete: Sequence[int] = ()
) -> np.ndarray:
    """The new number of each topic, -1 for those that go.

    Parameters
    ----------
    n_topics : int
        Number of topics before.
    merge : sequence of sequence of int, default=()
        Topics that become one; no topic is in two of them.
    delete : sequence of int, default=()
        Topics that go.

    Returns
    -------
    ndarray of shape (n_topics,)

    Examples
    --------
    >>> where_topics_go(6, merge=[[1, 4]], delete=[2]).tolist()
    [0, 1, -1, 2, 1, 3]
    """
    first = np.arange(n_topics)
    for group in merge:
        first[list(group)] = min(group)
    first[list(delete)] = -1
    kept = np.unique(first[first >= 0])
    return np.where(first < 0, -1, np.searchsorted(kept, first))


def moved_table(table: np.ndarray, transfer: np.ndarray) -> np.ndarray:
    """Counts of old topics, in the last dimension, as counts of new ones.

    Parameters
    ----------
    table : ndarray of shape (..., n_topics)
        Counts.
    transfer : ndarray of shape (n_topics, n_new)
        Which part of each old topic each new one gets.

    Returns
    -------
    ndarray of shape (..., n_new)

    Examples
    --------
    >>> moved_table(np.array([[1.0, 2.0, 4.0]]), np.array([[1.0, 0], [0, 1], [1, 0]])).tolist()
    [[5.0, 2.0]]
    """
    moved: np.ndarray = np.asarray(table, dtype=np.float64) @ transfer
    return moved


def moved_proportions(
    proportions: np.ndarray, transfer: np.ndarray, otherwise: np.ndarray
) -> np.ndarray:
    """Topic proportions of old topics as proportions of new ones; rows sum to 1.

    What deleted topics had is divided among the others in proportion. A document or author that
    had nothing else gets `otherwise`, the prior.

    Parameters
    ----------
    proportions : ndarray of shape (n, n_topics)
        Rows sum to 1.
    transfer : ndarray of shape (n_topics, n_new)
        Which part of each old topic each new one gets.
    otherwise : ndarray of shape (n_new,)
        Positive.

    Returns
    -------
    ndarray of shape (n, n_new)

    Examples
    --------
    >>> transfer = np.array([[1.0, 0], [0, 1], [0, 0]])
    >>> moved_proportions(np.array([[0.3, 0.1, 0.6]]), transfer, np.ones(2)).round(2).tolist()
    [[0.75, 0.25]]
    """
    moved = moved_table(proportions, transfer)
    total = moved.sum(axis=1, keepdims=True)
    usual = otherwise / otherwise.sum()
    found: np.ndarray = np.where(total > 1e-12, moved / np.maximum(total, 1e-12), usual)
    return found


def closest_groups(counts: np.ndarray, n: int) -> list[list[int]]:
    """Which topics become one if the two whose merger loses least are merged until n are left.

    Parameters
    ----------
    counts : ndarray of shape (n_topics, n_words)
        Tokens of words in topics.
    n : int
        Number of topics to be left.

    Returns
    -------
    list of list of int
        Groups of two topics or more.

    Examples
    --------
    >>> closest_groups(np.array([[9.0, 1, 0], [0, 1, 9], [8, 2, 0]]), 2)
    [[0, 2]]
    """
    groups = {k: [k] for k in range(len(counts))}
    for (i, j, _), _ in zip(mergers(counts.T), range(len(counts) - n), strict=False):
        groups[i] += groups.pop(j)
    return [sorted(group) for group in groups.values() if len(group) > 1]


def topic_tree(counts: np.ndarray, names: Sequence[str]) -> pd.DataFrame:
    """How topics merge, the two whose merger loses least first.

    Parameters
    ----------
    counts : ndarray of shape (n_topics, n_words)
        Tokens of words in topics.
    names : sequence of str
        Names of topics.

    Returns
    -------
    pandas.DataFrame
        A row for each merger. Columns node (its number, after those of the topics), left and right
        (topics, or nodes of earlier rows), distance (of the square roots of word proportions, 0 to
        1), topics (numbers of all topics under it), names (theirs).

    Examples
    --------
    >>> tree = topic_tree(np.array([[9.0, 1, 0], [0, 1, 9], [8, 2, 0]]), ["a", "b", "c"])
    >>> tree[["node", "left", "right"]].to_numpy().tolist()
    [[3, 0, 2], [4, 3, 1]]
    >>> tree["names"].tolist()
    [['a', 'c'], ['a', 'c', 'b']]
    """
    import pandas as pd

    node, under = list(range(len(counts))), [[k] for k in range(len(counts))]
    held = np.array(counts, dtype=np.float64)
    rows: list[dict[str, Any]] = []
    for i, j, _ in mergers(held.T.copy()):
        rows.append(
            {
                "node": len(counts) + len(rows),
                "left": node[i],
                "right": node[j],
                "distance": _distance(held[i], held[j]),
                "topics": under[i] + under[j],
                "names": [names[k] for k in under[i] + under[j]],
            }
        )
        node[i], under[i] = rows[-1]["node"], under[i] + under[j]
        held[i] += held[j]
    return pd.DataFrame(rows, columns=["node", "left", "right", "distance", "topics", "names"])


def _distance(first: np.ndarray, second: np.ndarray) -> float:
    """Hellinger distance of two topics, 0 to 1."""
    roots = [np.sqrt(topic / max(topic.sum(), 1e-300)) for topic in (first, second)]
    return float(np.linalg.norm(roots[0] - roots[1]) / np.sqrt(2))


class Moves(NamedTuple):
    """Which part of each old topic each new topic gets."""

    transfer: np.ndarray  # (K, new)
    words: np.ndarray | None = None  # (new, W) the same for each word of a topic that is split
    documents: np.ndarray | None = None  # (D, new) for each document
    split: int | None = None  # the topic that is split

    def counts(self, of_topics: np.ndarray) -> np.ndarray:
        """(new, W) counts of words, from those of old topics (K, W)."""
        moved = moved_table(of_topics.T, self.transfer).T
        if self.words is not None and self.split is not None:
            parts = np.flatnonzero(self.transfer[self.split])
            moved[parts] = self.words[parts] * of_topics[self.split]
        return moved

    def of_documents(self, proportions: np.ndarray, prior: np.ndarray) -> np.ndarray:
        """(D, new) proportions of training documents."""
        moved = moved_proportions(proportions, self.transfer, prior)
        if self.documents is not None and self.split is not None:
            parts = np.flatnonzero(self.transfer[self.split])
            moved[:, parts] = self.documents[:, parts] * proportions[:, [self.split]]
        return moved
