"""Latent Dirichlet allocation: words, and each document its own owner."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if

from topoi.choices import ScheduleName, WeightingName
from topoi.corpus import Corpus
from topoi.graph.factors import Documents
from topoi.graph.plan import Plan
from topoi.graph.weighting import fit_weighting
from topoi.infer.checkpoints import warn_of_finished, warn_of_more
from topoi.infer.online import Online, with_words
from topoi.infer.recipe import make_recipe
from topoi.infer.rules import Rule, make_rule
from topoi.infer.session import components
from topoi.infer.threads import ThreadPool
from topoi.models.base import TopicModelBase, open_checkpoint
from topoi.models.parameters import Callback, Init, Prior, RuleLike, Seed, Tolerance, TopicPrior
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

    Each document is a mixture of topics, each topic a distribution over words.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    doc_topic_prior : float, array-like of one float per topic, "learn" or None, default="learn"
        Dirichlet prior of topics in documents (alpha). "learn" estimates one value per topic. None
        is 1 / number of topics.
    topic_word_prior : float, "learn" or None, default="learn"
        Dirichlet prior of words in topics (beta). "learn" estimates one value. None is 1 / number
        of topics.
    max_iter : int, default=200
        Largest number of sweeps over the corpus; with `batch_size`, of passes over all documents.
    tol : float or "paper", default=1e-4
        Stop when training perplexity changes by less than this proportion per sweep. 0 makes
        exactly `max_iter` sweeps. "paper" stops when perplexity changes by less than 1 in ten
        sweeps, and measures it every ten whatever `evaluate_every` says; it is a value of `tol`,
        and not an option of the rule, because every rule can stop so and `tol` has no meaning
        beside it. Synthetic data may stay on a plateau for dozens of sweeps before the last topics
        separate: use a smaller `tol` there.
    n_jobs : int or None, default=None
        Number of threads. None is one, -1 all cores. Results are the same bits for any number.
    random_state : int, RandomState, Generator or None, default=0
        Seed. With the default, the same data give the same topics every time. None draws a new one.
    rule : {"bp", "sibp", "cvb0", "vb", "gibbs"} or an object of topoi.rules, default="bp"
        How messages are renewed. A name stands for the rule with its defaults; `topoi.rules` has
        the options, for instance `topoi.rules.BP(messages="none")`.
    schedule : str, default="auto"
        In which order messages are renewed: "auto", "relaxed", "asynchronous", "synchronous",
        "residual", "residual-words", "active" or "incremental" (docs/design.md). With rule "bp",
        "auto" starts from an overcomplete model and merges it to the wanted number of topics; large
        corpora get a few warm-up sweeps without stored messages; over-relaxed sweeps follow, on
        topic lists if there are many topics; the last rounds infer documents afresh. With other
        rules it is the schedule they can use. `history_` says what was done.
    init : {"hard", "soft"}, fitted model or array-like, default="hard"
        How messages start. "hard": a random topic each (with "auto": topics merged from more).
        "soft": random proportions. A model or its topics x words array: from these topics.
    weighting : {"count", "tf", "tfidf", "log"}, default="count"
        Weights that messages carry. Perplexity is always that of raw counts.
    batch_size : int or None, default=None
        Learn from this many documents at a time, in constant memory. For rules "bp", "sibp" and
        "cvb0" with stored messages, schedule "auto" or "asynchronous". None takes all documents at
        once.
    learning_decay : float, default=0.7
        Exponent with which the influence of older mini-batches falls, 0 to 1, as in scikit-learn.
        For `batch_size` and `partial_fit`.
    learning_offset : float, default=10.0
        Offset that lowers the influence of the first mini-batches, at least 1, as in scikit-learn.
        For `batch_size` and `partial_fit`.
    total_samples : float, default=1e6
        Number of documents that `partial_fit` will have seen in the end.
    evaluate_every : int, default=5
        Sweeps between two measurements of training perplexity. 0 or -1 measures none, so that `tol`
        cannot stop the run.
    callbacks : list of callables, default=None
        Called with (state, record) after every sweep; a true answer stops the run. In mini-batches
        the model takes the place of the state.
    verbose : int, default=0
        Whether to show a progress bar.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Expected counts of words in topics, plus the prior.
    topic_word_ : ndarray of shape (n_components, n_features)
        Word proportions of topics; rows sum to 1.
    doc_topic_ : ndarray of shape (n_documents, n_components)
        Topic proportions of the training documents; rows sum to 1. Absent after `partial_fit`.
    doc_topic_prior_ : ndarray of shape (n_components,)
        Prior of topics, learned or given.
    topic_word_prior_ : float
        Prior of words, learned or given.
    topic_proportions_ : ndarray of shape (n_components,)
        Proportion of all training tokens that each topic holds.
    topic_names_ : list of str
        Names given by `name_topics`, and "topic0", "topic1", ... for the others.
    n_iter_ : int
        Number of sweeps done; with `batch_size`, of passes; after `partial_fit`, of batches.
    converged_ : bool
        Whether the run stopped by `tol`.
    history_ : list of dict
        One per sweep: sweep, seconds, residual (mean change of a message), perplexity (None where
        it was not measured) and schedule (what "auto" chose).
    weighting_ : Weighting
        The fitted weighting, as a function of counts.
    vocabulary_ : ndarray of shape (n_features,) or None
        The word of each column, if known.
    vectorizer_ : CountVectorizer or None
        What made counts of the training texts, if known.
    doc_names_ : ndarray of shape (n_documents,) or None
        Names of the training documents, if known.
    n_features_in_ : int
        Number of words.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names of a data frame; absent if X had none.

    Examples
    --------
    >>> import topoi
    >>> texts = ["cat dog cat pet", "dog pet cat dog", "bond stock bond", "market bond stock"]
    >>> corpus = topoi.read(texts * 10)
    >>> model = topoi.LDA(2, random_state=0).fit(corpus)
    >>> sorted(sorted(words) for words in model.top_words(3))
    [['bond', 'market', 'stock'], ['cat', 'dog', 'pet']]
    >>> model.transform(corpus).shape
    (40, 2)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        doc_topic_prior: TopicPrior = "learn",
        topic_word_prior: Prior = "learn",
        max_iter: int = 200,
        tol: Tolerance = 1e-4,
        n_jobs: int | None = None,
        random_state: Seed = 0,
        rule: RuleLike = "bp",
        schedule: ScheduleName = "auto",
        init: Init = "hard",
        weighting: WeightingName = "count",
        batch_size: int | None = None,
        learning_decay: float = 0.7,
        learning_offset: float = 10.0,
        total_samples: float = 1e6,
        evaluate_every: int = 5,
        callbacks: Sequence[Callback] | None = None,
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
        try:
            rule = make_rule(self.rule)
        except ValueError as error:
            raise AttributeError(str(error)) from None
        if not _takes_batches(rule, self.schedule):
            raise AttributeError(NO_BATCHES)
        return True

    @available_if(_learns_in_batches)
    def partial_fit(self, X: Any, y: Any = None) -> LDA:
        """Learn from one more batch of documents.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        y : None
            Not used.

        Returns
        -------
        LDA
            This model. `total_samples` says how many documents there will be; after `fit`, those of
            `fit` count.
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
            self._keep_fit(counts)
            self.n_iter_, self.history_ = done // n_batches, monitor.table()
            self.converged_ = monitor.converged
            if saves is not None and (monitor.converged or done >= self.max_iter * n_batches):
                self._finished_run = saves.finish()
        return self

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


def _takes_batches(rule: Rule, schedule: str) -> bool:
    plain = rule.stored and not rule.draws and not rule.digamma_owners
    return plain and schedule in ("auto", "asynchronous")


def _moved(before: np.ndarray | None, after: np.ndarray | None) -> float:
    """How far the topics moved in a pass: 0 (converged) to 2."""
    if before is None or after is None:
        return 2.0
    return float(np.abs(before / before.sum() - after / after.sum()).sum())
