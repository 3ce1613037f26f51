"""What blocks keep, in a folder beside the checkpoint of their run.

Files are written before the checkpoint that names their sweep, and those of other sweeps are
removed after it: a run that was killed at any moment finds the checkpoint with what belongs to it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import numpy as np

from topoi.graph.wiring import Graph
from topoi.infer.arrays import Kept
from topoi.infer.elsewhere import BlockGraphs
from topoi.infer.kept import MOST, WHOLE
from topoi.storage.archive import Refused, open_archive, sealed, write_archive
from topoi.storage.files import WriteError
from topoi.storage.schema import Array, Schema, decoded, demand, encoded, whole

__all__ = ["KeptFiles"]

WHAT = "a part of a checkpoint of topoi"
CURE = "delete the checkpoint to start afresh"
# and what killed writers of such a file leave
OURS = re.compile(r"(\d+)-\d+\.zip|\.\d+-\d+\.zip\.[0-9a-f]{16}\.part")


class KeptFiles:
    """The folder beside the checkpoint at `path`. fingerprint: of its run."""

    def __init__(self, path: Path, fingerprint: str = "") -> None:
        self.folder = path.with_name(f"{path.name}.blocks")
        self.fingerprint = fingerprint

    def write(self, sweep: int, graphs: BlockGraphs) -> None:
        """Write what all blocks keep after a sweep."""
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise WriteError(
                error.errno,
                f"{self.folder} cannot be made ({reason}); it is for what blocks keep. Make room"
                " for it, or choose another place for the checkpoint.",
            ) from error
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
            with open_archive(file, WHAT, CURE) as archive:
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

    def remove(self, but: Collection[int] = ()) -> None:
        """Remove all files but those of some sweeps. Files of others stay."""
        if not self.folder.is_dir():
            return
        for file in self.folder.iterdir():
            ours = OURS.fullmatch(file.name)
            if ours and (ours[1] is None or int(ours[1]) not in but):
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
    """What kernels rely on: places are in messages, parts are of one message, and topics that do
    not exist hold nothing.
    """
    arrays = graph.arrays
    n_topics = np.diff(arrays.topic_ptr)
    of_edge = np.repeat(arrays.visit_doc, np.diff(arrays.visit_edge))
    room = np.where(n_topics > 0, n_topics, graph.n_topics)[of_edge]
    demand((kept.places < room[:, None]).all(), "places names a topic that does not exist")
    unused = -1 - np.arange(MOST)
    used = np.sort(np.where(kept.parts > 0, kept.places, unused), axis=1)
    demand((np.diff(used, axis=1) > 0).all(), "places names a topic of a message twice")
    whole = kept.parts.sum(axis=1, dtype=np.int64) <= 1.001 * WHOLE
    demand(whole.all(), "parts of a message are more than the whole")
    demand(
        not kept.theta[:, graph.n_topics :].any(),
        "theta holds something in topics that do not exist",
    )
