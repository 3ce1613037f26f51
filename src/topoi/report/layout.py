"""Where topics stand to each other: distances, places on a map."""

from __future__ import annotations

import numpy as np

__all__ = ["closest", "distances", "places"]


def distances(topic_word: np.ndarray) -> np.ndarray:
    """(K, K) Hellinger distances of topics (K, W): 0 the same words, 1 no word in common."""
    roots = np.sqrt(topic_word)
    apart: np.ndarray = np.sqrt(np.maximum(1 - np.minimum(roots @ roots.T, 1), 0))
    return apart


def closest(apart: np.ndarray, n: int) -> list[list[int]]:
    """For each topic the n others that are closest. apart: (K, K)."""
    masked = apart + np.where(np.eye(len(apart), dtype=bool), np.inf, 0)
    return [
        [int(k) for k in np.argsort(row, kind="stable")[: min(n, len(apart) - 1)]] for row in masked
    ]


def places(apart: np.ndarray) -> np.ndarray:
    """(K, 2) places from 0 to 1 whose distances are as near as can be to `apart` (classical
    multidimensional scaling).
    """
    n = len(apart)
    centre = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ apart**2 @ centre)
    spread = np.zeros((n, 2))
    spread[:, : min(n, 2)] = (vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1][:, :2]
    for axis in spread.T:  # an eigenvector may point either way
        axis *= np.sign(axis[np.abs(axis).argmax()]) or 1.0
    low, high = spread.min(axis=0), spread.max(axis=0)
    scaled: np.ndarray = (spread - (low + high) / 2) / max((high - low).max(), 1e-12) + 0.5
    return scaled
