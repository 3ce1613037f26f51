"""Latent Dirichlet allocation: words, and each document its own owner."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from topoi.choices import ScheduleName, WeightingName
from topoi.explore.updating import Growth
from topoi.graph.factors import Documents
from topoi.infer.state import State
from topoi.models.batches import BatchModel
from topoi.models.inputs import is_for_cluster, is_source
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
from topoi.models.updating import Updating

if TYPE_CHECKING:
    from distributed import Client

    from topoi.io.given import DocumentsLike

__all__ = ["LDA"]


class LDA(Updating, BatchModel):
    """Latent Dirichlet allocation by belief propagation.

    Each document is a mixture of topics, each topic a distribution over words.

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
    batch_size : int or None, default=None
        Learn from blocks of this many documents in turn: messages take the memory of one block,
        the others are kept on disk in brief, and topics are about as good as those of all at once.
        None, or as many as there are documents, takes them at once. These are not scikit-learn's
        mini-batches; `partial_fit` and `LatentDirichletAllocation` have those.
    learning_decay : float, default=0.7
        Exponent with which the influence of older batches of `partial_fit` falls, 0 to 1, as in
        scikit-learn.
    learning_offset : float, default=10.0
        Offset that lowers the influence of the first batches of `partial_fit`, at least 1, as in
        scikit-learn.
    total_samples : float, default=1e6
        Number of documents that `partial_fit` will have seen in the end.
    evaluate_every : int, default=5
        Sweeps between two measurements of training perplexity. 0 or -1 measures none, so that `tol`
        cannot stop the run.
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
    doc_topic_ : ndarray of shape (n_documents, n_components)
        Topic proportions of the training documents; rows sum to 1. Absent after `partial_fit`.
    doc_topic_prior_ : ndarray of shape (n_components,)
        Prior of topics, learned or given.
    topic_word_prior_ : float, or ndarray of shape (n_components, n_features)
        Prior of words, learned or given; an array if topics have seeds, or priors of their own.
    topic_proportions_ : ndarray of shape (n_components,)
        Proportion of all training tokens that each topic holds.
    topic_names_ : list of str
        Names given by `name_topics`, and "topic0", "topic1", ... for the others.
    n_iter_ : int
        Number of sweeps done; after `partial_fit`, of batches.
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
    >>> texts = ["cat dog cat pet", "dog pet cat dog", "bond stock bond", "market bond stock"]
    >>> corpus = topoi.read(texts * 10)
    >>> model = topoi.LDA(2, random_state=0).fit(corpus)
    >>> sorted(sorted(words) for words in model.top_words(3))
    [['bond', 'market', 'stock'], ['cat', 'dog', 'pet']]
    >>> model.transform(corpus).shape
    (40, 2)
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
        rule: RuleLike = "bp",
        schedule: ScheduleName = "auto",
        init: Init = "hard",
        weighting: WeightingName = "count",
        batch_size: int | None = None,
        learning_decay: float = 0.7,
        learning_offset: float = 10.0,
        total_samples: float = 1e6,
        evaluate_every: int = 5,
        callbacks: Sequence[Callback] | None = None,
        verbose: int = 0,
        seeds: SeedsLike = None,
    ) -> None:
        self._store(locals())

    def fit(
        self,
        X: DocumentsLike,
        y: object = None,
        *,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 10,
        client: Client | None = None,
        keep_documents: bool = True,
    ) -> LDA:
        """Learn topics.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0. On a cluster a dask array of counts, a dask bag or column
            of texts, or a list of partitions: matrices, Corpora, file names, functions without
            arguments that return one of these, or Delayed. A `topoi.Source` is read block by
            block, again and again: memory does not grow with the number of documents, whose
            proportions are not kept (no `doc_topic_`); `transform(source)` computes them.
        y : None
            Not used.
        checkpoint : str or Path, default=None
            A file to save the run in. If it exists, it must be of the same run, which resumes from
            it and ends in the same bits as one that was never interrupted. While the run uses it,
            other runs are refused it. The checkpoint of a finished run stays until the model is on
            disk: `save` removes it. Until then the same fit returns the same model from it at
            once; delete the file to fit again. A fit of another run may replace it only in the
            process that finished it, where the caller has had the model.
        checkpoint_every : int, default=10
            Sweeps between two savings. A run over a Source is saved after every sweep, with a
            folder (the checkpoint's name and .blocks) for what its blocks keep.
        client : dask.distributed.Client, optional
            Fit on the workers of a Dask cluster, with schedule="incremental". Partitions decide
            the result, not workers. `n_jobs` is the number of threads of a task. A checkpoint is
            then a folder that this process and all workers can reach.
        keep_documents : bool, default=True
            On a cluster, whether topic proportions of all documents come to this process; without
            them there is no `doc_topic_`.

        Returns
        -------
        LDA
            This model.
        """
        self._online = None
        if is_for_cluster(X, client):
            from topoi.models.cluster import fit_on_cluster  # and what reads partitions

            fit_on_cluster(
                self,
                X,
                client,
                checkpoint=checkpoint,
                checkpoint_every=checkpoint_every,
                keep_documents=keep_documents,
            )
            return self
        size = self._batch_size()
        if is_source(X):
            if size is not None:
                raise ValueError(
                    "A Source has blocks of its own; leave batch_size out, and give block_size to"
                    " the Source."
                )
            self._begin_source(X)
            self._fit_source(X, lambda corpus: [Documents()], self.n_components, checkpoint)
            return self
        counts = self._counts(X, reset=True)
        if size is not None and size < counts.shape[0]:
            self._fit_batches(counts, size, checkpoint, checkpoint_every)
        else:
            self._fit(counts, [Documents()], self.n_components, checkpoint, checkpoint_every)
        return self

    def _keep_growth(self, old: Self, growth: Growth, state: State) -> None:
        super()._keep_growth(old, growth, state)
        self._online = None
