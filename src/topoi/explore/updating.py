"""Updating topics by new documents: which do not fit, and how topics drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus
from topoi.graph.factors import Factor
from topoi.graph.plan import Plan
from topoi.infer import session
from topoi.infer.monitor import Monitor
from topoi.infer.recipe import Settings
from topoi.infer.rules import make_rule

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Growth", "drift_table", "new_themes"]

WORST = 0.2  # of the documents, and those that fit worst, make new topics
SWEEPS = 60
HALF = 0.5  # of a token: less is rounding error, or hardly used


@dataclass
class Growth:
    """What an update adds to a model: documents, and perhaps words and topics.

    Parameters
    ----------
    corpus : Corpus
        New documents, over the words of the model and new ones after them.
    places : ndarray of shape (n_old_topics,)
        The number that each topic of the model has afterwards.
    first : ndarray of shape (n_words, n_new_topics)
        Word proportions with which new topics start, in the order of their numbers.
    factors : list of factors
        Of the new documents, beside their words. The first says who owns them.

    Examples
    --------
    >>> growth = Growth(Corpus([[1, 2, 3]]), np.array([0, 2]), np.full((3, 1), 1 / 3), [])
    >>> growth.n_topics, growth.moved(np.array([[5.0, 7.0]])).tolist()
    (3, [[5.0, 0.0, 7.0]])
    """

    corpus: Corpus
    places: np.ndarray
    first: np.ndarray
    factors: list[Factor]

    @property
    def n_topics(self) -> int:
        """Topics afterwards."""
        return len(self.places) + int(self.first.shape[1])

    @property
    def added(self) -> np.ndarray:
        """Numbers of new topics."""
        return np.setdiff1d(np.arange(self.n_topics), self.places)

    def moved(self, table: np.ndarray) -> np.ndarray:
        """A table whose last axis is topics, with these in their places and 0 for new ones."""
        found = np.zeros((*table.shape[:-1], self.n_topics), dtype=table.dtype)
        found[..., self.places] = table
        return found

    def with_words(self, table: np.ndarray) -> np.ndarray:
        """(W, K) what words have of topics, from a table (K, W) of the model; 0 for new ones."""
        found = np.zeros((self.corpus.n_words, self.n_topics))
        found[: table.shape[1], self.places] = table.T
        return found


def new_themes(
    counts: sparse.csr_array, fit: np.ndarray, n: int, *, seed: int = 0, n_jobs: int | None = None
) -> np.ndarray:
    """Word proportions of n topics of the documents that fit worst.

    Parameters
    ----------
    counts : csr_array of shape (n_documents, n_words)
        New documents.
    fit : ndarray of shape (n_documents,)
        How well the topics explain each of them.
    n : int
        Number of topics.
    seed : int, default=0
        Seed of the fit.
    n_jobs : int or None, default=None
        Threads.

    Returns
    -------
    ndarray of shape (n_words, n)
        Columns sum to 1.

    Examples
    --------
    >>> counts = sparse.csr_array(np.repeat([[4.0, 3, 0, 0], [0, 0, 3, 4]], 10, axis=0))
    >>> themes = new_themes(counts, np.repeat([0.0, 9.0], 10), 1)
    >>> np.flatnonzero(themes[:, 0] > 0.2).tolist()
    [0, 1]
    """
    worst = np.argsort(fit, kind="stable")[: max(n, round(WORST * len(fit)))]
    part = sparse.csr_array(counts[np.sort(worst)])
    settings = Settings(make_rule("bp"), max_iter=SWEEPS, seed=seed, n_jobs=n_jobs)
    fitted, _ = session.fit(Plan(n, part), settings, lambda: Monitor(part, max_iter=SWEEPS))
    themes: np.ndarray = (fitted.components / fitted.components.sum(axis=1, keepdims=True)).T
    return themes


def drift_table(
    before: np.ndarray, now: np.ndarray, names: Sequence[str], words: Sequence[object], n_words: int
) -> pd.DataFrame:
    """How the words of topics in new documents differ from those before.

    Parameters
    ----------
    before, now : ndarray of shape (n_topics, n_words)
        Tokens of words in topics: of documents before, and of new ones.
    names : sequence of str
        Names of topics.
    words : sequence
        The word of each column.
    n_words : int
        Words to show.

    Returns
    -------
    pandas.DataFrame
        Columns topic, name, before and now (proportion of all tokens), drift (Hellinger distance of
        word proportions, 0 to 1; NaN where either has no tokens), rising (words).

    Examples
    --------
    >>> drift_table(np.array([[5.0, 5, 0]]), np.array([[0.0, 5, 5]]), ["a"], "xyz", 1).round(2)
       topic name  before  now  drift rising
    0      0    a     1.0  1.0   0.71      z
    """
    import pandas as pd

    rows = []
    for k, name in enumerate(names):
        old, new = (table[k] / max(table[k].sum(), 1e-300) for table in (before, now))
        both = before[k].sum() > 0 and now[k].sum() > 0
        rising = np.argsort(old - new, kind="stable")[:n_words]
        rises = (new > old) & (now[k] >= HALF)
        rows.append(
            {
                "topic": k,
                "name": name,
                "before": before[k].sum() / max(before.sum(), 1e-300),
                "now": now[k].sum() / max(now.sum(), 1e-300),
                "drift": np.linalg.norm(np.sqrt(old) - np.sqrt(new)) / 2**0.5 if both else np.nan,
                "rising": ", ".join(str(words[w]) for w in rising if rises[w]),
            }
        )
    return pd.DataFrame(rows)
