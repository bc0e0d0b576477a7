"""The check-ins of New York, whose training traces score TP-TV 0.794, Top50 0.308, VF 0.513."""

import numpy as np
import polars as pl
import pytest

import doppeltrace as dt
from doppeltrace.utility import score_traces

HOUR = 3600


@pytest.fixture(scope="module")
def split(nyc_folder) -> dict[str, dt.Traces]:
    events = pl.read_csv(nyc_folder / "checkins.csv.gz")
    busiest = events["venue"].value_counts().sort("count", "venue", descending=[True, False])
    venues = pl.read_csv(nyc_folder / "venues.csv").join(busiest.head(1000), on="venue")
    venues = venues.sort("venue").with_row_index("place")
    utc = pl.col("utc_datetime").str.to_datetime("%Y-%m-%dT%H:%M:%SZ").dt.epoch("s")
    events = (
        events.join(venues.select("venue", "place"), on="venue")
        .join(pl.read_csv(nyc_folder / "split.csv"), on="uid")
        .with_columns(local=utc + 60 * pl.col("tz_offset_minutes"))
        .sort("local", "place")
    )
    places = dt.Places(
        venues["venue"].to_numpy(),
        venues["lat"].to_numpy(),
        venues["lng"].to_numpy(),
        dt.Bounds(40.5, -74.28, 41.0, -73.68),
    )
    clock = dt.Clock.regular(instant_minutes=60, instants_per_slot=2)
    zero = np.datetime64(clock.start, "s").astype(int)
    return {
        part: dt.Traces.from_events(
            rows["uid"].to_numpy(),
            rows["place"].to_numpy(),
            (rows["local"].to_numpy() - zero) // HOUR,
            places=places,
            clock=clock,
        )
        for (part,), rows in events.partition_by("part", as_dict=True).items()
    }


def test_training_scores(split):
    assert (split["train"].n_users, split["test"].n_users) == (862, 216)
    scores = score_traces(split["test"], split["train"])
    # which of the equally frequent venues is the thousandth moves the third decimal
    assert scores["tp_tv"] == pytest.approx(0.794, abs=0.002)
    assert scores["tp_tv_top50"] == pytest.approx(0.308, abs=0.002)
    assert scores["vf_tv"] == pytest.approx(0.513, abs=0.003)
