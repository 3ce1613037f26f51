"""How much memory this process may still take, in a container or a batch job, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil

__all__ = ["free_memory"]

GROUPS = Path("/sys/fs/cgroup")
GROUPS_OF_THIS_PROCESS = Path("/proc/self/cgroup")
# Version of control groups: the folder of its memory groups, the files of limit and use, and the
# entry of memory.stat with cached files, which the system gives back when memory is asked for.
FORMS = {
    1: ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("", "memory.max", "memory.current", "inactive_file"),
}


def free_memory() -> float:
    """Bytes that are free, on the machine and within all limits of this process."""
    free = float(psutil.virtual_memory().available)
    return max(min([free, *_left_of_address_space(), *_left_of_groups()]), 0.0)


def _left_of_address_space() -> Iterator[float]:
    """What `ulimit -v` leaves."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY:
        yield limit - float(psutil.Process().memory_info().vms)


def _left_of_groups() -> Iterator[float]:
    """What the control groups of this process (containers, batch jobs) leave, each of its own."""
    try:
        lines = GROUPS_OF_THIS_PROCESS.read_text().splitlines()
    except OSError:  # not Linux
        return
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number != "0" and "memory" not in controllers.split(","):
            continue
        folder, *files = FORMS[2 if number == "0" else 1]
        root = GROUPS / folder
        inner = root / path.lstrip("/")
        for group in (inner, *inner.parents):  # a group has no more than those around it
            yield from _left_of_group(group, *files)
            if group == root:
                break


def _left_of_group(group: Path, limit_file: str, used_file: str, cached: str) -> Iterator[float]:
    """What one group leaves, if it has a limit and can be seen."""
    try:
        limit, used = ((group / name).read_text().strip() for name in (limit_file, used_file))
        statistics = (group / "memory.stat").read_text().split()
    except OSError:
        return
    if limit != "max":
        known = dict(zip(statistics[::2], statistics[1::2], strict=False))
        yield float(limit) - float(used) + float(known.get(cached, 0))
