"""How many topics? Held-out perplexity, coherence, diversity and stability in one table, with one
recommendation.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from topoi.corpus import Corpus
from topoi.corpus.checks import check_counts
from topoi.evaluate.coherence import npmi
from topoi.evaluate.perplexity import completion_perplexity
from topoi.evaluate.topics import mean_stability, topic_diversity

if TYPE_CHECKING:
    import pandas as pd

    from topoi.evaluate.inputs import ModelLike
    from topoi.io.given import DocumentsLike

__all__ = ["Choice", "choose_n_components", "recommended"]


@dataclass(frozen=True)
class Choice:
    """Result of `choose_n_components`.

    Attributes
    ----------
    rows : list of dict
        One per number of topics: n_components, perplexity with its standard error, npmi, diversity
        and stability.
    best : int or None
        The recommended number of topics; None if the numbers tried were too small to tell.
    reason : str
        Why, in a sentence.
    """

    rows: list[dict[str, float]]
    best: int | None
    reason: str

    @property
    def table(self) -> pd.DataFrame:
        """The rows by number of topics, and which one is recommended."""
        import pandas as pd

        table = pd.DataFrame(self.rows).set_index("n_components")
        return table.assign(recommended=table.index == self.best)

    def __str__(self) -> str:
        return f"{self.table.round(3).to_string()}\n{self.reason}"

    def _repr_html_(self) -> str:
        return f"{self.table.round(3).to_html()}<p>{self.reason}</p>"


def choose_n_components(
    model: ModelLike,
    X: DocumentsLike,
    candidates: Sequence[int],
    *,
    test_size: float = 0.2,
    n_seeds: int = 3,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Choice:
    """Fit several numbers of topics with several seeds, and recommend one.

    Models are fitted on part of the documents and measured on the rest. Recommended is the smallest
    number whose held-out perplexity exceeds the lowest by no more than one standard error (over
    seeds) of their difference. If that is the largest number tried, the range was too small, and
    none is recommended. Coherence, diversity and stability are listed too, since no
    single measure decides; `reason` says when the most stable or the most coherent number is
    another.

    Parameters
    ----------
    model : estimator
        What to fit, such as `LDA()`. Authors and links of a Corpus go to models that use them.
    X : Corpus or array-like of shape (n_documents, n_words)
        Documents.
    candidates : sequence of int
        Numbers of topics to try.
    test_size : float, default=0.2
        Proportion of documents to measure on.
    n_seeds : int, default=3
        Number of fits of each, at least 2.
    random_state : int, default=0
        The first seed, and that of the split.
    progress : callable, default=None
        Called with (fits done, fits to do) before each fit.

    Returns
    -------
    Choice
        `best` is the recommended number, `table` has all measures, `reason` says why.

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> from topoi.evaluate import choose_n_components
    >>> corpus, _ = datasets.make_blocks(n_topics=3)
    >>> choice = choose_n_components(LDA(max_iter=20), corpus, [2, 3, 6], n_seeds=2)
    >>> choice.best
    3
    >>> choice.table["recommended"].tolist()
    [False, True, False]
    """
    whole = all(isinstance(k, numbers.Integral) and k >= 1 for k in candidates)
    if not len(candidates) or not whole:
        raise ValueError(
            f"candidates are {candidates!r}; expected numbers of topics of at least 1."
        )
    if n_seeds < 2:
        raise ValueError(
            f"n_seeds is {n_seeds}; at least 2 are needed to see how stable topics are."
        )
    corpus = X if isinstance(X, Corpus) else Corpus(check_counts(X))
    train, test = corpus.split(test_size, random_state)
    rows: list[dict[str, float]] = []
    candidates = sorted(set(candidates))
    for k in candidates:
        fits = []
        for seed in range(n_seeds):
            if progress is not None:
                progress(len(rows) * n_seeds + seed, len(candidates) * n_seeds)
            fits.append(
                clone(model).set_params(n_components=k, random_state=random_state + seed).fit(train)
            )
        perplexities = [completion_perplexity(fit, test, random_state=random_state) for fit in fits]
        rows.append(
            {
                "n_components": k,
                "perplexity": float(np.mean(perplexities)),
                "perplexity_se": float(np.std(perplexities, ddof=1) / np.sqrt(n_seeds)),
                "npmi": float(np.mean([npmi(fit, train.counts).mean() for fit in fits])),
                "diversity": float(np.mean([topic_diversity(fit) for fit in fits])),
                "stability": mean_stability(fits),
            }
        )
    return recommended(rows)


def recommended(rows: list[dict[str, float]]) -> Choice:
    """The fewest topics that do about as well as the best. rows: by number of topics.

    The standard error is that of the difference, so a number of topics whose mean suffers from one
    stuck seed is not thrown out.
    """
    lowest = min(rows, key=lambda row: row["perplexity"])
    best = next(
        row
        for row in rows
        if row["perplexity"] - lowest["perplexity"]
        <= np.hypot(row["perplexity_se"], lowest["perplexity_se"])
    )
    if best is rows[-1]:
        most = int(best["n_components"])
        reason = (
            f"No recommendation: of the numbers tried the largest, {most}, has the lowest held-out"
            f" perplexity ({best['perplexity']:.1f}), so the range was too small; try larger ones,"
            f" for instance {2 * most} and {4 * most}."
        )
        return Choice(rows, None, reason)
    reason = (
        f"{best['n_components']} topics: the fewest whose held-out perplexity"
        f" ({best['perplexity']:.1f}) is within one standard error of the lowest"
        f" ({lowest['perplexity']:.1f} at {lowest['n_components']})."
    )
    if best is rows[0] and best["n_components"] > 2:
        reason += " That is the smallest number tried; fewer may do as well."
    return Choice(rows, int(best["n_components"]), reason + _other_views(rows, best))


def _other_views(rows: list[dict[str, float]], best: dict[str, float]) -> str:
    """A sentence on the most stable and the most coherent number of topics, where they are not the
    recommended one.
    """
    compared = [
        row for row in rows if row["n_components"] > 1 or row is best
    ]  # a single topic is always stable
    # as the table shows them: the recommended number wins a tie
    stable = max(compared, key=lambda row: (round(row["stability"], 3), row is best))
    coherent = max(rows, key=lambda row: (round(row["npmi"], 3), row is best))
    others = [
        f"the most {view} is {row['n_components']}"
        for view, row in (("stable", stable), ("coherent", coherent))
        if row is not best
    ]
    return f" But {', '.join(others)}." if others else ""
