"""Plain readers of counts as text, with numbers of any size: what topoi accepts they read the same.

They take text that topoi has accepted, and refuse nothing. Entries of 0 are left out.
"""

from __future__ import annotations

from collections import Counter

Entries = dict[tuple[int, int], float]


def _nonzero(entries: Counter[tuple[int, int]]) -> Entries:
    return {place: value for place, value in entries.items() if value}


def uci(text: str) -> Entries:
    found: Counter[tuple[int, int]] = Counter()
    lines = [line.split() for line in text.split("\n") if line.strip()]
    for doc, word, count in lines[3:]:
        found[int(doc) - 1, int(word) - 1] += int(count)
    return _nonzero(found)


def ldac(text: str) -> Entries:
    found: Counter[tuple[int, int]] = Counter()
    for doc, line in enumerate(text.removesuffix("\n").split("\n")):
        for pair in line.split()[1:]:
            word, count = pair.split(":")
            found[doc, int(word)] += float(count)
    return _nonzero(found)


def svmlight(text: str) -> Entries:
    found: Counter[tuple[int, int]] = Counter()
    lines = [line.partition("#")[0].split() for line in text.split("\n")]
    for doc, fields in enumerate(fields for fields in lines if fields):
        for pair in fields[0 if ":" in fields[0] else 1 :]:
            word, count = pair.split(":")
            if word != "qid":
                found[doc, int(word) - 1] += float(count)
    return _nonzero(found)


def mtx(text: str) -> Entries:
    first, *rest = text.split("\n")
    lines = [line.split() for line in rest if line.strip() and not line.startswith("%")]
    _, _, layout, field, symmetry = first.lower().split()
    if layout == "array":
        n_docs, n_words = map(int, lines[0])
        below = symmetry == "symmetric"
        places = [
            (doc, word) for word in range(n_words) for doc in range(word if below else 0, n_docs)
        ]
        values = [value for (value,) in lines[1:]]
        rows = zip(places, values, strict=True)
        lines[1:] = [[str(doc + 1), str(word + 1), value] for (doc, word), value in rows]
    found: Counter[tuple[int, int]] = Counter()
    for doc, word, *value in lines[1:]:
        count = float(value[0]) if field != "pattern" else 1.0
        found[int(doc) - 1, int(word) - 1] += count
        if symmetry == "symmetric" and doc != word:
            found[int(word) - 1, int(doc) - 1] += count
    return _nonzero(found)


TWINS = {"uci": uci, "ldac": ldac, "svmlight": svmlight, "mtx": mtx}
