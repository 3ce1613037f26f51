"""All measures of a model at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from topoi.evaluate.coherence import npmi
from topoi.evaluate.inputs import counts_for
from topoi.evaluate.perplexity import completion
from topoi.evaluate.topics import topic_diversity

__all__ = ["quality", "seen_in_training"]


def seen_in_training(model: Any, X: Any) -> int | None:
    """How many of some documents a model was trained on.

    Parameters
    ----------
    model : fitted model
        A topoi model.
    X : Corpus or array-like of shape (n_documents, n_words)
        Documents.

    Returns
    -------
    int or None
        By the names of documents, where both know them. Without names, all if they are as many and
        as long as the training documents, one by one; otherwise None: unknown.

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> from topoi.evaluate import seen_in_training
    >>> corpus, _ = datasets.make_blocks(n_topics=2)
    >>> seen_in_training(LDA(2).fit(corpus), corpus), corpus.n_docs
    (60, 60)
    """
    known = getattr(model, "documents_", None)
    names = getattr(X, "doc_names", None)
    if known is None:
        return None
    if known.names is not None and names is not None:
        return len(set(known.names.tolist()) & set(names))
    counts = counts_for(model, X)
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    same = len(lengths) == len(known.tokens) and np.allclose(lengths, known.tokens)
    return len(lengths) if same else None


def quality(model: Any, X: Any, *, random_state: int = 0) -> dict[str, float | None]:
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
        "documents", and "seen_in_training", how many of these the model was trained on (None if
        that is unknown): on those it looks better than it is. "held_out_tokens"; "perplexity",
        "perplexity_low" and "perplexity_high" of `completion`; "npmi", the mean coherence of topics
        in X; "diversity". For labeled models and a Corpus with labels also "labeled_documents" and
        "label_found", how often the likeliest label is right.

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> from topoi.evaluate import quality
    >>> corpus, _ = datasets.make_blocks(n_topics=2)
    >>> train, test = corpus.split(0.2)
    >>> list(quality(LDA(2).fit(train), test))[:3]
    ['documents', 'seen_in_training', 'held_out_tokens']
    """
    found = completion(model, X, random_state=random_state)
    answer: dict[str, float | None] = {
        "documents": (
            X.n_docs if hasattr(X, "n_docs") else len(X) if isinstance(X, list) else X.shape[0]
        ),
        "seen_in_training": seen_in_training(model, X),
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
