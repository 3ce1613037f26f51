"""The updates of `kernels/` in plain NumPy and double precision: slow, obvious, and the oracle of
the tests.

A message is an (owners, topics) array. Read `message` for the equation and `sweep` for the order;
the rest is bookkeeping.
"""

from topoi.infer.reference.fresh import edges_of, exchange, favoured, infer, infer_joint
from topoi.infer.reference.kept import keep, restore
from topoi.infer.reference.likelihood import expected_digamma_gain, log_likelihood
from topoi.infer.reference.stateless import admit, recall, stateless
from topoi.infer.reference.sweeps import count, doubled, message, place, sweep
from topoi.infer.reference.variants import active, gibbs

__all__ = [
    "active",
    "admit",
    "count",
    "doubled",
    "edges_of",
    "exchange",
    "expected_digamma_gain",
    "favoured",
    "gibbs",
    "infer",
    "infer_joint",
    "keep",
    "log_likelihood",
    "message",
    "place",
    "recall",
    "restore",
    "stateless",
    "sweep",
]
