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
from topoi.explore.updating import Growth, drift_table, new_themes
from topoi.graph.factors import Documents, Words, make_plan
from topoi.infer import session
from topoi.infer.likelihood import document_fit
from topoi.infer.recipe import Prior, chosen_schedule
from topoi.infer.state import State
from topoi.models.base import TopicModelBase
from topoi.models.inputs import read_with_new_words
from topoi.models.preflight import refuse_too_large
from topoi.models.word_priors import full_prior, parted_prior

if TYPE_CHECKING:
    import pandas as pd

    from topoi.explore.editing import LineageRow
    from topoi.io.given import DocumentsLike

__all__ = ["Updating"]


class Updating(TopicModelBase):
    """A model that new documents update.

    Models that know more of documents than their words extend `_growth` and `_keep_growth`.
    """

    def update(self, X: DocumentsLike, *, new_topics: int = 0, **metadata: Any) -> Self:
        """A new model that has learned from new documents, too.

        What the old documents taught stays: their words keep their tokens in topics, authors those
        that they wrote, and new documents learn on top of them. Words, authors and labels that are
        new come after the others. Topics keep their numbers and names, and old documents their
        proportions.

        Parameters
        ----------
        X : Corpus, or what `topoi.read` takes
            New documents. Texts and files are read as those of the model were. A Corpus with more
            of documents is made by `topoi.read(..., vectorizer=model.vectorizer_, new_words=True)`.
        new_topics : int, default=0
            Topics to add for new themes, after all others. They start from the documents that the
            old topics explain worst.
        **metadata
            What the model knows of documents beside words: authors; links and doc_names, as for
            `transform`; labels. Default: those of a Corpus. Documents may lack them. New labels
            are new topics; background topics, which follow labels, then have higher numbers
            (`topic_lineage`).

        Returns
        -------
        Self
            A new model; `topic_drift` compares it with this one.

        Examples
        --------
        >>> import topoi
        >>> old = topoi.read(["cat dog cat pet", "dog pet cat", "bond stock", "stock bond"] * 9)
        >>> model = topoi.LDA(2).fit(old).name_topics({0: "first"})
        >>> updated = model.update(["rocket moon orbit"] * 6 + ["cat dog pet"] * 7, new_topics=1)
        >>> updated.topic_names_[0], updated.components_.shape, len(updated.doc_topic_)
        ('first', (3, 8), 49)
        >>> sorted(updated.top_words(3)[2])
        ['moon', 'orbit', 'rocket']
        """
        check_is_fitted(self)
        whole = isinstance(new_topics, numbers.Integral) and not isinstance(new_topics, bool)
        if not whole or new_topics < 0:
            raise ValueError(f"new_topics is {new_topics!r}; expected a whole number from 0 on.")
        growth = self._growth(self._extended(X), int(new_topics), **metadata)
        beta, beyond = parted_prior(self.topic_word_prior_)
        base = growth.with_words(self._held())
        prior = None if beyond is None else growth.with_words(beyond.T)
        alpha = np.full(growth.n_topics, self.doc_topic_prior_.mean())
        alpha[growth.places] = self.doc_topic_prior_
        start = base + beta if prior is None else base + prior + beta
        start /= start.sum(axis=0)
        start[:, growth.added] = growth.first
        made = copy(self)
        made._make_room(growth, alpha, full_prior(beta, prior))
        plan = make_plan([Words(growth.corpus.counts, base=base), *growth.factors], growth.n_topics)
        if prior is not None:
            plan.add_word_prior(prior)
        settings = replace(
            made._settings(growth.n_topics, growth.corpus.n_words, n_edges=plan.counts.nnz),
            schedule="auto",
            init="warm",
            word_topic=start,
            doc_topic_prior=Prior(alpha, False),
            topic_word_prior=Prior(np.array([beta]), False),
        )
        schedule, lists = chosen_schedule(plan.facts, settings)
        refuse_too_large(plan, settings.rule, schedule, lists=lists)
        fitted, state = session.fit(plan, settings, lambda: made._monitor(plan.counts))
        made._keep(fitted)
        made.topic_word_prior_ = full_prior(beta, prior)
        made._keep_growth(self, growth, state)
        return made

    def topic_drift(self, since: Updating, n_words: int = 5) -> pd.DataFrame:
        """How topics have changed by updates.

        Parameters
        ----------
        since : fitted model
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
        earlier: list[LineageRow] = getattr(since, "_lineage", [])
        later: list[LineageRow] = getattr(self, "_lineage", [])
        steps = {row["action"] for row in later[len(earlier) :]}
        if later[: len(earlier)] != earlier or steps - {"update"}:
            raise ValueError(
                "Topics were merged, deleted or split since then, so that numbers mean other ones;"
                " give the model after the edit."
            )
        before = np.zeros((K, W))
        before[self._places_of(since), : since.components_.shape[1]] = since._held()
        now = np.maximum(self._held() - before, 0)
        return drift_table(before, now, self.topic_names_, self._known_words(), n_words)

    # ------------------------------------------------------------------------------- how it is done

    def _places_of(self, since: Updating) -> np.ndarray:
        """The numbers that topics of a model before have now."""
        return np.arange(len(since.components_))

    def _known_words(self) -> list[str]:
        return [str(word) for word in self._words(None)]

    def _extended(self, X: DocumentsLike) -> Corpus:
        """New documents over the words of the model and those that are new."""
        if self.weighting_.kind != "count" or not hasattr(self, "doc_topic_"):
            raise ValueError(
                "update is for models of counts (weighting='count') that keep their documents;"
                " fit the model again, or use partial_fit."
            )
        corpus = read_with_new_words(self, X)
        if not corpus.counts.sum():
            raise ValueError(
                "X has no words that count, so there is nothing to learn from it; give documents in"
                " the language, and of the kind, of the training documents."
            )
        old = self.documents_
        if old is not None and old.names is not None and corpus.doc_names is not None:
            twice = sorted(set(old.names.tolist()) & set(map(str, corpus.doc_names)))
            if twice:
                raise ValueError(
                    f"{len(twice)} of the new documents, such as {twice[0]!r}, have names of"
                    " documents that the model has learned from; it would learn from them twice."
                    " Leave them out, or, if they are other documents, give them other names."
                )
        known = self._known_words()
        new = sorted(set(map(str, corpus.words)) - set(known))
        return corpus.over([*known, *new])

    def _growth(self, corpus: Corpus, new_topics: int, **metadata: Any) -> Growth:
        """What new documents add. Models that use more than words take more arguments."""
        if any(given is not None for given in metadata.values()):
            raise ValueError(
                f"This model was fitted without {' and '.join(metadata)}, so an update has no use"
                " for them; leave them out, or fit a model with them."
            )
        places = np.arange(len(self.components_))
        first = self._themes(corpus, new_topics)
        return Growth(corpus, places, first, [Documents()])

    def _themes(self, corpus: Corpus, n: int) -> np.ndarray:
        """(W, n) topics of the documents that the model explains worst."""
        if not n:
            return np.zeros((corpus.n_words, 0))
        known = corpus.over(self._known_words())
        smooth = np.full((len(self.components_), corpus.n_words), 1e-6 / corpus.n_words)
        smooth[:, : known.n_words] += self.topic_word_
        fit = document_fit(
            corpus.counts, self._fold_in(known.counts), smooth / smooth.sum(axis=1, keepdims=True)
        )
        return new_themes(corpus.counts, fit, n, seed=self._seed(), n_jobs=self.n_jobs)

    def _make_room(self, growth: Growth, alpha: np.ndarray, prior: float | np.ndarray) -> None:
        """Parameters and words of a model that grows."""
        made: Any = self
        words = np.array(growth.corpus.words, dtype=str)
        if hasattr(made, "n_components"):
            made.n_components = growth.n_topics
        for name, value in (("doc_topic_prior", alpha), ("topic_word_prior", prior)):
            given = getattr(made, name)
            if given is not None and not isinstance(given, str) and np.ndim(given):
                setattr(made, name, value)
        for name, usual in (("init", "hard"), ("seeds", None)):  # they are in the topics
            if name in vars(made):
                setattr(made, name, usual)
        made.vocabulary_, made.n_features_in_ = words, len(words)
        if hasattr(made, "feature_names_in_"):
            made.feature_names_in_ = words.astype(object)
        if made.vectorizer_ is not None:
            from topoi.io.vectorize import with_vocabulary  # and what reads texts

            made.vectorizer_ = with_vocabulary(made.vectorizer_, words.tolist())

    def _keep_growth(self, old: Self, growth: Growth, state: State) -> None:
        """Documents of both, old ones with their proportions; names of topics."""
        corpus = growth.corpus
        fit = document_fit(corpus.counts, self.doc_topic_, self.topic_word_)
        keeps = old.documents_ is not None and old.documents_.counts is not None
        new = replace(TrainingDocuments.of(corpus, counts=keeps), fit=fit)
        parts = [part for part in (old.documents_, new) if part is not None]
        self.documents_ = TrainingDocuments.joined(parts)
        self.doc_topic_ = np.vstack([growth.moved(old.doc_topic_), self.doc_topic_])
        self._n_docs += old._n_docs
        self._finished_run = None
        self._topic_names = {int(growth.places[k]): name for k, name in old._topic_names.items()}
        moved = growth.places != np.arange(len(growth.places))
        if moved.any():
            self._lineage = old._lineage_with("update", growth.places)
        self.__dict__.pop("stability_", None)  # that of the old topics
