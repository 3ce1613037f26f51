"""Sparse tables as short text: a byte for each value, on a logarithmic scale."""

from __future__ import annotations

import base64
from typing import Any, TypeAlias

import numpy as np

__all__ = ["PageData", "pack", "short"]

STEPS = 255  # of a byte

PageData: TypeAlias = dict[str, Any]  # of the script of the page, which gets it as JSON


def pack(table: np.ndarray, least: float) -> dict[str, object]:
    """A table as text that the page's script unpacks.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
        Numbers of at least 0, with at most 65,535 columns.
    least : float
        Values below it are left out, and read as 0.

    Returns
    -------
    dict
        ``sizes``, ``columns`` and ``values`` are base64: entries per row (two bytes each), their
        columns (one byte each, or two if there are more than 256 columns) and values (one byte
        each). A value v reads as ``low * exp(v * step)``.

    Examples
    --------
    >>> pack(np.array([[0.5, 0.0], [0.25, 1.0]]), 0.01)["columns"]
    'AAAB'
    """
    rows, columns = np.nonzero(table >= least)
    values = table[rows, columns].astype(np.float64)
    low, high = (values.min(), values.max()) if len(values) else (1.0, 1.0)
    step = np.log(high / low) / STEPS
    codes = np.round(np.log(values / low) / step) if step > 0 else np.zeros(len(values))
    return {
        "sizes": _text(np.bincount(rows, minlength=len(table)), "<u2"),
        "columns": _text(columns, "u1" if table.shape[1] <= 256 else "<u2"),
        "values": _text(codes, "u1"),
        "low": short(low, 8),
        "step": short(step, 8),
    }


def _text(numbers: np.ndarray, kind: str) -> str:
    return base64.b64encode(numbers.astype(kind).tobytes()).decode()


def short(value: float, digits: int = 4) -> float:
    """A number with so many digits that count: fewer letters of JSON."""
    return float(f"{value:.{digits}g}")
