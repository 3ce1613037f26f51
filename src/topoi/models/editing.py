"""Editing the topics of a fitted model. Every edit makes a new model; the old one stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.explore import editing
from topoi.explore.editing import LINEAGE, LineageRow, Moves
from topoi.explore.reading import topic_number
from topoi.explore.splitting import split_moves
from topoi.models.topics import Topics
from topoi.models.word_priors import full_prior, least_of, parted_prior

if TYPE_CHECKING:
    import pandas as pd

    from topoi.corpus import Corpus
    from topoi.io.given import DocumentsLike
    from topoi.models.parameters import Seed

__all__ = ["Editing"]


class Editing(Topics):
    """A model whose topics can be merged, deleted and split."""

    _lineage: list[LineageRow]

    if TYPE_CHECKING:  # of TopicModelBase
        random_state: Seed
        n_jobs: int | None

        def messages(self, X: DocumentsLike, **metadata: Any) -> np.ndarray: ...

        def _seed(self) -> int: ...

        def _training_corpus(self, X: DocumentsLike) -> Corpus: ...

    def merge_topics(self, groups: Sequence[Sequence[int | str]]) -> Self:
        """A new model in which some topics are one.

        Parameters
        ----------
        groups : list of lists of int or str
            Topics that become one, by number or name. It takes the place of the first of them in
            the order of topics, and the name of the first in the list that has one.

        Returns
        -------
        Self
            A new model, which predicts, saves and reports as any other. `topic_lineage` says which
            topic became which.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> model = LDA(4).fit(datasets.make_blocks()[0]).name_topics({1: "b", 3: "d"})
        >>> merged = model.merge_topics([[1, 2]])
        >>> merged.topic_names_, model.topic_names_
        (['topic0', 'b', 'd'], ['topic0', 'b', 'topic2', 'd'])
        """
        return self.edit_topics({"merge": groups})

    def delete_topics(self, topics: Sequence[int | str]) -> Self:
        """A new model without some topics.

        Parameters
        ----------
        topics : list of int or str
            Topics that go, by number or name, with their words. What documents had of them is
            divided among their other topics in proportion.

        Returns
        -------
        Self
            A new model. Topics that stay keep their order; `topic_lineage` has their numbers.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> model = LDA(4).fit(datasets.make_blocks()[0]).name_topics({3: "last"})
        >>> model.delete_topics([0]).topic_names_
        ['topic0', 'topic1', 'last']
        >>> model.delete_topics(["last"]).topic_names_
        ['topic0', 'topic1', 'topic2']
        """
        return self.edit_topics({"delete": topics})

    def reduce_topics(self, n: int) -> Self:
        """A new model with n topics: the two whose merger loses least are merged, again and again.

        A merger loses little where topics are similar or small (Ward's criterion).

        Parameters
        ----------
        n : int
            Number of topics to be left.

        Returns
        -------
        Self
            A new model.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> LDA(4).fit(datasets.make_blocks()[0]).reduce_topics(2).components_.shape
        (2, 40)
        """
        return self.edit_topics({"reduce": n})

    def edit_topics(self, edits: Mapping[str, object]) -> Self:
        """A new model after several edits, as the report exports them.

        Parameters
        ----------
        edits : dict
            Some of "names" (names by topic), "merge" (lists of topics that become one), "delete"
            (topics that go) and "reduce" (how many topics are left in the end). All numbers and
            names are those of this model.

        Returns
        -------
        Self
            A new model.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> model = LDA(4).fit(datasets.make_blocks()[0])
        >>> edited = model.edit_topics({"names": {"3": "d"}, "merge": [[0, 3]], "delete": [1]})
        >>> edited.topic_names_
        ['d', 'topic1']
        >>> edited.topic_lineage()["new"].tolist()
        [0, -1, 1, 0]
        """
        check_is_fitted(self)
        found = editing.checked_edits(edits, self.topic_names_)
        named = copy(self)
        if found.names:
            named.name_topics(found.names)
        edited = named._merged(found.merge, found.delete)
        if found.reduce is not None and found.reduce < len(edited.components_):
            groups = editing.closest_groups(edited._held(), found.reduce)
            edited = edited._merged(groups, [])
        return edited

    def split_topic(self, topic: int | str, into: int = 2, X: DocumentsLike | None = None) -> Self:
        """A new model in which a topic is several, found by LDA on its messages.

        Parameters
        ----------
        topic : int or str
            Number or name of the topic. Its largest part keeps both; the others follow after all
            topics.
        into : int, default=2
            Number of parts.
        X : array-like, sparse matrix, data frame or Corpus of training documents, default=None
            The training documents. Not needed if the model kept their texts or counts.

        Returns
        -------
        Self
            A new model.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> corpus, _ = datasets.make_blocks()
        >>> model = LDA(3).fit(corpus)
        >>> model.split_topic(0, into=2, X=corpus).components_.shape
        (4, 40)
        """
        check_is_fitted(self)
        number = topic_number(self.topic_names_, topic)
        corpus = self._training_corpus(X)
        tokens = np.asarray(corpus.counts.sum(axis=1)).ravel()
        if self.documents_ is None or not np.allclose(tokens, self.documents_.tokens):
            raise ValueError(
                "X does not hold the documents that this model was fitted on, in their order;"
                " give these."
            )
        held = corpus.counts.data * self.messages(corpus)[:, number]
        seed = self._seed() if isinstance(self.random_state, int) else 0
        moves = split_moves(
            corpus.counts, held, number, len(self.components_), into, seed=seed, n_jobs=self.n_jobs
        )
        new = [*range(len(self.components_)), *[number] * (into - 1)]
        return self._edited(moves, new, "split")

    def topic_tree(self) -> pd.DataFrame:
        """How topics merge, in the order of `reduce_topics`.

        Returns
        -------
        pandas.DataFrame
            A row for each merger, the one that loses least first: topics that are similar, or
            small. Columns node, left, right, distance (of their words, 0 to 1), topics, names;
            nodes are numbered after the topics. `reduce_topics(n)` makes the first mergers of it.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> LDA(4).fit(datasets.make_blocks()[0]).topic_tree().shape
        (3, 6)
        """
        check_is_fitted(self)
        return editing.topic_tree(self._held(), self.topic_names_)

    def topic_lineage(self) -> pd.DataFrame:
        """Which topic became which, in all edits of this model.

        Returns
        -------
        pandas.DataFrame
            A row for each topic and edit. Columns step (1, 2, ...), action, old (number before),
            name (before), new (number after; -1 if the topic is gone). Empty before any edit.

        Examples
        --------
        >>> from topoi import LDA, datasets
        >>> LDA(3).fit(datasets.make_blocks()[0]).delete_topics([1]).topic_lineage()
           step action  old    name  new
        0     1   edit    0  topic0    0
        1     1   edit    1  topic1   -1
        2     1   edit    2  topic2    1
        """
        import pandas as pd

        check_is_fitted(self)
        return pd.DataFrame(getattr(self, "_lineage", []), columns=list(LINEAGE))

    # ------------------------------------------------------------------------------- how it is done

    def _held(self) -> np.ndarray:
        """(K, W) tokens of words in topics, without the prior."""
        return np.maximum(self.components_.astype(np.float64) - self.topic_word_prior_, 0)

    def _merged(self, merge: Sequence[Sequence[int]], delete: Sequence[int]) -> Self:
        new = editing.where_topics_go(len(self.components_), merge, delete)
        if np.array_equal(new, np.arange(len(new))):
            return copy(self)
        transfer = (new[:, None] == np.arange(new.max() + 1)).astype(np.float64)
        first = {int(new[group[0]]): list(group) for group in merge}
        old = [
            next((k for k in first.get(n, []) if k in self._topic_names), int(np.argmax(new == n)))
            for n in range(new.max() + 1)
        ]
        return self._edited(Moves(transfer), old, "edit", new)

    def _edited(
        self, moves: Moves, old: Sequence[int], action: str, new: np.ndarray | None = None
    ) -> Self:
        """A new model. old: the topic whose name each new one gets, if it has one; only once.

        new: (K,) what topics became; default: their old numbers.
        """
        self._check_edit(moves)
        made = copy(self)
        names: dict[int, str] = {}
        for k, before in enumerate(old):
            if before in self._topic_names and self._topic_names[before] not in names.values():
                names[k] = self._topic_names[before]
        made._move(moves)
        made._topic_names = {}
        made.name_topics(names)
        made.__dict__.pop("stability_", None)  # that of the old topics
        made.__dict__["_finished_run"] = None
        became = np.arange(len(self.components_)) if new is None else new
        made._lineage = self._lineage_with(action, became)
        return made

    def _lineage_with(self, action: str, became: np.ndarray) -> list[LineageRow]:
        """The lineage of topics with one more step, in which they became those of other numbers."""
        earlier = list(getattr(self, "_lineage", []))
        step = earlier[-1]["step"] + 1 if earlier else 1
        return earlier + [
            {"step": step, "action": action, "old": k, "name": name, "new": int(became[k])}
            for k, name in enumerate(self.topic_names_)
        ]

    def _check_edit(self, moves: Moves) -> None:
        """Refuse edits that make no sense in this model."""

    def _move(self, moves: Moves) -> None:
        """Move all that is learned of topics. Models that learn more of them extend it."""
        made: Any = self
        beta, beyond = parted_prior(self.topic_word_prior_)
        alpha = editing.moved_table(self.doc_topic_prior_, moves.transfer)
        counts = moves.counts(self._held())
        if beyond is not None:
            beyond = moves.counts(beyond.T).T
        prior = full_prior(beta, beyond)
        self.components_ = (counts + prior).astype(self.components_.dtype)
        if hasattr(self, "doc_topic_"):
            found = moves.of_documents(self.doc_topic_, alpha)
            self.doc_topic_ = found.astype(self.doc_topic_.dtype)
        for name, value in (("doc_topic_prior", alpha), ("topic_word_prior", prior)):
            given = getattr(made, name, None)
            if given is not None and not isinstance(given, str) and np.ndim(given):
                setattr(made, name, value)
        self.doc_topic_prior_, self.topic_word_prior_ = alpha, prior
        if hasattr(made, "n_components"):
            made.n_components = len(self.components_)
        if getattr(made, "seeds", None) is not None:
            made.seeds = None  # they are in the prior, and topics have other numbers now
        if not isinstance(getattr(made, "init", "hard"), str):
            made.init = "hard"
        online = getattr(made, "_online", None)
        if online is not None:
            made._online = replace(
                online,
                n_topics=len(self.components_),
                alpha=alpha,
                beta=least_of(prior),
                base=counts.T,
                word_prior=beyond,
                evidence=None,
                kept=None,  # edited topics do not start anew
            )
