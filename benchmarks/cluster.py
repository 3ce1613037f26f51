"""Fits on a Dask cluster: quality by the number of shards, bits by the number of workers, bytes,
faults, and growth on paper.

--parts chooses some of them. `faults` kills workers, clients and schedulers at random moments of
small runs and compares the bits of what is learned with those of an undisturbed run.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import Cells, aim, load, mean_and_spread, note, score, split, table
from benchmarks.local_cluster import LocalProcesses, count_bytes, counted_bytes
from topoi import LDA, datasets
from topoi.infer.rounds import ALL_SENT_EVERY

PARTS = ("quality", "workers", "bytes", "faults", "paper")
SHARDS = (2, 8, 64)
WORKERS = (1, 2, 4)  # processes
PATIENCE = 300.0  # seconds after which a run hangs
ROUNDS = 30  # of a run that is disturbed
FIRST, LATER = 5.0, 0.2  # seconds of the start (reading, first topics) and of a round, roughly


def run(args: argparse.Namespace) -> None:
    show = {
        "quality": _quality,
        "workers": _workers,
        "bytes": _bytes,
        "faults": _faults,
        "paper": _paper,
    }
    for part in args.parts or PARTS:
        print(f"### {part}\n", flush=True)
        show[part](args)


def cut(counts: Any, n: int) -> list[Any]:
    """Documents in n shards, drawn at random."""
    order = np.random.default_rng(0).permutation(counts.shape[0])
    return [counts[np.sort(part)] for part in np.array_split(order, n)]


# ---------------------------------------------------------------------------------------- quality


def _quality(args: argparse.Namespace) -> None:
    sets = args.sets or (["cora"] if args.quick else ["cora", "kos"])
    n_topics, seeds = (10, 1) if args.quick else ((args.topics or [50])[0], args.seeds or 3)
    cells = Cells(args.cells, measure)
    methods = ["auto", "incremental", *(f"{n} shards" for n in SHARDS)]
    rows = []
    for name in sets:
        found = {
            method: [cells.get(args.data, name, n_topics, method, seed) for seed in range(seeds)]
            for method in methods
        }
        mean = {m: float(np.mean([c["perplexity"] for c in cells_])) for m, cells_ in found.items()}
        shown = (mean_and_spread([c["perplexity"] for c in found[method]]) for method in methods)
        rounds = (f"{np.mean([c['rounds'] for c in found[method]]):.0f}" for method in methods)
        rows += [[name, "perplexity", *shown], [name, "rounds", *rounds]]
        for one in ("incremental", "auto"):
            worst = max(mean[f"{n} shards"] for n in SHARDS) / mean[one] - 1
            aim(f"{name}: shards within 1 % of {one} (worst {worst:+.1%})", worst <= 0.01)
    print()
    table(["set", f"K = {n_topics}, {seeds} seeds", *methods], rows)


def measure(data: Path, name: str, n_topics: int, method: str, seed: int) -> dict[str, Any]:
    """Held-out perplexity of one fit."""
    from dask.distributed import Client

    train, test = split(data, name)
    if not method.endswith("shards"):
        model = LDA(n_topics, schedule=method, random_state=seed).fit(train.counts)  # type: ignore[arg-type]
    else:
        shards = cut(train.counts, int(method.split()[0]))
        with Client(processes=False, dashboard_address=":0") as client:
            model = LDA(n_topics, random_state=seed).fit(shards, client=client)
    return {"perplexity": score(model.components_, test), "rounds": model.n_iter_}


# ---------------------------------------------------------------------------------------- workers


def _workers(args: argparse.Namespace) -> None:
    name, n_topics, rounds = ("cora", 10, 12) if args.quick else ("kos", 50, 40)
    shards = cut(load(args.data, name).counts, 8)
    found = []
    for n in WORKERS:
        with LocalProcesses(n) as cluster, cluster.client() as client:
            model = LDA(n_topics, max_iter=rounds, tol=0).fit(shards, client=client)
        found.append((model.components_, model.doc_topic_))
    same = all(
        np.array_equal(table, first)
        for tables in found[1:]
        for table, first in zip(tables, found[0], strict=True)
    )
    aim(f"{name}, K={n_topics}, 8 shards: same bits on {WORKERS} worker processes", same)


# ------------------------------------------------------------------------------------------ bytes


def _bytes(args: argparse.Namespace) -> None:
    name, n_topics = ("cora", 10) if args.quick else ("kos", (args.topics or [50])[0])
    counts = load(args.data, name).counts
    table_bytes = 4 * counts.shape[1] * n_topics
    rows = []
    for n_workers, n_shards in ((2, 4), (2, 16), (4, 4), (4, 16)):
        shards = cut(counts, n_shards)
        after = {n: _transferred(shards, n_topics, n_workers, n) for n in (20, 40)}
        per_round = {key: (after[40][key] - after[20][key]) / 20 for key in after[40]}
        dense = table_bytes * (n_shards + n_workers) / n_workers
        rows.append(
            [
                n_workers,
                n_shards,
                *(f"{per_round[key] / 1e6:.2f}" for key in ("client", "scheduler", "worker")),
                f"{dense / 1e6:.2f}",
            ]
        )
    print(f"{name}, K = {n_topics}: MB per round, of rounds 21 to 40. The table has")
    print(f"{table_bytes / 1e6:.2f} MB; dense is one contribution of each shard of a worker, and")
    print("one table for it.\n")
    columns = ["workers", "shards", "client", "scheduler", "each worker", "dense"]
    table(columns, rows)


def _transferred(shards: list[Any], n_topics: int, n_workers: int, n: int) -> dict[str, float]:
    """Bytes that the client, the scheduler and a worker send in a fit of n rounds."""
    with LocalProcesses(n_workers) as cluster, cluster.client() as client:
        count_bytes()
        client.run_on_scheduler(count_bytes)
        before = counted_bytes()
        LDA(n_topics, max_iter=n + 20, tol=0, callbacks=[partial(_is_at, n)]).fit(
            shards, client=client, keep_documents=False
        )
        sent = client.run(_sent_to_workers)
        return {
            "client": counted_bytes() - before,
            "scheduler": client.run_on_scheduler(counted_bytes),
            "worker": float(np.mean(list(sent.values()))),
        }


def _is_at(n: int, _model: Any, record: Any) -> bool:
    return bool(record.sweep == n)


def _sent_to_workers(dask_worker: Any) -> int:
    """Dask's own count of the results that a worker sent to others."""
    return int(dask_worker.transfer_outgoing_bytes_total)


