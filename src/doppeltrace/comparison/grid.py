"""The settings behind the paper's trade-off plots."""

from __future__ import annotations

from doppeltrace.synthesizers import PPMTF, SGD, SGLT, Synthesizer

ALPHA = (0.5, 0.6, 0.7, 0.8, 0.9, 1, 2, 10, 20, 100, 200, 1000)
COPIED = (0, 1, 2, 3, 4, 5)
CLUSTERS = (50, 100, 150, 200)
REMOVAL = (0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1)


def paper_grid(seed: int, threads: int | None = None) -> dict[str, list[Synthesizer]]:
    """Return 12 PPMTF (α), 6 SGD (ξ) and 40 SGLT settings (par_l for each c)."""
    grid: dict[str, list[Synthesizer]] = {
        "PPMTF": [PPMTF(alpha=alpha, seed=seed, threads=threads) for alpha in ALPHA],
        "SGD": [SGD(copied=copied, seed=seed, threads=threads) for copied in COPIED],
    }
    for clusters in CLUSTERS:
        grid[f"SGLT {clusters}"] = [
            SGLT(clusters=clusters, removal=removal, seed=seed, threads=threads)
            for removal in REMOVAL
        ]
    return grid
