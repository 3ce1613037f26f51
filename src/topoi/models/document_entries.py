"""Training documents as the entries of a model file, and back.

Sizes: D documents, B bytes of all texts; I names of authors and P in all documents; J labels and Q
in all documents; Z counts of words; G groups, E values of all groups and R in all documents.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from topoi.corpus import Membership
from topoi.corpus.documents import TrainingDocuments
from topoi.corpus.packing import (
    PackedGroups,
    pack_groups,
    pack_texts,
    unpack_groups,
    unpack_texts,
)
from topoi.storage.schema import LARGEST, SMALLEST, Array, Contents, checked_csr, demand, plain_text

__all__ = ["DOCUMENTS", "NAMES", "document_parts", "documents_of"]

NAMES = "U b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8"

DOCUMENTS: dict[str, Array] = {
    "documents_.tokens": Array("f8", ("D",), 0, LARGEST),
    "documents_.words": Array("i8", ("D",), 0),
    "documents_.names": Array("U", ("D",), optional=True),
    "documents_.dates": Array("U", ("D",), optional=True),
    "documents_.fit": Array("f8", ("D",), -LARGEST, LARGEST, optional=True),
    "documents_.text_bytes": Array("u1", ("B",), optional=True),  # UTF-8, one after the other
    "documents_.text_ends": Array("i8", ("D",), 0, optional=True),
    "documents_.author_names": Array(NAMES, ("I",), different=True, optional=True),
    "documents_.author_indptr": Array("i4 i8", ("D+1",), 0, optional=True),
    "documents_.author_indices": Array("i4 i8", ("P",), 0, optional=True),
    "documents_.label_names": Array(NAMES, ("J",), different=True, optional=True),
    "documents_.label_indptr": Array("i4 i8", ("D+1",), 0, optional=True),
    "documents_.label_indices": Array("i4 i8", ("Q",), 0, optional=True),
    "documents_.count_indptr": Array("i4 i8", ("D+1",), 0, optional=True),
    "documents_.count_indices": Array("i4 i8", ("Z",), 0, optional=True),
    "documents_.count_values": Array("f4 f8", ("Z",), SMALLEST, LARGEST, optional=True),
    "documents_.groups": Array("U", ("G",), different=True, optional=True),
    "documents_.group_of": Array("i8", ("E",), 0, optional=True),  # the group of each value
    "documents_.group_values": Array("U", ("E",), optional=True),
    "documents_.group_indptr": Array("i4 i8", ("D+1",), 0, optional=True),
    "documents_.group_indices": Array("i4 i8", ("R",), 0, optional=True),
}
TEXTS = ("text_bytes", "text_ends")
COUNTS = ("count_indptr", "count_indices", "count_values")
GROUPS = ("groups", "group_of", "group_values", "group_indptr", "group_indices")


def document_parts(documents: TrainingDocuments) -> Contents:
    """The entries of training documents, by name after "documents_."."""
    parts: Contents = {
        "tokens": documents.tokens,
        "words": documents.words,
        "names": documents.names,
        "dates": documents.dates,
        "fit": documents.fit,
        **_membership_parts("author", documents.authors),
        **_membership_parts("label", documents.labels),
    }
    if documents.texts is not None:
        parts["text_bytes"], parts["text_ends"] = pack_texts(documents.texts)
    if documents.counts is not None:
        counts = documents.counts
        single = counts.data.astype(np.float32)
        values = single if np.array_equal(single, counts.data) else counts.data
        parts |= dict(zip(COUNTS, (counts.indptr, counts.indices, values), strict=True))
    if documents.groups:
        parts |= dict(zip(GROUPS, pack_groups(documents.groups), strict=True))
    return parts


def _membership_parts(prefix: str, members: Membership | None) -> Contents:
    if members is None:
        return {}
    return {
        f"{prefix}_names": plain_text(members.names),
        f"{prefix}_indptr": members.matrix.indptr,
        f"{prefix}_indices": members.matrix.indices,
    }


def documents_of(found: Contents) -> TrainingDocuments:
    """Training documents from the entries of a file, if they fit each other."""
    parts = {
        name.removeprefix("documents_."): value
        for name, value in found.items()
        if name.startswith("documents_.")
    }
    return TrainingDocuments(
        tokens=parts["tokens"],
        words=parts["words"],
        names=parts.get("names"),
        dates=parts.get("dates"),
        fit=parts.get("fit"),
        texts=unpack_texts(*(parts[name] for name in TEXTS)) if _together(parts, *TEXTS) else None,
        authors=_membership("author", parts),
        labels=_membership("label", parts),
        counts=_counts(parts, found["components_"].shape[1]),
        groups=unpack_groups(PackedGroups(*(parts[name] for name in GROUPS)))
        if _together(parts, *GROUPS)
        else {},
    )


def _counts(parts: Contents, n_words: int) -> sparse.csr_array | None:
    if not _together(parts, *COUNTS):
        return None
    indptr, indices, values = (parts[name] for name in COUNTS)
    shape = (len(parts["tokens"]), n_words)
    table = checked_csr("documents_.count", indptr, indices, shape)
    return sparse.csr_array((values.astype(np.float64), table.indices, table.indptr), shape=shape)


def _together(parts: Contents, *names: str) -> bool:
    """Whether entries are there, all of them or none."""
    there = [name in parts for name in names]
    demand(all(there) or not any(there), f"documents_ has some of {', '.join(names)}, and not all")
    return all(there)


def _membership(prefix: str, parts: Contents) -> Membership | None:
    names, indptr, indices = (f"{prefix}_{part}" for part in ("names", "indptr", "indices"))
    if not _together(parts, names, indptr, indices):
        return None
    shape = (len(parts["tokens"]), len(parts[names]))
    matrix = checked_csr(f"documents_.{prefix}", parts[indptr], parts[indices], shape)
    return Membership(matrix, parts[names])
