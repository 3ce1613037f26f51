"""Where and when topics are frequent, for the page: periods, and groups of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topoi.printable import printable
from topoi.report.packing import short

if TYPE_CHECKING:
    import pandas as pd

    from topoi.protocols import FittedModel

__all__ = ["page_prevalence"]

MOST_GROUPS = 20  # of a column: those with most documents
MOST_PERIODS = 80  # more are shown by decade


def page_prevalence(model: FittedModel) -> list[dict[str, object]]:
    """For time and for each column that groups documents: prevalence of topics with intervals."""
    known = getattr(model, "documents_", None)
    if known is None or not hasattr(model, "doc_topic_"):
        return []
    found = []
    if known.dates is not None:
        try:
            table = model.topics_over_time(by="year").rename(columns={"period": "group"})
            if table["group"].nunique() > MOST_PERIODS:
                table = model.topics_over_time(by="decade").rename(columns={"period": "group"})
        except ValueError:  # dates in words of the user's own
            table = None
        if table is not None and table["group"].nunique() > 1:
            found.append({"name": "time", "time": True, **_as_lists(table)})
    for name, column in known.columns.items():
        if len(column.names) > 1 and not (name == "authors" and hasattr(model, "author_names_")):
            found.append({"name": printable(name), **_largest(model.topics_by(name))})
    return found


def _largest(table: pd.DataFrame) -> dict[str, object]:
    """The groups with most documents."""
    sizes = table.groupby("group", sort=False)["documents"].first()
    chosen = sizes.sort_values(ascending=False, kind="stable").index[:MOST_GROUPS]
    answer = _as_lists(table[table["group"].isin(chosen)])
    return {**answer, "of": len(sizes)}


def _as_lists(table: pd.DataFrame) -> dict[str, object]:
    """Groups, their documents, and for each topic and group [prevalence, low, high]."""
    groups = table["group"].unique().tolist()
    n_topics = table["topic"].nunique()
    values = table[["prevalence", "low", "high"]].to_numpy().reshape(len(groups), n_topics, 3)
    return {
        "groups": [printable(group) for group in groups],
        "documents": [int(n) for n in table.groupby("group", sort=False)["documents"].first()],
        "topics": [
            [[short(v, 3) for v in three] for three in topic] for topic in np.swapaxes(values, 0, 1)
        ],
    }
