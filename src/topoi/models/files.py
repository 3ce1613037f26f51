"""Model files: one zip of a JSON manifest and plain arrays. Reading one never executes code.

What a file may hold is described in models/schema.py, for writing and for reading alike. A file is
written whole or not at all (storage/files.py).
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoi.storage.archive import Archive, Refused, open_archive, sealed, write_archive
from topoi.storage.schema import decoded, encoded

if TYPE_CHECKING:
    pass

__all__ = ["FORMAT", "load", "save"]

FORMAT = 3
KEYS = {"format", "topoi", "class", "values", "sha256"}  # of the manifest
MODELS = {
    "AuthorTopicModel": "topoi.models.author",
    "LDA": "topoi.models.lda",
    "LabeledLDA": "topoi.models.labeled",
    "LatentDirichletAllocation": "topoi.models.sklearn_lda",
    "RelationalTopicModel": "topoi.models.relational",
    "TopicModel": "topoi.models.composite",
}


def save(model: Any, path: str | Path) -> None:
    """Write a fitted model to one file.

    The checkpoint of the fit, if it had one and came to its end, is removed then: its work is safe.

    Parameters
    ----------
    model : fitted model
        A model of any class. The factors of a TopicModel, which hold its data, are not in the file.
    path : str or Path
        The file. It is replaced if it exists.
    """
    from topoi.models.contents import contents
    from topoi.models.schema import check_together, schema_of
    from topoi.version import __version__

    name = type(model).__name__
    if name not in MODELS or _kind(name) is not type(model):
        raise TypeError(
            f"A {name} cannot be saved: it is not a class of topoi. Save the arrays you need,"
            " or use pickle."
        )
    if not hasattr(model, "components_"):
        raise ValueError(f"This {name} is not fitted; call fit before save.")
    try:
        model._check_parameters()
        values, arrays = encoded(schema_of(type(model)), contents(model))
        check_together(type(model), {**values, **arrays})
    except Refused as error:
        raise ValueError(f"This {name} {error}") from None
    except (TypeError, ValueError) as error:
        raise type(error)(f"This {name} cannot be saved: {error}") from error
    manifest = {"format": FORMAT, "topoi": __version__, "class": name, "values": values}
    write_archive(Path(path), sealed(manifest, arrays), arrays)
    if getattr(model, "_finished_run", None) is not None:
        model._finished_run.discard()


def _kind(name: str) -> type[Any]:
    found: type = getattr(import_module(MODELS[name]), name)
    return found


def load(path: str | Path) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : str or Path
        A model file. Reading it never executes code.

    Returns
    -------
    fitted model
        Its `n_jobs`, `verbose` and `callbacks` are the defaults.

    Examples
    --------
    >>> import topoi
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> corpus, _ = topoi.datasets.make_blocks(n_topics=2)
    >>> with TemporaryDirectory() as folder:
    ...     topoi.LDA(2).fit(corpus).save(Path(folder) / "blocks.topoi")
    ...     model = topoi.load(Path(folder) / "blocks.topoi")
    >>> model.components_.shape
    (2, 20)
    """
    from topoi.models.contents import attributes
    from topoi.models.schema import check_together, schema_of

    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; give the path of a model file.")
    with open_archive(path, "a topoi model") as archive:
        kind = _class_of(archive)
        found = decoded(schema_of(kind), archive)
        check_together(kind, found)
        return attributes(kind(), found)


def _class_of(archive: Archive) -> type:
    """The class of the model in an archive, if this version of topoi can read it."""
    manifest = archive.manifest
    number, name = manifest.get("format"), manifest.get("class")
    if not isinstance(number, int) or isinstance(number, bool) or not isinstance(name, str):
        raise ValueError("its manifest names no format and class")
    if number > FORMAT:
        raise Refused(
            "was written by a newer topoi, in a file format that this one does not know; upgrade"
            " topoi to read it."
        )
    if number < FORMAT:
        raise Refused(
            "was written by an older topoi, in a file format that is no longer read; fit and save"
            " the model again."
        )
    if name not in MODELS:
        raise Refused(f"holds a {name[:60]!r}, which is not a topoi model; give another file.")
    if manifest.keys() != KEYS or not isinstance(manifest["topoi"], str):
        raise ValueError(f"its manifest has the keys {', '.join(sorted(manifest))[:100]}")
    return _kind(name)
