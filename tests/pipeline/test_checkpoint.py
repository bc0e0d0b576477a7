"""What a stopped run left: damage is noticed, and the remedy named."""

import json

import numpy as np
import pytest

import doppeltrace as dt
from doppeltrace.deniability.deterministic import Counting
from doppeltrace.pipeline.checkpoint import KeptBatch, RunCheckpoint
from doppeltrace.progress import QuietMonitor


@pytest.fixture
def begun(tmp_path):
    checkpoint = RunCheckpoint(tmp_path / "run")
    checkpoint.begin(12345, {"k": 3})
    rng = np.random.default_rng(0)
    locations = rng.integers(0, 9, (20, 6)).astype(np.int32)
    counted = Counting(rng.normal(size=20), np.ones(20, np.int64), 7)
    checkpoint.keep_batch(KeptBatch(0, 10, locations, counted))
    yield checkpoint
    checkpoint.leave()


def test_a_batch_comes_back(begun):
    kept = begun.batch_from(0)
    assert kept.last == 10 and kept.counted.done == 7 and kept.locations.shape == (20, 6)
    assert begun.batch_from(10) is None


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.99])
def test_a_flipped_byte_of_a_batch_is_noticed(begun, share):
    (file,) = begun.folder.glob("traces-*.safetensors")
    content = bytearray(file.read_bytes())
    content[int(share * len(content))] ^= 0x10
    file.write_bytes(content)
    with pytest.raises(dt.InputError, match="damaged.*remove the file"):
        begun.batch_from(0)


@pytest.mark.parametrize("left", [0, 4, 200])
def test_a_truncated_batch_is_noticed(begun, left):
    (file,) = begun.folder.glob("traces-*.safetensors")
    file.write_bytes(file.read_bytes()[:left])
    with pytest.raises(dt.InputError, match="damaged.*remove the file"):
        begun.batch_from(0)


def test_what_the_run_is_cannot_change_unnoticed(begun):
    file = begun.folder / "about.json"
    text = file.read_text()
    file.write_text(text.replace("12345", "12346"))
    with pytest.raises(dt.InputError, match="checksum.*overwrite=True"):
        _ = begun.seed
    file.write_text(text[:40])
    with pytest.raises(dt.InputError, match="damaged, or not an unfinished run"):
        _ = begun.seed
    file.write_text(text)
    assert begun.seed == 12345


def test_removal_leaves_what_is_not_ours(begun):
    (begun.folder / "diary.txt").write_text("mine")
    begun.remove()
    assert [path.name for path in begun.folder.iterdir()] == ["diary.txt"]


def test_a_truncated_training_names_the_remedy(city, tmp_path):
    out, model = tmp_path / "run", dt.Doppel(iterations=40, factors=3, seed=5)

    class Stop(QuietMonitor):
        def __call__(self, step):
            if step.phase == "training" and step.done > 5:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dt.synthesize(city.traces, model, k=1, out=out, checkpoint_seconds=0, monitor=Stop())
    kept = tmp_path / "run.unfinished" / "training.safetensors"
    content = kept.read_bytes()
    kept.write_bytes(content[: len(content) // 2])
    with pytest.raises(dt.InputError, match="damaged") as error:
        dt.synthesize(city.traces, model, k=1, out=out, checkpoint_seconds=0, resume=True)
    assert "remove the file" in str(error.value)
    kept.write_bytes(content)
    resumed = dt.synthesize(city.traces, model, k=1, out=out, checkpoint_seconds=0, resume=True)
    whole = dt.synthesize(city.traces, model, k=1)
    assert np.array_equal(resumed.traces.locations, whole.traces.locations)
    assert json.loads((out / "internal/manifest.json").read_text())["resumed"] is True
