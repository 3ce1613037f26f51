"""Token patterns that are safe to run: no text takes more than a small multiple of its length.

Python's regular expressions backtrack, and some patterns take forever on some texts. A model file
brings its pattern along, so it may only be one for which this cannot happen.
"""

from __future__ import annotations

import re
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, TypeAlias

__all__ = ["as_javascript", "is_safe_pattern"]

LONGEST = 200  # characters of a pattern
SHORT = 50  # a repeat of at most this many characters is short
MOST_WAYS = 100  # in which all short repeats together can match
FEW_LITERALS = 300  # characters that a separator may be
CATEGORIES = {
    ops.CATEGORY_WORD: r"\w", ops.CATEGORY_NOT_WORD: r"\W", ops.CATEGORY_DIGIT: r"\d",
    ops.CATEGORY_NOT_DIGIT: r"\D", ops.CATEGORY_SPACE: r"\s", ops.CATEGORY_NOT_SPACE: r"\S",
}  # fmt: skip
JAVASCRIPT = {
    ops.CATEGORY_WORD: r"[\p{L}\p{N}_]", ops.CATEGORY_NOT_WORD: r"[^\p{L}\p{N}_]",
    ops.CATEGORY_DIGIT: r"\p{Nd}", ops.CATEGORY_NOT_DIGIT: r"\P{Nd}",
    ops.CATEGORY_SPACE: r"\s", ops.CATEGORY_NOT_SPACE: r"\S",
}  # fmt: skip
BOUNDARY = "(?:(?<=W)(?!W)|(?<!W)(?=W))".replace("W", JAVASCRIPT[ops.CATEGORY_WORD])

Node: TypeAlias = Any  # of the tree of a pattern; Python's parser of patterns has no types


def is_safe_pattern(pattern: object) -> bool:
    """Whether `pattern` has one of these forms, or is a choice of several: A, AL, ALG, where

    A is characters, sets of characters and \\b, with short repeats; L one long repeat of a set; and
    G groups such as (?:-\\w+)* that may be left out and begin with a separator, a character which
    nothing before it matches. A \\b may end it. One pair of parentheses may stand around all of it.
    """
    if not isinstance(pattern, str) or len(pattern) > LONGEST:
        return False
    try:
        re.compile(pattern)
        parsed = _parser.parse(pattern)
        return _safe(list(parsed), ignore_case=bool(parsed.state.flags & re.IGNORECASE))
    except (re.error, ValueError, OverflowError, RecursionError):
        return False


def _safe(items: list[Node], ignore_case: bool) -> bool:
    if len(items) == 1 and items[0][0] is ops.BRANCH:
        return all(_safe(list(branch), ignore_case) for branch in items[0][1][1])
    items = [inner for item in items for inner in _without_parentheses(item)]
    ends_at_boundary = len(items) > 1 and _is_boundary(items[-1])
    if ends_at_boundary:
        if not _is_boundary(items[0]):
            return False  # each character of a long run could begin a vain search for its end
        items = items[:-1]
    seen: list[Node] = []  # sets of characters so far
    ways, long = 1, False
    for op, argument in items:
        if not long and _is_boundary((op, argument)):
            continue
        if not long and _is_set(op):
            seen.append((op, argument))
            continue
        if op is not ops.MAX_REPEAT:
            return False
        least, most, body = argument
        body = list(body)
        if len(body) == 1 and _is_set(body[0][0]) and not long and least <= SHORT:
            seen.append(body[0])
            long = most > SHORT
            ways *= 1 if long else most - least + 1
        elif least == 0 and _is_separated(body, seen, ignore_case):
            long = True
        else:
            return False
    return ways <= MOST_WAYS


def _without_parentheses(item: Node) -> list[Node]:
    op, argument = item
    if op is ops.SUBPATTERN and not argument[1] and not argument[2]:
        return list(argument[3])
    return [item]


def _is_boundary(item: Node) -> bool:
    return item[0] is ops.AT and item[1] is ops.AT_BOUNDARY


def _is_set(op: Node) -> bool:
    return op in (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN)


