"""Matrices in binary or exchange formats: MatrixMarket and .npz written, AnnData read and
written.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import psutil
from scipy import sparse

from topoi.corpus import Corpus
from topoi.corpus.checks import is_whole
from topoi.io.formats.checks import TOO_LARGE, naming
from topoi.io.lines import existing
from topoi.io.registry import ReadOptions
from topoi.storage.archive import MOST_EXPANSION
from topoi.storage.files import atomic_write

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["from_anndata", "is_anndata", "open_h5ad", "read_h5ad", "to_anndata", "write_h5ad"]


# ------------------------------------------------------------------------------------------ AnnData


def is_anndata(data: object) -> TypeGuard[AnnData]:
    """Whether something is AnnData, or looks like it.

    Parameters
    ----------
    data : object
        Anything.

    Examples
    --------
    >>> is_anndata([["cat", "dog"]])
    False
    """
    return hasattr(data, "var_names") and hasattr(data, "obs_names")


def from_anndata(data: AnnData, layer: str | None = None) -> Corpus:
    """Cells x genes (or whatever AnnData holds) as documents x words; names of observations and
    variables are kept.

    Parameters
    ----------
    data : AnnData
        Counts of features in observations.
    layer : str, default=None
        The layer that holds the counts. Default: X.

    Returns
    -------
    Corpus
        Observations are documents, variables are words.

    Examples
    --------
    >>> import topoi
    >>> data = topoi.formats.to_anndata(topoi.Corpus([[1, 2]], ["cat", "dog"]))
    >>> topoi.formats.from_anndata(data).words
    ['cat', 'dog']
    """
    data = data.to_memory() if getattr(data, "isbacked", False) else data
    layers = list(getattr(data, "layers", ()))
    known = ", ".join(map(str, layers))
    if layer is not None and layer not in layers:
        raise ValueError(
            f"The AnnData has no layer {layer!r}; it has {known or 'none, so leave layer out'}."
        )
    matrix = data.X if layer is None else data.layers[layer]
    corpus = Corpus(
        matrix, list(map(str, data.var_names)), doc_names=list(map(str, data.obs_names))
    )
    if layer is None and not is_whole(corpus.counts):
        cure = (
            f"name the layer that has them with layer=..., one of {known}"
            if layers
            else "put them into X"
        )
        warnings.warn(
            "X of the AnnData holds fractions, as normalised data do, and topics are learned from"
            f" counts; {cure}.",
            stacklevel=4,
        )
    return corpus


def to_anndata(corpus: Corpus) -> AnnData:
    """A corpus as AnnData, with the names of documents and words.

    Parameters
    ----------
    corpus : Corpus
        Documents.

    Returns
    -------
    AnnData
        Documents are observations, words are variables.

    Examples
    --------
    >>> import topoi
    >>> topoi.formats.to_anndata(topoi.Corpus([[1, 2]], ["cat", "dog"])).shape
    (1, 2)
    """
    anndata = _anndata()
    import pandas as pd

    names = (
        corpus.doc_names if corpus.doc_names is not None else [str(d) for d in range(corpus.n_docs)]
    )
    obs = pd.DataFrame(index=pd.Index(names, dtype=str))
    var = pd.DataFrame(index=pd.Index(np.array(corpus.words, dtype=str), dtype=str))
    return anndata.AnnData(sparse.csr_matrix(corpus.counts), obs=obs, var=var)


def read_h5ad(path: str | Path, options: ReadOptions) -> Corpus:
    """Read AnnData from a file."""
    with naming(Path(path)):
        return from_anndata(open_h5ad(path), options.layer)


def open_h5ad(path: str | Path) -> AnnData:
    """The AnnData of a file, once its sizes are known to be possible.

    Parameters
    ----------
    path : str or Path
        An .h5ad file.

    Returns
    -------
    AnnData
        In memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import topoi
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (path,) = topoi.write(topoi.Corpus([[1, 2]]), Path(folder) / "pets.h5ad")
    ...     topoi.formats.open_h5ad(path).shape
    (1, 2)
    """
    path = existing(path)
    anndata = _anndata()
    try:
        _refuse_impossible(path)
        return anndata.read_h5ad(path)
    except MemoryError as error:
        raise ValueError(f"{path} {TOO_LARGE}") from error
    except Exception as error:  # a damaged file fails in many ways
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        fault = f"is not an .h5ad file, or it is damaged ({reason.rstrip('.')})"
        raise ValueError(f"{path} {fault}; get a whole copy.") from error


def _refuse_impossible(path: Path) -> None:
    """Refuse arrays that claim more than the file can hold, or more than there is memory."""
    import h5py

    sizes: dict[str, int] = {}

    def measure(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset):
            sizes[name] = item.size * item.dtype.itemsize if item.size else 0

    with h5py.File(path, "r") as file:
        file.visititems(measure)
    most = MOST_EXPANSION * path.stat().st_size
    bad = next((name for name, size in sizes.items() if size > most), None)
    if bad is not None:
        raise ValueError(f"{bad} claims {sizes[bad]:,} bytes, more than the file can hold")
    if sum(sizes.values()) > psutil.virtual_memory().available:
        raise MemoryError


def write_h5ad(corpus: Corpus, path: str | Path) -> None:
    """An AnnData file, made in memory: HDF5 crashes when it closes a file on a full disk."""
    data = to_anndata(corpus)
    import h5py

    try:
        from anndata.io import write_elem
    except ImportError:  # before 0.11
        from anndata.experimental import write_elem
    with h5py.File("memory", "w", driver="core", backing_store=False) as image:
        write_elem(image, "/", data)
        image.flush()
        content = image.id.get_file_image()
    with atomic_write(path) as file:
        file.write(content)


def _anndata() -> Any:
    try:
        import anndata
    except ImportError as error:
        raise ModuleNotFoundError(
            "AnnData files need the package anndata; install it with: pip install 'topoi[anndata]'"
        ) from error
    return anndata
