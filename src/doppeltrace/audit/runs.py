"""The trainings of levels 1 and 2: every user and every canary in by a coin of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from doppeltrace.audit.canaries import Canary, with_canaries
from doppeltrace.audit.process import Process, Published
from doppeltrace.audit.scores import Candidates, score_candidates
from doppeltrace.errors import InputError, OutputError
from doppeltrace.files import atomic_file, cannot_write
from doppeltrace.progress import Callback, Step
from doppeltrace.streams import generator
from doppeltrace.traces import Traces

PHASE = "trainings"
MARKER = "audit_runs.json"
VERSION = 1


class Outcome(NamedTuple):
    """What is kept of one run. As secret as the input.

    member : (users,) bool, who was in the training.
    coin : (canaries,) bool, which canaries were.
    scores : (users, 8) float32, see `scores`.
    counts : (canaries,) int64, events or moves of the release that point to a canary.
    shown : (canaries,) int64, the same at places that were not merged with others.
    released : () int64, traces in the release.
    """

    member: NDArray[np.bool_]
    coin: NDArray[np.bool_]
    scores: NDArray[np.float32]
    counts: NDArray[np.int64]
    shown: NDArray[np.int64]
    released: NDArray[np.int64]


def run_all(
    pool: Traces,
    canaries: Sequence[Canary],
    process: Process,
    *,
    runs: int,
    traces_per_user: int,
    seed: int,
    folder: Path | None,
    callback: Callback,
) -> Outcome:
    """Return the outcomes of all runs, stacked; those that the folder holds are not run again."""
    kept = None if folder is None else _Kept.open(folder, pool, process, traces_per_user, seed)
    candidates: dict[bytes, Candidates] = {}
    outcomes = []
    for number in range(runs):
        callback(Step(PHASE, number, runs))
        outcome = None if kept is None else kept.load(number)
        if outcome is None:
            outcome = _run(
                number, pool, list(canaries), process, traces_per_user, seed, candidates
            )
            if kept is not None:
                kept.save(number, outcome)
        outcomes.append(outcome)
    callback(Step(PHASE, runs, runs))
    return Outcome(*(np.stack(column) for column in zip(*outcomes, strict=True)))


def _run(
    number: int,
    pool: Traces,
    canaries: list[Canary],
    process: Process,
    traces_per_user: int,
    seed: int,
    known: dict[bytes, Candidates],
) -> Outcome:
    draws = generator(seed, "audit run", number)
    member = draws.random(pool.n_users) < 0.5
    coin = draws.random(len(canaries)) < 0.5
    train = with_canaries(pool, member, canaries, coin)
    found = process(train, int(draws.integers(2**62)), traces_per_user)
    locations = found.released.locations
    positions = pool.clock.position(found.released.instants)
    alone = np.where(found.merged, -1, found.place_of)
    return Outcome(
        member=member,
        coin=coin,
        scores=score_candidates(_candidates(pool, found, known), found.released),
        counts=_counts(canaries, locations, positions, found.place_of),
        shown=_counts(canaries, locations, positions, alone),
        released=np.array(len(locations)),
    )


def _counts(
    canaries: list[Canary],
    locations: NDArray[np.int32],
    positions: NDArray[np.int64],
    place_of: NDArray[np.int64],
) -> NDArray[np.int64]:
    counts = [canary.count(locations, positions, place_of) for canary in canaries]
    return np.array(counts, dtype=np.int64)


def _candidates(pool: Traces, found: Published, known: dict[bytes, Candidates]) -> Candidates:
    """Return the candidates at the places of the release; kept for the next run if they stay."""
    key = found.place_of.tobytes()
    if key not in known:
        known.clear()
        known[key] = Candidates.of(at_places(pool, found))
    return known[key]


def at_places(traces: Traces, found: Published) -> Traces:
    """Return traces at the places of the release; events at places that are gone are left out."""
    location = found.place_of[traces.location]
    kept = location >= 0
    events = np.bincount(traces.user[kept], minlength=traces.n_users)
    return Traces(
        traces.users,
        np.concatenate([[0], np.cumsum(events)]),
        location[kept].astype(np.int32),
        traces.instant[kept],
        found.released.places,
        traces.clock,
    )


def kept_seed(folder: Path) -> int | None:
    """Return the seed of the audit whose runs are in a folder, None if there are none."""
    try:
        return int(json.loads((folder / MARKER).read_text(encoding="utf-8"))["seed"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder / MARKER} cannot be read: choose another folder") from error


@dataclass(frozen=True)
class _Kept:
    """Finished runs in a folder that only its owner may read."""

    folder: Path

    @classmethod
    def open(
        cls, folder: Path, pool: Traces, process: Process, traces_per_user: int, seed: int
    ) -> _Kept:
        """Make the folder, or check that its runs are of this very audit."""
        settings = {
            "doppeltrace": "audit",
            "version": VERSION,
            "input": _hash(pool),
            "process": process.settings,
            "traces_per_user": traces_per_user,
            "seed": str(seed),
        }
        text = json.dumps(settings, indent=2, sort_keys=True, default=str)
        marker = folder / MARKER
        try:
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o700)
            if marker.exists():
                _compare(folder, marker.read_text(encoding="utf-8"), text)
                return cls(folder)
            if any(folder.glob("run_*.npz")):
                raise InputError(f"{folder} holds runs but no {MARKER}: choose another folder")
        except OSError as error:
            if isinstance(error, OutputError):
                raise
            raise cannot_write(folder, error.errno, str(error)) from error
        with atomic_file(marker) as partial:
            partial.touch(mode=0o600)
            partial.write_text(text, encoding="utf-8")
        return cls(folder)

    def load(self, number: int) -> Outcome | None:
        """Return the outcome of a run, None if it is not there."""
        path = self._path(number)
        if not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as columns:
                return Outcome(*(columns[name] for name in Outcome._fields))
        except (OSError, ValueError, KeyError) as error:
            raise InputError(f"{path} cannot be read: delete it to repeat this run") from error

    def save(self, number: int, outcome: Outcome) -> None:
        """Keep the outcome of a run, complete or not at all."""
        columns: dict[str, Any] = outcome._asdict()
        with atomic_file(self._path(number)) as partial:
            partial.touch(mode=0o600)
            with partial.open("wb") as handle:
                np.savez_compressed(handle, **columns)

    def _path(self, number: int) -> Path:
        return self.folder / f"run_{number:04d}.npz"


def _compare(folder: Path, kept: str, wanted: str) -> None:
    try:
        before, now = json.loads(kept), json.loads(wanted)
    except ValueError as error:
        raise InputError(f"{folder / MARKER} cannot be read: choose another folder") from error
    differ = [name for name in now if before.get(name) != now[name]]
    if differ:
        raise InputError(
            f"{folder} holds runs of another audit ({', '.join(differ)} differ): choose another "
            "folder, or give the settings and the seed of that one"
        )


def _hash(traces: Traces) -> str:
    """Return a fingerprint of the events; internal, like the runs."""
    digest = hashlib.sha256()
    places, clock = traces.places, traces.clock
    columns: tuple[NDArray[Any], ...] = (
        traces.offsets,
        traces.location,
        traces.instant,
        clock.slot_of,
        places.lat,
        places.lng,
    )
    for column in columns:
        digest.update(np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()
