"""Free memory is what the machine and all limits leave, those of containers and batch jobs too."""

from __future__ import annotations

import psutil
import pytest

from topoi import free_memory as module
from topoi.free_memory import free_memory

LITTLE, USED, CACHED = 5000, 2000, 500


@pytest.fixture
def group(tmp_path, monkeypatch):
    """Put this process into control groups of its own: lines of /proc/self/cgroup, and files."""

    def put(lines, files):
        listed = tmp_path / "self"
        listed.write_text(lines)
        for name, content in files.items():
            path = tmp_path / "groups" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content}\n")
        monkeypatch.setattr(module, "GROUPS", tmp_path / "groups")
        monkeypatch.setattr(module, "GROUPS_OF_THIS_PROCESS", listed)

    return put


def files_of_version_2(folder, limit):
    return {
        f"{folder}memory.max": limit,
        f"{folder}memory.current": USED,
        f"{folder}memory.stat": f"anon 1500\ninactive_file {CACHED}",
    }


def test_a_container_has_what_its_limit_leaves(group):
    """Cached files count as used, but the system gives them back."""
    group("0::/job\n", files_of_version_2("job/", LITTLE))
    assert free_memory() == LITTLE - USED + CACHED


def test_the_limits_of_outer_groups_hold_too(group):
    inner, outer = files_of_version_2("slice/job/", "max"), files_of_version_2("slice/", LITTLE)
    group("0::/slice/job\n", {**inner, **outer})
    assert free_memory() == LITTLE - USED + CACHED


def test_limits_of_the_first_version_hold(group):
    files = {
        "memory/job/memory.limit_in_bytes": LITTLE,
        "memory/job/memory.usage_in_bytes": USED,
        "memory/job/memory.stat": f"cache 900\ntotal_inactive_file {CACHED}",
    }
    group("9:name=systemd:/\n4:cpu,memory:/job\n0::/\n", files)
    assert free_memory() == LITTLE - USED + CACHED


def test_a_container_that_sees_its_own_group_as_the_root_is_found(group):
    """The path then is that of the host, of which only the root is there."""
    group("0::/../host/path\n", files_of_version_2("", LITTLE))
    assert free_memory() == LITTLE - USED + CACHED


def test_more_in_use_than_allowed_is_nothing_free(group):
    group("0::/job\n", files_of_version_2("job/", USED // 2))
    assert free_memory() == 0


def test_without_limits_it_is_what_the_machine_has(group):
    group("0::/job\n", files_of_version_2("job/", "max"))
    assert 0.5 < free_memory() / psutil.virtual_memory().available < 2


def test_an_address_space_limit_holds(group):
    resource = pytest.importorskip("resource")
    group("", {})
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + 2**29, before[1]))
    try:
        assert free_memory() <= 2**29
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
