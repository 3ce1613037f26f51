"""Parameters that all models share: their types, their checks, and what they ask of a run."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from topoi.choices import FIRST_MESSAGES, FirstMessages, RuleName, ScheduleName, WeightingName
from topoi.graph.seeds import Seeds, SeedWords
from topoi.infer.edge_messages import checked_messages
from topoi.infer.guided import broken_apart
from topoi.infer.history import Callback
from topoi.infer.priors import checked_prior
from topoi.infer.recipe import Prior as RecipePrior
from topoi.infer.recipe import Settings, named_schedule
from topoi.infer.rules import Rule, make_rule
from topoi.models.word_priors import least_of
from topoi.rules import UpdateRule

__all__ = [
    "Callback",
    "Init",
    "Parameters",
    "RuleLike",
    "Seed",
    "SeedsLike",
    "Tolerance",
    "TopicPrior",
    "WordPriorLike",
]

WordPriorLike = float | np.ndarray | Sequence[Sequence[float]] | Literal["learn"] | None
SeedsLike = Seeds | SeedWords | None
TopicPrior = float | Sequence[float] | np.ndarray | Literal["learn"] | None  # one value per topic
Tolerance = float | Literal["paper", "parameters"]
Seed = int | np.random.RandomState | np.random.Generator | None
RuleLike = RuleName | UpdateRule
Init: TypeAlias = FirstMessages | BaseEstimator | np.ndarray


class Start(NamedTuple):
    """How messages start: fields of `Settings`."""

    init: str
    word_topic: np.ndarray | None = None
    messages: np.ndarray | None = None


class Parameters(BaseEstimator):
    """An estimator with the parameters that all topic models take."""

    _parameters_at_least: ClassVar[dict[str, int]] = {
        "n_components": 1,
        "max_iter": 1,
        "evaluate_every": -1,
    }

    doc_topic_prior: TopicPrior
    topic_word_prior: WordPriorLike
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

    def _store(self, parameters: dict[str, object]) -> None:
        """Keep constructor arguments as they are, which is what scikit-learn asks of a
        constructor.
        """
        for name, value in parameters.items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    def _check_parameters(self) -> Rule:
        for name, least in self._parameters_at_least.items():
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
                raise ValueError(
                    f"{name} is {value!r}; expected a whole number of at least {least}."
                )
        named = isinstance(self.tol, str) and self.tol in ("paper", "parameters")
        if not named and not (isinstance(self.tol, numbers.Real) and self.tol >= 0):
            raise ValueError(
                f"tol is {self.tol!r}; expected a number >= 0 (0 means exactly max_iter sweeps),"
                " or 'paper' or 'parameters'."
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

    def _settings(
        self, n_topics: int, n_words: int, seed: int | None = None, n_edges: int | None = None
    ) -> Settings:
        """What the parameters ask of a run, but for priors: these are as long as there are topics.

        seed: default is one from random_state. n_edges: nonzeros of X, if all of it is learned from
        at once.
        """
        rule = self._check_parameters()
        if n_edges is None:
            self._refuse_without_state()
        seed = self._seed() if seed is None else seed
        start = self._init(n_topics, n_words, n_edges, seed)
        return Settings(
            rule=rule,
            schedule=self.schedule,
            init=start.init,
            word_topic=start.word_topic,
            messages=start.messages,
            max_iter=self.max_iter,
            seed=seed,
            n_jobs=self.n_jobs,
            callbacks=tuple(self.callbacks or ()),
            verbose=bool(self.verbose),
        )

    def _refuse_without_state(self) -> None:
        """Refuse what looks at all messages after a sweep, where these are never in one place."""
        if self.tol == "parameters" or any(hasattr(c, "records") for c in self.callbacks or ()):
            raise ValueError(
                "tol='parameters' and evaluate.LogJoint compare all documents after a sweep, which"
                " blocks, mini-batches and clusters do not hold; use a number for tol and other"
                " callbacks, or fit all documents at once."
            )

    def _with_priors(self, settings: Settings, n_topics: int) -> Settings:
        return replace(
            settings,
            doc_topic_prior=self._prior("doc_topic_prior", n_topics, n_topics),
            topic_word_prior=self._prior("topic_word_prior", 1, n_topics),
        )

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
        value, fitted = getattr(self, name), getattr(self.init, f"{name}_", None)
        if name == "topic_word_prior":  # what topics have beyond that is in guidance.py
            value, fitted = least_of(value), least_of(fitted)
        if isinstance(value, str) and value == "learn":
            if fitted is not None and np.size(fitted) == size:
                return RecipePrior(np.full(size, fitted, dtype=np.float64), True)
            return RecipePrior(None, True)
        if value is None:
            value = 1.0 / n_topics  # scikit-learn's default
        return RecipePrior(checked_prior(name, value, size), False)

    def _init(self, n_topics: int, n_words: int, n_edges: int | None, seed: int) -> Start:
        """How messages start. n_edges: as in `_settings`."""
        if isinstance(self.init, str):
            if self.init not in FIRST_MESSAGES:
                raise ValueError(
                    f"init is {self.init!r}; choose 'hard', 'soft', a fitted model, an array of"
                    " topics x words, or what model.messages(X) gives."
                )
            return Start(self.init)
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
            if n_edges is not None and topics.shape in ((n_edges, n_topics), (n_edges,)):
                return Start("given", messages=checked_messages(topics, n_topics))
            of_words = "" if n_edges is None else f", or messages of shape {(n_edges, n_topics)}"
            raise ValueError(
                f"init has topics of shape {topics.shape}; expected {(n_topics, n_words)}: the same"
                f" number of topics and the same vocabulary{of_words}."
            )
        if not (
            np.isfinite(topics).all() and (topics >= 0).all() and (topics.sum(axis=1) > 0).all()
        ):
            raise ValueError(
                "init must hold nonnegative finite weights, with something in every topic."
            )
        smooth = topics + 1e-6 * topics.mean(axis=1, keepdims=True)
        word_topic = (smooth / smooth.sum(axis=1, keepdims=True)).T
        return Start("warm", word_topic=broken_apart(word_topic, seed))
