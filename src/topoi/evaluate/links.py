"""Link prediction (algorithms 5.3): can topics tell which documents are linked?

Task L completes links: some pairs are hidden, all texts are known. Task N meets new documents by
their words alone and ranks all training documents for each. Non-links are random pairs that are not
linked; hidden links never take part in training.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from topoi.corpus.checks import is_sparse
from topoi.corpus.links import adjacency, symmetric

if TYPE_CHECKING:
    from topoi.corpus.given import LinksLike, Matrix

__all__ = [
    "LinkKFold",
    "cosine_scores",
    "hadamard",
    "link_metrics",
    "link_pairs",
    "random_non_links",
    "ranking_metrics",
    "svm_scores",
]


def link_pairs(links: LinksLike, n_docs: int) -> np.ndarray:
    """Linked pairs, each once with the smaller number first and without self-links.

    Parameters
    ----------
    links : matrix, pairs or lists of neighbours
        Links in any form that `RelationalTopicModel.fit` takes.
    n_docs : int
        Number of documents.

    Returns
    -------
    ndarray of shape (n_pairs, 2)

    Examples
    --------
    >>> from topoi.evaluate import link_pairs
    >>> link_pairs([(2, 0), (0, 2), (1, 2)], 3).tolist()
    [[0, 2], [1, 2]]
    """
    upper = sparse.triu(symmetric(adjacency(links, n_docs)), 1).tocoo()
    return np.column_stack([upper.coords[0], upper.coords[1]]).astype(np.int64)


class LinkKFold:
    """Cross-validation that holds out links.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    random_state : int, default=0
        Seed of the order of links.

    Examples
    --------
    >>> from topoi.evaluate import LinkKFold
    >>> links = [(0, 1), (1, 2), (2, 3), (0, 3)]
    >>> [(len(train), len(test)) for train, test in LinkKFold(2).split(links, 4)]
    [(2, 2), (2, 2)]
    """

    def __init__(self, n_splits: int = 5, random_state: int = 0) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def split(self, links: LinksLike, n_docs: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Training pairs and test pairs of each fold.

        Parameters
        ----------
        links : matrix, pairs or lists of neighbours
            Links in any form that `RelationalTopicModel.fit` takes.
        n_docs : int
            Number of documents.

        Yields
        ------
        train, test : ndarray of shape (n_pairs, 2)
        """
        pairs = link_pairs(links, n_docs)
        for train, test in KFold(self.n_splits, shuffle=True, random_state=self.random_state).split(
            pairs
        ):
            yield pairs[train], pairs[test]


def random_non_links(links: LinksLike, n_docs: int, n: int, random_state: int = 0) -> np.ndarray:
    """Different pairs of documents that are not linked, uniformly at random.

    Parameters
    ----------
    links : matrix, pairs or lists of neighbours
        Links in any form that `RelationalTopicModel.fit` takes.
    n_docs : int
        Number of documents.
    n : int
        Number of pairs to draw.
    random_state : int, default=0
        Seed.

    Returns
    -------
    ndarray of shape (n, 2)

    Examples
    --------
    >>> from topoi.evaluate import random_non_links
    >>> random_non_links([(0, 1), (0, 2)], 3, 1).tolist()
    [[1, 2]]
    """
    taken = {tuple(pair) for pair in link_pairs(links, n_docs).tolist()}
    free = n_docs * (n_docs - 1) // 2 - len(taken)
    if n > free:
        raise ValueError(
            f"There are only {free} pairs without a link; ask for at most {free}, not {n}."
        )
    rng = np.random.default_rng(random_state)
    chosen: list[tuple[int, int]] = []
    while len(chosen) < n:
        for a, b in np.sort(
            rng.integers(0, n_docs, (2 * (n - len(chosen)) + 8, 2)), axis=1
        ).tolist():
            if a != b and (a, b) not in taken and len(chosen) < n:
                taken.add((a, b))
                chosen.append((a, b))
    return np.array(chosen, dtype=np.int64).reshape(-1, 2)


def hadamard(doc_topic: np.ndarray, pairs: np.ndarray, root: bool = True) -> np.ndarray:
    """Features of document pairs: products of their topic proportions.

    Parameters
    ----------
    doc_topic : ndarray of shape (n_documents, n_topics)
        Topic proportions.
    pairs : ndarray of shape (n_pairs, 2)
        Document numbers.
    root : bool, default=True
        Whether to take the square root of the product.

    Returns
    -------
    ndarray of shape (n_pairs, n_topics)

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.evaluate import hadamard
    >>> hadamard(np.array([[0.25, 0.75], [1, 0]]), np.array([[0, 1]])).tolist()
    [[0.5, 0.0]]
    """
    product: np.ndarray = doc_topic[pairs[:, 0]] * doc_topic[pairs[:, 1]]
    return np.sqrt(product) if root else product


