"""Graph: who talks to whom, as flat read-only arrays, with the edges laid out in a grid of document
blocks x word blocks.

In stage s of a sweep, document block p works on word block (p + s) mod P: no two cells of a stage
share a document or a word, so they run on any number of threads without locks and always give the
same bits. The grid depends on the corpus, never on threads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from topoi.graph.arrays import GraphArrays, frozen
from topoi.graph.fields import Field, LearningField
from topoi.graph.plan import Plan, is_private_matrix
from topoi.tuning import current

__all__ = ["LANES", "Graph", "build_graph", "n_blocks", "padded_width"]

LANES = 16  # single-precision numbers in one vector register: K is padded to a multiple of it


@dataclass(frozen=True, eq=False)
class Graph:
    """A compiled factor graph.

    `arrays` is what kernels see; the rest sizes the tables and maps rows back to owners.
    """

    arrays: GraphArrays
    n_docs: int
    n_words: int
    n_topics: int
    width: int  # n_topics, padded
    n_doc_blocks: int
    n_word_blocks: int
    n_owners: int
    max_owners: int
    private: bool  # every document has one owner, and every owner one document
    listed: bool  # documents have topic lists that `with_lists` gave them
    slot_owner: np.ndarray  # (slots,) owner of each row of theta
    # (O,) one row of theta that holds each owner, -1 for an owner without documents.
    owner_slot: np.ndarray
    # Owners with more than one row: their rows are shared_slots[shared_ptr[i]:shared_ptr[i + 1]].
    shared_ptr: np.ndarray
    shared_slots: np.ndarray
    message_size: int  # numbers in all messages together
    weight: float  # sum of x
    token: float  # the weight of one token (`Plan.token`)
    doc_weight: np.ndarray  # (D,) sum of x of each document
    counts: sparse.csr_array  # (D, W) the weights that messages carry
    topics: sparse.csr_array | None  # (D, K) topics that documents may use; an empty row allows all
    fields: tuple[Field | LearningField, ...]
    owner_prior: float  # pseudo-count of an owner in its documents
    frozen_words: bool  # words hold `word_base` and nothing else
    word_base: np.ndarray | None  # (W, K) counts that words hold besides the messages
    word_prior: np.ndarray | None  # (W, K) prior of words in topics, beyond beta
    owner_base: np.ndarray | None  # (O, K) the same of owners
    # the same edges with words in the place of documents, for schedules that go by word
    transposed: GraphArrays | None = None

    @property
    def n_slots(self) -> int:
        return len(self.slot_owner)

    @property
    def n_edges(self) -> int:
        return len(self.arrays.edge_word)

    @cached_property
    def visits_of_docs(self) -> tuple[np.ndarray, np.ndarray]:
        """The visits of each document, word block by word block: bounds (D + 1,) and
        visits (V,).
        """
        n_visits = np.bincount(self.arrays.visit_doc, minlength=self.n_docs)
        order = np.argsort(self.arrays.visit_doc, kind="stable")
        return frozen(np.r_[0, np.cumsum(n_visits)], np.int64), frozen(order, np.int64)

    @cached_property
    def pair_weight(self) -> np.ndarray:
        """(pairs,) sum of x of each document, in equal parts for its owners."""
        n_owners = np.diff(self.arrays.slot_ptr)
        return np.repeat(self.doc_weight / np.maximum(n_owners, 1), n_owners)

    def owner_weight(self) -> np.ndarray:
        """(O,) sum of x of each owner, if the owners of a document share it equally, and what they
        hold besides.
        """
        owners = self.slot_owner[self.arrays.slots]
        weight = np.bincount(owners, self.pair_weight, self.n_owners)
        return weight if self.owner_base is None else weight + self.owner_base.sum(axis=1)

    def by_words(self) -> tuple[Graph, np.ndarray]:
        """The same graph with `transposed` arrays, and where each of their edges was.

        Only for documents that own themselves and use all topics.
        """
        w = self.arrays
        n_cells = len(w.cell_visit) - 1
        cell = np.repeat(np.arange(n_cells), np.diff(w.visit_edge[w.cell_visit]))
        slot = np.repeat(w.slots[w.slot_ptr[:-1]][w.visit_doc], np.diff(w.visit_edge))
        order = np.lexsort((w.edge_word, cell))
        word, cell = w.edge_word[order], cell[order]
        starts = _starts_of_runs(word, cell)
        transposed = GraphArrays(
            cell_visit=frozen(np.searchsorted(cell[starts], np.arange(n_cells + 1)), np.int64),
            visit_doc=frozen(word[starts], np.int32),
            visit_edge=frozen(np.append(starts, len(word)), np.int64),
            visit_message=frozen(starts * self.width, np.int64),
            edge_word=frozen(slot[order], np.int32),
            edge_x=frozen(w.edge_x[order], np.float32),
            edge_id=frozen(w.edge_id[order], np.int64),
            slot_ptr=frozen(np.arange(self.n_words + 1), np.int64),
            slots=frozen(np.arange(self.n_words), np.int32),
            topic_ptr=frozen(np.zeros(self.n_words + 1), np.int64),
            topics=frozen(np.zeros(0), np.int32),
        )
        return replace(self, transposed=transposed), order

    def with_lists(self, topics: sparse.csr_array) -> Graph:
        """The same graph, but messages have room for the listed topics of a document only.

        topics: (D, K), no empty row.
        """
        size = np.diff(self.arrays.visit_edge) * np.diff(topics.indptr)[self.arrays.visit_doc]
        arrays = self.arrays._replace(
            visit_message=frozen(np.cumsum(size) - size, np.int64),
            topic_ptr=frozen(topics.indptr, np.int64),
            topics=frozen(topics.indices, np.int32),
        )
        return replace(self, arrays=arrays, message_size=int(size.sum()), listed=True)


def padded_width(n_topics: int) -> int:
    """The table width for `n_topics`: the next multiple of LANES."""
    return -(-n_topics // LANES) * LANES


def n_blocks(n_edges: int) -> int:
    """Side of the grid for a corpus of `n_edges` edges: a power of two, so that two, four or eight
    threads have equal proportions.
    """
    tuning = current()
    side = max(np.sqrt(n_edges / tuning.edges_per_cell), 1.0)
    power = round(float(np.log2(side)))
    return min(int(2**power), tuning.max_blocks)


def build_graph(
    plan: Plan, *, seed: int = 0, tokens: bool = False, blocks: int | None = None
) -> Graph:
    """Compile a plan.

    `tokens` makes one edge per token instead of one per (document, word); `blocks` fixes the side
    of the grid.
    """
    n_docs, n_words = plan.counts.shape
    edge_doc, edge_word, edge_x = _edges(plan.counts, tokens)
    n_edges, rng = len(edge_doc), np.random.default_rng(seed)

    side = blocks or n_blocks(n_edges)
    doc_order = rng.permutation(n_docs)
    doc_block = _balanced_blocks(np.bincount(edge_doc, minlength=n_docs), doc_order, side)
    n_word_blocks = 1 if plan.frozen_words else side
    word_block = _balanced_blocks(
        np.bincount(edge_word, minlength=n_words), rng.permutation(n_words), n_word_blocks
    )
    doc_place = np.empty(n_docs, dtype=np.int64)
    doc_place[doc_order] = np.arange(n_docs)

    # Edges by (cell, place of the document in the shuffled order, word): two stable sorts on small
    # integers.
    by_doc = np.argsort(doc_place[edge_doc], kind="stable")
    cell = (doc_block[edge_doc] * n_word_blocks + word_block[edge_word]).astype(np.uint16)
    order = by_doc[np.argsort(cell[by_doc], kind="stable")]
    edge_doc = edge_doc[order]
    edge_word = edge_word[order]
    edge_x = edge_x[order]
    cell = cell[order].astype(np.int64)
    starts = _starts_of_runs(edge_doc, cell)
    visit_doc, visit_edge = edge_doc[starts], np.append(starts, n_edges)

    owners = plan.owners if plan.owners is not None else sparse.eye_array(n_docs, format="csr")
    slots, slot_owner = _slots(owners, doc_block, doc_place)
    owner_slot, shared_ptr, shared_slots = _rows_of_owners(slot_owner, owners.shape[1])

    width = padded_width(plan.n_topics)
    topics = (
        sparse.csr_array((n_docs, plan.n_topics))
        if plan.topics is None
        else _without_full_rows(plan.topics)
    )
    n_allowed = np.diff(topics.indptr)
    # Numbers in one message of each document.
    block_size = np.diff(owners.indptr) * np.where(n_allowed > 0, n_allowed, width)
    visit_size = np.diff(visit_edge) * block_size[visit_doc]
    arrays = GraphArrays(
        cell_visit=frozen(
            np.searchsorted(cell[starts], np.arange(side * n_word_blocks + 1)), np.int64
        ),
        visit_doc=frozen(visit_doc, np.int32),
        visit_edge=frozen(visit_edge, np.int64),
        visit_message=frozen(np.cumsum(visit_size) - visit_size, np.int64),
        edge_word=frozen(edge_word, np.int32),
        edge_x=frozen(edge_x, np.float32),
        edge_id=frozen(order, np.int64),
        slot_ptr=frozen(owners.indptr, np.int64),
        slots=frozen(slots, np.int32),
        topic_ptr=frozen(topics.indptr, np.int64),
        topics=frozen(topics.indices, np.int32),
    )
    return Graph(
        arrays=arrays,
        n_docs=n_docs,
        n_words=n_words,
        n_topics=plan.n_topics,
        width=width,
        n_doc_blocks=side,
        n_word_blocks=n_word_blocks,
        n_owners=owners.shape[1],
        max_owners=int(np.diff(owners.indptr).max(initial=1)),
        private=is_private_matrix(owners),
        listed=False,
        slot_owner=frozen(slot_owner, np.int64),
        owner_slot=frozen(owner_slot, np.int64),
        shared_ptr=frozen(shared_ptr, np.int64),
        shared_slots=frozen(shared_slots, np.int64),
        message_size=int(visit_size.sum()),
        weight=float(edge_x.sum()),
        token=plan.token,
        doc_weight=frozen(plan.counts.sum(axis=1), np.float64),
        counts=plan.counts,
        topics=plan.topics,
        fields=tuple(plan.fields),
        owner_prior=plan.owner_prior,
        frozen_words=plan.frozen_words,
        word_base=plan.word_base,
        word_prior=plan.word_prior,
        owner_base=plan.owner_base,
    )


def _edges(counts: sparse.csr_array, tokens: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Document, word and weight of each edge: one for each entry, or one for each token."""
    repeats = counts.data.astype(np.int64) if tokens else np.ones(counts.nnz, dtype=np.int64)
    doc = np.repeat(np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)), repeats)
    return doc, np.repeat(counts.indices, repeats), np.ones(len(doc)) if tokens else counts.data


