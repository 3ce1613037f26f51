"""Documents that are not in memory: plans of blocks, made when they are asked for, and what a round
over them adds up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from topoi.graph.plan import Plan, PlanFacts
from topoi.storage.digests import digest

__all__ = ["Elsewhere", "PlanBlocks", "RoundSums", "survey"]


@dataclass(frozen=True, eq=False)
class PlanBlocks:
    """Blocks of documents with the same topics and words.

    read: makes the plan of a block, again and again. word_weight: (W,) sum of x of each word in all
    blocks. n_docs: documents with words. largest: the block with most edges. in_words: (W,) number
    of edges of each word. heaviest: the largest x.
    """

    n_blocks: int
    read: Callable[[int], Plan]
    facts: PlanFacts
    word_weight: np.ndarray
    n_docs: int
    largest: int
    in_words: np.ndarray
    heaviest: float
    fingerprint: str
    word_prior: np.ndarray | None = None  # (W, K) of topics that have one, beyond beta

    def plan(self, number: int) -> Plan:
        return replace(self.read(number), word_prior=self.word_prior)

    def with_word_prior(self, prior: np.ndarray | None) -> PlanBlocks:
        facts = self.facts._replace(word_prior=prior is not None)
        return replace(self, word_prior=prior, facts=facts)


def survey(n_blocks: int, read: Callable[[int], Plan], fingerprint: str) -> PlanBlocks:
    """Look at every block once.

    fingerprint: of the counts; topics that documents may use are added to it.
    """
    first = read(0)
    n_words = first.counts.shape[1]
    word_weight, in_words = np.zeros(n_words), np.zeros(n_words, np.int64)
    n_docs, n_edges, with_words, weight, heaviest = 0, [], 0, 0.0, 0.0
    plain = True
    marks: list[str] = []
    for number in range(n_blocks):
        plan = read(number)
        counts = plan.counts
        word_weight += np.bincount(counts.indices, counts.data.astype(np.float32), n_words)
        in_words += np.bincount(counts.indices, minlength=n_words)
        n_docs += counts.shape[0]
        n_edges.append(int(counts.nnz))
        with_words += int((counts.sum(axis=1) > 0).sum())
        weight += float(counts.data.sum())
        heaviest = max(heaviest, float(counts.data.max(initial=0)))
        plain = plain and plan.is_plain
        if plan.topics is not None:
            marks.append(digest([number, plan.topics]))
    facts = PlanFacts(
        n_topics=first.n_topics,
        n_docs=n_docs,
        n_edges=sum(n_edges),
        most_edges=max(n_edges),
        weight=weight,
        token=min(1.0, weight / max(sum(n_edges), 1)) if weight else 1.0,
        private=True,
        plain=plain,
        fields=False,
        word_prior=False,
    )
    return PlanBlocks(
        n_blocks,
        read,
        facts,
        word_weight,
        with_words,
        int(np.argmax(n_edges)),
        in_words,
        heaviest,
        digest([fingerprint, marks]),
    )


@dataclass
class RoundSums:
    """What the blocks of a round have added up."""

    evidence: np.ndarray  # (2, K) of alpha
    log_likelihood: float = 0.0  # of all tokens, if the round measures it
    moved: float = 0.0  # sum of |changes| of what words hold
    most_moved: float = 0.0  # of a word, as a part of what it holds


@dataclass(eq=False)
class Elsewhere:
    """The documents of a state that holds none.

    expected: whether the evidence of alpha is of expected counts; None if alpha is not learned.
    measures: whether the perplexity is wanted after (sweep, end). progress: is told how many
    rounds are done, with fractions.
    """

    blocks: PlanBlocks
    expected: bool | None
    measures: Callable[[int, int | None], bool]
    progress: Callable[[float], None]
    sums: RoundSums = field(default_factory=lambda: RoundSums(np.zeros((2, 0))))

    @property
    def perplexity(self) -> float:
        """Of the last round, if it was measured."""
        return float(np.exp(-self.sums.log_likelihood / self.blocks.facts.weight))
