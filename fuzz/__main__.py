"""The command: `python -m fuzz models|checkpoints|readers|kills|all --n N --seed S`.

The kills are not part of all.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module

from fuzz.harness import Case, run_cases, table

TARGETS = {"models": 1, "checkpoints": 5, "readers": 5}  # "all": one case for so many of models

SHOWN = 20  # failures


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m fuzz", description="Give topoi files that are wrong but well-formed."
    )
    parser.add_argument("target", choices=[*TARGETS, "kills", "all"])
    parser.add_argument(
        "--n",
        type=int,
        default=1000,
        help=(
            "cases or kills; cases for each reader as well (all: of models; a fifth of it for"
            " checkpoints and for each reader)"
        ),
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", help="one reader only, such as csv or npz")
    parser.add_argument(
        "--only",
        metavar="NAME",
        help="the one case whose name begins so, in this process: an error is shown in full",
    )
    args = parser.parse_args()
    chosen = (
        {name: -(-args.n // share) for name, share in TARGETS.items()}
        if args.target == "all"
        else {args.target: args.n}
    )
    results, failed = {}, False
    for name, n, make in _parts(chosen, args.reader):
        began = time.perf_counter()
        cases = make(n, args.seed)
        if args.only is not None:
            for case in cases:
                if args.only in (case.name, case.name.split(" ")[0]):
                    print(case.name, case.run(), sep=": ")
            continue
        results[name], failures = run_cases(cases)
        for failure in failures[:SHOWN]:
            print(
                f"{failure.outcome} {failure.detail}\n    {failure.name}\n    python -m fuzz"
                f" {name.split()[0]} --n {n} --seed {args.seed} --only NAME"
            )
        failed |= bool(failures)
        print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    if results:
        print(table(results))
    sys.exit(failed)


def _parts(
    chosen: dict[str, int], reader: str | None
) -> Iterator[tuple[str, int, Callable[[int, int], Iterator[Case]]]]:
    """Targets with their numbers of cases; every reader is a target of its own."""
    for name, n in chosen.items():
        module = import_module(f"fuzz.{name}")
        if name != "readers":
            yield name, n, module.cases
            continue
        for part in module.readers() if reader is None else [reader]:
            yield f"readers {part}", n, partial(module.cases, reader=part)


if __name__ == "__main__":
    main()
