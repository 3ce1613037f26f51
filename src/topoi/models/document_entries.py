"""Training documents as the entries of a model file, and back.

Sizes: D documents, B bytes of all texts; I names of authors and P in all documents; J labels and Q
in all documents; G groups, E values of all groups and R in all documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from topoi.corpus import Membership
from topoi.corpus.documents import TrainingDocuments
from topoi.storage.schema import LARGEST, Array, checked_csr, demand, plain_text

__all__ = ["DOCUMENTS", "NAMES", "document_parts", "documents_of"]

NAMES = "U b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8"

DOCUMENTS: dict[str, Array] = {
    "documents_.tokens": Array("f8", ("D",), 0, LARGEST),
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
    "documents_.groups": Array("U", ("G",), different=True, optional=True),
    "documents_.group_of": Array("i8", ("E",), 0, optional=True),  # the group of each value
    "documents_.group_names": Array("U", ("E",), optional=True),
    "documents_.group_indptr": Array("i4 i8", ("D+1",), 0, optional=True),
    "documents_.group_indices": Array("i4 i8", ("R",), 0, optional=True),
}


def document_parts(documents: TrainingDocuments) -> dict[str, Any]:
    """The entries of training documents, by name after "documents_."."""
    parts: dict[str, Any] = {
        "tokens": documents.tokens,
        "names": documents.names,
        "dates": documents.dates,
        "fit": documents.fit,
        **_membership_parts("author", documents.authors),
        **_membership_parts("label", documents.labels),
    }
    if documents.texts is not None:
        texts = [text.encode() for text in documents.texts]
        parts["text_bytes"] = np.frombuffer(b"".join(texts), dtype=np.uint8)
        parts["text_ends"] = np.cumsum([len(text) for text in texts], dtype=np.int64)
    if documents.groups:
        columns = list(documents.groups.values())
        whole = Membership(
            sparse.csr_array(sparse.hstack([column.matrix for column in columns], format="csr")),
            np.concatenate([column.names.astype(str) for column in columns]),
        )
        parts["groups"] = np.array(list(documents.groups), dtype=str)
        parts["group_of"] = np.repeat(np.arange(len(columns)), [len(c.names) for c in columns])
        parts |= _membership_parts("group", whole)
    return parts


def _membership_parts(prefix: str, members: Membership | None) -> dict[str, Any]:
    if members is None:
        return {}
    return {
        f"{prefix}_names": plain_text(members.names),
        f"{prefix}_indptr": members.matrix.indptr,
        f"{prefix}_indices": members.matrix.indices,
    }


def documents_of(found: Mapping[str, Any]) -> TrainingDocuments:
    """Training documents from the entries of a file, if they fit each other."""
    parts = {
        name.removeprefix("documents_."): value
        for name, value in found.items()
        if name.startswith("documents_.")
    }
    return TrainingDocuments(
        tokens=parts["tokens"],
        names=parts.get("names"),
        dates=parts.get("dates"),
        fit=parts.get("fit"),
        texts=_texts(parts),
        authors=_membership("author", parts),
        labels=_membership("label", parts),
        groups=_groups(parts),
    )


def _together(parts: Mapping[str, Any], *names: str) -> bool:
    """Whether entries are there, all of them or none."""
    there = [name in parts for name in names]
    demand(all(there) or not any(there), f"documents_ has some of {', '.join(names)}, and not all")
    return all(there)


def _texts(parts: Mapping[str, Any]) -> list[str] | None:
    if not _together(parts, "text_bytes", "text_ends"):
        return None
    content, ends = parts["text_bytes"].tobytes(), parts["text_ends"].tolist()
    ascending = all(a <= b for a, b in zip([0, *ends], [*ends, len(content)], strict=True))
    demand(ascending and (not ends or ends[-1] == len(content)), "documents_.text_ends is wrong")
    return [content[a:b].decode() for a, b in zip([0, *ends[:-1]], ends, strict=True)]


def _membership(prefix: str, parts: Mapping[str, Any]) -> Membership | None:
    names, indptr, indices = (f"{prefix}_{part}" for part in ("names", "indptr", "indices"))
    if not _together(parts, names, indptr, indices):
        return None
    shape = (len(parts["tokens"]), len(parts[names]))
    matrix = checked_csr(f"documents_.{prefix}", parts[indptr], parts[indices], shape)
    return Membership(matrix, parts[names])


def _groups(parts: Mapping[str, Any]) -> dict[str, Membership]:
    if not _together(parts, "groups", "group_of", "group_names"):
        return {}
    whole, names, of = _membership("group", parts), parts["groups"].tolist(), parts["group_of"]
    demand(whole is not None, "documents_ has groups, and not who is in them")
    assert whole is not None
    taken = {"authors", "labels"} & set(names)
    demand(not taken, f"documents_.groups holds {', '.join(taken)}")
    demand(
        (np.diff(of) >= 0).all() and of.max(initial=0) < max(len(names), 1),
        "documents_.group_of is out of order",
    )
    made = {}
    for number, name in enumerate(names):
        values = whole.names[of == number]
        demand(
            len(set(values.tolist())) == len(values), f"the group {name[:60]!r} has a value twice"
        )
        made[name] = Membership(sparse.csr_array(whole.matrix[:, of == number]), values)
    return made
