"""The command: `python -m experiments NAME --data DIR`."""

from __future__ import annotations

import argparse
import os
import time
from importlib.util import find_spec
from pathlib import Path

for library in (
    "OMP",
    "OPENBLAS",
    "MKL",
):  # two processes on two cores: each has one thread, said before NumPy is imported
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

from experiments.harness import NAMES, PROCESSES, Run, say  # noqa: E402
from experiments.page import publish  # noqa: E402


def parse(argv: list[str] | None = None) -> tuple[str, Run]:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Repeat the paper's experiments. Tables go to stdout, progress to stderr.",
    )
    parser.add_argument("name", choices=[*NAMES, "all"])
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("TOPOI_DATA"),
        required="TOPOI_DATA" not in os.environ,
        help="folder with NAME/NAME.npz for each corpus (default: TOPOI_DATA)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="CORA only, few folds, topics and sweeps: only to see that the command works",
    )
    parser.add_argument(
        "--out",
        type=Path,
        help=(
            "where finished cells are kept, so that a run resumes where it stopped (default:"
            " results)"
        ),
    )
    parser.add_argument(
        "--docs",
        type=Path,
        help=(
            "where CSV files, figures and the tables of paper.md go (default: docs, or OUT if"
            " --quick)"
        ),
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="SET",
        help="compute cells of these sets only; tables show all cells that are known",
    )
    parser.add_argument(
        "--hours",
        type=float,
        default=float("inf"),
        help="start no cell after so many hours (0: only write what is known; default: no limit)",
    )
    parser.add_argument(
        "--published",
        action="store_true",
        help="keep the cells of docs/paper, too, though another state of the library may have"
        " computed them",
    )
    parser.add_argument(
        "--processes", type=int, default=PROCESSES, help=f"cells at a time (default: {PROCESSES})"
    )
    args = parser.parse_args(argv)
    out = args.out or Path("results", "quick" if args.quick else "full")
    return args.name, Run(
        args.data,
        out,
        args.docs or (out if args.quick else Path("docs")),
        args.quick,
        tuple(args.only),
        time.time() + 3600 * args.hours,
        args.published,
        args.processes,
    )


def require_matplotlib() -> None:
    """Figures come after hours of work; what they need is asked for before."""
    if find_spec("matplotlib") is None:
        raise SystemExit("Figures need matplotlib, which is missing: pip install -e '.[paper]'")


def main() -> None:
    name, run = parse()
    require_matplotlib()
    for each in NAMES if name == "all" else [name]:
        began = time.perf_counter()
        print(
            f"## {each}{' (--quick: the numbers mean nothing)' if run.quick else ''}\n", flush=True
        )
        publish(run, each)
        say(f"{each}: {time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
