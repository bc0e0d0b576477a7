"""A saved model is a model: nothing else is needed, and no changed byte goes unnoticed."""

import datetime
import json
import stat
from dataclasses import replace

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.synthesizers import MODELS
from doppeltrace.synthesizers.model_file import read_model, write_model
from toy_models import TOYS

SMALL = {"factors": 2, "iterations": 3, "seed": 5}
SAVABLE = {
    "doppel": lambda: dt.Doppel(**SMALL),
    "doppel without rhythm": lambda: dt.Doppel(**SMALL, rhythm=False),
    "ppmtf": lambda: dt.PPMTF(**SMALL, zeros=4),
    "itf": lambda: dt.ITF(**SMALL, zeros=4),
    "sgd": lambda: dt.SGD(seed=5),
    "sgd that copies": lambda: dt.SGD(copied=2, seed=5),
    "uniform": lambda: dt.Uniform(seed=5),
}


@pytest.fixture(params=sorted(SAVABLE))
def fitted(request, tiny):
    return SAVABLE[request.param]().fit(tiny)


def test_a_file_is_enough_to_sample_and_to_test(fitted, tmp_path):
    path = tmp_path / "model.safetensors"
    fitted.save(path)
    loaded = dt.load(path)
    assert type(loaded) is type(fitted)
    assert (loaded.settings, loaded.seed) == (fitted.settings, fitted.seed)
    assert loaded.n_users == 3
    assert loaded.places.same_as(fitted.places) and loaded.clock.same_as(fitted.clock)
    assert loaded.places.bounds == fitted.places.bounds
    for wish in ({"traces_per_user": 4}, {"n_traces": 25}, {"n_traces": 5, "length": 4}):
        one, other = (model.sample(**wish, seed=1) for model in (fitted, loaded))
        assert one.locations.tobytes() == other.locations.tobytes()
        np.testing.assert_array_equal(one.owner, other.owner)
        tested = [dt.deniability_test(m, one, k=2).plausible for m in (fitted, loaded)]
        np.testing.assert_array_equal(*tested)
    with pytest.raises(dt.NotFittedError, match="train="):
        loaded.train  # noqa: B018
    again = tmp_path / "again.safetensors"
    loaded.save(again)
    assert again.read_bytes() == path.read_bytes()


def test_the_training_traces_may_come_along(fitted, tiny, tmp_path):
    path = tmp_path / "model.safetensors"
    fitted.save(path)
    assert dt.load(path, train=tiny, threads=1).train is tiny
    elsewhere = dt.Places(tiny.places.labels, tiny.places.lat + 0.1, tiny.places.lng)
    for other in (tiny.select([0, 1]), replace(tiny, places=elsewhere)):
        with pytest.raises(dt.InputError, match="other data"):
            dt.load(path, train=other)


def test_a_model_that_keeps_no_traces_gets_none(tiny, tmp_path, monkeypatch):
    monkeypatch.setitem(MODELS, "strangers", TOYS["strangers"])
    TOYS["strangers"](seed=1).fit(tiny).save(tmp_path / "model")
    assert read_model(tmp_path / "model")[1]["data"] is None  # nothing tells what they were
    with pytest.raises(dt.SettingsError, match="keeps no traces"):
        dt.load(tmp_path / "model", train=tiny)
    assert len(dt.load(tmp_path / "model").sample(n_traces=4, seed=1)) == 4


@pytest.mark.parametrize("labels", [["a", "é", "", "d", "x y"], [5, 7, 9, 11, -3]])
def test_places_and_clock_come_back(tiny, tmp_path, labels):
    places = dt.Places(
        np.array(labels), tiny.places.lat, tiny.places.lng, dt.Bounds(30, 130, 40, 140),
        np.array(["cafe", "park", "", "home", "—"]),
    )  # fmt: skip
    clock = dt.Clock(np.repeat([0, 1, 2], 3), 600, datetime.datetime(2020, 1, 1, 9, 20), cycle=12)
    traces = replace(tiny, places=places, clock=clock)
    dt.Uniform(seed=1).fit(traces).save(tmp_path / "model")
    model = dt.load(tmp_path / "model")
    assert model.places.labels.tolist() == labels
    assert model.places.labels.dtype == places.labels.dtype
    assert model.places.category.tolist() == places.category.tolist()
    assert model.places.bounds == places.bounds
    assert (model.clock.start, model.clock.cycle) == (clock.start, 12)
    assert model.clock.same_as(clock)


