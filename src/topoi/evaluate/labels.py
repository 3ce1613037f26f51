"""Topics beside labels that people gave: do the documents of a label share a topic, and do their
proportions tell labels apart?
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.cluster import contingency_matrix
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from topoi.corpus.metadata import label_membership
from topoi.evaluate.inputs import proportions_of

if TYPE_CHECKING:
    from topoi.corpus.given import LabelsLike
    from topoi.evaluate.inputs import ModelLike
    from topoi.io.given import DocumentsLike

__all__ = ["clusters", "retrieval"]

BLOCK = 1024  # documents whose similarities to all others are held at a time


def clusters(
    model: ModelLike,
    labels: LabelsLike,
    X: DocumentsLike | None = None,
    *,
    folds: int = 5,
    random_state: int = 0,
) -> dict[str, float]:
    """How well topics agree with labels that they have not seen.

    Documents are clustered by their main topic, and the clusters are compared with the labels. No
    single number tells all: purity rises with the number of topics, inverse purity falls. "ami"
    and "ari" are 0 for random clusters. In addition a classifier learns the labels from all
    topic proportions, so that documents of several topics count too.

    Parameters
    ----------
    model : fitted model or ndarray of shape (n_documents, n_topics)
        A model with `doc_topic_` or `transform`, or topic proportions of any library.
    labels : sequence, matrix or Membership
        The label of each document. Documents without one (None, NaN, "") are left out.
    X : Corpus or array-like of shape (n_documents, n_words), default=None
        The labeled documents. None is the training documents of the model.
    folds : int, default=5
        Parts of the cross-validation of the classifier, a logistic regression on the roots of the
        proportions. It leaves out labels of fewer documents.
    random_state : int, default=0
        Seed of the cross-validation.

    Returns
    -------
    dict of str to float
        "documents", "labels", "topics" (main topics of some document): numbers. "purity":
        proportion of documents with the most frequent label of their main topic.
        "inverse_purity": the same with labels and topics exchanged. "harmonic_purity": mean over
        documents of the best F1 that a topic has with their label (Amigo et al. 2009). "nmi",
        "ami", "ari": mutual information, normalised and adjusted for chance, and the adjusted Rand
        index. "homogeneity", "completeness", "v_measure": "v_measure" is their harmonic mean, which
        equals "nmi". "majority": proportion of the most frequent label. "accuracy": that of the
        classifier on documents it has not seen; absent where fewer than two labels have enough
        documents.

    Examples
    --------
    >>> from topoi.evaluate import clusters
    >>> proportions = [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.1, 0.9]]
    >>> found = clusters(proportions, ["pets", "pets", "money", "money"], folds=2)
    >>> found["purity"], found["inverse_purity"]
    (0.75, 0.75)
    """
    proportions, truth = _labeled(model, labels, X)
    topic = proportions.argmax(axis=1)
    table = contingency_matrix(truth, topic).astype(np.float64)  # labels x topics
    of_label, of_topic = table.sum(axis=1), table.sum(axis=0)
    best_f1 = (2 * table / (of_label[:, None] + of_topic)).max(axis=1)
    homogeneity, completeness, v_measure = metrics.homogeneity_completeness_v_measure(truth, topic)
    return {
        "documents": len(truth),
        "labels": len(of_label),
        "topics": len(of_topic),
        "purity": float(table.max(axis=0).sum() / len(truth)),
        "inverse_purity": float(table.max(axis=1).sum() / len(truth)),
        "harmonic_purity": float(of_label @ best_f1 / len(truth)),
        "nmi": float(metrics.normalized_mutual_info_score(truth, topic)),
        "ami": float(metrics.adjusted_mutual_info_score(truth, topic)),
        "ari": float(metrics.adjusted_rand_score(truth, topic)),
        "homogeneity": float(homogeneity),
        "completeness": float(completeness),
        "v_measure": float(v_measure),
        "majority": float(of_label.max() / len(truth)),
        **_accuracy(proportions, truth, folds, random_state),
    }


def retrieval(
    model: ModelLike,
    labels: LabelsLike,
    X: DocumentsLike | None = None,
    *,
    at: tuple[int, ...] = (5, 10),
    random_state: int = 0,
) -> dict[str, float]:
    """How often the documents with the most similar topics have the same label.

    Every document is a query. Others are ranked by the similarity of topic proportions (the
    Bhattacharyya coefficient, 1 for equal proportions).

    Parameters
    ----------
    model : fitted model or ndarray of shape (n_documents, n_topics)
        A model with `doc_topic_` or `transform`, or topic proportions of any library.
    labels : sequence, matrix or Membership
        The label of each document. Documents without one (None, NaN, "") are left out.
    X : Corpus or array-like of shape (n_documents, n_words), default=None
        The labeled documents. None is the training documents of the model.
    at : tuple of int, default=(5, 10)
        Numbers of documents that are found.
    random_state : int, default=0
        Seed of the order in which documents of equal similarity are taken.

    Returns
    -------
    dict of str to float
        "documents"; "p@5" and "p@10" (for each number in `at`), the mean proportion of found
        documents with the label of the query; "by_chance", that of documents drawn at random.

    Examples
    --------
    >>> from topoi.evaluate import retrieval
    >>> proportions = [[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.1, 0.9]]
    >>> retrieval(proportions, ["pets", "pets", "money", "money"], at=(1,))["p@1"]
    1.0
    """
    proportions, truth = _labeled(model, labels, X)
    if min(at) < 1 or max(at) >= len(truth):
        raise ValueError(
            f"at is {at}; expected numbers from 1 to {len(truth) - 1}: there are {len(truth)}"
            " labeled documents, and a document does not find itself."
        )
    order = np.random.default_rng(random_state).permutation(len(truth))
    roots, truth = np.sqrt(proportions[order]), truth[order]
    hits = np.zeros(max(at))
    for first in range(0, len(truth), BLOCK):
        queries = np.arange(first, min(first + BLOCK, len(truth)))
        similarity = roots[queries] @ roots.T
        similarity[np.arange(len(queries)), queries] = -1  # not itself
        found = np.argpartition(-similarity, max(at) - 1, axis=1)[:, : max(at)]
        ranks = np.argsort(-np.take_along_axis(similarity, found, axis=1), axis=1, kind="stable")
        found = np.take_along_axis(found, ranks, axis=1)
        hits += (truth[found] == truth[queries, None]).sum(axis=0)
    sizes = np.bincount(truth)
    precision = np.cumsum(hits) / len(truth)
    return {
        "documents": len(truth),
        **{f"p@{n}": float(precision[n - 1] / n) for n in at},
        "by_chance": float(sizes @ (sizes - 1) / (len(truth) * (len(truth) - 1))),
    }


def _labeled(
    model: ModelLike, labels: LabelsLike, X: DocumentsLike
) -> tuple[np.ndarray, np.ndarray]:
    """Proportions (D, K) and label numbers (D,) of the documents that have a label."""
    proportions = proportions_of(model, X)
    member = label_membership(labels, len(proportions))
    several = int((member.counts() > 1).sum())
    if several:
        raise ValueError(
            f"labels has several labels for {several} of {len(proportions)} documents; give one"
            " for each, or None to leave a document out."
        )
    known = member.counts() == 1
    if len(np.unique(member.matrix.indices)) < 2:
        raise ValueError(
            "labels has fewer than two different labels, so there is nothing to tell apart; give"
            " the label of each document."
        )
    return proportions[known], member.matrix.indices.astype(np.int64)


def _accuracy(
    proportions: np.ndarray, truth: np.ndarray, folds: int, seed: int
) -> dict[str, float]:
    """Cross-validated accuracy of a classifier of labels with at least `folds` documents."""
    enough = np.bincount(truth) >= folds
    if enough.sum() < 2:
        return {}
    kept = enough[truth]
    classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    parts = StratifiedKFold(folds, shuffle=True, random_state=seed)
    scores = cross_val_score(classifier, np.sqrt(proportions[kept]), truth[kept], cv=parts)
    return {"accuracy": float(scores.mean())}
