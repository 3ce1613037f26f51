"""A mixture of factors: models nobody wrote a class for."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from topoi.choices import ScheduleName, WeightingName
from topoi.corpus import Corpus
from topoi.explore.editing import Moves
from topoi.explore.updating import Growth
from topoi.graph.factors import (
    Authors,
    Dates,
    Documents,
    Factor,
    Labels,
    Links,
    Words,
    canonical_factor,
)
from topoi.graph.seeds import Seeds, place_seeds
from topoi.graph.weighting import fit_weighting
from topoi.infer.state import State
from topoi.models.author_questions import AuthorQuestions
from topoi.models.label_questions import LabelQuestions
from topoi.models.link_questions import LinkQuestions
from topoi.models.parameters import (
    Callback,
    Init,
    RuleLike,
    Seed,
    Tolerance,
    TopicPrior,
    WordPriorLike,
)

if TYPE_CHECKING:
    from topoi.io.given import DocumentsLike

__all__ = ["TopicModel"]

OF_QUESTIONS = ("author_names_", "classes_", "link_joint_", "links_")  # of an earlier fit


class TopicModel(AuthorQuestions, LinkQuestions, LabelQuestions):
    """A topic model from a list of factors, for models that have no class of their own.

    It answers what its factors allow: with `topoi.Authors` the questions of `AuthorTopicModel`,
    with `topoi.Links` those of `RelationalTopicModel`, with `topoi.Labels` those of `LabeledLDA`,
    and has their fitted attributes.

    Parameters
    ----------
    factors : list of factors, default=()
        `topoi.Words` first, then any of `topoi.Authors`, `topoi.Links`, `topoi.Dates`,
        `topoi.Labels` and `topoi.Seeds`, or factors of your own (docs/extend.md).
    n_components : int, default=10
        Number of topics. Not used with `topoi.Labels`: labels and background are the topics then.
    doc_topic_prior : float, array-like of one float per topic, "learn" or None, default="learn"
        Dirichlet prior of topics in documents (alpha). "learn" estimates one value per topic. None
        is 1 / number of topics.
    topic_word_prior : float, array-like of topics x words, "learn" or None, default="learn"
        Dirichlet prior of words in topics (beta). "learn" estimates one value. An array has a value
        for each topic and word. None is 1 / number of topics.
    max_iter : int, default=200
        Largest number of sweeps over the corpus.
    tol : float, "paper" or "parameters", default=1e-4
        Stop when training perplexity changes by less than this proportion per sweep. 0 makes
        exactly `max_iter` sweeps. "paper" stops when perplexity changes by less than 1 in ten
        sweeps, and measures it every ten whatever `evaluate_every` says; it is a value of `tol`,
        and not an option of the rule, because every rule can stop so and `tol` has no meaning
        beside it. "parameters", the paper's other rule, stops when no proportion of a topic in a
        document, or of a word in a topic, changes by 1e-5 in a sweep. Synthetic data may stay on a
        plateau for dozens of sweeps before the last topics separate: use a smaller `tol` there.
    n_jobs : int or None, default=None
        Number of threads. None is one, -1 all cores. Results are the same bits for any number.
    random_state : int, RandomState, Generator or None, default=0
        Seed. With the default, the same data give the same topics every time. None draws a new one.
    rule : {"bp", "sibp", "cvb0", "vb", "gibbs"} or an object of topoi.rules, default="bp"
        How messages are renewed. A name stands for the rule with its defaults; `topoi.rules` has
        the options, for instance `topoi.rules.BP(messages="none")`.
    schedule : str, default="auto"
        In which order messages are renewed: "auto", "relaxed", "asynchronous", "synchronous",
        "residual", "residual-words", "active" or "incremental" (docs/design.md). With rule "bp",
        "auto" starts from an overcomplete model and merges it to the wanted number of topics; large
        corpora get a few warm-up sweeps without stored messages; over-relaxed sweeps follow, on
        topic lists if there are many topics; the last rounds infer documents afresh. With other
        rules it is the schedule they can use. `history_` says what was done.
    init : {"hard", "soft"}, fitted model or array-like, default="hard"
        How messages start. "hard": a random topic each (with "auto": topics merged from more).
        "soft": random proportions. A model or its topics x words array: from these topics.
        Messages of X, (n_nonzeros, n_components) as `messages` gives them, or the topic of each
        nonzero: from these.
    evaluate_every : int, default=5
        Sweeps between two measurements of training perplexity. 0 or -1 measures none, so that `tol`
        cannot stop the run.
    callbacks : list of callables, default=None
        Called with (state, record) after every sweep; a true answer stops the run. Sweeps that
        learn the link weight before the others have record.schedule "link weight".
    verbose : int, default=0
        Whether to show a progress bar.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Expected counts of words in topics, plus the prior.
    topic_word_ : ndarray of shape (n_components, n_features)
        Word proportions of topics; rows sum to 1.
    doc_topic_ : ndarray of shape (n_documents, n_components)
        Topic proportions of the training documents; rows sum to 1.
    owner_topic_ : ndarray of shape (n_owners, n_components)
        Topic proportions of the owners: authors, or the documents themselves.
    factors_ : list of factors
        The factors with what they learned: names of authors, classes, link weights. Empty in a
        model that was loaded or updated.
    doc_topic_prior_ : ndarray of shape (n_components,)
        Prior of topics, learned or given.
    topic_word_prior_ : float, or ndarray of shape (n_components, n_features)
        Prior of words, learned or given; an array if topics have seeds, or priors of their own.
    topic_proportions_ : ndarray of shape (n_components,)
        Proportion of all training tokens that each topic holds.
    topic_names_ : list of str
        Names given by `name_topics`, and "topic0", "topic1", ... for the others.
    n_iter_ : int
        Number of sweeps done.
    converged_ : bool
        Whether the run stopped by `tol`.
    history_ : list of dict
        One per sweep: sweep, seconds, residual (mean change of a message), perplexity (None where
        it was not measured), schedule (what "auto" chose), violation (how far the messages of one
        document are from a fixed point, per token, at most: 0 to 2) and log_joint (None unless
        `callbacks` has an `evaluate.LogJoint()`).
    weighting_ : Weighting
        The fitted weighting, as a function of counts.
    vocabulary_ : ndarray of shape (n_features,) or None
        The word of each column, if known.
    vectorizer_ : CountVectorizer or None
        What made counts of the training texts, if known.
    documents_ : TrainingDocuments or None
        What is known about the training documents: names, dates, lengths, authors, labels, groups,
        and texts if they were kept. None after `partial_fit`.
    doc_names_ : ndarray of shape (n_documents,) or None
        Names of the training documents, if known.
    n_features_in_ : int
        Number of words.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names of a data frame; absent if X had none.

    Examples
    --------
    >>> from topoi import Authors, Links, TopicModel, Words, datasets
    >>> corpus, _ = datasets.make_links(n_docs=60, n_topics=3)
    >>> names = [["Ann"], ["Bob"], ["Ann", "Bob"]] * 20
    >>> factors = [Words(corpus.counts), Authors(names), Links(corpus.links, 0.15)]
    >>> model = TopicModel(factors, n_components=3).fit()
    >>> model.owner_topic_.shape
    (2, 3)
    """

    weighting: WeightingName = "count"

    def __init__(
        self,
        factors: Sequence[Words | Factor] = (),
        n_components: int = 10,
        *,
        doc_topic_prior: TopicPrior = "learn",
        topic_word_prior: WordPriorLike = "learn",
        max_iter: int = 200,
        tol: Tolerance = 1e-4,
        n_jobs: int | None = None,
        random_state: Seed = 0,
        rule: RuleLike = "bp",
        schedule: ScheduleName = "auto",
        init: Init = "hard",
        evaluate_every: int = 5,
        callbacks: Sequence[Callback] | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    factors: Sequence[Words | Factor]
    n_components: int

    def fit(
        self,
        X: DocumentsLike | None = None,
        y: object = None,
        *,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 10,
    ) -> TopicModel:
        """Learn topics of the documents in the factors.

        Parameters
        ----------
        X, y : None
            Not used: the data are in the factors.
        checkpoint : str or Path, default=None
            File to save the run in, and to resume it from; see `LDA.fit`.
        checkpoint_every : int, default=10
            Sweeps between two savings.

        Returns
        -------
        TopicModel
            This model.
        """
        given = self._checked_factors()
        counts = self._counts(given[0].counts, reset=True)
        # They learn; the given ones stay as they are.
        factors = [canonical_factor(copy(factor), counts.shape[0]) for factor in given]
        kind = given[0].weighting
        self.weighting_ = fit_weighting(kind, counts) if isinstance(kind, str) else kind
        labels = next((factor for factor in factors if isinstance(factor, Labels)), None)
        n_topics = (
            self.n_components if labels is None else len(labels.labels.names) + labels.background
        )
        words = replace(given[0], counts=counts, weighting=self.weighting_)
        usual = [self._usual_name(k) for k in range(n_topics)]
        n_labels = 0 if labels is None else len(labels.labels.names)
        factors = [
            place_seeds(factor, self.vocabulary_, usual, n_labels)
            if isinstance(factor, Seeds)
            else factor
            for factor in factors
        ]
        guides = self._guides(n_topics, counts.shape[1])
        state = self._fit_factors(
            counts, [words, *factors[1:], *guides], n_topics, checkpoint, checkpoint_every
        )
        self.owner_topic_ = state.owner_topic()
        self.factors_ = [_with_learned(factor, state) for factor in factors]
        self._keep_answers(factors, state, counts)
        return self

    def _keep_answers(
        self, factors: Sequence[Factor], state: State, counts: sparse.csr_array
    ) -> None:
        """What questions about authors, links and labels need. Of several Links, the first."""
        for name in OF_QUESTIONS:
            self.__dict__.pop(name, None)
        for factor in factors:
            if isinstance(factor, Authors):
                self._keep_authors(factor.authors, state, counts)
            elif isinstance(factor, Labels):
                self._keep_labels(factor.labels)
            elif isinstance(factor, Links) and not hasattr(self, "links_"):
                self._keep_links(factor, state, counts)
            elif isinstance(factor, Dates):
                self._know(dates=np.array(factor.dates, dtype=str))

    def _growth(self, corpus: Corpus, new_topics: int, **metadata: Any) -> Growth:
        known = (Words, Documents, Authors, Labels, Links, Seeds)
        odd = next((factor for factor in self.factors_ if not isinstance(factor, known)), None)
        if odd is not None or sum(isinstance(factor, Links) for factor in self.factors_) > 1:
            what = "several Links" if odd is None else type(odd).__name__
            raise ValueError(
                f"A TopicModel is updated if its factors are Words, Authors, Labels, Links (once)"
                f" and Seeds; this one has {what}. Fit it again with all documents."
            )
        return super()._growth(corpus, new_topics, **metadata)

    def _keep_growth(self, old: Self, growth: Growth, state: State) -> None:
        super()._keep_growth(old, growth, state)
        before, now = (len(getattr(model, "author_names_", ())) for model in (old, self))
        owners, mine = growth.moved(old.owner_topic_), state.owner_topic()
        self.owner_topic_ = np.vstack([mine[:now], owners[before:], mine[now:]])
        self.factors, self.factors_ = (), []  # they hold the documents before

    def _check_edit(self, moves: Moves) -> None:
        raise ValueError(
            "Topics of a TopicModel cannot be edited: its factors may hold anything about topics."
            " Use LDA, AuthorTopicModel, RelationalTopicModel or LabeledLDA."
        )

    def _checked_factors(self) -> list[Any]:
        """The factors, with an owner of documents; Words come first."""
        factors: list[Any] = list(self.factors)
        if not factors or not isinstance(factors[0], Words):
            raise ValueError(
                "The first factor must be Words(counts): TopicModel([Words(counts), ...])."
            )
        others = [factor for factor in factors if not isinstance(factor, Words)]
        odd = next((factor for factor in others if not hasattr(factor, "add_to")), None)
        if odd is not None:
            raise ValueError(
                f"{odd!r} is not a factor: it has no add_to(plan). See docs/extend.md."
            )
        n_words, n_labels, n_owners = (
            sum(isinstance(factor, kind) for factor in factors)
            for kind in (Words, Labels, Authors | Documents)
        )
        if max(n_words, n_labels, n_owners) > 1:
            raise ValueError(
                "Words and Labels come once, and documents have one kind of owner: give one Words,"
                " one Labels, and one of Authors and Documents."
            )
        return factors if n_owners else [factors[0], Documents(), *factors[1:]]

    def fit_transform(
        self,
        X: DocumentsLike | None = None,
        y: object = None,
        *,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 10,
        **metadata: Any,
    ) -> np.ndarray:
        """Fit; topic proportions of the factors' documents.

        Parameters
        ----------
        X, y : None
            Not used: the data are in the factors.
        checkpoint : str or Path, default=None
            As in `fit`.
        checkpoint_every : int, default=10
            As in `fit`.
        **metadata
            Passed to `fit`.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Rows sum to 1.
        """
        return self.fit(
            X, y, checkpoint=checkpoint, checkpoint_every=checkpoint_every, **metadata
        ).doc_topic_


def _with_learned(factor: Any, state: State) -> Any:
    """A factor that is a field as a copy with the weight and tables that the run has learned; any
    other factor as it is.
    """
    for field, learned in zip(state.graph.fields, state.learned, strict=True):
        if field is factor:
            factor = copy(factor)
            factor.weight = learned.weight
            vars(factor).update(learned.tables)
    return factor