def test_a_loaded_model_can_be_fitted_again(tiny, tmp_path):
    dt.Doppel(**SMALL).fit(tiny).save(tmp_path / "model")
    fewer = tiny.select([0, 1])
    again, fresh = (m.fit(fewer) for m in (dt.load(tmp_path / "model"), dt.Doppel(**SMALL)))
    assert again.train is fewer
    np.testing.assert_array_equal(
        again.sample(3, seed=1).locations, fresh.sample(3, seed=1).locations
    )


def test_the_file_is_for_its_owner_only(tiny, tmp_path):
    path = tmp_path / "model"
    dt.Uniform(seed=1).fit(tiny).save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_what_cannot_be_saved_says_so(tiny, tmp_path):
    for model in (dt.Training(), dt.SGLT(clusters=2, seed=1)):
        with pytest.raises(dt.NotFittedError):
            model.save(tmp_path / "model")
        with pytest.raises(dt.SettingsError, match="cannot be saved"):
            model.fit(tiny).save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


# ---- damage ---------------------------------------------------------------------------------


def _flips(content, every):
    """Yield the content with one byte changed, and where; in the header and behind it."""
    for at in range(0, len(content), every):
        for change in (0x01, 0x20, 0xFF):
            damaged = bytearray(content)
            damaged[at] ^= change
            yield at, bytes(damaged)


def test_a_changed_byte_of_a_model_is_noticed(fitted, tmp_path):
    path = tmp_path / "model"
    fitted.save(path)
    content = path.read_bytes()
    for at, damaged in _flips(content, max(1, len(content) // 400)):
        path.write_bytes(damaged)
        with pytest.raises(dt.InputError, match="train the model again"):
            dt.load(path)
            pytest.fail(f"byte {at} of {len(content)} was changed, and nobody noticed")


def test_every_byte_of_a_small_file_counts(tmp_path):
    path = tmp_path / "file"
    write_model(path, {"x": np.arange(3.0), "y": np.zeros(1, np.int32)}, {"done": 3})
    arrays, about = read_model(path)
    assert about == {"done": 3} and arrays["x"].tolist() == [0, 1, 2]
    for at, damaged in _flips(path.read_bytes(), 1):
        path.write_bytes(damaged)
        with pytest.raises(dt.InputError, match="throw it away"):
            read_model(path, "throw it away")
            pytest.fail(f"byte {at}")


def test_a_shortened_or_lengthened_file_is_noticed(tiny, tmp_path):
    path = tmp_path / "model"
    dt.SGD(seed=1).fit(tiny).save(path)
    content = path.read_bytes()
    for damaged in (b"", content[:7], content[:100], content[:-1], content + b"\0"):
        path.write_bytes(damaged)
        with pytest.raises(dt.InputError, match="train the model again"):
            dt.load(path)


def test_a_changed_byte_of_a_checkpoint_is_noticed(tiny, tmp_path):
    path = tmp_path / "checkpoint"
    dt.Doppel(**SMALL).fit(tiny, checkpoint=path, checkpoint_seconds=0)
    content = path.read_bytes()
    for at, damaged in _flips(content, max(1, len(content) // 60)):
        path.write_bytes(damaged)
        for read in (
            lambda: dt.Doppel(**SMALL).fit(tiny, checkpoint=path),
            lambda: dt.Doppel(**SMALL).check_checkpoint(path),
        ):
            with pytest.raises(dt.InputError, match="remove the file to start anew"):
                read()
                pytest.fail(f"byte {at}")


def test_files_that_are_no_model(tiny, tmp_path):
    path = tmp_path / "file"
    with pytest.raises(dt.InputError, match="does not exist"):
        dt.load(path)
    with pytest.raises(dt.InputError, match="cannot read"):
        dt.load(tmp_path)
    dt.Doppel(**SMALL).fit(tiny, checkpoint=path, checkpoint_seconds=0)
    with pytest.raises(dt.InputError, match="not the file of a model"):
        dt.load(path)  # a checkpoint is not a model yet
    write_model(path, {}, {"model": "unheard of", "fitted": {}})
    with pytest.raises(dt.InputError, match="not the file of a model"):
        dt.load(path)
    path.write_text(json.dumps({"model": "doppel"}))
    with pytest.raises(dt.InputError, match="not a model file"):
        dt.load(path)
