"""Vectorisers: how texts become counts of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sklearn.base import clone
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from topoi.io.lines import composed, read_words
from topoi.io.patterns import is_safe_pattern
from topoi.io.phrases import Phrases, PhraseVectorizer
from topoi.storage.archive import Refused
from topoi.storage.schema import Value, choice, demand, flag, number, whole

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "LONGEST_NGRAM",
    "SETTINGS",
    "check_settings",
    "counting_all",
    "make_vectorizer",
    "other_settings",
    "vectorizer_from",
    "vectorizer_of",
    "vectorizer_settings",
    "with_vocabulary",
]

TOKEN = r"(?u)\b[^\W\d_]\w+\b"  # two characters or more, the first one a letter
TOKEN_LISTS: dict[str, Any] = {  # for lists of tokens, which are taken as they are
    "token_pattern": r"[^\x1f]+",
    "lowercase": False,
    "stop_words": None,
    "min_df": 1,
    "max_df": 1.0,
}
LANGUAGES = {  # whose words are separated by spaces, with their codes
    "arabic": "ar", "bulgarian": "bg", "catalan": "ca", "croatian": "hr", "czech": "cs",
    "danish": "da", "dutch": "nl", "estonian": "et", "finnish": "fi", "french": "fr",
    "german": "de", "greek": "el", "hebrew": "he", "hindi": "hi", "hungarian": "hu",
    "indonesian": "id", "italian": "it", "latvian": "lv", "lithuanian": "lt", "norwegian": "no",
    "persian": "fa", "polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru",
    "slovak": "sk", "slovenian": "sl", "spanish": "es", "swedish": "sv", "turkish": "tr",
    "ukrainian": "uk", "vietnamese": "vi",
}  # fmt: skip
CONTRACTIONS = (
    "ain aren couldn didn doesn don hadn hasn haven isn ll mustn needn shan shouldn ve wasn weren"
    " wouldn"
)
SETTINGS: dict[str, Value] = {  # of a vectoriser in a file
    "analyzer": choice("word", "char", "char_wb"),
    "binary": flag(),
    "lowercase": flag(),
    "max_df": number(0, 1e18),
    "min_df": number(0, 1e18),
    "max_features": whole(1, optional=True),
    "strip_accents": choice("ascii", "unicode", optional=True),
    "token_pattern": Value("text"),
}
LONGEST_NGRAM = 20  # the work grows with their lengths
CUTTING = (  # settings that decide what a word is
    "analyzer",
    "lowercase",
    "ngram_range",
    "preprocessor",
    "strip_accents",
    "token_pattern",
    "tokenizer",
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


class HasWords(Protocol):
    """A fitted model, which knows the words of its columns and how texts were cut into them."""

    vocabulary_: Sequence[str] | np.ndarray | None
    vectorizer_: CountVectorizer | None


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
    phrases: bool | Phrases | Sequence[str] = False,
) -> CountVectorizer:
    """A CountVectorizer with defaults that suit topics: lower case, words that begin with a letter,
    neither too rare nor too common.

    Parameters
    ----------
    stop_words : str, Path, sequence of str or None, default="english"
        A language such as "german" or "de", words, a file of them, one a line, or a comma-separated
        list of these ("english,mine.txt"). None or "none" for no stop words.
    min_df : int or float, default=2
        Least number, or proportion, of documents that a word is in.
    max_df : int or float, default=0.5
        Greatest number, or proportion, of documents that a word is in.
    ngram_range : tuple of (int, int), default=(1, 1)
        Least and greatest number of words in a feature; (1, 2) also counts pairs of words.
    token_pattern : str, default=two characters or more, the first one a letter
        A regular expression of a word.
    lowercase : bool, default=True
        Whether upper case counts as lower case.
    max_features : int, default=None
        Keep only this many words, the most frequent ones.
    vocabulary : sequence of str, str or Path, default=None
        The words to count and no others, or a file of them.
    phrases : bool, Phrases or sequence of str, default=False
        True to count words that stand together far more often than by chance as one ("new_york"),
        `Phrases` to choose how often, or the phrases.

    Returns
    -------
    CountVectorizer
        Not fitted yet, unless there is a vocabulary.

    Examples
    --------
    >>> import topoi
    >>> vectorizer = topoi.make_vectorizer(stop_words="german", min_df=1, max_df=1.0)
    >>> topoi.read(["Der Hund", "Die Katze"], vectorizer=vectorizer).words
    ['hund', 'katze']
    """
    if isinstance(vocabulary, str | Path):
        vocabulary = read_words(Path(vocabulary))
    settings: dict[str, Any] = {
        "stop_words": _stop_words(stop_words, lowercase, token_pattern),
        "min_df": min_df,
        "max_df": max_df,
        "ngram_range": tuple(ngram_range),
        "token_pattern": token_pattern,
        "lowercase": lowercase,
        "max_features": max_features,
        "vocabulary": None if vocabulary is None else [composed(word) for word in vocabulary],
    }
    if phrases is False:
        return CountVectorizer(**settings)
    if isinstance(phrases, str):
        raise TypeError(
            f"phrases is {phrases!r}; expected True, a list of phrases, or Phrases(...)."
        )
    return PhraseVectorizer(phrases=None if phrases is True else phrases, **settings)


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
    if Path(name).is_file():
        return read_words(Path(name))
    if name.lower() in LANGUAGES or name.lower() in LANGUAGES.values():
        return _words_of_language(LANGUAGES.get(name.lower(), name.lower()))
    raise ValueError(
        f"{name} is not a file, and not a language that topoi has stop words for; give a file with"
        f" a word on each line, 'english', or one of {', '.join(LANGUAGES)}."
    )


def _words_of_language(code: str) -> list[str]:
    """The stop words of a language (ISO 639-1), from the package stopwordsiso."""
    try:
        import stopwordsiso
    except ImportError as error:
        raise ModuleNotFoundError(
            "Stop words of languages other than English need the package stopwordsiso; install it"
            " with: pip install 'topoi[languages]'"
        ) from error
    return sorted(stopwordsiso.stopwords(code))


def vectorizer_of(model: HasWords, *, new_words: bool = False) -> CountVectorizer:
    """What turns texts into counts of a fitted model's words: its own vectoriser or, if it was
    fitted on counts, one with the usual settings.

    new_words: words are to be found that the model does not know; stop words are not among them.
    """
    if model.vectorizer_ is not None:
        return model.vectorizer_
    if model.vocabulary_ is None:
        raise ValueError(
            "The model was fitted on counts without words, so it cannot read texts; give counts"
            " with the same columns."
        )
    words = [str(word) for word in model.vocabulary_]
    stop = sorted(set(_stop_list("english")) - set(words)) if new_words else None
    return make_vectorizer(stop_words=stop, vocabulary=words).fit([""])


def other_settings(vectorizer: CountVectorizer, other: CountVectorizer) -> list[str]:
    """The settings by which two vectorisers cut the same text into different words.

    Parameters
    ----------
    vectorizer, other : CountVectorizer

    Returns
    -------
    list of str
        Names of parameters.

    Examples
    --------
    >>> other_settings(make_vectorizer(), make_vectorizer(lowercase=False, min_df=1))
    ['lowercase']
    """
    both = vectorizer, other
    phrases = [set(getattr(one, "phrases_", ())) for one in both]
    names = [name for name in CUTTING if getattr(both[0], name) != getattr(both[1], name)]
    return names + ["phrases"] * (phrases[0] != phrases[1])


def with_vocabulary(vectorizer: CountVectorizer, vocabulary: Sequence[str]) -> CountVectorizer:
    """A vectoriser that cuts texts as a fitted one does, and counts other words.

    Parameters
    ----------
    vectorizer : CountVectorizer
        Fitted.
    vocabulary : sequence of str
        What it counts.

    Returns
    -------
    CountVectorizer
        A fitted one. Its phrases are those that `vectorizer` has learned.

    Examples
    --------
    >>> first = make_vectorizer(min_df=1, max_df=1.0).fit(["a cat"])
    >>> with_vocabulary(first, ["cat", "dog"]).transform(["Dog"]).toarray().tolist()
    [[0, 1]]
    """
    return _same_cut(vectorizer).set_params(vocabulary=list(vocabulary)).fit([""])


def counting_all(vectorizer: CountVectorizer) -> CountVectorizer:
    """A vectoriser, not fitted, that cuts texts as a fitted one does and counts every word."""
    limits = {"vocabulary": None, "min_df": 1, "max_df": 1.0, "max_features": None}
    return _same_cut(vectorizer).set_params(**limits)


def _same_cut(vectorizer: CountVectorizer) -> CountVectorizer:
    made = clone(vectorizer)
    if isinstance(vectorizer, PhraseVectorizer):
        made.set_params(phrases=list(vectorizer.phrases_))
    return made


def vectorizer_settings(vectorizer: CountVectorizer) -> dict[str, Any]:
    """Settings and vocabulary of a fitted vectoriser as plain values, for a model file."""
    own_code = [
        name
        for name in ("analyzer", "preprocessor", "tokenizer")
        if callable(getattr(vectorizer, name))
    ]
    if type(vectorizer) not in (CountVectorizer, PhraseVectorizer) or own_code:
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
    if isinstance(vectorizer, PhraseVectorizer):
        settings["phrases"] = [tuple(phrase) for phrase in vectorizer.phrases_]
    return settings


def check_settings(settings: Any) -> None:
    """Refuse what `vectorizer_settings` does not make, or a pattern that may take for ever."""
    demand(
        isinstance(settings, dict)
        and settings.keys() == {*SETTINGS, "stop_words", "ngram_range", "vocabulary"},
        "the settings of its vectoriser are not ours",
    )
    for name, value in SETTINGS.items():
        value.check(name, settings[name])
    if not is_safe_pattern(settings["token_pattern"]):
        raise Refused(
            f"cuts texts into words by the pattern {settings['token_pattern'][:60]!r}, and topoi"
            " only keeps patterns in a file that are sure to end soon on every text"
            f" (topoi.io.patterns). Use a plainer one, such as {TOKEN!r}."
        )
    lengths, stop = settings["ngram_range"], settings["stop_words"]
    demand(
        isinstance(lengths, list)
        and len(lengths) == 2
        and all(type(length) is int for length in lengths)
        and 1 <= lengths[0] <= lengths[1] <= LONGEST_NGRAM,
        "its n-grams have no length, or one above 20",
    )
    demand(stop in (None, "english") or _is_words(stop), "its stop words are not words")
    demand(_is_words(settings["vocabulary"]), "it has no words")


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def vectorizer_from(settings: Mapping[str, Any]) -> CountVectorizer:
    """The vectoriser whose settings these are, ready to transform."""
    given = {**settings, "ngram_range": tuple(settings["ngram_range"])}
    if "phrases" not in given:
        return CountVectorizer(**given).fit([""])
    for name in ("analyzer", "binary", "strip_accents"):  # which phrases do without
        del given[name]
    return PhraseVectorizer(**given).fit([""])
