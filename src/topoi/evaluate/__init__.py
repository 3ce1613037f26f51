"""How good are the topics? Held-out perplexity, coherence, diversity, stability, and the choice of their number."""

from topoi.evaluate.coherence import c_v, npmi, u_mass
from topoi.evaluate.perplexity import Completion, completion, completion_perplexity, left_to_right, split_tokens
from topoi.evaluate.selection import choose_n_components
from topoi.evaluate.topics import match_topics, stability, topic_diversity

__all__ = [
    "Completion",
    "c_v",
    "choose_n_components",
    "completion",
    "completion_perplexity",
    "left_to_right",
    "match_topics",
    "npmi",
    "split_tokens",
    "stability",
    "topic_diversity",
    "u_mass",
]
