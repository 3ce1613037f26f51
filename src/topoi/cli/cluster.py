"""`--cluster`: a fit on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from topoi.cli.output import note

__all__ = ["connected"]

PATIENCE = 60  # seconds until the scheduler answers and has a worker


@contextmanager
def connected(address: str | None) -> Iterator[dict[str, object]]:
    """What `fit` is given for the cluster at `address`; nothing if there is none."""
    if address is None:
        yield {}
        return
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise ModuleNotFoundError(
            "--cluster needs Dask; install it with: pip install 'topoi[distributed]'"
        ) from error
    try:
        client = Client(address, timeout=PATIENCE)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise ValueError(
            f"No Dask scheduler answers at {address}; start one with: dask scheduler"
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise ValueError(
                f"The cluster at {address} has no workers; start some with: dask worker {address}"
            ) from error
        note(f"{len(client.nthreads())} workers at {address}.")  # type: ignore[no-untyped-call]
        yield {"client": client, "keep_documents": False}
