"""The arrays and numbers that kernels work on, by name; those of a graph are in graph/arrays.py."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

__all__ = [
    "ActiveSet",
    "Fields",
    "FreshParams",
    "Kept",
    "Messages",
    "Scratch",
    "SweepParams",
    "Tables",
]


APART = 128  # numbers: more than any vectorised loop takes at a time
LINE = 16  # numbers of a cache line
SCRATCH_ROWS = 12  # as many as any kernel needs


class Tables(NamedTuple):
    """Counts, all derived from messages: what owners, words and topics hold."""

    theta: np.ndarray  # (slots, K) float32
    phi: np.ndarray  # (W, K) float32
    totals: np.ndarray  # (K,) float64
    owner_mass: np.ndarray  # (I,) float32: mass of each owner in each of its documents


class SweepParams(NamedTuple):
    """The numbers of one sweep: priors, and what the rule and the schedule ask for."""

    alpha: np.ndarray  # (K,) float32, 0 for padding topics
    beta: float
    word_prior: np.ndarray  # (K,) float32: beta for every topic (alpha where words are visited)
    beta_sum: float  # W * beta
    owner_prior: (
        float  # pseudo-count of each owner in its documents; 0 = owners are equally likely (A8)
    )
    own_cap: float  # an edge removes min(x, own_cap) * mu of itself: 0 siBP, 1 CVB0, no limit BP
    in_place: bool  # tables change under way (asynchronous) or after the sweep
    frozen_words: bool  # phi and totals stay as they are (prediction)
    plain_side: bool  # theta is already exp(digamma(...)): no prior, no normaliser (VB)
    # factor on the change of a message: 1 plain BP, above 1 over-relaxation, below 1 damping
    relaxation: float
    seed: int
    n_doc_blocks: int
    n_word_blocks: int
    max_owners: int  # of any one document


class FreshParams(NamedTuple):
    """How documents are inferred afresh (kernels/fresh.py)."""

    passes: int  # over a document's edges, after the one that starts from its words alone
    discount: float  # taken off a document's counts before the prior is added
    tolerance: (
        float  # a document whose messages moved no more than this per unit of weight has converged
    )
    digamma: (
        bool  # VB: exp(digamma) of the document's counts instead of the counts less the discount
    )
    # what an edge removes from its word: its part of what the word holds, or its current message
    by_part: bool


class Fields(NamedTuple):
    """The fields of documents (eq. 30): what they take from other documents."""

    message: np.ndarray  # (D, K) float32, times the weight; (1, 1) when no document has a field
    weight: np.ndarray  # (D,) float32: xi; the owner has the weight 1 - xi


class ActiveSet(NamedTuple):
    """What an active schedule looks at in the next sweep, and how much each document's topics moved
    when they were last looked at.
    """

    docs: np.ndarray  # (D,) bool
    topics: np.ndarray  # (D, S) int32, ascending
    moved: np.ndarray  # (slots, K) float32: sum over edges of x |mu_new - mu_old|


class Messages(NamedTuple):
    """What moves: messages, and what a sweep leaves behind for the schedule."""

    mu: np.ndarray  # flat float32 messages; empty for Gibbs
    z: np.ndarray  # (E,) int32 drawn (owner, topic) of each token; empty for the others
    order: np.ndarray  # (V,) visits in the order in which their cell takes them
    residual: np.ndarray  # (V,) float64: sum over edges and topics of x |mu_new - mu_old|
    # (document blocks, K) float64: what each cell changed in the totals during this stage
    change: np.ndarray


class Kept(NamedTuple):
    """What is kept of a block of documents until its next turn (kept.py)."""

    theta: np.ndarray  # (slots, width) float32
    places: np.ndarray  # (edges, M) uint16: where in a message its largest numbers stand
    parts: np.ndarray  # (edges, M) uint16: these numbers, of 65,535; 0 where nothing was kept


class Scratch(NamedTuple):
    """Buffers of kernels, which allocate none: that would have to be compiled with each of them."""

    numbers: np.ndarray  # (workers, rows, at least n K) float32; kernels/visits.py names the rows
    topics: np.ndarray  # (workers, K) uint32: an unsigned index needs no test for negative numbers

    @classmethod
    def blank(cls, n_workers: int, n_topics: int, max_owners: int = 1) -> Scratch:
        """Rows lie apart from each other and from whatever stands before them.

        LLVM guards a vectorised loop by the distance of its arrays: a short one right behind
        another is taken for an overlap, and the loop runs one by one, with its sum in another
        order. Where the system puts an array must not decide the bits.
        """
        size = -(-max(n_topics * max_owners, APART) // LINE) * LINE
        shape = (n_workers + 1, SCRATCH_ROWS, size)
        # Rows begin at cache lines: loads across them make a dense sweep a tenth slower.
        room = np.zeros(math.prod(shape) + LINE, np.float32)
        begin = -room.ctypes.data % (4 * LINE) // 4
        numbers = room[begin : begin + math.prod(shape)].reshape(shape)[1:]
        return cls(numbers, np.zeros((n_workers, n_topics), np.uint32))
