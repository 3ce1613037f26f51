"""Model files: one zip of a JSON manifest and plain arrays. Reading one never executes code.

Every value of a fitted model is written as JSON, or as an array that the JSON names. The file is written beside its target and then moved there, so a
crash never leaves half a file; zip checksums find a damaged one.
"""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from topoi.text import vectorizer_from, vectorizer_settings

__all__ = ["FORMAT", "decode", "encode", "load", "read_archive", "save", "write_archive"]

FORMAT = 1
MODELS = {
    "AuthorTopicModel": "topoi.models.author",
    "LDA": "topoi.models.lda",
    "LabeledLDA": "topoi.models.labeled",
    "LatentDirichletAllocation": "topoi.models.lda",
    "RelationalTopicModel": "topoi.models.relational",
}
PLAIN = {"Weighting": "topoi.graph.factors"}  # data classes a model holds
LEFT_OUT = ("callbacks", "init", "_online")  # code, the start of a run, and the means to go on with partial_fit


def save(model: Any, path: str | Path) -> None:
    """Write a fitted model to `path` in one file."""
    from topoi import __version__

    name = type(model).__name__
    if name not in MODELS:
        raise TypeError(f"A {name} cannot be saved; its factors may hold any code. Save the arrays you need, or use pickle.")
    if not hasattr(model, "components_"):
        raise ValueError(f"This {name} is not fitted; call fit before save.")
    arrays: dict[str, np.ndarray] = {}
    left_out = LEFT_OUT if isinstance(model.random_state, int | np.integer | None) else (*LEFT_OUT, "random_state")
    values = {key: encode(value, key, arrays) for key, value in vars(model).items() if key not in left_out}
    manifest = {"format": FORMAT, "topoi": __version__, "class": name, "values": values}
    write_archive(Path(path), manifest, arrays)


def write_archive(path: Path, manifest: dict[str, Any], arrays: dict[str, np.ndarray], *, compress: bool = True) -> None:
    """Write a manifest and arrays to one zip: beside `path` first, then moved there."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}.")
    temporary = path.with_name(f"{path.name}.part")
    try:
        with zipfile.ZipFile(temporary, "w") as archive:
            archive.writestr(_entry("manifest.json", compress), json.dumps(manifest, ensure_ascii=False))
            for key, array in arrays.items():
                with archive.open(_entry(f"{key}.npy", compress), "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _entry(name: str, compress: bool) -> zipfile.ZipInfo:
    """An entry of a zip with a fixed time, so that equal models are equal files."""
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    return entry


def load(path: str | Path) -> Any:
    """Read a model that `save` wrote."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; give the path of a model file.")
    manifest, arrays = read_archive(path, "a topoi model")
    _check(manifest, path)
    kind = getattr(import_module(MODELS[manifest["class"]]), manifest["class"])
    model = kind()
    try:
        for key, value in manifest["values"].items():
            setattr(model, key, decode(value, arrays))
        if model.components_.ndim != 2:
            raise ValueError("components_ is no table")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _damaged(path, "a topoi model", error) from error
    return model


def read_archive(path: Path, what: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The manifest and arrays of a zip that `write_archive` wrote; `what` names it in errors."""
    with path.open("rb") as file:
        try:
            return _read(file)
        except Exception as error:  # a damaged zip fails in many ways
            raise _damaged(path, what, error) from error


def _read(file: IO[bytes]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    with zipfile.ZipFile(file) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        arrays = {name.removesuffix(".npy"): _read_array(archive, name) for name in archive.namelist() if name.endswith(".npy")}
    if not isinstance(manifest, dict):
        raise TypeError("its manifest is no object")
    return manifest, arrays


def _read_array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    with archive.open(name) as file:
        array = np.lib.format.read_array(file, allow_pickle=False)
        file.read()  # to the end, where the checksum is looked at
    return array


def _damaged(path: Path, what: str, error: Exception) -> ValueError:
    return ValueError(f"{path} is not {what}, or it is damaged ({error}); give another file.")


def _check(manifest: dict[str, Any], path: Path) -> None:
    if not isinstance(manifest.get("format"), int) or not isinstance(manifest.get("class"), str):
        raise _damaged(path, "a topoi model", ValueError("its manifest names no format and class"))
    if manifest["format"] > FORMAT:
        raise ValueError(f"{path} was written by topoi {manifest.get('topoi')}, which has a newer file format; upgrade topoi to read it.")
    if manifest["class"] not in MODELS:
        raise ValueError(f"{path} holds a {manifest['class']!r}, which is no topoi model.")


def encode(value: Any, key: str, arrays: dict[str, np.ndarray]) -> Any:
    """JSON for a value; arrays go to `arrays` under names made of `key`."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        return value.item()
    if isinstance(value, np.dtype):
        return {"dtype": value.str}
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            return {"objects": [encode(item, f"{key}.{i}", arrays) for i, item in enumerate(value)]}
        arrays[key] = value
        return {"array": key}
    if sparse.issparse(value):
        table = sparse.csr_array(value)
        arrays[f"{key}.data"], arrays[f"{key}.indices"], arrays[f"{key}.indptr"] = table.data, table.indices, table.indptr
        return {"csr": key, "shape": list(table.shape)}
    if isinstance(value, list | tuple):
        return {"list": [encode(item, f"{key}.{i}", arrays) for i, item in enumerate(value)]}
    if isinstance(value, dict):
        return {"dict": [[encode(k, f"{key}.{i}k", arrays), encode(v, f"{key}.{i}v", arrays)] for i, (k, v) in enumerate(value.items())]}
    if isinstance(value, CountVectorizer):
        return {"vectorizer": encode(vectorizer_settings(value), key, arrays)}
    if is_dataclass(value) and type(value).__name__ in PLAIN:
        return {
            "plain": type(value).__name__,
            "values": {f.name: encode(getattr(value, f.name), f"{key}.{f.name}", arrays) for f in fields(value)},
        }
    raise TypeError(f"{key} is a {type(value).__name__}, which a model file cannot hold. Use pickle if you trust its readers.")


def decode(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "csr" in value:
        parts = tuple(arrays[f"{value['csr']}.{part}"] for part in ("data", "indices", "indptr"))
        table = sparse.csr_array(parts, shape=tuple(value["shape"]))
        table.check_format(full_check=True)
        return table
    if "vectorizer" in value:
        return vectorizer_from(decode(value["vectorizer"], arrays))
    if "dtype" in value:
        return np.dtype(value["dtype"])
    if "objects" in value:
        return np.array([decode(item, arrays) for item in value["objects"]], dtype=object)
    if "list" in value:
        return [decode(item, arrays) for item in value["list"]]
    if "dict" in value:
        return {decode(k, arrays): decode(v, arrays) for k, v in value["dict"]}
    kind = getattr(import_module(PLAIN[value["plain"]]), value["plain"])
    return kind(**{name: decode(item, arrays) for name, item in value["values"].items()})
