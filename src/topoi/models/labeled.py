"""Labeled LDA: topics are labels, and a document uses its own."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import ClassifierTags, Tags

from topoi.choices import ScheduleName, WeightingName
from topoi.corpus import Corpus
from topoi.corpus.metadata import is_table, label_membership, one_each
from topoi.graph.factors import Documents, Factor, Labels, canonical_factor
from topoi.models.from_source import FromSource
from topoi.models.inputs import is_for_cluster, is_source
from topoi.models.label_questions import LabelQuestions
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

    from topoi.corpus.given import LabelsLike
    from topoi.io.given import DocumentsLike
    from topoi.io.source import Source

__all__ = ["LabeledLDA"]


class LabeledLDA(FromSource, LabelQuestions):
    """Labeled LDA: one topic per label.

    A document uses the topics of its labels only, so each of its words is traced to one of them.
    Labels of new documents are predicted from their words.

    Parameters
    ----------
    background_topics : int, default=0
        Number of topics beside the labels, which every document may use. They take words that say
        nothing about labels, and some that do: labels are predicted worse with them, so there are
        none by default.
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
    threshold : float, default=0.5
        Where documents have several labels, `predict` gives those with at least this fraction of
        the largest proportion.
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
    callbacks : list of callables, default=None
        Called with (state, record) after every sweep; a true answer stops the run.
    verbose : int, default=0
        Whether to show a progress bar.
    seeds : dict of str to list of str, topoi.Seeds or None, default=None
        Words that labels should be about, by label, such as {"economy": ["tax", "budget"]}; other
        names take background topics. The words have a higher prior there in every sweep;
        `topoi.Seeds` sets its strength.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels. Topic k belongs to classes_[k]; background topics come after them.
    components_ : ndarray of shape (n_topics, n_features)
        Expected counts of words in topics, plus the prior.
    topic_word_ : ndarray of shape (n_topics, n_features)
        Word proportions of topics; rows sum to 1.
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        Topic proportions of the training documents; rows sum to 1.
    doc_topic_prior_ : ndarray of shape (n_topics,)
        Prior of topics, learned or given.
    topic_word_prior_ : float, or ndarray of shape (n_topics, n_features)
        Prior of words, learned or given; an array if topics have seeds, or priors of their own.
    topic_proportions_ : ndarray of shape (n_topics,)
        Proportion of all training tokens that each topic holds.
    topic_names_ : list of str
        The labels, then "background0", "background1", ..., unless `name_topics` gave others.
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
    >>> model = topoi.LabeledLDA().fit(corpus, ["animals", "animals", "money", "money"])
    >>> model.predict(corpus).tolist()
    ['animals', 'animals', 'money', 'money']
    """

    def __init__(
        self,
        background_topics: int = 0,
        *,
        doc_topic_prior: TopicPrior = "learn",
        topic_word_prior: WordPriorLike = "learn",
        max_iter: int = 200,
        tol: Tolerance = 1e-4,
        n_jobs: int | None = None,
        random_state: Seed = 0,
        threshold: float = 0.5,
        rule: RuleLike = "bp",
        schedule: ScheduleName = "auto",
        init: Init = "hard",
        weighting: WeightingName = "count",
        evaluate_every: int = 5,
        callbacks: Sequence[Callback] | None = None,
        verbose: int = 0,
        seeds: SeedsLike = None,
    ) -> None:
        self._store(locals())

    background_topics: int
    threshold: float
    _parameters_at_least: ClassVar[dict[str, int]] = {
        "max_iter": 1,
        "evaluate_every": -1,
        "background_topics": 0,
    }

    def fit(
        self,
        X: DocumentsLike,
        y: LabelsLike | None = None,
        *,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 10,
        client: Client | None = None,
        keep_documents: bool = True,
    ) -> LabeledLDA:
        """Learn one topic per label.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Corpus of shape (n_documents, n_features)
            Counts or weights, at least 0. Or a `topoi.Source` with labels; see `LDA.fit`.
        y : lists of labels, labels or array-like of shape (n_documents, n_classes), default=None
            A list of labels for each document, one label each, or an indicator matrix of 0 and 1. A
            document without labels (empty list, None, NaN) uses all topics. Default: the labels of
            a Corpus.
        checkpoint : str or Path, default=None
            File to save the run in, and to resume it from; see `LDA.fit`.
        checkpoint_every : int, default=10
            Sweeps between two savings.
        client : dask.distributed.Client, optional
            Fit on the workers of a Dask cluster; see `LDA.fit`. X is then a list of partitions,
            Corpora with labels or what gives them.
        keep_documents : bool, default=True
            On a cluster, whether topic proportions of all documents come to this process.

        Returns
        -------
        LabeledLDA
            This model.
        """
        part = self.threshold
        if not isinstance(part, float | int | np.number) or not 0 < part <= 1:
            raise ValueError(
                f"threshold is {part!r}; expected a fraction of the largest proportion, above 0 and"
                " at most 1."
            )
        if is_for_cluster(X, client):
            self._fit_on_cluster(X, y, client, checkpoint, checkpoint_every, keep_documents)
            return self
        if is_source(X):
            return self._fit_labels_of(X, y, checkpoint)
        corpus = self._corpus(X, reset=True)
        if _is_column(y):
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected.",
                DataConversionWarning,
                stacklevel=2,
            )
        labels = corpus.labels if y is None else label_membership(y, corpus.n_docs, "y")
        if labels is None:
            raise ValueError(
                "LabeledLDA requires y to be passed, but the target y is None. Give the labels of"
                " each document, or use LDA for topics without labels."
            )
        classes = labels.names
        if not labels.matrix.nnz:
            raise ValueError("y holds no label at all. For topics without labels use LDA.")
        if classes.dtype.kind == "f" and (classes != np.round(classes)).any():
            raise ValueError(
                "Unknown label type: y is continuous. Give labels; for numbers use a regression on"
                " topic proportions."
            )
        self._keep_labels(labels, as_matrix=y is not None and is_table(one_each(y)))
        if not self._seen.all():
            missing = ", ".join(map(str, classes[~self._seen][:5]))
            warnings.warn(
                f"No document has the label {missing}, so it is never predicted.", stacklevel=2
            )
        factors: list[Factor] = [Documents(), Labels(labels, self.background_topics)]
        self._fit(
            corpus.counts,
            factors,
            len(classes) + self.background_topics,
            checkpoint,
            checkpoint_every,
        )
        return self

    def _fit_on_cluster(
        self, X: DocumentsLike, y: LabelsLike, client: Client | None, *options: Any
    ) -> None:
        """Learn from Corpora with labels, on a cluster."""
        if y is not None:
            raise ValueError(
                "On a cluster labels come with the documents: each partition is a Corpus with"
                " labels. Leave y out."
            )
        from topoi.models.cluster import fit_on_cluster  # and what reads partitions
        from topoi.models.partition_factors import PartitionLabels

        checkpoint, every, keep_documents = options
        fit_on_cluster(
            self,
            X,
            client,
            factor=PartitionLabels,
            checkpoint=checkpoint,
            checkpoint_every=every,
            keep_documents=keep_documents,
        )

    def _fit_labels_of(
        self, source: Source, y: LabelsLike, checkpoint: str | Path | None
    ) -> LabeledLDA:
        """Fit on documents that are read block by block, with the labels of a Source."""
        if y is not None:
            raise ValueError(
                "y is given beside a Source, which has its own labels; leave y out, and name their"
                " column in topoi.Source(..., labels=...)."
            )
        labels = [block.labels for block in source if block.labels is not None]
        names = [part.names[np.diff(part.matrix.tocsc().indptr) > 0].astype(str) for part in labels]
        if not any(map(len, names)):
            raise ValueError(
                "The source has no labels; name their column in topoi.Source(..., labels=...), or"
                " use LDA for topics without labels."
            )
        self._begin_source(source)
        self.classes_ = np.unique(np.concatenate(names))
        self._seen, self._as_matrix = np.ones(len(self.classes_), bool), False
        self._single = all(bool((part.counts() <= 1).all()) for part in labels)

        def factors(corpus: Corpus) -> list[Factor]:
            if corpus.labels is None:
                return [Documents()]
            factor = Labels(corpus.labels.tolist(), self.background_topics, self.classes_)
            return [Documents(), canonical_factor(factor, corpus.n_docs)]

        n_topics = len(self.classes_) + self.background_topics
        self._fit_source(source, factors, n_topics, checkpoint)
        return self

    def _prediction_factors(self, corpus: Corpus, labels: LabelsLike | None = None) -> list[Factor]:
        if labels is None:
            return [Documents()]
        factor = Labels(labels, self.background_topics, self.classes_)
        return [Documents(), canonical_factor(factor, corpus.n_docs)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.target_tags.required = True
        # Poor on the clouds of points that scikit-learn tries, as naive Bayes is.
        tags.classifier_tags = ClassifierTags(multi_label=True, poor_score=True)
        return tags


def _is_column(y: LabelsLike) -> bool:
    return is_table(y) and y.shape[1] == 1
