"""Documents on a Dask cluster.

A fit is `LDA.fit(partitions, client=client)`; here is what applies a fitted model to partitions.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from topoi.corpus.checks import is_collection
from topoi.io.partitions import Texts, open_partition, partitions_of

if TYPE_CHECKING:
    import numpy as np

    from topoi.io.given import DocumentsLike
    from topoi.protocols import FittedModel

__all__ = ["transform"]


def transform(model: Any, X: DocumentsLike) -> list[object]:
    """Topic proportions of documents in partitions, one Delayed for each, computed where and when
    they are wanted.

    Parameters
    ----------
    model : fitted model
        It travels without its training documents.
    X : Source, list, dask array, bag or dataframe
        Partitions, as `LDA.fit` takes them with a client.

    Returns
    -------
    list of Delayed
        Each an array (documents of the partition, topics), in the order of partitions.

    Examples
    --------
    >>> import dask, topoi
    >>> corpus = topoi.datasets.make_lda(60, 40, 3, random_state=0)[0]
    >>> model = topoi.LDA(3).fit(corpus)
    >>> parts = topoi.distributed.transform(model, [corpus[:40], corpus[40:]])
    >>> [found.shape for found in dask.compute(*parts, scheduler="synchronous")]
    [(40, 3), (20, 3)]
    """
    try:
        from dask.delayed import delayed
    except ImportError as error:
        raise ModuleNotFoundError(
            "Partitions on a cluster need Dask; install it with: pip install 'topoi[distributed]'"
        ) from error
    check_is_fitted(model)
    light = copy(model)
    light.callbacks, light.init = None, "hard"
    for name in ("doc_topic_", "documents_", "history_", "_online"):
        light.__dict__.pop(name, None)
    light = delayed(light, pure=False)
    return [
        delayed(_proportions, pure=False)(
            light, part if is_collection(part) else delayed(part, traverse=False), number
        )
        for number, part in enumerate(partitions_of(X))
    ]


def _proportions(model: FittedModel, partition: object, number: int) -> np.ndarray:
    found = open_partition(partition, number)
    return model.transform(found.corpus if isinstance(found, Texts) else found)


def __dir__() -> list[str]:
    return sorted(__all__)
