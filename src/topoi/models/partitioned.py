"""Partitions on a cluster as Corpora in the words of a model."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from topoi.corpus import Corpus
from topoi.corpus.checks import is_collection
from topoi.infer.workers import DaskWorkers
from topoi.io.partitions import (
    Texts,
    added_frequencies,
    common_words,
    frequencies,
    open_partition,
    over_words,
)

if TYPE_CHECKING:
    from topoi.io.partitions import Frequencies

__all__ = ["in_common_words", "opened"]

WORDS = (  # what a model knows of its input
    "n_features_in_",
    "feature_names_in_",
    "vocabulary_",
    "vectorizer_",
    "_dtype",
    "_topic_names",
    "_lineage",
    "_finished_run",
)


def opened(workers: DaskWorkers, partitions: Sequence[object]) -> list[object]:
    """A future of the documents of each partition."""
    if not workers.memory_limits():
        raise ValueError(
            "The Dask cluster has no workers; start some, or wait for them with"
            " client.wait_for_workers(1)."
        )
    lazy = [number for number, part in enumerate(partitions) if is_collection(part)]
    wanted = [partitions[number] for number in lazy]
    computed = workers.client.compute(wanted)  # type: ignore[no-untyped-call]
    partitions = list(partitions)
    for number, future in zip(lazy, computed, strict=True):
        partitions[number] = future
    return [
        workers.submit(f"open-{s}", open_partition, part, s) for s, part in enumerate(partitions)
    ]


def in_common_words(
    workers: DaskWorkers, model: Any, documents: list[object]
) -> tuple[dict[str, object], list[object]]:
    """What a model knows of its words, and a future of each partition as a Corpus over these."""
    found = [
        workers.submit(f"frequencies-{s}", frequencies, part) for s, part in enumerate(documents)
    ]
    common = workers.submit("frequencies", added_frequencies, found)
    (has_texts,) = workers.gather([workers.submit("texts", _is_something, common)])
    if has_texts:
        chosen = workers.submit("vocabulary", _chosen, common)
        documents = [
            workers.submit(f"count-{s}", _over, part, chosen) for s, part in enumerate(documents)
        ]
    reader = _light(model)
    (words,) = workers.gather([workers.submit("words", _words, reader, documents[0])])
    reader.__dict__.update(words)
    reader = workers.submit("reader", _itself, reader)
    return words, [
        workers.submit(f"read-{s}", _read, reader, part, s) for s, part in enumerate(documents)
    ]


def _light(model: Any) -> Any:
    """A copy without what is large or cannot be sent to another process."""
    light = copy(model)
    light.callbacks, light.init, light.seeds = None, "hard", None
    large = ("components_", "doc_topic_", "documents_", "history_", "_online")
    for name in (*large, "author_names_", "author_topic_", "author_counts_"):
        light.__dict__.pop(name, None)
    return light


def _words(model: Any, documents: Any) -> dict[str, object]:
    """What the first partition teaches a model of its input."""
    model = copy(model)
    model._read(documents, reset=True)
    return {name: value for name, value in vars(model).items() if name in WORDS}


def _read(model: Any, documents: Any, number: int) -> Corpus:
    """The documents of a partition as a Corpus in the words of the model."""
    try:
        _refuse_other_words(documents, model)
        corpus: Corpus = model._read(documents, reset=False)
        return corpus
    except ValueError as error:
        raise ValueError(f"Partition {number}: {error}") from error


def _refuse_other_words(documents: Any, model: Any) -> None:
    """Words that the first partition lacks would be lost, and words without names could be any."""
    words, known = getattr(documents, "vocabulary", None), model.vocabulary_
    if (words is None) != (known is None) and isinstance(documents, Corpus):
        raise ValueError(
            "either this partition or the first one does not name its words, so they cannot be"
            " compared; give all of them a vocabulary."
        )
    if words is None or known is None:
        return
    lost = sorted(set(map(str, words)) - set(map(str, known)))
    if lost:
        raise ValueError(
            f"{len(lost)} of its words are not in the first partition, such as {lost[0]!r}; bring"
            " all partitions to the same words with corpus.over(words)."
        )


def _is_something(value: object) -> bool:
    return value is not None


def _itself(value: object) -> object:
    return value


def _chosen(found: Frequencies) -> tuple[np.ndarray, bool]:
    return common_words(found), found.tokens


def _over(texts: Texts, chosen: tuple[np.ndarray, bool]) -> Corpus:
    return over_words(texts, *chosen)
