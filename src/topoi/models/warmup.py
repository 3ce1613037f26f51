"""Compile kernels before they are needed: for images, containers and impatient people."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from topoi.datasets import make_authors, make_blocks, make_labels, make_links
from topoi.models.author import AuthorTopicModel
from topoi.models.labeled import LabeledLDA
from topoi.models.lda import LDA
from topoi.models.relational import RelationalTopicModel
from topoi.tuning import tuned

__all__ = ["WARM_UPS", "warmup"]

SWEEPS = 30  # enough for warm-up sweeps, stored messages, learned priors and last rounds


def _lda() -> None:
    corpus = make_blocks(random_state=0)[0]
    model = LDA(4, max_iter=SWEEPS).fit(corpus)
    model.transform(corpus)
    model.score(corpus)


def _many_topics() -> None:
    LDA(300, max_iter=21).fit(make_blocks(random_state=0)[0])  # lists are renewed at sweep 20


def _blocks() -> None:
    LDA(4, max_iter=SWEEPS, batch_size=50).fit(make_blocks(random_state=0)[0])


def _authors() -> None:
    corpus = make_authors(random_state=0)[0]
    AuthorTopicModel(4, max_iter=SWEEPS).fit(corpus).transform(corpus)


def _links() -> None:
    corpus = make_links(random_state=0)[0]
    RelationalTopicModel(4, max_iter=SWEEPS).fit(corpus).transform(corpus)


def _labels() -> None:
    corpus = make_labels(random_state=0)[0]
    LabeledLDA(max_iter=SWEEPS).fit(corpus).transform(corpus)


# What is fitted to compile the kernels of a model.
WARM_UPS: dict[str, Callable[[], object]] = {
    "lda": _lda,
    "authors": _authors,
    "links": _links,
    "labels": _labels,
    "many-topics": _many_topics,
    "blocks": _blocks,
}


def warmup(models: Sequence[str] = tuple(WARM_UPS)) -> None:
    """Compile the kernels that models need, so that no later fit on this machine waits for them.

    Kernels are kept beside the package, or in the folder that the environment variable
    NUMBA_CACHE_DIR names. Fits with default settings then compile nothing; other rules and
    schedules may.

    Parameters
    ----------
    models : sequence of str, default=("lda", "authors", "links", "labels", "many-topics", "blocks")
        What will be fitted. "many-topics" is LDA with more than 256 topics, "blocks" LDA of a
        Source or with a batch_size.

    Examples
    --------
    >>> warmup(["lda"])
    """
    unknown = [name for name in models if name not in WARM_UPS]
    if unknown:
        raise ValueError(
            f"models has {unknown[0]!r}; expected some of {', '.join(map(repr, WARM_UPS))}."
        )
    with tuned(warm_up_from=0):  # small corpora get warm-up sweeps, too
        for name in models:
            WARM_UPS[name]()
