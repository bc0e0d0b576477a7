"""More traces from a model that was kept, without the traces that it learned from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from doppeltrace.errors import require
from doppeltrace.files import check_destination
from doppeltrace.guarantee import Guarantee
from doppeltrace.pipeline.manifest import ModelRecord, SamplingRecord
from doppeltrace.pipeline.source import file_hash
from doppeltrace.plain import plain
from doppeltrace.progress import Monitor, QuietMonitor
from doppeltrace.release import Release, TraceCounts, release
from doppeltrace.release.writer import about
from doppeltrace.report.public import datasheet
from doppeltrace.report.public.publication import Method, Publication
from doppeltrace.streams import fresh_seed
from doppeltrace.synthesizers.load import load


@dataclass(frozen=True)
class SampleManifest:
    """What is kept about traces that were drawn from a model file; internal.

    `input` names the file of the model; `deniability` is None, since nothing was tested.
    """

    seed: int
    model: ModelRecord
    guarantee: Guarantee
    sampling: SamplingRecord
    publication: Publication
    input: dict[str, str]
    deniability: None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        told: dict[str, Any] = plain({f.name: getattr(self, f.name) for f in fields(self)})
        return told


def resample(
    model_file: str | Path,
    n_traces: int,
    out: str | Path,
    *,
    length: int | None = None,
    output_format: str = "csv",
    overwrite: bool = False,
    seed: int | None = None,
    threads: int | None = None,
    monitor: Monitor | None = None,
) -> Release:
    """Draw traces from a model file and write them to a folder, as a run does.

    They are not tested: without the training traces, places of few people cannot be looked for.
    What the traces promise is what the model itself promises.
    """
    require(n_traces >= 1, "n_traces must be at least 1", "n_traces")
    require(seed is None or seed >= 0, "seed must be a non-negative integer", "seed")
    check_destination(out, overwrite=overwrite)
    monitor = QuietMonitor() if monitor is None else monitor
    file = Path(model_file)
    with monitor.phase("reading"):
        model = load(file, threads=threads)
    guarantee = model.guarantee or Guarantee.none(
        "The traces were drawn from a model, and released without a deniability test."
    )
    if not guarantee:
        monitor.warn(
            "the traces are not tested: every one is released, whoever it resembles. Use "
            "synthesize for traces that are to be published"
        )
    seed = fresh_seed() if seed is None else seed
    with monitor.phase("synthesis"):
        synthetic = model.sample(n_traces=n_traces, length=length, seed=seed, callback=monitor)
    manifest = SampleManifest(
        seed=seed,
        model=ModelRecord.of(model),
        guarantee=guarantee,
        sampling=SamplingRecord(None, n_traces, length),
        publication=Publication(),
        input={"path": str(file), "sha256": file_hash(file)},
    ).to_dict()

    def internal(counts: TraceCounts) -> dict[str, Any]:
        return {**about(counts), **manifest}

    def page(traces: Path) -> str:
        return datasheet.datasheet(traces, Method.of_manifest(manifest))

    with monitor.phase("release"):
        return release(
            synthetic,
            np.ones(len(synthetic), dtype=np.bool_),
            out,
            format=output_format,
            manifest=internal,
            public_files={datasheet.NAME: page},
            overwrite=overwrite,
        )
