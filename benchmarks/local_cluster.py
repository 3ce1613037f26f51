"""A Dask cluster of separate processes on this machine, which can be counted and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Any

__all__ = ["LocalProcesses", "count_bytes", "counted_bytes"]

WRITTEN: Counter[str] = Counter()  # bytes that this process wrote, by the address of the other side


class LocalProcesses:
    """A scheduler and workers, each a process of its own. Use it as a context manager."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers, self.folder = n_workers, tempfile.TemporaryDirectory()
        self.file = Path(self.folder.name) / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> LocalProcesses:
        self.start()
        return self

    def start(self) -> None:
        """Start a scheduler, and workers for it."""
        self.file.unlink(missing_ok=True)
        self.scheduler = _run("scheduler", "--port", "0", "--no-dashboard", *self._named())
        while not self.file.exists():
            time.sleep(0.05)
        self.workers = []
        for _ in range(self.n_workers):
            self.add_worker()

    def add_worker(self) -> None:
        options = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory"]
        self.workers.append(_run("worker", *self._named(), *options, self.folder.name))

    def _named(self) -> list[str]:
        return ["--scheduler-file", str(self.file)]

    def kill_worker(self, number: int) -> None:
        os.kill(self.workers[number].pid, signal.SIGKILL)

    def kill(self) -> None:
        """Kill everything."""
        for process in [*self.workers, *([self.scheduler] if self.scheduler else [])]:
            process.kill()
            process.wait()

    def client(self) -> Any:
        from dask.distributed import Client

        client = Client(scheduler_file=str(self.file))
        client.wait_for_workers(self.n_workers, timeout=60)
        return client

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        self.folder.cleanup()


def _run(what: str, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dask", what, *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def count_bytes() -> None:
    """From now on count what this process writes to others."""
    from distributed.comm.tcp import TCP

    if hasattr(TCP, "uncounted_write"):
        return
    TCP.uncounted_write = TCP.write

    async def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        n_bytes = await TCP.uncounted_write(self, *args, **kwargs)
        WRITTEN[self.peer_address] += n_bytes if isinstance(n_bytes, int) else 0
        return n_bytes

    TCP.write = write


def counted_bytes() -> int:
    """Bytes that this process has written to all others."""
    return sum(WRITTEN.values())
