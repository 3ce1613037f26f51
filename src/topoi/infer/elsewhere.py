"""Documents that are not in memory: plans of blocks, their graphs in files, and what a round over
them adds up.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy import sparse

from topoi.graph.plan import Plan, PlanFacts
from topoi.graph.wiring import Graph, build_graph
from topoi.infer.arrays import Kept
from topoi.infer.blocks import Blocks, make_blocks
from topoi.infer.memory import allocate
from topoi.storage.digests import digest
from topoi.storage.files import WriteError
from topoi.storage.mapped import Head, load_mapped, save_mapped

__all__ = ["BlockGraphs", "Elsewhere", "PlanBlocks", "RoundSums", "compiled", "survey"]


@dataclass(frozen=True, eq=False)
class PlanBlocks:
    """Blocks of documents with the same topics and words.

    read: makes the plan of a block, again and again. n_edges: of each block. word_weight: (W,) sum
    of x of each word in all blocks. n_docs: documents with words. in_words: (W,) number of edges of
    each word. heaviest: the largest x. folder: where counts are, if they are in one.
    raw: the counts of a block whose likelihood is measured, if x are other weights.
    """

    n_blocks: int
    read: Callable[[int], Plan]
    facts: PlanFacts
    n_edges: list[int]
    word_weight: np.ndarray
    n_docs: int
    in_words: np.ndarray
    heaviest: float
    fingerprint: str
    folder: Path | None = None
    raw: Callable[[int], sparse.csr_array] | None = None
    word_prior: np.ndarray | None = None  # (W, K) of topics that have one, beyond beta

    def plan(self, number: int) -> Plan:
        return replace(self.read(number), word_prior=self.word_prior)

    @property
    def largest(self) -> int:
        """The block with most edges."""
        return int(np.argmax(self.n_edges))

    def cut(self, most_edges: int) -> PlanBlocks:
        """The same documents in blocks of at most about so many edges. No document is cut."""
        if max(self.n_edges) <= most_edges:
            return self
        places: list[tuple[int, slice]] = []
        n_edges: list[int] = []
        for number, n in enumerate(self.n_edges):
            ends = self.read(number).counts.indptr
            parts = max(-(-n // most_edges), 1)
            cuts = np.searchsorted(ends, np.arange(1, parts) * (n / parts))
            bounds = np.unique([0, *cuts, len(ends) - 1])
            places += [(number, slice(a, b)) for a, b in pairwise(bounds)]
            n_edges += np.diff(ends[bounds]).tolist()
        read, raw = lru_cache(1)(self.read), self.raw

        def part(number: int) -> Plan:
            block, rows = places[number]
            plan = read(block)
            topics = None if plan.topics is None else plan.topics[rows]
            return replace(plan, counts=plan.counts[rows], owners=None, topics=topics)

        return replace(
            self,
            n_blocks=len(places),
            read=part,
            n_edges=n_edges,
            raw=None if raw is None else lambda number: raw(places[number][0])[places[number][1]],
        )

    def with_word_prior(self, prior: np.ndarray | None) -> PlanBlocks:
        facts = self.facts._replace(word_prior=prior is not None)
        return replace(self, word_prior=prior, facts=facts)


def survey(
    n_blocks: int, read: Callable[[int], Plan], fingerprint: str, folder: Path | None = None
) -> PlanBlocks:
    """Look at every block once.

    fingerprint: of the counts; topics that documents may use are added to it.
    """
    first = read(0)
    n_words = first.counts.shape[1]
    word_weight, in_words = np.zeros(n_words), np.zeros(n_words, np.int64)
    n_docs, n_edges, with_words, weight, heaviest = 0, [], 0, 0.0, 0.0
    free = True
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
        free = free and plan.is_free
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
        free=free,
        fields=False,
        word_prior=False,
    )
    return PlanBlocks(
        n_blocks,
        read,
        facts,
        n_edges,
        word_weight,
        with_words,
        in_words,
        heaviest,
        digest([fingerprint, marks]),
        folder,
    )


class BlockGraphs:
    """Graphs of blocks: each is compiled once, and mapped into memory from a file after that; and
    what blocks keep from one sweep to the next.

    The files are this process's own, and are gone with the run.
    """

    def __init__(self, blocks: PlanBlocks, seed: int, folder: Path) -> None:
        self._blocks, self._seed, self._folder = blocks, seed, folder
        self._mu = allocate(0)
        self._heads: dict[int, Head] = {}
        self._kept: dict[int, Head] = {}

    def __iter__(self) -> Iterator[Graph]:
        return (self.open(number)[0] for number in range(self._blocks.n_blocks))

    def open(self, number: int) -> tuple[Graph, Blocks]:
        """A graph, and its documents that take turns. Tokens weigh what those of all blocks do.
        The memory for messages is that of the last block.
        """
        file = self._folder / f"{number:06}"
        if number not in self._heads:
            self._heads[number] = self._compile(number, file)
        visits, size, graph, blocks = load_mapped(self._heads[number], file)
        graph = replace(graph, word_prior=self._blocks.word_prior)
        vars(graph)["visits_of_docs"] = visits  # a cached property
        return graph, blocks._replace(mu=self.memory(size))

    def memory(self, size: int) -> np.ndarray:
        """(size,) numbers for messages: the same memory again and again."""
        if len(self._mu) < size:
            self._mu = allocate(size)
        return self._mu[:size]

    def keep(self, number: int, kept: Kept) -> None:
        """Keep something of a block instead of what was kept before."""
        file = self._kept_file(number)
        beside = file.with_suffix(".next")  # what was kept before may still be mapped
        self._kept[number] = self._save(kept, beside)
        os.replace(beside, file)

    @property
    def keeps(self) -> bool:
        """Whether anything was kept."""
        return bool(self._kept)

    def kept(self, number: int) -> Kept:
        """What was kept last. Sweeps change its theta."""
        kept = load_mapped(self._kept[number], self._kept_file(number))
        return kept._replace(theta=kept.theta.copy())

    def _kept_file(self, number: int) -> Path:
        return self._folder / f"{number:06}.kept"

    def _compile(self, number: int, file: Path) -> Head:
        graph = build_graph(self._blocks.read(number), seed=self._seed + number)
        graph = replace(graph, token=self._blocks.facts.token)
        blocks = make_blocks(graph)
        size, blocks = len(blocks.mu), blocks._replace(mu=np.zeros(0, np.float32))
        return self._save((graph.visits_of_docs, size, replace(graph), blocks), file)

    def _save(self, value: object, file: Path) -> Head:
        try:
            return save_mapped(value, file)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise WriteError(
                error.errno,
                f"Blocks cannot be written to {self._folder} ({reason}); free some space,"
                " or count into a folder on a larger disk: source.count(cache=...) for a Source,"
                " the variable TMPDIR for batch_size and partial_fit.",
            ) from error


@contextmanager
def compiled(blocks: PlanBlocks, seed: int) -> Iterator[BlockGraphs]:
    """The graphs of blocks, in a temporary folder beside the counts."""
    beside = None if blocks.folder is None else blocks.folder.parent
    if beside is not None and not os.access(beside, os.W_OK):
        beside = None
    with TemporaryDirectory(prefix=".topoi-", dir=beside) as folder:
        yield BlockGraphs(blocks, seed, Path(folder))


@dataclass
class RoundSums:
    """What the blocks of a round have added up."""

    evidence: np.ndarray  # (2, K) of alpha
    log_likelihood: float = 0.0  # of all tokens, if the round measures it
    tokens: float = 0.0  # as many
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
    graphs: BlockGraphs
    expected: bool | None
    measures: Callable[[int, int | None], bool]
    progress: Callable[[float], None]
    sums: RoundSums = field(default_factory=lambda: RoundSums(np.zeros((2, 0))))

    def keeps(self, end: int | None) -> bool:
        """Whether blocks have kept what their next turn needs. The last rounds, up to `end`, need
        nothing.
        """
        return end is None and self.graphs.keeps

    @property
    def perplexity(self) -> float:
        """Of the last round, if it was measured."""
        return float(np.exp(-self.sums.log_likelihood / self.sums.tokens))
