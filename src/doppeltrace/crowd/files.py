"""A crowd as the arrays of a model file: noisy numbers and what was made of them, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from numpy.typing import NDArray

from doppeltrace.crowd.chain import Chain
from doppeltrace.crowd.clipping import FirstLook
from doppeltrace.crowd.graph import MoveGraph
from doppeltrace.crowd.ledger import Entry
from doppeltrace.crowd.measure import NoisyStatistics
from doppeltrace.crowd.people import Crowd
from doppeltrace.crowd.public import PublicInputs
from doppeltrace.crowd.sampler import DayFactors, Presence
from doppeltrace.crowd.statistics import Clips, Noisy, n_headings

Arrays = dict[str, NDArray[Any]]

_PUBLIC = ("graph", "part", "type_group")  # of the chain: derived from places and clock


def to_arrays(noisy: NoisyStatistics, crowd: Crowd) -> tuple[Arrays, dict[str, Any]]:
    """Return what a model file holds: arrays, and what JSON can hold."""
    arrays: Arrays = {f"noisy.{name}": table.value for name, table in noisy.tables.items()}
    arrays["noisy.events per day"] = noisy.first.events_per_day
    for field in fields(Chain):
        if field.name not in _PUBLIC:
            arrays[f"chain.{field.name}"] = getattr(crowd.chain, field.name)
    arrays["presence.instants"] = crowd.presence.instants
    for name in ("cells", "dwells"):
        arrays[f"days.{name}"] = getattr(crowd.factors, name)
    state = {
        "sigma": {name: table.sigma for name, table in noisy.tables.items()},
        "users": noisy.first.users,
        "style": noisy.first.style,
        "clips": asdict(noisy.first.clips),
        "visits_square": noisy.first.visits_square,
        "ledger": [asdict(entry) for entry in noisy.entries],
    }
    return arrays, state


def from_arrays(
    arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any], public: PublicInputs
) -> tuple[NoisyStatistics, Crowd]:
    """Return what `to_arrays` was given."""
    first = FirstLook(
        users=state["users"],
        style=state["style"],
        clips=Clips(**state["clips"]),
        events_per_day=arrays["noisy.events per day"],
        visits_square=state["visits_square"],
    )
    tables = {name: Noisy(arrays[f"noisy.{name}"], s) for name, s in state["sigma"].items()}
    entries = tuple(Entry(**entry) for entry in state["ledger"])
    learned = {
        field.name: arrays[f"chain.{field.name}"]
        for field in fields(Chain)
        if field.name not in _PUBLIC
    }
    chain = Chain(
        graph=MoveGraph.of(public, n_headings(first.style)),
        part=public.part[public.slots],
        type_group=public.type_group,
        **learned,
    )
    factors = DayFactors(arrays["days.cells"], arrays["days.dwells"])
    presence = Presence(first.events_per_day, arrays["presence.instants"])
    return NoisyStatistics(first, tables, entries), Crowd(chain, presence, factors)
