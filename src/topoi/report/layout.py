"""Where topics stand to each other: distances, places on a map that keeps them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["TopicMap", "closest", "distances", "places", "topic_map"]

ASPECT = 3 / 4  # height of the map to its width
SIDE = 720.0  # its width before topics are pushed apart
LABEL_SIZE = 12.0  # of letters, in the same unit
LETTER = 0.6  # width of a letter to its size: more than that of most fonts
MOST_LABELS = 40  # the largest topics have labels on the map as it is printed
COVERED = 0.09  # part of the map that all circles take
SMALLEST, GAP = 4.5, 3.0  # radius of a circle, room between boxes
STRETCH = np.array([1.002, 1.001])  # of the plane in each step of pushing apart; it is wide


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


@dataclass(frozen=True)
class TopicMap:
    """Circles on a map of a size; the labels of some stand below them, and nothing overlaps."""

    width: float
    height: float
    at: np.ndarray  # (K, 2)
    radius: np.ndarray  # (K,)
    labelled: np.ndarray  # (K,) flags


def topic_map(apart: np.ndarray, proportions: np.ndarray, labels: Sequence[str]) -> TopicMap:
    """Places of topics: near each other if they share words, but never so near that a circle or a
    label covers another.

    apart: (K, K) distances; proportions: (K,); labels: what stands below each circle.
    """
    at = places(apart)
    # Half way to even spacing: the middle of the map is crowded, its borders are empty.
    at = (at + at.argsort(axis=0).argsort(axis=0) / max(len(at) - 1, 1)) / 2
    # The area is the proportion.
    radius = np.maximum(SIDE * np.sqrt(COVERED * ASPECT * proportions / np.pi), SMALLEST)
    labelled = np.zeros(len(labels), dtype=bool)
    labelled[np.argsort(-proportions, kind="stable")[:MOST_LABELS]] = True
    letters = np.array([len(label) for label in labels]) * LETTER * LABEL_SIZE
    half = np.maximum(radius, np.where(labelled, letters / 2, 0)) + GAP / 2
    below = np.where(labelled, 1.25 * LABEL_SIZE, 0.0)  # the line of the label
    boxes = np.column_stack([half, radius + below / 2 + GAP / 2])
    shift = np.column_stack([np.zeros(len(at)), below / 2])  # from a circle to its box
    at = boxes + at * np.maximum(np.array([SIDE, ASPECT * SIDE]) - 2 * boxes, 0)
    _push_apart(at, boxes)
    low, high = (at - boxes).min(axis=0), (at + boxes).max(axis=0)
    width, height = high - low
    return TopicMap(float(width), float(height), at - low - shift, radius, labelled)


def _push_apart(at: np.ndarray, boxes: np.ndarray) -> None:
    """Move boxes (centres `at`, half sizes `boxes`) until none overlaps, the shorter way each
    time, on a plane that grows.
    """
    need = boxes[:, None] + boxes  # (K, K, 2) distances of centres at which boxes touch
    # Boxes in one place leave it in different directions: by their numbers.
    tie = np.sign(np.subtract.outer(np.arange(len(at)), np.arange(len(at))))[:, :, None]
    while True:
        step = at[:, None] - at
        depth = need - np.abs(step)
        hit = (depth > 0).all(axis=2) & (tie[:, :, 0] != 0)
        if not hit.any():
            return
        short = ASPECT**2 * depth[..., 0] < depth[..., 1]  # which way out is shorter, on a wide map
        along = np.stack([short, ~short], axis=2) & hit[..., None]
        side = np.where(step == 0, tie, np.sign(step))
        push = np.where(along, (depth / 2 + 0.05) * side, 0)
        at += push.sum(axis=1)
        at *= STRETCH  # of the plane, so that crowds end soon
