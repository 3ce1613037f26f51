"""Prevalence of topics in periods and groups of documents, with intervals, and words there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, cast, get_args

import numpy as np
from scipy import sparse
from scipy.special import ndtri, stdtrit

from topoi.corpus import Corpus, Membership
from topoi.corpus.dates import By, periods
from topoi.explore.words import words_of

if TYPE_CHECKING:
    import pandas as pd

    from topoi.corpus.documents import TrainingDocuments
    from topoi.protocols import FittedModel

__all__ = [
    "Interval",
    "check_level",
    "observed_proportions",
    "period_members",
    "prevalence_table",
    "words_table",
]

Interval = Literal["score", "bootstrap"]
BLOCK = 1_000  # documents whose messages are held at a time
REPEATS = 1_000  # resamples of a bootstrap
ROUNDS = 5  # of the fixed point of a dispersion
LEAST_DISPERSION = 1e-6
TINY = 1e-12


def observed_proportions(model: FittedModel) -> np.ndarray:
    """Topic proportions of the training documents without the prior.

    `doc_topic_` is (expected tokens + prior) / (tokens + sum of the prior), which draws every
    document towards the mean of the corpus, and so every period towards the others. Where
    proportions have this form the prior is taken out; those of authors, links and labels have not,
    and are taken as they are.

    Parameters
    ----------
    model : fitted model
        A topoi model that keeps its documents.

    Returns
    -------
    ndarray of shape (n_docs, n_components)
        Rows sum to 1. Documents without words have NaN: they have no topics.

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> model = LDA(2).fit(datasets.make_blocks(n_topics=2)[0])
    >>> observed_proportions(model).sum(axis=1).round(6).min()
    np.float64(1.0)
    """
    proportions = np.asarray(model.doc_topic_, dtype=np.float64)
    documents = cast("TrainingDocuments", model.documents_)
    tokens, prior = documents.tokens[:, None], np.asarray(model.doc_topic_prior_)
    counts = proportions * (tokens + prior.sum()) - prior
    empty = documents.words == 0
    if model.weighting_.kind == "count" and (counts[~empty] > -1e-3 * prior - 1e-6).all():
        counts = np.maximum(counts, 0)
        proportions = counts / np.maximum(counts.sum(axis=1, keepdims=True), TINY)
    proportions[empty] = np.nan
    return proportions


def period_members(dates: Sequence[str], by: By) -> tuple[Membership, list[str]]:
    """The period of each document, in the order of time, and the first day of each period.

    Parameters
    ----------
    dates : sequence of str
        Dates, "" where there is none.
    by : str
        The length of a period, as in `topoi.corpus.dates.periods`.

    Returns
    -------
    members : Membership
        Documents x periods.
    starts : list of str

    Examples
    --------
    >>> members, starts = period_members(["2021", "", "2019", "2021"], "year")
    >>> members.names.tolist(), members.matrix.sum(axis=0).tolist(), starts[0]
    (['2019', '2021'], [1.0, 2.0], '2019-01-01')
    """
    found = periods(dates, by)
    known = sorted({period for period in found if period is not None}, key=lambda p: p.start)
    column = {period: i for i, period in enumerate(known)}
    docs = [d for d, period in enumerate(found) if period is not None]
    places = [column[period] for period in found if period is not None]
    shape = (len(found), len(known))
    table = sparse.csr_array((np.ones(len(docs)), (docs, places)), shape=shape)
    names = np.array([period.name for period in known], dtype=str)
    return Membership(table, names), [period.start for period in known]


def check_level(level: float) -> None:
    if not isinstance(level, float | int | np.number) or not 0 < level < 1:
        raise ValueError(f"level is {level!r}; expected a number between 0 and 1, such as 0.95.")


def prevalence_table(
    proportions: np.ndarray,
    members: Membership,
    names: Sequence[str],
    *,
    level: float = 0.95,
    interval: Interval = "score",
    random_state: int = 0,
) -> pd.DataFrame:
    """Mean topic proportions of groups of documents, with intervals.

    The documents of a group are taken as a sample of such documents, and the interval is for the
    mean of all of them. It covers the sampling of documents and, since proportions that are
    uncertain also vary more, the uncertainty of each document's proportions. It does not cover
    what is uncertain about the topics themselves.

    Parameters
    ----------
    proportions : ndarray of shape (n_docs, n_components)
        Topic proportions; documents with NaN do not count.
    members : Membership
        The groups of each document.
    names : sequence of str
        Names of the topics.
    level : float, default=0.95
        How often an interval should cover the truth.
    interval : {"score", "bootstrap"}, default="score"
        "score": the variance of a topic's proportion is taken to be dispersion * p (1 - p), with
        one dispersion per topic learned from all groups, and p is in the interval if the mean is
        not too far from it (Wilson's interval, which also holds for small groups and rare topics).
        "bootstrap": documents of each group are resampled, and means are studentised.
    random_state : int, default=0
        Seed of the bootstrap.

    Returns
    -------
    pandas.DataFrame
        Columns group, topic, name, prevalence, low, high, documents; topics of the first group
        first.

    Examples
    --------
    >>> from topoi.corpus.metadata import label_membership
    >>> proportions = np.array([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.3, 0.7]])
    >>> members = label_membership(["a", "a", "b", "b"], 4)
    >>> table = prevalence_table(proportions, members, ["pets", "zoo"])
    >>> print(table[["group", "topic", "prevalence", "documents"]])
      group  topic  prevalence  documents
    0     a      0        0.80          2
    1     a      1        0.20          2
    2     b      0        0.25          2
    3     b      1        0.75          2
    """
    import pandas as pd

    check_level(level)
    if interval not in get_args(Interval):
        raise ValueError(f"interval is {interval!r}; choose 'score' or 'bootstrap'.")
    usable = np.isfinite(proportions).all(axis=1)
    proportions, table = proportions[usable], sparse.csr_array(members.matrix[usable])
    n_docs = np.asarray(table.sum(axis=0))
    mean = (table.T @ proportions) / np.maximum(n_docs, 1)[:, None]
    mean[n_docs == 0] = np.nan
    if interval == "score":
        low, high = _score(proportions, table, mean, n_docs, level)
    else:
        low, high = _bootstrap(proportions, table, mean, level, random_state)
    n_groups, n_topics = mean.shape
    return pd.DataFrame(
        {
            "group": np.repeat(members.names, n_topics),
            "topic": np.tile(np.arange(n_topics), n_groups),
            "name": np.tile(np.array(names, dtype=object), n_groups),
            "prevalence": mean.ravel(),
            "low": low.ravel(),
            "high": high.ravel(),
            "documents": np.repeat(n_docs.astype(np.int64), n_topics),
        }
    )


def _score(
    proportions: np.ndarray,
    table: sparse.csr_array,
    mean: np.ndarray,
    n_docs: np.ndarray,
    level: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the p for which |mean - p| <= t sqrt(dispersion p (1 - p) / n).

    The dispersion is learned from all groups, so t has as many degrees of freedom as they have
    documents beyond one each.
    """
    n, freedom = np.maximum(n_docs, 1)[:, None], np.maximum(n_docs - 1, 0).sum()
    tail = (1 + level) / 2
    z2 = (stdtrit(freedom, tail) if freedom else ndtri(tail)) ** 2
    effective = n / _dispersion(proportions, table, mean, n)
    centre = mean + z2 / (2 * effective)
    half = np.sqrt(z2 * (mean * (1 - mean) / effective + z2 / (4 * effective**2)))
    scale = 1 + z2 / effective
    return np.maximum((centre - half) / scale, 0), np.minimum((centre + half) / scale, 1)


