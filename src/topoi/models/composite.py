"""Any mixture of factors: models nobody wrote a class for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from topoi.corpus.metadata import indicator, one_each
from topoi.graph.factors import Authors, Documents, Factor, Labels, Words
from topoi.graph.weighting import fit_weighting
from topoi.infer.state import State
from topoi.models.base import TopicModelBase

__all__ = ["TopicModel"]


class TopicModel(TopicModelBase):
    """A topic model from a list of factors: Words first, then any of Authors, Links, Labels, or
    factors of your own.

    >>> factors = [Words(counts), Authors(authors), Links(links)]  # doctest: +SKIP
    >>> TopicModel(factors, n_components=20).fit()  # doctest: +SKIP

    Parameters
    ----------
    factors : the list. With Labels, the labels (and their background topics) are the topics and
        n_components is not needed.
    The others are those of LDA, except weighting, which Words has.

    Attributes
    ----------
    owner_topic_ : (owners, K) topic proportions of the owners: authors, or the documents
        themselves.
    factors_ : the factors, with what they learned (names of authors, classes, weights of links).
    The others are those of LDA.
    """

    weighting = "count"

    def __init__(
        self,
        factors: Sequence[Words | Factor] = (),
        n_components: int = 10,
        *,
        rule: str = "bp",
        schedule: str = "auto",
        doc_topic_prior: Any = "learn",
        topic_word_prior: Any = "learn",
        messages: str = "auto",
        init: Any = "hard",
        max_iter: int = 200,
        tol: float = 1e-4,
        stop: str = "relative",
        evaluate_every: int = 5,
        vb_inner: int = 1,
        vb_textbook: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
        callbacks: Sequence[Callable[[Any, Any], Any]] | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    factors: Sequence[Words | Factor]
    n_components: int

    def fit(
        self, X: Any = None, y: Any = None, *, checkpoint: Any = None, checkpoint_every: int = 10
    ) -> TopicModel:
        """Learn topics of the factors' documents.

        X and y are not used: the data are in the factors.

        checkpoint, checkpoint_every: as in `LDA.fit`.
        """
        factors = [
            copy(factor) for factor in self.factors
        ]  # they learn; the given ones stay as they are
        if not factors or not isinstance(factors[0], Words):
            raise ValueError(
                "The first factor must be Words(counts): TopicModel([Words(counts), ...])."
            )
        others = [factor for factor in factors if not isinstance(factor, Words)]
        odd = next((factor for factor in others if not hasattr(factor, "add_to")), None)
        if odd is not None:
            raise ValueError(
                f"{odd!r} is not a factor: it has no add_to(plan). See docs/add_a_model.md."
            )
        n_words, n_labels, n_owners = (
            sum(isinstance(factor, kind) for factor in factors)
            for kind in (Words, Labels, Authors | Documents)
        )
        if max(n_words, n_labels, n_owners) > 1:
            raise ValueError(
                "Words and Labels come once, and documents have one kind of owner: give one Words,"
                " one Labels, and one of Authors and Documents."
            )
        if not n_owners:
            factors.insert(1, Documents())
        counts = self._counts(factors[0].counts, reset=True)
        kind = factors[0].weighting
        self.weighting_ = fit_weighting(kind, counts) if isinstance(kind, str) else kind
        n_topics = self.n_components
        for factor in factors:
            if isinstance(factor, Labels):
                _, classes = indicator(
                    one_each(factor.labels), counts.shape[0], "labels", factor.classes
                )
                n_topics = len(classes) + factor.background
        words = replace(factors[0], counts=counts, weighting=self.weighting_)
        state = self._fit_factors(
            counts, [words, *factors[1:]], n_topics, checkpoint, checkpoint_every
        )
        self.owner_topic_ = state.owner_topic()
        self.factors_ = [_with_learned(factor, state) for factor in factors]
        return self

    def fit_transform(
        self,
        X: Any = None,
        y: Any = None,
        *,
        checkpoint: Any = None,
        checkpoint_every: int = 10,
        **metadata: Any,
    ) -> np.ndarray:
        """Fit; topic proportions of the factors' documents."""
        return self.fit(
            X, y, checkpoint=checkpoint, checkpoint_every=checkpoint_every, **metadata
        ).doc_topic_


def _with_learned(factor: Any, state: State) -> Any:
    """A factor that is a field as a copy with the weight and tables that the run has learned; any
    other factor as it is.
    """
    for field, learned in zip(state.graph.fields, state.learned, strict=True):
        if field is factor:
            factor = copy(factor)
            factor.weight = learned.weight
            vars(factor).update(learned.tables)
    return factor
