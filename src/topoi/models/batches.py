"""Learning from some documents at a time: `partial_fit`, and `fit` with a `batch_size`."""

from __future__ import annotations

import numbers
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if

from topoi.corpus import Corpus
from topoi.graph.plan import Plan
from topoi.graph.weighting import fit_weighting
from topoi.infer.elsewhere import survey
from topoi.infer.online import Online, with_words
from topoi.infer.recipe import make_recipe
from topoi.infer.rules import Rule, make_rule
from topoi.infer.session import components
from topoi.infer.threads import ThreadPool
from topoi.models.from_source import FromSource
from topoi.models.preflight import (
    refuse_fractions,
    refuse_light_weights,
    refuse_too_large,
    warn_of_heavy_weights,
    warn_of_unknown_words,
)
from topoi.models.word_priors import full_prior, parted_prior
from topoi.storage.digests import digest

if TYPE_CHECKING:
    from topoi.io.given import DocumentsLike

__all__ = ["BatchModel"]

NO_BATCHES = (
    "Mini-batches (partial_fit) work with rule 'bp', 'sibp' or 'cvb0', stored messages and schedule"
    " 'auto' or 'asynchronous'; change these, or fit all documents at once."
)


class BatchModel(FromSource):
    """A topic model that can learn from a few documents at a time."""

    n_components: int
    batch_size: int | None
    learning_decay: float
    learning_offset: float
    total_samples: float
    _online: Online | None

    def _learns_in_batches(self) -> bool:
        try:
            rule = make_rule(self.rule)
        except ValueError as error:
            raise AttributeError(str(error)) from None
        if not _takes_batches(rule, self.schedule):
            raise AttributeError(NO_BATCHES)
        return True

    @available_if(_learns_in_batches)
    def partial_fit(self, X: DocumentsLike, y: object = None) -> Self:
        """Learn from one more batch; `total_samples` is how many documents all will have.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        y : None
            Not used.

        Returns
        -------
        Self
            This model. A word weighs as much as it would in `total_samples` documents; after `fit`,
            as in those of `fit`.
        """
        first = getattr(self, "_online", None) is None
        if isinstance(X, Corpus) and hasattr(self, "components_"):
            warn_of_unknown_words(X, self.vocabulary_)
        counts = self._counts(X, reset=first and not hasattr(self, "components_"))
        if first:
            self._begin_online(counts, getattr(self, "_n_docs", self.total_samples))
        with ThreadPool(self.n_jobs) as pool:
            self._learn_batch(counts, pool)
        for name in (
            "doc_topic_",
            "_n_docs",
            "history_",
            "converged_",
            "bound_",
        ):  # they are of an earlier fit
            self.__dict__.pop(name, None)
        self.documents_ = None
        return self

    def _batch_size(self) -> int | None:
        size = self.batch_size
        if size is not None and (not isinstance(size, numbers.Integral) or size < 1):
            raise ValueError(
                f"batch_size is {size!r}; expected a whole number of at least 1, or None."
            )
        return size

    def _fit_batches(
        self, counts: sparse.csr_array, size: int, checkpoint: str | Path | None, every: int
    ) -> None:
        """Blocks of `size` documents that have words, in turn, as those of a Source."""
        self._refuse_for_blocks()
        self.weighting_ = fit_weighting(self.weighting, counts)
        weights = self.weighting_(counts)
        docs = with_words(weights)

        def rows(of: sparse.csr_array, number: int) -> sparse.csr_array:
            return of[docs[number * size : (number + 1) * size]]

        mark = "" if checkpoint is None else digest(weights)
        blocks = survey(
            -(-len(docs) // size), lambda i: Plan(self.n_components, rows(weights, i)), mark
        )
        if weights is not counts:  # perplexity is that of raw counts
            blocks = replace(blocks, raw=lambda i: rows(counts, i))
        self._fit_blocks(blocks, checkpoint, every)
        self.doc_topic_ = self._fold_in(weights).astype(self._dtype)
        self._keep_fit(counts)

    def _begin_online(self, counts: sparse.csr_array, total_docs: float) -> Online:
        settings = self._settings(self.n_components, counts.shape[1])
        rule = settings.rule
        if not _takes_batches(rule, self.schedule):
            raise ValueError(NO_BATCHES)
        limits = {
            "learning_decay": (0, 1),
            "learning_offset": (1, 1e12),
            "total_samples": (1, 1e12),
        }
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            if not isinstance(value, float | int | np.number) or not low <= value <= high:
                raise ValueError(f"{name} is {value!r}; expected a number from {low} to {high:g}.")
        base = None
        if not hasattr(self, "components_"):
            self.weighting_ = fit_weighting(self.weighting, counts)
        plan = Plan(self.n_components, self.weighting_(counts))
        refuse_light_weights(plan.token)
        settings = self._with_priors(settings, self.n_components)
        recipe = make_recipe(plan.facts, replace(settings, schedule="asynchronous"))
        alpha, beta = recipe.alpha, recipe.beta
        if hasattr(self, "components_"):  # resume from what is fitted
            alpha, (beta, word_prior) = self.doc_topic_prior_, parted_prior(self.topic_word_prior_)
            base = (self.components_.T - beta).astype(np.float64)
            if word_prior is not None:
                base = np.maximum(base - word_prior, 0)
        else:
            in_all = plan.counts.sum(axis=0) * (total_docs / counts.shape[0])
            word_prior = self._word_prior(self.n_components, in_all, plan.token)
        self._online = Online(
            n_topics=self.n_components,
            alpha=alpha,
            beta=beta,
            rule=rule,
            total_docs=total_docs,
            seed=settings.seed,
            learn_alpha=settings.doc_topic_prior.learn,
            learn_beta=settings.topic_word_prior.learn,
            decay=self.learning_decay,
            offset=self.learning_offset,
            init=settings.init,
            first=settings.word_topic,
            base=base,
            word_prior=word_prior,
            batches=0 if base is None else 1,
            documents=0 if base is None else total_docs,
        )
        return self._online

    def _learn_batch(self, counts: sparse.csr_array, pool: ThreadPool) -> None:
        online = self._online
        assert online is not None
        weights = self.weighting_(counts)
        if online.rule.tokens:
            refuse_fractions(weights, self.rule)
        plan = Plan(self.n_components, weights)
        refuse_too_large(plan, online.rule)
        warn_of_heavy_weights(plan, online.rule)
        online.step(weights, pool)
        if online.base is None:
            raise ValueError(
                "The first batch holds no words at all. Begin with documents that have some."
            )
        self._show_topics(online)
        self.n_iter_ = online.batches

    def _show_topics(self, online: Online) -> None:
        """Fitted attributes from what the batches have taught so far."""
        assert online.base is not None
        self._keep_topics(
            components(online.base, online.beta, online.word_prior),
            online.alpha,
            full_prior(online.beta, online.word_prior),
        )


def _takes_batches(rule: Rule, schedule: str) -> bool:
    plain = rule.stored and not rule.draws and not rule.digamma_owners
    return plain and schedule in ("auto", "asynchronous")
