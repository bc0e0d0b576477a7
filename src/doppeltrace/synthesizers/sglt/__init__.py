"""SGLT: plausible traces through semantic clusters (Bindschaedler & Shokri 2016)."""

from doppeltrace.synthesizers.sglt.privacy import SemanticDeniability, semantic_test
from doppeltrace.synthesizers.sglt.synthesizer import SGLT

__all__ = ["SGLT", "SemanticDeniability", "semantic_test"]
