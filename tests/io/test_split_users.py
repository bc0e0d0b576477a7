"""Training and testing users: drawn, or as a table says."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import doppeltrace as dt
from doppeltrace import InputError, SettingsError


@given(n=st.integers(2, 60), seed=st.integers(0, 2**64))
def test_a_fraction_parts_the_users(n, seed):
    places = dt.Places(["a", "b"], [1.0, 2.0], [1.0, 2.0])
    clock = dt.Clock.regular(instant_minutes=60)
    traces = dt.Traces.from_events(range(n), [0] * n, [0] * n, places=places, clock=clock)
    train, test = dt.split_users(traces, 0.5, seed=seed)
    assert test.n_users == round(n / 2)
    assert sorted([*train.users, *test.users]) == list(range(n))
    again, _ = dt.split_users(traces, 0.5, seed=seed)
    assert again.users.tolist() == train.users.tolist()


def test_the_seed_decides(tiny):
    drawn = {tuple(dt.split_users(tiny, 0.34, seed=s)[1].users.tolist()) for s in range(40)}
    assert drawn == {(0,), (1,), (2,)}


def test_a_table_parts_the_users(tiny):
    table = pl.DataFrame({"uid": [2, 0, 9], "part": ["train", "test", "test"]})
    train, test = dt.split_users(tiny, table)
    assert (train.users.tolist(), test.users.tolist()) == ([2], [0])
    assert test.n_events == 7


def test_what_cannot_be_split(tiny):
    for fraction in (0.0, 1.0, -0.1, 0.01):
        with pytest.raises(SettingsError, match="split"):
            dt.split_users(tiny, fraction)
    with pytest.raises(InputError, match="no user of the traces is in the part 'train'"):
        dt.split_users(tiny, pl.DataFrame({"uid": [7, 0], "part": ["train", "test"]}))
    with pytest.raises(InputError, match="part 'both' is neither"):
        dt.split_users(tiny, pl.DataFrame({"uid": [0], "part": ["both"]}))
    with pytest.raises(InputError, match="no part column"):
        dt.split_users(tiny, pl.DataFrame({"uid": [0]}))


def test_users_in_neither_part_bring_a_warning(tmp_path):
    path = tmp_path / "events.csv"
    rows = [f"{u},2020-01-01T0{h}:00:00+01:00,1,{h},{h}" for u in range(4) for h in (1, 2)]
    path.write_text("\n".join(["uid,time,lat,lng,place", *rows]))
    parts = pl.DataFrame({"uid": [0, 1, 2], "part": ["train", "train", "test"]})
    data = dt.read_table(path, split=parts)
    assert (data.train.n_users, data.test.n_users) == (2, 1)
    assert data.validation.warnings == (
        "1 users are in neither part of the split and are left out",
    )
    assert data.validation.users == 3
    drawn = dt.read_table(path, split=0.5, split_seed=4)
    assert (drawn.train.n_users, drawn.test.n_users) == (2, 2)
