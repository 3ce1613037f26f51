"""Which model `topoi fit` fits: the one that uses what is given."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from topoi.cli.options import Columns
from topoi.cli.output import note

if TYPE_CHECKING:
    from topoi.corpus import Corpus
    from topoi.graph.factors import Factor, Words


class Kind(Enum):
    lda, author, relational, labeled = "lda", "author", "relational", "labeled"
    combined = "combined"


NEEDS = {Kind.author: "authors", Kind.relational: "links", Kind.labeled: "labels"}
NAMES = {
    Kind.lda: "LDA",
    Kind.author: "an author-topic model",
    Kind.relational: "a relational topic model",
    Kind.labeled: "labeled LDA",
    Kind.combined: "a combination of factors",
}


def chosen_kind(wanted: Kind | None, corpus: Corpus, columns: Columns) -> Kind:
    """The model that was asked for, or the one that uses what was given."""
    if wanted is not None:
        if wanted in NEEDS and getattr(corpus, NEEDS[wanted]) is None:
            raise ValueError(
                f"--model {wanted.value} needs {NEEDS[wanted]}; name their column with"
                f" --{NEEDS[wanted]}."
            )
        return wanted
    given = [kind for kind, what in NEEDS.items() if getattr(columns, what) is not None]
    if len(given) > 1:
        what = " and ".join(NEEDS[kind] for kind in given)
        note(f"Because {what} are given, the model combines them (--model for one of them).")
        return Kind.combined
    if given:
        note(
            f"Because {NEEDS[given[0]]} are given, the model is {NAMES[given[0]]} (--model lda for"
            " plain topics)."
        )
        return given[0]
    unused = [kind for kind, what in NEEDS.items() if getattr(corpus, what) is not None]
    if unused:
        note(
            f"The input also has {', '.join(NEEDS[kind] for kind in unused)}: --model"
            f" {', '.join(kind.value for kind in unused)} would use them."
        )
    return Kind.lda


def mention_documents_without(kind: Kind, corpus: Corpus) -> None:
    """Authors and labels may be missing: that is allowed, but perhaps not meant."""
    meaning = {
        Kind.author: "each of these counts as an author of its own",
        Kind.labeled: "these may use all labels",
    }
    if kind not in meaning:
        return
    bare = int((getattr(corpus, NEEDS[kind]).counts() == 0).sum())
    if bare:
        note(f"{bare} of {corpus.n_docs} documents have no {NEEDS[kind]}: {meaning[kind]}.")


def make_estimator(
    kind: Kind,
    topics: int,
    background: int,
    batch_size: int | None,
    common: dict[str, Any],
    preset: str | None = None,
    corpus: Corpus | None = None,
) -> Any:
    """A model of the kind. preset: "paper" for one with the settings of the paper. corpus:
    the data of a combination.
    """
    import topoi

    if kind is Kind.combined:
        assert corpus is not None
        return _combination(topics, background, common, preset, corpus)
    models = topoi if preset is None else getattr(topoi, preset)
    if kind is Kind.labeled:
        return models.LabeledLDA(background, **common)
    if kind is Kind.author:
        return models.AuthorTopicModel(topics, **common)
    if kind is Kind.relational:
        return models.RelationalTopicModel(topics, **common)
    return models.LDA(topics, batch_size=batch_size, **common)


def _combination(
    topics: int, background: int, common: dict[str, Any], preset: str | None, corpus: Corpus
) -> Any:
    """A model of all that the corpus has of authors, links and labels."""
    import topoi

    if preset is not None or common.get("seeds") is not None:
        raise ValueError("--preset and --seeds are for one kind of model; choose it with --model.")
    factors: list[Words | Factor] = [topoi.Words(corpus, common["weighting"])]
    if corpus.authors is not None:
        factors.append(topoi.Authors(corpus.authors))
    if corpus.labels is not None:
        factors.append(topoi.Labels(corpus.labels, background))
    if corpus.links is not None:
        factors.append(topoi.Links(corpus.links, "learn"))
    settings = {name: common[name] for name in common if name not in ("weighting", "seeds")}
    return topoi.TopicModel(factors, topics, **settings)
