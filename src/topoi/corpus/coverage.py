"""How much of documents a model can know: words that it does not know say nothing to it."""

from __future__ import annotations

import warnings

import numpy as np

from topoi.corpus.corpus import Corpus

__all__ = ["FEW_WORDS", "MOST_UNKNOWN", "NO_WORDS", "document_marks", "marks_of", "warn_of_unknown"]

LEAST_WORDS = 5  # different ones that a document should have
LEAST_KNOWN = 0.2  # of its tokens
MOST_UNKNOWN = 0.5  # of all tokens, before a measure of them is doubtful
NO_WORDS, FEW_WORDS = "no known words", "few known words"


def document_marks(
    words: np.ndarray, tokens: np.ndarray, unknown: np.ndarray | None = None
) -> np.ndarray:
    """A mark for each document whose topic proportions rest on little.

    Parameters
    ----------
    words : ndarray of shape (n_docs,)
        Number of different words that the model knows.
    tokens : ndarray of shape (n_docs,)
        Tokens of these words.
    unknown : ndarray of shape (n_docs,), optional
        Tokens of words that the model does not know.

    Returns
    -------
    ndarray of str of shape (n_docs,)
        "no known words" (the proportions are the prior), "few known words" (fewer than 5 different
        ones, or less than a fifth of the tokens), or "".

    Examples
    --------
    >>> document_marks(np.array([0, 40, 2]), np.array([0.0, 60.0, 2.0])).tolist()
    ['no known words', '', 'few known words']
    """
    few = words < LEAST_WORDS
    if unknown is not None:
        few = few | (tokens < LEAST_KNOWN * (tokens + unknown))
    return np.where(words == 0, NO_WORDS, np.where(few, FEW_WORDS, ""))


def marks_of(corpus: Corpus) -> np.ndarray:
    """`document_marks` of a corpus over the words of a model."""
    counts = corpus.counts
    return document_marks(np.diff(counts.indptr), counts.sum(axis=1), corpus.unknown)


def warn_of_unknown(corpus: Corpus, stacklevel: int = 3) -> None:
    """Say how much of documents is not measured, because the model does not know their words.

    Parameters
    ----------
    corpus : Corpus
        Documents over the words of a model.
    stacklevel : int, default=3
        Whose line the warning names, as in `warnings.warn`.
    """
    if corpus.unknown is None:
        return
    known = corpus.counts.sum(axis=1)
    silent = int(((known == 0) & (corpus.unknown > 0)).sum())
    unknown = corpus.unknown.sum() / max(known.sum() + corpus.unknown.sum(), 1e-300)
    if silent or unknown > MOST_UNKNOWN:
        none = f"{silent} of {corpus.n_docs} documents have no word that the model knows, and "
        warnings.warn(
            f"{none if silent else ''}{unknown:.0%} of all tokens are words that the model does not"
            " know; they are ignored. Are these documents in the language, and of the kind, that"
            " the model was fitted on?",
            stacklevel=stacklevel,
        )
