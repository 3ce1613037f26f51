"""Damage to text files, plain or compressed: other numbers, lines, separators, encodings, tails."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable

import numpy as np

TOKEN = re.compile(rb"[^\s,;:|\"]+")
ODD_TOKENS = [
    "", "0", "1", "2", "3", "-1", "-0", "+1", "007", "1.5", "1e3", "1e13", "1e400", "-1e400", "nan",
    "inf", "NA", "x", "1:1", "1:1:2", "0x10", "1_000", "\uff11", "٣", "²", "2147483647",
    "2147483648",
    "4294967297", "300000000", "1000000000000", "9223372036854775807", "9223372036854775808",
    "18446744073709551617", "9" * 5_000, "0." + "3" * 5_000, "qid:1", "1,2", "é", "\u2028",
    "\x1b[31m", "%", "#",
]  # fmt: skip
ODD_JSON = [
    "null", "true", "1e400", "NaN", "-5", "1" * 5_000, '"\\ud800"', '""', "[]", "[[]]",
    '["a", ["b"]]', "{}", '{"a": 1}', '["a", null, 3.0]',
    "[" * 50_000 + "]" * 50_000, '{"a":' * 20_000 + "1" + "}" * 20_000,
]  # fmt: skip
TAILS = [
    b"junk",
    b"x",
    b" 7",
    b"7",
    b"\0",
    b"\n%",
    b"}",
    b'"',
    b"\n\n\n",
    b"\xff",
    b"\n1 1 1\n",
    b"\x1a",
    b"\n1:1\n",
    b"\n" + b"9" * 50_000,
]

Damage = Callable[[bytes, np.random.Generator], bytes]


def one(items: list, rng: np.random.Generator):  # type: ignore[no-untyped-def, type-arg]
    return items[rng.integers(len(items))]


def change_token(data: bytes, rng: np.random.Generator, lines: int | None = None) -> bytes:
    """Another token in place of one, of the first lines if `lines` is given."""
    tokens = list(TOKEN.finditer(data))
    if lines is not None:
        end = len(b"\n".join(data.split(b"\n")[:lines]))
        tokens = [token for token in tokens if token.start() < end]
    if not tokens:
        return data
    token = one(tokens, rng)
    return data[: token.start()] + one(ODD_TOKENS, rng).encode() + data[token.end() :]


def change_header(data: bytes, rng: np.random.Generator) -> bytes:
    return change_token(data, rng, lines=3)


def change_json(data: bytes, rng: np.random.Generator) -> bytes:
    values = list(re.finditer(rb': ("[^"]*"|\[[^\]]*\])', data))
    if not values:
        return change_token(data, rng)
    value = one(values, rng)
    return data[: value.start(1)] + one(ODD_JSON, rng).encode() + data[value.end(1) :]


def change_lines(data: bytes, rng: np.random.Generator) -> bytes:
    """A line gone, repeated, moved, emptied or cut."""
    lines = data.split(b"\n")
    i, j = rng.integers(len(lines), size=2)
    kind = one(["drop", "repeat", "swap", "blank", "cut", "join", "reverse"], rng)
    if kind == "drop":
        del lines[i]
    elif kind == "repeat":
        lines.insert(j, lines[i])
    elif kind == "swap":
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == "blank":
        lines.insert(i, one([b"", b" ", b"\t", b"\x0c"], rng))
    elif kind == "cut":
        lines[i] = lines[i][: rng.integers(len(lines[i]) + 1)]
    elif kind == "join":
        lines[i : i + 2] = [b" ".join(lines[i : i + 2])]
    else:
        lines.reverse()
    return b"\n".join(lines)


def change_separators(data: bytes, rng: np.random.Generator) -> bytes:
    old, new = (
        one([b" ", b",", b";", b":", b"\t", b"\n", b'"'], rng),
        one([b" ", b",", b";", b":", b"\t", b"\r", b'"', b"", b"::", b"|"], rng),
    )
    return data.replace(old, new, one([1, 2, -1], rng))


def change_encoding(data: bytes, rng: np.random.Generator) -> bytes:
    text = data.decode("utf-8", "replace")
    kind = one(["utf-16", "utf-32", "latin-1", "utf-8-sig", "cp1252", "twice"], rng)
    if kind == "twice":
        return b"\xef\xbb\xbf\xef\xbb\xbf" + data
    return text.encode(kind, "replace")


def change_ends(data: bytes, rng: np.random.Generator) -> bytes:
    return data.replace(
        b"\n", one([b"\r\n", b"\r", b"\n\n", b"\x0b", b"\xe2\x80\xa8", b"\n\r"], rng)
    )


def cut(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: rng.integers(len(data) + 1)]


def add_tail(data: bytes, rng: np.random.Generator) -> bytes:
    return (data.rstrip(b"\n") if rng.random() < 0.5 else data) + one(TAILS, rng)


def flip_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for place in rng.integers(len(changed), size=one([1, 1, 2, 8], rng)) if changed else ():
        changed[place] = rng.integers(256)
    return bytes(changed)


def insert_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    place = rng.integers(len(data) + 1)
    return (
        data[:place]
        + one(
            [
                b"\0",
                b'"',
                b"'",
                b"\xff",
                b"\xed\xa0\x80",
                b"\\",
                b"\r",
                b"[",
                b"{",
                b"sep=;\n",
                b'sep="\n',
            ],
            rng,
        )
        + data[place:]
    )


def replace_all(data: bytes, rng: np.random.Generator) -> bytes:
    return one(
        [
            b"",
            b"\n",
            b"\xef\xbb\xbf",
            b" ",
            b"\0" * 100,
            b"\x93NUMPY",
            b"PAR1",
            b"sep=;",
            b'"',
            b"[" * 100_000,
            b"PK\x03\x04",
        ],
        rng,
    )


KINDS: list[Damage] = [
    change_token, change_token, change_token, change_header, change_header, change_json,
    change_lines, change_lines, change_separators, change_encoding, change_ends, cut, add_tail,
    add_tail, flip_bytes, flip_bytes, insert_bytes, replace_all,
]  # fmt: skip


def damaged(data: bytes, rng: np.random.Generator) -> tuple[str, bytes]:
    """Text with one to three kinds of damage, and their names."""
    kinds = [KINDS[i] for i in rng.integers(len(KINDS), size=one([1, 1, 1, 2, 3], rng))]
    for kind in kinds:
        data = kind(data, rng)
    return " ".join(kind.__name__ for kind in kinds), data


def compressed(data: bytes, rng: np.random.Generator) -> tuple[str, bytes]:
    """Text as .gz, mostly a valid one."""
    whole = gzip.compress(data, 1, mtime=0)
    kinds: dict[str, Callable[[], bytes]] = {
        "whole": lambda: whole,
        "cut": lambda: cut(whole, rng),
        "flipped": lambda: flip_bytes(whole, rng),
        "tail": lambda: add_tail(whole, rng),
        "twice": lambda: whole + gzip.compress(data[: len(data) // 2], mtime=0),
        "plain": lambda: data,
        "bomb": lambda: gzip.compress(data + b" " * 2**23, 1, mtime=0),
        "empty": lambda: gzip.compress(b"", mtime=0),
    }
    name = one(
        ["whole"] * 20 + ["cut", "flipped", "tail", "twice", "plain"] * 3 + ["bomb", "empty"], rng
    )
    return name, kinds[name]()