def _dispersion(
    proportions: np.ndarray, table: sparse.csr_array, mean: np.ndarray, n: np.ndarray
) -> np.ndarray:
    """(K,) variance of proportions inside of groups, in units of p (1 - p), at most 1."""
    several = (n > 1).ravel()
    if not several.any():
        return np.ones(proportions.shape[1])
    mean, n = mean[several], n[several]
    squares = (table.T @ proportions**2)[several] - n * mean**2
    found = np.zeros(proportions.shape[1])
    for _ in range(ROUNDS):  # the mean's own variance makes mean (1 - mean) smaller than p (1 - p)
        expected = ((n - 1) * mean * (1 - mean) / (1 - np.minimum(found, 0.99) / n)).sum(axis=0)
        found = squares.sum(axis=0) / np.maximum(expected, TINY)
    return np.clip(found, LEAST_DISPERSION, 1)


def _bootstrap(
    proportions: np.ndarray, table: sparse.csr_array, mean: np.ndarray, level: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Studentised bootstrap of the documents of each group; NaN for groups of one document."""
    rng, columns = np.random.default_rng(seed), sparse.csc_array(table)
    low, high = np.full(mean.shape, np.nan), np.full(mean.shape, np.nan)
    tails = [(1 + level) / 2, (1 - level) / 2]
    for g in range(mean.shape[0]):
        own = proportions[columns.indices[columns.indptr[g] : columns.indptr[g + 1]]]
        n = len(own)
        if n < 2:
            continue
        weights = rng.multinomial(n, np.full(n, 1 / n), size=REPEATS) / n
        drawn = weights @ own
        spread = np.sqrt(np.maximum(weights @ own**2 - drawn**2, TINY) / (n - 1))
        above, below = np.quantile((drawn - mean[g]) / spread, tails, axis=0)
        error = own.std(axis=0, ddof=1) / np.sqrt(n)
        low[g], high[g] = mean[g] - above * error, mean[g] - below * error
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def words_table(
    model: FittedModel, corpus: Corpus, topic: int, members: Membership, n: int = 10
) -> pd.DataFrame:
    """The words of a topic in each group of documents.

    Parameters
    ----------
    model : fitted model
        A topoi model.
    corpus : Corpus
        The documents, over the words of the model.
    topic : int
        Number of the topic.
    members : Membership
        The groups of each document.
    n : int, default=10
        Words of each group.

    Returns
    -------
    pandas.DataFrame
        Columns group, word; probability, in the topic within the group; count, expected tokens of
        the topic; lift, the probability divided by that of the word in the whole topic. Most
        probable words first.
    """
    import pandas as pd

    if n < 1:
        raise ValueError(f"n is {n}; expected at least 1 word.")
    counts = np.zeros((len(members.names), corpus.n_words))
    for first in range(0, corpus.n_docs, BLOCK):
        part = corpus[first : first + BLOCK]
        held = part.counts.copy()
        held.data = held.data * np.asarray(model.messages(part))[:, topic]
        counts += (members.matrix[first : first + BLOCK].T @ held).toarray()
    words, rows = words_of(model), []
    for g, row in enumerate(counts):
        best = [int(w) for w in np.argsort(-row, kind="stable")[:n] if row[w] > 0]
        for w in best:
            probability = row[w] / row.sum()
            lift = probability / model.topic_word_[topic, w]
            rows.append((members.names[g], words[w], probability, row[w], lift))
    return pd.DataFrame(rows, columns=["group", "word", "probability", "count", "lift"])
