"""Phrases: words that stand together far more often than by chance count as one, as "new_york"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from sklearn.feature_extraction.text import CountVectorizer

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["JOINT", "PhraseVectorizer", "Phrases", "learned_phrases", "runs"]

JOINT = "_"  # between the words of a phrase
Phrase = tuple[str, ...]


@dataclass(frozen=True)
class Phrases:
    """How phrases are found in texts.

    The score of a phrase is the normalised pointwise mutual information of its two parts
    (NPMI; Bouma 2009): 0 if they meet as often as by chance, 1 if they never stand alone. A phrase
    of three words is one of two, and a word that follows or precedes it.

    Parameters
    ----------
    min_documents : int, default=5
        Least number of documents that a phrase is in.
    min_score : float, default=0.6
        Least score, from -1 to 1.
    longest : int, default=3
        Most words of a phrase.

    Examples
    --------
    >>> import topoi
    >>> texts = ["He flew to New York.", "The mayor of New York", "New York, new rules"] * 3
    >>> corpus = topoi.read(texts, phrases=topoi.Phrases(min_documents=3), max_df=1.0)
    >>> corpus.vocabulary.tolist()
    ['flew', 'mayor', 'new', 'new_york', 'rules']
    """

    min_documents: int = 5
    min_score: float = 0.6
    longest: int = 3

    def __post_init__(self) -> None:
        for name in ("min_documents", "longest"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}; expected a whole number of at least 1.")
        if not -1 <= self.min_score <= 1:
            raise ValueError(f"min_score is {self.min_score!r}; expected a number from -1 to 1.")


def learned_phrases(
    documents: Callable[[], Iterable[Sequence[str]]],
    stop_words: Collection[str],
    settings: Phrases,
) -> list[Phrase]:
    """The phrases of documents, in alphabetical order.

    Parameters
    ----------
    documents : callable
        Gives the tokens of each document; called once for each length of phrases.
    stop_words : collection of str
        Words that are in no phrase, and separate the words beside them.
    settings : Phrases
        What counts as a phrase.

    Returns
    -------
    list of tuple of str

    Examples
    --------
    >>> texts = [["new", "york"], ["new", "york", "mayor"], ["a", "new", "mayor"], ["york"]]
    >>> learned_phrases(lambda: texts, ["a"], Phrases(min_documents=2, min_score=0.1))
    [('new', 'york')]
    """
    uses: Counter[Phrase] = Counter()  # tokens of words and phrases
    total, known, found = 0, set[Phrase](), set[Phrase]()
    for length in range(1, settings.longest + 1):
        inside: Counter[Phrase] = Counter()  # documents
        here: Counter[Phrase] = Counter()
        for tokens in documents():
            total += len(tokens) if length == 1 else 0
            # Only what is made of known parts can be frequent enough.
            read = [run for run in _runs_of(tokens, length) if length == 1 or _parts(run, known)]
            here.update(read)
            inside.update(set(read))
        stopped = {(word,) for word in stop_words} if length == 1 else set()
        frequent = {run for run, n in inside.items() if n >= settings.min_documents} - stopped
        uses.update({run: here[run] for run in frequent})
        if length == 1:
            known = frequent
            continue
        new = {
            run
            for run in frequent
            if max(_npmi(uses[run], uses[a], uses[b], total) for a, b in _parts(run, known))
            >= settings.min_score
        }
        known |= new
        found |= new
        if not new:
            break
    return sorted(found)


def _runs_of(tokens: Sequence[str], length: int) -> Iterator[Phrase]:
    return zip(*(tokens[i:] for i in range(length)), strict=False)


def _parts(run: Phrase, known: Collection[Phrase]) -> list[tuple[Phrase, Phrase]]:
    """The ways in which a run is a known word beside a known word or phrase."""
    ways = {(run[:-1], run[-1:]), (run[:1], run[1:])}
    return [(a, b) for a, b in ways if a in known and b in known]


def _npmi(together: int, first: int, second: int, total: int) -> float:
    """Normalised pointwise mutual information of two parts that meet `together` times."""
    if together >= total:
        return 1.0
    return log(together * total / (first * second)) / log(total / together)


def runs(tokens: Sequence[str], phrases: Collection[Phrase], longest: int) -> Iterator[slice]:
    """Where the phrases and the other words of a text stand: from left to right, the longest
    phrase that begins there, or one token.

    Parameters
    ----------
    tokens : sequence of str
        A text.
    phrases : collection of tuple of str
        What counts as one.
    longest : int
        Most words of a phrase.

    Yields
    ------
    slice

    Examples
    --------
    >>> tokens = ["a", "new", "york", "mayor"]
    >>> [tokens[at] for at in runs(tokens, {("new", "york")}, 2)]
    [['a'], ['new', 'york'], ['mayor']]
    """
    at = 0
    while at < len(tokens):
        lengths = range(min(longest, len(tokens) - at), 1, -1)
        n = next((n for n in lengths if tuple(tokens[at : at + n]) in phrases), 1)
        yield slice(at, at + n)
        at += n


class PhraseVectorizer(CountVectorizer):  # type: ignore[misc]
    """A CountVectorizer that counts phrases as words: "new_york" instead of "new" and "york".

    `make_vectorizer(phrases=True)` makes one; `topoi.read(texts, phrases=True)` does so, too. A
    fitted one cuts new texts with the phrases it has learned.

    Parameters
    ----------
    phrases : Phrases or sequence of str, default=None
        How they are found, or the phrases, such as "new york". None is `Phrases()`.
    stop_words, min_df, max_df, ngram_range, token_pattern, lowercase, max_features, vocabulary
        As in CountVectorizer.

    Examples
    --------
    >>> vectorizer = PhraseVectorizer(phrases=["new york"]).fit(["New York is not York"])
    >>> vectorizer.get_feature_names_out().tolist()
    ['is', 'new_york', 'not', 'york']
    """

    def __init__(
        self,
        *,
        phrases: Phrases | Sequence[str] | Sequence[Phrase] | None = None,
        stop_words: str | Sequence[str] | None = None,
        min_df: float = 1,
        max_df: float = 1.0,
        ngram_range: tuple[int, int] = (1, 1),
        token_pattern: str = r"(?u)\b\w\w+\b",
        lowercase: bool = True,
        max_features: int | None = None,
        vocabulary: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            stop_words=stop_words,
            min_df=min_df,
            max_df=max_df,
            ngram_range=ngram_range,
            token_pattern=token_pattern,
            lowercase=lowercase,
            max_features=max_features,
            vocabulary=vocabulary,
        )
        self.phrases = phrases

    def fit_transform(self, raw_documents: Iterable[str], y: object = None) -> sparse.csr_matrix:
        """Learn the phrases, then the vocabulary; the texts are held meanwhile.

        Parameters
        ----------
        raw_documents : iterable of str
            The texts.
        y : object, default=None
            Not used.

        Returns
        -------
        csr_matrix of shape (n_documents, n_words)
        """
        documents = raw_documents
        if self.phrases is None or isinstance(self.phrases, Phrases):
            documents = list(raw_documents)
            self.phrases_ = self._learned(documents, self.phrases or Phrases())
        else:
            self.phrases_ = [tuple(p.split()) if isinstance(p, str) else p for p in self.phrases]
        return super().fit_transform(documents, y)

    def _learned(self, documents: list[str], settings: Phrases) -> list[Phrase]:
        prepare, cut = self.build_preprocessor(), super().build_tokenizer()
        stop_words = set(self.get_stop_words() or ())
        return learned_phrases(
            lambda: (cut(prepare(self.decode(text))) for text in documents), stop_words, settings
        )

    def build_tokenizer(self) -> Callable[[str], list[str]]:
        """What cuts a text into words and phrases.

        Returns
        -------
        callable
        """
        cut, phrases = super().build_tokenizer(), set(self.phrases_)
        longest = max(map(len, phrases), default=1)

        def tokens(text: str) -> list[str]:
            words = cut(text)
            return [JOINT.join(words[at]) for at in runs(words, phrases, longest)]

        return tokens
