"""From the options of a command to a corpus or a model."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoi.cli.options import Columns, Words
from topoi.cli.output import note, progress_bar

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

    from topoi.corpus import Corpus
    from topoi.protocols import FittedModel

LEAST_TOKENS = 3  # per document: less is hardly text


def read_corpus(
    path: Path | list[Path],
    columns: Columns,
    words: Words | None = None,
    like: FittedModel | None = None,
    *,
    keep_text: bool = False,
    new_words: bool = False,
) -> Corpus:
    """The corpus in a file, a folder or several of them.

    like: a fitted model whose words are counted, instead of new ones by the options `words`.
    new_words: words that it does not know are counted, too, by the settings of its own.
    """
    from topoi.corpus.coverage import FEW_WORDS, NO_WORDS, marks_of
    from topoi.io.read import read

    given = {f.name: getattr(columns, f.name) for f in fields(Columns) if f.name != "format"}
    given["groups"] = given.pop("group")
    given["on_error"] = columns.on_error.value
    source = path[0] if isinstance(path, list) and len(path) == 1 else path
    path = path[0] if isinstance(path, list) else path  # that messages name
    form, counts = columns.format.value if columns.format else None, holds_counts(path, columns)
    vocabulary = words.vocabulary if words else None
    if (
        counts
        and words
        and any(
            getattr(words, f.name) != f.default for f in fields(Words) if f.name != "vocabulary"
        )
    ):
        raise ValueError(
            f"{path} holds counts, so the options that choose words are of no use; leave them out,"
            " or give texts."
        )
    if (
        like is not None
        and words
        and any(getattr(words, f.name) != f.default for f in fields(Words))
    ):
        raise ValueError(
            "The words are those of the model to start with, so the options that choose words are"
            " of no use; leave them out."
        )
    vectorizer = (
        None
        if counts
        else vectorizer_of(like, new_words=new_words)
        if like is not None
        else make_vectorizer(words or Words())
    )
    with progress_bar("Reading counts" if counts else "Reading and counting words") as progress:
        corpus = read(
            source,
            **given,
            keep_text=keep_text,
            vectorizer=vectorizer,
            new_words=new_words,
            vocabulary=vocabulary if counts else None,
            form=form,
            progress=progress,
        )
    if like is not None and not new_words:
        corpus = _matched(corpus, like, path)
    if not counts and like is None and corpus.n_tokens < LEAST_TOKENS * corpus.n_docs:
        note(
            f"Documents have {corpus.n_tokens / corpus.n_docs:.1f} words that count on average. See"
            " --token-pattern, --min-df and --stop-words."
        )
    marks = marks_of(corpus).tolist()
    none, few = marks.count(NO_WORDS), marks.count(FEW_WORDS)
    if like is not None and not new_words and (none or few):
        note(
            f"{none} of {corpus.n_docs} documents have no word that the model knows, and {few} have"
            " few: their topics say little."
        )
    elif none:
        note(f"{none} of {corpus.n_docs} documents have none of the words that count.")
    return corpus


def read_linked(
    path: Path | list[Path], columns: Columns, model: FittedModel, **options: Any
) -> tuple[Corpus, dict[str, object]]:
    """The corpus of new documents, read as `read_corpus` does with `like=model`, and their links as
    a model with links takes them: to each other and to training documents, by their names.
    """
    if columns.links is None or not hasattr(model, "link_topic_"):
        return read_corpus(path, columns, like=model, **options), {}
    from topoi.io.links import linked_numbers, pairs_in_file

    file, column = Path(columns.links), columns.links
    group = [*(columns.group or ()), *([] if file.is_file() else [column])]
    asked = replace(columns, links=None, group=group or None)
    corpus = read_corpus(path, asked, like=model, **options)
    names = list(map(str, range(corpus.n_docs) if corpus.doc_names is None else corpus.doc_names))
    if file.is_file():
        pairs = list(pairs_in_file(file))
    else:
        groups = dict(corpus.groups or {})
        pairs = [
            (names[d], str(other)) for d, row in enumerate(groups.pop(column)) for other in row
        ]
        corpus = replace(corpus, groups=groups or None)
    known = [] if model.doc_names_ is None else model.doc_names_.tolist()
    n_old = len(model.doc_topic_)
    table, found = linked_numbers(pairs, names, known, n_old)
    if pairs and not found:
        raise ValueError(
            f"None of the {len(pairs)} links of --links {column} joins documents that are here or"
            " in the model; links must name documents. Give --doc-names here, and at the fit."
        )
    if found < len(pairs):
        note(
            f"{len(pairs) - found} of {len(pairs)} links name documents that are neither here nor"
            " in the model; they are left out."
        )
    return corpus, {"links": table}


def holds_counts(path: Path, columns: Columns) -> bool:
    """Whether the input is counts, and not texts."""
    from topoi.io import formats

    if columns.format:
        return columns.format.value in formats.FORMATS
    return path.is_file() and formats.detect(path) is not None


def inputs_of(input: Path | list[Path], columns: Columns, words: Words | None = None) -> list[Path]:
    """Everything that `read_corpus` may read: files that no output may replace."""
    from topoi.io import formats
    from topoi.io.sources import STDIN, files_named

    found = [] if str(input) == STDIN or input == [Path(STDIN)] else files_named(input)
    for path in list(found):
        form = columns.format.value if columns.format else formats.detect(path)
        if form is not None and form in formats.FORMATS:
            beside = formats.vocabulary_path(path, form)
            found += [beside, beside.with_name(f"{beside.name}.gz"), beside.with_suffix(".tokens")]
    named = [columns.links, *(words.stop_words.split(",") if words else ())]
    found += [Path(name) for name in named if name and Path(name).is_file()]
    return found + ([words.vocabulary] if words and words.vocabulary else [])


def mention_unused(columns: Columns, *names: str) -> None:
    """Say which of the options `names` are given and have no use here."""
    given = [f"--{name}" for name in names if getattr(columns, name) is not None]
    if given:
        note(
            f"{' and '.join(given)} {'have' if len(given) > 1 else 'has'} no use here: this goes by"
            " the words alone."
        )


def without_use(model: FittedModel) -> list[str]:
    """Options that this model has no use for: it knows no authors, or no links."""
    return [
        option
        for option, known in (("authors", "author_names_"), ("links", "link_topic_"))
        if not hasattr(model, known)
    ]


def mention_seen(model: FittedModel, corpus: Corpus) -> None:
    """Documents that the model was trained on are no test of it."""
    from topoi.evaluate import seen_in_training

    seen = seen_in_training(model, corpus)
    if seen is None:
        note(
            "Without names of documents, at fit and here (--doc-names), nobody can tell if the"
            " model was trained on these documents; give new ones."
        )
    elif seen:
        note(
            f"The model was trained on {seen} of these documents, so it looks better than it is;"
            " give new ones."
        )


def make_vectorizer(words: Words) -> CountVectorizer:
    """The vectoriser that the options ask for."""
    from topoi.io import vectorize
    from topoi.io.patterns import is_safe_pattern

    low, _, high = words.ngrams.partition("-")
    if (
        not low.isdecimal()
        or not (high or low).isdecimal()
        or not 1 <= int(low) <= int(high or low) <= 20
    ):
        raise ValueError(
            f"--ngrams is {words.ngrams!r}; expected a length such as 2, or a range such as 1-2, up"
            " to 20."
        )
    if words.phrases and words.ngrams != "1":
        raise ValueError(
            "--phrases finds the pairs of words that belong together, --ngrams counts all of them;"
            " give one of the two."
        )
    try:
        re.compile(words.token_pattern or vectorize.TOKEN)
    except re.error as error:
        raise ValueError(
            f"--token-pattern {words.token_pattern!r} is not a regular expression ({error})."
        ) from error
    if not is_safe_pattern(words.token_pattern or vectorize.TOKEN):
        raise ValueError(
            f"--token-pattern {words.token_pattern!r} is not one that a model file can keep: on"
            " some texts it could take forever. Use one "
            r"repeat of a set of characters, and parts behind a separator, such as"
            r" '\b[a-z]\w+(?:-\w+)*\b'."
        )
    return vectorize.make_vectorizer(
        stop_words=words.stop_words,
        min_df=_number_or_proportion("--min-df", words.min_df),
        max_df=_number_or_proportion("--max-df", words.max_df),
        ngram_range=(int(low), int(high or low)),
        token_pattern=words.token_pattern or vectorize.TOKEN,
        lowercase=not words.keep_case,
        max_features=words.max_words,
        vocabulary=words.vocabulary,
        phrases=words.phrases,
    )


def _number_or_proportion(option: str, value: str) -> float:
    """2 is a number of documents, 0.5 a proportion of them; so 1 is one document and 1.0 all of
    them.
    """
    try:
        number = float(value) if "." in value else int(value)
    except ValueError:
        number = -1
    if number < 0 or (isinstance(number, float) and number > 1):
        raise ValueError(
            f"{option} is {value!r}; expected a number of documents such as 5, or a proportion such"
            " as 0.05."
        )
    return number


def vectorizer_of(model: FittedModel, *, new_words: bool = False) -> CountVectorizer:
    """What turns texts into the counts a model was fitted on. new_words: and into new words."""
    from topoi.io import vectorize

    vectorizer = vectorize.vectorizer_of(model, new_words=new_words)
    if model.vectorizer_ is None:
        note("The model was fitted on counts; texts are cut into words with the usual settings.")
    return vectorizer


def _matched(corpus: Corpus, model: FittedModel, path: Path) -> Corpus:
    """The corpus over the words of the model, in their order."""
    corpus = corpus.like(model.vocabulary_)
    if corpus.n_words != model.n_features_in_:
        raise ValueError(
            f"{path} has {corpus.n_words} words but the model was fitted with"
            f" {model.n_features_in_}; give the words of its columns."
        )
    return corpus


def load_model(path: Path) -> Any:
    """The model in a file, to be used on all cores: how many is never taken from a file."""
    from topoi.models.files import load

    model = load(path)
    model.n_jobs = -1
    return model
