"""A small sample of `make fuzz`: files of every format that are wrong but well-formed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="needs os.fork")
pytest.importorskip("pyarrow")
pytest.importorskip("anndata")
sys.path.insert(0, str(Path(__file__).parent.parent))

from fuzz import readers
from fuzz.harness import run_cases
from topoi import Corpus

N = 30


@pytest.mark.parametrize("reader", readers.readers())
def test_wrong_files_are_refused_or_give_a_sound_corpus(reader):
    counts, failures = run_cases(readers.cases(N, seed=1, reader=reader))
    assert not failures
    assert sum(counts.values()) == N
    assert counts["refused"] > 0


def test_the_same_seed_gives_the_same_files():
    first, second = ([case.name for case in readers.cases(3, 7)] for _ in range(2))
    assert first == second
    assert len(first) == 3 * len(readers.readers())


def test_a_corpus_that_is_not_sound_is_found():
    corpus = Corpus([[1, 2], [0, 3]], ["a", "b"])
    assert readers.problem_of(corpus) is None
    corpus.counts.data[0] = -1
    assert readers.problem_of(corpus) == "counts are not finite and above 0"


def test_a_misread_number_is_found():
    """As when word 2^32 + 1 became word 1."""
    text = b"1\n4294967299\n1\n1 4294967297 5\n"
    misread = Corpus([[5, 0, 0]])
    assert (
        readers._differs_from_twin("uci", misread, "docword.c.txt", text)
        == "a plain reader finds other counts"
    )
