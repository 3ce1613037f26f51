"""Dates of documents in one form, and the periods into which they fall.

A date is text: "2020", "2020-03" or "2020-03-05", as precise as it was given; "" where a document
has none. Text with other things in it stays as it is and is refused where time is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Literal, NamedTuple

import numpy as np

from topoi.corpus.checks import is_missing

__all__ = [
    "EXPECTED_DATES",
    "PERIODS",
    "By",
    "Period",
    "canonical_date",
    "dates_as_text",
    "period_numbers",
    "periods",
    "refuse_no_dates",
]

By = Literal["decade", "year", "quarter", "month", "week", "day"]

TIME = r"[T ]\d{1,2}:\d{2}[\d:.,]*\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?"
DATE = re.compile(rf"(\d{{4}})(?:([-/.])(\d{{1,2}})(?:\2(\d{{1,2}})(?:{TIME})?)?)?", re.ASCII)
COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})", re.ASCII)  # 20200305
YEAR = re.compile(r"(\d{4})\.0+", re.ASCII)  # as frames write years where some are missing
EXPECTED_DATES = (
    "expected 2020-03-05, 2020/03/05, 20200305, 2020-03, 2020, or a day with a time. Convert other"
    " forms first, for instance with pandas.to_datetime."
)
MOST_EXAMPLES, LONGEST_EXAMPLE = 3, 40


class Period(NamedTuple):
    """A period of time: its name ("2020-Q1"), and its first day ("2020-01-01")."""

    name: str
    start: str


def canonical_date(value: object) -> str | None:
    """A date in its one form.

    Parameters
    ----------
    value : str, int, float, date, datetime, datetime64, Timestamp or None
        Text in the forms 2020-03-05, 2020/03/05, 2020.03.05, 20200305, 2020-03 and 2020, with or
        without a time of the day, which is not kept. Numbers are years or 20200305.

    Returns
    -------
    str or None
        "2020-03-05", "2020-03" or "2020"; "" for a missing value; None for what is not a date.

    Examples
    --------
    >>> [canonical_date(value) for value in ("2020/3/5", 1848.0, "2020-03-05 10:30", None, "May")]
    ['2020-03-05', '1848', '2020-03-05', '', None]
    """
    if is_missing(value):
        return ""
    if isinstance(value, bool | np.bool_):
        return None
    text = str(value).strip()
    if not text:
        return ""
    if found := YEAR.fullmatch(text):
        year, month, day = found[1], None, None
    elif found := COMPACT.fullmatch(text.removesuffix(".0")):
        year, month, day = found.groups()
    elif found := DATE.fullmatch(text):
        year, _, month, day = found.groups()
    else:
        return None
    try:
        whole = date(int(year), int(month or 1), int(day or 1)).isoformat()
    except ValueError:  # there is no 30th of February, and no year 0
        return None
    return whole if day else whole[:7] if month else whole[:4]


def refuse_no_dates(values: Iterable[str], what: str) -> None:
    """Refuse values of which some are not dates, or all are missing.

    Parameters
    ----------
    values : iterable of str
        Dates, or what should be dates.
    what : str
        What they are called in the error: "dates".
    """
    values = list(values)
    bad = list(dict.fromkeys(value for value in values if canonical_date(value) is None))
    if bad:
        shown = ", ".join(repr(value[:LONGEST_EXAMPLE]) for value in bad[:MOST_EXAMPLES])
        raise ValueError(
            f"{what} must be dates, and {shown}{' are' if len(bad) > 1 else ' is'} not;"
            f" {EXPECTED_DATES}"
        )
    if not any(values):
        raise ValueError(f"{what} are all missing; {EXPECTED_DATES}")


def _decade(day: date) -> Period:
    first = day.year // 10 * 10
    return Period(f"{first:04d}s", f"{max(first, 1):04d}-01-01")


def _quarter(day: date) -> Period:
    quarter = (day.month - 1) // 3
    return Period(f"{day.year:04d}-Q{quarter + 1}", f"{day.year:04d}-{3 * quarter + 1:02d}-01")


def _week(day: date) -> Period:
    year, week, weekday = day.isocalendar()
    monday = day - min(timedelta(weekday - 1), day - date.min)
    return Period(f"{year:04d}-W{week:02d}", monday.isoformat())


# How precise a date must be (in characters), and the period of a day.
PERIODS: Mapping[By, tuple[int, Callable[[date], Period]]] = {
    "decade": (4, _decade),
    "year": (4, lambda day: Period(f"{day.year:04d}", f"{day.year:04d}-01-01")),
    "quarter": (7, _quarter),
    "month": (7, lambda day: Period(day.isoformat()[:7], f"{day.isoformat()[:7]}-01")),
    "week": (10, _week),
    "day": (10, lambda day: Period(day.isoformat(), day.isoformat())),
}


def periods(dates: Sequence[str], by: By = "year") -> list[Period | None]:
    """The period of each date.

    Parameters
    ----------
    dates : sequence of str
        Dates, "" where there is none.
    by : {"decade", "year", "quarter", "month", "week", "day"}, default="year"
        The length of a period. Weeks are those of ISO 8601, which begin on Mondays.

    Returns
    -------
    list of Period or None
        None for documents without a date.

    Examples
    --------
    >>> [period and period.name for period in periods(["2020-02", "", "2020-11-30"], "quarter")]
    ['2020-Q1', None, '2020-Q4']
    """
    if by not in PERIODS:
        raise ValueError(f"by is {by!r}; choose {', '.join(map(repr, PERIODS))}.")
    refuse_no_dates(dates, "dates")
    precise, period_of = PERIODS[by]
    known = {text: canonical_date(text) or "" for text in set(dates)}
    coarse = next((text for text in known.values() if 0 < len(text) < precise), None)
    if coarse is not None:
        raise ValueError(
            f"Some dates are only as precise as {coarse!r}, so there is no {by} to tell; choose a"
            " longer period, such as by='year'."
        )
    made = {
        text: period_of(date.fromisoformat(f"{iso}-01-01"[:10]))
        for text, iso in known.items()
        if iso
    }
    return [made.get(text) for text in dates]


def dates_as_text(values: Iterable[object]) -> list[str]:
    """Dates in their one form; what is not a date as text, to be refused where time is asked for.

    Examples
    --------
    >>> dates_as_text([1999, "2020/3", "May"])
    ['1999', '2020-03', 'May']
    """
    return [str(value) if (made := canonical_date(value)) is None else made for value in values]


# The number of a period by its first day: those of neighbours differ by 1.
NUMBERS: Mapping[By, Callable[[date], int]] = {
    "decade": lambda day: day.year // 10,
    "year": lambda day: day.year,
    "quarter": lambda day: 4 * day.year + (day.month - 1) // 3,
    "month": lambda day: 12 * day.year + day.month,
    "week": lambda day: (day.toordinal() - 1) // 7,
    "day": date.toordinal,
}


def period_numbers(dates: Sequence[str], by: By = "year") -> np.ndarray:
    """The number of each date's period, counted in periods; -1 for documents without a date.

    Examples
    --------
    >>> period_numbers(["2020-12-31", "", "2021-01-01"], "month").tolist()
    [24252, -1, 24253]
    """
    found = periods(dates, by)
    return np.array(
        [-1 if p is None else NUMBERS[by](date.fromisoformat(p.start)) for p in found],
        dtype=np.int64,
    )
