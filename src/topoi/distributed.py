"""LDA over a Dask cluster: documents stay where they are, and only what words hold travels.

    from dask.distributed import Client
    model = topoi.distributed.fit(topoi.LDA(100), ["part0.npz", "part1.npz"], client=Client("scheduler:8786"))

The parts decide the result, not the workers: on one worker or on twenty, topics are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from topoi.corpus import Corpus
from topoi.graph.factors import fit_weighting
from topoi.graph.wiring import Plan
from topoi.infer.crew import Crew
from topoi.infer.priors import PriorLearner
from topoi.infer.schedules import make_schedule
from topoi.infer.shards import Shard, everywhere, run_shards, shared_pace
from topoi.infer.wide import wide_topics
from topoi.models.base import refuse_light_weights, refuse_what_does_not_fit, warn_of_heavy_weights
from topoi.models.lda import LDA
from topoi.text import read

__all__ = ["fit", "transform"]

NO_SHARDS = "Over parts only LDA with rule 'bp', 'sibp' or 'cvb0', schedule 'auto', 'relaxed' or 'asynchronous', stored messages and weighting 'count' can be fitted"


class Part(Shard):
    """A shard that has read its documents, where it is. part: a matrix, a Corpus, a file of counts, or a function that returns one of these."""

    def __init__(self, part: Any, model: LDA, number: int, seed: int) -> None:
        documents = part() if callable(part) else part
        documents = read(documents) if isinstance(documents, str | Path) else documents
        self.model, self.names = model, getattr(documents, "doc_names", None)
        super().__init__(model._counts(documents, reset=number == 0), model.n_components, number, seed, model.n_jobs)

    def seen(self) -> dict[str, Any]:
        """What the first part has taught of words and types, for the others."""
        return self.model.__dict__

    def check(self, schedule: str) -> None:
        """Refuse or warn of what a fit could not do, before it takes memory."""
        rule = self.model._check_parameters()
        refuse_what_does_not_fit(self.plan, rule, schedule)
        warn_of_heavy_weights(self.plan, rule)

    def document_names(self) -> list[str] | None:
        return None if self.names is None else list(map(str, self.names))

    def shares(self) -> np.ndarray:
        """(documents, K) topic shares under the topics of the model."""
        return self.model.transform(Corpus(self._counts))


def fit(model: LDA, parts: Sequence[Any], *, client: Any = None) -> LDA:
    """Fit `model`, an LDA, to documents that lie in several parts, and return it.

    parts: matrices (documents x words), Corpora, files of counts, or functions without arguments that return one of these; files and functions are read by the
    workers, so that documents need not pass through this process. All have the same words (Corpora: in any order). client: a dask.distributed.Client
    (default: the current one). A part lives on one worker; `n_jobs` of the model is the number of threads there.

    Each sweep ends with the counts of words going to this process and back, topics x words numbers of 4 bytes for each part. Parts hear from each other once in a
    sweep, so several parts take more sweeps than one piece. Callbacks see the model and the record of the sweep. A worker that is lost ends the run with an error.
    """
    if not isinstance(model, LDA) or model.weighting != "count" or model.schedule not in ("auto", "relaxed", "asynchronous"):
        raise ValueError(f"{NO_SHARDS}; give such a model, or fit one of another kind in one piece.")
    rule = model._check_parameters()
    if rule.draws or rule.digamma_owners or not rule.stored:
        raise ValueError(f"{NO_SHARDS}; give such a model, or fit one of another kind in one piece.")
    if isinstance(parts, str | Path | Corpus | np.ndarray) or sparse.issparse(parts) or not len(parts):
        raise ValueError("parts must be a list with at least one part: matrices, Corpora, files of counts, or functions that load them.")
    place, seed = _placing(client), model._seed()
    shards = [place(Part, 0, parts[0], clone(model), seed)]
    (seen,) = everywhere(shards, "seen")
    template = clone(model)
    template.__dict__.update(seen)
    shards += [place(Part, number, part, template, seed) for number, part in enumerate(parts[1:], 1)]
    return _fit(model, template, shards, seed)


def _placing(client: Any) -> Callable[..., Any]:
    """A function that makes a shard with a number on a worker of the cluster."""
    try:
        from dask.distributed import get_client
    except ImportError as error:
        raise ModuleNotFoundError("A fit over parts needs Dask; install it with: pip install 'topoi[distributed]'") from error
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise ValueError(
                "There is no Dask client; give client=dask.distributed.Client(...), for this machine alone Client()."
            ) from None

    def place(kind: type, number: int, part: Any, model: Any, seed: int) -> Any:
        workers = sorted(client.nthreads())
        if not workers:
            raise ValueError("The Dask cluster has no workers; start some, or wait for them with client.wait_for_workers(1).")
        return client.submit(kind, part, model, number, seed, actor=True, pure=False, workers=[workers[number % len(workers)]]).result()

    return place


def _fit(model: LDA, template: LDA, shards: Sequence[Any], seed: int) -> LDA:
    """Run over shards that hold their documents, and keep what was learned. template: a model that knows the words."""
    K, W, rule = model.n_components, template.n_features_in_, model._check_parameters()
    start, word_topic = template._start(K, W)
    facts = everywhere(shards, "facts")
    n_edges, weight = sum(fact.n_edges for fact in facts), sum(fact.weight for fact in facts)
    if not n_edges:
        raise ValueError("The parts hold no words at all: every entry is 0. Check the vectoriser's vocabulary, min_df and stop words.")
    token = min(1.0, weight / n_edges)
    documents = sparse.csr_array(sparse.vstack(everywhere(shards, "some_documents", len(shards)), format="csr"))
    some = Plan(K, documents)
    refuse_light_weights(some)
    chosen = make_schedule(model.schedule, rule, some, start=start).name
    everywhere(shards, "check", chosen)
    alpha, learn_alpha = model._prior("doc_topic_prior", K, K, token, light=chosen == "auto")
    (beta,), learn_beta = model._prior("topic_word_prior", 1, K, token, light=chosen == "auto")
    schedule = make_schedule(model.schedule, rule, some, start=start, max_iter=model.max_iter, prior=alpha.sum())
    learner = PriorLearner(learn_alpha, learn_beta, expected=rule.expected_counts) if learn_alpha or learn_beta else None
    if schedule.wide:
        with Crew(model.n_jobs) as crew:
            start, word_topic = "warm", wide_topics(some, rule, alpha.mean(), float(beta), schedule, seed=seed, crew=crew)
    schedule = shared_pace(schedule, len(shards))
    word_weight = np.sum([fact.word_weight for fact in facts], axis=0)
    first = everywhere(shards, "begin", rule, schedule, alpha, float(beta), start, word_topic, token, word_weight)
    with template._monitor(documents) as monitor:
        found = run_shards(
            shards, first, alpha, float(beta), token=token, weight=weight, max_iter=model.max_iter,
            monitor=monitor, schedule=schedule, learner=learner, subject=model,
        )  # fmt: skip
    names = everywhere(shards, "document_names")
    model.__dict__.update({key: value for key, value in vars(template).items() if key not in model.get_params()})
    model.components_ = np.ascontiguousarray(found.phi[:, :K].T.astype(np.float64) + found.beta, dtype=model._dtype)
    model.doc_topic_ = np.vstack(everywhere(shards, "doc_topic")).astype(model._dtype)
    model.doc_names_ = None if any(part is None for part in names) else np.array([name for part in names for name in part], dtype=str)
    model.doc_topic_prior_, model.topic_word_prior_ = found.alpha.copy(), found.beta
    model.weighting_ = fit_weighting("count", documents)
    model._n_docs, model._online = sum(fact.n_docs for fact in facts), None
    model.n_iter_, model.history_, model.converged_ = found.sweeps, monitor.table(), monitor.converged
    return model


def transform(model: LDA, parts: Sequence[Any], *, client: Any = None) -> list[np.ndarray]:
    """Topic shares of documents in several parts, one array (documents, K) for each part. parts, client: as for `fit`."""
    check_is_fitted(model)
    place = _placing(client)
    shards = [place(Part, number, part, model, 0) for number, part in enumerate(parts, 1)]  # from 1: no part teaches words
    return everywhere(shards, "shares")
