"""HTML that is escaped by construction."""

from __future__ import annotations

import json

import pytest

from topoi.report.markup import Html, content_policy, element, inline, join, json_block

EVIL = "<b>&'\"</b>"
SAFE = "&lt;b&gt;&amp;&#x27;&quot;&lt;/b&gt;"


class Hostile:
    """Not a string, and no better for it."""

    def __str__(self):
        return EVIL

    def __format__(self, _):
        return EVIL


@pytest.mark.parametrize("value", [EVIL, Hostile()])
def test_everything_but_markup_is_text(value):
    assert element("p", value) == f"<p>{SAFE}</p>"
    assert element("p", element("i", value), title=value) == f"<p title='{SAFE}'><i>{SAFE}</i></p>"
    assert join([value, Html("<br>"), value]) == f"{SAFE}<br>{SAFE}"


def test_markup_that_was_handled_as_a_string_is_text_again():
    """A mistake shows on the page as tags, and never as an element."""
    piece = element("b", "x")
    for mixed in (piece + EVIL, f"{piece}", "".join([piece, EVIL]), piece.upper()):
        assert element("p", mixed).startswith("<p>&lt;")


def test_attributes_and_elements_without_content():
    assert element("br") == "<br>"
    assert element("td", 1, class_="n", aria_label="one") == "<td class='n' aria-label='one'>1</td>"


def test_control_characters_are_spelled_out_on_a_page():
    assert element("p", "a\x1b\u202e\ud800\nb") == "<p>a\\x1b\\u202e\\ud800\nb</p>"


def test_embedded_json_cannot_end_its_block_and_reads_as_it_was():
    value = {
        "</script>": ["<!--", "&", "\u2028\u2029\x1b\x85\u202e\ud800", 'quote " and \\\\'],
        "n": [1.5, None, True],
    }
    block = json_block("data", value)
    inside = block.removeprefix("<script type='application/json' id='data'>").removesuffix(
        "</script>"
    )
    assert json.loads(inside) == value
    assert not set(inside) & set("<>&\u2028\u2029\x1b\x85\u202e\ud800")
    with pytest.raises(ValueError):
        json_block("data", float("nan"))


def test_an_inline_source_cannot_end_its_element():
    assert inline("style", "p { margin: 0 }") == "<style>p { margin: 0 }</style>"
    for source in ("a</style>", "<!-- x"):
        with pytest.raises(ValueError, match="would end it early"):
            inline("style", source)


def test_a_policy_names_the_hash_of_each_source():
    policy = content_policy(scripts=["", "x"])
    assert (
        "script-src &#x27;sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=&#x27; &#x27;sha256-"
        in policy
    )
    assert "style-src &#x27;none&#x27;" in policy
    assert "unsafe" not in policy
