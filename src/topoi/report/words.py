"""The words of a page: those that topics show, and a table for texts that are typed into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topoi.infer.rules import make_prediction_rule
from topoi.io.patterns import as_javascript
from topoi.printable import printable
from topoi.report.packing import pack, short

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

    from topoi.protocols import FittedModel
    from topoi.report.packing import PageData

__all__ = ["MOST_ENTRIES", "held_counts", "page_words", "words_of"]

SHOWN = 30  # words of a topic at any relevance
RELEVANCES = np.linspace(0, 1, 21)  # positions of the slider
RANKED = 8  # digits of what ranks words: near ties stay in the model's order
MOST_ENTRIES = 750_000  # of words in topics, in the table
LEAST = 1e-3  # tokens of a word in a topic that are worth an entry


def words_of(model: FittedModel) -> np.ndarray:
    """(W,) the words of a model; "word0", "word1", … if it knows none."""
    if model.vocabulary_ is None:
        return np.array([f"word{i}" for i in range(model.components_.shape[1])])
    return np.asarray(model.vocabulary_)


def held_counts(model: FittedModel) -> np.ndarray:
    """(K, W) expected counts of words in topics, without the prior."""
    held: np.ndarray = np.maximum(model.components_ - model.topic_word_prior_, 0)
    return held


def page_words(model: FittedModel) -> PageData:
    """Words, how often they are used, and how often in which topic.

    Words that a topic shows at some relevance come first, then others, the most frequent first,
    while there is room in the table.
    """
    held, least = held_counts(model), float(np.min(model.topic_word_prior_))
    massed = np.maximum(model.components_ - least, 0)  # beyond the prior that all words have
    lists = _listed(model)
    shown = np.unique(np.concatenate(lists))
    used = held.sum(axis=0)
    by_use = np.argsort(-used, kind="stable")
    order = np.concatenate([shown, by_use[~np.isin(by_use, shown)]])
    worth = _worth(massed[:, shown], max(least, LEAST))
    entries = np.cumsum((massed[:, order] >= worth).sum(axis=0))
    n_words = max(len(shown), int(np.searchsorted(entries, MOST_ENTRIES, side="right")))
    kept, total = order[:n_words], max(used.sum(), 1e-300)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    marginal = model.topic_proportions_ @ model.topic_word_
    names, topic_word = words_of(model), model.topic_word_
    return {
        "names": [printable(names[w]) for w in kept],
        "counts": [short(n, 5) for n in used[shown]],
        "marginal": [short(p, RANKED) for p in marginal[shown]],
        "of": len(order),
        "covered": short(used[kept].sum() / total),
        "topics": [
            {
                "words": place[words].tolist(),
                "counts": [short(n, 5) for n in held[k, words]],
                "parts": [short(p, RANKED) for p in topic_word[k, words]],
            }
            for k, words in enumerate(lists)
        ],
        "table": pack(massed[:, kept].T, worth),
        "prediction": _prediction(model, kept, least),
    }


def _worth(massed: np.ndarray, least: float) -> float:
    """Tokens from which a word in a topic has an entry: as few as leave room for all words that
    topics show.
    """
    if (massed >= least).sum() <= MOST_ENTRIES:
        return least
    return float(np.partition(massed, -MOST_ENTRIES, axis=None)[-MOST_ENTRIES])


def _listed(model: FittedModel) -> list[np.ndarray]:
    """For each topic the words among its first at any relevance, as `model.top_words` ranks."""
    topic_word = model.topic_word_
    marginal = np.log(model.topic_proportions_ @ topic_word)
    lists = []
    for row in np.log(topic_word):
        scores = row - np.outer(1 - RELEVANCES, marginal)
        n = min(SHOWN, scores.shape[1])
        lists.append(np.unique(np.argpartition(-scores, n - 1, axis=1)[:, :n]))
    return lists


def _prediction(model: FittedModel, kept: np.ndarray, least: float) -> dict[str, object]:
    """What the page needs to infer the topics of a text as `model.transform` does."""
    rule, weighting = make_prediction_rule(model.rule), model.weighting_
    return {
        "alpha": [short(a, 6) for a in model.doc_topic_prior_],
        "beta": short(least, 6),
        "sizes": [short(n, 8) for n in model.components_.sum(axis=1, dtype=np.float64)],
        "own": rule.own_cap,
        "digamma": rule.digamma_owners,
        "weighting": weighting.kind,
        "scale": short(weighting.scale, 8),
        "idf": None if weighting.idf is None else [short(v) for v in weighting.idf[kept]],
        "tokens": _tokens(getattr(model, "vectorizer_", None)),
    }


def _tokens(vectorizer: CountVectorizer) -> dict[str, object] | None:
    """How a text becomes words, if a script can do it: settings of a plain CountVectorizer."""
    if vectorizer is None or vectorizer.analyzer != "word":
        return None
    own_code = vectorizer.tokenizer is not None or vectorizer.preprocessor is not None
    pattern = None if own_code else as_javascript(vectorizer.token_pattern)
    if pattern is None:
        return None
    shortest, longest = vectorizer.ngram_range
    stop = vectorizer.get_stop_words() if longest > 1 else None
    return {
        "pattern": pattern,
        "lowercase": bool(vectorizer.lowercase),
        "binary": bool(vectorizer.binary),
        "accents": vectorizer.strip_accents,
        "shortest": shortest,
        "longest": longest,
        "stop": sorted(stop or ()),
        "phrases": [list(phrase) for phrase in getattr(vectorizer, "phrases_", ())],
    }
