"""Small JSON files, which people write or a page exports: seed words, edits of topics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from topoi.io.lines import existing

__all__ = ["read_object"]

MOST_BYTES = 2**24


def read_object(path: str | Path, expected: str) -> dict[str, Any]:
    """The object in a JSON file, every key of it once.

    Parameters
    ----------
    path : str or Path
        The file.
    expected : str
        What it should hold, for errors.

    Returns
    -------
    dict

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "seeds.json"
    ...     _ = path.write_text('{"economy": ["tax", "budget"]}')
    ...     read_object(path, "lists of words by topic name")
    {'economy': ['tax', 'budget']}
    """
    path = existing(path)
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path} is too large, or not a file; expected {expected} as JSON.")
    try:
        found = json.loads(
            path.read_text(encoding="utf-8-sig"), object_pairs_hook=lambda pairs: _once(pairs, path)
        )
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON ({error}); expected {expected}.") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path} holds no JSON object; expected {expected}.")
    return found


def _once(pairs: list[tuple[str, object]], path: Path) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{path} has {twice[:60]!r} twice; keep one of them.")
    return found
