"""Tasks on the workers of a Dask cluster: submitted, waited for, admitted by their memory."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["DaskWorkers", "admitted", "dask_client"]

POLL = 5.0  # seconds after which a wait looks around
PATIENCE = 60.0  # seconds that a cluster may be without workers, or its scheduler out of reach

_free = threading.Condition()
_in_use: list[float] = []  # bytes of the tasks that compute in this process


def dask_client(client: Client | None = None) -> Client:
    """The client that is given, else the current one; refused with the cure if there is none."""
    try:
        from dask.distributed import get_client
    except ImportError as error:
        raise ModuleNotFoundError(
            "A fit on a cluster needs Dask; install it with: pip install 'topoi[distributed]'"
        ) from error
    if client is not None:
        return client
    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "There is no Dask client; give client=dask.distributed.Client(...), for this machine"
            " alone Client()."
        ) from None


class DaskWorkers:
    """The workers of a Dask client.

    Tasks have no memory, so a lost worker costs time only: Dask computes what it held again, from
    what that depends on.
    """

    def __init__(self, client: Client, patience: float = PATIENCE) -> None:
        self.client, self.patience, self.run = client, patience, uuid4().hex[:12]

    def submit(self, name: str, function: Callable[..., object], *args: object) -> object:
        """A future of function(*args). name: different from all others of the run."""
        return self.client.submit(function, *args, key=f"{name}-{self.run}")

    def gather(self, futures: Sequence[object]) -> list[Any]:
        """Results, when they are there. A cluster that cannot compute them ends the wait with a
        sentence.
        """
        from concurrent.futures import CancelledError

        from dask.distributed import wait
        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            well = time.monotonic()
            while True:
                try:
                    wait(list(futures), timeout=POLL)  # type: ignore[no-untyped-call]
                    return list(self.client.gather(list(futures)))  # type: ignore[no-untyped-call]
                except TimeoutError:
                    well = self._look_around(well)
        except KilledWorker as error:
            raise RuntimeError(
                f"{error.task} was given to several workers, and each of them died, the last one"
                f" at {error.last_worker.address}. Most often a worker has exceeded its memory"
                f" limit ({_gigabytes(error.last_worker.memory_limit)}): use smaller partitions,"
                " fewer threads per worker or workers with more memory."
            ) from error
        except (CancelledError, CommClosedError, OSError) as error:
            if isinstance(error, OSError) and not isinstance(error, CommClosedError):
                raise  # a task says what is wrong with a file
            raise ConnectionError(self._lost()) from error

    def _look_around(self, well: float) -> float:
        """The last time at which the cluster was able to work, unless that is too long ago."""
        if self.client.status == "running" and self.memory_limits():
            return time.monotonic()
        if time.monotonic() - well > self.patience:
            if self.client.status != "running":
                raise ConnectionError(self._lost())
            raise RuntimeError(
                f"The Dask cluster has had no workers for {self.patience:.0f} s. Start some, and"
                " fit again; with checkpoint=... the run resumes."
            )
        return well

    def _lost(self) -> str:
        return (
            "The connection to the Dask scheduler is lost. Start it again, connect a new client and"
            " fit again; with checkpoint=... the run resumes."
        )

    def memory_limits(self) -> dict[str, int]:
        """The memory limit of each worker, 0 if it has none."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return {address: int(about.get("memory_limit") or 0) for address, about in workers.items()}


@contextmanager
def admitted(need: float) -> Iterator[None]:
    """Wait until the tasks of this process leave `need` bytes of its memory limit, or there is
    none but this one.
    """
    limit = _memory_limit()
    with _free:
        while limit and _in_use and sum(_in_use) + need > limit:
            _free.wait(POLL)
        _in_use.append(need)
    try:
        yield
    finally:
        with _free:
            _in_use.remove(need)
            _free.notify_all()


def _memory_limit() -> float:
    """Of the Dask worker that computes this task; 0 if there is none."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return 0.0
    try:
        return float(distributed.get_worker().memory_manager.memory_limit or 0)
    except ValueError:  # not on a worker
        return 0.0


def _gigabytes(n: float | None) -> str:
    return f"{(n or 0) / 2**30:.1f} GiB" if n else "none is set"
