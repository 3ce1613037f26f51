"""Latent Dirichlet allocation: words, and each document its own owner."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if

from topoi.corpus import Corpus
from topoi.graph.factors import Documents
from topoi.graph.plan import Plan
from topoi.graph.weighting import fit_weighting
from topoi.infer.checkpoints import warn_of_finished, warn_of_more
from topoi.infer.online import Online, with_words
from topoi.infer.recipe import make_recipe
from topoi.infer.session import components
from topoi.infer.threads import ThreadPool
from topoi.models.base import TopicModelBase, open_checkpoint
from topoi.models.preflight import (
    refuse_fractions,
    refuse_light_weights,
    refuse_too_large,
    warn_of_heavy_weights,
    warn_of_unknown_words,
)

__all__ = ["LDA"]

NO_BATCHES = (
    "Mini-batches (partial_fit, batch_size) work with rule 'bp', 'sibp' or 'cvb0', stored messages"
    " and schedule 'auto' or 'asynchronous'; change these, or fit all documents at once."
)


class LDA(TopicModelBase):
    """Latent Dirichlet allocation by belief propagation.

    Parameters
    ----------
    n_components : number of topics K. rule : "bp" (default), "sibp", "cvb0", "vb" or "gibbs".
    schedule : "auto" (default), "relaxed", "asynchronous", "synchronous", "residual",
    "residual-words" or "active" (see docs/design.md). "auto" is quick
        with rule="bp": it begins with more topics than wanted and merges them; unless the corpus is
        small, some warm-up sweeps without stored messages follow, then relaxed ones, on topic lists
        if topics are many. With other rules it is the schedule they can use.
    doc_topic_prior : "learn" (default: one value per topic), a number, or K numbers. None is 1 /
        n_components.
    topic_word_prior : "learn" (default: one value) or a number. None is 1 / n_components. weighting
    : "count" (default), "tf", "tfidf" or "log": the weights that messages carry. Perplexity is
    always of raw counts. messages : "edge" one message per (document, word), "token" one per token,
    "none" not stored (rule="bp": tiny BP, memory K (D + W)),
        "solved" not stored but recovered from the tables (rule="bp", synchronous: slower sweeps,
        close to BP, memory 2 K (D + W)), "auto" (default) token for cvb0 and gibbs, else edge.
    init : "hard" (default: a random topic for every message, or with schedule="auto" topics merged
        from more), "soft", a fitted model, or an array of topics x words to start from.
    max_iter : most sweeps. tol : stop when training perplexity changes by less than this share per
    sweep; 0 means exactly max_iter sweeps. Clean, synthetic data may rest on a plateau for
        dozens of sweeps before the last topics part: take a smaller tol for these.
    stop : "relative" (default), or "paper" for |P(t) - P(t-10)| < 1 (whatever tol is, unless it is
        0).
    evaluate_every : sweeps between two measurements of training perplexity; 0 means none. vb_inner
    : passes over the documents in each sweep of rule="vb". With one (default) they resume from the
    last sweep; with more they begin anew, as in scikit-learn. vb_textbook : digamma on the word
    side too, for rule="vb"; together with vb_inner=20 and init="soft" this is the VB of textbooks.
    batch_size : learn from this many documents at a time, in constant memory; max_iter then counts
    passes over all documents.
        Works with rules "bp", "sibp" and "cvb0".
    learning_decay, learning_offset, total_samples : of batch_size and partial_fit, as in
        scikit-learn.
    n_jobs : threads (None: one, -1: all cores); results are the same bits for any number.
    random_state : seed (default 0: the same topics tomorrow). None takes a fresh one. callbacks :
    functions (state, record) called after every sweep; a true answer stops. (Also in the sweeps
    that learn a link weight before the others;
        record.schedule is "link weight" there.)
    verbose : show a progress bar.

    Attributes
    ----------
    components_ : (K, W) expected counts + prior. topic_word_ : (K, W) word proportions, rows sum to
    1. doc_topic_ : (D, K) topic proportions of the training documents. doc_topic_prior_,
    topic_word_prior_ : the priors, learned or given. n_iter_, converged_ : sweeps done, and whether
    the stop rule held. history_ : one dictionary per sweep: sweep, seconds, residual, perplexity
    (None where it was not measured), schedule (what "auto" chose).
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        rule: str = "bp",
        schedule: str = "auto",
        doc_topic_prior: Any = "learn",
        topic_word_prior: Any = "learn",
        weighting: str = "count",
        messages: str = "auto",
        init: Any = "hard",
        max_iter: int = 200,
        tol: float = 1e-4,
        stop: str = "relative",
        evaluate_every: int = 5,
        vb_inner: int = 1,
        vb_textbook: bool = False,
        batch_size: int | None = None,
        learning_decay: float = 0.7,
        learning_offset: float = 10.0,
        total_samples: float = 1e6,
        n_jobs: int | None = None,
        random_state: Any = 0,
        callbacks: Sequence[Callable[[Any, Any], Any]] | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    n_components: int
    batch_size: int | None
    learning_decay: float
    learning_offset: float
    total_samples: float

    def fit(
        self, X: Any, y: Any = None, *, checkpoint: Any = None, checkpoint_every: int = 10
    ) -> LDA:
        """Learn topics.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or Corpus of shape (documents, words)
            Counts or weights >= 0.
        y : ignored
        checkpoint : str or Path, optional
            A file to save the run in. If it exists, it must be of the same run, which resumes from
            it and ends in the same bits as one that was never interrupted. While the run uses it,
            other runs are refused it. The checkpoint of a finished run stays until the model is on
            disk: `save` removes it. Until then the same fit returns the same model from it at
            once; delete the file to fit again. A fit of another run may replace it only in the
            process that finished it, where the caller has had the model.
        checkpoint_every : int, default=10
            Sweeps between two savings (with batch_size: batches).
        """
        counts = self._counts(X, reset=True)
        self._online: Online | None = None
        size = self._batch_size()
        if size is not None and size < counts.shape[0]:
            return self._fit_batches(counts, size, checkpoint, checkpoint_every)
        self._fit(counts, [Documents()], self.n_components, checkpoint, checkpoint_every)
        return self

    def _learns_in_batches(self) -> bool:
        if (
            self.rule not in ("bp", "sibp", "cvb0")
            or self.messages in ("none", "solved")
            or self.schedule not in ("auto", "asynchronous")
        ):
            raise AttributeError(NO_BATCHES)
        return True

    @available_if(_learns_in_batches)
    def partial_fit(self, X: Any, y: Any = None) -> LDA:
        """Learn from one more batch of documents.

        `total_samples` says how many documents there will be; after `fit`, those of `fit` count.
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
        return self

    def _batch_size(self) -> int | None:
        size = self.batch_size
        if size is not None and (not isinstance(size, numbers.Integral) or size < 1):
            raise ValueError(
                f"batch_size is {size!r}; expected a whole number of at least 1, or None."
            )
        return size

    def _fit_batches(self, counts: sparse.csr_array, size: int, checkpoint: Any, every: int) -> LDA:
        """Passes over all documents that have words, in batches and in one shuffled order."""
        self.__dict__.pop("components_", None)  # a fit starts afresh
        online = self._begin_online(counts, counts.shape[0])
        docs = with_words(self.weighting_(counts))
        online.total_docs = self._n_docs = len(docs)
        done, before, n_batches = 0, online.base, -(-len(docs) // size)
        plan = Plan(self.n_components, counts)
        opened = open_checkpoint(checkpoint, every, self, plan, online.first)
        with opened as saves, ThreadPool(self.n_jobs) as pool, self._monitor(counts) as monitor:
            saved = (
                None
                if saves is None
                else saves.restore_batches(self.n_components, counts.shape[1], n_batches)
            )
            if saves is not None and saved is not None:
                done, before = saved["done"], saved.get("before")
                for name in ("seed", "alpha", "beta", "base", "documents"):
                    setattr(online, name, saved[name])
                online.batches, online.evidence = done, saved.get("evidence")
                monitor.resume(saved["history"])
                monitor.converged = saved["converged"]
                passes = f"{done} batches ({done / n_batches:.1f} passes)"
                if done > self.max_iter * n_batches:
                    warn_of_more(saves.path, passes, self.max_iter, stacklevel=4)
                elif done == self.max_iter * n_batches or monitor.converged:
                    warn_of_finished(saves.path, passes, stacklevel=4)
            order = np.random.default_rng(online.seed).permutation(docs)
            stopped = monitor.converged
            while done < self.max_iter * n_batches and not stopped:
                epoch, place = divmod(done, n_batches)
                self._learn_batch(counts[np.sort(order[place * size : (place + 1) * size])], pool)
                done += 1
                if done % n_batches == 0:  # the end of a pass
                    stopped = monitor.note(
                        epoch + 1,
                        _moved(before, online.base),
                        lambda: self.perplexity(Corpus(counts)),
                        self,
                        "batches",
                    )
                    before = online.base
                if saves is not None:
                    last = monitor.converged or done >= self.max_iter * n_batches
                    saves.save_batches(online, done, before, monitor, last=last)
            self._show_topics(online)
            self.doc_topic_ = self._fold_in(self.weighting_(counts)).astype(self._dtype)
            self.n_iter_, self.history_ = done // n_batches, monitor.table()
            self.converged_ = monitor.converged
            if saves is not None and (monitor.converged or done >= self.max_iter * n_batches):
                self._finished_run = saves.finish()
        return self

    def _begin_online(self, counts: sparse.csr_array, total_docs: float) -> Online:
        settings = self._settings(self.n_components, counts.shape[1])
        rule = settings.rule
        if (
            rule.draws
            or rule.digamma_owners
            or not rule.stored
            or self.schedule not in ("auto", "asynchronous")
        ):
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
            alpha, beta = self.doc_topic_prior_, self.topic_word_prior_
            base = (self.components_.T - beta).astype(np.float64)
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
        self._keep_topics(components(online.base, online.beta), online.alpha, online.beta)


def _moved(before: np.ndarray | None, after: np.ndarray | None) -> float:
    """How far the topics moved in a pass: 0 (converged) to 2."""
    if before is None or after is None:
        return 2.0
    return float(np.abs(before / before.sum() - after / after.sum()).sum())
