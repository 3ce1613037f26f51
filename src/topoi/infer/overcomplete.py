"""The start of "auto": more topics than wanted, learned from a part of the documents, and the
closest of them merged.

From a random start BP often lets one topic hold two themes while two others share one, and
stays there. With twice the topics every theme soon has one to itself; merging similar topics leaves
one for each theme.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from scipy import sparse

from topoi.graph.plan import Plan
from topoi.graph.wiring import build_graph
from topoi.infer.engine import sweep
from topoi.infer.recipe import Recipe
from topoi.infer.rules import Rule
from topoi.infer.schedules import Schedule
from topoi.infer.state import State
from topoi.infer.threads import ThreadPool

__all__ = ["merge_topics", "mergers", "overcomplete_topics", "some_documents"]


def overcomplete_topics(
    documents: sparse.csr_array, recipe: Recipe, rule: Rule, *, seed: int, pool: ThreadPool
) -> np.ndarray:
    """(W, K) word proportions of topics to start from, from sweeps over `documents` without stored
    messages; columns sum to 1.
    """
    plan = Plan(recipe.overcomplete_topics, documents)
    state = State.start(
        build_graph(plan, seed=seed),
        rule,
        np.full(plan.n_topics, recipe.alpha.mean()),
        recipe.beta,
        seed=seed,
        pool=pool,
        stored=False,
    )
    for _ in recipe.overcomplete:
        sweep(state, rule, Schedule("overcomplete", warm_up=recipe.overcomplete), pool)
    phi = state.tables.phi[:, : plan.n_topics]
    topics = np.full((len(phi), len(recipe.alpha)), recipe.beta)
    for k, group in enumerate(merge_topics(phi, len(recipe.alpha))):
        topics[:, group] += phi[:, k]
    return topics / topics.sum(axis=0)


def some_documents(counts: sparse.csr_array, enough: int, seed: int) -> sparse.csr_array:
    """Documents drawn at random until they have `enough` edges; all documents, if these are no more
    than twice as many.
    """
    if counts.nnz <= 2 * enough:
        return counts
    n_edges = np.diff(counts.indptr)
    order = np.random.default_rng(seed).permutation(counts.shape[0])
    return counts[np.sort(order[: np.searchsorted(np.cumsum(n_edges[order]), enough) + 1])]


def merge_topics(phi: np.ndarray, n: int) -> np.ndarray:
    """The group, 0 to n - 1, of each column of phi (W, m), from merging again and again the two
    topics that differ least.
    """
    group = np.arange(phi.shape[1])
    for i, j, _ in islice(mergers(phi), phi.shape[1] - n):
        group[group == j] = i
    return np.unique(group, return_inverse=True)[1]


def mergers(phi: np.ndarray) -> Iterator[tuple[int, int, float]]:
    """Which of the columns of phi (W, m) merge, until one is left: i, j, and the loss. What was in
    j is in i from then on.

    The loss of a merger is n_i n_j / (n_i + n_j) times the squared distance of the roots of their
    words' proportions (Ward's criterion), so small topics merge first.
    """
    size = np.maximum(phi.sum(axis=0, dtype=np.float64), 1e-30)
    loss = np.outer(size, size) / np.add.outer(size, size) * (2 - 2 * _affinity(phi, size))
    np.fill_diagonal(loss, np.inf)
    for _ in range(len(size) - 1):
        i, j = divmod(int(loss.argmin()), len(size))
        yield i, j, float(loss[i, j])
        both = size[i] + size[j] + size
        row = (
            (size[i] + size) * loss[i] + (size[j] + size) * loss[j] - size * loss[i, j]
        ) / both  # Lance and Williams
        loss[i], loss[:, i] = row, row
        loss[j], loss[:, j] = np.inf, np.inf
        size[i] += size[j]


def _affinity(phi: np.ndarray, size: np.ndarray, n_rows: int = 4096) -> np.ndarray:
    """(m, m) inner products of the roots of topics' word proportions, to nine places: what a
    library of linear algebra does beyond these must not decide.
    """
    out = np.zeros((len(size), len(size)))
    for first in range(0, len(phi), n_rows):
        root = np.sqrt(phi[first : first + n_rows] / size)
        out += root.T @ root
    return np.round(np.minimum(out, 1), 9)
