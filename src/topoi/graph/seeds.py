"""Seed words: what some topics should be about, as a higher prior of these words.

A prior of beta + s for word w in topic k is the same as s tokens of w that topic k always holds: a
constant on top of the words' counts, which every sweep keeps (`Plan.word_prior`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from topoi.graph.plan import Plan
from topoi.io.lines import composed

__all__ = ["PlacedWords", "SeedWords", "Seeds", "WordPrior", "place_seeds", "seed_strengths"]

SeedWords = Mapping[str, Sequence[str] | Mapping[str, float | None]]
USUAL_SHARE = 0.005  # of an average topic: what a seed word is at most stronger by itself
MOST_TOKENS = 1e9
MOST_NAMED = 8  # unknown words that a warning names


@dataclass
class WordPrior:
    """Word priors of topics, (W, K) beyond beta."""

    prior: np.ndarray

    def add_to(self, plan: Plan) -> None:
        plan.add_word_prior(self.prior)

    def word_prior(self, n_topics: int, word_weight: np.ndarray, token: float) -> np.ndarray:
        return self.prior


class PlacedWords(NamedTuple):
    """Seed words of topics that are known by their numbers, and of words known by their columns."""

    topics: np.ndarray  # (n,) topic of each seed word
    columns: np.ndarray  # (n,) its column
    tokens: np.ndarray  # (n,) its strength; NaN is the usual one
    names: dict[int, str]  # of the topics


@dataclass
class Seeds:
    """Words that some topics should be about. The other topics are free.

    A seed word counts in its topic as if `strength` more tokens of it were there, in every sweep.
    What else the topic is about it learns from the documents.

    Parameters
    ----------
    words : dict of str to list of str, or to dict of str to float
        Seed words by topic name; with a dict, the strength of each word in tokens. A word may be in
        several topics. A name that a topic has anyway ("topic3", a label) is that topic; the others
        take the first free topics in their order (beside labels, background topics).
    strength : float or None, default=None
        Tokens by which a seed word is stronger in its topic. None is as many as the word has in the
        corpus, and at most 0.5 % of an average topic (tokens / topics).
    placed : PlacedWords, default=None
        Topics and columns of the words. A model fills it in when it knows its vocabulary.

    Examples
    --------
    >>> import topoi
    >>> corpus = topoi.read(["cat dog cat pet", "dog pet cat", "bond stock bond", "stock bond"] * 9)
    >>> model = topoi.LDA(2, seeds={"money": ["stock"], "animals": ["dog"]}).fit(corpus)
    >>> model.topic_names_
    ['money', 'animals']
    >>> model.top_words(2)
    [['bond', 'stock'], ['cat', 'dog']]
    """

    words: SeedWords
    strength: float | None = None
    placed: PlacedWords | None = None

    def add_to(self, plan: Plan) -> None:
        plan.add_word_prior(self.word_prior(plan.n_topics, plan.counts.sum(axis=0), plan.token))

    def word_prior(self, n_topics: int, word_weight: np.ndarray, token: float) -> np.ndarray:
        """Pseudo-counts of words in topics.

        Parameters
        ----------
        n_topics : int
            Number of topics.
        word_weight : ndarray of shape (n_words,)
            Weight of each word in the corpus.
        token : float
            Weight of one token.

        Returns
        -------
        ndarray of shape (n_words, n_topics)
            Mostly 0.
        """
        if self.placed is None:
            raise ValueError("Seeds need the words of the corpus: use them in LDA or TopicModel.")
        topics, columns, tokens, _ = self.placed
        most = USUAL_SHARE * word_weight.sum() / n_topics
        usual = np.clip(word_weight[columns], token, max(most, token))
        prior = np.zeros((len(word_weight), n_topics))
        np.add.at(prior, (columns, topics), np.where(np.isnan(tokens), usual, tokens * token))
        return prior


def place_seeds(
    seeds: Seeds | SeedWords,
    vocabulary: Sequence[str] | np.ndarray | None,
    usual_names: Sequence[str],
    n_labels: int = 0,
) -> Seeds:
    """The same seeds with topics and columns in the place of names and words.

    Parameters
    ----------
    seeds : Seeds, or its words
        As people give them. They stay as they are.
    vocabulary : sequence of str or None
        The word of each column.
    usual_names : sequence of str
        The names that topics have if nobody names them.
    n_labels : int, default=0
        So many first topics belong to labels, and are seeded by their names only.

    Returns
    -------
    Seeds
        With `placed`.
    """
    if vocabulary is None:
        raise ValueError(
            "seeds are words, and X does not name the words of its columns. Give a Corpus (of"
            " topoi.read) or a data frame; or give an array (topics, words) as topic_word_prior."
        )
    column = {composed(str(word)): i for i, word in enumerate(vocabulary)}
    strengths = seed_strengths(seeds)
    topics = _topics_of(list(strengths), list(usual_names), n_labels)
    placed, unknown = [], []
    for name, tokens_of in strengths.items():
        forms = {word: word if word in column else word.lower() for word in tokens_of}
        known = [
            (topics[name], column[form], tokens_of[word])
            for word, form in forms.items()
            if form in column
        ]
        unknown += [f"{word!r} of {name!r}" for word, form in forms.items() if form not in column]
        if not known:
            raise ValueError(
                f"No seed word of {name!r} is in the vocabulary: {_some(map(repr, forms))}. Choose"
                " words as the corpus counts them."
            )
        placed += known
    if unknown:
        warnings.warn(
            f"{len(unknown)} seed words are not in the vocabulary and are left out:"
            f" {_some(unknown)}.",
            stacklevel=5,
        )
    of_topic, columns, tokens = map(np.array, zip(*placed, strict=True))
    names = {topic: name for name, topic in topics.items() if name != usual_names[topic]}
    seeds = seeds if isinstance(seeds, Seeds) else Seeds(seeds)
    return replace(seeds, placed=PlacedWords(of_topic, columns, tokens, names))


def seed_strengths(seeds: Seeds | SeedWords) -> dict[str, dict[str, float]]:
    """Tokens of each seed word of each name, NaN for the usual strength; checked."""
    seeds = seeds if isinstance(seeds, Seeds) else Seeds(seeds)
    if not isinstance(seeds.words, Mapping) or not seeds.words:
        raise ValueError(
            f"seeds is {seeds.words!r}; expected names of topics with lists of words, such as"
            " {'economy': ['tax', 'budget']}."
        )
    found: dict[str, dict[str, float]] = {}
    for given, words in seeds.words.items():
        name = str(given).strip()
        if not name or name in found:
            raise ValueError(
                f"seeds has the name {name!r} twice, or an empty one; give each topic a name of"
                " its own."
            )
        if isinstance(words, str) or not isinstance(words, Mapping | Sequence | set) or not words:
            raise ValueError(
                f"The seeds of {name!r} are {words!r}; expected a list with at least one word."
            )
        odd = next((word for word in words if not isinstance(word, str)), None)
        if odd is not None:
            raise ValueError(f"The seeds of {name!r} hold {odd!r}; expected words.")
        of_words = words if isinstance(words, Mapping) else dict.fromkeys(words, seeds.strength)
        found[name] = {
            composed(word.strip()): _checked_tokens(word, tokens)
            for word, tokens in of_words.items()
        }
    return found


def _checked_tokens(word: str, tokens: float | None) -> float:
    if tokens is None:
        return np.nan
    number = isinstance(tokens, float | int | np.number) and not isinstance(tokens, bool)
    if not number or not 0 < tokens <= MOST_TOKENS:
        raise ValueError(
            f"The strength of the seed {word!r} is {tokens!r}; expected a number of tokens above 0,"
            " or None for the usual strength."
        )
    return float(tokens)


def _topics_of(names: list[str], usual_names: list[str], n_labels: int) -> dict[str, int]:
    """The topic of each name: the one that is called so anyway, else the next free one."""
    found = {name: usual_names.index(name) for name in names if name in usual_names}
    others = [name for name in names if name not in found]
    free = [k for k in range(n_labels, len(usual_names)) if k not in found.values()]
    if len(others) > len(free):
        cure = "name a label, or ask for more background_topics" if n_labels else "ask for more"
        raise ValueError(
            f"seeds names {others[len(free)]!r}, and no topic is left for it: the model has"
            f" {len(usual_names)}. Seed fewer, or {cure}{'' if n_labels else ' (n_components)'}."
        )
    return found | dict(zip(others, free, strict=False))


def _some(words: Iterable[str]) -> str:
    words = list(words)
    return ", ".join(words[:MOST_NAMED]) + (", ..." if len(words) > MOST_NAMED else "")
