"""What a release promises: by its model, by its test, or nothing."""

from __future__ import annotations

from doppeltrace.deniability.deterministic import smallest_group
from doppeltrace.deniability.randomized import OneTracePrivacy
from doppeltrace.guarantee import Guarantee
from doppeltrace.pipeline.settings import RunSettings
from doppeltrace.synthesizers import Synthesizer


def guarantee_of(
    model: Synthesizer, settings: RunSettings, privacy: OneTracePrivacy | None = None
) -> Guarantee:
    """Return the guarantee of a run; `privacy` is what the randomized test gave."""
    if model.guarantee is not None:
        return model.guarantee
    k, eta, vacuous = settings.k, settings.eta, model.same_for_all_users
    if k is None:
        return Guarantee.none("The traces were released without a deniability test.")
    if privacy is None or settings.epsilon0 is None:
        by_construction = smallest_group(model) >= k
        return Guarantee.deniability(
            k, eta, settings.verifiers, vacuous=vacuous, by_construction=by_construction
        )
    return Guarantee.one_trace(
        k,
        eta,
        epsilon0=settings.epsilon0,
        epsilon=privacy.epsilon,
        delta=privacy.delta,
        vacuous=vacuous,
    )
