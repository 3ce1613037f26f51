"""Fitted models in the forms of other tools: pyLDAvis, topicwizard, OCTIS, gensim, AnnData and
pycisTopic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.corpus import Corpus
from topoi.evaluate import u_mass
from topoi.explore.labelling import texts_as_corpus

if TYPE_CHECKING:
    from anndata import AnnData
    from gensim.models import LdaModel

    from topoi.protocols import FittedModel

__all__ = [
    "to_anndata",
    "to_gensim_model",
    "to_octis",
    "to_pycistopic",
    "to_pyldavis",
    "to_topicwizard",
]


def to_pyldavis(model: FittedModel, corpus: Corpus) -> dict[str, object]:
    """The arguments of `pyLDAvis.prepare`, with the topic numbers of the model.

    Parameters
    ----------
    model : fitted model
        A topoi model.
    corpus : Corpus
        Documents. Those without words are left out: pyLDAvis weighs documents by their lengths.

    Returns
    -------
    dict
        For ``pyLDAvis.prepare(**arguments)``. Topics are neither sorted nor numbered from 1.

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> from topoi.explore.adapters import to_pyldavis
    >>> corpus, _ = datasets.make_lda(50)
    >>> arguments = to_pyldavis(LDA(3, max_iter=5).fit(corpus), corpus)
    >>> arguments["topic_term_dists"].shape, arguments["sort_topics"]
    ((3, 100), False)
    """
    corpus = _matched(model, corpus)
    corpus = corpus[np.flatnonzero(corpus.counts.sum(axis=1))]
    return {
        "topic_term_dists": np.asarray(model.topic_word_, dtype=np.float64),
        "doc_topic_dists": np.asarray(model.transform(corpus), dtype=np.float64),
        "doc_lengths": corpus.counts.sum(axis=1),
        "vocab": corpus.words,
        "term_frequency": corpus.counts.sum(axis=0),
        "sort_topics": False,
        "start_index": 0,
    }


def to_anndata(model: FittedModel, data: AnnData, key: str = "topics") -> None:
    """Put topics into AnnData: proportions of cells into obsm, of features into varm.

    Parameters
    ----------
    model : fitted model
        A topoi model, fitted on these or other cells with the same features.
    data : AnnData
        Counts of cells x features; it is changed. Cells and features keep their names and order.
    key : str, default="topics"
        Name of the entries: ``data.obsm[key]`` (n_obs, K), rows sum to 1; ``data.varm[key]``
        (n_vars, K), columns sum to 1, 0 for features that the model does not know;
        ``data.uns[key]``, a dictionary with the names of topics.

    Examples
    --------
    >>> from topoi import LDA, datasets, formats
    >>> from topoi.explore.adapters import to_anndata
    >>> corpus, _ = datasets.make_lda(50)
    >>> cells = formats.to_anndata(corpus)
    >>> to_anndata(LDA(3, max_iter=5).fit(corpus), cells)
    >>> cells.obsm["topics"].shape, cells.varm["topics"].shape
    ((50, 3), (100, 3))
    """
    check_is_fitted(model)
    place = {str(word): i for i, word in enumerate(_words_of_model(model, data))}
    words = np.zeros((data.n_vars, model.components_.shape[0]))
    for i, name in enumerate(map(str, data.var_names)):
        if name in place:
            words[i] = model.topic_word_[:, place[name]]
    data.obsm[key] = np.asarray(model.transform(data), dtype=np.float64)
    data.varm[key] = words
    data.uns[key] = {"names": list(model.topic_names_)}


def _words_of_model(model: FittedModel, data: AnnData) -> Sequence[str]:
    """The features of a model; those of the data, if it was fitted on bare counts."""
    if model.vocabulary_ is not None:
        return list(map(str, model.vocabulary_))
    if data.n_vars != model.components_.shape[1]:
        raise ValueError(
            f"data has {data.n_vars} features; the model was fitted on"
            f" {model.components_.shape[1]}, whose names it does not know. Give data"
            " with these features only, in the same order."
        )
    return list(map(str, data.var_names))


def to_pycistopic(model: FittedModel, corpus: Corpus) -> dict[str, object]:
    """The tables of pycisTopic's ``CistopicLDAModel``, by the names of its arguments.

    pycisTopic keeps models as pickled objects of that class, which a program without pycisTopic
    cannot write. With it, ``cistopic.add_LDA_model(CistopicLDAModel(**to_pycistopic(model,
    corpus)))`` does; ``tables["cell_topic"].to_csv("cell_topic.tsv", sep="\\t")`` writes a table.

    Parameters
    ----------
    model : fitted model
        A topoi model of cells x regions.
    corpus : Corpus
        The cells, with their names.

    Returns
    -------
    dict of str to pandas.DataFrame
        cell_topic (topics x cells, columns sum to 1), topic_region (regions x topics, columns sum
        to 1), marg_topic (proportion of each topic), topic_ass (its expected counts), coherence
        (UMass), metrics (its mean; the others are not measured, and NaN), parameters. Topics are
        "Topic1", "Topic2", ...: pycisTopic counts from 1.

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> from topoi.explore.adapters import to_pycistopic
    >>> corpus, _ = datasets.make_lda(50)
    >>> tables = to_pycistopic(LDA(3, max_iter=5).fit(corpus), corpus)
    >>> tables["cell_topic"].shape, tables["topic_region"].columns.tolist()
    ((3, 50), ['Topic1', 'Topic2', 'Topic3'])
    """
    import pandas as pd

    corpus = _matched(model, corpus)
    numbers = range(1, len(model.components_) + 1)
    topics = [f"Topic{k}" for k in numbers]
    cells = corpus.doc_names if corpus.doc_names is not None else map(str, range(corpus.n_docs))
    proportions = np.asarray(model.transform(corpus), dtype=np.float64)
    lengths = corpus.counts.sum(axis=1)
    held = np.maximum(model.components_ - model.topic_word_prior_, 0).sum(axis=1)
    coherence = u_mass(model, corpus)
    measured = {"Arun_2010": np.nan, "Cao_Juan_2009": np.nan, "Mimno_2011": coherence.mean()}
    parameters = {"package": "topoi", "n_topics": len(topics), "n_iter": model.n_iter_}
    return {
        "metrics": pd.DataFrame({**measured, "loglikelihood": np.nan}, index=["Metric"]),
        "coherence": pd.DataFrame({"Topic": numbers, "Mimno_2011": coherence}),
        "marg_topic": pd.DataFrame(
            {"Topic": numbers, "Marg_Topic": lengths @ proportions / max(lengths.sum(), 1)}
        ),
        "topic_ass": pd.DataFrame({"Topic": numbers, "Assignments": held}),
        "cell_topic": pd.DataFrame(proportions.T, index=topics, columns=list(cells)),
        "topic_region": pd.DataFrame(model.topic_word_.T, index=corpus.words, columns=topics),
        "parameters": pd.DataFrame({"Parameter": parameters}),
    }


def to_topicwizard(model: FittedModel, texts: Sequence[str]) -> dict[str, object]:
    """What topicwizard shows of a model: its `TopicData`.

    Parameters
    ----------
    model : fitted model
        A topoi model that was fitted on texts, or knows its words.
    texts : sequence of str
        Documents.

    Returns
    -------
    dict
        For ``topicwizard.visualize(topic_data=...)``. Models have it as `prepare_topic_data`, by
        which ``topicwizard.visualize(texts, model=model)`` finds it.

    Examples
    --------
    >>> import topoi
    >>> from topoi.explore.adapters import to_topicwizard
    >>> texts = ["cats and dogs", "dogs and cats", "stocks and bonds", "bonds of banks"] * 5
    >>> model = topoi.LDA(2).fit(topoi.read(texts))
    >>> to_topicwizard(model, texts)["document_topic_matrix"].shape
    (20, 2)
    """

    def transform(documents: Sequence[str]) -> np.ndarray:
        return np.asarray(model.transform(texts_as_corpus(model, list(documents))))

    corpus = _matched(model, texts_as_corpus(model, list(texts)))
    return {
        "corpus": list(texts),
        "vocab": np.array(corpus.words),
        "document_term_matrix": corpus.counts,
        "document_topic_matrix": np.asarray(model.transform(corpus)),
        "topic_term_matrix": np.asarray(model.topic_word_),
        "document_representation": corpus.counts,
        "transform": transform,
        "topic_names": model.topic_names_,
    }


def to_octis(
    model: FittedModel, corpus: Corpus | None = None, n_words: int = 10
) -> dict[str, object]:
    """The output of a model as OCTIS' metrics take it.

    Parameters
    ----------
    model : fitted model
        A topoi model.
    corpus : Corpus, default=None
        Documents; None is the training documents.
    n_words : int, default=10
        Number of top words of each topic.

    Returns
    -------
    dict
        "topics" (lists of words), "topic-word-matrix" (topics x words) and "topic-document-matrix"
        (topics x documents).

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> from topoi.explore.adapters import to_octis
    >>> corpus, _ = datasets.make_lda(50)
    >>> to_octis(LDA(3, max_iter=5).fit(corpus))["topic-document-matrix"].shape
    (3, 50)
    """
    check_is_fitted(model)
    proportions = model.doc_topic_ if corpus is None else model.transform(corpus)
    return {
        "topics": model.top_words(n_words),
        "topic-word-matrix": np.asarray(model.topic_word_),
        "topic-document-matrix": np.asarray(proportions).T,
    }


def to_gensim_model(model: FittedModel) -> LdaModel:
    """The topics as a gensim `LdaModel`, which infers, compares and saves as any other.

    Parameters
    ----------
    model : fitted model
        A topoi model. Its corpora go to gensim by `topoi.formats.to_gensim`.

    Returns
    -------
    gensim.models.LdaModel
        With the words, topics and priors of the model, in its order.

    Examples
    --------
    >>> from topoi import LDA, datasets
    >>> from topoi.explore.adapters import to_gensim_model
    >>> model = LDA(3, max_iter=5).fit(datasets.make_lda(50)[0])
    >>> to_gensim_model(model).num_topics  # doctest: +SKIP
    3
    """
    check_is_fitted(model)
    try:
        from gensim.models import LdaModel
    except ImportError as error:
        raise ImportError(
            "A gensim model needs gensim, which is not installed. Run: pip install gensim"
        ) from error
    n_topics, n_words = model.components_.shape
    words = (
        [f"word{i}" for i in range(n_words)]
        if model.vocabulary_ is None
        else list(map(str, model.vocabulary_))
    )
    made = LdaModel(
        num_topics=n_topics,
        id2word=dict(enumerate(words)),
        alpha=np.asarray(model.doc_topic_prior_),
        eta=float(np.mean(model.topic_word_prior_)),
        dtype=np.float64,
        random_state=0,
    )
    made.state.sstats[...] = np.maximum(model.components_ - made.eta, 0)
    made.sync_state()
    return made


def _matched(model: FittedModel, corpus: Corpus) -> Corpus:
    """The corpus over the words of a fitted model."""
    check_is_fitted(model)
    return corpus.like(model.vocabulary_)
