"""The compiled heart.

Begin with `updates.py` (one message), then `sweeps.py`; `reference` beside this folder computes the
same in plain NumPy.
"""

from topoi.infer.kernels.active import active_stage
from topoi.infer.kernels.counts import (
    count_joint_stage,
    count_singles,
    count_stage,
    merge_shared,
    start_stage,
    topic_totals,
)
from topoi.infer.kernels.fresh import (
    exchange_stage,
    favour_stage,
    infer_stage,
)
from topoi.infer.kernels.fresh_joint import infer_joint_stage
from topoi.infer.kernels.gibbs import gibbs_stage
from topoi.infer.kernels.joint import joint_stage, visit_any
from topoi.infer.kernels.kept import keep_stage, restore_stage
from topoi.infer.kernels.lists import admit, copy_stage, topics_of_words
from topoi.infer.kernels.primitives import uniforms
from topoi.infer.kernels.stateless import recall_stage, stateless_stage, stateless_start_stage
from topoi.infer.kernels.sweeps import sweep_stage, visit_singles

__all__ = [
    "active_stage",
    "admit",
    "copy_stage",
    "count_joint_stage",
    "count_singles",
    "count_stage",
    "exchange_stage",
    "favour_stage",
    "gibbs_stage",
    "infer_joint_stage",
    "infer_stage",
    "joint_stage",
    "keep_stage",
    "merge_shared",
    "recall_stage",
    "restore_stage",
    "start_stage",
    "stateless_stage",
    "stateless_start_stage",
    "sweep_stage",
    "topic_totals",
    "topics_of_words",
    "uniforms",
    "visit_any",
    "visit_singles",
]
