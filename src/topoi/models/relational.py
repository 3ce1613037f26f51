"""The relational topic model: linked documents tell each other their topics."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from topoi.choices import LinkFactor, ScheduleName, WeightingName
from topoi.corpus import Corpus
from topoi.corpus.metadata import (
    adjacency,
    as_csr,
    is_table,
    neighbour_pairs,
    neighbours_by_id,
    symmetric,
    whole_pairs,
)
from topoi.graph.factors import Documents, Links
from topoi.models.base import TopicModelBase
from topoi.models.parameters import Callback, Init, Prior, RuleLike, Seed, Tolerance, TopicPrior

__all__ = ["RelationalTopicModel"]


class RelationalTopicModel(TopicModelBase):
    """The relational topic model: documents that cite, follow or point at each other.

    Linked documents tell each other their topics once per sweep.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    doc_topic_prior : float, array-like of one float per topic, "learn" or None, default="learn"
        Dirichlet prior of topics in documents (alpha). "learn" estimates one value per topic. None
        is 1 / number of topics.
    topic_word_prior : float, "learn" or None, default="learn"
        Dirichlet prior of words in topics (beta). "learn" estimates one value. None is 1 / number
        of topics.
    max_iter : int, default=200
        Largest number of sweeps over the corpus.
    tol : float or "paper", default=1e-4
        Stop when training perplexity changes by less than this proportion per sweep. 0 makes
        exactly `max_iter` sweeps. "paper" stops when perplexity changes by less than 1 in ten
        sweeps, and measures it every ten whatever `evaluate_every` says; it is a value of `tol`,
        and not an option of the rule, because every rule can stop so and `tol` has no meaning
        beside it. Synthetic data may stay on a plateau for dozens of sweeps before the last topics
        separate: use a smaller `tol` there.
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
    weighting : {"count", "tf", "tfidf", "log"}, default="count"
        Weights that messages carry. Perplexity is always that of raw counts.
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
        Topic proportions of the training documents, with what neighbours say. Rows sum to 1.
    own_topic_ : ndarray of shape (n_documents, n_components)
        Topic proportions of the training documents without what neighbours say.
    link_weight_ : float
        Link weight (xi), learned or given.
    link_topic_ : ndarray of shape (n_components, n_components)
        Topics of the neighbours of each topic (eta); rows sum to 1.
    link_joint_ : ndarray of shape (n_components, n_components)
        Joint proportions of the topics at both ends of a link; all sum to 1.
    links_ : csr_array of shape (n_documents, n_documents)
        The links of training.
    doc_ids_ : list or None
        Ids of the training documents, if known.
    doc_topic_prior_ : ndarray of shape (n_components,)
        Prior of topics, learned or given.
    topic_word_prior_ : float
        Prior of words, learned or given.
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
        it was not measured) and schedule (what "auto" chose).
    weighting_ : Weighting
        The fitted weighting, as a function of counts.
    vocabulary_ : ndarray of shape (n_features,) or None
        The word of each column, if known.
    vectorizer_ : CountVectorizer or None
        What made counts of the training texts, if known.
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
    >>> model.doc_topic_.shape
    (60, 3)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        doc_topic_prior: TopicPrior = "learn",
        topic_word_prior: Prior = "learn",
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
        callbacks: Sequence[Callback] | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    n_components: int
    link_weight: float | Literal["learn"]
    link_factor: LinkFactor
    directed: bool

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        links: Any = None,
        doc_ids: Any = None,
        checkpoint: Any = None,
        checkpoint_every: int = 10,
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
        doc_ids : sequence, default=None
            Ids of the documents, if links name ids. Ids of documents that are not here are left
            out, so lists of ids survive cross-validation. Default: names of documents in a Corpus.
        checkpoint : str or Path, default=None
            File to save the run in, and to resume it from; see `LDA.fit`.
        checkpoint_every : int, default=10
            Sweeps between two savings.

        Returns
        -------
        RelationalTopicModel
            This model.
        """
        by_id = doc_ids is not None and links is not None
        links = getattr(X, "links", None) if links is None else links
        doc_ids = getattr(X, "doc_names", None) if doc_ids is None else doc_ids
        if links is None:
            warnings.warn(
                "No links were given, so this is LDA; give them with links=... or in a Corpus.",
                stacklevel=2,
            )
        counts = self._counts(X, reset=True)
        n_docs = counts.shape[0]
        if doc_ids is not None and len(doc_ids) != n_docs:
            raise ValueError(
                f"doc_ids names {len(doc_ids)} documents but X has {n_docs}; give one id per"
                " document."
            )
        links = neighbours_by_id(links, doc_ids) if by_id else links
        table = sparse.csr_array((n_docs, n_docs)) if links is None else adjacency(links, n_docs)
        factor = Links(table, self.link_weight, self.link_factor, self.directed)
        state = self._fit(
            counts, [Documents(), factor], self.n_components, checkpoint, checkpoint_every
        )
        self.link_weight_ = float(factor.weight) if factor in state.graph.plan.fields else 0.0
        joint = np.eye(state.graph.n_topics) if factor.joint is None else factor.joint
        joint = (joint + joint.T) / 2 + 1e-6 * joint.mean()
        self.link_joint_ = joint / joint.sum()
        self.link_topic_ = np.eye(state.graph.n_topics) if factor.eta is None else factor.eta
        self.links_ = factor.adjacency
        self.own_topic_ = state.own_topic().astype(self._dtype)
        self.doc_ids_ = (
            None
            if doc_ids is None
            else [key.item() if isinstance(key, np.generic) else key for key in doc_ids]
        )
        return self

    def fit_transform(self, X: Any, y: Any = None, **metadata: Any) -> np.ndarray:
        """Fit, then the topic proportions of the same documents as `transform` gives them, with
        their links.
        """
        return self.fit(X, y, **metadata).transform(X, self.links_)

    def score(
        self, X: Any, y: Any = None, *, links: Any = None, doc_ids: Any = None, **metadata: Any
    ) -> float:
        """Mean log-likelihood per token of X, with topic proportions from `transform`; higher is
        better.
        """
        return super().score(X, y, links=links, doc_ids=doc_ids, **metadata)

    def transform(self, X: Any, links: Any = None, *, doc_ids: Any = None) -> np.ndarray:
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
        doc_ids : sequence, default=None
            Ids of the new documents, if links name ids.

        Returns
        -------
        ndarray of shape (n_documents, n_components)
            Rows sum to 1.
        """
        check_is_fitted(self)
        weights = self.weighting_(self._counts(X, reset=False))
        if links is None and getattr(X, "links", None) is not None:
            links = sparse.hstack(
                [sparse.csr_array((X.n_docs, len(self.doc_topic_))), adjacency(X.links, X.n_docs)]
            )
        if links is None or self.link_weight_ == 0:
            return self._fold_in(weights).astype(self._dtype)
        factor = Links(
            self._new_links(links, doc_ids, weights.shape[0]),
            self.link_weight_,
            self.link_factor,
            self.directed,
            known=self.own_topic_.astype(np.float64),
            eta=self.link_topic_,
        )
        return self._fold_in_state(weights, [Documents(), factor]).doc_topic().astype(self._dtype)

    def _new_links(self, links: Any, doc_ids: Any, n_new: int) -> sparse.csr_array:
        """(D, N + D) links of new documents to training documents and among themselves, the latter
        both ways unless directed.
        """
        n_old = self.links_.shape[0]
        if doc_ids is not None:
            if self.doc_ids_ is None:
                raise ValueError(
                    "This model was fitted without doc_ids, so it cannot know ids of training"
                    " documents; give their numbers."
                )
            links = neighbours_by_id(links, doc_ids, self.doc_ids_)
        if not is_table(links):
            if len(links) != n_new:
                raise ValueError(
                    f"links lists the neighbours of {len(links)} documents but X has {n_new}; give"
                    " one list per document."
                )
            ends = neighbour_pairs(links)
            bad = ends[(ends[:, 1] < 0) | (ends[:, 1] >= n_old + n_new), 1]
            if len(bad):
                raise ValueError(
                    f"links names document {bad[0]}; training documents are 0 to {n_old - 1}, new"
                    f" ones {n_old} to {n_old + n_new - 1}."
                )
            links = sparse.csr_array(
                (np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n_new, n_old + n_new)
            )
        table = as_csr(links, "links")
        if table.shape == (n_new, n_old):
            table = sparse.csr_array(sparse.hstack([table, sparse.csr_array((n_new, n_new))]))
        elif table.shape == (n_new, n_new):
            table = sparse.csr_array(sparse.hstack([sparse.csr_array((n_new, n_old)), table]))
        if table.shape != (n_new, n_old + n_new):
            raise ValueError(
                f"links has shape {table.shape}; expected ({n_new}, {n_old}) to training documents"
                f" or ({n_new}, {n_old + n_new}) to all."
            )
        if self.directed:
            return table
        among = symmetric(sparse.csr_array(table[:, n_old:]))
        return sparse.csr_array(sparse.hstack([table[:, :n_old], among], format="csr"))

    def _places(self, pairs: np.ndarray) -> np.ndarray:
        """(m, 2) numbers of training documents, from numbers or from ids that are text."""
        if pairs.dtype.kind in "UO" and self.doc_ids_ is not None:
            number = {key: i for i, key in enumerate(self.doc_ids_)}
            unknown = next((key for key in pairs.ravel().tolist() if key not in number), None)
            if unknown is not None:
                raise ValueError(
                    f"pairs names {unknown!r}, which is not a id of a training document."
                )
            return np.array(
                [[number[key] for key in pair] for pair in pairs], dtype=np.int64
            ).reshape(-1, 2)
        pairs = whole_pairs(pairs)
        bad = pairs[(pairs < 0) | (pairs >= len(self.doc_topic_))]
        if len(bad):
            raise ValueError(
                f"pairs names document {bad[0]}; training documents are numbered 0 to"
                f" {len(self.doc_topic_) - 1}."
            )
        return pairs

    def _speak(self, proportions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m, K) square roots of topic proportions, and what they say through the link table;
        scaled so that a document has the score 1 with itself.
        """
        marginal = np.sqrt(self.link_joint_.sum(axis=1))
        table = self.link_joint_ / np.outer(marginal, marginal)
        root = np.sqrt(proportions)
        root = root / np.sqrt(np.einsum("ik,kl,il->i", root, table, root))[:, None]
        return root, root @ table

    def link_scores(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Scores of document pairs: how well they agree through the table of topics that link.

        Parameters
        ----------
        first, second : ndarray of shape (n_pairs, n_components)
            Topic proportions of both ends.

        Returns
        -------
        ndarray of shape (n_pairs,)
            1 is the score of a document with itself; where few links were seen, pairs of topics
            that link may score higher.
        """
        return np.einsum("ik,ik->i", self._speak(first)[1], self._speak(second)[0])

    def predict_links(self, pairs_or_X: Any, n: int = 10) -> Any:
        """Scores of pairs, or recommendations for new documents.

        pairs (m, 2) of training document numbers, or of ids that are text: (m,) scores, higher =
        likelier. X (documents x words): for each document a list of n (training document, score),
        best first; training documents by id if fit knew ids.
        """
        check_is_fitted(self)
        proportions = self.doc_topic_.astype(np.float64)
        if (
            not sparse.issparse(pairs_or_X)
            and not isinstance(pairs_or_X, Corpus)
            and self.n_features_in_ != 2
        ):
            pairs = np.asarray(pairs_or_X)
            if not pairs.size or (pairs.ndim == 2 and pairs.shape[1] == 2):
                ends = self._places(pairs.reshape(-1, 2))
                return self.link_scores(proportions[ends[:, 0]], proportions[ends[:, 1]])
        names = range(len(proportions)) if self.doc_ids_ is None else self.doc_ids_
        known, recommended = self._speak(proportions)[0], []
        for spoken in self._speak(np.asarray(self.transform(pairs_or_X), dtype=np.float64))[1]:
            scores = known @ spoken
            recommended.append(
                [(names[i], float(scores[i])) for i in np.argsort(-scores, kind="stable")[:n]]
            )
        return recommended
