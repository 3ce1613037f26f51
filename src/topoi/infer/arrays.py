"""The arrays and numbers that the kernels work on, in named bundles."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = [
    "ActiveSet",
    "Fields",
    "FreshParams",
    "GraphArrays",
    "Messages",
    "SweepParams",
    "Tables",
    "lists_of",
]


class GraphArrays(NamedTuple):
    """Who talks to whom: the read-only arrays of a `Graph`.

    D documents, E edges, V visits, I (document, owner) pairs.

    A *visit* is the run of a document's edges inside one cell of the grid.
    """

    cell_visit: Any  # (cells + 1,) visits of each cell
    visit_doc: Any  # (V,) document of each visit
    visit_edge: Any  # (V + 1,) edges of each visit
    visit_message: Any  # (V,) where the messages of each visit start in `mu`
    edge_word: Any  # (E,)
    edge_x: Any  # (E,) count or weight of each edge
    edge_id: Any  # (E,) number of each edge in document order: the key of its random numbers
    slot_ptr: Any  # (D + 1,) owners of each document, as rows of `theta`
    slots: Any  # (I,)
    topic_ptr: Any  # (D + 1,) allowed topics of each document; an empty list allows all
    topics: Any


def lists_of(arrays: GraphArrays) -> Any:
    """Topics on the lists of documents, or None where no document has one: then Numba compiles
    nothing for lists.
    """
    return arrays.topics if len(arrays.topics) else None


class Tables(NamedTuple):
    """Counts, all derived from messages: what owners, words and topics hold."""

    theta: Any  # (slots, K) float32
    phi: Any  # (W, K) float32
    totals: Any  # (K,) float64
    owner_mass: Any  # (I,) float32: mass of each owner in each of its documents


class SweepParams(NamedTuple):
    """The numbers of one sweep: priors, and what the rule and the schedule ask for."""

    alpha: Any  # (K,) float32, 0 for padding topics
    beta: float
    word_prior: Any  # (K,) float32: beta for every topic (alpha where words are visited)
    beta_sum: float  # W * beta
    owner_prior: (
        float  # pseudo-count of each owner in its documents; 0 = owners are equally likely (A8)
    )
    own_cap: float  # an edge removes min(x, own_cap) * mu of itself: 0 siBP, 1 CVB0, no limit BP
    in_place: bool  # tables change under way (asynchronous) or after the sweep
    frozen_words: bool  # phi and totals stay as they are (prediction)
    plain_side: bool  # theta is already exp(digamma(...)): no prior, no normaliser (VB)
    # how far a message moves towards what it hears: 1 is there, more is beyond (over-relaxation)
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


class Fields(NamedTuple):
    """What other documents say: `message` is weighted already, `weight` is how much of the owner's
    say it replaces.
    """

    message: Any  # (D, K) float32, or (1, 1) when no document has a field
    weight: Any  # (D,) float32


class ActiveSet(NamedTuple):
    """What an active schedule looks at in the next sweep, and how much each document's topics moved
    when they were last looked at.
    """

    docs: Any  # (D,) bool
    topics: Any  # (D, S) int32, ascending
    moved: Any  # (slots, K) float32: sum over edges of x |mu_new - mu_old|


class Messages(NamedTuple):
    """What moves: messages, and what a sweep leaves behind for the schedule."""

    mu: Any  # flat float32 messages; empty for Gibbs
    z: Any  # (E,) int32 drawn (owner, topic) of each token; empty for the others
    order: Any  # (V,) visits in the order in which their cell takes them
    residual: Any  # (V,) float64: sum over edges and topics of x |mu_new - mu_old|
    change: (
        Any  # (document blocks, K) float64: what each cell changed in the totals during this stage
    )