# ----------------------------------------------------------------------------------------- faults


def part(number: int, n_parts: int) -> Any:
    """A shard of a small synthetic corpus, loaded where it is needed."""
    return cut(datasets.make_lda(400, 200, 8, random_state=0)[0].counts, n_parts)[number]


def fit_small(file: str, checkpoint: str | None, out: str) -> None:
    """Fit in a process of its own; what was learned, or the error, goes to `out`."""
    from dask.distributed import Client

    began = time.monotonic()
    progress = Path(f"{out}.round")
    progress.write_text("0")

    def note_round(_model: Any, record: Any) -> None:  # a true answer would stop the run
        progress.write_text(str(record.sweep))

    try:
        with Client(scheduler_file=file) as client:
            model = LDA(
                8,
                max_iter=ROUNDS,
                tol=0,
                callbacks=[note_round],
            ).fit(
                [partial(part, number, 4) for number in range(4)],
                client=client,
                checkpoint=checkpoint,
                checkpoint_every=5,
            )
        assert model.n_iter_ == ROUNDS, "the run ended early"
        learned = {"components": model.components_, "documents": model.doc_topic_}
    except Exception as error:
        learned = {"error": np.array(f"{type(error).__name__}: {error}")}
    np.savez(out, seconds=time.monotonic() - began, **learned)


