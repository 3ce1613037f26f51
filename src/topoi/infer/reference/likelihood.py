"""Likelihoods, and the digammas behind learned priors."""

from __future__ import annotations

import numpy as np
from scipy.special import psi

__all__ = ["expected_digamma_gain", "log_likelihood"]


def log_likelihood(counts, doc_topic: np.ndarray, topic_word: np.ndarray) -> np.ndarray:
    """(D,) log-likelihood of each document's counts."""
    return (counts.toarray() * np.log(doc_topic @ topic_word)).sum(axis=1)


def expected_digamma_gain(counts: np.ndarray, prior: np.ndarray, expected: bool) -> np.ndarray:
    """(K,) sum over rows of E[psi(n + a) - psi(a)], see `priors.py`."""
    counts = np.asarray(counts, dtype=np.float64)
    likely = -np.expm1(-counts) if expected else (counts > 0).astype(float)
    mean = np.divide(counts, likely, out=np.zeros_like(counts), where=likely > 0)
    return (likely * (psi(mean + prior) - psi(prior))).sum(axis=0)
