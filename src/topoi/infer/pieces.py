"""Pieces of the word table, as they travel between the workers of a cluster.

A piece has some rows of the table: what words hold of topics. Most words are in few topics, so only
the larger cells of a row are sent, and what is left in the others together. Who receives a piece
gives them equal parts of that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topoi.graph.wiring import padded_width
from topoi.infer.memory import pad_topics

__all__ = ["Packed", "Piece", "packed", "unpacked"]


class Packed(NamedTuple):
    """Some cells of rows of a table, row after row, and what the other cells hold together."""

    ends: np.ndarray  # (rows,) where the cells of each row end
    topics: np.ndarray
    values: np.ndarray  # float32
    rest: np.ndarray  # (rows,) float32
    n_topics: int


Piece = np.ndarray | Packed  # (rows, n_topics) all cells, or some


def packed(table: np.ndarray, n_topics: int, least: float) -> Piece:
    """Rows (rows, width) of a table without cells that hold less than `least` of their row. With 0
    nothing is lost. Padding topics hold nothing, and are not sent.

    All cells are sent if that is shorter, with the values that they would have otherwise: where a
    table is cut into pieces changes nothing.
    """
    table = np.ascontiguousarray(table[:, :n_topics])
    held = table.sum(axis=1, keepdims=True)
    rows, topics = np.nonzero((table > 0) & (table >= least * held))
    kind = np.uint16 if n_topics <= 2**16 else np.uint32
    n_sent = np.bincount(rows, minlength=len(table))
    values = table[rows, topics]
    rest = np.zeros(len(table), np.float32)
    if least > 0:
        sent = np.bincount(rows, values, len(table))
        rest = np.where(n_sent < n_topics, np.maximum(held[:, 0] - sent, 0), 0).astype(np.float32)
    piece = Packed(np.cumsum(n_sent), topics.astype(kind), values, rest, n_topics)
    if sum(array.nbytes for array in piece[:4]) < table.nbytes:
        return piece
    return table if least == 0 else np.ascontiguousarray(unpacked(piece)[:, :n_topics])


def unpacked(piece: Piece) -> np.ndarray:
    """(rows, width) the rows that `packed` took."""
    if isinstance(piece, np.ndarray):
        return pad_topics(piece, padded_width(piece.shape[1]))
    n_sent = np.diff(piece.ends, prepend=0)
    table = np.zeros((len(n_sent), padded_width(piece.n_topics)), np.float32)
    table[:, : piece.n_topics] = (piece.rest / np.maximum(piece.n_topics - n_sent, 1))[:, None]
    table[np.repeat(np.arange(len(n_sent)), n_sent), piece.topics] = piece.values
    return table
