"""Models with the settings of the paper: Zeng, Cheung and Liu, "Learning Topic Models by Belief
Propagation" (TPAMI 2013), section 5.

Synchronous belief propagation from one random topic per word, the priors alpha = beta = 0.01, and
as many sweeps as the paper takes: 1000 for LDA, 500 for the others. Linked documents have the
weight xi = 0.15 and the paper's table of linked topics. Everything can be changed by keyword: for
instance, `tol="paper"` stops when perplexity changes by less than 1 in ten sweeps.
"""

from __future__ import annotations

from typing import Any

from topoi.models.author import AuthorTopicModel as _AuthorTopicModel
from topoi.models.labeled import LabeledLDA as _LabeledLDA
from topoi.models.lda import LDA as _LDA
from topoi.models.relational import RelationalTopicModel as _RelationalTopicModel

__all__ = ["LDA", "AuthorTopicModel", "LabeledLDA", "RelationalTopicModel"]

SETTINGS: dict[str, object] = {
    "rule": "bp",
    "schedule": "synchronous",
    "init": "hard",
    "doc_topic_prior": 0.01,
    "topic_word_prior": 0.01,
    "tol": 0,
    "evaluate_every": 10,
}
SWEEPS_OF_LDA, SWEEPS = 1000, 500


def LDA(n_components: int = 10, **changes: Any) -> _LDA:
    """LDA as in the paper: 1000 synchronous sweeps, priors 0.01.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    **changes
        Parameters of `topoi.LDA` that are to differ.

    Returns
    -------
    topoi.LDA

    Examples
    --------
    >>> import topoi
    >>> model = topoi.paper.LDA(20)
    >>> model.schedule, model.doc_topic_prior, model.max_iter
    ('synchronous', 0.01, 1000)
    """
    return _LDA(n_components, **{**SETTINGS, "max_iter": SWEEPS_OF_LDA, **changes})


def AuthorTopicModel(n_components: int = 10, **changes: Any) -> _AuthorTopicModel:
    """The author-topic model as in the paper: 500 synchronous sweeps, priors 0.01.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    **changes
        Parameters of `topoi.AuthorTopicModel` that are to differ.

    Returns
    -------
    topoi.AuthorTopicModel

    Examples
    --------
    >>> import topoi
    >>> topoi.paper.AuthorTopicModel(20).max_iter
    500
    """
    return _AuthorTopicModel(n_components, **{**SETTINGS, "max_iter": SWEEPS, **changes})


def RelationalTopicModel(n_components: int = 10, **changes: Any) -> _RelationalTopicModel:
    """The relational topic model as in the paper: 500 synchronous sweeps, priors 0.01, link weight
    0.15, and the table of linked topics by eq. 28.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    **changes
        Parameters of `topoi.RelationalTopicModel` that are to differ.

    Returns
    -------
    topoi.RelationalTopicModel

    Examples
    --------
    >>> import topoi
    >>> model = topoi.paper.RelationalTopicModel(20)
    >>> model.link_weight, model.link_factor
    (0.15, 'paper')
    """
    links = {"link_weight": 0.15, "link_factor": "paper"}
    return _RelationalTopicModel(
        n_components, **{**SETTINGS, **links, "max_iter": SWEEPS, **changes}
    )


def LabeledLDA(background_topics: int = 0, **changes: Any) -> _LabeledLDA:
    """Labeled LDA as in the paper: 500 synchronous sweeps, priors 0.01.

    Parameters
    ----------
    background_topics : int, default=0
        Number of topics beside the labels.
    **changes
        Parameters of `topoi.LabeledLDA` that are to differ.

    Returns
    -------
    topoi.LabeledLDA

    Examples
    --------
    >>> import topoi
    >>> topoi.paper.LabeledLDA().topic_word_prior
    0.01
    """
    return _LabeledLDA(background_topics, **{**SETTINGS, "max_iter": SWEEPS, **changes})


def __dir__() -> list[str]:
    return sorted(__all__)
