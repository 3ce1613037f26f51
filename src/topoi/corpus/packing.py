"""Texts and groups of documents as plain arrays, for files, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from topoi.corpus.membership import Membership
from topoi.storage.schema import checked_csr, demand

__all__ = ["PackedGroups", "pack_groups", "pack_texts", "unpack_groups", "unpack_texts"]

NOT_GROUPS = ("authors", "labels")  # which have a place of their own


class PackedGroups(NamedTuple):
    """Columns of names side by side.

    names: (G,) of the groups. of: (E,) the group of each value, ascending. values: (E,). indptr,
    indices: (D + 1,) and (R,), the values of each document.
    """

    names: np.ndarray
    of: np.ndarray
    values: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray


def pack_texts(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """All texts in UTF-8, one after the other, and where each ends.

    Examples
    --------
    >>> unpack_texts(*pack_texts(["one", "", "two"]))
    ['one', '', 'two']
    """
    encoded = [text.encode() for text in texts]
    content = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    return content, np.cumsum([len(text) for text in encoded], dtype=np.int64)


def unpack_texts(content: np.ndarray, ends: np.ndarray) -> list[str]:
    """The texts that `pack_texts` packed; refused if these arrays cannot be."""
    cuts = [0, *ends.tolist()]
    demand(
        cuts[-1] == len(content) and all(a <= b for a, b in pairwise(cuts)),
        "texts do not end where they should",
    )
    whole = content.tobytes()
    return [whole[a:b].decode() for a, b in pairwise(cuts)]


def pack_groups(groups: Mapping[str, Membership]) -> PackedGroups:
    """All groups as one table.

    Examples
    --------
    >>> from topoi.corpus.metadata import columns_of_names
    >>> packed = pack_groups(columns_of_names({"source": ["web", "press"], "year": [1, 2]}, 2))
    >>> packed.values.tolist(), packed.of.tolist()
    (['press', 'web', '1', '2'], [0, 0, 1, 1])
    >>> unpack_groups(packed)["source"].tolist()
    [['web'], ['press']]
    """
    columns = list(groups.values())
    table = sparse.csr_array(sparse.hstack([column.matrix for column in columns], format="csr"))
    return PackedGroups(
        np.array(list(groups), dtype=str),
        np.repeat(np.arange(len(columns)), [len(column.names) for column in columns]),
        np.concatenate([column.names.astype(str) for column in columns]),
        table.indptr,
        table.indices,
    )


def unpack_groups(packed: PackedGroups) -> dict[str, Membership]:
    """The groups that `pack_groups` packed; refused if these arrays cannot be."""
    of, shape = packed.of, (len(packed.indptr) - 1, len(packed.values))
    table = checked_csr("groups", packed.indptr, packed.indices, shape)
    ordered = bool((np.diff(of) >= 0).all()) and of.max(initial=-1) < len(packed.names)
    demand(ordered, "values of groups are out of order")
    made: dict[str, Membership] = {}
    for number, name in enumerate(packed.names.tolist()):
        demand(name not in (*NOT_GROUPS, *made), f"groups hold {name[:60]!r}")
        values = packed.values[of == number]
        different = len(set(values.tolist())) == len(values)
        demand(different, f"the group {name[:60]!r} has a value twice")
        made[name] = Membership(sparse.csr_array(table[:, of == number]), values)
    return made
