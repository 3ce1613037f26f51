"""The relational topic model: linked documents have similar topics."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from topoi.choices import LinkFactor, ScheduleName, WeightingName
from topoi.corpus import Corpus
from topoi.graph.factors import Documents, Factor
from topoi.graph.links import Links
from topoi.models.inputs import both_ways, links_of_new, links_of_training, refuse_cluster
from topoi.models.link_questions import LinkQuestions
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
    from topoi.corpus.given import LinksLike, NamesLike
    from topoi.io.given import DocumentsLike

__all__ = ["RelationalTopicModel"]


class RelationalTopicModel(LinkQuestions):
    """The relational topic model: documents that cite, follow or point at each other.

    Linked documents send each other their topic proportions once per sweep.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
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
    link_weight : float or "learn", default="learn"
        How much of a document's topics its neighbours decide (xi), from 0 to below 1. The paper
        uses 0.15. "learn" estimates it on a tenth of the tokens.
    link_factor : {"learned", "paper", "identity"}, default="learned"
        Which topics link to which (eta). "learned" estimates the table by EM. "paper" counts co-
        occurrences (eq. 28). "identity" lets linked documents agree directly.
    directed : bool, default=False
        Whether links count in the given direction only.
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
        words, too. False saves memory; links are then ranked by topics alone.
    callbacks : list of callables, default=None
        Called with (state, record) after every sweep; a true answer stops the run. Sweeps that
        learn the link weight before the others have record.schedule "link weight".
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
    doc_topic_ : ndarray of shape (n_documents, n_components)
        Topic proportions of the training documents, with those of their neighbours. Rows sum to 1.
    link_blend_ : ndarray of shape (6,) or None
        Weights with which `recommend_links` blends words, neighbours and topics; None without
        counts or links.
    own_topic_ : ndarray of shape (n_documents, n_components)
        Topic proportions of the training documents without those of their neighbours.
    link_weight_ : float
        Link weight (xi), learned or given.
    link_topic_ : ndarray of shape (n_components, n_components)
        Topics of the neighbours of each topic (eta); rows sum to 1.
    link_joint_ : ndarray of shape (n_components, n_components)
        Joint proportions of the topics at both ends of a link; all sum to 1.
    links_ : csr_array of shape (n_documents, n_documents)
        The links of training.
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
    >>> from topoi import RelationalTopicModel, datasets
    >>> corpus, _ = datasets.make_links(n_docs=60, n_topics=3)
    >>> model = RelationalTopicModel(3, link_weight=0.15).fit(corpus)
    >>> model.link_topic_.shape
    (3, 3)
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
        link_weight: float | Literal["learn"] = "learn",
        link_factor: LinkFactor = "learned",
        directed: bool = False,
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
    link_weight: float | Literal["learn"]
    link_factor: LinkFactor
    directed: bool
    keep_counts: bool

    def fit(
        self,
        X: DocumentsLike,
        y: object = None,
        *,
        links: LinksLike | None = None,
        doc_names: NamesLike | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 10,
        client: object = None,
    ) -> RelationalTopicModel:
        """Learn topics of linked documents.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        y : None
            Not used.
        links : array-like, sparse matrix, pairs or lists of neighbours, default=None
            A documents x documents matrix, pairs (m, 2) of document numbers, or a list of
            neighbours for each document. Default: the links of a Corpus; without any, this is LDA.
        doc_names : sequence, default=None
            Names of the documents, if links give names. Names of documents that are not here are
            left out, so lists of names survive cross-validation. Default: those of a Corpus.
        checkpoint : str or Path, default=None
            File to save the run in, and to resume it from; see `LDA.fit`.
        checkpoint_every : int, default=10
            Sweeps between two savings.
        client : None
            Refused, with the reason: links connect documents of different partitions.

        Returns
        -------
        RelationalTopicModel
            This model.
        """
        refuse_cluster(client)
        corpus = self._corpus(X, reset=True)
        table, names = links_of_training(links, doc_names, corpus)
        if table is None:
            warnings.warn(
                "No links were given, so this is LDA; give them with links=... or in a Corpus.",
                stacklevel=2,
            )
            table = sparse.csr_array((corpus.n_docs, corpus.n_docs))
        factor = Links(table, self.link_weight, self.link_factor, self.directed)
        saves = checkpoint, checkpoint_every
        state = self._fit(corpus.counts, [Documents(), factor], self.n_components, *saves)
        self._know(names=None if names is None else np.array(names, dtype=str))
        self._keep_links(factor, state, corpus.counts if self.keep_counts else None)
        return self

    def fit_transform(self, X: DocumentsLike, y: object = None, **metadata: Any) -> np.ndarray:
        """Fit, then the topic proportions of the same documents as `transform` gives them, with
        their links.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        y : None
            Not used.
        **metadata
            Passed to `fit`.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Rows sum to 1.
        """
        return self.fit(X, y, **metadata).transform(X, self.links_)

    def score(
        self,
        X: DocumentsLike,
        y: object = None,
        *,
        links: LinksLike | None = None,
        doc_names: NamesLike | None = None,
        **metadata: Any,
    ) -> float:
        """Mean log-likelihood per token, with topic proportions from `transform`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        y : None
            Not used.
        links : array-like, sparse matrix or lists of neighbours, default=None
            As in `transform`.
        doc_names : sequence, default=None
            As in `transform`.
        **metadata
            Passed to `transform`.

        Returns
        -------
        float
            Higher is better.
        """
        return super().score(X, y, links=links, doc_names=doc_names, **metadata)

    def transform(
        self,
        X: DocumentsLike,
        links: LinksLike | None = None,
        *,
        doc_names: NamesLike | None = None,
    ) -> np.ndarray:
        """Topic proportions of documents.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0.
        links : array-like, sparse matrix or lists of neighbours, default=None
            With D new documents and N of training: a matrix (D, N) of links to training documents,
            (D, N + D) with links among the new ones after them, or (D, D) with only these (if D
            differs from N). Or lists of neighbours: numbers below N are training documents, N + i
            is new document i. Default: the links of a Corpus among its own documents, or words
            alone.
        doc_names : sequence, default=None
            Names of the new documents, if links give names.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Rows sum to 1.
        """
        check_is_fitted(self)
        corpus = self._corpus(X, reset=False)
        factors = self._prediction_factors(corpus, links, doc_names=doc_names)
        return self._proportions(corpus, factors)

    def _prediction_factors(
        self, corpus: Corpus, links: LinksLike | None = None, *, doc_names: NamesLike | None = None
    ) -> list[Factor]:
        n_old = self.links_.shape[0]
        table = None
        if self.link_weight_ != 0:
            table = links_of_new(links, corpus, n_old, doc_names, self.doc_names_)
        if table is None:
            return [Documents()]
        table = table if self.directed else both_ways(table, n_old)
        own = self.own_topic_.astype(np.float64)
        how = self.link_weight_, self.link_factor, self.directed
        return [Documents(), Links(table, *how, fixed_proportions=own, eta=self.link_topic_)]
