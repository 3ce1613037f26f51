"""Help for tests of fits on a Dask cluster."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
from numpy.testing import assert_array_equal

OF_AUTHORS = ("author_names_", "author_counts_", "author_topic_")


@contextmanager
def cluster(n_workers, processes=False):
    """A cluster on this machine, and a client of it. Without `processes` workers are threads."""
    from dask.distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "processes": processes, "dashboard_address": ":0"}
    with LocalCluster(n_workers=n_workers, **options) as made, Client(made) as client:
        yield made, client


def cut(counts, n):
    return [counts[a] for a in np.array_split(np.arange(counts.shape[0]), n)]


def same(first, second, *, documents=True):
    """Whether two models are the same to the bit, and came there by the same way."""
    names = ("components_", "doc_topic_prior_", *(["doc_topic_"] if documents else []))
    for name in (*names, *(name for name in OF_AUTHORS if hasattr(first, name))):
        assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    assert (first.topic_word_prior_, first.n_iter_, first.converged_) == (
        second.topic_word_prior_,
        second.n_iter_,
        second.converged_,
    )
    gone = {"seconds": 0, "residual": 0, "violation": 0}  # of theta on one machine, of words here
    for a, b in zip(first.history_, second.history_, strict=True):
        assert {**a, **gone} == {**b, **gone}


class Stop(Exception):
    pass


def stop_at(sweep):
    def stop(model, record):
        if record.sweep == sweep:
            raise Stop

    return stop
