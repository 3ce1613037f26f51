"""Updating a fitted model by new documents, without fitting the old ones again."""

from __future__ import annotations

import numbers
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.corpus import Corpus
from topoi.corpus.documents import TrainingDocuments
from topoi.explore.updating import drift_table, new_themes, with_columns
from topoi.graph.plan import Plan
from topoi.infer import session
from topoi.infer.likelihood import document_fit
from topoi.infer.recipe import Prior
from topoi.models.batches import BatchModel
from topoi.models.preflight import refuse_too_large
from topoi.models.word_priors import full_prior, parted_prior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Updating"]


class Updating(BatchModel):
    """A model that new documents update."""

    def update(self, X: Corpus, *, new_topics: int = 0) -> Self:
        """A new model that has learned from new documents, too.

        What the old documents taught stays: their words keep their tokens in topics, and new
        documents learn on top of them. Words that are new enter the vocabulary after the others.
        Topics keep their numbers and names, and old documents their proportions.

        Parameters
        ----------
        X : Corpus
            New documents with their vocabulary, such as `topoi.read` gives; texts are best read
            with a new vectoriser, so that new words are found.
        new_topics : int, default=0
            Topics to add for new themes, after all others. They start from the documents that the
            old topics explain worst.

        Returns
        -------
        Self
            A new model; `topic_drift` compares it with this one.

        Examples
        --------
        >>> import topoi
        >>> old = topoi.read(["cat dog cat pet", "dog pet cat", "bond stock", "stock bond"] * 9)
        >>> model = topoi.LDA(2).fit(old).name_topics({0: "first"})
        >>> new = topoi.read(["rocket moon orbit"] * 6 + ["cat dog pet"] * 7)
        >>> updated = model.update(new, new_topics=1)
        >>> updated.topic_names_[0], updated.components_.shape, len(updated.doc_topic_)
        ('first', (3, 8), 49)
        >>> sorted(updated.top_words(3)[2])
        ['moon', 'orbit', 'rocket']
        """
        check_is_fitted(self)
        corpus, words = self._extended(X)
        if not isinstance(new_topics, numbers.Integral) or isinstance(new_topics, bool):
            raise ValueError(f"new_topics is {new_topics!r}; expected a whole number from 0 on.")
        K, W = len(self.components_) + int(new_topics), corpus.n_words
        beta, beyond = parted_prior(self.topic_word_prior_)
        held = np.maximum(self.components_.astype(np.float64) - self.topic_word_prior_, 0)
        base = with_columns(held, K, W).T
        prior = None if beyond is None else with_columns(beyond.T, K, W).T
        alpha = np.r_[self.doc_topic_prior_, np.full(new_topics, self.doc_topic_prior_.mean())]
        start = base + beta if prior is None else base + prior + beta
        start = start / start.sum(axis=0)
        if new_topics:
            start[:, len(self.components_) :] = self._themes(corpus, int(new_topics))
        made = copy(self)
        made.n_components = K
        made.__dict__.update(vocabulary_=words, n_features_in_=W, init="hard", seeds=None)
        plan = Plan(K, corpus.counts, word_base=base, word_prior=prior)
        settings = replace(
            made._settings(K, W),
            schedule="asynchronous",
            init="warm",
            word_topic=start,
            doc_topic_prior=Prior(alpha, False),
            topic_word_prior=Prior(np.array([beta]), False),
        )
        refuse_too_large(plan, settings.rule, "asynchronous")
        fitted, _ = session.fit(plan, settings, lambda: made._monitor(corpus.counts))
        made._keep(fitted)
        made.topic_word_prior_ = full_prior(beta, prior)
        made._keep_updated(self, corpus)
        return made

    def topic_drift(self, since: Updating, n_words: int = 5) -> pd.DataFrame:
        """How topics have changed by updates.

        Parameters
        ----------
        since : LDA
            The model before: this one is an update of it.
        n_words : int, default=5
            Most rising words to show.

        Returns
        -------
        pandas.DataFrame
            Columns topic, name, before and now (proportions of tokens in the documents before, and
            in those since), drift (Hellinger distance of the word proportions, 0 to 1), rising
            (words that are more frequent now).

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> corpus, _ = datasets.make_blocks()
        >>> model = LDA(4).fit(corpus[:30])
        >>> model.update(corpus[30:]).topic_drift(model).columns.tolist()
        ['topic', 'name', 'before', 'now', 'drift', 'rising']
        """
        check_is_fitted(self)
        K, W = self.components_.shape
        if since.components_.shape[0] > K or since.components_.shape[1] > W:
            raise ValueError("This model is not an update of `since`; give the model before.")
        before = with_columns(since._held(), K, W)
        now = np.maximum(self._held() - before, 0)
        return drift_table(before, now, self.topic_names_, self._known_words(), n_words)

    def _known_words(self) -> list[str]:
        return [str(word) for word in self._words(None)]

    def _extended(self, X: Any) -> tuple[Corpus, np.ndarray]:
        """New documents over the words of the model and those that are new, and all words."""
        if not isinstance(X, Corpus) or X.vocabulary is None or self.vocabulary_ is None:
            raise ValueError(
                "update needs to know words: give a Corpus with a vocabulary (topoi.read), to a"
                " model that was fitted on one. For counts without words use partial_fit."
            )
        if self.weighting != "count" or not hasattr(self, "doc_topic_"):
            raise ValueError(
                "update is for models of counts (weighting='count') that keep their documents;"
                " fit the model again, or use partial_fit."
            )
        known = self._known_words()
        new = sorted(set(map(str, X.vocabulary)) - set(known))
        words = np.array([*known, *new], dtype=str)
        return X.over(words.tolist()), words

    def _keep_updated(self, old: Updating, corpus: Corpus) -> None:
        """Documents of both, old ones with their proportions, and a vectoriser of all words."""
        fit = document_fit(corpus.counts, self.doc_topic_, self.topic_word_)
        parts = [old.documents_, replace(TrainingDocuments.of(corpus), fit=fit)]
        self.documents_ = TrainingDocuments.joined([part for part in parts if part is not None])
        n_docs, K = len(old.doc_topic_), len(self.components_)
        self.doc_topic_ = np.vstack([with_columns(old.doc_topic_, n_docs, K), self.doc_topic_])
        self._n_docs += old._n_docs
        self._online = None
        self._topic_names = dict(old._topic_names)
        if old.vectorizer_ is not None:
            from topoi.io.vectorize import vectorizer_from, vectorizer_settings

            settings = vectorizer_settings(old.vectorizer_)
            self.vectorizer_ = vectorizer_from({**settings, "vocabulary": self._known_words()})

    def _themes(self, corpus: Corpus, n: int) -> np.ndarray:
        """(W, n) topics of the documents that the model explains worst."""
        known = corpus.over(self._known_words())
        words = with_columns(self.topic_word_, len(self.components_), corpus.n_words)
        smooth = words + 1e-6 / corpus.n_words  # of words that are new
        fit = document_fit(
            corpus.counts, self._fold_in(known.counts), smooth / smooth.sum(axis=1, keepdims=True)
        )
        return new_themes(corpus.counts, fit, n, seed=self._seed(), n_jobs=self.n_jobs)