def _faults(args: argparse.Namespace) -> None:
    n_workers, n_clients, n_schedulers = (1, 1, 1) if args.quick else args.faults
    draw = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        expected = _fitted(Path(folder) / "plain", None)
        rows, bad = [], 0
        kinds = ["worker"] * n_workers + ["client"] * n_clients + ["scheduler"] * n_schedulers
        for number, kind in enumerate(kinds):
            moment = draw.randrange(ROUNDS - 1) + draw.random()
            found = _fitted(Path(folder) / str(number), (kind, moment))
            same = "components" in found and all(
                np.array_equal(found[key], expected[key]) for key in ("components", "documents")
            )
            bad += not same
            rows.append([kind, found["round"], "same bits" if same else str(found.get("error"))])
            note(f"{number}: {rows[-1]}")
    table(["killed", "after round", "result"], rows)
    aim(f"{len(rows)} runs: no hang, none lost, the bits of an undisturbed run", not bad)


def _fitted(out: Path, fault: tuple[str, float] | None) -> dict[str, Any]:
    """What a fit learns whose worker, client or scheduler is killed; the latter two start again.

    fault: what is killed, and when: so many rounds, and the fraction of a second after them.
    """
    context = get_context("spawn")
    folder = None if fault is None or fault[0] == "worker" else str(out.with_suffix(".run"))
    with LocalProcesses(3) as cluster:
        cluster.client().close()
        fit = partial(context.Process, target=fit_small)
        process = fit(args=(str(cluster.file), folder, str(out)))
        process.start()
        at = ""
        if fault is not None:
            kind, moment = fault
            while _round(out) < int(moment) and process.is_alive():
                time.sleep(0.005)
            time.sleep((moment % 1) * (FIRST if moment < 1 else LATER))
            at = str(_round(out))
            if not process.is_alive():
                return {"round": at, "error": "it ended before anything was killed"}
            if kind == "worker":
                cluster.kill_worker(0)
                cluster.add_worker()
            elif kind == "client" and process.pid is not None:
                process.kill()
                process.join()
                process = fit(args=(str(cluster.file), folder, str(out)))
                process.start()
            elif kind == "scheduler":
                cluster.kill()
                process.join(PATIENCE)
                if process.is_alive():
                    process.kill()
                    return {"round": at, "error": "it hangs without a scheduler"}
                note(str(np.load(f"{out}.npz").get("error")))
                cluster.start()
                cluster.client().close()
                process = fit(args=(str(cluster.file), folder, str(out)))
                process.start()
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()
            return {"round": at, "error": "it hangs"}
    if not Path(f"{out}.npz").exists():
        return {"round": at, "error": f"it died with status {process.exitcode}"}
    return {**np.load(f"{out}.npz"), "round": at}


def _round(out: Path) -> int:
    """The last round that a fit has finished; -1 before it begins."""
    file = Path(f"{out}.round")
    return int(file.read_text() or -1) if file.exists() else -1


# ------------------------------------------------------------------------------------------ paper


def _paper(args: argparse.Namespace) -> None:
    """Seconds of a round of 10^9 tokens and 1,000 topics on 100 workers."""
    tokens, n_topics, n_words, n_workers = 1e9, 1000, 1e5, 100
    edges = tokens / 2  # a word occurs twice in a document that it occurs in, on average
    favoured, passes, per_second = 64, 4, 2e9  # updates of one number of a message, 8 threads
    computed = edges / n_workers * favoured * passes / per_second
    rows = []
    dense = 4 * n_words * n_topics  # a contribution, or a table
    # Of a contribution at most three cells for each edge of the shard are sent, of the table 1/200
    # and more of a word: at most 200 cells of each.
    sparse = 6 * min(3 * edges / n_workers, n_words * n_topics) + 6 * n_words * 200
    mean = (dense * 2 + (ALL_SENT_EVERY - 1) * sparse) / ALL_SENT_EVERY
    for name, n_bytes in (("all cells", 2 * dense), ("large cells", sparse), ("mean", mean)):
        for speed in (1, 10):
            seconds = 8 * n_bytes / (speed * 1e9)
            rows.append(
                [
                    name,
                    f"{n_bytes / 1e6:,.0f}",
                    f"{speed} Gbit/s",
                    f"{seconds:.1f}",
                    f"{seconds / computed:.1f}",
                ]
            )
    print(f"A round computes for {computed:.0f} s on each worker.\n")
    table(["sent", "MB in and out of a worker", "network", "seconds", "times computation"], rows)
