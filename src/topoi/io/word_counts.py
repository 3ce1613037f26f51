"""Counting the words of texts with a vectoriser, known words or new ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from topoi.io.vectorize import counting_all, with_vocabulary

__all__ = ["count_with_new_words", "count_words", "no_words_left", "too_few"]

# How CountVectorizer says that nothing is left.
NO_WORDS = ("empty vocabulary", "After pruning", "max_df corresponds")


class Counted:
    """Texts that are counted as they pass."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts, self.n_docs = texts, 0

    def __iter__(self) -> Iterator[str]:
        for text in self.texts:
            self.n_docs += 1
            yield text


def count_words(
    vectorizer: CountVectorizer, texts: Iterable[str], name: str
) -> tuple[sparse.csr_array, list[int] | np.ndarray | None, CountVectorizer]:
    """Count words. A vectoriser that is not fitted learns its vocabulary, unless it has one.

    Parameters
    ----------
    vectorizer : CountVectorizer
        Fitted or not.
    texts : iterable of str
        One for each document.
    name : str
        Where they come from, for errors.

    Returns
    -------
    counts : csr matrix of shape (n_docs, n_words)
    unknown : list of int or None
        Tokens of each document that a vectoriser fitted before has no word for.
    vectorizer : CountVectorizer
        The same, fitted.
    """
    passed = Counted(texts)
    if hasattr(vectorizer, "vocabulary_") or vectorizer.vocabulary is not None:
        unknown: list[int] | None = [] if hasattr(vectorizer, "vocabulary_") else None
        counter = vectorizer.fit([""]) if unknown is None else _noting(vectorizer, unknown)
        counts = counter.transform(passed)
        _refuse_no_documents(passed, name)
        return counts, unknown, vectorizer
    try:
        counts = vectorizer.fit_transform(passed)
    except ValueError as error:
        if not str(error).startswith(NO_WORDS):
            raise
        if passed.n_docs < 2:
            raise too_few(name, passed.n_docs) from error
        raise no_words_left(name, passed.n_docs) from error
    if passed.n_docs < 2:
        raise too_few(name, passed.n_docs)
    return counts, None, vectorizer


def count_with_new_words(
    vectorizer: CountVectorizer, texts: Iterable[str], name: str
) -> tuple[sparse.csr_array, list[int] | np.ndarray | None, CountVectorizer]:
    """Count the words of a fitted vectoriser, and words that are new and pass its limits.

    Parameters
    ----------
    vectorizer : CountVectorizer
        Fitted; it stays as it is. Its min_df, max_df and max_features choose new words among those
        of these documents.
    texts : iterable of str
        One for each document.
    name : str
        Where they come from, for errors.

    Returns
    -------
    counts : csr_array of shape (n_docs, n_words)
        Known words first.
    unknown : ndarray of shape (n_docs,)
        Tokens of each document that are left out.
    vectorizer : CountVectorizer
        One with the words of both.

    Examples
    --------
    >>> first = CountVectorizer().fit(["a cat", "a dog"])
    >>> counts, unknown, made = count_with_new_words(first, ["dog fox", "fox cat"], "These")
    >>> made.get_feature_names_out().tolist(), counts.toarray().astype(int).tolist()
    (['cat', 'dog', 'fox'], [[0, 1, 1], [1, 0, 1]])
    """
    if not hasattr(vectorizer, "vocabulary_"):
        raise ValueError(
            "new_words is for a vectorizer that is fitted; give vectorizer=model.vectorizer_ of the"
            " model whose words are known, or leave new_words out."
        )
    passed = Counted(texts)
    every = counting_all(vectorizer)
    try:
        counts = sparse.csc_array(every.fit_transform(passed))
        words = every.get_feature_names_out()
    except ValueError as error:
        if not str(error).startswith(NO_WORDS):
            raise
        counts, words = sparse.csc_array((passed.n_docs, 0)), np.array([], dtype=str)
    _refuse_no_documents(passed, name)
    known = vectorizer.get_feature_names_out().tolist()
    chosen = [*known, *words[_that_pass(vectorizer, counts, ~np.isin(words, known))].tolist()]
    wider = with_vocabulary(vectorizer, chosen)
    column = {word: place for place, word in enumerate(words.tolist())}
    places = np.array([column.get(word, len(words)) for word in chosen])
    padded = sparse.hstack([counts, sparse.csc_array((passed.n_docs, 1))], format="csc")
    found = sparse.csr_array(padded[:, places])
    return found, counts.sum(axis=1) - found.sum(axis=1), wider


def _that_pass(
    vectorizer: CountVectorizer, counts: sparse.csc_array, among: np.ndarray
) -> np.ndarray:
    """Which of the words `among` pass the limits that a vectoriser has for words."""
    least, most = (
        limit * counts.shape[0] if isinstance(limit, float) else limit
        for limit in (vectorizer.min_df, vectorizer.max_df)
    )
    in_docs = np.diff(counts.indptr)
    passes: np.ndarray = among & (in_docs >= least) & (in_docs <= most)
    if vectorizer.max_features is not None:
        order = np.argsort(-np.where(passes, counts.sum(axis=0), -1), kind="stable")
        passes[order[vectorizer.max_features :]] = False
    return passes


def _noting(vectorizer: CountVectorizer, unknown: list[int]) -> CountVectorizer:
    """The same vectoriser, which appends to `unknown` how many tokens of each text it has no word
    for.
    """
    cut, known = vectorizer.build_analyzer(), vectorizer.vocabulary_

    def noted(text: str) -> list[str]:
        tokens: list[str] = cut(text)
        unknown.append(sum(token not in known for token in tokens))
        return tokens

    counter = copy(vectorizer)
    counter.analyzer = noted
    return counter


def _refuse_no_documents(passed: Counted, name: str) -> None:
    if not passed.n_docs:
        raise ValueError(f"{name} holds no documents.")


def no_words_left(name: str, n_docs: int) -> ValueError:
    """The error of texts whose words are all left out. name: of the source."""
    return ValueError(
        f"{name}: no words of its {n_docs} documents are left. Every word is a stop word, is in"
        " fewer documents than min_df, or in more than max_df; try min_df 1, max_df 1.0, or"
        " stop_words='none'."
    )


def too_few(name: str, n_docs: int) -> ValueError:
    """The error of too few texts to learn from."""
    found = "one document" if n_docs else "no documents"
    return ValueError(
        f"{name} holds {found}, and topics are learned from many; give more, or cut a long one into"
        " parts."
    )
