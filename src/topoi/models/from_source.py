"""Models of documents that are read block by block: `fit` and `transform` of a Source."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from topoi.corpus import Corpus
from topoi.corpus.corpus import canonical_corpus
from topoi.graph.factors import Factor, make_plan
from topoi.graph.factors import Words as WordsFactor
from topoi.graph.plan import Plan
from topoi.graph.weighting import fit_weighting
from topoi.infer.elsewhere import PlanBlocks, survey
from topoi.infer.refusals import refuse_schedule
from topoi.infer.session_of_blocks import fit_blocks
from topoi.models.base import TopicModelBase
from topoi.models.checkpointing import open_checkpoint
from topoi.models.inputs import is_source
from topoi.models.preflight import (
    refuse_light_weights,
    refuse_too_large,
    warn_of_single_precision,
)
from topoi.storage.files import atomic_write, check_outputs

if TYPE_CHECKING:
    from topoi.io.given import DocumentsLike
    from topoi.io.source import Source

__all__ = ["FromSource", "SourceProportions"]

SCHEDULES = ("auto", "incremental")


class FromSource(TopicModelBase):
    """A model whose documents own themselves, so that they can be inferred block by block."""

    def _fit_source(
        self,
        source: Source,
        factors: Callable[[Corpus], list[Factor]],
        n_topics: int,
        checkpoint: str | Path | None,
    ) -> None:
        """Fit block by block, and keep no documents."""
        self._refuse_for_blocks()
        if self.weighting != "count":
            raise ValueError(
                f"weighting is {self.weighting!r}, which goes by all documents at once; use"
                " weighting='count' for blocks, or fit all documents at once."
            )
        self.weighting_ = fit_weighting("count", sparse.csr_array((0, source.n_words)))

        def read(number: int) -> Plan:
            corpus = source.block(number)
            return make_plan([WordsFactor(corpus.counts, "count"), *factors(corpus)], n_topics)

        blocks = survey(len(source), read, source.fingerprint, source.folder)
        self._fit_blocks(blocks, checkpoint, 1)
        self.__dict__.pop("doc_topic_", None)  # of an earlier fit
        self.documents_ = None

    def transform(self, X: DocumentsLike) -> np.ndarray:
        """Topic proportions of documents.

        The result is deterministic, documents do not influence each other, and an empty one gets
        the prior.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0. Or a `topoi.Source`.

        Returns
        -------
        ndarray of shape (n_documents, n_components) or SourceProportions
            Rows sum to 1. Those of a Source are computed block by block, when they are iterated
            over or written (`to_csv`, `to_parquet`).
        """
        if is_source(X):
            check_is_fitted(self)
            return SourceProportions(self, X)  # type: ignore[return-value]
        return super().transform(X)

    def _begin_source(self, source: Source) -> None:
        """Take the words of a source."""
        none = sparse.csr_array((0, source.n_words))
        self._read(
            canonical_corpus(none, vocabulary=source.vocabulary, vectorizer=source.vectorizer),
            reset=True,
        )

    def _refuse_for_blocks(self) -> None:
        """Refuse what blocks cannot do, before they are read."""
        rule = self._check_parameters()
        self._refuse_without_state()
        if self.schedule not in SCHEDULES:
            raise ValueError(
                f"schedule is {self.schedule!r}, but documents that come block by block take turns"
                " in a fixed order; use schedule='auto' or 'incremental', or fit all documents at"
                " once."
            )
        refuse_schedule("incremental", rule)

    def _fit_blocks(self, blocks: PlanBlocks, checkpoint: str | Path | None, every: int) -> None:
        """Learn what words hold from blocks in turn, round after round."""
        facts, n_words = blocks.facts, len(blocks.word_weight)
        if not facts.n_edges:
            raise ValueError(
                "The source holds no words at all: every entry is 0. Check the vocabulary, min_df"
                " and stop words."
            )
        settings = self._settings(facts.n_topics, n_words)
        blocks = blocks.with_word_prior(
            self._word_prior(facts.n_topics, blocks.word_weight, facts.token)
        )
        settings = self._with_priors(settings, facts.n_topics)
        refuse_light_weights(facts.token)
        refuse_too_large(blocks.plan(blocks.largest), settings.rule, "incremental")
        warn_of_single_precision(blocks.heaviest, float(blocks.in_words.max()), settings.rule)
        none = sparse.csr_array((0, n_words))
        plan = Plan(facts.n_topics, none, word_prior=blocks.word_prior)
        start = [settings.word_topic, blocks.fingerprint]
        with open_checkpoint(checkpoint, every, self, plan, start) as saves:
            fitted = fit_blocks(blocks, settings, self._monitor, saves)
            if saves is not None and fitted.finished:
                self._finished_run = saves.finish()
        self._keep_words_of(fitted)


class SourceProportions:
    """Topic proportions of the documents of a source, computed block by block when they are asked
    for: `model.transform(source)`.

    Iterating gives an array (documents, topics) for each block.

    Parameters
    ----------
    model : FromSource
        A fitted model.
    source : Source
        Counted or not; texts are cut into the words of the model.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.read(["cat dog cat pet", "dog pet cat", "bond stock", "stock bond"] * 5)
    >>> model = topoi.LDA(2).fit(corpus)
    >>> [part.shape for part in model.transform(topoi.Source(corpus, block_size=15))]
    [(15, 2), (5, 2)]
    """

    def __init__(self, model: FromSource, source: Source) -> None:
        self._model, self._source = model, source

    def __iter__(self) -> Iterator[np.ndarray]:
        return (proportions for _, proportions in self.blocks())

    def blocks(self) -> Iterator[tuple[Corpus, np.ndarray]]:
        """Each block of documents with its proportions."""
        for corpus in self._corpora():
            yield corpus, np.asarray(self._model.transform(corpus))

    def _corpora(self) -> Iterator[Corpus]:
        if self._source.is_counted:
            return iter(self._source)
        from topoi.io.vectorize import vectorizer_of

        return self._source.counted_by(vectorizer_of(self._model))

    def __repr__(self) -> str:
        return f"SourceProportions({self._source})"

    def to_csv(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write one table: id, date if there is one, and a column per topic.

        Parameters
        ----------
        path : str or Path
            The file; compressed if it ends in .gz.
        overwrite : bool, default=False
            Whether a file may be replaced.
        """
        check_outputs([path], overwrite=overwrite)
        compress, done = Path(path).suffix.lower() == ".gz", 0
        with atomic_write(path, compress=compress) as file:
            text = TextIOWrapper(file, "utf-8", newline="")
            writer: Any = None
            for corpus, proportions in self.blocks():
                columns = self._columns(corpus, proportions, done)
                if writer is None:
                    writer = csv.writer(text, lineterminator="\n")
                    writer.writerow(columns)
                writer.writerows(zip(*columns.values(), strict=True))
                done += corpus.n_docs
            text.flush()
            text.detach()

    def to_parquet(self, folder: str | Path) -> None:
        """Write a file for each block into a folder, which readers of Parquet take for one table.

        Parameters
        ----------
        folder : str or Path
            It must not exist, or be empty.
        """
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise ModuleNotFoundError(
                "Parquet files need the package pyarrow; install it with: pip install"
                " 'topoi[arrow]'"
            ) from error
        folder = Path(folder)
        if folder.exists() and any(folder.iterdir()):
            raise FileExistsError(f"{folder} is not empty; choose another folder.")
        folder.mkdir(exist_ok=True)
        done = 0
        for number, (corpus, proportions) in enumerate(self.blocks()):
            table = pyarrow.table(self._columns(corpus, proportions, done))
            with atomic_write(folder / f"{number:06}.parquet") as file:
                pyarrow.parquet.write_table(table, file)
            done += corpus.n_docs

    def _columns(self, corpus: Corpus, proportions: np.ndarray, first: int) -> dict[str, object]:
        """Of a table. Documents without names get their numbers, from `first` on."""
        numbers = range(first, first + corpus.n_docs)
        names = corpus.doc_names if corpus.doc_names is not None else [str(n) for n in numbers]
        columns: dict[str, object] = {"document": names}
        if corpus.dates is not None:
            columns["date"] = corpus.dates
        rounded = [[float(f"{value:.6g}") for value in column] for column in proportions.T]
        return columns | dict(zip(self._model.topic_names_, rounded, strict=True))
