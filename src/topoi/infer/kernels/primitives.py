"""What all kernels share: how they are compiled, random numbers, and the rows of a document's
topics.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from topoi.infer.kernels.cache import kernel_cache

f4 = np.float32
u8 = np.uint64
STRIDE = 16  # numbers that `draw` passes over at a time


# Kernels that Python calls are kept on disk. What they call becomes part of them: a function of its
# own would be compiled twice, alone and inside its caller, and which of the two copies runs, with
# sums in another order, depends on whether the process compiled or loaded it.
OPTIONS: dict[str, Any] = {
    "fastmath": True,
    "error_model": "numpy",
    "nogil": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,  # no counting of references: kernels hold none
}


def compiled(function, allocates=False):
    """Decorate a kernel: compiled for the types of its first call, kept on disk if possible."""
    dispatcher = njit(**{**OPTIONS, "_nrt": allocates})(function)
    # What njit(cache=True) does, with a cache that survives damage.
    dispatcher._cache = kernel_cache(function)
    return dispatcher


# Python never calls these, so that nothing is compiled for it to do so.
INLINED: dict[str, Any] = {**OPTIONS, "forceinline": True, "no_cpython_wrapper": True}
inlined = njit(**INLINED)


def allocating(function):
    """Decorate a kernel that makes arrays: it has to count references to them."""
    return compiled(function, allocates=True)


@inlined
def mix(seed, number):
    """SplitMix64 of a counter: the same (seed, number) gives the same bits, in any order and on any
    thread.
    """
    h = u8(seed) + (u8(number) + u8(1)) * u8(0x9E3779B97F4A7C15)
    h = (h ^ (h >> u8(30))) * u8(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> u8(27))) * u8(0x94D049BB133111EB)
    return h ^ (h >> u8(31))


@inlined
def uniform(seed, number):
    """A number in [0, 1)."""
    return (mix(seed, number) >> u8(11)) * (1.0 / 9007199254740992.0)


@allocating
def uniforms(seed, numbers):
    """uniform for each of `numbers`."""
    out = np.empty(len(numbers))
    for i in range(len(numbers)):
        out[i] = uniform(seed, numbers[i])
    return out


@inlined
def shape(arrays, doc, K):
    """Owners and topics of a document: n, L, where its topic list starts, whether it has one."""
    first, last = arrays.topic_ptr[doc], arrays.topic_ptr[doc + 1]
    return (
        arrays.slot_ptr[doc + 1] - arrays.slot_ptr[doc],
        last - first if last > first else K,
        first,
        last > first,
    )


@inlined
def gather(table, r, topics, first, listed, L, out):
    """out[:L] = table[r, topics of the document].

    A table and a number, not its row: making a row costs two atomic operations.
    """
    if listed:
        for k in range(L):
            out[k] = table[r, topics[first + k]]
    else:
        for k in range(L):
            out[k] = table[r, k]


@inlined
def scatter_add(table, r, topics, first, listed, L, change):
    """table[r, topics of the document] += change[:L], never below 0 (rounding)"""
    zero = f4(0)
    if listed:
        for k in range(L):
            t = topics[first + k]
            table[r, t] = max(table[r, t] + change[k], zero)
    else:
        for k in range(L):
            table[r, k] = max(table[r, k] + change[k], zero)


@inlined
def draw(p, chance):
    """Index i with probability p[i] / sum p."""
    rest = np.float64(0)
    for i in range(len(p)):
        rest += p[i]
    rest *= chance
    first = 0
    while first + STRIDE < len(p):  # whole strides at a time, as far as they go
        part = np.float64(0)
        for i in range(first, first + STRIDE):
            part += p[i]
        if rest < part:
            break
        rest -= part
        first += STRIDE
    last = 0
    for i in range(first, len(p)):
        if p[i] > f4(0):  # padding topics cannot be drawn
            last = i
            rest -= p[i]
            if rest < 0.0:
                break
    return last


@inlined
def digamma(x):
    """Derivative of log gamma for x > 0: the asymptotic series at x + 6, less 1 / x + ...

    + 1 / (x + 5), which u = x (x + 5) makes one fraction.
    """
    u, y = x * (x + 5.0), x + 6.0
    shift = (2.0 * x + 5.0) * (u * (3.0 * u + 20.0) + 24.0) / (u * (u + 4.0) * (u + 6.0))
    r = 1.0 / (y * y)
    return (
        np.log(y)
        - 0.5 / y
        - r * (1.0 / 12.0 - r * (1.0 / 120.0 - r * (1.0 / 252.0 - r * (1.0 / 240.0 - r / 132.0))))
        - shift
    )
