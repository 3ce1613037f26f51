"""What measures, tables, reports, figures and the command ask of a fitted model.

They know a model by its attributes alone. Types for signatures, imported by type checkers only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from scipy import sparse

from topoi.choices import RuleName
from topoi.corpus.dates import By
from topoi.corpus.documents import TrainingDocuments
from topoi.corpus.given import DatesLike, LabelsLike
from topoi.corpus.membership import Name
from topoi.graph.weighting import Weighting
from topoi.infer.history import Measured
from topoi.io.given import DocumentsLike
from topoi.rules import UpdateRule

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.feature_extraction.text import CountVectorizer

__all__ = ["AuthorModel", "FittedModel", "LinkModel"]


class FittedModel(Protocol):
    """A fitted topic model of topoi: K topics of W words, learned from D documents.

    What a method takes beside documents depends on the model: authors, links, labels.
    """

    components_: np.ndarray  # (K, W)
    doc_topic_: np.ndarray  # (D, K); absent after partial_fit
    doc_topic_prior_: np.ndarray  # (K,)
    topic_word_prior_: float | np.ndarray
    vocabulary_: Sequence[str] | np.ndarray | None
    vectorizer_: CountVectorizer | None
    documents_: TrainingDocuments | None
    weighting_: Weighting
    history_: list[Measured]
    converged_: bool
    n_iter_: int
    n_features_in_: int
    n_jobs: int | None
    max_iter: int
    tol: float | str
    rule: RuleName | UpdateRule

    @property
    def topic_word_(self) -> np.ndarray: ...
    @property
    def topic_proportions_(self) -> np.ndarray: ...
    @property
    def topic_names_(self) -> list[str]: ...
    @property
    def doc_names_(self) -> np.ndarray | None: ...

    def transform(self, X: DocumentsLike, **metadata: Any) -> np.ndarray: ...
    def messages(self, X: DocumentsLike, **metadata: Any) -> np.ndarray: ...
    def label(self, X: DocumentsLike, **metadata: Any) -> pd.DataFrame: ...
    def top_words(
        self, n: int = 10, *, vocabulary: Sequence[str] | None = None, relevance: float = 1.0
    ) -> list[list[str]]: ...
    def show_topic(
        self, topic: int | str, n: int = 20, *, relevance: float = 1.0
    ) -> pd.DataFrame: ...
    def top_documents(self, n: int = 10) -> list[list[tuple[Name, float]]]: ...
    def topic_tree(self) -> pd.DataFrame: ...
    def topics_over_time(self, dates: DatesLike | None = None, by: By = "year") -> pd.DataFrame: ...
    def topics_by(self, groups: str | LabelsLike) -> pd.DataFrame: ...
    def name_topics(self, names: Mapping[int, str]) -> Self: ...
    def set_params(self, **params: object) -> Self: ...
    def save(self, path: str | Path) -> None: ...


class AuthorModel(FittedModel, Protocol):
    """A model with A authors."""

    author_names_: np.ndarray  # (A,)
    author_topic_: np.ndarray  # (A, K)
    author_counts_: np.ndarray  # (A, K)

    def authors_of_topic(
        self, topic: int | str, n: int = 10, *, min_documents: int = 0
    ) -> list[tuple[Name, float]]: ...
    def topics_of_author(self, name: Name, n: int = 10) -> list[tuple[int, float]]: ...


class LinkModel(FittedModel, Protocol):
    """A model with links."""

    links_: sparse.csr_array  # (D, D)
    link_weight_: float
    link_topic_: np.ndarray  # (K, K)

    def link_scores(self, pairs: Sequence[tuple[Name, Name]] | np.ndarray) -> np.ndarray: ...
    def recommend_links(self, X: DocumentsLike, n: int = 10) -> list[list[tuple[Name, float]]]: ...
