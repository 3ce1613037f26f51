"""How code outside of models/ fits a model: its parameters as settings, and what was learned as
fitted attributes.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from scipy import sparse

from topoi.graph.weighting import Weighting
from topoi.infer.monitor import Monitor
from topoi.infer.recipe import Settings
from topoi.infer.rules import Rule
from topoi.infer.session import Fitted
from topoi.models.lda import LDA

__all__ = [
    "batch_size_of",
    "keep",
    "monitor_of",
    "read_counts",
    "rule_of",
    "seed_of",
    "settings_of",
    "take_words",
    "with_priors",
    "without_documents",
    "word_prior_of",
    "words_of",
]

WORDS = (  # what a model knows of its input
    "n_features_in_",
    "feature_names_in_",
    "vocabulary_",
    "vectorizer_",
    "_dtype",
    "_topic_names",
)


def read_counts(model: LDA, X: Any, *, first: bool) -> sparse.csr_array:
    """X as counts of the model's words. first: the model takes its words from X."""
    return model._read(X, reset=first).counts


def words_of(model: LDA) -> dict[str, Any]:
    """What a model knows of its input, for `take_words`."""
    return {name: value for name, value in vars(model).items() if name in WORDS}


def take_words(model: LDA, words: dict[str, Any]) -> None:
    """Give a model what another one knows of its input."""
    model.__dict__.pop("feature_names_in_", None)  # of an earlier fit
    model.__dict__.update(words)


def without_documents(model: LDA, *, fitted: bool) -> LDA:
    """A copy without what is large or cannot be sent to another process.

    fitted: whether it keeps its topics.
    """
    light = copy(model)
    light.callbacks, light.init = None, "hard"
    for name in ("doc_topic_", "documents_", "history_", "_online"):
        light.__dict__.pop(name, None)
    if not fitted:
        light.__dict__.pop("components_", None)
    return light


def rule_of(model: LDA) -> Rule:
    """The rule of a model whose parameters make sense."""
    return model._check_parameters()


def batch_size_of(model: LDA) -> int | None:
    """Documents in a mini-batch, None for all."""
    return model._batch_size()


def seed_of(model: LDA) -> int:
    """A seed from random_state; a fresh one each time, if that says so."""
    return model._seed()


def settings_of(model: LDA, seed: int) -> Settings:
    """What the parameters of a model that knows its words ask of a run."""
    return model._settings(model.n_components, model.n_features_in_, seed)


def with_priors(model: LDA, settings: Settings) -> Settings:
    """The settings with the priors of the model, as long as there are topics."""
    return model._with_priors(settings, model.n_components)


def word_prior_of(model: LDA, word_weight: np.ndarray, token: float) -> np.ndarray | None:
    """(W, K) word priors of topics that have one, beyond beta. Topics get the names of their
    seeds.

    word_weight: (W,) weight of each word in all documents; token: weight of one token.
    """
    return model._word_prior(model.n_components, word_weight, token)


def monitor_of(model: LDA) -> Monitor:
    """The monitor of a run whose documents are elsewhere: they report the perplexity."""
    return model._monitor(sparse.csr_array((0, model.n_features_in_)))


def keep(model: LDA, fitted: Fitted) -> None:
    """Give the model what a run over counts has learned."""
    model._keep(fitted)
    model.weighting_ = Weighting("count", None, 1.0)
    model._online = None
