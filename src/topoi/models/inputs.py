"""What the methods of a model are given, as a Corpus: checked and converted here, once."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from topoi.corpus import Corpus, Membership
from topoi.corpus.checks import check_counts, is_collection, refuse_broken
from topoi.corpus.corpus import canonical_corpus
from topoi.corpus.links import (
    adjacency,
    neighbour_pairs,
    neighbours_by_name,
    symmetric,
)
from topoi.corpus.metadata import as_csr, document_name, is_table, membership, zero_one
from topoi.io.formats.h5ad import is_anndata

if TYPE_CHECKING:
    from distributed import Client

    from topoi.corpus.given import AuthorsLike, CountsLike, LinksLike, NamesLike, VocabularyLike
    from topoi.io.given import DocumentsLike
    from topoi.io.source import Source
    from topoi.protocols import FittedModel

__all__ = [
    "author_members",
    "both_ways",
    "is_for_cluster",
    "is_source",
    "links_of_new",
    "links_of_training",
    "read_documents",
    "read_with_new_words",
    "refuse_cluster",
]


def read_documents(model: FittedModel, X: DocumentsLike, *, reset: bool) -> tuple[Corpus, np.dtype]:
    """X as a Corpus over the words of `model`, after scikit-learn's checks and our own.

    Parameters
    ----------
    model : TopicModelBase
        The model whose method was given X. At a fit it gets n_features_in_ and
        feature_names_in_, as `validate_data` sets them.
    X : Corpus, array, sparse matrix, DataFrame, or what `topoi.read` takes
        Documents x words; or texts, lists of tokens, AnnData, the name of a file or folder.
    reset : bool
        Whether the model is new to its words (a fit).

    Returns
    -------
    corpus : Corpus
        X itself if it is a Corpus with the words of the model.
    dtype : dtype
        Type of X, which results will have.
    """
    if is_source(X):
        raise TypeError(
            f"{type(model).__name__} takes a Source in `fit` and `transform` only, and only if"
            " documents own themselves: authors and links connect documents of different blocks."
            " Use LDA or LabeledLDA, or read all documents with topoi.read; elsewhere give one"
            " block, source.block(i)."
        )
    if is_collection(X):
        raise TypeError(
            f"{type(model).__name__} does not take a Dask collection here. On a cluster LDA,"
            " LabeledLDA and AuthorTopicModel are fitted with fit(X, client=...), and"
            " topoi.distributed.transform(model, X) predicts; links connect documents of different"
            " partitions. Otherwise give documents in memory, such as X.compute()."
        )
    if _is_for_reader(X):
        from topoi.io.read import read  # and with it what reads texts, only for those who do
        from topoi.io.vectorize import vectorizer_of

        X = read(X, vectorizer=None if reset else vectorizer_of(model))
    if isinstance(X, Corpus):
        return _in_words_of(model, X, reset), np.dtype(np.float64)
    checked = _checked_matrix(model, X, reset)
    return canonical_corpus(check_counts(checked)), checked.dtype


def read_with_new_words(model: FittedModel, X: DocumentsLike) -> Corpus:
    """X as a Corpus with the words of `model` that it has and with others, for an update.

    Parameters
    ----------
    model : TopicModelBase
        A fitted model. Texts are cut into words as its own were, and kept if its own were.
    X : Corpus, or what `topoi.read` takes
        New documents.

    Returns
    -------
    Corpus
        With a vocabulary.
    """
    if isinstance(X, list | tuple) and not X:
        raise ValueError("X holds no documents; an update needs some to learn from.")
    if _is_for_reader(X):
        from topoi.io.formats import detect
        from topoi.io.read import read
        from topoi.io.vectorize import vectorizer_of

        counts = is_anndata(X) or (isinstance(X, str | Path) and detect(Path(X)) is not None)
        keeps = model.documents_ is not None and model.documents_.texts is not None
        vectorizer = None if counts else vectorizer_of(model, new_words=True)
        X = read(X, vectorizer=vectorizer, new_words=not counts, keep_text=keeps and not counts)
    if not isinstance(X, Corpus) or X.vocabulary is None or model.vocabulary_ is None:
        raise ValueError(
            "update needs to know words: give texts, or a Corpus with a vocabulary (topoi.read), to"
            " a model that was fitted on such. For counts without words use partial_fit of LDA."
        )
    if X.vectorizer is not None and model.vectorizer_ is not None:
        from topoi.io.vectorize import other_settings

        other = other_settings(model.vectorizer_, X.vectorizer)
        if other:
            warnings.warn(
                f"The new documents were read with another {' and '.join(other)} than those of the"
                " model, so the same word may enter twice. Read them with"
                " topoi.read(..., vectorizer=model.vectorizer_, new_words=True).",
                stacklevel=4,
            )
    return X


def is_source(X: object) -> TypeGuard[Source]:
    """Whether X is read block by block (topoi.Source), without importing what reads texts."""
    return hasattr(X, "block") and hasattr(X, "is_counted")


def is_for_cluster(X: object, client: Client | None) -> bool:
    """Whether a fit goes to a cluster: there is a client, or X is a collection of Dask."""
    return client is not None or is_collection(X)


def refuse_cluster(client: object) -> None:
    """Refuse to fit documents with links on a cluster."""
    if client is not None:
        raise ValueError(
            "Models with links are not fitted on a cluster: in each round linked documents need"
            " each other's topics, and they may be in different partitions. Leave client out and"
            " give all documents in memory, as one Corpus; or fit LDA on the cluster, without"
            " links."
        )


def _is_for_reader(X: Any) -> bool:
    """Whether X is texts, lists of tokens, AnnData or the name of a file, and not numbers."""
    if isinstance(X, str | Path) or is_anndata(X):
        return True
    if not isinstance(X, Sequence) and getattr(X, "ndim", 2) != 1:
        return False
    first = next(iter(X), None)
    tokens = isinstance(first, list | tuple) and len(first) > 0 and isinstance(first[0], str)
    return isinstance(first, str) or tokens


def _in_words_of(model: FittedModel, corpus: Corpus, reset: bool) -> Corpus:
    """A Corpus has made its own checks; its words are put in the order of training."""
    if reset:
        model.n_features_in_ = corpus.n_words
        model.__dict__.pop("feature_names_in_", None)
        return corpus
    corpus = corpus.like(getattr(model, "vocabulary_", None))
    if corpus.n_words != model.n_features_in_:
        raise ValueError(
            f"X has {corpus.n_words} features, but {type(model).__name__} is expecting"
            f" {model.n_features_in_} features as input: use the vocabulary of training."
        )
    return corpus


def _checked_matrix(model: FittedModel, X: DocumentsLike, reset: bool) -> sparse.csr_array:
    X = _prepared(model, X, reset)
    try:
        checked = validate_data(
            model, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
    except ValueError as error:
        cure = (
            "\nReplace missing counts by 0, for instance with numpy.nan_to_num."
            if re.search("NaN|infinity", str(error))
            else ""
        )
        raise ValueError(f"{error}{cure}") from error
    counts = sparse.csr_array(checked)
    if counts.nnz and counts.data.min() < 0:
        raise ValueError(
            f"Negative values in data passed to {type(model).__name__}: topic models need counts"
            " or weights >= 0. Clip them, or check the preprocessing."
        )
    return counts


def _prepared(model: FittedModel, X: Any, reset: bool) -> CountsLike:
    """X as scikit-learn's checks can take it."""
    names = list(getattr(X, "columns", ()))
    if all(isinstance(name, str) for name in names) and not all(
        type(name) is str for name in names
    ):
        X = X.rename(columns=str)  # NumPy's strings, which scikit-learn does not take for names
    refuse_broken(X)
    if sparse.issparse(X) and X.dtype.kind in "iub" and X.dtype.itemsize < 8:
        X = X.astype(np.float64)  # small types overflow where entries are summed
    if not reset and not hasattr(model, "feature_names_in_"):
        X = _in_order(X, getattr(model, "vocabulary_", None))
    return X


