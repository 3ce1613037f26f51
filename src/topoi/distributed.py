"""LDA over a Dask cluster: documents stay where they are, and only what words hold travels.

    from dask.distributed import Client

    client = Client("scheduler:8786")
    model = topoi.distributed.fit(topoi.LDA(100), ["part0.npz", "part1.npz"], client=client)

The parts decide the result, not the workers: on one worker or on twenty, topics are the same to the
bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.corpus import Corpus
from topoi.corpus.corpus import canonical_corpus
from topoi.corpus.documents import TrainingDocuments
from topoi.infer.recipe import chosen_schedule, make_recipe
from topoi.infer.rounds import facts_of_all, fit_shards
from topoi.infer.shards import Shard, everywhere, waited
from topoi.io.read import read
from topoi.models.fitting import (
    batch_size_of,
    keep,
    monitor_of,
    read_counts,
    rule_of,
    seed_of,
    settings_of,
    take_words,
    with_priors,
    without_documents,
    word_prior_of,
    words_of,
)
from topoi.models.lda import LDA
from topoi.models.preflight import (
    counted,
    refuse_fractions,
    refuse_light_weights,
    refuse_too_large,
    warn_of_single_precision,
)
from topoi.models.sklearn_lda import LatentDirichletAllocation

__all__ = ["fit", "transform"]

Place = Callable[
    [int, Any, LDA, int], Any
]  # makes the shard with this number, of this part, for this model and seed
NO_SHARDS = (
    "Over parts only LDA with rule 'bp', 'sibp' or 'cvb0', schedule 'auto', 'relaxed' or"
    " 'asynchronous', stored messages, weighting 'count' and no batch_size can be fitted"
)


class Part(Shard):
    """A shard that reads its documents, where it is.

    part: a matrix, a Corpus, a file of counts, or a function that returns one of these.
    """

    def __init__(self, part: Any, model: LDA, number: int, seed: int) -> None:
        try:
            documents = part() if callable(part) else part
            documents = read(documents) if isinstance(documents, str | Path) else documents
            if number and not hasattr(model, "components_"):
                _refuse_other_words(documents, model)
            counts = read_counts(model, documents, first=number == 0)
        except ValueError as error:
            raise ValueError(f"Part {number}: {error}") from error
        self.model = model
        self.documents = TrainingDocuments.of(
            replace(documents, counts=counts, vocabulary=None)
            if isinstance(documents, Corpus)
            else canonical_corpus(counts)
        )
        super().__init__(counts, model.n_components, number, seed, model.n_jobs)

    def words(self) -> dict[str, Any]:
        """What the first part has taught the model of its input, for the others."""
        return words_of(self.model)

    def check(self, schedule: str, lists: bool) -> tuple[float, np.ndarray, float]:
        """Refuse what a fit could not do, before it takes memory.

        The largest entry, and what `counted` says, for a warning.
        """
        rule = rule_of(self.model)
        if rule.tokens:
            refuse_fractions(self.plan.counts, self.model.rule)
        refuse_too_large(self.plan, rule, schedule, lists=lists)
        return float(self.plan.counts.data.max(initial=0)), *counted(self.plan, rule)

    def about_documents(self) -> TrainingDocuments:
        return self.documents

    def proportions(self) -> np.ndarray:
        """(documents, K) topic proportions under the topics of the model."""
        return self.model.transform(Corpus(self.plan.counts))


def _refuse_other_words(documents: Any, model: LDA) -> None:
    """Words that the first part lacks would be lost, and words without names could be any."""
    words, known = getattr(documents, "vocabulary", None), model.vocabulary_
    if (words is None) != (known is None) and isinstance(documents, Corpus):
        raise ValueError(
            "either this part or the first one does not name its words, so they cannot be compared;"
            " give all of them a vocabulary."
        )
    lost = (
        []
        if words is None or known is None
        else sorted(set(map(str, words)) - set(map(str, known)))
    )
    if lost:
        raise ValueError(
            f"{len(lost)} of its words are not in the first part, such as {lost[0]!r}; bring all"
            " parts to the same words with corpus.over(words)."
        )


def fit(model: LDA, parts: Sequence[Any], *, client: Any = None) -> LDA:
    """Fit `model`, an LDA, to documents that lie in several parts, and return it.

    parts: matrices (documents x words), Corpora, files of counts, or functions without arguments
    that return one of these; files and functions are read by the workers, so that documents need
    not pass through this process. All have the same words (Corpora: in any order). client: a
    dask.distributed.Client (default: the current one). A part lives on one worker; `n_jobs` of the
    model is the number of threads there.

    Each sweep ends with the counts of words going to this process and back, topics x words numbers
    of 4 bytes for each part. Parts hear from each other once in a sweep, so several parts take more
    sweeps than one piece. Callbacks see the model and the record of the sweep. A worker that is
    lost ends the run with an error.
    """
    _check_parts(parts)
    if (
        not isinstance(model, LDA)
        or model.weighting != "count"
        or model.schedule not in ("auto", "relaxed", "asynchronous")
    ):
        raise ValueError(f"{NO_SHARDS}; this is {model!r}.")
    rule = rule_of(model)
    if rule.draws or rule.digamma_owners or not rule.stored or batch_size_of(model) is not None:
        raise ValueError(f"{NO_SHARDS}; this is {model!r}.")
    return _fit(model, parts, _placing(client))


def _check_parts(parts: Any) -> None:
    if not isinstance(parts, list | tuple) or not parts:
        raise ValueError(
            "parts must be a list with at least one part: matrices, Corpora, files of counts, or"
            f" functions that load them; got {type(parts).__name__}."
        )


def _placing(client: Any) -> Place:
    """Shards on the workers of a cluster, in turn."""
    try:
        from dask.distributed import get_client
    except ImportError as error:
        raise ModuleNotFoundError(
            "A fit over parts needs Dask; install it with: pip install 'topoi[distributed]'"
        ) from error
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise ValueError(
                "There is no Dask client; give client=dask.distributed.Client(...), for this"
                " machine alone Client()."
            ) from None

    def place(number: int, part: Any, model: LDA, seed: int) -> Any:
        workers = sorted(client.nthreads())
        if not workers:
            raise ValueError(
                "The Dask cluster has no workers; start some, or wait for them with"
                " client.wait_for_workers(1)."
            )
        return client.submit(
            Part,
            part,
            model,
            number,
            seed,
            actor=True,
            pure=False,
            workers=[workers[number % len(workers)]],
        )

    return place


def _placed(parts: Sequence[Any], model: LDA, place: Place, seed: int) -> list[Any]:
    """A shard of each part. Also `model` learns what the first one knows of words."""
    reader = without_documents(model, fitted=False)
    shards = waited([place(0, parts[0], reader, seed)])
    (words,) = everywhere(shards, "words")
    for each in (reader, model):
        take_words(each, words)
    return shards + waited(
        [place(number, part, reader, seed) for number, part in enumerate(parts[1:], 1)]
    )


def _fit(model: LDA, parts: Sequence[Any], place: Place) -> LDA:
    """Place the parts, run over them, and keep what was learned."""
    K, seed = model.n_components, seed_of(model)
    shards = _placed(parts, model, place, seed)
    settings = settings_of(model, seed)
    facts = everywhere(shards, "facts")
    word_weight = np.sum([fact.word_weight for fact in facts], axis=0)
    word_prior = word_prior_of(model, word_weight, facts_of_all(facts, K).token)
    whole = facts_of_all(facts, K, word_prior is not None)
    if not whole.n_edges:
        raise ValueError(
            "The parts hold no words at all: every entry is 0. Check the vectoriser's vocabulary,"
            " min_df and stop words."
        )
    refuse_light_weights(whole.token)
    checks = everywhere(shards, "check", *chosen_schedule(whole, settings))
    heaviest, in_words, of_documents = zip(*checks, strict=True)
    most = float(max(np.sum(in_words, axis=0).max(), *of_documents))
    warn_of_single_precision(max(heaviest), most, settings.rule)
    settings = with_priors(model, settings)
    recipe = make_recipe(whole, settings)
    fitted = fit_shards(
        shards, facts, settings, recipe, lambda: monitor_of(model), model, word_prior
    )
    keep(model, fitted)
    model.documents_ = TrainingDocuments.joined(everywhere(shards, "about_documents"))
    if isinstance(model, LatentDirichletAllocation):
        gain = sum(everywhere(shards, "log_likelihood"))
        model.bound_ = float(np.exp(-gain / whole.weight))
    return model


def transform(model: LDA, parts: Sequence[Any], *, client: Any = None) -> list[np.ndarray]:
    """Topic proportions of documents in several parts, one array (documents, K) for each part.

    parts, client: as for `fit`.
    """
    _check_parts(parts)
    if not isinstance(model, LDA):
        raise ValueError(
            f"Over parts only LDA can predict; this is {model!r}. Give its transform one part at a"
            " time."
        )
    check_is_fitted(model)
    place, reader = _placing(client), without_documents(model, fitted=True)
    shards = waited(
        [place(number, part, reader, 0) for number, part in enumerate(parts, 1)]
    )  # from 1: no part teaches words
    return everywhere(shards, "proportions")
