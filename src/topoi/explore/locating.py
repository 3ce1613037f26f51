"""Where the words that a vectoriser counts stand in a text."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from topoi.io.lines import composed
from topoi.io.phrases import JOINT, PhraseVectorizer, runs

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

__all__ = ["Place", "locate"]

NEAR = 200  # characters: further away, the beginning of a word is likely to be that of another


class Place(NamedTuple):
    """A word that a vectoriser counted, as text[start:end]."""

    start: int
    end: int
    word: str


def locate(text: str, vectorizer: CountVectorizer, words: Container[str]) -> list[Place]:
    """Where `words` stand in a text, as `vectorizer` finds them: whatever it does to case, accents
    and stop words before.

    Where phrases overlap, the longest one that begins first is taken. A word that a function of the
    user's own has changed beyond recognition, such as a lemma, is not located.

    Parameters
    ----------
    text : str
        The text as it was written.
    vectorizer : CountVectorizer
        What cuts texts into words.
    words : container of str
        The words and phrases to look for, as the vectoriser spells them.

    Returns
    -------
    list of Place
        In the order of the text; none overlap.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> vectorizer = CountVectorizer(ngram_range=(1, 2), strip_accents="unicode")
    >>> locate("The White House. A café!", vectorizer, {"white house", "house", "cafe"})
    [Place(start=4, end=15, word='white house'), Place(start=19, end=23, word='cafe')]
    """
    if callable(vectorizer.analyzer):
        analyze = vectorizer.build_analyzer()
        units = _in_order(analyze(composed(text)), _prepared(text, str))
        found = _longest(units, (1, 1), "", words)
    else:
        units = _prepared(text, vectorizer.build_preprocessor())
        found = _CUT[vectorizer.analyzer](units, vectorizer, words)
    places: list[Place] = []
    for place in found:
        if (places[-1].end if places else 0) <= place.start < place.end:
            places.append(place)
    return places


class _Unit(NamedTuple):
    """What stands in text[start:end], as the vectoriser has it."""

    text: str
    start: int
    end: int


def _longest(
    units: list[_Unit], lengths: tuple[int, int], joint: str, words: Container[str]
) -> Iterator[Place]:
    """From left to right, the longest run of units that makes one of `words`."""
    least, most = lengths
    first = 0
    while first < len(units):
        for n in range(most, least - 1, -1):
            run = units[first : first + n]
            word = joint.join(unit.text for unit in run)
            if word in words:
                yield Place(run[0].start, run[-1].end, word)
                first += len(run) - 1
                break
        first += 1


def _words(
    units: list[_Unit], vectorizer: CountVectorizer, words: Container[str]
) -> Iterator[Place]:
    """Words and phrases, behind one another but for stop words."""
    stop_words = vectorizer.get_stop_words() or ()
    tokens = _tokens(units, vectorizer)
    if isinstance(vectorizer, PhraseVectorizer):
        tokens = _with_phrases(tokens, vectorizer)
    tokens = [token for token in tokens if token.text not in stop_words]
    return _longest(tokens, vectorizer.ngram_range, " ", words)


def _with_phrases(tokens: list[_Unit], vectorizer: PhraseVectorizer) -> list[_Unit]:
    """Tokens with those of a phrase as one."""
    phrases, words = set(vectorizer.phrases_), [token.text for token in tokens]
    found = runs(words, phrases, max(map(len, phrases), default=1))
    parts = [tokens[at] for at in found]
    return [
        _Unit(JOINT.join(unit.text for unit in part), part[0].start, part[-1].end) for part in parts
    ]


def _tokens(units: list[_Unit], vectorizer: CountVectorizer) -> list[_Unit]:
    """The words into which prepared characters are cut."""
    prepared = "".join(unit.text for unit in units)
    if vectorizer.tokenizer is not None:
        return _in_order(vectorizer.tokenizer(prepared), units)
    pattern = re.compile(vectorizer.token_pattern)
    group = min(pattern.groups, 1)
    return [
        _Unit(found[group], units[found.start(group)].start, units[found.end(group) - 1].end)
        for found in pattern.finditer(prepared)
        if found[group]
    ]


def _in_order(tokens: Iterable[str], units: list[_Unit]) -> list[_Unit]:
    """Tokens that a function of the user's own found, with their places where these are plain."""
    prepared = "".join(unit.text for unit in units)
    return [
        _Unit(token, units[start].start, units[end - 1].end)
        for token, start, end in _search(tokens, prepared)
        if start < end
    ]


