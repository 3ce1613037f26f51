"""Fixtures of all tests; what tests call is in `support.py`."""

from __future__ import annotations

import pytest
from hypothesis import settings

from topoi import datasets
from topoi.infer import schedules

settings.register_profile("topoi", deadline=None, derandomize=True, print_blob=False, database=None)
settings.load_profile("topoi")


@pytest.fixture
def warm_up_always(monkeypatch):
    """schedule="auto" is warm-up on small corpora, too."""
    monkeypatch.setattr(schedules, "WARM_UP_FROM", 0)


@pytest.fixture(scope="session")
def blocks():
    """(corpus, truth) of four topics that share no word."""
    return datasets.make_blocks(random_state=3)


@pytest.fixture(scope="session")
def mixed():
    """(corpus, truth) of five topics, documents mix them."""
    return datasets.make_lda(150, 80, 5, random_state=1)
