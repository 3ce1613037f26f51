"""How topic proportions depend on what is known about documents: a regression for each topic."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import t as student

from topoi.explore.trends import check_level

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["design_matrix", "effects_table"]

INTERCEPT = "intercept"


def design_matrix(table: pd.DataFrame) -> tuple[np.ndarray, list[str]]:
    """Covariates as numbers.

    Parameters
    ----------
    table : pandas.DataFrame
        One column per covariate. Numbers are taken as they are; any other column is categorical:
        each value but the most frequent one, the reference, has a column of 0 and 1. In text,
        several values are not separated.

    Returns
    -------
    matrix : ndarray of shape (n_docs, n_terms)
        The first column is the intercept; NaN where a value is missing.
    terms : list of str
        Names of the columns, such as "year" or "source=web".

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"year": [1, 2, 3], "source": ["web", "press", "web"]})
    >>> matrix, terms = design_matrix(frame)
    >>> terms, matrix[:, 2].tolist()
    (['intercept', 'year', 'source=press'], [0.0, 1.0, 0.0])
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    columns, terms = [np.ones(len(table))], [INTERCEPT]
    for name, column in table.items():
        if is_numeric_dtype(column) and not is_bool_dtype(column):
            columns.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
            terms.append(str(name))
            continue
        text, gaps = column.astype(str), column.isna().to_numpy() | (column == "").to_numpy()
        values = text[~gaps].value_counts(sort=False)
        levels = sorted(values.index, key=lambda value: (-values[value], value))
        for value in sorted(levels[1:]):
            columns.append(np.where(gaps, np.nan, (text == value).to_numpy()))
            terms.append(f"{name}={value}")
    return np.column_stack(columns), terms


def effects_table(
    proportions: np.ndarray, table: pd.DataFrame, names: Sequence[str], *, level: float = 0.95
) -> pd.DataFrame:
    """Least squares of each topic's proportions on covariates, with robust errors.

    Documents are the units. The proportions of a document are measured with an error that is its
    own: that error is part of the residuals, and so of the intervals, and does not bias the
    coefficients. Errors are robust to variances that differ between documents (HC3), since those
    of long documents and of rare topics are smaller.

    Parameters
    ----------
    proportions : ndarray of shape (n_docs, n_components)
        Topic proportions without the prior (`observed_proportions`).
    table : pandas.DataFrame
        One row per document, one column per covariate, as `design_matrix` takes them.
    names : sequence of str
        Names of the topics.
    level : float, default=0.95
        Level of the intervals.

    Returns
    -------
    pandas.DataFrame
        Columns topic, name, term, estimate, error, low, high, p (of no effect), documents. The
        estimate of a number is the change of the proportion with each unit; that of a category the
        difference from the reference; that of the intercept the proportion at the reference and 0.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> late = np.repeat([0, 1], 50)
    >>> proportion = 0.2 + 0.3 * late + rng.normal(0, 0.1, 100)
    >>> frame = pd.DataFrame({"late": late})
    >>> found = effects_table(np.column_stack([proportion, 1 - proportion]), frame, ["pets", "zoo"])
    >>> found.loc[1, "term"], bool(0.2 < found.loc[1, "low"] < 0.3 < found.loc[1, "high"] < 0.4)
    ('late', True)
    """
    import pandas as pd

    check_level(level)
    if len(table) != len(proportions):
        raise ValueError(
            f"table has {len(table)} rows for {len(proportions)} documents; give one per document."
        )
    matrix, terms = design_matrix(table)
    usable = np.isfinite(matrix).all(axis=1) & np.isfinite(proportions).all(axis=1)
    if not usable.all():
        warnings.warn(
            f"{int((~usable).sum())} of {len(usable)} documents have no words or a gap in their"
            " covariates, and do not count.",
            stacklevel=3,
        )
    matrix, response = matrix[usable], proportions[usable]
    n, width = matrix.shape
    if n <= width:
        raise ValueError(f"{n} documents are too few for {width} terms; give fewer covariates.")
    unit = np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    if np.linalg.matrix_rank(matrix / unit) < width:
        raise ValueError(
            f"The covariates cannot be told apart: of {', '.join(terms)} one is a sum of others, or"
            " the same in all documents. Leave one out."
        )
    estimate, error = _robust_fit(matrix, response)
    reach = student.ppf((1 + level) / 2, n - width) * error
    n_topics = response.shape[1]
    return pd.DataFrame(
        {
            "topic": np.repeat(np.arange(n_topics), width),
            "name": np.repeat(np.array(names, dtype=object), width),
            "term": np.tile(np.array(terms, dtype=object), n_topics),
            "estimate": estimate.T.ravel(),
            "error": error.T.ravel(),
            "low": (estimate - reach).T.ravel(),
            "high": (estimate + reach).T.ravel(),
            "p": _no_effect(estimate, error, n - width).T.ravel(),
            "documents": n,
        }
    )


def _robust_fit(matrix: np.ndarray, response: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(terms, K) coefficients of least squares and their errors, HC3."""
    inverse = np.linalg.pinv(matrix)  # (terms, n)
    estimate = inverse @ response
    leverage = np.minimum(np.einsum("ij,ji->i", matrix, inverse), 1 - 1e-9)
    residual = (response - matrix @ estimate) / (1 - leverage)[:, None]
    return estimate, np.sqrt(inverse**2 @ residual**2)


def _no_effect(estimate: np.ndarray, error: np.ndarray, freedom: int) -> np.ndarray:
    chance: np.ndarray = 2 * student.sf(np.abs(estimate) / np.maximum(error, 1e-300), freedom)
    return chance
