"""Splitting a topic: LDA on what its messages hold of the training documents."""

from __future__ import annotations

import numbers

import numpy as np
from scipy import sparse

from topoi.explore.editing import Moves
from topoi.graph.plan import Plan
from topoi.infer import session
from topoi.infer.monitor import Monitor
from topoi.infer.recipe import Settings
from topoi.infer.rules import make_rule

__all__ = ["split_moves"]

LEAST = 1e-2  # of a token: entries of which the topic holds less are left out
SWEEPS = 200
TOLERANCE = 1e-4


def split_moves(
    counts: sparse.csr_array,
    held: np.ndarray,
    topic: int,
    n_topics: int,
    into: int,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Moves:
    """Which part of a topic its parts get, of each word and each document.

    The largest part stays where the topic is, the others come after all topics.

    Parameters
    ----------
    counts : csr_array of shape (n_documents, n_words)
        The training documents.
    held : ndarray of shape (n_nonzeros,)
        What the topic holds of each entry of `counts`.
    topic : int
        Number of the topic.
    n_topics : int
        Number of topics.
    into : int
        Number of parts.
    seed : int, default=0
        Seed of the fit.
    n_jobs : int or None, default=None
        Threads.

    Returns
    -------
    Moves

    Examples
    --------
    >>> counts = sparse.csr_array(np.repeat([[4.0, 3, 0, 0], [0, 0, 3, 4]], 20, axis=0))
    >>> moves = split_moves(counts, counts.data, 0, 1, 2)
    >>> sorted(moves.words.round(1).tolist())
    [[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0]]
    """
    if not isinstance(into, numbers.Integral) or isinstance(into, bool) or into < 2:
        raise ValueError(f"into is {into!r}; expected a whole number of at least 2 parts.")
    held = np.where(held < LEAST, 0.0, held)
    part = sparse.csr_array((held, counts.indices, counts.indptr), counts.shape, copy=True)
    part.eliminate_zeros()
    if part.nnz < into:
        raise ValueError(f"Topic {topic} holds too few words to be split into {into} parts.")
    settings = Settings(make_rule("bp"), max_iter=SWEEPS, seed=seed, n_jobs=n_jobs)
    fitted, _ = session.fit(
        Plan(int(into), part), settings, lambda: Monitor(part, tol=TOLERANCE, max_iter=SWEEPS)
    )
    size = np.maximum((fitted.components - fitted.beta).sum(axis=1), 1e-6)
    order = np.argsort(-size, kind="stable")
    new, n_new = np.r_[topic, n_topics + np.arange(into - 1)], n_topics + int(into) - 1
    transfer = np.eye(n_topics, n_new)
    transfer[topic, new] = size[order] / size.sum()
    words = np.zeros((n_new, counts.shape[1]))
    words[new] = (fitted.components / fitted.components.sum(axis=0))[order]
    documents = np.zeros((counts.shape[0], n_new))
    documents[:, new] = fitted.doc_topic[:, order]
    return Moves(transfer, words, documents, topic)
