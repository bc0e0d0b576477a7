"""How useful synthetic traces are: the paper's metrics and a few beyond it.

Each file turns traces into counts that add up over users, and two such counts into a
distance that is 0 for identical data.
"""

from doppeltrace.utility.clusters import cluster_members, cluster_tv
from doppeltrace.utility.population import jensen_shannon_per_slot, tp_tv_per_slot
from doppeltrace.utility.summary import Summary, compare, score_traces

__all__ = [
    "Summary",
    "cluster_members",
    "cluster_tv",
    "compare",
    "jensen_shannon_per_slot",
    "score_traces",
    "tp_tv_per_slot",
]
