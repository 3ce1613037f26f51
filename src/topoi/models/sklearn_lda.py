"""LDA under the names and defaults of scikit-learn's class."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import psi
from sklearn.utils.validation import check_is_fitted

from topoi.infer.likelihood import document_log_likelihood
from topoi.infer.monitor import Monitor
from topoi.models.lda import LDA

__all__ = ["LatentDirichletAllocation"]


class LatentDirichletAllocation(LDA):
    """LDA with the parameters and defaults of scikit-learn's class of this name: change the import,
    and code written for it runs.

    Priors of None are 1 / n_components, fixed. learning_method="online" learns in batches of
    batch_size. evaluate_every > 0 measures training perplexity and stops when it changes by less
    than perp_tol. `bound_` is the training perplexity of the result. mean_change_tol and
    max_doc_update_iter have no counterpart here and change nothing.

    What differs: `score` is per token, where scikit-learn's is a total; `doc_topic_prior_` has a
    number per topic; there is no `random_state_`.
    """

    rule = "bp"
    schedule = "auto"
    weighting = "count"
    messages = "auto"
    init = "hard"
    tol = 0.0
    stop = "relative"
    vb_inner = 1
    vb_textbook = False
    callbacks = None

    def __init__(
        self,
        n_components: int = 10,
        *,
        doc_topic_prior: float | None = None,
        topic_word_prior: float | None = None,
        learning_method: str = "batch",
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
        random_state: Any = None,
    ) -> None:
        self._store(locals())

    learning_method: str
    perp_tol: float

    def _batch_size(self) -> int | None:
        if self.learning_method not in ("batch", "online"):
            raise ValueError(
                f"learning_method is {self.learning_method!r}; choose 'batch' or 'online'."
            )
        return super()._batch_size() if self.learning_method == "online" else None

    def _monitor(self, counts: sparse.csr_array) -> Monitor:
        monitor = super()._monitor(counts)
        monitor.least_change = self.perp_tol
        return monitor

    def fit(
        self, X: Any, y: Any = None, *, checkpoint: Any = None, checkpoint_every: int = 10
    ) -> LatentDirichletAllocation:
        """Learn topics, as `LDA.fit` does."""
        super().fit(X, y, checkpoint=checkpoint, checkpoint_every=checkpoint_every)
        counts = self._counts(X, reset=False)
        gain = document_log_likelihood(
            counts, np.asarray(self.doc_topic_, dtype=np.float64), self.topic_word_
        ).sum()
        self.bound_ = float(np.exp(-gain / counts.sum()))
        return self

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
        return np.exp(psi(self.components_) - psi(self.components_.sum(axis=1, keepdims=True)))

    def transform(self, X: Any, *, normalize: bool = True) -> np.ndarray:
        """(D, K) topic proportions; with normalize=False expected tokens plus prior, as in
        scikit-learn.
        """
        proportions = super().transform(X)
        if normalize:
            return proportions
        counts = self._counts(X, reset=False)
        return proportions * (counts.sum(axis=1) + self.doc_topic_prior_.sum())[:, None]

    def fit_transform(
        self, X: Any, y: Any = None, *, normalize: bool = True, **checkpoint: Any
    ) -> np.ndarray:
        """Fit, then `transform`."""
        return self.fit(X, y, **checkpoint).transform(X, normalize=normalize)

    def perplexity(self, X: Any, sub_sampling: bool = False, **metadata: Any) -> float:
        """Perplexity of X. sub_sampling has no counterpart here and changes nothing."""
        return super().perplexity(X)
