"""The author-topic model: the authors of a document own it together, and are what the model is
about.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.choices import AuthorPrior, ScheduleName, WeightingName
from topoi.corpus import Corpus
from topoi.graph.factors import Authors, Documents, Factor
from topoi.models.author_questions import AuthorQuestions
from topoi.models.inputs import author_members, is_for_cluster
from topoi.models.parameters import (
    Callback,
    Init,
    RuleLike,
    Seed,
    SeedsLike,
    Tolerance,
    TopicPrior,
    WordPriorLike,
)

if TYPE_CHECKING:
    from distributed import Client

    from topoi.corpus.given import AuthorsLike
    from topoi.io.given import DocumentsLike

__all__ = ["AuthorTopicModel"]


class AuthorTopicModel(AuthorQuestions):
    """The author-topic model: who writes about what.

    Each author is a mixture of topics. Each message is a distribution over (author, topic) pairs,
    so the words of a document are divided among its authors.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    doc_topic_prior : float, array-like of one float per topic, "learn" or None, default="learn"
        Dirichlet prior of topics in authors (alpha). "learn" estimates one value per topic. None is
        1 / number of topics.
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
    author_prior : {"uniform", "learned"}, default="uniform"
        How likely the authors of a document are: equally, or as their words suggest.
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
    weighting : {"count", "tf", "tfidf", "log"}, default="count"
        Weights that messages carry. Perplexity is always that of raw counts.
    evaluate_every : int, default=5
        Sweeps between two measurements of training perplexity. 0 or -1 measures none, so that `tol`
        cannot stop the run.
    keep_counts : bool, default=True
        Whether the model keeps the counts of the training documents, so that questions compare
        words, too. False saves memory; `predict_authors` then goes by topics alone.
    callbacks : list of callables, default=None
        Called with (state, record) after every sweep; a true answer stops the run.
    verbose : int, default=0
        Whether to show a progress bar.
    seeds : dict of str to list of str, topoi.Seeds or None, default=None
        Words that topics should be about, by topic name, such as {"economy": ["tax", "budget"]}.
        They are the first topics, and get these names. The words have a higher prior there in every
        sweep; `topoi.Seeds` sets its strength.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Expected counts of words in topics, plus the prior.
    topic_word_ : ndarray of shape (n_components, n_features)
        Word proportions of topics; rows sum to 1.
    author_topic_ : ndarray of shape (n_authors, n_components)
        Topic proportions of authors; rows sum to 1.
    author_names_ : ndarray of shape (n_authors,)
        Names of the authors.
    author_counts_ : ndarray of shape (n_authors, n_components)
        Expected tokens of each author and topic.
    author_blend_ : ndarray of shape (3,) or None
        Weights with which `predict_authors` blends words, numbers of documents and topics; None
        without counts or authors.
    doc_topic_ : ndarray of shape (n_documents, n_components)
        Topic proportions of the training documents: those of their authors, mixed. Rows sum to 1.
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
    >>> import topoi
    >>> corpus = topoi.read(["cat dog cat", "dog pet cat", "bond stock bond", "stock market bond"])
    >>> model = topoi.AuthorTopicModel(2).fit(corpus, authors=[["Ann"], ["Ann"], ["Bob"], ["Bob"]])
    >>> model.author_topic_.shape
    (2, 2)
    >>> name, probability = model.who_writes_about("cat pet")[0]
    >>> str(name)
    'Ann'
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        doc_topic_prior: TopicPrior = "learn",
        topic_word_prior: WordPriorLike = "learn",
        max_iter: int = 200,
        tol: Tolerance = 1e-4,
        n_jobs: int | None = None,
        random_state: Seed = 0,
        author_prior: AuthorPrior = "uniform",
        rule: RuleLike = "bp",
        schedule: ScheduleName = "auto",
        init: Init = "hard",
        weighting: WeightingName = "count",
        evaluate_every: int = 5,
        keep_counts: bool = True,
        callbacks: Sequence[Callback] | None = None,
        verbose: int = 0,
        seeds: SeedsLike = None,
    ) -> None:
        self._store(locals())

    n_components: int
    author_prior: AuthorPrior
    keep_counts: bool

    def fit(
        self,
        X: DocumentsLike,
        y: object = None,
        *,
        authors: AuthorsLike | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 10,
        client: Client | None = None,
        keep_documents: bool = True,
    ) -> AuthorTopicModel:
        """Learn topics and authors.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0. On a cluster a list of partitions, Corpora with authors
            or what gives them: file names, functions without arguments, or Delayed.
        y : None
            Not used.
        authors : lists of names or array-like of shape (n_documents, n_authors), default=None
            The authors of each document, by name or as a matrix of 0 and 1. Default: those of a
            Corpus; without any, this is LDA.
        checkpoint : str or Path, default=None
            File to save the run in, and to resume it from; see `LDA.fit`.
        checkpoint_every : int, default=10
            Sweeps between two savings.
        client : dask.distributed.Client, optional
            Fit on the workers of a Dask cluster; see `LDA.fit`. An author may have documents in
            several partitions. Counts of the training documents are not kept
            (`keep_counts=False`).
        keep_documents : bool, default=True
            On a cluster, whether topic proportions of all documents, and who wrote them, come to
            this process.

        Returns
        -------
        AuthorTopicModel
            This model.
        """
        if is_for_cluster(X, client):
            self._fit_on_cluster(X, authors, client, checkpoint, checkpoint_every, keep_documents)
            return self
        corpus = self._corpus(X, reset=True)
        members = author_members(authors, corpus)
        if members is None:
            warnings.warn(
                "No authors were given, so this is LDA; give them with authors=... or in a Corpus.",
                stacklevel=2,
            )
        owners = Documents() if members is None else Authors(members, self.author_prior)
        state = self._fit(corpus.counts, [owners], self.n_components, checkpoint, checkpoint_every)
        self._keep_authors(members, state, corpus.counts if self.keep_counts else None)
        return self

    def _fit_on_cluster(
        self, X: DocumentsLike, authors: AuthorsLike, client: Client | None, *options: Any
    ) -> None:
        """Learn from Corpora with authors, on a cluster."""
        if authors is not None:
            raise ValueError(
                "On a cluster authors come with the documents: each partition is a Corpus with"
                " authors. Leave authors out."
            )
        from topoi.models.cluster import fit_on_cluster  # and what reads partitions
        from topoi.models.partition_factors import PartitionAuthors

        checkpoint, every, keep_documents = options
        fit_on_cluster(
            self,
            X,
            client,
            factor=PartitionAuthors,
            checkpoint=checkpoint,
            checkpoint_every=every,
            keep_documents=keep_documents,
        )

    def transform(
        self,
        X: DocumentsLike,
        authors: AuthorsLike | None = None,
        *,
        author_prior: AuthorPrior | None = None,
        known_authors: bool = True,
    ) -> np.ndarray:
        """Topic proportions of documents.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        authors : lists of names, default=None
            Authors, known or new. Default: those of a Corpus. Documents without authors are judged
            by their words alone.
        author_prior : {"uniform", "learned"}, default=None
            How likely the authors of a document are: equally, or as their words suggest. None: as
            in `fit`.
        known_authors : bool, default=True
            Whether known authors bring what they wrote in training. False learns all authors from X
            alone, which is the protocol of the paper.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Rows sum to 1.
        """
        check_is_fitted(self)
        corpus = self._corpus(X, reset=False)
        factors = self._prediction_factors(
            corpus, authors, author_prior=author_prior, known_authors=known_authors
        )
        return self._proportions(corpus, factors)

    def _prediction_factors(
        self,
        corpus: Corpus,
        authors: AuthorsLike | None = None,
        *,
        author_prior: AuthorPrior | None = None,
        known_authors: bool = True,
    ) -> list[Factor]:
        names = self.author_names_ if known_authors and len(self.author_names_) else None
        members = author_members(authors, corpus, names)
        if members is None:
            return [Documents()]
        base = self.author_counts_ if names is not None else None
        return [Authors(members, author_prior or self.author_prior, base=base)]

    def score(
        self,
        X: DocumentsLike,
        y: object = None,
        *,
        authors: AuthorsLike | None = None,
        **metadata: Any,
    ) -> float:
        """Mean log-likelihood per token, with topic proportions from `transform`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        y : None
            Not used.
        authors : lists of names, default=None
            As in `transform`.
        **metadata
            Passed to `transform`.

        Returns
        -------
        float
            Higher is better.
        """
        return super().score(X, y, authors=authors, **metadata)