def _is_separated(body: list[Node], seen: list[Node], ignore_case: bool) -> bool:
    """Whether a group begins with a separator and continues with sets, the last one repeated at
    most.

    Neither the sets `seen` before it nor its own rest match a separator. `seen` gets its sets, too.
    """
    rest: list[Node] = []
    for op, argument in body[1:]:
        repeated = op is ops.MAX_REPEAT and len(argument[2]) == 1 and argument[0] <= SHORT
        if repeated and (op, argument) != body[-1]:
            return False
        rest.append(argument[2][0] if repeated else (op, argument))
    separators = _literals(body[0]) if rest else None
    if separators is None or not all(_is_set(op) for op, _ in rest):
        return False
    if ignore_case:
        separators = {form for each in separators for form in (each, each.lower(), each.upper())}
    if any(_matches(item, each) for item in [*seen, *rest] for each in separators):
        return False
    seen += [body[0], *rest]
    return True


def _literals(item: Node) -> set[str] | None:
    """The characters that a set lists, or None if it lists none or too many."""
    op, argument = item
    listed: set[str] = set()
    if op not in (ops.LITERAL, ops.IN):
        return None
    for kind, value in [item] if op is ops.LITERAL else argument:
        if kind is ops.LITERAL:
            listed.add(chr(value))
        elif kind is ops.RANGE and value[1] - value[0] < FEW_LITERALS:
            listed |= {chr(code) for code in range(value[0], value[1] + 1)}
        else:
            return None
    return listed if len(listed) <= FEW_LITERALS else None


def _matches(item: Node, character: str) -> bool:
    """Whether a set matches a character, in either case of it."""
    op, argument = item
    if op is ops.ANY:
        return True
    if op is ops.NOT_LITERAL:
        return chr(argument) != character
    members = [item] if op is ops.LITERAL else argument
    found = any(_member(kind, value, character) for kind, value in members)
    return found != any(kind is ops.NEGATE for kind, _ in members)


def _member(kind: Node, value: Node, character: str) -> bool:
    if kind is ops.LITERAL:
        return chr(value) == character
    if kind is ops.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    return kind is ops.CATEGORY and re.match(CATEGORIES[value], character) is not None


def as_javascript(pattern: str) -> str | None:
    r"""A token pattern as JavaScript reads it, with the flag v: there, \w and \b know ASCII only.

    Parameters
    ----------
    pattern : str
        A regular expression of Python without look-around, references, and flags but (?u).

    Returns
    -------
    str or None
        None if it cannot be said there.

    Examples
    --------
    >>> as_javascript(r"(?u)[a-z]\d+")
    '[\\u{61}-\\u{7a}]\\p{Nd}{1,}'
    """
    parsed = _parser.parse(pattern)
    if parsed.state.flags & ~re.UNICODE:
        return None
    try:
        return _said(parsed)
    except KeyError:  # something JavaScript says in another way, or not at all
        return None


def _said(items: Node) -> str:
    return "".join(SAID[op](argument) for op, argument in items)


def _said_set(members: Node) -> str:
    negated = members[0][0] is ops.NEGATE
    return f"[{'^' * negated}{''.join(SAID[op](value) for op, value in members[negated:])}]"


def _said_repeat(argument: Node, lazy: str = "") -> str:
    least, most, body = argument
    said = _said(body)
    single = len(body) == 1 and body[0][0] in (ops.LITERAL, ops.IN)
    many = f"{{{least},{'' if most is ops.MAXREPEAT else most}}}{lazy}"
    return (said if single else f"(?:{said})") + many


def _said_group(argument: Node) -> str:
    group, added_flags, removed_flags, body = argument
    if added_flags or removed_flags:
        raise KeyError("flags")
    return f"({'?:' if group is None else ''}{_said(body)})"


SAID: dict[Node, Node] = {
    ops.LITERAL: lambda code: f"\\u{{{code:x}}}",
    ops.NOT_LITERAL: lambda code: f"[^\\u{{{code:x}}}]",
    ops.ANY: lambda _: r"[^\n]",
    ops.RANGE: lambda ends: f"\\u{{{ends[0]:x}}}-\\u{{{ends[1]:x}}}",
    ops.CATEGORY: lambda kind: JAVASCRIPT[kind],
    ops.IN: _said_set,
    ops.MAX_REPEAT: _said_repeat,
    ops.MIN_REPEAT: lambda argument: _said_repeat(argument, "?"),
    ops.BRANCH: lambda branches: f"(?:{'|'.join(map(_said, branches[1]))})",
    ops.SUBPATTERN: _said_group,
    ops.AT: lambda where: {ops.AT_BOUNDARY: BOUNDARY}[where],
}
