"""Vectorisers: how texts become counts of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from topoi.io.lines import composed, read_words

__all__ = ["make_vectorizer", "vectorizer_from", "vectorizer_of", "vectorizer_settings"]

TOKEN = r"(?u)\b[^\W\d_]\w+\b"  # two characters or more, the first one a letter
CONTRACTIONS = (
    "ain aren couldn didn doesn don hadn hasn haven isn ll mustn needn shan shouldn ve wasn weren"
    " wouldn"
)
PLAIN_SETTINGS = (
    "analyzer",
    "binary",
    "lowercase",
    "max_df",
    "max_features",
    "min_df",
    "strip_accents",
    "token_pattern",
)


def make_vectorizer(
    *,
    stop_words: str | Path | Sequence[str] | None = "english",
    min_df: float = 2,
    max_df: float = 0.5,
    ngram_range: tuple[int, int] = (1, 1),
    token_pattern: str = TOKEN,
    lowercase: bool = True,
    max_features: int | None = None,
    vocabulary: Sequence[str] | str | Path | None = None,
) -> CountVectorizer:
    """A CountVectorizer with defaults that suit topics: lower case, words that begin with a letter,
    neither too rare nor too common.

    stop_words: "english", None or "none", words, a file of them, one a line, or names of these with
    commas between ("english,mine.txt"). min_df, max_df: least number (or share) of documents a word
    is in, and the greatest. vocabulary: the words to count and no others, or a file of them.
    """
    if isinstance(vocabulary, str | Path):
        vocabulary = read_words(Path(vocabulary))
    return CountVectorizer(
        stop_words=_stop_words(stop_words, lowercase, token_pattern),
        min_df=min_df,
        max_df=max_df,
        ngram_range=tuple(ngram_range),
        token_pattern=token_pattern,
        lowercase=lowercase,
        max_features=max_features,
        vocabulary=None if vocabulary is None else [composed(word) for word in vocabulary],
    )


def _stop_words(
    given: str | Path | Sequence[str] | None, lowercase: bool, token_pattern: str
) -> list[str] | None:
    """The list, with the parts into which the tokeniser cuts its words ("don't" also stops
    "don").
    """
    if given is None or given == "none":
        return None
    words = (
        [word for name in str(given).split(",") for word in _stop_list(name)]
        if isinstance(given, str | Path)
        else given
    )
    cut = CountVectorizer(lowercase=lowercase, token_pattern=token_pattern).build_analyzer()
    return sorted({part for word in map(composed, words) for part in [word, *cut(word)]})


def _stop_list(name: str) -> list[str]:
    if name == "english":
        return [*ENGLISH_STOP_WORDS, *CONTRACTIONS.split()]
    if not Path(name).is_file():
        raise ValueError(
            f"{name} is not a file, and no list of stop words that topoi has; give a file with a"
            " word on each line, or 'english'."
        )
    return read_words(Path(name))


def vectorizer_of(model: Any) -> CountVectorizer:
    """What turns texts into counts of a fitted model's words: its own vectoriser or, if it was
    fitted on counts, one with the usual settings.
    """
    if model.vectorizer_ is not None:
        return model.vectorizer_
    if model.vocabulary_ is None:
        raise ValueError(
            "The model was fitted on counts without words, so it cannot read texts; give counts"
            " with the same columns."
        )
    words = [str(word) for word in model.vocabulary_]
    return make_vectorizer(stop_words=None, vocabulary=words).fit([""])


def vectorizer_settings(vectorizer: CountVectorizer) -> dict[str, Any]:
    """Settings and vocabulary of a fitted vectoriser as plain values, for a model file."""
    own_code = [
        name
        for name in ("analyzer", "preprocessor", "tokenizer")
        if callable(getattr(vectorizer, name))
    ]
    if type(vectorizer) is not CountVectorizer or own_code:
        other = (
            f"one with a {own_code[0]} of your own"
            if own_code
            else f"a {type(vectorizer).__name__}"
        )
        raise TypeError(
            f"A model file keeps a plain CountVectorizer only, not {other}; set vectorizer_ to"
            " None, or use pickle."
        )
    settings: dict[str, Any] = {name: getattr(vectorizer, name) for name in PLAIN_SETTINGS}
    stop = vectorizer.stop_words
    settings["stop_words"] = stop if stop is None or isinstance(stop, str) else sorted(stop)
    settings["ngram_range"] = list(vectorizer.ngram_range)
    settings["vocabulary"] = vectorizer.get_feature_names_out().tolist()
    return settings


def vectorizer_from(settings: Mapping[str, Any]) -> CountVectorizer:
    """The vectoriser whose settings these are, ready to transform."""
    return CountVectorizer(**{**settings, "ngram_range": tuple(settings["ngram_range"])}).fit([""])