def _starts_of_runs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Places at which either of two arrays of one length changes, from 0 on."""
    if not len(first):
        return np.zeros(0, np.int64)
    return np.flatnonzero(np.r_[True, (np.diff(first) != 0) | (np.diff(second) != 0)])


def _rows_of_owners(
    slot_owner: np.ndarray, n_owners: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(O,) the first row of each owner, or -1; and the rows of owners that have several, one owner
    after the other: bounds and rows.
    """
    n_rows = np.bincount(slot_owner, minlength=n_owners)
    owner_slot = np.full(n_owners, -1)
    owner_slot[slot_owner[::-1]] = np.arange(len(slot_owner))[::-1]
    by_owner = np.argsort(slot_owner, kind="stable")
    return (
        owner_slot,
        np.r_[0, np.cumsum(n_rows[n_rows > 1])],
        by_owner[n_rows[slot_owner[by_owner]] > 1],
    )


def _balanced_blocks(load: np.ndarray, order: np.ndarray, n: int) -> np.ndarray:
    """Cut `order` into n runs of about equal load. Returns the run of each item."""
    reached = np.cumsum(load[order])
    block = np.empty(len(load), dtype=np.int64)
    total = max(1, reached[-1]) if len(load) else 1
    block[order] = np.minimum((reached - load[order] / 2) * n // total, n - 1)
    return block


def _slots(
    owners: sparse.csr_array, doc_block: np.ndarray, doc_place: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """One row of theta for each owner in each document block it writes in, in the order in which
    documents come.

    Returns the row of each (document, owner) pair, and the owner of each row.
    """
    pair_doc = np.repeat(np.arange(owners.shape[0]), np.diff(owners.indptr))
    key = doc_block[pair_doc] * owners.shape[1] + owners.indices
    _, first, row = np.unique(key, return_index=True, return_inverse=True)
    by_place = np.argsort(doc_place[pair_doc[first]], kind="stable")
    rank = np.empty(len(first), dtype=np.int64)
    rank[by_place] = np.arange(len(first))
    return rank[row], owners.indices[first[by_place]]


def _without_full_rows(topics: sparse.csr_array) -> sparse.csr_array:
    """A list of all topics is none: such documents take the quicker way."""
    partial = np.diff(topics.indptr) < topics.shape[1]
    kept = np.repeat(partial, np.diff(topics.indptr))
    indptr = np.r_[0, np.cumsum(np.where(partial, np.diff(topics.indptr), 0))]
    return sparse.csr_array((topics.data[kept], topics.indices[kept], indptr), shape=topics.shape)
