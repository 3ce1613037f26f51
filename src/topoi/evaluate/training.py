"""Whether documents are those that a model was trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from topoi.evaluate.inputs import counts_for

if TYPE_CHECKING:
    from scipy import sparse

    from topoi.io.given import CorpusLike
    from topoi.protocols import FittedModel

__all__ = ["seen_in_training"]


def seen_in_training(model: FittedModel, X: CorpusLike) -> int | None:
    """How many of some documents a model was trained on.

    Parameters
    ----------
    model : fitted model
        A topoi model.
    X : Corpus or array-like of shape (n_documents, n_words)
        Documents.

    Returns
    -------
    int or None
        By the names of documents, where both know them. Without names, all if they are as many and
        as long as the training documents, one by one; otherwise None: unknown.

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> from topoi.evaluate import seen_in_training
    >>> corpus, _ = datasets.make_blocks(n_topics=2)
    >>> seen_in_training(LDA(2).fit(corpus), corpus), corpus.n_docs
    (60, 60)
    """
    known = getattr(model, "documents_", None)
    names = getattr(X, "doc_names", None)
    if known is None:
        return None
    if known.names is not None and names is not None:
        return len(set(known.names.tolist()) & set(names))
    counts = cast("sparse.csr_array", counts_for(model, X))
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    same = len(lengths) == len(known.tokens) and np.allclose(lengths, known.tokens)
    return len(lengths) if same else None
