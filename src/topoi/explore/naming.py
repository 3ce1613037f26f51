"""Names of topics from their words: automatic ones, and those of a function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from topoi.explore.words import top_columns, words_of

if TYPE_CHECKING:
    from topoi.protocols import FittedModel

__all__ = ["EXAMPLES", "Namer", "automatic_names", "names_by", "unique_names"]

TYPICAL = 0.4  # relevance of words that make a name
CANDIDATES, TERMS = 20, 3  # words of a topic to choose from; words or phrases in a name
LEAST_TIMES, LEAST_PART = 3, 0.25  # that a phrase occurs, and of its rarer word
EXAMPLES = 20  # documents of a topic, in whose texts phrases are looked for

Namer = Callable[[list[str], list[str]], str]


def automatic_names(
    words: Sequence[Sequence[str]],
    texts: Sequence[Sequence[str]] | None = None,
    cut: Callable[[str], list[str]] = str.split,
) -> list[str]:
    """A name of a few distinctive words or phrases for each topic, none twice.

    Parameters
    ----------
    words : sequence of sequence of str
        Typical words of each topic, best first.
    texts : sequence of sequence of str, optional
        Texts about each topic. Two typical words that stand side by side there again and again
        are a phrase.
    cut : callable
        Cuts a text into words.

    Returns
    -------
    list of str

    Examples
    --------
    >>> texts = ["interest rates rise", "rates fall", "low interest rates", "interest rates"]
    >>> words = [["rates", "interest", "bank", "rise"], ["cats", "dogs", "pets"]]
    >>> automatic_names(words, [texts, []])
    ['interest rates, bank, rise', 'cats, dogs, pets']
    """
    found = texts if texts is not None else [()] * len(words)
    terms = [
        _terms(list(row), (cut(text) for text in about))
        for row, about in zip(words, found, strict=True)
    ]
    names = [", ".join(row[:TERMS]) for row in terms]
    return unique_names(names, terms)


def _terms(words: list[str], documents: Iterable[list[str]]) -> list[str]:
    """Words, with phrases in place of the words that they are made of."""
    times: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for tokens in documents:
        times.update(tokens)
        pairs.update(pair for pair in pairwise(tokens) if pair[0] != pair[1])
    known = set(words)
    phrases: dict[str, str] = {}
    for (first, second), n in pairs.most_common():
        rarer = min(times[first], times[second])
        often = n >= LEAST_TIMES and n >= LEAST_PART * rarer
        if often and first in known and second in known and not {first, second} & phrases.keys():
            phrases[first] = phrases[second] = f"{first} {second}"
    terms = list(dict.fromkeys(phrases.get(word, word) for word in words))
    return [
        term
        for i, term in enumerate(terms)
        if not any(set(term.split()) < set(other.split()) for other in terms[: i + TERMS])
    ]


def unique_names(names: Sequence[str], terms: Sequence[Sequence[str]]) -> list[str]:
    """Names of which none is there twice: equal ones get another of the topic's terms in brackets,
    or a number.

    Parameters
    ----------
    names : sequence of str
        A name for each topic.
    terms : sequence of sequence of str
        Words of each topic to tell it from others.

    Returns
    -------
    list of str

    Examples
    --------
    >>> unique_names(["money", "money", "pets"], [["bank", "tax"], ["bank", "loan"], ["cat"]])
    ['money (tax)', 'money (loan)', 'pets']
    """
    made: list[str] = []
    for k, name in enumerate(names):
        twins = [j for j, other in enumerate(names) if other == name and j != k]
        others = {term for j in twins for term in terms[j]}
        own = [term for term in terms[k] if term not in others and term not in name]
        options = [name] if not twins else [f"{name} ({term})" for term in own]
        numbered = (f"{name} {i}" for i in range(1, len(names) + 2))
        taken = {*made, *(set(names) - {name})}
        made.append(next(option for option in (*options, *numbered) if option not in taken))
    return made


def names_by(
    model: FittedModel,
    namer: Namer | None,
    topics: Sequence[int],
    documents: Sequence[Sequence[str]],
) -> dict[int, str]:
    """Names of some topics, from their typical words and documents.

    Parameters
    ----------
    model : fitted model
        A topoi model.
    namer : callable or None
        Called with (words, documents) of each topic; None makes automatic names.
    topics : sequence of int
        The topics to name.
    documents : sequence of sequence of str
        Documents about each of these topics, best first: texts, or names if texts were not kept.

    Returns
    -------
    dict of int to str
        Names that are different from each other and from those of the other topics.
    """
    words, columns = words_of(model), top_columns(model, CANDIDATES, TYPICAL)
    typical = [[str(words[w]) for w in columns[k]] for k in topics]
    if namer is None:
        texts = None if model.documents_ is None else model.documents_.texts
        names = automatic_names(typical, documents if texts else None, _plain_cut(model))
    else:
        found = zip(typical, documents, strict=True)
        given = [namer(list(row), list(about)) for row, about in found]
        for k, name in zip(topics, given, strict=True):
            if not isinstance(name, str):
                raise ValueError(
                    f"The function returned {str(name)[:60]!r} for topic {k}; expected a name (str)"
                    " or '' for none."
                )
        names = [name.strip() for name in given]
    named = [i for i, name in enumerate(names) if name]
    others = [name for k, name in enumerate(model.topic_names_) if k not in set(topics)]
    whole = unique_names(
        [*others, *(names[i] for i in named)], [*([] for _ in others), *(typical[i] for i in named)]
    )
    return dict(zip([topics[i] for i in named], whole[len(others) :], strict=True))


def _plain_cut(model: FittedModel) -> Callable[[str], list[str]]:
    """What cuts texts into words as the model's vectoriser does, stop words included: words on both
    sides of one are no phrase.
    """
    if model.vectorizer_ is None:
        return lambda text: text.lower().split()
    prepare, cut = model.vectorizer_.build_preprocessor(), model.vectorizer_.build_tokenizer()
    return lambda text: cut(prepare(text))
