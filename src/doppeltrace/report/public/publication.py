"""What the public page may be told: the publisher's own words, and an allow-list of settings.

A manifest holds secrets beside the settings (the seed, the input's name, hash and counts, the
scores). Only what is named here ever passes from it to the public page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from doppeltrace.guarantee import Guarantee


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
class Method:
    """How the traces were made.

    Attributes
    ----------
    description : what the model is.
    settings : (words, value) of settings that were chosen before the run, never fitted to it.
    guarantee : what the release promises.
    safeguards : what was done to the input before training, in public words.
    """

    description: str
    settings: tuple[tuple[str, str], ...]
    guarantee: Guarantee
    safeguards: tuple[str, ...] = ()

    @classmethod
    def of_manifest(cls, manifest: Mapping[str, Any]) -> Method:
        """Return what may leave of a manifest, which is this and nothing else."""
        model = manifest["model"]
        return cls(
            description=str(model["description"]),
            settings=tuple(
                (str(words), _shown(value)) for words, value in model["public_settings"].items()
            ),
            guarantee=Guarantee.from_dict(manifest["guarantee"]),
            safeguards=tuple(str(words) for words in manifest.get("public_safeguards", ())),
        )


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)
