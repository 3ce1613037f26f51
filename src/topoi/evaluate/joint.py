"""The joint probability of words and their topics, log P(x, z): one objective for all rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from topoi.corpus.checks import check_counts
from topoi.evaluate.inputs import counts_for, unwrapped
from topoi.infer.edge_messages import checked_messages
from topoi.infer.history import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topoi.infer.state import State
    from topoi.io.given import DocumentsLike
    from topoi.protocols import FittedModel

__all__ = ["LogJoint", "log_joint"]


def log_joint(
    model: FittedModel,
    X: DocumentsLike,
    z: Sequence[int] | np.ndarray | None = None,
    **metadata: Any,
) -> float:
    """log P(x, z) of words and their topics (eq. 1), with topic and word proportions integrated
    out, under the priors of the model.

    It depends on the topics of words alone, not on how they were found, so that BP, siBP, CVB0, VB
    and Gibbs sampling can be compared by it. Documents own themselves here: links and labels are
    not part of it.

    Parameters
    ----------
    model : fitted model of topoi
        Whose priors are taken, and whose messages if `z` is not given.
    X : Corpus or array-like of shape (n_documents, n_words)
        Documents.
    z : array-like of shape (n_nonzeros,) or (n_nonzeros, n_components), default=None
        The topic of each nonzero of X, or messages: these give expected counts. Default:
        `model.messages(X)`.
    **metadata
        As for `model.messages`.

    Returns
    -------
    float
        Natural logarithm, at most 0; the higher, the better.

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> from topoi.evaluate import log_joint
    >>> corpus, _ = datasets.make_blocks(n_topics=2)
    >>> model = LDA(2).fit(corpus)
    >>> found = log_joint(model, corpus, model.label(corpus)["topic"])
    >>> one_topic = log_joint(model, corpus, [0] * corpus.counts.nnz)
    >>> one_topic < found < 0
    True
    """
    unwrapped_model, X = unwrapped(model, X)
    if not hasattr(unwrapped_model, "messages"):
        raise ValueError("log_joint needs the priors of a fitted model of topoi; give one.")
    model = cast("FittedModel", unwrapped_model)
    if len(getattr(model, "author_names_", ())):
        raise ValueError(
            "Authors own the documents of this model, so that eq. 1 needs the author of each word,"
            " too; record it during the fit by callbacks=[evaluate.LogJoint()]."
        )
    counts = check_counts(counts_for(model, X))
    n_topics = len(model.components_)
    given = np.asarray(model.messages(X, **metadata) if z is None else z, dtype=np.float64)
    if given.shape not in ((counts.nnz,), (counts.nnz, n_topics)):
        raise ValueError(
            f"z has shape {given.shape}; expected one topic or one message for each of the"
            f" {counts.nnz} nonzeros of X."
        )
    messages = checked_messages(given, n_topics, "z").astype(np.float64)
    weights, numbers = model.weighting_(counts), np.arange(counts.nnz)
    of_docs = sparse.csr_array(
        (weights.data, numbers, counts.indptr), shape=(counts.shape[0], counts.nnz)
    )
    of_words = sparse.csr_array(
        (weights.data, (counts.indices, numbers)), shape=(counts.shape[1], counts.nnz)
    )
    return _of_owners(of_docs @ messages, model.doc_topic_prior_) + _of_words(
        of_words @ messages, np.asarray(model.topic_word_prior_, dtype=np.float64).T
    )


class LogJoint:
    """A callback that records log P(x, z) of the messages in `history_`.

    Where authors own documents, their choice is part of it. Like `log_joint`, it takes links for
    silent and labels for unknown.

    Parameters
    ----------
    every : int, default=1
        Sweeps between two measurements.

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> from topoi.evaluate import LogJoint
    >>> corpus, _ = datasets.make_blocks(n_topics=2)
    >>> model = LDA(2, callbacks=[LogJoint(every=5)], max_iter=10, tol=0).fit(corpus)
    >>> [record["sweep"] for record in model.history_ if record["log_joint"] is not None]
    [5, 10]
    """

    records = "log_joint"  # the field of a record that gets its answers

    def __init__(self, every: int = 1) -> None:
        if not isinstance(every, int) or every < 1:
            raise ValueError(f"every is {every!r}; expected a whole number of at least 1.")
        self.every = every

    def __call__(self, state: State, record: Record) -> float | None:
        """log P(x, z) of the state after a sweep, if it is time."""
        if record.sweep % self.every:
            return None
        K, more = state.graph.n_topics, state.graph.word_prior
        prior = np.zeros(1) if more is None else more  # which tables hold beside the counts
        owners = state.owner_counts().astype(np.float64)
        words = np.maximum(state.tables.phi[:, :K] - prior, 0)
        of_words = _of_words(words, state.beta + prior)
        return _of_owners(owners, state.alpha[:K]) + of_words + _of_choices(state)


def _of_owners(counts: np.ndarray, alpha: np.ndarray) -> float:
    """log P(z) of (owners, K) counts of topics, each owner's proportions integrated out."""
    alpha = np.broadcast_to(alpha, counts.shape[1:])
    whole = gammaln(alpha.sum()) - gammaln(counts.sum(axis=1) + alpha.sum())
    return float(whole.sum() + (gammaln(counts + alpha) - gammaln(alpha)).sum())


def _of_words(counts: np.ndarray, beta: np.ndarray) -> float:
    """log P(x | z) of (W, K) counts of words, each topic's proportions integrated out."""
    prior = np.broadcast_to(beta, counts.shape)
    total = prior.sum(axis=0)
    whole = gammaln(total) - gammaln(counts.sum(axis=0) + total)
    return float(whole.sum() + (gammaln(counts + prior) - gammaln(prior)).sum())


def _of_choices(state: State) -> float:
    """log P(owners of tokens): each is as likely as the others of its document or, where that is
    learned, as its pseudo-count and the tokens that it has.
    """
    graph, pairs = state.graph, np.diff(state.graph.arrays.slot_ptr)
    if graph.max_owners == 1:
        return 0.0
    if graph.owner_prior == 0:
        return -float((graph.doc_weight * np.log(np.maximum(pairs, 1))).sum())
    prior, mass = graph.owner_prior, state.tables.owner_mass.astype(np.float64)
    whole = gammaln(pairs * prior) - gammaln(graph.doc_weight + pairs * prior)
    return float(whole.sum() + (gammaln(mass + prior) - gammaln(prior)).sum())