def _search(tokens: Iterable[str], text: str) -> Iterator[_Unit]:
    """Tokens, each looked for behind the one before it, in any case: at the beginning of a word
    that is near, or as a whole word. One that is not found has no width.
    """
    after = 0
    for token in tokens:
        begins = (r"\b" if re.match(r"\w", token) else "") + re.escape(token)
        found = re.compile(begins, re.IGNORECASE).search(text, after, after + NEAR)
        if found is None and re.fullmatch(r"\w+", token):
            found = re.compile(rf"{begins}\b", re.IGNORECASE).search(text, after)
        start, after = (after, after) if found is None else found.span()
        yield _Unit(token, start, after)


def _characters(
    units: list[_Unit], vectorizer: CountVectorizer, words: Container[str]
) -> Iterator[Place]:
    """Runs of characters; several characters of white space count as one space."""
    prepared = "".join(unit.text for unit in units)
    single = [
        _Unit(found[0], units[found.start()].start, units[found.end() - 1].end)
        if len(found[0]) == 1
        else _Unit(" ", units[found.start()].start, units[found.end() - 1].end)
        for found in re.finditer(r"(?s)\s\s+|.", prepared)
    ]
    return _longest(single, vectorizer.ngram_range, "", words)


def _characters_of_words(
    units: list[_Unit], vectorizer: CountVectorizer, words: Container[str]
) -> Iterator[Place]:
    """Runs of characters inside of words, which have a space before and behind them."""
    prepared = "".join(unit.text for unit in units)
    for found in re.finditer(r"\S+", prepared):
        word = units[found.start() : found.end()]
        before = _Unit(" ", word[0].start, word[0].start)
        behind = _Unit(" ", word[-1].end, word[-1].end)
        yield from _longest([before, *word, behind], vectorizer.ngram_range, "", words)


_CUT = {"word": _words, "char": _characters, "char_wb": _characters_of_words}


# ----------------------------------------------------------- from prepared text to the original


def _prepared(text: str, prepare: Callable[[str], str]) -> list[_Unit]:
    """The characters of the prepared text, with their places in the original.

    Preparing may change the number of characters. Part by part, it is known which come from which;
    where the parts do not make the whole, the words of the whole are looked for in the original.
    """
    whole = prepare(composed(text))
    if text.isascii() and len(whole) == len(text):
        return [_Unit(character, i, i + 1) for i, character in enumerate(whole)]
    words = (found.span() for found in re.finditer(r"\s+|\S+", text))
    parts = [part for start, end in words for part in _parts(text, start, end, prepare)]
    if "".join(part.text for part in parts) != whole:
        parts = list(_search(re.findall(r"\w+|\W+", whole), text))
    return [unit for part in parts for unit in _split(part)]


def _parts(text: str, start: int, end: int, prepare: Callable[[str], str]) -> list[_Unit]:
    """What stands between two spaces, in parts that can be prepared one by one: characters with the
    accents behind them; where letters depend on their neighbours, words; or all of it.
    """
    whole = prepare(composed(text[start:end]))
    for joins in (_joins_character, _joins_word):
        cuts = [i for i in range(start, end) if i == start or not joins(text[i - 1], text[i])]
        places = itertools.pairwise([*cuts, end])
        parts = [_Unit(prepare(composed(text[a:b])), a, b) for a, b in places]
        if "".join(part.text for part in parts) == whole:
            return parts
    return [_Unit(whole, start, end)]


def _joins_character(before: str, character: str) -> bool:
    """Whether a character is an accent of the one before it."""
    return bool(unicodedata.combining(character))


def _joins_word(before: str, character: str) -> bool:
    """Whether two characters may stand in one word."""
    return all(
        c.isalnum() or c in "_\u00ad" or unicodedata.combining(c) for c in before + character
    )


def _split(part: _Unit) -> Iterator[_Unit]:
    """The characters of a part, each in its own place if the original has as many."""
    same = len(part.text) == part.end - part.start
    for i, character in enumerate(part.text):
        start = part.start + i if same else part.start
        yield _Unit(character, start, start + 1 if same else part.end)
