"""Documents in the forms in which people have them, to a Corpus.

scikit-learn's CountVectorizer counts the words.

Texts are read one at a time and held only with `keep_text`; what is kept besides is counts, names,
authors, labels, links, dates and groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from topoi.choices import OnError
from topoi.corpus import Corpus
from topoi.io import cells, formats
from topoi.io.formats.checks import enough_memory, naming
from topoi.io.gathering import GROUP, Gathering, cell_value, corpus_fields
from topoi.io.lines import Progress, read_words
from topoi.io.links import with_links
from topoi.io.rows import Rows, rows_in_memory
from topoi.io.scripts import ScriptWatch
from topoi.io.sources import name_of, on_disk, open_source
from topoi.io.vectorize import TOKEN_LISTS, make_vectorizer
from topoi.io.word_counts import count_with_new_words, count_words

if TYPE_CHECKING:
    import pandas as pd

    from topoi.corpus.given import VocabularyLike
    from topoi.io.given import Readable

__all__ = ["read"]


def read(
    source: Readable,
    *,
    text: str | None = None,
    doc_names: str | Sequence[object] | None = None,
    authors: str | Sequence[object] | None = None,
    labels: str | Sequence[object] | None = None,
    links: str | Path | Sequence[object] | None = None,
    dates: str | Sequence[object] | None = None,
    groups: Sequence[str] | Mapping[str, Sequence[object]] | None = None,
    keep_text: bool = False,
    vectorizer: CountVectorizer | None = None,
    new_words: bool = False,
    vocabulary: Sequence[str] | str | Path | None = None,
    form: str | None = None,
    encoding: str = "utf-8",
    separator: str = ";",
    layer: str | None = None,
    zero_based: bool = False,
    split_long: int | None = None,
    on_error: OnError = "raise",
    progress: Progress | None = None,
    **options: Any,
) -> Corpus:
    """Read documents or counts.

    Parameters
    ----------
    source : str, Path, list, frame, array, sparse matrix or AnnData
        Documents: a folder of .txt, .md and .html files (any depth), .csv, .tsv, .json, .jsonl,
        .parquet, .txt (one document a line), a list of texts, of dictionaries or of lists of
        tokens, a pandas or polars frame or column. A pattern (`"news/*.csv"`) or a list of Path
        reads several files; several .txt, .md or .html files are one document each. "-" is
        standard input. Files may be compressed (.gz, .bz2, .xz, .zst, .zip).
        Or counts: a file in a format of `topoi.formats`, an array or sparse matrix of numbers,
        AnnData.
    text : str, optional
        The column of texts.
    doc_names : str or sequence, optional
        The column of names of documents, none twice. This, authors, labels,
        links and dates are names of columns (of AnnData: columns of obs), or one value per
        document. A folder has the columns "id" and "folder".
    authors, labels, links : str or sequence, optional
        Several may be in a cell: a list, a JSON list, or separated by `separator`. Links name
        documents; they may also stand in a file of pairs.
    dates : str or sequence, optional
        The `dates` of the corpus. Refused if there is anything that is not a date, such as
        2020-03-05, 2020-03, 2020, or a timestamp (`topoi.corpus.dates`).
    groups : sequence of str or mapping of str to sequence, optional
        Further columns to keep, such as the source: their names, or one value per document by name.
        Several may be in a cell, as with labels.
    keep_text : bool, default=False
        Whether the corpus keeps the texts. A model fitted on it keeps them too, compressed in its
        file, and can show its documents.
    vectorizer : CountVectorizer, optional
        See `make_vectorizer`. One that is fitted, as `model.vectorizer_` is, is used as it stands.
    new_words : bool, default=False
        Whether a fitted vectorizer counts words that it does not know, too: those that its
        min_df, max_df and max_features choose among the words of these documents. They follow its
        own. For `model.update`.
    vocabulary : sequence of str, str or Path, optional
        For counts, their words; for texts, the words to count. Or a file of them.
    form : str, optional
        For files whose name does not say what they hold.
    encoding : str, default="utf-8"
        Of text files.
    separator : str, default=";"
        Between several names in a cell.
    layer : str, optional
        For AnnData, the layer that holds the counts (default: X).
    zero_based : bool, default=False
        For SVMlight, whether columns are numbered from 0 instead of 1.
    split_long : int, optional
        Cut longer texts into parts of about this many words. Parts are documents of their own,
        named "name [1]", "name [2]", ..., with the same authors, labels, date and groups.
    on_error : {"raise", "skip"}, default="raise"
        What to do with a document whose name is missing or taken, or that is not text: refuse all,
        or leave it out, with a warning that counts.
    progress : callable, optional
        Called with (done, total) now and then.
    **options
        Of `make_vectorizer`, for texts: stop_words, min_df, max_df, phrases, ... Lists of
        tokens are taken as they are: no stop words, min_df 1, max_df 1.0, unless given here.

    Returns
    -------
    Corpus
        The documents, with what is known about them.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> read(["a cat", "a dog and a cat"], doc_names=["x", "y"], vectorizer=CountVectorizer())
    Corpus(2 documents x 3 words, 4 tokens, vocabulary, doc_names)
    >>> read([["new york", "mayor"], ["New York", "mayor"]]).vocabulary.tolist()
    ['New York', 'mayor', 'new york']
    >>> first = read(["cat dog", "dog cat", "Dog"], max_df=1.0)
    >>> read(["dog fox", "Fox"], vectorizer=first.vectorizer, new_words=True).vocabulary.tolist()
    ['cat', 'dog', 'fox']
    """
    wanted = {
        "text": text,
        "doc_names": doc_names,
        "authors": authors,
        "labels": labels,
        "dates": dates,
        **_wanted_groups(groups),
    }
    with on_disk(source, form) as source:
        name = name_of(source)
        opened = open_source(source, form, encoding, vocabulary, zero_based, progress)
        if layer is not None and not formats.is_anndata(opened):
            raise ValueError(
                f"{name} is not AnnData, so it has no layer {layer!r}; leave layer out."
            )
        with naming(Path(name)) if name != "This" else nullcontext():
            corpus = _counts_of(opened, vocabulary, layer)
        if corpus is not None:
            _refuse_text_options(name, keep_text, split_long, options)
            beside = _beside_counts(corpus, name, wanted, getattr(opened, "obs", None), separator)
            return with_links(beside, links, name)
        rows = opened if isinstance(opened, Rows) else rows_in_memory(opened, progress)
        wanted["links"] = links
        gathering = Gathering(rows, wanted, separator, keep_text, on_error, split_long)
        made = _vectorizer(rows, vectorizer, vocabulary, options)
        with enough_memory(rows.name):
            count = count_with_new_words if new_words else count_words
            counts, unknown, made = count(made, _watched(gathering, made), rows.name)
            words, beside_texts = made.get_feature_names_out(), gathering.columns()
            corpus = Corpus(counts, words, vectorizer=made, unknown=unknown, **beside_texts)
        return with_links(corpus, gathering.links, name)


def _refuse_text_options(
    name: str, keep_text: bool, split_long: int | None, options: Mapping[str, object]
) -> None:
    for option, given in (("keep_text", keep_text), ("split_long", split_long is not None)):
        if given:
            raise ValueError(f"{name} holds counts, which have no text; leave {option} out.")
    if options:
        raise ValueError(
            f"{name} holds counts, so {', '.join(options)} of a vectoriser mean nothing; leave"
            " them out."
        )


def _vectorizer(
    rows: Rows,
    vectorizer: CountVectorizer | None,
    vocabulary: VocabularyLike | str | Path | None,
    options: Mapping[str, object],
) -> CountVectorizer:
    """The one that is given, or one made by `options`: for tokens, one that takes them as they
    are.
    """
    if vectorizer is not None:
        if options:
            raise ValueError(
                f"{', '.join(options)} given beside a vectorizer; set them in the vectorizer."
            )
        if not hasattr(vectorizer, "vocabulary") and not hasattr(vectorizer, "vocabulary_"):
            raise TypeError(
                f"A {type(vectorizer).__name__} keeps no words, and topics are shown by their"
                " words; give a CountVectorizer."
            )
        return vectorizer
    known = signature(make_vectorizer).parameters
    unknown = next((name for name in options if name not in known), None)
    if unknown is not None:
        raise TypeError(
            f"read has no parameter {unknown!r}; options of a vectoriser are {', '.join(known)}."
        )
    usual = TOKEN_LISTS if rows.tokens else {}
    return make_vectorizer(**{"vocabulary": vocabulary, **usual, **options})


def _wanted_groups(groups: Any) -> dict[str, object]:
    """What is wanted of each group: the name of a column, or its values."""
    if isinstance(groups, Mapping) or hasattr(groups, "columns"):
        return {f"{GROUP}{name}": values for name, values in groups.items()}
    return {
        f"{GROUP}{name}": name for name in ([groups] if isinstance(groups, str) else groups or ())
    }


def _counts_of(
    source: object, vocabulary: VocabularyLike | str | Path | None, layer: str | None
) -> Corpus | None:
    """The corpus of counts from a file, of a matrix of numbers or of AnnData; None for anything
    else.
    """
    if formats.is_anndata(source):
        corpus = formats.from_anndata(source, layer)
    elif sparse.issparse(source) or (
        isinstance(source, np.ndarray) and source.ndim == 2 and source.dtype.kind in "biuf"
    ):
        corpus = Corpus(source)
    else:
        return source if isinstance(source, Corpus) else None
    words: Any = read_words(Path(vocabulary)) if isinstance(vocabulary, str | Path) else vocabulary
    return corpus if words is None else replace(corpus, vocabulary=words)


def _beside_counts(
    corpus: Corpus, name: str, given: Mapping[str, object], obs: pd.DataFrame | None, separator: str
) -> Corpus:
    """Counts with what was given beside them: values of the documents or, of AnnData, names of
    columns of obs.
    """
    given = {what: value for what, value in given.items() if value is not None}
    if "text" in given or (obs is None and any(isinstance(value, str) for value in given.values())):
        raise ValueError(
            f"{name} holds counts, which have no columns{'' if obs is None else ' of text'}; leave"
            " the names of columns out, give a value per document (in Python), or give a table of"
            " texts."
        )
    values: dict[str, Any] = {
        what: _column_of(obs, what, value, name, separator) if isinstance(value, str) else value
        for what, value in given.items()
    }
    if "dates" in values:
        values["dates"] = [
            cells.as_date(value, f"Document {i}")
            for i, value in enumerate(cells.as_list(values["dates"]))
        ]
    return replace(corpus, **corpus_fields(values)) if values else corpus


def _column_of(
    obs: pd.DataFrame, what: str, column: str, name: str, separator: str
) -> list[object]:
    """A column of AnnData's obs, read as a column of a table is."""
    # Refuses one that is not there.
    Rows(f"{name} (obs)", list(map(str, obs.columns)), ()).column(what, column)
    first_with: dict[str, str] = {}
    return [
        cell_value(what, value, f"Document {i}", separator, first_with)
        for i, value in enumerate(cells.as_list(obs[column]))
    ]


def _watched(gathering: Gathering, vectorizer: CountVectorizer) -> Iterator[str]:
    """The texts, and a warning if they are in a script that the vectoriser cannot cut."""
    watch = ScriptWatch()
    for text in gathering.texts():
        watch.look(text)
        yield text
    if not gathering.rows.tokens:
        watch.warn(vectorizer)
