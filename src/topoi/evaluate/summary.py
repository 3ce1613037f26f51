"""All measures of a model at once, and what they mean in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.corpus import Corpus
from topoi.corpus.coverage import FEW_WORDS, NO_WORDS, marks_of
from topoi.corpus.membership import Membership
from topoi.evaluate.coherence import npmi
from topoi.evaluate.inputs import proportions_of
from topoi.evaluate.labels import clusters, retrieval
from topoi.evaluate.perplexity import completion
from topoi.evaluate.topics import rank_biased_diversity, topic_diversity
from topoi.evaluate.training import seen_in_training

if TYPE_CHECKING:
    from topoi.io.given import CorpusLike
    from topoi.protocols import FittedModel

__all__ = ["MEASURES", "Measure", "quality"]

FOUND = (5, 10)  # most similar documents whose labels are compared


class Measure(NamedTuple):
    """How a number of `quality` is shown; `shown` and `meaning` are filled in with all of them."""

    title: str
    shown: str
    meaning: str


# In the order in which people see them. Coherence is last: it says least (docs/guides/quality.md).
MEASURES = {
    "perplexity": Measure(
        "held-out perplexity",
        "{perplexity:.1f}",
        "95 % interval {perplexity_low:.1f} to {perplexity_high:.1f}; lower is better",
    ),
    "label_found": Measure(
        "likeliest label right", "{label_found:.1%}", "of {labeled_documents} labeled documents"
    ),
    "harmonic_purity": Measure(
        "labels and main topics: F1",
        "{harmonic_purity:.2f}",
        "of each label with its best topic; purity {purity:.2f}, inverse {inverse_purity:.2f}",
    ),
    "nmi": Measure("NMI", "{nmi:.2f}", "of labels and main topics, from 0 to 1; V-measure"),
    "ami": Measure("AMI", "{ami:.2f}", "the same above chance: 0 for random topics"),
    "ari": Measure("ARI", "{ari:.2f}", "pairs of documents together in both, above chance"),
    "accuracy": Measure(
        "labels from proportions",
        "{accuracy:.1%}",
        "right by a classifier, cross-validated; always the commonest label: {majority:.1%}",
    ),
    "p@5": Measure("P@5", "{p@5:.1%}", "of the 5 most similar documents have the same label"),
    "p@10": Measure("P@10", "{p@10:.1%}", "of the 10 most similar; of random ones {by_chance:.1%}"),
    "no_known_words": Measure(
        "documents without known words",
        "{no_known_words}",
        "of {documents}, and {few_known_words} with few: their topics say little",
    ),
    "diversity": Measure(
        "diversity", "{diversity:.2f}", "proportion of different words among the topics' top words"
    ),
    "rank_biased_diversity": Measure(
        "rank-biased diversity",
        "{rank_biased_diversity:.2f}",
        "how different the topics' first words are: 0 the same, 1 all different",
    ),
    "npmi": Measure(
        "coherence (NPMI)",
        "{npmi:.3f}",
        "top words together in these documents: -1 never, 1 always; people often disagree",
    ),
}


def quality(model: FittedModel, X: CorpusLike, *, random_state: int = 0) -> dict[str, float | None]:
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
        "documents", "seen_in_training" (how many of them the model was trained on, on which it
        looks better than it is; None if that is unknown), "no_known_words" and "few_known_words"
        (how many of them rest on little), "held_out_tokens"; "perplexity",
        "perplexity_low" and "perplexity_high" of `completion`; "diversity" and
        "rank_biased_diversity"; "npmi", the mean coherence of topics in X. For a Corpus with
        at most one label per document also the measures of `clusters` and `retrieval`. For labeled
        models and a Corpus with labels also "labeled_documents" and "label_found", how often the
        likeliest label is right.

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> from topoi.evaluate import quality
    >>> corpus, _ = datasets.make_blocks(n_topics=2)
    >>> train, test = corpus.split(0.2)
    >>> list(quality(LDA(2).fit(train), test))[:3]
    ['documents', 'seen_in_training', 'no_known_words']
    """
    check_is_fitted(model)
    corpus = X.like(model.vocabulary_) if isinstance(X, Corpus) else Corpus(X)
    marks = marks_of(corpus).tolist()
    found = completion(model, X, random_state=random_state)
    return {
        "documents": corpus.n_docs,
        "seen_in_training": seen_in_training(model, X),
        "no_known_words": marks.count(NO_WORDS),
        "few_known_words": marks.count(FEW_WORDS),
        "held_out_tokens": found.n_tokens,
        "perplexity": found.perplexity,
        "perplexity_low": found.low,
        "perplexity_high": found.high,
        **_of_topics(model, X),
        **(
            _of_labels(model, X, X.labels) if isinstance(X, Corpus) and X.labels is not None else {}
        ),
    }


def _of_topics(model: FittedModel, X: CorpusLike) -> dict[str, float]:
    several = len(model.components_) > 1
    return {
        "diversity": topic_diversity(model),
        **({"rank_biased_diversity": rank_biased_diversity(model)} if several else {}),
        "npmi": float(np.mean(npmi(model, X))),
    }


def _of_labels(model: FittedModel, corpus: Corpus, labels: Membership) -> dict[str, float]:
    """What labels tell about topics, and labeled models about labels."""
    answer: dict[str, float] = {}
    n_labels = labels.counts()
    if n_labels.max(initial=0) == 1 and len(np.unique(labels.matrix.indices)) > 1:
        proportions = proportions_of(model, corpus)
        answer |= clusters(proportions, labels)
        at = tuple(n for n in FOUND if n < n_labels.sum())
        answer |= retrieval(proportions, labels, at=at) if at else {}
        answer["labeled_documents"] = answer.pop("documents")
    if hasattr(model, "classes_") and hasattr(model, "most_likely"):
        judged = [
            (guess[0], truth)
            for guess, truth in zip(model.most_likely(corpus), labels, strict=True)
            if len(truth)
        ]
        answer |= {
            "labeled_documents": len(judged),
            "label_found": sum(guess in truth for guess, truth in judged) / max(len(judged), 1),
        }
    return answer