def svm_scores(train: np.ndarray, labels: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Decision values of a linear SVM (the paper names no kernel).

    Features are standardised, classes balanced, and C is chosen by an inner cross-validation.

    Parameters
    ----------
    train : ndarray of shape (n_pairs, n_features)
        Features of training pairs, for instance by `hadamard`.
    labels : ndarray of shape (n_pairs,)
        Whether each of them is linked.
    test : ndarray of shape (n_test_pairs, n_features)
        Features of the pairs to score.

    Returns
    -------
    ndarray of shape (n_test_pairs,)

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.evaluate import svm_scores
    >>> train, labels = np.repeat([[0.0], [1.0]], 6, axis=0), np.repeat([False, True], 6)
    >>> low, high = svm_scores(train, labels, np.array([[0.0], [1.0]]))
    >>> bool(low < high)
    True
    """
    svm = make_pipeline(StandardScaler(), LinearSVC(class_weight="balanced", dual=False))
    search = GridSearchCV(
        svm, {"linearsvc__C": 2.0 ** np.arange(-5, 11, 3)}, cv=3, scoring="average_precision"
    )
    scores: np.ndarray = search.fit(train, labels).decision_function(test)
    return scores


def cosine_scores(rows: Matrix, pairs: np.ndarray) -> np.ndarray:
    """Cosine of the rows of document pairs.

    Parameters
    ----------
    rows : ndarray or sparse matrix of shape (n_documents, n_features)
        Topic proportions, or TF-IDF weights as a baseline without topics.
    pairs : ndarray of shape (n_pairs, 2)
        Document numbers.

    Returns
    -------
    ndarray of shape (n_pairs,)

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.evaluate import cosine_scores
    >>> cosine_scores(np.eye(2), np.array([[0, 0], [0, 1]])).tolist()
    [1.0, 0.0]
    """
    if is_sparse(rows):
        norm = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        dot = np.asarray(rows[pairs[:, 0]].multiply(rows[pairs[:, 1]]).sum(axis=1)).ravel()
    else:
        norm = np.linalg.norm(rows, axis=1)
        dot = np.einsum("ik,ik->i", rows[pairs[:, 0]], rows[pairs[:, 1]])
    cosines: np.ndarray = dot / np.maximum(norm[pairs[:, 0]] * norm[pairs[:, 1]], 1e-300)
    return cosines


def link_metrics(
    scores: np.ndarray, linked: np.ndarray, threshold: float | None = None
) -> dict[str, float]:
    """F1, AUC and average precision of pair scores.

    Parameters
    ----------
    scores : ndarray of shape (n_pairs,)
        The higher, the likelier a link.
    linked : ndarray of shape (n_pairs,)
        Whether each pair is linked.
    threshold : float, default=None
        Score above which F1 predicts a link. None is the median score.

    Returns
    -------
    dict of str to float
        "f1", "auc" and "average_precision".

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.evaluate import link_metrics
    >>> link_metrics(np.array([0.9, 0.8, 0.2, 0.1]), np.array([1, 1, 0, 0]))
    {'f1': 1.0, 'auc': 1.0, 'average_precision': 1.0}
    """
    cut = np.median(scores) if threshold is None else threshold
    return {
        "f1": float(f1_score(linked, scores > cut)),
        "auc": float(roc_auc_score(linked, scores)),
        "average_precision": float(average_precision_score(linked, scores)),
    }


def ranking_metrics(
    score: Callable[[int], np.ndarray], truth: list[np.ndarray], at: tuple[int, ...] = (5, 10, 20)
) -> dict[str, float]:
    """Recall at k, mean reciprocal rank, predictive link rank and average precision.

    Candidates with the same score share the mean of their ranks, and are above k with the
    probability that a random order of them gives. Documents without links are left out.

    Parameters
    ----------
    score : callable
        score(i) gives the scores of all candidates for document i.
    truth : list of ndarray
        Numbers of the candidates that each document is linked to; duplicates count once.
    at : tuple of int, default=(5, 10, 20)
        The k of recall at k.

    Returns
    -------
    dict of str to float
        "recall@5" and so on, "mrr", "link_rank" and "average_precision".

    Examples
    --------
    >>> import numpy as np
    >>> from topoi.evaluate import ranking_metrics
    >>> scores = np.array([[0.9, 0.5, 0.1], [0.2, 0.3, 0.8]])
    >>> ranking_metrics(lambda i: scores[i], [np.array([0]), np.array([2])], at=(1,))
    {'recall@1': 1.0, 'mrr': 1.0, 'link_rank': 1.0, 'average_precision': 1.0}
    """
    recall: dict[int, list[float]] = {k: [] for k in at}
    first, ranks, precision = [], [], []
    for i, linked in enumerate(truth):
        if not len(linked):
            continue
        scores, found = np.asarray(score(i)), np.unique(linked)
        # They differ among ties.
        best, worst = (rankdata(-scores, method)[found] for method in ("min", "max"))
        mine = np.sort((best + worst) / 2)
        for k in at:
            recall[k].append(float(np.clip((k - best + 1) / (worst - best + 1), 0, 1).mean()))
        first.append(1 / mine[0])
        ranks.extend(mine.tolist())
        precision.append(float(np.mean(np.arange(1, len(mine) + 1) / mine)))
    if not ranks:
        raise ValueError(
            "No document has a link, so there is nothing to rank; give the links of the test"
            " documents."
        )
    return {
        **{f"recall@{k}": float(np.mean(recall[k])) for k in at},
        "mrr": float(np.mean(first)),
        "link_rank": float(np.mean(ranks)),
        "average_precision": float(np.mean(precision)),
    }
