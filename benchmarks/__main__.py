"""The command: `python -m benchmarks NAME --data DIR [--quick] [--seeds N]`."""

from __future__ import annotations

import argparse
import os
import sys
import time
from importlib import import_module
from pathlib import Path

NAMES = (
    "quality",
    "priors",
    "models",
    "questions",
    "sweep",
    "threads",
    "startup",
    "auto",
    "afresh",
    "defaults",
    "clusters",
    "trends",
    "scaling",
    "regions",
    "race",
    "from_text",
    "seeds",
    "update",
    "cluster",
    "outofcore",
)


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure topoi. Tables go to stdout, progress to stderr.",
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
        "--quick", action="store_true", help="a tiny setting, only to see that the command works"
    )
    parser.add_argument(
        "--seeds",
        type=int,
        help="quality, priors, models, auto, clusters, trends: seeds (default 5, 3 or 50)",
    )
    parser.add_argument(
        "--sets",
        nargs="+",
        metavar="SET",
        help="quality, priors, models, auto, clusters, race: corpora (default: see README.md)",
    )
    parser.add_argument(
        "--methods",
        nargs="+",
        metavar="METHOD",
        help="quality: method names, or 'all' (default: see README.md)",
    )
    parser.add_argument(
        "--sweeps",
        type=int,
        help=(
            "quality: sweeps of all methods but GS (default as GS); priors, auto: of all; race: of"
            " topoi (default 200)"
        ),
    )
    parser.add_argument(
        "--gibbs-sweeps",
        type=int,
        help=(
            "quality: sweeps of GS (default 500 on cora and medl, 300 on nips and blog); race: of"
            " tomotopy and MALLET (default 1000)"
        ),
    )
    parser.add_argument(
        "--topics",
        type=int,
        nargs="+",
        metavar="K",
        help="race, auto, clusters, defaults: numbers of topics (default: see README.md)",
    )
    parser.add_argument(
        "--parts",
        nargs="+",
        choices=[
            "authors",
            "relations",
            "links",
            "labels",
            "quality",
            "bytes",
            "faults",
            "workers",
            "paper",
            "memory",
            "stream",
        ],
        help="models, questions, cluster, outofcore: some of their parts",
    )
    parser.add_argument(
        "--faults",
        type=int,
        nargs=3,
        default=[10, 3, 2],
        metavar="N",
        help="cluster: runs in which a worker, the client, the scheduler is killed",
    )
    parser.add_argument(
        "--peers",
        nargs="+",
        metavar="PEER",
        help=(
            "race, clusters: tomotopy, gensim, scikit-learn, MALLET, or (race) a name of --command"
            " (default: all that are here)"
        ),
    )
    parser.add_argument(
        "--command", action="append", metavar="NAME=COMMAND",
        help="race: one more peer, a command with {counts} (a UCI file), {topics}, {prior}, "
        "{threads} and {out} (topics x words, text or .npy)",
    )  # fmt: skip
    parser.add_argument(
        "--thorough",
        action="store_true",
        help="race: also two threads, and learned priors; clusters: all seeds for all libraries",
    )
    parser.add_argument(
        "--cells",
        type=Path,
        help="afresh, clusters, defaults: file in which measured cells are kept",
    )
    parser.add_argument(
        "--times", action="store_true", help="afresh: also the seconds to a given quality"
    )
    parser.add_argument(
        "--memory",
        action="store_true",
        help="afresh: instead, the memory of once, twice and four times the documents",
    )
    parser.add_argument("--pictures", type=Path, help="race: folder for one picture per corpus")
    return parser.parse_args(argv)


def main() -> None:
    args = parse()
    for name in NAMES if args.name == "all" else [args.name]:
        began = time.perf_counter()
        print(
            f"## {name}{' (--quick: the numbers mean nothing)' if args.quick else ''}\n", flush=True
        )
        import_module(f"benchmarks.{name}").run(args)
        print(flush=True)
        print(f"{name}: {time.perf_counter() - began:.0f} s in all", file=sys.stderr)


if __name__ == "__main__":
    main()
