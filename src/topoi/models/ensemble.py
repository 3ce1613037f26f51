"""Ensembles: one model from the topics that several runs agree on."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import clone

from topoi.evaluate.topics import match_topics, mean_stability, stability
from topoi.models.labeled import LabeledLDA
from topoi.models.parameters import Parameters

if TYPE_CHECKING:
    from topoi.io.given import DocumentsLike

__all__ = ["core_topics", "ensemble"]

Model = TypeVar("Model", bound=Parameters)
ROUNDS = 10  # of matching; topics are stable after two or three


def ensemble(model: Model, X: DocumentsLike, n: int = 10, **metadata: Any) -> Model:
    """A model from the topics of several runs with different seeds.

    Topics of all runs are clustered: in each run one topic belongs to each core, so that matched
    topics are as similar as they can be. The mean topics of the clusters are the start of one more
    run, whose model is returned.

    Parameters
    ----------
    model : LDA, AuthorTopicModel or RelationalTopicModel
        What to fit; it stays as it is.
    X : Corpus, array-like or sparse matrix
        Documents.
    n : int, default=10
        Number of runs, at least 2. Their seeds follow random_state.
    **metadata
        Passed to `fit`: authors, links.

    Returns
    -------
    Model
        A fitted model of the same class. Its `stability_` has a number for each topic, the mean
        cosine with its match in each run: 1 means found by every seed.

    Examples
    --------
    >>> import topoi
    >>> corpus, _ = topoi.datasets.make_blocks(n_topics=3)
    >>> model = topoi.ensemble(topoi.LDA(3, max_iter=20), corpus, n=3)
    >>> model.stability_.round(1).tolist()
    [1.0, 1.0, 1.0]
    """
    if not isinstance(n, numbers.Integral) or isinstance(n, bool) or n < 2:
        raise ValueError(f"n is {n!r}; expected a whole number of at least 2 runs.")
    if isinstance(model, LabeledLDA):
        raise ValueError("Topics of LabeledLDA are its labels in every run; fit it once.")
    seed = model.random_state if isinstance(model.random_state, numbers.Integral) else 0
    runs = [
        clone(model).set_params(random_state=int(seed) + i).fit(X, **metadata) for i in range(n)
    ]
    found: object = clone(model).set_params(init=core_topics(runs)).fit(X, **metadata)
    found.set_params(init=model.init)
    found.stability_ = stability([found, *runs])
    return found


def core_topics(runs: Sequence[object]) -> np.ndarray:
    """The mean topics of clusters with one topic of each run.

    Parameters
    ----------
    runs : sequence of fitted models or ndarrays of shape (n_topics, n_words)
        Topics of each run.

    Returns
    -------
    ndarray of shape (n_topics, n_words)
        Rows sum to 1.

    Examples
    --------
    >>> core_topics([[[0.8, 0.2], [0.1, 0.9]], [[0.1, 0.9], [0.6, 0.4]]]).round(2).tolist()
    [[0.7, 0.3], [0.1, 0.9]]
    """
    topics = [np.asarray(getattr(run, "topic_word_", run), dtype=np.float64) for run in runs]
    # Begin with the run that is most like the others.
    alike = [np.mean([mean_stability([one, other]) for other in topics]) for one in topics]
    core = topics[int(np.argmax(alike))]
    for _ in range(ROUNDS):
        matched = [run[match_topics(core, run)[0]] for run in topics]
        before, core = core, np.mean(matched, axis=0)
        if np.allclose(before, core):
            break
    proportions: np.ndarray = core / core.sum(axis=1, keepdims=True)
    return proportions
