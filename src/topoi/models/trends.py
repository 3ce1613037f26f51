"""Topics over time, by groups, and their dependence on covariates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from topoi.corpus import Corpus, Membership
from topoi.corpus.dates import By, dates_as_text
from topoi.corpus.metadata import label_membership
from topoi.explore import trends
from topoi.explore.effects import effects_table
from topoi.models.reading import Reading

if TYPE_CHECKING:
    import pandas as pd

    from topoi.io.given import DocumentsLike

__all__ = ["Trends"]


class Trends(Reading):
    """A model that can say where and when its topics are frequent."""

    def topics_over_time(
        self,
        dates: Sequence[object] | None = None,
        by: By = "year",
        *,
        level: float = 0.95,
        interval: trends.Interval = "score",
        random_state: int = 0,
    ) -> pd.DataFrame:
        """How frequent topics are in each period: mean proportions of training documents.

        Parameters
        ----------
        dates : sequence, default=None
            The date of each training document. Default: those that the model knows.
        by : {"decade", "year", "quarter", "month", "week", "day"}, default="year"
            The length of a period.
        level : float, default=0.95
            How often an interval should cover the prevalence among all such documents.
        interval : {"score", "bootstrap"}, default="score"
            "score" also holds for few documents and rare topics; "bootstrap" resamples documents
            and is too short there.
        random_state : int, default=0
            Seed of the bootstrap.

        Returns
        -------
        pandas.DataFrame
            Columns period, start (its first day), topic, name, prevalence, low, high, documents;
            in the order of time. Periods without documents are left out.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> corpus, _ = datasets.make_blocks(n_topics=2)
        >>> years = [2000 + d % 3 for d in range(corpus.n_docs)]
        >>> table = LDA(2).fit(corpus).topics_over_time(years)
        >>> table["period"].unique().tolist()
        ['2000', '2001', '2002']
        """
        members, starts = trends.period_members(self._dates(dates), by)
        table = trends.prevalence_table(
            trends.observed_proportions(self),
            members,
            self.topic_names_,
            level=level,
            interval=interval,
            random_state=random_state,
        ).rename(columns={"group": "period"})
        table.insert(1, "start", np.repeat(starts, len(self.components_)))
        return table

    def topics_by(
        self,
        groups: str | Sequence[object],
        *,
        level: float = 0.95,
        interval: trends.Interval = "score",
        random_state: int = 0,
    ) -> pd.DataFrame:
        """How frequent topics are in each group: mean proportions of training documents.

        Parameters
        ----------
        groups : str or sequence
            "labels", "authors" or another column that the model knows of its documents
            (`documents_.columns`), or a value or list of values for each of them.
        level, interval, random_state
            As in `topics_over_time`.

        Returns
        -------
        pandas.DataFrame
            Columns group, topic, name, prevalence, low, high, documents.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> corpus, _ = datasets.make_blocks(n_topics=2)
        >>> table = LDA(2).fit(corpus).topics_by(["web", "press"] * (corpus.n_docs // 2))
        >>> table["group"].unique().tolist()
        ['press', 'web']
        """
        return trends.prevalence_table(
            trends.observed_proportions(self._kept()),
            self._groups(groups),
            self.topic_names_,
            level=level,
            interval=interval,
            random_state=random_state,
        )

    def words_over_time(
        self,
        topic: int | str,
        dates: Sequence[object] | None = None,
        by: By = "year",
        *,
        n: int = 10,
        X: DocumentsLike | None = None,
    ) -> pd.DataFrame:
        """The words of a topic in each period.

        Parameters
        ----------
        topic : int or str
            Number or name of the topic.
        dates, by
            As in `topics_over_time`.
        n : int, default=10
            Words of each period.
        X : Corpus or array-like of shape (n_documents, n_features), default=None
            The training documents. Default: the texts that the model kept.

        Returns
        -------
        pandas.DataFrame
            Columns period, start, word; probability, in the topic within the period; count,
            expected tokens of the topic; lift, the probability divided by that in the whole topic.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> corpus, _ = datasets.make_blocks(n_topics=2)
        >>> years = [2000 + d % 3 for d in range(corpus.n_docs)]
        >>> table = LDA(2).fit(corpus).words_over_time(0, years, n=2, X=corpus)
        >>> table.columns.tolist(), len(table)
        (['period', 'start', 'word', 'probability', 'count', 'lift'], 6)
        """
        members, starts = trends.period_members(self._dates(dates), by)
        documents, k = self._training_corpus(X), self._topic(topic)
        table = trends.words_table(self, documents, k, members, n)
        table = table.rename(columns={"group": "period"})
        start = dict(zip(members.names.tolist(), starts, strict=True))
        table.insert(1, "start", [start[period] for period in table["period"]])
        return table

    def words_by(
        self,
        topic: int | str,
        groups: str | Sequence[object],
        *,
        n: int = 10,
        X: DocumentsLike | None = None,
    ) -> pd.DataFrame:
        """The words of a topic in each group.

        Parameters
        ----------
        topic : int or str
            Number or name of the topic.
        groups : str or sequence
            As in `topics_by`.
        n : int, default=10
            Words of each group.
        X : Corpus or array-like of shape (n_documents, n_features), default=None
            The training documents. Default: the texts that the model kept.

        Returns
        -------
        pandas.DataFrame
            Columns group, word, probability, count, lift, as in `words_over_time`.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> corpus, _ = datasets.make_blocks(n_topics=2)
        >>> source = ["web", "press"] * (corpus.n_docs // 2)
        >>> len(LDA(2).fit(corpus).words_by(0, source, n=3, X=corpus))
        6
        """
        members, documents = self._groups(groups), self._training_corpus(X)
        return trends.words_table(self, documents, self._topic(topic), members, n)

    def topic_effects(self, table: pd.DataFrame, *, level: float = 0.95) -> pd.DataFrame:
        """How topic proportions depend on covariates: a regression for each topic.

        Documents are the units, proportions are those of the training documents without the prior,
        and errors are robust (HC3). They contain the sampling of documents and the uncertainty of
        each document's proportions, but not that of the topics.

        Parameters
        ----------
        table : pandas.DataFrame, dict of columns, or str or list of str
            One row per training document and one column per covariate; or names of columns that
            the model knows: "date" (as years) and those of `documents_.columns`. Columns that are
            not numbers are categories, compared with the most frequent one.
        level : float, default=0.95
            Level of the intervals.

        Returns
        -------
        pandas.DataFrame
            Columns topic, name, term, estimate, error, low, high, p, documents.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> corpus, _ = datasets.make_blocks(n_topics=2)
        >>> late = [d % 2 for d in range(corpus.n_docs)]
        >>> LDA(2).fit(corpus).topic_effects({"late": late})["term"].tolist()
        ['intercept', 'late', 'intercept', 'late']
        """
        import pandas as pd

        self._kept()
        if isinstance(table, str) or (
            isinstance(table, list | tuple) and all(isinstance(name, str) for name in table)
        ):
            names = [table] if isinstance(table, str) else table
            table = {name: self._covariate(name) for name in names}
        frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame(table)
        proportions = trends.observed_proportions(self)
        return effects_table(proportions, frame, self.topic_names_, level=level)

    def _kept(self) -> Trends:
        """This model, if it keeps its documents."""
        self._documents()
        return self

    def _dates(self, dates: Sequence[object] | None) -> list[str]:
        """Dates that are given, or else those of the training documents."""
        documents = self._documents()
        if dates is None:
            if documents.dates is None:
                raise ValueError(
                    "This model knows no dates of its documents; read them with dates=... before"
                    " the fit, or give one for each."
                )
            return [str(day) for day in documents.dates]
        if len(dates) != len(documents):
            raise ValueError(
                f"dates has {len(dates)} values for {len(documents)} documents; give one for each."
            )
        return dates_as_text(dates)

    def _groups(self, groups: str | Sequence[object]) -> Membership:
        """Groups that are given, or a column that is known of the training documents."""
        documents = self._documents()
        if isinstance(groups, str):
            return documents.column(groups)
        return label_membership(groups, len(documents), "groups")

    def _covariate(self, name: str) -> list[object]:
        """A column that is known of the training documents; dates as years."""
        documents = self._documents()
        if name == "date" and name not in documents.columns:
            days = [np.datetime64(day) if day else None for day in self._dates(None)]
            start = np.datetime64("0000-01-01")
            return [
                np.nan if day is None else (day.astype("M8[D]") - start).astype(float) / 365.2425
                for day in days
            ]
        column = documents.column(name)
        several = int((column.counts() > 1).sum())
        if several:
            raise ValueError(
                f"{several} documents have several {name!r}, which is no category; give a table"
                " with a column of 0 and 1 for each."
            )
        return [row[0] if row else None for row in column]

    def _training_corpus(self, X: DocumentsLike) -> Corpus:
        """The training documents: those given, or the counts or texts that were kept."""
        documents = self._documents()
        if X is not None:
            corpus = self._corpus(X, reset=False)
        elif documents.counts is not None:
            corpus = self._corpus(documents.counts, reset=False)
        elif documents.texts is None:
            raise ValueError(
                "This model keeps no texts of its documents, so it cannot count their words again;"
                " give them as X, or read with keep_text=True before the fit."
            )
        else:
            from topoi.io.read import read

            corpus = read(documents.texts, vectorizer=self.vectorizer_)
            corpus = self._corpus(corpus, reset=False)
        if corpus.n_docs != len(documents):
            raise ValueError(
                f"X has {corpus.n_docs} documents; the model was fitted on {len(documents)}."
            )
        return corpus