def _in_order(frame: Any, words: VocabularyLike | None) -> Any:
    """A DataFrame with its columns in the order of the Corpus that the model was fitted on; any
    other X as it is.
    """
    if words is None or set(map(str, getattr(frame, "columns", ()))) != set(words):
        return frame
    return frame[list(words)]


# ------------------------------------------------------------------------- what is given beside X


def author_members(
    authors: AuthorsLike, corpus: Corpus, names: np.ndarray | None = None
) -> Membership | None:
    """The authors that are given, else those of the corpus.

    names: known ones, which come first.
    """
    authors = corpus.authors if authors is None else authors
    return None if authors is None else membership(authors, corpus.n_docs, "authors", names)


def links_of_training(
    links: LinksLike, doc_names: NamesLike, corpus: Corpus
) -> tuple[sparse.csr_array | None, list[str] | None]:
    """Links of training documents (documents x documents, or None) and the documents' names: those
    that are given, else those of the corpus.
    """
    names = corpus.doc_names if doc_names is None else [document_name(name) for name in doc_names]
    if names is not None and len(names) != corpus.n_docs:
        raise ValueError(
            f"doc_names names {len(names)} documents but X has {corpus.n_docs}; give one name per"
            " document."
        )
    if links is None:
        return corpus.links, names
    if doc_names is not None:
        links = neighbours_by_name(links, doc_names)
    return adjacency(links, corpus.n_docs), names


