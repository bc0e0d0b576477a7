"""Releases in the formats and frames of other programs; never more than a release holds."""

from doppeltrace.release.exports.files import FORMATS, export
from doppeltrace.release.exports.frames import (
    to_geopandas,
    to_pandas,
    to_scikit_mobility,
    to_trackintel,
)

__all__ = [
    "FORMATS",
    "export",
    "to_geopandas",
    "to_pandas",
    "to_scikit_mobility",
    "to_trackintel",
]
