"""Scripts without spaces between words: who reads such texts needs to be told."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from typing import TYPE_CHECKING

from topoi.io.lines import composed

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

__all__ = ["ScriptWatch"]

# Letters of scripts that put no space between words, and what cuts their texts into words.
NO_SPACES = {
    "Japanese": ("\u3041-\u309f\u30a1-\u30ff", "fugashi or SudachiPy"),
    "Chinese": ("\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff", "jieba"),
    "Thai": ("\u0e01-\u0e3a\u0e40-\u0e4e", "PyThaiNLP"),
    "Lao": ("\u0e81-\u0eba\u0ec0-\u0ecd", "laonlp"),
    "Burmese": ("\u1000-\u109f", "pyidaungsu"),
    "Khmer": ("\u1780-\u17d3", "khmer-nltk"),
}
PATTERNS = {name: re.compile(f"[{letters}]") for name, (letters, _) in NO_SPACES.items()}
LETTERS = re.compile(r"[^\W\d_]")
DOCUMENTS, BEGINNING = 200, 500  # that are looked at, and letters of each
LEAST_PART = 0.3  # of all letters
KANA = 0.05  # of the letters without spaces: Japanese is written with Chinese characters, too


class ScriptWatch:
    """Looks at the beginnings of the first texts, and warns if they need a tokeniser.

    Examples
    --------
    >>> watch = ScriptWatch()
    >>> watch.look("\u732b\u304c\u597d\u304d")
    >>> watch.found()
    'Japanese'
    """

    def __init__(self) -> None:
        self.seen, self.letters = 0, Counter[str]()

    def look(self, text: str) -> None:
        """Count the letters of a text."""
        if self.seen >= DOCUMENTS:
            return
        self.seen += 1
        start = composed(text[:BEGINNING])
        self.letters["all"] += len(LETTERS.findall(start))
        if not start.isascii():
            self.letters.update({name: len(p.findall(start)) for name, p in PATTERNS.items()})

    def found(self) -> str | None:
        """The language that the texts seem to be in, if its words have no spaces between them."""
        of_scripts = {name: self.letters[name] for name in NO_SPACES}
        total = sum(of_scripts.values())
        if not total or total < LEAST_PART * self.letters["all"]:
            return None
        if of_scripts["Japanese"] >= KANA * total:
            return "Japanese"
        return max(of_scripts, key=lambda name: of_scripts[name])

    def warn(self, vectorizer: CountVectorizer) -> None:
        """Say what to do, unless the texts are cut by a tokeniser or by characters."""
        language = self.found()
        own = callable(vectorizer.analyzer) or vectorizer.tokenizer is not None
        if language is None or own or vectorizer.analyzer != "word":
            return
        warnings.warn(
            f"The texts seem to be {language}, which is written without spaces between words, so"
            " whole clauses count as words. Cut the texts into words first, for instance with"
            f" {NO_SPACES[language][1]}: give topoi.read lists of tokens, or a file of texts with"
            r" spaces between words and --token-pattern '\S+' (token_pattern in Python).",
            stacklevel=2,
        )
