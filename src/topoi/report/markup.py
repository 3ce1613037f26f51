"""HTML that is escaped by construction: what is not markup already is shown as text."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from topoi.printable import printable, printable_json

if TYPE_CHECKING:
    pass

__all__ = ["Html", "content_policy", "element", "inline", "join", "json_block", "spelled"]

VOID = {"br", "meta"}  # elements without an end tag


class Html(str):
    """Markup. Only this module makes it; joined with a plain string it is a plain string again."""


def element(tag: str, *content: object, **attributes: object) -> Html:
    """One HTML element.

    Parameters
    ----------
    tag : str
        Name of the element, as written in the code and never from data.
    *content : object
        What is in it, one behind the other. Everything but `Html` is shown as text.
    **attributes : object
        Its attributes: ``class_`` is "class", ``aria_label`` is "aria-label".

    Returns
    -------
    Html
        The element with its end tag, if it has one.

    Examples
    --------
    >>> element("a", "1 < 2", href="#x")
    "<a href='#x'>1 &lt; 2</a>"
    """
    names = [name.rstrip("_").replace("_", "-") for name in attributes]
    values = map(_text, attributes.values())
    given = "".join(f" {name}='{value}'" for name, value in zip(names, values, strict=True))
    return Html(f"<{tag}{given}>" if tag in VOID else f"<{tag}{given}>{join(content)}</{tag}>")


def join(content: Iterable[object], separator: Html = Html()) -> Html:  # noqa: B008 (immutable)
    """Pieces of content one behind the other; everything but `Html` is text.

    Parameters
    ----------
    content : Iterable[object]
        The pieces.
    separator : Html, default=Html("")
        What stands between them.

    Returns
    -------
    Html
        All of them.
    """
    pieces = (piece if isinstance(piece, Html) else _text(piece) for piece in content)
    return Html(separator.join(pieces))


def inline(tag: str, source: str) -> Html:
    """A ``style`` or ``script`` element, whose content browsers read as it is: never from data.

    Parameters
    ----------
    tag : str
        "style" or "script".
    source : str
        A style sheet or a script that is part of topoi.

    Returns
    -------
    Html
        The element; `content_policy` needs the same `source`.
    """
    if "</" in source or "<!--" in source:
        raise ValueError(
            f"The source of an inline {tag} has '</' or '<!--', which would end it early."
        )
    return Html(f"<{tag}>{source}</{tag}>")


def json_block(name: str, value: object) -> Html:
    """Data for a script on the page to read with JSON.parse: no text in it can end the block.

    Parameters
    ----------
    name : str
        The id of the element.
    value : object
        Anything that JSON can hold.

    Returns
    -------
    Html
        A ``script`` element of the type application/json, which browsers do not run.
    """
    data = printable_json(value, escape="<>&")
    return Html(f"<script type='application/json' id='{_text(name)}'>{data}</script>")


def content_policy(*, styles: Iterable[str] = (), scripts: Iterable[str] = ()) -> Html:
    """A Content-Security-Policy under which a page loads nothing and runs only what it is made of.

    Parameters
    ----------
    styles, scripts : Iterable[str], default=()
        Sources of the page's own `inline` elements, which the policy allows by their hashes.

    Returns
    -------
    Html
        A ``meta`` element, to stand before anything it should govern.
    """
    rules = ["default-src 'none'", "base-uri 'none'", "form-action 'none'"]
    for kind, sources in (("style", styles), ("script", scripts)):
        hashes = [f"'sha256-{_digest(source)}'" for source in sources]
        rules.append(" ".join([f"{kind}-src", *(hashes or ["'none'"])]))
    return element("meta", http_equiv="Content-Security-Policy", content="; ".join(rules))


def _text(value: object) -> str:
    return escape(printable(value, keep="\n\t"))


def _digest(source: str) -> str:
    return base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


def spelled(words: Sequence[str]) -> str:
    """Words in a line, with commas if some are phrases."""
    return (", " if any(" " in word for word in words) else " ").join(words)
