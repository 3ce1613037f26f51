"""Threads: a thread pool runs one function on all its workers and waits."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from joblib import effective_n_jobs


class ThreadPool:
    """`n_jobs` threads, in scikit-learn's counting (None = 1, -1 = all cores).

    Use it as a context manager.

    Kernels release the GIL. Which worker does what never changes a result: work is cut by the
    corpus, not by the thread pool.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.size: int = effective_n_jobs(n_jobs)
        self._pool = ThreadPoolExecutor(self.size) if self.size > 1 else None

    def each(self, work: Callable[..., object], *args: object) -> None:
        """Call work(*args, worker, size) on every worker."""
        if self._pool is None:
            work(*args, 0, 1)
            return
        for done in [
            self._pool.submit(work, *args, worker, self.size) for worker in range(self.size)
        ]:
            done.result()

    def __enter__(self) -> ThreadPool:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()
