"""A small sample of `make fuzz`: wrong but well-formed files are refused, or harmless."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="needs os.fork")
sys.path.insert(0, str(Path(__file__).parent.parent))

from fuzz import checkpoints, models
from fuzz.harness import Case, outcome_of, run_cases


@pytest.mark.parametrize(("target", "n"), [(models, 270), (checkpoints, 150)])
def test_wrong_but_well_formed_files_are_refused_or_harmless(target, n):
    counts, failures = run_cases(target.cases(n, seed=1))
    assert not failures
    assert sum(counts.values()) == n
    assert counts["refused"] > n / 2
    assert counts["harmless"] > 0


def test_the_same_seed_gives_the_same_cases():
    assert [case.name for case in models.cases(20, 3)] == [
        case.name for case in models.cases(20, 3)
    ]


def test_the_harness_sees_crashes_hangs_and_raw_errors(tmp_path):
    cases = [
        Case("fine", lambda: "refused"),
        Case("crash", lambda: os.kill(os.getpid(), signal.SIGKILL) or "harmless"),
        Case("hang", lambda: time.sleep(60) or "harmless"),
        Case("raw", lambda: {}["x"]),
        Case("memory", lambda: bytes(2**40) and "harmless"),
        Case("silent", lambda: "different"),
        Case("fine again", lambda: "harmless"),
    ]
    counts, failures = run_cases(cases, seconds=1.0)
    assert counts == {"refused": 1, "harmless": 1, "crash": 1, "hang": 1, "raw": 2, "different": 1}
    assert [failure.name for failure in failures] == ["crash", "hang", "raw", "memory", "silent"]
    assert (
        outcome_of(
            lambda: (_ for _ in ()).throw(ValueError(f"{tmp_path} is not a model")), tmp_path
        )
        == "refused"
    )
    with pytest.raises(ValueError, match="raw"):
        outcome_of(lambda: (_ for _ in ()).throw(ValueError("raw")), tmp_path)
