"""Every utility metric, one record each.

Evaluation, scorecard, report and comparison read this list and nothing else. All metrics are
distances from the testing traces: 0 is best. The paper's keep their names and definitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from doppeltrace.traces import Traces
from doppeltrace.utility import days, groups, mobility, population, transitions, visit_fractions
from doppeltrace.utility.groups import Grouping
from doppeltrace.utility.metric import Distance, Metric
from doppeltrace.utility.move_rates import move_rate_difference
from doppeltrace.utility.summary import Summary


def _band(name: str, visited: bool) -> Distance:
    """Return TM-EMD along the columns (X) or rows (Y)."""

    def distance(test: Summary, other: Summary, train: Summary) -> float:
        p, q = getattr(test, name), getattr(other, name)
        if visited:
            return transitions.tm_emd_visited(p, q)
        column, row = test.places.grid_cells(transitions.CELLS)
        return transitions.tm_emd(p, q, column if name == "columns" else row)

    return distance


def _emd(name: str) -> Distance:
    """Return the earth mover's distance of a histogram, in the unit of the score."""

    def distance(test: Summary, other: Summary, train: Summary) -> float:
        unit = mobility.units(test.clock.instant_seconds)[name]
        return mobility.histogram_emd(test.mobility[name], other.mobility[name], unit)

    return distance


def _share(name: str) -> Distance:
    return lambda test, other, train: days.share_difference(test.shares[name], other.shares[name])


