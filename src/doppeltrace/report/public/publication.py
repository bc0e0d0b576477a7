"""What the public page may be told: the publisher's own words, and an allow-list of settings.

A manifest holds secrets beside the settings (the seed, the input's name, hash and counts, the
scores). Only what is named here ever passes from it to the public page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

MODELS: Mapping[str, str] = {
    "doppel": "Doppel: Poisson tensor factorization, and a chain along the population's moves",
    "ppmtf": "PPMTF: Gaussian multiple tensor factorization",
    "itf": "ITF: two Gaussian tensor factorizations, one of transitions and one of visits",
    "sgd": "SGD: one transition matrix per time slot for the whole population",
    "sglt": "SGLT: places exchanged for semantically similar ones",
    "uniform": "Uniform: every place equally likely at any time",
}

SETTINGS: Mapping[str, str] = {
    "alpha": "precision α of the counts",
    "factors": "factors",
    "iterations": "training iterations",
    "shape": "shape of the prior",
    "rate": "rate of the prior",
    "min_users": "least users behind a move of the population",
    "smoothing": "smoothing",
    "stay": "weight of staying",
    "most_neighbours": "most neighbours of a place",
    "jump": "probability of a jump",
    "copied": "events copied from the input",
    "clusters": "clusters of places",
    "removal": "removal",
    "thinning": "thinning",
    "merging": "merging",
    "randomization": "randomization",
}
"""Settings that are shown, in words: chosen before the run, never fitted to the input."""


@dataclass(frozen=True)
class Publication:
    """What the publisher says about the traces, in words of their own; each may be empty."""

    title: str = ""
    description: str = ""
    licence: str = ""
    citation: str = ""
    contact: str = ""

    @classmethod
    def of_manifest(cls, manifest: Mapping[str, Any]) -> Publication:
        """Return what `synthesize` was told; nothing if the manifest has nothing."""
        told = manifest.get("publication") or {}
        return cls(**{f.name: str(told[f.name]) for f in fields(cls) if f.name in told})

    def changed(self, **words: str | None) -> Publication:
        """Return it with some fields replaced; None leaves a field as it is."""
        given = {name: text for name, text in words.items() if text is not None}
        return Publication(**{**asdict(self), **given})


@dataclass(frozen=True)
class Test:
    """Parameters of the deniability test; `epsilon0` and `delta` belong to the randomized one.

    `verifiers` is how many users, drawn at random, were asked; None means all of them.
    """

    k: int
    eta: float
    verifiers: int | None = None
    epsilon0: float | None = None
    delta: float | None = None


@dataclass(frozen=True)
class Method:
    """How the traces were made: the model's name, settings in words, and the test or None."""

    model: str
    settings: tuple[tuple[str, str], ...]
    test: Test | None

    @classmethod
    def of_manifest(cls, manifest: Mapping[str, Any]) -> Method:
        """Return what may leave of a manifest, which is this and nothing else."""
        model = manifest["model"]
        test = manifest.get("deniability")
        return cls(
            model=str(model["name"]),
            settings=tuple(
                (words, _number(model[name]))
                for name, words in SETTINGS.items()
                if _is_number(model.get(name))
            ),
            test=None if not test else Test(**{f.name: test.get(f.name) for f in fields(Test)}),
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
