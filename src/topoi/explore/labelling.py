"""Labels of words: the topic that each word of a document is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from topoi.corpus import Corpus

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["label_table"]


def label_table(
    corpus: Corpus,
    words: np.ndarray,
    topics: np.ndarray,
    probabilities: np.ndarray,
    names: Sequence[str],
) -> pd.DataFrame:
    """One row per document and word, with its topic.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    words : ndarray of str of shape (n_words,)
        The word of each column.
    topics, probabilities : ndarray of shape (n_nonzeros,)
        The topic of each nonzero of the counts, and how likely it is.
    names : sequence of str
        Names of the topics.

    Returns
    -------
    pandas.DataFrame
        Columns document, word, count, topic, name and probability.

    Examples
    --------
    >>> corpus = Corpus([[2, 0], [1, 3]], doc_names=["a", "b"])
    >>> words, topics = np.array(["cat", "dog"]), np.array([0, 0, 1])
    >>> print(label_table(corpus, words, topics, np.array([0.9, 0.8, 0.7]), ["pets", "zoo"]))
      document word  count  topic  name  probability
    0        a  cat    2.0      0  pets          0.9
    1        b  cat    1.0      0  pets          0.8
    2        b  dog    3.0      1   zoo          0.7
    """
    import pandas as pd

    counts = corpus.counts
    documents = np.arange(corpus.n_docs) if corpus.doc_names is None else corpus.doc_names
    return pd.DataFrame(
        {
            "document": np.repeat(np.asarray(documents), np.diff(counts.indptr)),
            "word": words[counts.indices],
            "count": counts.data,
            "topic": topics,
            "name": np.asarray(names)[topics],
            "probability": probabilities,
        }
    )
