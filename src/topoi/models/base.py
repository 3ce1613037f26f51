"""What all topic models share: fitting and prediction.

Their parameters are in parameters.py, what they show of their topics in topics.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from topoi.corpus import Corpus
from topoi.corpus.coverage import warn_of_unknown
from topoi.corpus.documents import TrainingDocuments
from topoi.graph.factors import Documents, Factor, Words, make_plan
from topoi.graph.weighting import fit_weighting
from topoi.infer import session
from topoi.infer.likelihood import document_fit, document_log_likelihood
from topoi.infer.monitor import Monitor
from topoi.infer.predict import (
    fold_in,
    fold_in_messages,
    fold_in_state,
    prediction_plan,
    takes_chunks,
)
from topoi.infer.recipe import chosen_schedule
from topoi.infer.rules import Rule, make_prediction_rule
from topoi.infer.session import Fitted
from topoi.infer.state import State
from topoi.infer.threads import ThreadPool
from topoi.models.checkpointing import open_checkpoint
from topoi.models.editing import Editing
from topoi.models.guidance import Guided
from topoi.models.inputs import read_documents
from topoi.models.labelling import Labelling
from topoi.models.preflight import (
    refuse_fractions,
    refuse_too_large,
    warn_of_heavy_weights,
)
from topoi.models.trends import Trends
from topoi.models.word_priors import full_prior

if TYPE_CHECKING:
    from topoi.explore.editing import LineageRow
    from topoi.infer.checkpoints import FinishedRun
    from topoi.io.given import DocumentsLike

__all__ = ["TopicModelBase"]


class TopicModelBase(Labelling, Trends, Editing, Guided):
    """A topic model as a scikit-learn transformer.

    A subclass is a list of factors and the questions one can ask of it. Questions that all models
    answer are classes of their own, in modules of their own: bases here, subclasses of `Topics`.
    """

    _finished_run: FinishedRun | None  # whose checkpoint `save` removes

    # -------------------------------------------------------------------------------------- fitting

    def _fit(
        self,
        counts: sparse.csr_array,
        factors: Sequence[Factor],
        n_topics: int,
        checkpoint: str | Path | None,
        every: int,
    ) -> State:
        """Compile words and `factors`, pass messages until the stop rule holds, and keep what was
        learned.
        """
        self.weighting_ = fit_weighting(self.weighting, counts)
        guides = self._guides(n_topics, counts.shape[1])
        factors = [*factors, *guides]
        return self._fit_factors(
            counts, [Words(counts, self.weighting_), *factors], n_topics, checkpoint, every
        )

    def _fit_factors(
        self,
        counts: sparse.csr_array,
        factors: Sequence[Words | Factor],
        n_topics: int,
        checkpoint: str | Path | None,
        every: int,
    ) -> State:
        settings = self._settings(n_topics, counts.shape[1], n_edges=counts.nnz)
        plan = make_plan(factors, n_topics)
        if settings.rule.tokens:
            refuse_fractions(plan.counts, self.rule)
        schedule, lists = chosen_schedule(plan.facts, settings)
        refuse_too_large(plan, settings.rule, schedule, lists=lists)
        warn_of_heavy_weights(plan, settings.rule)
        settings = self._with_priors(settings, n_topics)
        start = settings.word_topic if settings.messages is None else settings.messages
        with open_checkpoint(checkpoint, every, self, plan, start) as saves:
            fitted, state = session.fit(plan, settings, lambda: self._monitor(counts), saves)
            self._keep(fitted)
            self._keep_fit(counts)
            if saves is not None and fitted.finished:
                self._finished_run = saves.finish()
        self._name_seeded(factors)
        return state

    def _keep(self, fitted: Fitted) -> None:
        """Fitted attributes from what a run has learned."""
        self._keep_words_of(fitted)
        self.doc_topic_ = fitted.doc_topic.astype(self._dtype)

    def _keep_words_of(self, fitted: Fitted) -> None:
        """All of `_keep` but documents."""
        prior = full_prior(fitted.beta, fitted.word_prior)
        self._keep_topics(fitted.components, fitted.alpha, prior)
        self._n_docs = fitted.n_docs  # that have words
        self.n_iter_ = fitted.n_iter
        self.history_ = fitted.history
        self.converged_ = fitted.converged

    def _keep_perplexity(self, perplexity: float) -> None:
        """Training perplexity of a run over documents that are elsewhere; most models have it in
        their history.
        """

    def _keep_fit(self, counts: sparse.csr_array) -> None:
        """How well the topics of each training document explain its words."""
        with ThreadPool(self.n_jobs) as pool:
            self._know(fit=document_fit(counts, self.doc_topic_, self.topic_word_, pool))

    def _know(self, **about: Any) -> None:
        """Add to what is known about the training documents."""
        assert self.documents_ is not None, "a fit has documents"
        self.documents_ = replace(self.documents_, **about)

    def _keep_topics(
        self, components: np.ndarray, alpha: np.ndarray, prior: float | np.ndarray
    ) -> None:
        self.components_ = components.astype(self._dtype, copy=False)
        self.doc_topic_prior_, self.topic_word_prior_ = alpha, prior

    def _counts(self, X: DocumentsLike, *, reset: bool) -> sparse.csr_array:
        """The counts of X; see `_corpus`."""
        return self._corpus(X, reset=reset).counts

    def _corpus(self, X: DocumentsLike, *, reset: bool) -> Corpus:
        """X as a Corpus (models/inputs.py); at a fit there must be words in it."""
        corpus = self._read(X, reset=reset)
        if reset and not corpus.counts.nnz:
            raise ValueError(
                "X holds no words at all: every entry is 0. Check the vectoriser's vocabulary,"
                " min_df and stop words."
            )
        return corpus

    def _read(self, X: DocumentsLike, *, reset: bool) -> Corpus:
        """X as a Corpus. reset: the model is new to its words."""
        corpus, dtype = read_documents(self, X, reset=reset)
        if reset:
            self._dtype = dtype
            names = getattr(self, "feature_names_in_", None)
            self.vocabulary_ = corpus.vocabulary if corpus.vocabulary is not None else names
            self.vectorizer_ = corpus.vectorizer
            self.documents_ = TrainingDocuments.of(corpus)
            self._topic_names: dict[int, str] = {}
            self._finished_run = None
            self.__dict__.pop("stability_", None)  # of an ensemble
            self._lineage: list[LineageRow] = []
        return corpus

    def _monitor(self, counts: sparse.csr_array) -> Monitor:
        return Monitor(
            counts,
            tol=1.0 if isinstance(self.tol, str) else float(self.tol),
            every=self.evaluate_every,
            paper_rule=self.tol == "paper",
            parameter_rule=self.tol == "parameters",
            max_iter=self.max_iter,
            callbacks=self.callbacks or (),
            progress=bool(self.verbose),
        )

    # ----------------------------------------------------------------------------------- prediction

    def fit_transform(
        self,
        X: DocumentsLike,
        y: object = None,
        *,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 10,
        **metadata: Any,
    ) -> np.ndarray:
        """Fit, then the topic proportions of the same documents as `transform` gives them.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        y, checkpoint, checkpoint_every : as in `fit`
            Labels, and where and how often the run is saved.
        **metadata
            Passed to `fit` and `transform`.
        """
        self.fit(X, y, checkpoint=checkpoint, checkpoint_every=checkpoint_every, **metadata)
        return self.transform(X, **metadata)

    def transform(self, X: DocumentsLike) -> np.ndarray:
        """Topic proportions of documents.

        The result is deterministic, documents do not influence each other, and an empty one gets
        the prior.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Rows sum to 1.
        """
        check_is_fitted(self)
        corpus = self._corpus(X, reset=False)
        return self._proportions(corpus, self._prediction_factors(corpus))

    def _prediction_factors(self, corpus: Corpus) -> list[Factor]:
        """The factors beside words of documents to predict. Models that use more of a document
        than its words take it as more arguments.
        """
        return [Documents()]

    def _proportions(self, corpus: Corpus, factors: Sequence[Factor]) -> np.ndarray:
        """Topic proportions of new documents, from their words and `factors`."""
        weights = self.weighting_(corpus.counts)
        alone = all(isinstance(factor, Documents) for factor in factors)
        found = (
            self._fold_in(weights) if alone else self._fold_in_state(weights, factors).doc_topic()
        )
        return found.astype(self._dtype)

    def _message_parts(self, corpus: Corpus, **metadata: Any) -> Iterator[tuple[slice, np.ndarray]]:
        """Documents, some at a time, and (nonzeros, K) the messages of their words."""
        takes = set(signature(self._prediction_factors).parameters) - {"corpus"}
        odd = sorted(metadata.keys() - takes)
        if odd:
            few = f"beside X it takes {', '.join(sorted(takes)) or 'nothing'}"
            raise TypeError(f"{type(self).__name__} has no use for {', '.join(odd)}; {few}.")
        factors = self._prediction_factors(corpus, **metadata)
        plan = prediction_plan(self.weighting_(corpus.counts), self.topic_word_, factors)
        rule = self._prediction_rule()
        if not takes_chunks(plan):
            refuse_too_large(plan, rule)
        with ThreadPool(self.n_jobs) as pool:
            yield from fold_in_messages(plan, self.doc_topic_prior_, rule, pool=pool)

    def _fold_in(self, weights: sparse.csr_array) -> np.ndarray:
        with ThreadPool(self.n_jobs) as pool:
            return fold_in(
                weights, self.topic_word_, self.doc_topic_prior_, self._prediction_rule(), pool=pool
            )

    def _fold_in_state(self, weights: sparse.csr_array, factors: Sequence[Factor]) -> State:
        plan, rule = prediction_plan(weights, self.topic_word_, factors), self._prediction_rule()
        refuse_too_large(plan, rule)
        with ThreadPool(self.n_jobs) as pool:
            return fold_in_state(plan, self.doc_topic_prior_, rule, pool=pool)

    def _prediction_rule(self) -> Rule:
        return make_prediction_rule(self.rule)

    def score(self, X: DocumentsLike, y: object = None, **metadata: Any) -> float:
        """Mean log-likelihood per token, with topic proportions from `transform`.

        Proportions come from the tokens that are scored, so more topics always look better. Choose
        the number of topics by `evaluate.completion_perplexity` or `evaluate.choose_n_components`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        y : None
            Not used.
        **metadata
            Passed to `transform`.

        Returns
        -------
        float
            The higher, the better.
        """
        check_is_fitted(self)
        corpus = self._corpus(X, reset=False)
        counts = corpus.counts
        if not counts.nnz:
            raise ValueError(
                "X holds no words, so it has no likelihood. Score documents that share words with"
                " the training documents."
            )
        warn_of_unknown(corpus)
        proportions = np.asarray(self.transform(corpus, **metadata))
        with ThreadPool(self.n_jobs) as pool:
            return float(
                document_log_likelihood(counts, proportions, self.topic_word_, pool).sum()
                / counts.sum()
            )

    def perplexity(self, X: DocumentsLike, **metadata: Any) -> float:
        """Perplexity, exp(-score(X)): topic proportions come from the same tokens, on raw counts.

        `evaluate.completion_perplexity` predicts held-out tokens instead.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        **metadata
            Passed to `transform`.

        Returns
        -------
        float
            The lower, the better.
        """
        return float(np.exp(-self.score(X, **metadata)))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
