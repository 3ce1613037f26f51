"""Text from data on its way to a terminal or a script: characters that act are spelled out."""

from __future__ import annotations

import json
import re

__all__ = ["printable", "printable_json"]

# Control characters (C0, DEL, C1) drive a terminal, line separators break a line, bidirectional
# overrides change the order of what is read, and a lone surrogate cannot be written at all.
ACTIVE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: object, *, keep: str = "") -> str:
    r"""Spell out control characters as Python does: ESC becomes the four characters ``\x1b``.

    Parameters
    ----------
    text : object
        What to show; ``str`` is applied to it.
    keep : str, default=""
        Control characters to leave as they are, such as a line feed.

    Returns
    -------
    str
        Text that a terminal shows and does not obey.

    Examples
    --------
    >>> print(printable("red\x1b[31m"))
    red\x1b[31m
    """

    def spelled(found: re.Match[str]) -> str:
        return found[0] if found[0] in keep else ascii(found[0])[1:-1]

    return ACTIVE.sub(spelled, str(text))


def printable_json(value: object, *, escape: str = "", ascii_only: bool = False) -> str:
    r"""One line of JSON with the characters that `printable` spells out as ``\uXXXX``.

    Parameters
    ----------
    value : object
        Anything that JSON can hold; NaN and infinity are refused.
    escape : str, default=""
        More characters to escape. They must not be part of the syntax of JSON.
    ascii_only : bool, default=False
        Escape everything outside of ASCII too.

    Returns
    -------
    str
        JSON that reads as `value`.
    """
    text = ACTIVE.sub(_escaped, json.dumps(value, ensure_ascii=ascii_only, allow_nan=False))
    return re.sub(f"[{re.escape(escape)}]", _escaped, text) if escape else text


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
