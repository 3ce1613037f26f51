"""What `make test-bounds` relies on: indices are checked, in every kernel."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core import config

from topoi.infer import kernels
from topoi.infer.kernels import primitives

pytestmark = pytest.mark.skipif(
    not config.BOUNDSCHECK, reason="run by make test-bounds, after the tests of the kernels"
)


def test_an_index_out_of_bounds_is_an_error():
    @primitives.inlined
    def inner(x, i):
        return x[i]

    @primitives.compiled
    def outer(x, i):
        return inner(x, i)

    assert outer(np.ones(3), 2) == 1
    with pytest.raises(IndexError):
        outer(np.ones(3), 3)


COMPILED = [name for name in kernels.__all__ if hasattr(getattr(kernels, name), "signatures")]


@pytest.mark.parametrize("name", COMPILED)
def test_the_tests_before_this_one_have_used_every_kernel(name):
    assert getattr(kernels, name).signatures
