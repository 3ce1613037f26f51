"""Fits whose documents are on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from topoi.corpus import Corpus
from topoi.corpus.documents import TrainingDocuments
from topoi.graph.plan import Plan, PlanFacts
from topoi.graph.weighting import Weighting
from topoi.graph.wiring import padded_width
from topoi.infer.recipe import chosen_schedule, make_recipe
from topoi.infer.rounds import Rounds, table_slices
from topoi.infer.run_folder import RunFolder
from topoi.infer.session import Fitted, components
from topoi.infer.shard import Run, Shard, memory_need
from topoi.infer.shards import added, given, owner_weights
from topoi.infer.workers import DaskWorkers, dask_client
from topoi.io.partitions import partitions_of
from topoi.models.partition_factors import (
    Facts,
    PartitionAuthors,
    PartitionFactor,
    PartitionLabels,
    facts_of,
)
from topoi.models.partitioned import in_common_words, opened
from topoi.models.preflight import refuse_light_weights, warn_of_single_precision
from topoi.storage.digests import digest

if TYPE_CHECKING:
    from distributed import Client

    from topoi.infer.recipe import Settings
    from topoi.io.given import DocumentsLike

__all__ = ["fit_on_cluster"]


def fit_on_cluster(
    model: Any,
    X: DocumentsLike,
    client: Client | None,
    *,
    factor: type[PartitionLabels | PartitionAuthors] | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: int = 10,
    keep_documents: bool = True,
) -> None:
    """Fit a model to partitions on a cluster.

    factor: of what documents have beside words, if the model knows of that.
    """
    _refuse(model)
    workers = DaskWorkers(dask_client(client))
    documents = opened(workers, partitions_of(X))
    words, corpora = in_common_words(workers, model, documents)
    model.__dict__.pop("feature_names_in_", None)  # of an earlier fit
    model.__dict__.update(words)
    facts: list[Facts] = workers.gather(
        [workers.submit(f"facts-{s}", facts_of, corpus) for s, corpus in enumerate(corpora)]
    )
    sums = [workers.submit(f"sums-{s}", _word_sums, corpus) for s, corpus in enumerate(corpora)]
    (of_words,) = workers.gather([workers.submit("sums", _added, sums)])
    beside: PartitionFactor | None = None if factor is None else factor.found(model, facts)
    n_topics = model.n_components if beside is None else beside.n_topics
    n_owners = None if beside is None else beside.n_owners
    seed = model._seed()
    settings = replace(model._settings(n_topics, len(of_words[0]), seed), schedule="incremental")
    free = not isinstance(beside, PartitionLabels)
    whole = _whole(facts, n_topics, free=free, private=n_owners is None)
    word_prior = model._word_prior(n_topics, of_words[0], whole.token)
    whole = whole._replace(word_prior=word_prior is not None)
    n_rows = len(of_words[0]) + (n_owners or 0)  # of the table that shards exchange
    _check(workers, facts, whole, of_words, n_rows, settings)
    settings = model._with_priors(settings, n_topics)
    known = workers.submit("factor", given, beside)
    shards = [
        workers.submit(
            f"shard-{s}", _shard, corpus, s, n_topics, seed, whole.token, word_prior, known
        )
        for s, corpus in enumerate(corpora)
    ]
    run = Run(
        settings.rule,
        n_topics,
        whole.token,
        np.maximum(of_words[0], 1e-30),
        word_prior,
        table_slices(n_rows, padded_width(n_topics)),
        len(corpora),
        model.n_jobs,
        None if n_owners is None else _owner_weight(workers, shards, n_owners),
    )
    rounds = Rounds(workers, shards, run, whole, settings, make_recipe(whole, settings))
    folder: RunFolder | nullcontext[None] = nullcontext()
    if checkpoint is not None:
        mark = _fingerprint(model, facts, word_prior, settings.word_topic)
        folder = RunFolder(
            checkpoint, checkpoint_every, mark, run.bounds, n_topics, settings.max_iter
        )
    monitor = model._monitor(Corpus(np.zeros((0, len(of_words[0])))).counts)
    with folder as saves, monitor:
        at = rounds.pass_messages(monitor, model, saves)
        counted, owners = run.parted(workers.gather(rounds.last_table()))
        found = rounds.proportions(at) if keep_documents else []
        proportions = [np.asarray(part) for part in workers.gather(found)]
        model._keep_perplexity(rounds.perplexity(at))
    model._keep(
        Fitted(
            components=components(counted[:, :n_topics], at.beta, word_prior),
            doc_topic=np.vstack(proportions) if found else np.zeros((0, n_topics)),
            alpha=at.alpha.copy(),
            beta=at.beta,
            word_prior=word_prior,
            n_docs=sum(fact.n_docs for fact in facts),
            n_iter=at.done,
            history=monitor.table(),
            converged=monitor.converged,
            finished=False,
        )
    )
    model.weighting_ = Weighting("count", None, 1.0)
    _keep_documents(workers, model, corpora if keep_documents else [])
    if isinstance(beside, PartitionAuthors):
        model._keep_merged_authors(beside.names, owners[: len(beside.names), :n_topics])


def _refuse(model: Any) -> None:
    """Refuse what shards cannot do."""
    rule = model._check_parameters()
    if model.weighting != "count":
        raise ValueError(
            f"weighting={model.weighting!r} goes by sums over all documents, which no shard has;"
            " on a cluster use weighting='count'."
        )
    if model.schedule not in ("auto", "incremental"):
        raise ValueError(
            f"schedule={model.schedule!r} keeps messages of documents from sweep to sweep, and"
            " shards keep nothing; on a cluster use schedule='auto' or 'incremental'."
        )
    if rule.draws or rule.tokens or not rule.stored:
        raise ValueError(
            f"On a cluster documents are inferred afresh in each round, which rule={model.rule!r}"
            " cannot do; use rule 'bp', 'sibp', 'vb' or topoi.rules.CVB0(messages='edge')."
        )
    if getattr(model, "batch_size", None) is not None and model._batch_size() is not None:
        raise ValueError("On a cluster partitions take the place of blocks; leave batch_size out.")


# ------------------------------------------------------------------------------------ what is known


def _word_sums(corpus: Corpus) -> np.ndarray:
    """(2, W) weight and entries of each word."""
    counts = corpus.counts
    x = counts.data.astype(np.float32)  # as edges have it
    n_words = counts.shape[1]
    return np.stack(
        [np.bincount(counts.indices, x, n_words), np.bincount(counts.indices, minlength=n_words)]
    )


def _added(values: list[np.ndarray]) -> np.ndarray:
    return np.asarray(np.sum(values, axis=0))


def _owner_weight(workers: DaskWorkers, shards: Sequence[object], n_owners: int) -> np.ndarray:
    """(owners,) `State.owner_weight` of all documents."""
    found = [
        workers.submit(f"owners-{s}", owner_weights, shard, n_owners)
        for s, shard in enumerate(shards)
    ]
    return np.asarray(workers.gather([workers.submit("owners", added, found)])[0])


def _whole(facts: Sequence[Facts], n_topics: int, *, free: bool, private: bool) -> PlanFacts:
    n_edges, weight = sum(fact.n_edges for fact in facts), sum(fact.weight for fact in facts)
    if not n_edges:
        raise ValueError(
            "The partitions hold no words at all: every entry is 0. Check the vectoriser's"
            " vocabulary, min_df and stop words."
        )
    return PlanFacts(
        n_topics=n_topics,
        n_docs=sum(fact.n_rows for fact in facts),
        n_edges=n_edges,
        most_edges=max(fact.n_edges for fact in facts),
        weight=weight,
        token=min(1.0, weight / n_edges),
        private=private,
        free=free,
        fields=False,
        word_prior=False,
    )


def _check(
    workers: DaskWorkers,
    facts: Sequence[Facts],
    whole: PlanFacts,
    of_words: np.ndarray,
    n_rows: int,
    settings: Settings,
) -> None:
    """Refuse or warn of what a fit could not do, before it takes memory."""
    chosen_schedule(whole, settings)
    refuse_light_weights(whole.token)
    most = float(max(of_words[1].max(), max(fact.longest for fact in facts)))
    warn_of_single_precision(max(fact.heaviest for fact in facts), most, settings.rule)
    limits = [limit for limit in workers.memory_limits().values() if limit]
    if not limits:
        return
    needs = [_need(fact, whole, n_rows) for fact in facts]
    largest = int(np.argmax(needs))
    if needs[largest] > max(limits):
        raise MemoryError(
            f"Partition {largest} with {facts[largest].n_edges:,} entries and"
            f" {whole.n_topics} topics needs {needs[largest] / 2**30:.1f} GiB, but the memory limit"
            f" of the largest worker is {max(limits) / 2**30:.1f} GiB. Use smaller partitions, or"
            " workers with more memory."
        )


def _need(fact: Facts, whole: PlanFacts, n_rows: int) -> int:
    """Bytes that a partition needs on its worker. n_rows: of the table."""
    if whole.private:
        return memory_need(fact.n_rows, fact.n_edges, n_rows, whole.n_topics)
    return memory_need(fact.n_pairs, fact.n_edges, n_rows, whole.n_topics, fact.n_messages)


def _fingerprint(
    model: Any,
    facts: Sequence[Facts],
    word_prior: np.ndarray | None,
    start: np.ndarray | None,
) -> str:
    """A digest of everything that decides the bits of a run."""
    from topoi.infer.checkpoints import fixed_parameters

    return digest([*fixed_parameters(model, start), [fact.sha256 for fact in facts], word_prior])


def _shard(
    corpus: Corpus,
    number: int,
    n_topics: int,
    seed: int,
    token: float,
    word_prior: np.ndarray | None,
    factor: PartitionFactor | None,
) -> Shard:
    plan = Plan(n_topics, corpus.counts, word_prior=word_prior)
    owners = None if factor is None else factor.add_to(plan, corpus, number)
    if plan.owner_prior:
        plan.owner_prior = token
    return Shard(plan, seed + number, token, owners)


def _keep_documents(workers: DaskWorkers, model: Any, corpora: Sequence[object]) -> None:
    """What is known about documents, if they are kept."""
    if not corpora:
        del model.doc_topic_
        model.documents_ = None
        return
    about = [workers.submit(f"about-{s}", _about, corpus) for s, corpus in enumerate(corpora)]
    model.documents_ = TrainingDocuments.joined(workers.gather(about))


def _about(corpus: Corpus) -> TrainingDocuments:
    return TrainingDocuments.of(replace(corpus, vocabulary=None, vectorizer=None))