_ALL = (
    Metric(
        "tp_tv",
        "TP-TV",
        "",
        "Where people are, slot by slot",
        "total variation of the population per time slot, mean over slots",
        "population",
        lambda test, other, train: population.tp_tv(test.slots, other.slots),
        of_paper=True,
    ),
    Metric(
        "tp_tv_top50",
        "TP-TV-Top50",
        "",
        "The 50 busiest places of each slot",
        "TP-TV at each slot's 50 most frequent testing places",
        "population",
        lambda test, other, train: population.tp_tv_top(test.slots, other.slots),
        of_paper=True,
    ),
    Metric(
        "tm_emd_x",
        "TM-EMD-X",
        "cells",
        "Where people go next, west to east",
        "earth mover's distance of transitions, west to east, mean over all places; a place "
        "nobody leaves counts as staying",
        "movement",
        _band("columns", visited=False),
        of_paper=True,
    ),
    Metric(
        "tm_emd_y",
        "TM-EMD-Y",
        "cells",
        "Where people go next, south to north",
        "earth mover's distance of transitions, south to north, mean over all places; a place "
        "nobody leaves counts as staying",
        "movement",
        _band("rows", visited=False),
        of_paper=True,
    ),
    Metric(
        "vf_tv",
        "VF-TV",
        "",
        "How much of their time people give a place",
        "total variation of visit-fractions per place, mean over places",
        "population",
        lambda test, other, train: visit_fractions.vf_tv(
            test.fractions, other.fractions, train.fractions
        ),
        of_paper=True,
    ),
    Metric(
        "tp_js",
        "TP-JS",
        "bits",
        "Where people are, weighing rare places more",
        "Jensen–Shannon divergence per time slot, mean over slots",
        "population",
        lambda test, other, train: float(
            population.jensen_shannon_per_slot(test.slots, other.slots).mean()
        ),
    ),
    Metric(
        "tm_emd_x_visited",
        "TM-X visited",
        "cells",
        "Where people go next from where they are, west to east",
        "earth mover's distance of transitions, west to east, over the places that testing "
        "users leave, weighted by how often",
        "movement",
        _band("columns", visited=True),
    ),
    Metric(
        "tm_emd_y_visited",
        "TM-Y visited",
        "cells",
        "Where people go next from where they are, south to north",
        "earth mover's distance of transitions, south to north, over the places that testing "
        "users leave, weighted by how often",
        "movement",
        _band("rows", visited=True),
    ),
    Metric(
        "od_tv",
        "flows, TV",
        "",
        "From which area to which people go, by part of the day",
        "total variation of flows between 16 areas, mean over parts of the day",
        "movement",
        lambda test, other, train: days.flow_tv(test.flows, other.flows),
    ),
    Metric(
        "od_cpc_gap",
        "flows, 1 − CPC",
        "",
        "How many people go from which area to which",
        "1 − common part of commuters, flows per person and day between 16 areas and by part "
        "of the day",
        "movement",
        lambda test, other, train: days.commuters_apart(
            test.flows, test.days, other.flows, other.days
        ),
        needs_coverage=True,
    ),
    Metric(
        "move_rate",
        "when people move",
        "",
        "When people move",
        "mean absolute difference of the share of events that are elsewhere than one instant "
        "before, per time slot",
        "movement",
        lambda test, other, train: move_rate_difference(test.moves, other.moves),
        needs_coverage=True,
    ),
    Metric(
        "trip_length_emd",
        "trip length",
        "km",
        "How far people travel",
        "earth mover's distance of trip lengths",
        "movement",
        _emd("trip_length_emd"),
    ),
    Metric(
        "gyration_emd",
        "radius of a day",
        "km",
        "How far a day takes people",
        "earth mover's distance of daily radii of gyration",
        "days",
        _emd("gyration_emd"),
    ),
    Metric(
        "stay_emd",
        "stay",
        "h",
        "How long people stay",
        "earth mover's distance of lengths of stay at one place",
        "days",
        _emd("stay_emd"),
        needs_coverage=True,
    ),
    Metric(
        "places_per_day_emd",
        "places per day",
        "places",
        "How many places people see in a day",
        "earth mover's distance of the number of different places in a day",
        "days",
        _emd("places_per_day_emd"),
        needs_coverage=True,
    ),
    Metric(
        "moves_per_day_emd",
        "moves per day",
        "moves",
        "How often people move in a day",
        "earth mover's distance of the number of changes of place in a day",
        "days",
        _emd("moves_per_day_emd"),
        needs_coverage=True,
    ),
    Metric(
        "top_place_emd",
        "top place's share",
        "",
        "How much of the day people spend at one place",
        "earth mover's distance of the share of a day's events at its most frequent place",
        "days",
        _emd("top_place_emd"),
        needs_coverage=True,
    ),
    Metric(
        "straight_back",
        "straight back",
        "",
        "How often people go straight back",
        "difference of the share of moves, among those after another of the day, that lead to "
        "the place before it",
        "days",
        _share("straight_back"),
        needs_coverage=True,
    ),
    Metric(
        "closed_day",
        "day ends at start",
        "",
        "How often a day ends where it began",
        "difference of the share of days whose first and last event are at one place",
        "days",
        _share("closed_day"),
        needs_coverage=True,
    ),
    Metric(
        "events_per_day_emd",
        "events per day",
        "events",
        "How often people are seen in a day",
        "earth mover's distance of the number of events in a day",
        "days",
        _emd("events_per_day_emd"),
    ),
    Metric(
        "gap_emd",
        "gaps",
        "h",
        "How long nothing is seen of people",
        "earth mover's distance of the time between consecutive events of a day",
        "days",
        _emd("gap_emd"),
    ),
    Metric(
        "entropy_emd",
        "visit entropy",
        "bits",
        "How varied one person's places are",
        "earth mover's distance of the entropy of each person's visits",
        "days",
        _emd("entropy_emd"),
        needs_coverage=True,
    ),
    Metric(
        "group_tv",
        "groups, TV",
        "",
        "Where people who live alike are, by part of the day",
        "total variation over places per group of similar people and part of the day, mean "
        "weighted by testing events",
        "clusters",
        lambda test, other, train: groups.group_tv(test.group_events, other.group_events),
    ),
    Metric(
        "group_size_tv",
        "groups, sizes",
        "",
        "How many people live in which way",
        "total variation of the shares of traces in each group of similar people",
        "clusters",
        lambda test, other, train: groups.size_tv(test.group_sizes, other.group_sizes),
    ),
)

METRICS: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in _ALL})
"""Name → metric, in the order of tables."""

CLUSTER_TV = Metric(
    "cluster_tv",
    "cluster TV",
    "",
    "Where the users of each factor are",
    "total variation between the training and synthetic events of a factor's users, mean over "
    "factors",
    "clusters",
    lambda test, other, train: float("nan"),  # needs owners and factors: `clusters.cluster_tv`
    of_paper=True,
    in_summary=False,
)
"""The paper's cluster-specific distributions, which a model's own factors define."""


def compare(test: Summary, other: Summary, train: Summary) -> dict[str, float]:
    """Return every metric of `other` against the testing traces (0 is best).

    `train` decides only which places take part in VF-TV. A metric that is not defined for
    these data (no trips, no visit-fractions) is NaN.
    """
    return {name: metric(test, other, train) for name, metric in METRICS.items()}


def score_traces(test: Traces, other: Traces, train: Traces | None = None) -> dict[str, float]:
    """Return every metric of one set of traces against the testing traces.

    `train` decides which places take part in VF-TV and which groups there are; by default
    `other` does.
    """
    grouping = Grouping.find(other if train is None else train)
    summary = Summary.of(other, grouping)
    trained = summary if train is None else Summary.of(train, grouping)
    return compare(Summary.of(test, grouping), summary, trained)
