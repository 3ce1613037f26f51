"""Archives of a manifest and arrays in memory, to be changed (damage.py) and packed again."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from topoi.storage.archive import sealed


@dataclass
class Contents:
    """An archive in memory, and how it differs from one that topoi writes."""

    manifest: Any
    arrays: dict[str, np.ndarray]
    members: dict[str, bytes] = field(default_factory=dict)  # in place of arrays, or beside
    twice: list[str] = field(default_factory=list)  # members that come again
    text: Callable[[str], str] | None = None  # what happens to the text of the manifest
    packing: Callable[[bytes], bytes] | None = None  # what happens to the whole zip
    seal: bool = False  # make the digest anew


def contents_of(path: Path) -> Contents:
    """The undamaged archive at `path`."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        arrays = {
            name[:-4]: np.lib.format.read_array(io.BytesIO(archive.read(name)), allow_pickle=False)
            for name in names
        }
    return Contents(manifest, arrays)


def packed(contents: Contents) -> bytes:
    """The bytes of the zip."""
    manifest = contents.manifest
    if contents.seal and isinstance(manifest, dict):
        manifest = sealed(
            {key: value for key, value in manifest.items() if key != "sha256"}, contents.arrays
        )
    text = json.dumps(manifest)
    text = contents.text(text) if contents.text is not None else text
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("manifest.json", text.encode("utf-8", "surrogatepass"))
        for name in [
            *contents.arrays,
            *(name for name in contents.members if name not in contents.arrays),
        ]:
            archive.writestr(
                name if name in contents.members and "." in name[-5:] else f"{name}.npy",
                _bytes(contents, name),
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "Duplicate name"
            for name in contents.twice:
                if name == "manifest":
                    archive.writestr("manifest.json", text.encode("utf-8", "surrogatepass"))
                elif name in contents.arrays or name in contents.members:
                    archive.writestr(f"{name}.npy", _bytes(contents, name))
    return contents.packing(out.getvalue()) if contents.packing is not None else out.getvalue()


def _bytes(contents: Contents, name: str) -> bytes:
    return contents.members[name] if name in contents.members else npy(contents.arrays[name])


def npy(array: np.ndarray, **header: Any) -> bytes:
    """An array as a .npy file; `header` replaces what its header says."""
    out = io.BytesIO()
    said = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape, **header}
    np.lib.format.write_array_header_1_0(out, said)
    return out.getvalue() + np.ascontiguousarray(array).tobytes()
