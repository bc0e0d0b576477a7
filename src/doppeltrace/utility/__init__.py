"""How useful synthetic traces are: the paper's metrics and others beside them.

Each file turns traces into counts that add up over users, and two such counts into a distance
that is 0 for identical data; `metrics` lists them all.
"""

from doppeltrace.utility.clusters import cluster_members, cluster_tv
from doppeltrace.utility.groups import Grouping
from doppeltrace.utility.metric import GROUPS, Metric
from doppeltrace.utility.metrics import METRICS, compare, score_traces
from doppeltrace.utility.population import jensen_shannon_per_slot, tp_tv_per_slot
from doppeltrace.utility.summary import Summary

__all__ = [
    "GROUPS",
    "Grouping",
    "METRICS",
    "Metric",
    "Summary",
    "cluster_members",
    "cluster_tv",
    "compare",
    "jensen_shannon_per_slot",
    "score_traces",
    "tp_tv_per_slot",
]
