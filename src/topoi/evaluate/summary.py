"""All measures of a model at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from topoi.corpus import Corpus
from topoi.corpus.coverage import FEW_WORDS, NO_WORDS, marks_of
from topoi.evaluate.coherence import npmi
from topoi.evaluate.perplexity import completion
from topoi.evaluate.topics import topic_diversity

__all__ = ["quality"]


def quality(model: Any, X: Any, *, random_state: int = 0) -> dict[str, float]:
    """How good a model is on documents it has not seen: all measures at once.

    Parameters
    ----------
    model : fitted model
        A topoi model.
    X : Corpus or array-like of shape (n_documents, n_words)
        Test documents.
    random_state : int, default=0
        Seed of the held-out tokens.

    Returns
    -------
    dict of str to float
        "documents", "no_known_words" and "few_known_words" (how many of them rest on little),
        "held_out_tokens"; "perplexity", "perplexity_low" and "perplexity_high" of
        `completion`; "npmi", the mean coherence of topics in X; "diversity". For labeled models and
        a Corpus with labels also "labeled_documents" and "label_found", how often the likeliest
        label is right.

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> from topoi.evaluate import quality
    >>> corpus, _ = datasets.make_blocks(n_topics=2)
    >>> train, test = corpus.split(0.2)
    >>> list(quality(LDA(2).fit(train), test))[:3]
    ['documents', 'no_known_words', 'few_known_words']
    """
    corpus = X.like(model.vocabulary_) if isinstance(X, Corpus) else Corpus(X)
    marks = marks_of(corpus).tolist()
    found = completion(model, X, random_state=random_state)
    answer = {
        "documents": corpus.n_docs,
        "no_known_words": marks.count(NO_WORDS),
        "few_known_words": marks.count(FEW_WORDS),
        "held_out_tokens": found.n_tokens,
        "perplexity": found.perplexity,
        "perplexity_low": found.low,
        "perplexity_high": found.high,
        "npmi": float(np.mean(npmi(model, X))),
        "diversity": topic_diversity(model),
    }
    labels = getattr(X, "labels", None)
    if labels is not None and hasattr(model, "classes_"):
        judged = [
            (guess[0], truth)
            for guess, truth in zip(model.most_likely(X), labels, strict=True)
            if len(truth)
        ]
        answer |= {
            "labeled_documents": len(judged),
            "label_found": sum(guess in truth for guess, truth in judged) / max(len(judged), 1),
        }
    return answer
