"""What blocks keep, in a folder beside the checkpoint of their run.

Files are written before the checkpoint that names their sweep, and those of other sweeps are
removed after it: a run that was killed at any moment finds the checkpoint with what belongs to it.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np

from topoi.graph.wiring import Graph
from topoi.infer.arrays import Kept
from topoi.infer.elsewhere import BlockGraphs
from topoi.infer.kept import MOST, WHOLE
from topoi.storage.archive import Refused, open_archive, sealed, write_archive
from topoi.storage.schema import Array, Schema, decoded, demand, encoded, whole

__all__ = ["KeptFiles"]

WHAT = "a part of a checkpoint of topoi"


class KeptFiles:
    """The folder beside the checkpoint at `path`. fingerprint: of its run."""

    def __init__(self, path: Path, fingerprint: str = "") -> None:
        self.folder = path.with_name(f"{path.name}.blocks")
        self.fingerprint = fingerprint

    def write(self, sweep: int, graphs: BlockGraphs) -> None:
        """Write what all blocks keep after a sweep."""
        self.folder.mkdir(exist_ok=True)
        for number, graph in enumerate(graphs):
            contents = {"sweep": sweep, "block": number, **graphs.kept(number)._asdict()}
            values, arrays = encoded(_schema(graph), contents)
            head = {"fingerprint": self.fingerprint, "values": values}
            write_archive(self._file(sweep, number), sealed(head, arrays), arrays, compress=False)

    def read(self, sweep: int, graphs: BlockGraphs) -> None:
        """Let all blocks keep what they kept after a sweep."""
        for number, graph in enumerate(graphs):
            file = self._file(sweep, number)
            if not file.is_file():
                raise ValueError(
                    f"{file} is missing, and the run cannot be resumed without it. Delete the"
                    " checkpoint to start afresh."
                )
            with open_archive(file, WHAT) as archive:
                if archive.manifest.get("fingerprint") != self.fingerprint:
                    raise Refused(
                        "belongs to the checkpoint of another run. Delete both to start afresh, or"
                        " give another file."
                    )
                found = decoded(_schema(graph), archive)
                demand(
                    (found["sweep"], found["block"]) == (sweep, number),
                    "it is of another sweep or block",
                )
                kept = Kept(*(found[name] for name in Kept._fields))
                _check(kept, graph)
            graphs.keep(number, kept)

    def remove(self, but: int | None = None) -> None:
        """Remove all files but those of one sweep, if any."""
        if not self.folder.is_dir():
            return
        for file in self.folder.iterdir():
            if but is None or not file.name.startswith(f"{but}-"):
                with suppress(OSError):
                    file.unlink()
        with suppress(OSError):  # it is not empty
            self.folder.rmdir()

    def _file(self, sweep: int, number: int) -> Path:
        return self.folder / f"{sweep}-{number}.zip"


def _schema(graph: Graph) -> Schema:
    numbers = (graph.n_edges, MOST)
    return Schema(
        {
            "sweep": whole(1),
            "block": whole(),
            "theta": Array("f4", (graph.n_slots, graph.width), 0, 1 + 1.01 * graph.weight),
            "places": Array("u2", numbers, 0, graph.width - 1),
            "parts": Array("u2", numbers, 0, WHOLE),
        }
    )


def _check(kept: Kept, graph: Graph) -> None:
    """What kernels rely on: places are in messages, and topics that do not exist hold nothing."""
    arrays = graph.arrays
    n_topics = np.diff(arrays.topic_ptr)
    of_edge = np.repeat(arrays.visit_doc, np.diff(arrays.visit_edge))
    room = np.where(n_topics > 0, n_topics, graph.n_topics)[of_edge]
    demand((kept.places < room[:, None]).all(), "places names a topic that does not exist")
    demand(
        not kept.theta[:, graph.n_topics :].any(),
        "theta holds something in topics that do not exist",
    )
