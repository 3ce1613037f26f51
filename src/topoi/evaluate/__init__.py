"""How good are the topics? Held-out perplexity, agreement with labels, tasks for people, diversity,
stability, coherence, and the choice of their number.
"""

from topoi.corpus.splits import split_tokens
from topoi.evaluate.coherence import c_v, npmi, u_mass
from topoi.evaluate.intruders import intrusion
from topoi.evaluate.joint import LogJoint, log_joint
from topoi.evaluate.labels import clusters, retrieval
from topoi.evaluate.links import (
    LinkKFold,
    cosine_scores,
    hadamard,
    link_metrics,
    link_pairs,
    random_non_links,
    ranking_metrics,
    svm_scores,
)
from topoi.evaluate.perplexity import Completion, completion, completion_perplexity, left_to_right
from topoi.evaluate.selection import choose_n_components
from topoi.evaluate.summary import quality
from topoi.evaluate.topics import (
    match_topics,
    rank_biased_diversity,
    stability,
    topic_diversity,
)
from topoi.evaluate.training import seen_in_training

__all__ = [
    "Completion",
    "LinkKFold",
    "LogJoint",
    "c_v",
    "choose_n_components",
    "clusters",
    "completion",
    "completion_perplexity",
    "cosine_scores",
    "hadamard",
    "intrusion",
    "left_to_right",
    "link_metrics",
    "link_pairs",
    "log_joint",
    "match_topics",
    "npmi",
    "quality",
    "random_non_links",
    "rank_biased_diversity",
    "ranking_metrics",
    "retrieval",
    "seen_in_training",
    "split_tokens",
    "stability",
    "svm_scores",
    "topic_diversity",
    "u_mass",
]


def __dir__() -> list[str]:
    return sorted(__all__)
