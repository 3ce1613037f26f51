"""LDA under the names and defaults of scikit-learn's class."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.special import psi
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from topoi.choices import LEARNING_METHODS, LearningMethod, ScheduleName, WeightingName
from topoi.infer.likelihood import document_log_likelihood
from topoi.infer.monitor import Monitor
from topoi.infer.online import with_words
from topoi.infer.rules import Rule
from topoi.infer.threads import ThreadPool
from topoi.models.inputs import is_source
from topoi.models.lda import LDA
from topoi.models.parameters import Callback, Init, RuleLike, Seed, Tolerance

if TYPE_CHECKING:
    from distributed import Client

    from topoi.io.given import DocumentsLike

__all__ = ["LatentDirichletAllocation"]


class LatentDirichletAllocation(LDA):
    """LDA with the parameters and defaults of scikit-learn's class of this name.

    Change the import, and code written for that class runs. What differs: `score` is per token,
    where scikit-learn's is a total; `bound_` is a training perplexity; `doc_topic_prior_` has a
    number per topic; there is no `random_state_`.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    doc_topic_prior : float or None, default=None
        Dirichlet prior of topics in documents (alpha). None is 1 / n_components.
    topic_word_prior : float or None, default=None
        Dirichlet prior of words in topics (beta). None is 1 / n_components.
    learning_method : {"batch", "online"}, default="batch"
        Whether to learn from all documents at once, or in passes over mini-batches, as
        `partial_fit` does. `LDA(batch_size=...)` takes as little memory and finds better topics.
    learning_decay : float, default=0.7
        Exponent with which the influence of older mini-batches falls, 0 to 1.
    learning_offset : float, default=10.0
        Offset that lowers the influence of the first mini-batches, at least 1.
    max_iter : int, default=10
        Number of sweeps over the corpus, or of passes over all mini-batches.
    batch_size : int, default=128
        Number of documents in a mini-batch of `learning_method="online"`.
    evaluate_every : int, default=-1
        Sweeps between two measurements of training perplexity. 0 or -1 measures none.
    total_samples : float, default=1e6
        Number of documents that `partial_fit` will have seen in the end.
    perp_tol : float, default=0.1
        Stop when training perplexity changes by less than this between two measurements.
    mean_change_tol : float, default=1e-3
        Accepted and not used: it has no counterpart here.
    max_doc_update_iter : int, default=100
        Accepted and not used: it has no counterpart here.
    n_jobs : int or None, default=None
        Number of threads. None is one, -1 all cores. Results are the same bits for any number.
    verbose : int, default=0
        Whether to show a progress bar.
    random_state : int, RandomState, Generator or None, default=None
        Seed. None draws a new one for every fit.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Expected counts of words in topics, plus the prior.
    topic_word_ : ndarray of shape (n_components, n_features)
        Word proportions of topics; rows sum to 1.
    doc_topic_ : ndarray of shape (n_documents, n_components)
        Topic proportions of the training documents; rows sum to 1. Absent after `partial_fit`.
    doc_topic_prior_ : ndarray of shape (n_components,)
        Prior of topics: the given one, or 1 / n_components.
    topic_word_prior_ : float
        Prior of words: the given one, or 1 / n_components.
    topic_proportions_ : ndarray of shape (n_components,)
        Proportion of all training tokens that each topic holds.
    topic_names_ : list of str
        Names given by `name_topics`, and "topic0", "topic1", ... for the others.
    n_iter_ : int
        Number of sweeps done; with mini-batches, of passes; after `partial_fit`, of batches.
    converged_ : bool
        Whether the run stopped by `perp_tol`.
    history_ : list of dict
        One per sweep: sweep, seconds, residual (mean change of a message), perplexity (None where
        it was not measured), schedule (what "auto" chose), violation (how far the messages of one
        document are from a fixed point, per token, at most: 0 to 2) and log_joint (always None).
    weighting_ : Weighting
        The fitted weighting, as a function of counts.
    vocabulary_ : ndarray of shape (n_features,) or None
        The word of each column, if known.
    vectorizer_ : CountVectorizer or None
        What made counts of the training texts, if known.
    documents_ : TrainingDocuments or None
        What is known about the training documents: names, dates, lengths, authors, labels, groups,
        and texts if they were kept. None after `partial_fit`.
    doc_names_ : ndarray of shape (n_documents,) or None
        Names of the training documents, if known.
    n_features_in_ : int
        Number of words.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names of a data frame; absent if X had none.
    bound_ : float
        Training perplexity of the result.
    n_batch_iter_ : int
        One more than the mini-batches, or sweeps over all documents, that were learned from, as in
        scikit-learn.
    exp_dirichlet_component_ : ndarray of shape (n_components, n_features)
        exp of the expected logarithm of word proportions, as in scikit-learn.

    Examples
    --------
    >>> from topoi import LatentDirichletAllocation, datasets
    >>> corpus, _ = datasets.make_blocks(n_topics=2)
    >>> lda = LatentDirichletAllocation(n_components=2, random_state=0).fit(corpus.counts)
    >>> lda.transform(corpus.counts).shape
    (60, 2)
    """

    rule: RuleLike = "bp"
    schedule: ScheduleName = "auto"
    weighting: WeightingName = "count"
    init: Init = "hard"
    tol: Tolerance = 0.0
    callbacks: Sequence[Callback] | None = None

    def __init__(
        self,
        n_components: int = 10,
        *,
        doc_topic_prior: float | None = None,
        topic_word_prior: float | None = None,
        learning_method: LearningMethod = "batch",
        learning_decay: float = 0.7,
        learning_offset: float = 10.0,
        max_iter: int = 10,
        batch_size: int = 128,
        evaluate_every: int = -1,
        total_samples: float = 1e6,
        perp_tol: float = 0.1,
        mean_change_tol: float = 1e-3,
        max_doc_update_iter: int = 100,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Seed = None,
    ) -> None:
        self._store(locals())

    learning_method: LearningMethod
    perp_tol: float

    def _batch_size(self) -> int | None:
        if self.learning_method not in LEARNING_METHODS:
            raise ValueError(
                f"learning_method is {self.learning_method!r}; choose 'batch' or 'online'."
            )
        return super()._batch_size() if self.learning_method == "online" else None

    def _fit_batches(
        self, counts: sparse.csr_array, size: int, checkpoint: str | Path | None, every: int
    ) -> None:
        """Passes over all documents that have words, in mini-batches and in one shuffled order."""
        if checkpoint is not None:
            raise ValueError(
                "learning_method='online' cannot be saved in a checkpoint; use"
                " learning_method='batch', or topoi.LDA(batch_size=...)."
            )
        self.__dict__.pop("components_", None)  # a fit starts afresh
        online = self._begin_online(counts, counts.shape[0])
        docs = with_words(self.weighting_(counts))
        online.total_docs = self._n_docs = len(docs)
        order = np.random.default_rng(online.seed).permutation(docs)
        with ThreadPool(self.n_jobs) as pool, self._monitor(counts) as monitor:
            for sweep in range(1, self.max_iter + 1):
                before = online.base
                for batch in gen_batches(len(order), size):
                    self._learn_batch(counts[np.sort(order[batch])], pool)
                moved, measure = _moved(before, online.base), partial(self.perplexity, counts)
                if monitor.note(sweep, moved, measure, self, "batches"):
                    break
        self.doc_topic_ = self._fold_in(self.weighting_(counts)).astype(self._dtype)
        self._keep_fit(counts)
        self.n_iter_, self.history_ = sweep, monitor.table()
        self.converged_ = monitor.converged

    def _check_parameters(self) -> Rule:
        if not isinstance(self.perp_tol, numbers.Real) or not self.perp_tol >= 0:
            raise ValueError(f"perp_tol is {self.perp_tol!r}; expected a number >= 0.")
        return super()._check_parameters()

    def _monitor(self, counts: sparse.csr_array) -> Monitor:
        monitor = super()._monitor(counts)
        monitor.least_change = self.perp_tol
        return monitor

    def fit(
        self,
        X: DocumentsLike,
        y: object = None,
        *,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 10,
        client: Client | None = None,
        keep_documents: bool = True,
    ) -> LatentDirichletAllocation:
        """Learn topics, as `LDA.fit` does. A Source leaves no `bound_`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        y : None
            Not used.
        checkpoint : str or Path, default=None
            As in `LDA.fit`.
        checkpoint_every : int, default=10
            As in `LDA.fit`.
        client, keep_documents : as in `LDA.fit`
            A Dask cluster, and what comes back from it.

        Returns
        -------
        LatentDirichletAllocation
            This model.
        """
        super().fit(
            X,
            y,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            client=client,
            keep_documents=keep_documents,
        )
        return self

    def _keep_fit(self, counts: sparse.csr_array) -> None:
        super()._keep_fit(counts)
        proportions = np.asarray(self.doc_topic_, dtype=np.float64)
        with ThreadPool(self.n_jobs) as pool:
            gain = document_log_likelihood(counts, proportions, self.topic_word_, pool).sum()
        self.bound_ = float(np.exp(-gain / counts.sum()))

    def _keep_perplexity(self, perplexity: float) -> None:
        self.bound_ = perplexity

    @property
    def n_batch_iter_(self) -> int:
        """One more than the batches, or sweeps over all documents, that were learned from:
        scikit-learn begins to count at 1.
        """
        check_is_fitted(self)
        online = getattr(self, "_online", None)
        return 1 + (self.n_iter_ if online is None else online.batches)

    @property
    def exp_dirichlet_component_(self) -> np.ndarray:
        """(K, W) exp of the expected logarithm of word proportions, as in scikit-learn."""
        check_is_fitted(self)
        weights: np.ndarray = np.exp(
            psi(self.components_) - psi(self.components_.sum(axis=1, keepdims=True))
        )
        return weights

    def transform(self, X: DocumentsLike, *, normalize: bool = True) -> np.ndarray:
        """Topic proportions of documents.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        normalize : bool, default=True
            Whether rows sum to 1. Otherwise they are expected tokens plus prior, as in
            scikit-learn.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            One row per document.
        """
        if is_source(X) and not normalize:
            raise ValueError("normalize=False needs documents in memory, and this is a Source.")
        proportions = super().transform(X)
        if normalize:
            return proportions
        expected = self._counts(X, reset=False).sum(axis=1) + self.doc_topic_prior_.sum()
        return np.asarray(proportions * expected[:, None])

    def fit_transform(
        self, X: DocumentsLike, y: object = None, *, normalize: bool = True, **checkpoint: Any
    ) -> np.ndarray:
        """Fit, then `transform`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        y : None
            Not used.
        normalize : bool, default=True
            As in `transform`.
        **checkpoint
            Passed to `fit`.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            One row per document.
        """
        return self.fit(X, y, **checkpoint).transform(X, normalize=normalize)

    def perplexity(  # type: ignore[override]
        self, X: DocumentsLike, sub_sampling: bool = False
    ) -> float:
        """Perplexity of documents.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        sub_sampling : bool, default=False
            Of scikit-learn. It has no counterpart here and changes nothing.

        Returns
        -------
        float
            Lower is better.
        """
        return super().perplexity(X)


def _moved(before: np.ndarray | None, after: np.ndarray | None) -> float:
    """How far the topics moved in a pass: 0 (converged) to 2."""
    if before is None or after is None:
        return 2.0
    return float(np.abs(before / before.sum() - after / after.sum()).sum())
