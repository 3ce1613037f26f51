"""Priors of words in topics: one number for all, or more for some words of some topics (seeds, or
an array given as topic_word_prior).

The engine knows a number beta for all, and what topics have beyond it (`Plan.word_prior`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topoi.infer.priors import checked_prior

__all__ = ["full_prior", "given_array", "least_of", "parted_prior"]


def given_array(value: Any, n_topics: int, n_words: int) -> np.ndarray | None:
    """(K, W) what `topic_word_prior` is, if that is an array with a number for each topic and word;
    None if it is anything else.
    """
    if isinstance(value, str) or np.ndim(value) != 2:
        return None
    shape = np.shape(value)
    if shape != (n_topics, n_words):
        raise ValueError(
            f"topic_word_prior has the shape {shape}; expected one number, 'learn', or an array of"
            f" shape {(n_topics, n_words)}: topics x words."
        )
    return checked_prior("topic_word_prior", np.ravel(value), n_topics * n_words).reshape(shape)


def least_of(prior: Any) -> Any:
    """The number for all of a prior (K, W); any other prior as it is."""
    return float(np.min(prior)) if np.ndim(prior) == 2 else prior


def full_prior(beta: float, word_prior: np.ndarray | None) -> float | np.ndarray:
    """What a fitted model shows as topic_word_prior_: a number, or (K, W) where topics have more,
    which is `word_prior` (W, K).
    """
    return beta if word_prior is None else beta + word_prior.T


def parted_prior(prior: float | np.ndarray) -> tuple[float, np.ndarray | None]:
    """The number beta for all, and (W, K) what topics have beyond it, from a number or (K, W)."""
    beta = least_of(prior)
    return beta, None if beta is prior else np.asarray(prior - beta).T
