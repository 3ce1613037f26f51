"""Tokens held out of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from topoi.corpus import Corpus
from topoi.corpus.checks import check_counts, is_whole

if TYPE_CHECKING:
    from topoi.corpus.given import CountsLike

__all__ = ["hold_out", "split_tokens"]


def split_tokens(
    counts: CountsLike, held_out: float = 0.1, random_state: int = 0
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Split documents into observed and held-out tokens.

    Tokens, not whole entries, are held out: at least one in documents of two or more tokens, none
    in shorter ones.

    Parameters
    ----------
    counts : Corpus or array-like of shape (n_documents, n_words)
        Whole-number counts.
    held_out : float, default=0.1
        Proportion of tokens to hold out.
    random_state : int, default=0
        Seed.

    Returns
    -------
    observed, held : csr_array of shape (n_documents, n_words)

    Examples
    --------
    >>> from topoi.evaluate import split_tokens
    >>> observed, held = split_tokens([[5, 3, 2], [1, 0, 0]], 0.2)
    >>> held.sum(axis=1).tolist()
    [2.0, 0.0]
    """
    if not 0 < held_out < 1:
        raise ValueError(f"held_out is {held_out}; expected a proportion between 0 and 1.")
    counts = check_counts(counts.counts if isinstance(counts, Corpus) else counts)
    repeats = counts.data.astype(np.int64)
    if not is_whole(counts):
        raise ValueError(
            "Tokens can only be split in whole-number counts; give raw counts, not weights."
        )
    lengths = counts.sum(axis=1).astype(np.int64)
    token_doc = np.repeat(np.arange(counts.shape[0]), lengths)
    token_word = np.repeat(counts.indices, repeats)
    shuffled = np.lexsort((np.random.default_rng(random_state).random(len(token_doc)), token_doc))
    rank = np.arange(len(token_doc)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    n_held = np.where(lengths > 1, np.maximum(1, np.round(held_out * lengths)), 0).astype(np.int64)
    n_held = np.minimum(n_held, np.maximum(lengths - 1, 0))
    chosen = np.zeros(len(token_doc), dtype=bool)
    chosen[shuffled] = rank < n_held[token_doc]

    def gather(mask: np.ndarray) -> sparse.csr_array:
        part = sparse.coo_array(
            (np.ones(mask.sum()), (token_doc[mask], token_word[mask])), shape=counts.shape
        ).tocsr()
        part.sum_duplicates()
        return part

    return gather(~chosen), gather(chosen)


def hold_out(
    weights: sparse.csr_array, seed: int, held_out: float = 0.1
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Observed and held-out parts of counts (by tokens, see `split_tokens`) or of weights (by whole
    entries).
    """
    if is_whole(weights):
        return split_tokens(weights, held_out, seed)
    held, observed = weights.copy(), weights.copy()
    chosen = np.random.default_rng(seed).random(weights.nnz) < held_out
    held.data, observed.data = weights.data * chosen, weights.data * ~chosen
    held.eliminate_zeros()
    observed.eliminate_zeros()
    return observed, held
