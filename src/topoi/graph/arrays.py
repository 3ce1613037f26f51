"""The arrays of a graph, by name, as kernels see them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["GraphArrays", "frozen"]


def frozen(array: np.ndarray, dtype: np.typing.DTypeLike) -> np.ndarray:
    """A read-only contiguous array: one type for the compiler, and nobody changes a graph."""
    out = np.array(array, dtype=dtype, order="C")
    out.setflags(write=False)
    return out


class GraphArrays(NamedTuple):
    """Who is connected to whom: the read-only arrays of a `Graph`.

    D documents, E edges, V visits, I (document, owner) pairs.

    A *visit* is the run of a document's edges inside one cell of the grid.
    """

    cell_visit: np.ndarray  # (cells + 1,) visits of each cell
    visit_doc: np.ndarray  # (V,) document of each visit
    visit_edge: np.ndarray  # (V + 1,) edges of each visit
    visit_message: np.ndarray  # (V,) where the messages of each visit start in `mu`
    edge_word: np.ndarray  # (E,)
    edge_x: np.ndarray  # (E,) count or weight of each edge
    edge_id: np.ndarray  # (E,) number of each edge in document order: the key of its random numbers
    slot_ptr: np.ndarray  # (D + 1,) owners of each document, as rows of `theta`
    slots: np.ndarray  # (I,)
    topic_ptr: np.ndarray  # (D + 1,) allowed topics of each document; an empty list allows all
    topics: np.ndarray

    @property
    def lists(self) -> np.ndarray | None:
        """The topics on lists, or None where no document has one: a kernel that is given None is
        compiled without anything for lists.
        """
        return self.topics if len(self.topics) else None
