"""What all topic models share: parameters, checks, fitting, prediction.

What they show of their topics is in topics.py.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from topoi.choices import ScheduleName, WeightingName
from topoi.corpus import Corpus
from topoi.corpus.documents import TrainingDocuments
from topoi.graph.factors import Factor, Words, make_plan
from topoi.graph.plan import Plan
from topoi.graph.weighting import fit_weighting
from topoi.infer import session
from topoi.infer.likelihood import document_fit, document_log_likelihood
from topoi.infer.monitor import Monitor
from topoi.infer.predict import fold_in, fold_in_state, prediction_plan
from topoi.infer.priors import checked_prior
from topoi.infer.recipe import Prior as RecipePrior
from topoi.infer.recipe import Settings, chosen_schedule, named_schedule
from topoi.infer.rules import Rule, make_prediction_rule, make_rule
from topoi.infer.session import Fitted
from topoi.infer.state import INITS, State
from topoi.infer.threads import ThreadPool
from topoi.models.inputs import read_documents
from topoi.models.parameters import Callback, Init, Prior, RuleLike, Seed, Tolerance, TopicPrior
from topoi.models.preflight import (
    refuse_fractions,
    refuse_too_large,
    warn_of_heavy_weights,
)
from topoi.models.topics import Topics

if TYPE_CHECKING:
    from topoi.infer.checkpoints import Checkpoint, FinishedRun

__all__ = ["TopicModelBase"]


class TopicModelBase(Topics):
    """A topic model as a scikit-learn transformer.

    A subclass is a list of factors and the questions one can ask of it.
    """

    _parameters_at_least: ClassVar[dict[str, int]] = {
        "n_components": 1,
        "max_iter": 1,
        "evaluate_every": -1,
    }

    doc_topic_prior: TopicPrior
    topic_word_prior: Prior
    max_iter: int
    tol: Tolerance
    n_jobs: int | None
    random_state: Seed
    rule: RuleLike
    schedule: ScheduleName
    init: Init
    weighting: WeightingName
    evaluate_every: int
    callbacks: Sequence[Callback] | None
    verbose: int
    _finished_run: FinishedRun | None  # whose checkpoint `save` removes

    def _store(self, parameters: dict[str, Any]) -> None:
        """Keep constructor arguments as they are, which is what scikit-learn asks of a
        constructor.
        """
        for name, value in parameters.items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    # -------------------------------------------------------------------------------------- fitting

    def _fit(
        self,
        counts: sparse.csr_array,
        factors: Sequence[Factor],
        n_topics: int,
        checkpoint: Any,
        every: int,
    ) -> State:
        """Compile words and `factors`, pass messages until the stop rule holds, and keep what was
        learned.
        """
        self.weighting_ = fit_weighting(self.weighting, counts)
        return self._fit_factors(
            counts, [Words(counts, self.weighting_), *factors], n_topics, checkpoint, every
        )

    def _fit_factors(
        self,
        counts: sparse.csr_array,
        factors: Sequence[Words | Factor],
        n_topics: int,
        checkpoint: Any,
        every: int,
    ) -> State:
        settings = self._settings(n_topics, counts.shape[1])
        plan = make_plan(factors, n_topics)
        if settings.rule.tokens:
            refuse_fractions(plan.counts, self.rule)
        schedule, lists = chosen_schedule(plan.facts, settings)
        refuse_too_large(plan, settings.rule, schedule, lists=lists)
        warn_of_heavy_weights(plan, settings.rule)
        settings = self._with_priors(settings, n_topics)
        with open_checkpoint(checkpoint, every, self, plan, settings.word_topic) as saves:
            fitted, state = session.fit(plan, settings, lambda: self._monitor(counts), saves)
            self._keep(fitted)
            self._keep_fit(counts)
            if saves is not None and fitted.finished:
                self._finished_run = saves.finish()
        return state

    def _settings(self, n_topics: int, n_words: int, seed: int | None = None) -> Settings:
        """What the parameters ask of a run, but for priors: these are as long as there are topics.

        seed: default is one from random_state.
        """
        rule, (init, word_topic) = self._check_parameters(), self._init(n_topics, n_words)
        return Settings(
            rule=rule,
            schedule=self.schedule,
            init=init,
            word_topic=word_topic,
            max_iter=self.max_iter,
            seed=self._seed() if seed is None else seed,
            n_jobs=self.n_jobs,
            callbacks=tuple(self.callbacks or ()),
            verbose=bool(self.verbose),
        )

    def _with_priors(self, settings: Settings, n_topics: int) -> Settings:
        return replace(
            settings,
            doc_topic_prior=self._prior("doc_topic_prior", n_topics, n_topics),
            topic_word_prior=self._prior("topic_word_prior", 1, n_topics),
        )

    def _keep(self, fitted: Fitted) -> None:
        """Fitted attributes from what a run has learned."""
        self._keep_topics(fitted.components, fitted.alpha, fitted.beta)
        self.doc_topic_ = fitted.doc_topic.astype(self._dtype)
        self._n_docs = fitted.n_docs  # that have words
        self.n_iter_ = fitted.n_iter
        self.history_ = fitted.history
        self.converged_ = fitted.converged

    def _keep_fit(self, counts: sparse.csr_array) -> None:
        """How well the topics of each training document explain its words."""
        with ThreadPool(self.n_jobs) as pool:
            self._know(fit=document_fit(counts, self.doc_topic_, self.topic_word_, pool))

    def _know(self, **about: Any) -> None:
        """Add to what is known about the training documents."""
        assert self.documents_ is not None, "a fit has documents"
        self.documents_ = replace(self.documents_, **about)

    def _keep_topics(self, components: np.ndarray, alpha: np.ndarray, beta: float) -> None:
        self.components_ = components.astype(self._dtype, copy=False)
        self.doc_topic_prior_, self.topic_word_prior_ = alpha, beta

    def _check_parameters(self) -> Rule:
        for name, least in self._parameters_at_least.items():
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
                raise ValueError(
                    f"{name} is {value!r}; expected a whole number of at least {least}."
                )
        if not self._stops_as_paper and not (isinstance(self.tol, numbers.Real) and self.tol >= 0):
            raise ValueError(
                f"tol is {self.tol!r}; expected a number >= 0 (0 means exactly max_iter sweeps),"
                " or 'paper'."
            )
        if callable(self.callbacks) or not all(map(callable, self.callbacks or ())):
            raise ValueError(
                f"callbacks is {self.callbacks!r}; expected a list of functions (state, record)."
            )
        if self.n_jobs is not None and (
            not isinstance(self.n_jobs, numbers.Integral) or self.n_jobs == 0
        ):
            raise ValueError(
                f"n_jobs is {self.n_jobs!r}; expected a number of threads, -1 for all cores, or"
                " None for one."
            )
        rule = make_rule(self.rule)
        named_schedule(self.schedule, rule)
        return rule

    @property
    def _stops_as_paper(self) -> bool:
        return isinstance(self.tol, str) and self.tol == "paper"

    def _counts(self, X: Any, *, reset: bool) -> sparse.csr_array:
        """The counts of X; see `_corpus`."""
        return self._corpus(X, reset=reset).counts

    def _corpus(self, X: Any, *, reset: bool) -> Corpus:
        """X as a Corpus (models/inputs.py); at a fit there must be words in it."""
        corpus = self._read(X, reset=reset)
        if reset and not corpus.counts.nnz:
            raise ValueError(
                "X holds no words at all: every entry is 0. Check the vectoriser's vocabulary,"
                " min_df and stop words."
            )
        return corpus

    def _read(self, X: Any, *, reset: bool) -> Corpus:
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
        return corpus

    def _seed(self) -> int:
        """A whole number from random_state: int, None (a fresh one), RandomState or Generator."""
        state = self.random_state
        if isinstance(state, numbers.Integral):
            return int(state) % 2**63
        if state is None:
            return int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) >> 1
        if isinstance(state, np.random.Generator):
            return int(state.integers(2**31 - 1))
        if isinstance(state, np.random.RandomState):
            return int(state.randint(2**31 - 1))
        raise ValueError(
            f"random_state is {state!r}; expected a whole number, None, a RandomState or a"
            " Generator."
        )

    def _prior(self, name: str, size: int, n_topics: int) -> RecipePrior:
        """The prior's value (size,), None if the recipe chooses the first one, and whether it is
        learned. Learning starts from the prior of a fitted model, if `init` is one.
        """
        value = getattr(self, name)
        if isinstance(value, str) and value == "learn":
            fitted = getattr(self.init, f"{name}_", None)
            if fitted is not None and np.size(fitted) == size:
                return RecipePrior(np.full(size, fitted, dtype=np.float64), True)
            return RecipePrior(None, True)
        if value is None:
            value = 1.0 / n_topics  # scikit-learn's default
        return RecipePrior(checked_prior(name, value, size), False)

    def _init(self, n_topics: int, n_words: int) -> tuple[str, np.ndarray | None]:
        """How messages start, and (W, K) topic-word proportions if that is from topics."""
        if isinstance(self.init, str):
            if self.init not in INITS or self.init == "warm":
                raise ValueError(
                    f"init is {self.init!r}; choose 'hard', 'soft', a fitted model or an array of"
                    " topics x words."
                )
            return self.init, None
        if isinstance(self.init, BaseEstimator) and not hasattr(self.init, "components_"):
            raise ValueError(
                "init is a model without components_: it is not fitted (clone resets it). Give a"
                " fitted model, or its components_ array."
            )
        words, theirs = getattr(self, "vocabulary_", None), getattr(self.init, "vocabulary_", None)
        if words is not None and theirs is not None and not np.array_equal(words, theirs):
            raise ValueError(
                "init was fitted on other words, or on the same in another order; bring the corpus"
                " there by corpus.over(init.vocabulary_)."
            )
        topics = np.asarray(getattr(self.init, "components_", self.init), dtype=np.float64)
        if topics.shape != (n_topics, n_words):
            raise ValueError(
                f"init has topics of shape {topics.shape}; expected {(n_topics, n_words)}: the same"
                " number of topics and the same vocabulary."
            )
        if not (
            np.isfinite(topics).all() and (topics >= 0).all() and (topics.sum(axis=1) > 0).all()
        ):
            raise ValueError(
                "init must hold nonnegative finite weights, with something in every topic."
            )
        smooth = topics + 1e-6 * topics.mean(axis=1, keepdims=True)
        return "warm", (smooth / smooth.sum(axis=1, keepdims=True)).T

    def _monitor(self, counts: sparse.csr_array) -> Monitor:
        return Monitor(
            counts,
            tol=1.0 if self._stops_as_paper else float(self.tol),
            every=self.evaluate_every,
            paper_rule=self._stops_as_paper,
            max_iter=self.max_iter,
            callbacks=self.callbacks or (),
            progress=bool(self.verbose),
        )

    # ----------------------------------------------------------------------------------- prediction

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        checkpoint: Any = None,
        checkpoint_every: int = 10,
        **metadata: Any,
    ) -> np.ndarray:
        """Fit, then the topic proportions of the same documents as `transform` gives them.

        Authors and links go to both.
        """
        self.fit(X, y, checkpoint=checkpoint, checkpoint_every=checkpoint_every, **metadata)
        return self.transform(X, **metadata)

    def transform(self, X: Any) -> np.ndarray:
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
        return self._fold_in(self.weighting_(self._counts(X, reset=False))).astype(self._dtype)

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

    def score(self, X: Any, y: Any = None, **metadata: Any) -> float:
        """Mean log-likelihood per token, with topic proportions from `transform`.

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
        proportions = np.asarray(self.transform(corpus, **metadata))
        with ThreadPool(self.n_jobs) as pool:
            return float(
                document_log_likelihood(counts, proportions, self.topic_word_, pool).sum()
                / counts.sum()
            )

    def perplexity(self, X: Any, **metadata: Any) -> float:
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@contextmanager
def open_checkpoint(
    path: Any,
    every: int,
    model: TopicModelBase,
    plan: Plan,
    start: np.ndarray | None,
) -> Iterator[Checkpoint | None]:
    """The checkpoint of a fit, if one is wanted, locked for the time of the fit."""
    if path is None:
        yield None
        return
    from topoi.infer.checkpoints import Checkpoint

    with Checkpoint(path, every, model, plan, start) as saves:
        yield saves