def links_of_new(
    links: LinksLike,
    corpus: Corpus,
    n_old: int,
    doc_names: NamesLike | None = None,
    known_names: NamesLike | None = None,
) -> sparse.csr_array | None:
    """Links of new documents to training documents, and among themselves.

    Parameters
    ----------
    links : matrix, list of lists or None
        As `RelationalTopicModel.transform` takes them.
    corpus : Corpus
        The new documents. Its own links are among them.
    n_old : int
        Number of training documents.
    doc_names : sequence, optional
        Names of the new documents, if links are lists of names.
    known_names : sequence, optional
        Names of the training documents.

    Returns
    -------
    csr_array of shape (n_docs, n_old + n_docs) or None
        1 where there is a link; None where none are given.
    """
    n_new = corpus.n_docs
    if links is None:
        return None if corpus.links is None else _beside(n_old, corpus.links)
    if doc_names is not None:
        if known_names is None:
            raise ValueError(
                "This model was fitted without doc_names, so it cannot know names of training"
                " documents; give their numbers."
            )
        links = neighbours_by_name(links, doc_names, known_names)
    table = as_csr(links, "links") if is_table(links) else _from_neighbours(links, n_old, n_new)
    if table.shape == (n_new, n_old):
        table = sparse.csr_array(sparse.hstack([table, sparse.csr_array((n_new, n_new))]))
    elif table.shape == (n_new, n_new):
        table = _beside(n_old, table)
    if table.shape != (n_new, n_old + n_new):
        raise ValueError(
            f"links has shape {table.shape}; expected ({n_new}, {n_old}) to training documents"
            f" or ({n_new}, {n_old + n_new}) to all."
        )
    return zero_one(table)


def _beside(n_old: int, among: sparse.csr_array) -> sparse.csr_array:
    """Links among new documents only, with no links to the old ones before them."""
    return sparse.csr_array(sparse.hstack([sparse.csr_array((among.shape[0], n_old)), among]))


def _from_neighbours(links: LinksLike, n_old: int, n_new: int) -> sparse.csr_array:
    """Lists of neighbours' numbers: training documents first, new ones after them."""
    if len(links) != n_new:
        raise ValueError(
            f"links lists the neighbours of {len(links)} documents but X has {n_new}; give one list"
            " per document."
        )
    ends = neighbour_pairs(links)
    bad = ends[(ends[:, 1] < 0) | (ends[:, 1] >= n_old + n_new), 1]
    if len(bad):
        raise ValueError(
            f"links names document {bad[0]}; training documents are 0 to {n_old - 1}, new ones"
            f" {n_old} to {n_old + n_new - 1}."
        )
    return sparse.csr_array(
        (np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n_new, n_old + n_new)
    )


def both_ways(table: sparse.csr_array, n_old: int) -> sparse.csr_array:
    """Links among new documents in both directions, those to training documents as they are."""
    among = symmetric(sparse.csr_array(table[:, n_old:]))
    return sparse.csr_array(sparse.hstack([table[:, :n_old], among], format="csr"))
